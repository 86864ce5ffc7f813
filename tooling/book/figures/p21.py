"""Puzzle 21: tokens choose rows of a table; two orders in which warps read them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from msgspec import Struct

from tooling.book.figures.canvas import Canvas, Ink
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import Figure
from tooling.catalog.model import Text

Sheet = Callable[[int, int], Canvas]

_LANES = 32
_SECTOR = 8  # float32 numbers of a sector, 32 bytes


def draw_lookup(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The first tokens, the table with the rows that they choose, and the rows of the output."""
    data = facts.inputs("default")
    shown = 3 if narrow else 4
    tokens = [int(token) for token in data["tokens"][:shown]]
    table, last = data["table"], len(data["table"]) - 1
    rows: list[int | None] = [0, None]
    for token in sorted(set(tokens)):
        rows += [token, None]
    rows.append(last)
    side, high, cell, values = (44, 26, 46, 1) if narrow else (64, 32, 52, 3)
    first, second, third = (2, 70, 258) if narrow else (4, 116, 482)
    offset = 50 if narrow else 76
    top, size = 40, 11 if narrow else 13
    canvas = sheet(third + values * cell + 28, top + len(rows) * (high + 2) + 8)

    def numbers(x: float, y: float, row: int, ink: Ink) -> None:
        for column in range(values):
            canvas.cell(x + column * cell, y, cell, high, f"{table[row, column]:.1f}", ink=ink, size=size)
        canvas.label(x + values * cell + 8, y + high / 2, "…", quiet=True)

    canvas.label(first + side / 2, 18, "tokens", "middle", mono=True, bold=True, size=size)
    middle_of = {}
    label_x = second + offset - 8
    canvas.label(second + offset + values * cell / 2, 18, "table", "middle", mono=True, bold=True, size=size)
    for place, row in enumerate(rows):
        y = top + place * (high + 2)
        if row is None:
            canvas.label(second + offset + values * cell / 2, y + high / 2, "⋮", "middle", quiet=True)
            continue
        canvas.label(label_x, y + high / 2, str(row), "end", mono=True, size=size, quiet=True)
        numbers(second + offset, y, row, Ink.LIVE if row in tokens else Ink.SPARE)
        middle_of[row] = y + high / 2
    canvas.label(third + values * cell / 2, 18, "output", "middle", mono=True, bold=True, size=size)
    start = top + (len(rows) - 2 * shown) / 2 * (high + 2)
    for place, token in enumerate(tokens):
        level = start + 2 * place * (high + 2)
        canvas.cell(first, level, side, high, str(token), size=size)
        numbers(third, level, token, Ink.RESULT)
        edge = second + offset - (40 if narrow else 50)
        canvas.arrow(first + side + 2, level + high / 2, edge, middle_of[token])
        canvas.arrow(second + offset + values * cell + 26, middle_of[token], third - 3, level + high / 2)
    return canvas


class Request(Struct, frozen=True):
    """What the first warp of a kernel reads of the table.

    Attributes:
        kernel: the operation that launches it.
        lanes: for each lane, the row of the table and the column.
    """

    kernel: str
    lanes: tuple[tuple[int, int], ...]

    @property
    def rows(self) -> tuple[int, ...]:
        """The rows of the table, in the order of the lanes."""
        return tuple(dict.fromkeys(row for row, _ in self.lanes))

    def sectors(self, row: int) -> frozenset[int]:
        """The sectors of a row that are moved, counted from its start."""
        return frozenset(column // _SECTOR for each, column in self.lanes if each == row)

    def all_sectors(self) -> int:
        """How many sectors the whole request moves; rows begin at whole sectors."""
        return sum(len(self.sectors(row)) for row in self.rows)


def first_requests(facts: Facts) -> tuple[Request, Request]:
    """Those of `embedding` and of `embedding_2d`."""
    tokens = facts.inputs("default")["tokens"].tolist()
    width, side = facts.constant("WIDTH"), facts.constant("BLOCK_DIM_XY")
    return (
        Request("embedding", tuple((tokens[lane // width], lane % width) for lane in range(_LANES))),
        Request("embedding_2d", tuple((tokens[lane % side], lane // side) for lane in range(_LANES))),
    )


def draw_memory(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The first 128 bytes of the rows that each warp reads: sectors, words, and the lane of each word."""
    word, line, left, shown = (15, 16, 70, 4) if narrow else (19, 32, 82, 6)
    requests = first_requests(facts)
    high, gap = 22, 6
    lines = [[(row, 0) for row in request.rows[:shown]] for request in requests]
    lines[0] = [(row, part) for row, _ in lines[0] for part in range(_LANES // line)]
    height = sum(38 + len(each) * (high + 5) for each in lines) + 34 + 16
    canvas = sheet(left + line * word + (line // _SECTOR - 1) * gap + 6, height)
    y = 12.0
    for request, each in zip(requests, lines, strict=True):
        across, rows, sectors = (
            len({column for _, column in request.lanes}),
            len(request.rows),
            request.all_sectors(),
        )
        english = [f"{rows} {'row' if rows == 1 else 'rows'}", f"{across} columns", f"{sectors} sectors"]
        korean = [f"행 {rows}개", f"열 {across}개", f"섹터 {sectors}개"]
        if narrow:
            del english[1], korean[1]
        heading = Text(f"{request.kernel}: {', '.join(english)}", f"{request.kernel}: {', '.join(korean)}")
        canvas.label(2, y, heading, bold=True, size=13 if narrow else 14)
        y += 20
        for row, part in each:
            if part == 0:
                canvas.label(left - 8, y + high / 2, Text(f"row {row}", f"행 {row}"), "end", size=12)
            moved = request.sectors(row)
            lane_of = {column: lane for lane, (at, column) in enumerate(request.lanes) if at == row}
            for column in range(part * line, (part + 1) * line):
                x = left + column % line * word + column % line // _SECTOR * gap
                lane = lane_of.get(column)
                ink = Ink.SPARE if column // _SECTOR not in moved else Ink.LIVE
                if lane is None:
                    canvas.cell(x, y, word, high, ink=ink)
                else:
                    canvas.cell(x, y, word, high, str(lane), ink=Ink.RESULT, size=10 if narrow else 12)
            y += high + 5
        if len(request.rows) > shown:
            rest = len(request.rows) - shown
            canvas.label(left, y + 6, Text(f"… {rest} more rows", f"… 행 {rest}개 더"), size=12, quiet=True)
        y += 18
    canvas.cell(left, y + 6, 16, 16, ink=Ink.RESULT)
    canvas.label(left + 22, y + 14, Text("read by thread", "스레드가 읽음"), size=12)
    other = left + (120 if narrow else 140)
    canvas.cell(other, y + 6, 16, 16, ink=Ink.LIVE)
    canvas.label(other + 22, y + 14, Text("moved, unused", "옮기지만 미사용"), size=12)
    return canvas


FIGURES = (
    Figure(
        "p21",
        Text(
            "A token is the number of a row. The output gets a copy of the row of each token.",
            "토큰은 행의 번호입니다. output에는 토큰마다 그 행의 복사본이 들어갑니다.",
        ),
        Text(
            "On the left the first four tokens: 7270, 860, 5390 and 5191. In the middle the table with rows "
            "0 to 9999, of which these four are marked. An arrow leads from each token to its row, and from "
            "there to the row of the output that has the place of the token, and the same numbers.",
            "왼쪽에는 처음 네 토큰 7270, 860, 5390, 5191이 있습니다. 가운데에는 행 0부터 9999까지인 table이 "
            "있고 이 네 행이 표시되어 있습니다. 토큰마다 화살표가 해당하는 행으로 이어지고, 다시 output에서 "
            "토큰과 위치가 같은 행으로 이어집니다. 그 행의 값은 table의 행과 같습니다.",
        ),
        draw_lookup,
        narrow=partial(draw_lookup, narrow=True),
    ),
    Figure(
        "p21-memory",
        Text(
            "What the first warp of each kernel reads of the table. Each line is the beginning of a row, cut "
            "into sectors of 32 bytes; a number is the thread of the warp that reads there. A sector is "
            "moved as a whole.",
            "두 커널의 첫 워프가 table에서 읽는 값입니다. 줄마다 행의 앞부분이 32바이트 섹터로 나뉘어 있고, "
            "숫자는 그 위치를 읽는 워프의 스레드입니다. 섹터는 통째로 옮깁니다.",
        ),
        Text(
            "Two maps of the table. In embedding, threads 0 to 31 read 32 neighbouring numbers of row 7270, "
            "in 4 sectors that are used entirely. In embedding_2d, threads 0 to 15 read the first number of "
            "16 rows, 7270, 860, 5390 and so on, and threads 16 to 31 the second number of the same rows: 16 "
            "sectors, of each of which two numbers out of eight are used.",
            "table의 지도 두 개. embedding에서는 스레드 0부터 31까지가 행 7270의 이웃한 값 32개를 읽습니다. "
            "섹터 4개를 빠짐없이 사용합니다. embedding_2d에서는 스레드 0부터 15까지가 7270, 860, 5390으로 "
            "이어지는 행 16개의 첫 번째 값을, 스레드 16부터 31까지가 같은 행의 두 번째 값을 읽습니다. 섹터 "
            "16개에서 값 8개 가운데 2개씩만 사용합니다.",
        ),
        draw_memory,
        narrow=partial(draw_memory, narrow=True),
    ),
)
