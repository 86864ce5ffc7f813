"""Puzzle 2: four threads, and four elements of each of two vectors."""

from __future__ import annotations

from collections.abc import Callable

from tooling.book.figures.canvas import Canvas
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import Figure
from tooling.book.figures.maps import draw_map
from tooling.catalog.model import Text


def draw_zip(facts: Facts, sheet: Callable[[int, int], Canvas]) -> Canvas:
    """`a` and `b`, the threads, and what they wrote."""
    data = facts.inputs("default")
    a, b = (data[name].reshape(-1).tolist() for name in ("a", "b"))
    return draw_map(sheet, facts.trace("p02"), {(1, "a"): a, (2, "b"): b}, (0, "output"))


FIGURES = (
    Figure(
        "p02",
        Text(
            "Each thread takes the element of its number from both vectors and writes their sum.",
            "스레드마다 두 벡터에서 제 번호의 원소를 가져와 합을 씁니다.",
        ),
        Text(
            "Above, two rows close together: the elements of a, 0, 1, 2, 3, and those of b, 0, 1, 2, "
            "3. Elements of the same number stand one below the other in a frame. In the middle four "
            "threads with i = 0 to i = 3. Below, the elements of output: 0, 2, 4, 6. An arrow leads "
            "from each frame straight down to the thread of its number, and from there to the element "
            "of output with the same number.",
            "위에는 두 줄이 붙어 있습니다. a의 원소 0, 1, 2, 3과 b의 원소 0, 1, 2, 3입니다. 번호가 "
            "같은 원소는 위아래로 한 테두리 안에 있습니다. 가운데에는 i = 0부터 i = 3까지 스레드 네 "
            "개. 아래에는 output의 원소 0, 2, 4, 6. 화살표가 테두리마다 번호가 같은 스레드로 곧게 "
            "내려가고, 거기서 번호가 같은 output 원소로 이어집니다.",
        ),
        draw_zip,
        traces=("p02",),
    ),
)
