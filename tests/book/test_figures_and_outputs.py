"""Figures hold the numbers of their puzzles; outputs are shown as they were recorded."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from tooling.book.figures import FIGURES
from tooling.book.figures.drawing import outdated, pictures
from tooling.book.figures.reduction import reduction_steps
from tooling.book.recordings import digest, fold
from tooling.book.runs import shown_outputs
from tooling.book.shelf import Shelf
from tooling.project import Project


@pytest.mark.parametrize("figure", FIGURES, ids=[figure.name for figure in FIGURES])
def test_a_figure_is_drawn_in_two_languages_and_two_shades(real: Project, figure: object) -> None:
    drawn = list(pictures(Shelf(real), figure))  # type: ignore[arg-type]
    assert len(drawn) == 4
    for path, text in drawn:
        ElementTree.fromstring(text)
        assert re.fullmatch(r"\d\d(-\w+)?-[wb]\.svg", path.name)
        assert ("i18n/ko" in path.as_posix()) == bool(re.search("[가-힣]", text))


@pytest.mark.parametrize("figure", FIGURES, ids=[figure.name for figure in FIGURES])
def test_the_pictures_in_the_book_are_up_to_date(real: Project, figure: object) -> None:
    assert outdated(Shelf(real), figure) == []  # type: ignore[arg-type]


def test_the_axis_sum_shows_its_sums(real: Project) -> None:
    figure = next(each for each in FIGURES if each.name == "p15")
    _, text = next(pictures(Shelf(real), figure))
    assert [number for number in ("15", "51", "87", "123") if f">{number}<" not in text] == []


def test_steps_of_a_reduction() -> None:
    steps = reduction_steps([0, 1, 2, 3, 4, 5, 0, 0])
    assert [(stride, cells[:stride]) for stride, cells in steps] == [
        (4, [4, 6, 2, 3]),
        (2, [6, 9]),
        (1, [15]),
    ]


def test_long_counting_is_folded() -> None:
    lines = ["a: 1", *(f"tile_id: {number}" for number in range(32)), "out"]
    assert list(fold(lines)) == [
        "a: 1",
        "tile_id: 0",
        "tile_id: 1",
        "tile_id: 2",
        "...",
        "tile_id: 31",
        "out",
    ]


def test_short_counting_is_not_folded() -> None:
    lines = [f"  Block {number} : 0.0" for number in range(4)]
    assert list(fold(lines)) == lines


def test_a_comment_does_not_make_a_recording_old(checkout: Project) -> None:
    program = checkout.problems / "p15" / "p15.mojo"
    before = digest(program)
    program.write_text(program.read_text(encoding="utf-8") + "\n# a remark\n", encoding="utf-8")
    assert digest(program) == before
    program.write_text(program.read_text(encoding="utf-8").replace("TPB = 8", "TPB = 16"), encoding="utf-8")
    assert digest(program) != before


def test_each_output_of_the_book_is_listed_once(real: Project) -> None:
    names = [shown.name for shown in shown_outputs(real)]
    assert "p15 (unsolved)" in names
    assert len(names) == len(set(names))
