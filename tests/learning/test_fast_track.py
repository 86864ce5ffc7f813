"""The fast track: one puzzle of each part, the same in the manifests and on the pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tooling.catalog.catalogue import load_catalogue
from tooling.learning.journey import open_journey
from tooling.progress import record_solved, record_track
from tooling.project import Project

ROOT = Path(__file__).resolve().parents[2]
PAGES = (
    ("book/src/introduction.md", r"which are puzzles ([\d, and]+)\."),
    ("i18n/ko/book/src/introduction.md", r"퍼즐 ([\d, ]+)입니다"),
)


def test_one_puzzle_stands_for_each_part() -> None:
    puzzles = load_catalogue(Project(ROOT))
    parts = list(dict.fromkeys(puzzle.part for puzzle in puzzles))
    assert [puzzle.part for puzzle in puzzles if puzzle.fast_track] == parts


@pytest.mark.parametrize(("page", "pattern"), PAGES)
def test_the_introduction_names_them(page: str, pattern: str) -> None:
    (named,) = re.findall(pattern, (ROOT / page).read_text("utf-8"))
    numbers = [puzzle.number for puzzle in load_catalogue(Project(ROOT)) if puzzle.fast_track]
    assert list(map(int, re.findall(r"\d+", named))) == numbers


def test_its_puzzles_come_first_until_they_are_solved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PUZZLE_STATE_DIR", str(tmp_path))
    project = Project(ROOT)

    def next_puzzle() -> str:
        step = open_journey(project).next_step
        return step.puzzle.id if step else ""

    assert next_puzzle() == "p01"
    assert record_track(ROOT, fast=True) is None
    track = [puzzle.id for puzzle in open_journey(project).fast_track]
    for name in track:
        assert next_puzzle() == name
        for step in open_journey(project).steps:
            if step.puzzle.id == name:
                record_solved(ROOT, name, step.mode.name)
    assert next_puzzle() == "p01"
    record_solved(ROOT, "p01", "default")
    assert next_puzzle() == "p02"
    assert not open_journey(project).is_fast


def test_it_is_left_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUZZLE_STATE_DIR", str(tmp_path))
    for fast, first in ((True, "p08"), (False, "p01")):
        record_track(ROOT, fast=fast)
        step = open_journey(Project(ROOT)).next_step
        assert step
        assert step.puzzle.id == first
