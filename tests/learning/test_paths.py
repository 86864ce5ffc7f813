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
FAST_PAGES = (
    ("book/src/introduction.md", r"which are puzzles ([\d, and]+)\."),
    ("i18n/ko/book/src/introduction.md", r"퍼즐 ([\d, ]+)입니다"),
)
GPU_PAGES = (
    ("book/src/introduction.md", r"there is a shorter one: puzzles (1 to .*?)\."),
    ("i18n/ko/book/src/introduction.md", r"퍼즐 (1에서 .*?)의 순서"),
    ("book/src/howto.md", r"in the order (1 to .*?):"),
    ("i18n/ko/book/src/howto.md", r"(?s)GPU만 배우려면 (1에서 .*?)의 순서"),
)
_RANGE = re.compile(r"(\d+)(?:(?: to |에서 )(\d+))?")


def path_named(name: str) -> PuzzlePath:
    project = Project(ROOT)
    return next(path for path in load_paths(project, load_catalogue(project)) if path.name == name)


def numbers_of(path: PuzzlePath) -> list[int]:
    return [puzzle.number for puzzle in path.puzzles]


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


@pytest.mark.parametrize(("page", "pattern"), FAST_PAGES)
def test_the_introduction_names_the_fast_path(page: str, pattern: str) -> None:
    (named,) = re.findall(pattern, (ROOT / page).read_text("utf-8"))
    assert list(map(int, re.findall(r"\d+", named))) == numbers_of(path_named("fast"))


@pytest.mark.parametrize(("page", "pattern"), GPU_PAGES)
def test_the_pages_name_the_gpu_path(page: str, pattern: str) -> None:
    (named,) = re.findall(pattern, (ROOT / page).read_text("utf-8"))
    numbers = [
        number
        for first, last in _RANGE.findall(named)
        for number in range(int(first), int(last or first) + 1)
    ]
    assert numbers == numbers_of(path_named("gpu"))


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
