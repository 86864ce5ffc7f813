"""Puzzle 2: four threads, and four elements of each of two vectors."""

from __future__ import annotations

from tooling.book.figures.canvas import Canvas, Sheet
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import Figure
from tooling.book.figures.maps import draw_map


def draw_zip(facts: Facts, sheet: Sheet) -> Canvas:
    """`a` and `b`, the threads, and what they wrote."""
    data = facts.inputs("default")
    a, b = (data[name].reshape(-1).tolist() for name in ("a", "b"))
    return draw_map(sheet, facts.trace("p02"), {(1, "a"): a, (2, "b"): b}, (0, "output"), "+")


FIGURES = (Figure("p02", draw_zip, traces=("p02",)),)
