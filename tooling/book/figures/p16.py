"""Puzzle 16: which elements a product needs, what shared memory holds in each step, and the roofline."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from msgspec import Struct

from tooling.book.errors import BookError
from tooling.book.figures.canvas import GAP, GRID, PAGE, PHONE, TEXT, Canvas, Ink, Sheet, Size
from tooling.book.figures.charts import Axis, Series, draw_chart
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import responsive
from tooling.book.figures.grids import Grid, Square, draw_grids
from tooling.book.figures.h200 import Measured, measured, recorded
from tooling.book.figures.traces import SHARED, Access, Trace
from tooling.text import Text

_PROGRAM = "p16_tile_tensor"
_OUTPUT, _A, _B = 0, 1, 2  # the kernels' arguments
_EXAMPLE = (4, 5)  # row and column of the product that the overview works out
_WORKED_OUT = (1, 0)  # those of the element whose factors are marked in shared memory
_BLOCK = 1  # whose tiles are drawn; its x and y differ
_INSET, _LOW = 6, 36  # from threads to the frame of their block; the height of an element above them


def draw_product(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """`a` on the left, `b` above, the product between them: one element with its row and its column."""
    size = facts.constant("SIZE_TILED", _PROGRAM)
    data = facts.inputs("tiled")
    a, b = (data[name].reshape(size, size) for name in ("a", "b"))
    product = facts.expected("tiled")["out"].reshape(size, size)
    row, col = _EXAMPLE
    cell, high, left, top, gap, between = (19, 19, 1, 28, 16, 34) if narrow else (36, 24, 57, 28, 24, 40)
    wide, tall = size * cell, size * high
    right, below = left + wide + gap, top + tall + between
    canvas = sheet(right + wide + 1, below + tall + 1)

    def matrix(x: float, y: float, values: Callable[[int, int], tuple[str, Ink]]) -> None:
        for r in range(size):
            for c in range(size):
                text, ink = values(r, c)
                canvas.cell(x + c * cell, y + r * high, cell, high, "" if narrow else text, ink=ink)

    matrix(left, below, lambda r, c: (number(a[r, c]), Ink.MARK) if r == row else ("", Ink.SPARE))
    matrix(right, top, lambda r, c: (number(b[r, c]), Ink.MARK) if c == col else ("", Ink.SPARE))
    matrix(right, below, lambda r, c: ("", Ink.RESULT if (r, c) == _EXAMPLE else Ink.SPARE))
    middle_row, middle_col = below + (row + 0.5) * high, right + (col + 0.5) * cell
    canvas.label(left, below - 14, "a", mono=True, bold=True)
    canvas.label(right, below - 14, "output", mono=True, bold=True)
    canvas.label(right, top - 14, "b", mono=True, bold=True)
    canvas.label(middle_col, top - 14, f"col {col}", "middle", size=Size.LABEL, mono=True, quiet=True)
    if not narrow:
        canvas.label(1, middle_row, f"row {row}", size=Size.LABEL, mono=True, quiet=True)
    canvas.arrow(left + wide + 3, middle_row, middle_col - cell / 2 - 3, middle_row, marked=True)
    canvas.arrow(middle_col, top + tall + 3, middle_col, middle_row - high / 2 - 3, marked=True)
    size_text = Size.LABEL if narrow else Size.VALUE
    step, digit = tall / (size + 1), size_text * 0.6
    canvas.label(left, top - 14, f"output[{row}, {col}]", mono=True, bold=True)
    factors = [(number(a[row, k]), number(b[k, col])) for k in range(size)]
    one, other = (max(len(pair[side]) for pair in factors) for side in (0, 1))
    # Signs and digits are below each other.
    columns = (0, 2 + one, 3 + one, 5 + one + other)
    total = number(product[row, col])
    lines = [("=" if k == 0 else "+", first, "·", second) for k, (first, second) in enumerate(factors)]
    for k, line in enumerate(lines):
        y = top + (k + 0.5) * step
        for column, part, anchor in zip(columns, line, ("start", "end", "start", "end"), strict=True):
            canvas.label(left + column * digit, y, part, anchor, size=size_text, mono=True)
    y = top + (size + 0.5) * step
    canvas.label(left, y, "=", size=size_text, mono=True, bold=True)
    canvas.label(left + columns[-1] * digit, y, total, "end", size=size_text, mono=True, bold=True)
    return canvas


def draw_naive(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The threads of the block, each with the products that it adds up; those outside the matrix are idle."""
    trace = facts.trace(f"{_PROGRAM} --naive")
    size = facts.constant("SIZE", _PROGRAM)
    data = facts.inputs("naive")
    a, b = data["a"].reshape(-1), data["b"].reshape(-1)
    read_a, read_b = _read(trace, _A), _read(trace, _B)
    stored = {store.thread: store for store in trace.accesses("store", _OUTPUT, block=0)}
    across, down = trace.block[:2]
    # Each column of `b` is as wide as the threads below it, each row of `a` as high as those next to it.
    cell, wide, high, gap = (31, 92, 76, 14) if narrow else (40, 102, 76, 24)
    left, top, heading = 1, 28, 32
    right, below = left + size * cell + gap, top + size * _LOW + 14 + heading
    end, bottom = right + across * wide, below + down * high
    canvas = sheet(end + _INSET + 1, bottom + _INSET + 38)
    canvas.label(left, below - heading / 2, "a", mono=True, bold=True)
    canvas.label(right, 12, "b", mono=True, bold=True)
    for k in range(size):
        for index in range(size):
            canvas.cell(left + k * cell, below + index * high, cell, high, number(a[index * size + k]))
            canvas.cell(right + index * wide, top + k * _LOW, wide, _LOW, number(b[k * size + index]))
    canvas.frame(right - _INSET, below - heading, end - right + 2 * _INSET, bottom - below + heading + _INSET)
    name = Text("block (0, 0): {across} × {down} threads").of(across=across, down=down)
    canvas.label(right, below - heading / 2, name, bold=True)
    for thread in range(across * down):
        x, y = thread % across, thread // across
        busy = stored.get(thread)
        corner_x, corner_y = right + x * wide, below + y * high
        ink = Ink.SPARE if busy is None else Ink.RESULT
        canvas.cell(corner_x, corner_y, wide, high, ink=ink)
        colour, middle = ink.text, corner_x + wide / 2
        lines: list[Text | str] = [f"({x}, {y})", Text("idle")]
        if busy is not None:
            pairs = zip(read_a[thread], read_b[thread], strict=True)
            terms = " + ".join(f"{number(a[one])}·{number(b[other])}" for one, other in pairs)
            lines[1:] = [terms, f"= {number(busy.value)}"]
        for line, text in enumerate(lines):
            mono = isinstance(text, str)
            at = corner_y + high / 2 + (line - (len(lines) - 1) / 2) * 20
            canvas.label(middle, at, text, "middle", size=Size.LABEL, mono=mono, colour=colour)
    legend = bottom + _INSET + 24
    canvas.legend(left, legend, _INPUT, _RESULT, _IDLE)
    return canvas


def draw_shared(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Both inputs, the block's shared tiles with what was stored there, and the output."""
    trace = facts.trace(f"{_PROGRAM} --single-block")
    size = facts.constant("SIZE", _PROGRAM)
    data = facts.inputs("single-block")
    across, down = trace.block[:2]
    tiles = _tiles(list(trace.accesses("store", SHARED, block=0)), across * down)
    stored = {store.element: store.value for store in trace.accesses("store", _OUTPUT, block=0)}
    cell, pad, sign, gap = (35, 10, 28, 30) if narrow else (42, 14, 32, 40)
    lefts = (1 + pad, 1 + pad + across * cell + sign)  # of the shared tiles, and of a and b above them
    after = lefts[1] + across * cell + pad
    output = after + gap
    inputs, frame = 28, 28 + size * cell + 40  # their upper ends
    shared = frame + 66
    bottom = shared + down * cell + pad
    canvas = sheet(output + size * cell + 1, bottom + (60 if narrow else 36))

    def square(x: float, y: float, wide: int, values: dict[int, float], ink: Ink) -> None:
        for index in range(wide * wide):
            value = values.get(index)
            canvas.cell(
                x + index % wide * cell,
                y + index // wide * cell,
                cell,
                cell,
                "" if value is None else number(value),
                ink=Ink.SPARE if value is None else ink,
            )

    def title(x: float, y: float, text: str) -> None:
        canvas.label(x, y - 15, text, mono=True, bold=True)

    def mark(x: float, y: float, wide: int, high: int) -> None:
        canvas.frame(x, y, wide * cell, high * cell, corner=6, ink=Ink.MARK, line=2)

    canvas.frame(1, frame, after - 1, bottom - frame)
    canvas.label(lefts[0], frame + 19, Text("block (0, 0)"), size=Size.LABEL, quiet=True)
    for name, x, tile in zip(("a", "b"), lefts, tiles, strict=True):
        title(x, inputs, name)
        square(x, inputs, size, dict(enumerate(data[name].reshape(-1))), Ink.PLAIN)
        middle = x + size * cell / 2
        canvas.arrow(middle, inputs + size * cell + 4, middle, frame - 4)
        title(x, shared, f"{name}_shared")
        square(x, shared, across, tile, Ink.LIVE)
    title(output, shared, "output")
    square(output, shared, size, stored, Ink.RESULT)
    middle = shared + size * cell / 2
    canvas.dot(lefts[1] - sign / 2, middle)
    canvas.label(after + gap / 2, middle, "=", "middle", size=Size.OPERATOR)
    row, col = _WORKED_OUT
    mark(lefts[0], shared + row * cell, size, 1)
    mark(lefts[1] + col * cell, shared, 1, size)
    mark(output + col * cell, shared + row * cell, 1, 1)
    spare = (Ink.SPARE, Text("unused"))
    canvas.legend(1, bottom + 24, _INPUT, _SHARED, _RESULT, spare, across=2 if narrow else None)
    return canvas


def draw_tiled(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """For each step: which tiles of `a` and `b` the block copies, its shared memory, and its totals."""
    trace = facts.trace(f"{_PROGRAM} --tiled")
    steps, tile = facts.constant("TILES", _PROGRAM), facts.constant("TPB", _PROGRAM)
    size = facts.constant("SIZE_TILED", _PROGRAM)
    (grid, _), cells = trace.grid[:2], tile * tile
    loads = {name: list(trace.accesses("load", buffer, _BLOCK)) for name, buffer in (("a", _A), ("b", _B))}
    stores = list(trace.accesses("store", SHARED, _BLOCK))
    small = 12 if narrow else 20  # a tile of a or b
    # Of an element of both shared tiles, and of a total.
    (one, other, total), high = ((25, 32, 50), 32) if narrow else ((39, 39, 62), 36)
    columns, end = _columns(narrow, steps * small, (tile * one, tile * other, tile * total))
    # A narrow step has the tiles of a and b above its elements.
    spacing, top = (62, 99) if narrow else (30, 66)
    pitch = tile * high + spacing
    bottom = top + steps * pitch - spacing
    letters = Size.SMALL if narrow else Size.VALUE
    canvas = sheet(end + 1, bottom + (96 if narrow else 66))
    name = f"({_BLOCK % grid}, {_BLOCK // grid})"
    canvas.label(1, 12, Text("block {name}").of(name=name), bold=True)
    headings = ("a", "b", "a_shared", "b_shared", "total")
    for x, heading in list(zip(columns, headings, strict=True))[2 if narrow else 0 :]:
        canvas.label(x, top - (15 if narrow else 16), heading, mono=True, bold=True, size=letters)
    label_x = columns[4] + canvas.length("total", letters, mono=True) + 8
    canvas.label(label_x, top - (15 if narrow else 16), Text("after the step"), size=Size.SMALL, quiet=True)
    copied = Ink.LIVE, Text("copied tile, shared memory")
    canvas.legend(
        1,
        bottom + (62 if narrow else 52),
        (Ink.SPARE, Text("other tiles")),
        copied,
        _SUM,
        _RESULT,
        across=2 if narrow else None,
    )
    totals = [0.0] * cells
    for step in range(steps):
        y = top + step * pitch

        def element(column: int, wide: float, index: int, value: float, ink: Ink, *, y: float = y) -> None:
            # With a gap of its own, since narrow cells that touch would share a border.
            x, top = columns[column] + index % tile * wide + GAP / 2, y + index // tile * high + GAP / 2
            canvas.cell(x, top, wide - GAP, high - GAP, number(value), ink=ink, size=letters)

        label = f"tile = {step}"
        # Narrow tiles of the first step are above the headings.
        tiles = y - (13 if step else 33) - steps * small if narrow else y + (tile * high - steps * small) / 2
        middle = tiles + steps * small / 2
        # Narrow, the arrow from the totals of the step before passes at the left of the name.
        label_x = columns[4] + tile * total / 2 + 14 if narrow and step else 1
        canvas.label(label_x, middle, label, mono=True)
        for x, matrix in zip(columns, ("a", "b"), strict=False):
            first = min(load.element for load in loads[matrix][step * cells : (step + 1) * cells])
            here = (first // size // tile, first % size // tile)
            if narrow:
                canvas.label(x - 8, middle, matrix, "end", mono=True)
            for index in range(steps * steps):
                at = (index // steps, index % steps)
                ink = Ink.LIVE if at == here else Ink.SPARE
                canvas.cell(x + at[1] * small, tiles + at[0] * small, small, small, ink=ink)
        a_shared, b_shared = _tiles(stores[2 * step * cells : 2 * (step + 1) * cells], cells)
        for index in range(cells):
            row, col = divmod(index, tile)
            totals[index] += sum(a_shared[row * tile + k] * b_shared[k * tile + col] for k in range(tile))
            element(2, one, index, a_shared[index], Ink.LIVE)
            element(3, other, index, b_shared[index], Ink.LIVE)
            element(4, total, index, totals[index], Ink.RESULT if step == steps - 1 else Ink.SUM)
        middle = y + tile * high / 2
        between = (columns[2] + tile * one + columns[3]) / 2
        canvas.dot(between, middle)
        between = (columns[4] + tile * total + columns[2]) / 2
        canvas.label(between, middle, "+=", "middle", size=Size.VALUE if narrow else Size.COVER)
        if step:
            way = columns[4] + tile * total / 2
            canvas.arrow(way, y + tile * high - pitch + 4, way, y - 4)
    written = {store.thread: store.value for store in trace.accesses("store", _OUTPUT, _BLOCK)}
    if [written[thread] for thread in range(cells)] != totals:
        raise ValueError("the kernel wrote other totals than the tiles give")
    canvas.label(columns[4], bottom + 16, "output", mono=True, bold=True)
    return canvas


def draw_roofline(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Both roofs of an H200, the intensities of the kernels, and what was measured."""
    roof = measured_roof(facts)
    left, top, wide, high = (37, 30, 313, 300) if narrow else (40, 30, 678, 380)
    low_x, high_x, low_y, high_y = 1 / 16, 64.0, 1 / 32, 128.0  # FLOP/byte, TFLOP/s

    def x_of(intensity: float) -> float:
        return left + wide * math.log2(intensity / low_x) / math.log2(high_x / low_x)

    def y_of(speed: float) -> float:
        return top + high - high * math.log2(speed / low_y) / math.log2(high_y / low_y)

    canvas = sheet(left + wide + 10, top + high + 50)
    small = Size.SMALL if narrow else Size.LABEL
    for power in range(-4, 7, 2):
        value, x = 2.0**power, x_of(2.0**power)
        _line(canvas, (x, top), (x, top + high), GRID, 1)
        text = number(value) if value >= 1 else f"1/{number(1 / value)}"
        canvas.label(x, top + high + 18, text, "middle", size=small, quiet=True)
    for power in range(-5, 8, 2):
        value, y = 2.0**power, y_of(2.0**power)
        _line(canvas, (left, y), (left + wide, y), GRID, 1)
        text = number(value) if value >= 1 else f"1/{number(1 / value)}"
        canvas.label(left - 6, y, text, "end", size=small, quiet=True)
    canvas.label(1, 9, Text("speed (TFLOP/s), logarithmic"), size=Size.LABEL, quiet=True)
    axis = Text("arithmetic intensity (FLOP per byte), logarithmic")
    canvas.label(left + wide / 2, top + high + 41, axis, "middle", size=Size.LABEL, quiet=True)
    ridge = roof.peak / roof.bandwidth
    start = max(low_x, low_y / roof.bandwidth)
    corner = (x_of(ridge), y_of(roof.peak))
    _line(canvas, (x_of(start), y_of(start * roof.bandwidth)), corner, TEXT, 2.2)
    _line(canvas, corner, (left + wide, y_of(roof.peak)), TEXT, 2.2)
    peak = Text("peak {peak:.0f} TFLOP/s").of(peak=roof.peak)
    canvas.label(left + wide - 4, y_of(roof.peak) - 12, peak, "end", size=small)
    slope = math.degrees(math.atan2(y_of(2.0) - y_of(4.0), x_of(2.0) - x_of(1.0)))
    bandwidth = Text("copy {bandwidth:.1f} TB/s").of(bandwidth=roof.bandwidth)
    at = (0.5, 0.5 * roof.bandwidth) if narrow else (0.4, 0.4 * roof.bandwidth)
    canvas.embed(f'<g transform="translate({x_of(at[0]):.1f} {y_of(at[1]) - 12:.1f}) rotate({-slope:.1f})">')
    canvas.label(0, 0, bandwidth, "middle", size=small)
    canvas.embed("</g>")
    for intensity, words in _INTENSITIES:
        limit = min(roof.peak, intensity * roof.bandwidth)
        x = x_of(intensity)
        canvas.arrow(x, top + high, x, y_of(limit), head=False, dashed=True)
        for line, word in enumerate(words):
            where = top + high - 28 + 15 * line
            canvas.label(x + 5, where, word, size=small, quiet=True)
    for point in roof.points:
        x, y = x_of(point.intensity), y_of(point.speed)
        look = f'fill="{Ink.RESULT.fill}" stroke="{Ink.RESULT.line}"'
        canvas.embed(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5.5" {look}/>')
        speed = f"{point.speed:.2g} TFLOP/s"
        canvas.ground(round(x) + 8, round(y) - 1, math.ceil(canvas.length(speed, small)) + 2, 36)
        canvas.label(x + 11, y + 9, point.name, size=small, bold=True)
        canvas.label(x + 11, y + 26, speed, size=small)
    return canvas


class Point(Struct, frozen=True):
    """One measured kernel.

    Attributes:
        name: what it is called in the figure.
        intensity: FLOP per byte of global memory.
        speed: TFLOP/s.
    """

    name: Text
    intensity: float
    speed: float


class Roof(Struct, frozen=True):
    """What limits a kernel on the machine that was measured.

    Attributes:
        peak: TFLOP/s of float32 outside the tensor cores.
        bandwidth: of a copy from device memory to device memory, TB/s.
        points: kernels that were measured on it.
    """

    peak: float
    bandwidth: float
    points: tuple[Point, ...]


def measured_roof(facts: Facts) -> Roof:
    """The roof and the points, from `tests/data/h200/benchmarks.json`.

    Raises:
        BookError: the file is missing, or has no such measurements.
    """
    clock = recorded(facts, "benchmarks.json", "clocks", "sm_mhz")
    added = _row(facts, "p23 --benchmark", "elementwise", _ADDED)
    tiled = _row(facts, "benchmarks/kernels/matrix_product.mojo", "p33:tiled", _SIZE * _SIZE)
    points = (
        # An addition for two elements read and one written.
        Point(Text("addition"), 1 / 12, _ADDED / added.microseconds / 1e6),
        Point(Text("tiled, *T* = {TILE}").of(TILE=_TILE), _TILE / 4, 2 * _SIZE**3 / tiled.microseconds / 1e6),
    )
    return Roof(_MULTIPROCESSORS * _LANES * 2 * clock / 1e6, added.of_a_copy / 1000, points)


_ADDED, _SIZE, _TILE = 268435456, 4096, 32  # elements added; rows of the product, and of its tiles
_MULTIPROCESSORS, _LANES = 132, 128  # of an H200, and float32 units of each
_INTENSITIES = (
    (0.25, (Text("naive"), Text("kernel"))),
    (0.75, (Text("tiled,"), Text("*T* = 3"))),
    (8.0, (Text("tiled,"), Text("*T* = 32"))),
)
_INPUT = (Ink.PLAIN, Text("input"))
_SHARED = (Ink.LIVE, Text("shared memory"))
_SUM = (Ink.SUM, Text("total, register"))
_RESULT = (Ink.RESULT, Text("output"))
_IDLE = (Ink.SPARE, Text("idle thread"))


def _read(trace: Trace, buffer: int) -> dict[int, list[int]]:
    """For each thread of block 0, the elements that it read, in its order."""
    read: dict[int, list[int]] = {}
    for load in trace.accesses("load", buffer, block=0):
        read.setdefault(load.thread, []).append(load.element)
    return read


def _tiles(stores: Sequence[Access], cells: int) -> tuple[dict[int, float], dict[int, float]]:
    """What was stored into two shared tiles, by the cell's number in its tile.

    Every thread stores first into the one and then into the other; both begin where thread 0 stored.
    """
    starts = [store.element for store in stores if store.thread == 0]
    tiles: tuple[dict[int, float], dict[int, float]] = ({}, {})
    for store in stores:
        which = 0 if starts[0] <= store.element < starts[0] + cells else 1
        tiles[which][store.element - starts[which]] = store.value
    return tiles


def _columns(narrow: bool, matrix: int, tiles: tuple[int, int, int]) -> tuple[tuple[int, ...], int]:
    """Where the columns of the steps begin: `a`, `b`, both shared tiles, totals; and where all end.

    The totals are before the tiles, as in `total += a_shared · b_shared`. Narrow, `a` and `b` are above them.
    """
    one, other, total = tiles
    end = (PHONE if narrow else PAGE) - 1
    second = end - other
    first = second - (14 if narrow else 28) - one
    totals = 1 if narrow else first - 38 - total
    if narrow:
        return (end - 2 * matrix - 34, end - matrix, first, second, totals), end
    return (90, 90 + matrix + 12, first, second, totals), end


def _row(facts: Facts, program: str, kernel: str, elements: int) -> Measured:
    """A row of a benchmark's table. Raises as `measured`."""
    rows = {row.elements: row for row in measured(facts, program).get(kernel, ())}
    if elements not in rows:
        raise BookError(f"there is no measurement of `{kernel}` with {elements} elements", why=program)
    return rows[elements]


def _line(
    canvas: Canvas, start: tuple[float, float], end: tuple[float, float], colour: str, width: float
) -> None:
    (x1, y1), (x2, y2) = start, end
    canvas.embed(
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
        f'stroke-width="{width:g}"/>',
        (min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)),
    )


def draw_flight(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The bandwidth of reads against the bytes in flight, with one load per thread and with eight."""
    found = measured(facts, "benchmarks/kernels/work_per_thread.mojo")
    one: dict[int, float] = {}
    eight: dict[int, float] = {}
    for kernel, rows in found.items():
        if words := re.fullmatch(r"reads, (\d+) threads, ([18])", kernel):
            (one if words[2] == "1" else eight)[4 * int(words[1]) * int(words[2])] = rows[0].bandwidth
    copy = round(found["reads, 2048 threads, 8"][0].of_a_copy, -1)
    series = (
        Series(Text("8 loads per thread"), eight, Ink.RESULT, 16384, (1, 1), folded=narrow),
        Series(Text("1 load per thread"), one, Ink.PLAIN, 2048, (-1, -1), ring=True, folded=narrow),
        Series(
            Text("a copy: {speed} GB/s").of(speed=f"{copy:,.0f}"),
            {min(one): copy, max(eight): copy},
            Ink.SPARE,
            min(one),
            (1, 1),
            limit=True,
        ),
    )
    axis = Axis(Text("bandwidth (GB/s)"), (0, 1000, 2000, 3000, 4000))
    title = Text("bytes in flight on a multiprocessor, logarithmic")
    return draw_chart(sheet, series, axis, title, every=2, narrow=narrow)


def draw_copies(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The threads that copy each element of a tile, with one and with two dimensions of the block."""
    side = facts.constant("TPB", _PROGRAM)
    threads = [(x, y) for y in range(side) for x in range(side)]
    grids = []
    for dimensions in (1, 2):
        copiers: dict[int, list[str]] = {}
        for x, y in threads:
            copiers.setdefault(x if dimensions == 1 else y * side + x, []).append(f"({x}, {y})")
        rows = []
        for row in range(side):
            elements = range(row * side, (row + 1) * side)
            rows.append(
                [
                    Square(
                        str(element),
                        Ink.LIVE if element in copiers else Ink.WRONG,
                        tuple(copiers.get(element, ())),
                    )
                    for element in elements
                ]
            )
        grids.append(Grid(f"block_dim_count={dimensions}", rows))
    return draw_grids(sheet, grids, side=66, high=32, per_line=1 if narrow else 2)


FIGURES = (
    responsive("p16", draw_product),
    responsive("p16-naive", draw_naive, traces=(f"{_PROGRAM} --naive",)),
    responsive("p16-shared", draw_shared, traces=(f"{_PROGRAM} --single-block",)),
    responsive("p16-tiled", draw_tiled, traces=(f"{_PROGRAM} --tiled",)),
    responsive("p16-roofline", draw_roofline),
    responsive("p16-flight", draw_flight),
    responsive("p16-copies", draw_copies),
)
