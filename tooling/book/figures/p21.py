"""Puzzle 21: tokens choose rows of a table; two orders in which warps read them."""

from __future__ import annotations

from msgspec import Struct

from tooling.book.figures.canvas import PAGE, PAPER, PHONE, Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import responsive
from tooling.book.figures.grids import Grid, Square, draw_grids, numbered
from tooling.text import Text

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
    side, high, cell, values = (46, 28, 46, 1) if narrow else (66, 32, 60, 3)
    first, offset, width = 1, 42, PHONE if narrow else PAGE
    third = width - 20 - values * cell
    second = 92 if narrow else 160  # of the numbers of rows, which are before the table
    top, size = 34, Size.SMALL if narrow else Size.VALUE
    canvas = sheet(width, top + len(rows) * (high + 2) + 8)

    def numbers(x: float, y: float, row: int, ink: Ink) -> None:
        for column in range(values):
            canvas.cell(
                x + column * cell, y, cell, high, number(table[row, column], ".1f"), ink=ink, size=size
            )
        canvas.label(x + values * cell + 8, y + high / 2, "…", quiet=True)

    canvas.label(first, 12, "tokens", mono=True, bold=True)
    middle_of = {}
    label_x = second + offset - 8
    canvas.label(second + offset, 12, "table", mono=True, bold=True)
    for index, row in enumerate(rows):
        y = top + index * (high + 2)
        if row is None:
            canvas.label(second + offset + values * cell / 2, y + high / 2, "⋮", "middle", quiet=True)
            continue
        canvas.label(label_x, y + high / 2, f"{row:,}", "end", size=Size.LABEL, quiet=True)
        numbers(second + offset, y, row, Ink.PLAIN if row in tokens else Ink.SPARE)
        middle_of[row] = y + high / 2
    canvas.label(third, 12, "output", mono=True, bold=True)
    start = top + (len(rows) - 2 * shown) / 2 * (high + 2)
    for index, token in enumerate(tokens):
        level = start + 2 * index * (high + 2)
        canvas.cell(first, level, side, high, str(token), size=size)
        numbers(third, level, token, Ink.RESULT)
        edge = label_x - 5 - canvas.length(str(token), Size.LABEL)
        canvas.side_curve(first + side + 2, level + high / 2, edge, middle_of[token], marked=not index)
        canvas.side_curve(
            second + offset + values * cell + 27,
            middle_of[token],
            third - 3,
            level + high / 2,
            marked=not index,
        )
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
    from tooling.book.figures.requests import define_hatching, draw_states  # noqa: PLC0415 - brings NumPy

    requests = first_requests(facts)
    left, shown = 1, 4  # rows of a kernel
    word, line, high, gap = (21, 16, 20, 22) if narrow else (22, 32, 24, 8)  # as in the maps of `requests.py`
    spacing = 5  # from a line to the next
    lines = [[(row, 0) for row in request.rows[:shown]] for request in requests]
    lines[0] = [(row, part) for row, _ in lines[0] for part in range(_LANES // line)]
    above = 26  # for the number of a row
    first = sum(not part for each in lines for _, part in each)
    height = sum(38 + len(each) * (high + spacing) for each in lines) + first * above + 34
    canvas = sheet(left + line * word + (line // _SECTOR - 1) * gap + 1, height)
    define_hatching(canvas)
    y = 12.0
    for request, each in zip(requests, lines, strict=True):
        one = Text("1 row, {sectors} sectors")
        several = Text("{rows} rows, {sectors} sectors")
        if not narrow:
            one = Text("1 row, {columns} columns, {sectors} sectors")
            several = Text("{rows} rows, {columns} columns, {sectors} sectors")
        moved_by = (one if len(request.rows) == 1 else several).of(
            rows=len(request.rows),
            columns=len({column for _, column in request.lanes}),
            sectors=request.all_sectors(),
        )
        canvas.label(1, y, request.kernel, bold=True, mono=True)
        canvas.label(canvas.width - 1, y, moved_by, "end", size=Size.LABEL, quiet=True)
        y += 12
        for row, part in each:
            if part == 0:
                name = Text("row {row}").of(row=f"{row:,}")
                y += above
                canvas.label(left, y - 12, name, size=Size.LABEL, quiet=True)
            moved = request.sectors(row)
            lane_of = {column: lane for lane, (at, column) in enumerate(request.lanes) if at == row}
            for column in range(part * line, (part + 1) * line):
                x = left + column % line * word + column % line // _SECTOR * gap
                if column % _SECTOR == 0:
                    _sector(canvas, (x, y), (_SECTOR * word, high), moved=column // _SECTOR in moved)
                if column // _SECTOR in moved:
                    _word(canvas, (x, y), (word, high), lane_of.get(column))
            y += high + spacing
        if len(request.rows) > shown:
            rest = len(request.rows) - shown
            canvas.label(left, y + 14, Text("… {rest} more rows").of(rest=rest), size=Size.LABEL, quiet=True)
            y += 14
        y += 28
    canvas.height = round(y) - 14
    draw_states(canvas, all_moved=False)
    return canvas


def _sector(canvas: Canvas, at: tuple[float, float], size: tuple[float, float], *, moved: bool) -> None:
    """The outline of a sector, as in the maps of `requests.py`."""
    (x, y), (width, height) = at, size
    fill, line = (PAPER, Ink.LIVE) if moved else ("none", Ink.PLAIN)
    canvas.embed(
        f'<rect x="{x + 0.5:g}" y="{y + 0.5:g}" width="{width:g}" height="{height:g}" fill="{fill}" '
        f'stroke="{line.line}" stroke-opacity=".5"/>',
        (x, y, x + width, y + height),
    )


def _word(canvas: Canvas, at: tuple[float, float], size: tuple[float, float], lane: int | None) -> None:
    """A word that is moved, and the lane that reads it; neighbours share a border."""
    (x, y), (width, height) = at, size
    fill = "url(#hatched)" if lane is None else Ink.LIVE.fill
    canvas.embed(
        f'<rect x="{x + 0.5:g}" y="{y + 0.5:g}" width="{width:g}" height="{height:g}" fill="{fill}" '
        f'stroke="{Ink.LIVE.line}"/>',
        (x, y, x + width, y + height),
    )
    if lane is not None:
        middle = x + width / 2, y + height / 2
        canvas.label(*middle, str(lane), "middle", colour=Ink.LIVE.text, size=Size.LANE)


def draw_threads(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The numbers of the threads that copy the first columns of the first rows of the result."""
    width, side = facts.constant("WIDTH"), facts.constant("BLOCK_DIM_XY")
    rows, columns = 3, 5
    kernels = (
        ("embedding: i", width, 1),
        ("embedding_2d: y * 16 + x", 1, side),
    )
    grids = []
    for title, down, along in kernels:
        numbers = [[row * down + column * along for column in range(columns)] for row in range(rows)]
        squares = [
            [Square(str(each), Ink.LIVE if each < _LANES else Ink.PLAIN) for each in line] for line in numbers
        ]
        names = [Text("token {row}").of(row=row) for row in range(rows)]
        grids.append(Grid(title, squares, numbered(columns), names))
    canvas = draw_grids(sheet, grids, side=57 if narrow else 56, left=69, per_line=1 if narrow else 2)
    canvas.height += 30
    canvas.legend(
        1, canvas.height - 12, (Ink.LIVE, Text("in the first warp")), (Ink.PLAIN, Text("in another"))
    )
    return canvas


FIGURES = (
    responsive("p21", draw_lookup),
    responsive("p21-memory", draw_memory),
    responsive("p21-threads", draw_threads),
)
