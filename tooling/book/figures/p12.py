"""Puzzle 12: products in shared memory, then the tree that sums them."""

from __future__ import annotations

from collections.abc import Callable

from tooling.book.figures.canvas import Canvas
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import Figure
from tooling.book.figures.reduction import CELL, ROW, draw_reduction
from tooling.catalog.model import Text


def draw_dot_product(facts: Facts, sheet: Callable[[int, int], Canvas]) -> Canvas:
    """Both vectors, their products, and the tree."""
    size = facts.constant("SIZE")
    data = facts.inputs("default")
    left = 170
    canvas = sheet(left + size * CELL + 24, 34 + 2 * 54 + 26 + 4 * ROW - 28)
    for index in range(size):
        canvas.label(left + index * CELL + CELL / 2, 16, f"T{index}", "middle", size=12, quiet=True)
    for row, name in enumerate(("a", "b")):
        top = 34 + row * 54
        canvas.label(left - 16, top + CELL / 2, name, "end", mono=True)
        for index in range(size):
            canvas.cell(left + index * CELL, top, CELL, CELL, number(data[name].reshape(-1)[index]))
    below = 34 + 2 * 54
    for index in range(size):
        middle = left + index * CELL + CELL / 2
        canvas.arrow(middle, below - 8, middle, below + 22)
    first = Text("products, shared", "곱 (공유 메모리)")
    draw_reduction(canvas, left, below + 26, facts.trace(), first=first)
    return canvas


FIGURES = (
    Figure(
        "p12",
        Text(
            "Each thread multiplies one pair. Three steps then fold the eight products into the dot product.",
            "스레드마다 한 쌍을 곱합니다. 그다음 세 단계 만에 여덟 개의 곱이 내적 하나로 접힙니다.",
        ),
        Text(
            "Vectors a and b hold 0 to 7. Their products 0 1 4 9 16 25 36 49 stand in shared memory. "
            "After stride 4 the "
            "first four cells hold 16 26 40 58, after stride 2 the first two hold 56 84, after stride 1 "
            "the first holds 140.",
            "벡터 a와 b에는 0부터 7까지 들어 있습니다. 곱 0 1 4 9 16 25 36 49가 공유 메모리에 놓입니다. "
            "스트라이드 4 다음에는 앞의 네 "
            "칸이 16 26 40 58, 스트라이드 2 다음에는 앞의 두 칸이 56 84, 스트라이드 1 다음에는 첫 칸이 "
            "140입니다.",
        ),
        draw_dot_product,
        traces=("p12",),
    ),
)
