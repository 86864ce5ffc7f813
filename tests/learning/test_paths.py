"""The paths through the puzzles: the same in problems/paths.yaml and on the pages, and followed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tooling.catalog.catalogue import load_catalogue
from tooling.catalog.model import ProgramLanguage
from tooling.catalog.nodes import ManifestError
from tooling.catalog.paths import PuzzlePath, load_paths
from tooling.learning.journey import open_journey
from tooling.learning.puzzle_list import PuzzleList
from tooling.progress import record_path, record_solved
from tooling.project import Project

ROOT = Path(__file__).resolve().parents[2]
PAGES = (
    ("fast", "book/src/introduction.md", "which are puzzles {}."),
    ("fast", "i18n/ko/book/src/introduction.md", "퍼즐 {}만 푸는"),
    ("gpu", "book/src/introduction.md", "there is a shorter one: puzzles {}."),
    ("gpu", "i18n/ko/book/src/introduction.md", "퍼즐 {}의 순서"),
    ("gpu", "book/src/howto.md", "in the order {}:"),
    ("gpu", "i18n/ko/book/src/howto.md", "GPU만 배우려면 {}의 순서"),
)


def path_named(name: str) -> PuzzlePath:
    project = Project(ROOT)
    return next(path for path in load_paths(project, load_catalogue(project)) if path.name == name)


def test_one_puzzle_of_the_fast_path_stands_for_each_part() -> None:
    parts = dict.fromkeys(puzzle.part for puzzle in load_catalogue(Project(ROOT)))
    assert [puzzle.part for puzzle in path_named("fast").puzzles] == list(parts)


def test_the_gpu_path_leaves_out_what_needs_python_and_the_debuggers() -> None:
    left_out = {puzzle.id for puzzle in load_catalogue(Project(ROOT))}
    left_out -= {puzzle.id for puzzle in path_named("gpu").puzzles}
    python = {
        puzzle.id
        for puzzle in load_catalogue(Project(ROOT))
        if any(program.language is ProgramLanguage.PYTHON for program in puzzle.programs)
    }
    assert left_out == python | {"p09", "p10"}


@pytest.mark.parametrize(("name", "page", "sentence"), PAGES)
def test_the_pages_name_the_puzzles_of_a_path(name: str, page: str, sentence: str) -> None:
    directive = f"{{{{#path {name}}}}}"
    assert sentence.format(directive) in (ROOT / page).read_text("utf-8")


@pytest.mark.parametrize("page", ["cover.md", "introduction.md", "howto.md"])
@pytest.mark.parametrize("source", ["book/src", "i18n/ko/book/src"])
def test_the_pages_offer_its_command(page: str, source: str) -> None:
    assert "uv run tooling start --path gpu" in (ROOT / source / page).read_text("utf-8")


def next_puzzle() -> str:
    step = open_journey(Project(ROOT)).next_step
    return step.puzzle.id if step else ""


@pytest.mark.parametrize("name", ["fast", "gpu"])
def test_its_puzzles_come_first_until_they_are_solved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("PUZZLE_STATE_DIR", str(tmp_path))
    assert next_puzzle() == "p01"
    assert record_path(ROOT, name) is None
    path = path_named(name)
    for puzzle in path.puzzles:
        assert next_puzzle() == puzzle.id
        for step in open_journey(Project(ROOT)).steps:
            if step.puzzle.id == puzzle.id:
                record_solved(ROOT, puzzle.id, step.mode.name)
    journey = open_journey(Project(ROOT))
    assert journey.path is None
    on_path = {puzzle.id for puzzle in path.puzzles}
    assert next_puzzle() == next(puzzle.id for puzzle in journey.puzzles if puzzle.id not in on_path)


def test_it_is_left_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUZZLE_STATE_DIR", str(tmp_path))
    for name, first in (("fast", "p08"), ("", "p01")):
        record_path(ROOT, name)
        assert next_puzzle() == first


def test_the_interactive_list_has_its_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUZZLE_STATE_DIR", str(tmp_path))
    record_path(ROOT, "gpu")
    shown = PuzzleList(open_journey(Project(ROOT)), "en")
    order = []
    for _ in range(9):
        request = shown.key("w")
        assert request
        assert request.step
        order.append(request.step.puzzle.id)
        shown.key("j")
    assert order == ["p01", "p02", "p03", "p04", "p05", "p06", "p07", "p08", "p24"]


DEFECTS = {
    "there is no puzzle 99": "gpu: {title: {en: a}, puzzles: [1, 99]}",
    "puzzle 1 is given twice": "gpu: {title: {en: a}, puzzles: [1, 2, 1]}",
    "must name at least one puzzle": "gpu: {title: {en: a}, puzzles: []}",
    "the key `title` is missing": "gpu: {puzzles: [1]}",
    "unknown key": "gpu: {title: {en: a}, puzzles: [1], puzzle: [2]}",
    "must be an integer, not `p01`": "gpu: {title: {en: a}, puzzles: [p01]}",
}


@pytest.mark.parametrize("wanted", DEFECTS)
def test_a_mistake_in_the_file_is_named(tmp_path: Path, wanted: str) -> None:
    project = Project(tmp_path)
    project.problems.mkdir()
    puzzles = load_catalogue(Project(ROOT))
    assert load_paths(project, puzzles) == ()
    file = project.problems / "paths.yaml"
    file.write_text(DEFECTS[wanted] + "\n", "utf-8")
    with pytest.raises(ManifestError, match=re.escape(wanted)) as caught:
        load_paths(project, puzzles)
    assert caught.value.where.path == file
    assert caught.value.where.line == 1
    file.write_text("gpu: {title: {en: a, ko: 가}, puzzles: [2, 1]}\n", "utf-8")
    assert [puzzle.id for puzzle in load_paths(project, puzzles)[0].puzzles] == ["p02", "p01"]
