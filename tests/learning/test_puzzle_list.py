"""The list of puzzles as a screen: the cursor, the filters, and what keys ask for."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from tests.numbers import COUNT, PUZZLES
from tooling.learning.journey import Journey, open_journey
from tooling.learning.puzzle_list import Action, PuzzleList
from tooling.progress import record_solved
from tooling.project import Project

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def journey(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Journey:
    """The puzzles of the book, of which 1 and 3 and a part of 23 are solved."""
    monkeypatch.setenv("PUZZLE_STATE_DIR", str(tmp_path))
    for puzzle, mode in (("p01", "default"), ("p03", "default"), ("p23", "tiled")):
        record_solved(ROOT, puzzle, mode)
    return open_journey(Project(ROOT))


def lines_of(screen: PuzzleList, width: int = 80, height: int = 24) -> list[str]:
    shown = io.StringIO()
    Console(width=width, height=height, file=shown).print(screen)
    return shown.getvalue().rstrip("\n").split("\n")


def puzzles_in(screen: PuzzleList) -> list[str]:
    return [line[4:7] for line in lines_of(screen, height=80)[3:] if line[4:5] == "p"]


def press(screen: PuzzleList, *keys: str) -> None:
    for key in keys:
        assert screen.key(key) is None, key


def chosen(screen: PuzzleList, key: str) -> tuple[Action, str]:
    request = screen.key(key)
    assert request is not None
    return request.action, request.step.command if request.step else ""


def test_the_cursor_begins_at_the_next_puzzle_and_moves(journey: Journey) -> None:
    screen = PuzzleList(journey, "en")
    assert chosen(screen, "\r") == (Action.WATCH, "p02")
    press(screen, "j")
    assert chosen(screen, "e") == (Action.OPEN, "p03")
    press(screen, "\x1b[A", "k", "k", "k")
    assert chosen(screen, "r") == (Action.RUN, "p01")
    press(screen, "G")
    assert chosen(screen, "r")[1].startswith(PUZZLES[-1])
    press(screen, "j", "g", "\x1b[6~")
    assert chosen(screen, "r") == (Action.RUN, "p11")
    assert chosen(screen, "q") == (Action.QUIT, "")


def test_solved_puzzles_have_a_sign_and_parts_a_count(journey: Journey) -> None:
    lines = lines_of(PuzzleList(journey, "en"), height=80)
    assert lines[0].endswith(f"  2 of {COUNT} puzzles solved")
    names = [line.rstrip() for line in lines]
    assert "  ✓ p01  Map" in names
    assert ">   p02  Zip" in names
    assert any(name.startswith("  · p23  Functional patterns ") and name.endswith("1/4") for name in names)


@pytest.mark.parametrize(("width", "language"), [(80, "en"), (80, "ko"), (120, "en"), (40, "ko")])
def test_the_screen_is_as_large_as_the_terminal(journey: Journey, width: int, language: str) -> None:
    screen = PuzzleList(journey, language)
    press(screen, "j", "j", "x")
    lines = lines_of(screen, width)
    assert len(lines) == 24
    assert max(map(len, lines)) <= width
    assert any(line.startswith(">   p04") for line in lines)


def test_filters_show_what_is_asked_for(journey: Journey) -> None:
    screen = PuzzleList(journey, "en")
    press(screen, *"/dot trex")
    assert puzzles_in(screen) == []
    assert "filter: dot trex▏" in lines_of(screen)[1]
    press(screen, "\x7f")
    assert puzzles_in(screen) == ["p12"]
    press(screen, *("\x7f",) * 4, "\r")
    assert puzzles_in(screen) == ["p12", "p27"]
    assert chosen(screen, "\r") == (Action.WATCH, "p12")
    press(screen, "\x1b")
    assert len(puzzles_in(screen)) == COUNT
    press(screen, "t")
    assert lines_of(screen)[1] == f"unsolved puzzles: {COUNT - 2}"
    assert "p01" not in puzzles_in(screen)
    press(screen, "t")
    assert puzzles_in(screen) == ["p01", "p03"]
    press(screen, "t", *"/xyz\r")
    assert "no puzzle matches" in "\n".join(lines_of(screen))
    press(screen, "\r", "x", "r")  # there is nothing at the cursor
    assert puzzles_in(PuzzleList(journey, "ko", words="내적")) == ["p12"]
    assert puzzles_in(PuzzleList(journey, "en", part="X", todo=True)) == ["p30", "p31", "p32"]


def test_a_reset_is_asked_for_twice(journey: Journey) -> None:
    screen = PuzzleList(journey, "en")
    press(screen, "x")
    assert "press x again to write the skeleton of p02 again" in "\n".join(lines_of(screen))
    press(screen, "j", "x")
    assert chosen(screen, "x") == (Action.RESET, "p03")


def test_what_is_solved_meanwhile_is_shown_and_the_cursor_stays(journey: Journey) -> None:
    screen = PuzzleList(journey, "en", todo=True)
    press(screen, "j", "j")
    assert chosen(screen, "e") == (Action.OPEN, "p05")
    record_solved(ROOT, "p02", "default")
    screen.reload(open_journey(Project(ROOT)))
    assert puzzles_in(screen)[0] == "p04"
    assert chosen(screen, "e") == (Action.OPEN, "p05")


def test_from_watch_a_puzzle_is_only_chosen(journey: Journey) -> None:
    screen = PuzzleList(journey, "en")
    screen.for_watch()
    press(screen, "r", "x", "e", "j")
    assert chosen(screen, "\r") == (Action.WATCH, "p03")
    assert chosen(screen, "l") == (Action.QUIT, "")
