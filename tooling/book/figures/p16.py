"""Puzzle 16: which elements a product needs, what shared memory holds in each step, and the roofline."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from functools import partial

from msgspec import Struct

from tooling.book.errors import malformed
from tooling.book.figures.canvas import Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import Figure
from tooling.book.figures.grids import Grid, Square, draw_grids
from tooling.book.figures.traces import SHARED, Access, Trace
from tooling.text import Text

_PROGRAM = "p16_tile_tensor"
_OUTPUT, _A, _B = 0, 1, 2  # the kernels' arguments
_EXAMPLE = (4, 5)  # row and column of the product that the overview works out
_BLOCK = 1  # whose tiles are drawn; its x and y differ


def draw_product(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """`a` on the left, `b` above, the product between them: one element with its row and its column."""
    size = facts.constant("SIZE_TILED", _PROGRAM)
    data = facts.inputs("tiled")
    a, b = (data[name].reshape(size, size) for name in ("a", "b"))
    product = facts.expected("tiled")["out"].reshape(size, size)
    row, col = _EXAMPLE
    cell, left, top, gap = (17, 3, 38, 9) if narrow else (35, 72, 46, 24)
    wide = size * cell
    right, below = left + wide + gap, top + wide + gap
    canvas = sheet(right + wide + 8, below + wide + 30)

    def matrix(x: float, y: float, values: Callable[[int, int], tuple[str, Ink]]) -> None:
        for r in range(size):
            for c in range(size):
                text, ink = values(r, c)
                canvas.cell(
                    x + c * cell, y + r * cell, cell, cell, "" if narrow else text, ink=ink, size=Size.LABEL
                )

    matrix(left, below, lambda r, c: (number(a[r, c]), Ink.PLAIN) if r == row else ("", Ink.SPARE))
    matrix(right, top, lambda r, c: (number(b[r, c]), Ink.PLAIN) if c == col else ("", Ink.SPARE))
    matrix(right, below, lambda r, c: ("", Ink.RESULT if (r, c) == _EXAMPLE else Ink.SPARE))
    middle_row, middle_col = below + (row + 0.5) * cell, right + (col + 0.5) * cell
    canvas.label(left + wide / 2, below + wide + 16, "a", "middle", mono=True, bold=True)
    canvas.label(right + wide / 2, below + wide + 16, "output", "middle", mono=True, bold=True)
    canvas.label(right, top - 12, "b", mono=True, bold=True)
    canvas.label(middle_col, top - 12, f"col {col}", "middle", size=Size.LABEL, mono=True)
    if not narrow:
        canvas.label(left - 10, middle_row, f"row {row}", "end", size=Size.LABEL, mono=True)
    canvas.arrow(left + wide + 3, middle_row, middle_col - cell / 2 - 3, middle_row)
    canvas.arrow(middle_col, top + wide + 3, middle_col, middle_row - cell / 2 - 3)
    step, digit = 15 if narrow else 22, Size.LABEL * 0.6
    canvas.label(left, top - 12, f"output[{row}, {col}]", size=Size.VALUE, mono=True, bold=True)
    factors = [(number(a[row, k]), number(b[k, col])) for k in range(size)]
    one, other = (max(len(pair[side]) for pair in factors) for side in (0, 1))
    # Signs and digits are below each other.
    columns = (0, 2 + one, 3 + one, 5 + one + other)
    total = number(product[row, col])
    lines = [("=" if k == 0 else "+", first, "×", second) for k, (first, second) in enumerate(factors)]
    for k, line in enumerate(lines):
        y = top + (8 if narrow else 14) + k * step
        for column, part, anchor in zip(columns, line, ("start", "end", "start", "end"), strict=True):
            canvas.label(left + column * digit, y, part, anchor, size=Size.LABEL, mono=True)
    y = top + (8 if narrow else 14) + size * step
    canvas.label(left, y, "=", size=Size.LABEL, mono=True, bold=True)
    canvas.label(left + columns[-1] * digit, y, total, "end", size=Size.LABEL, mono=True, bold=True)
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
    cell, wide, high, left, gap = (29, 78, 62, 2, 20) if narrow else (40, 192, 62, 24, 38)
    right, top = left + size * cell + gap, 32
    below = top + size * cell + 58
    canvas = sheet(
        right + across * wide + (9 if narrow else 16), below + down * high + (62 if narrow else 44)
    )
    canvas.label(left + size * cell / 2, below - 18, "a", "middle", mono=True, bold=True)
    canvas.label(right + size * wide / 2, 14, "b", "middle", mono=True, bold=True)
    for k in range(size):
        for index in range(size):
            middle = below + (index + 0.5) * high
            canvas.cell(
                left + k * cell, middle - cell / 2, cell, cell, number(a[index * size + k]), size=Size.VALUE
            )
            x = right + (index + 0.5) * wide - cell / 2
            canvas.cell(x, top + k * cell, cell, cell, number(b[k * size + index]), size=Size.VALUE)
    canvas.frame(right - 6, below - 30, across * wide + 12, down * high + 36)
    name = Text("block (0, 0): {across} × {down} threads").of(across=across, down=down)
    canvas.label(right + 2, below - 16, name, size=Size.VALUE, bold=True)
    for thread in range(across * down):
        x, y = thread % across, thread // across
        busy = stored.get(thread)
        corner_x, corner_y = right + x * wide, below + y * high
        ink = Ink.SPARE if busy is None else Ink.RESULT
        canvas.cell(corner_x + 2, corner_y + 2, wide - 4, high - 4, ink=ink)
        colour = canvas.shade.marks[ink][2]
        middle_x = corner_x + wide / 2
        canvas.label(
            middle_x, corner_y + 16, f"({x}, {y})", "middle", size=Size.LABEL, mono=True, colour=colour
        )
        if busy is None:
            canvas.label(middle_x, corner_y + 38, Text("idle"), "middle", size=Size.LABEL, colour=colour)
            continue
        pairs = zip(read_a[thread], read_b[thread], strict=True)
        terms = " + ".join(f"{number(a[left_])}·{number(b[right_])}" for left_, right_ in pairs)
        total = f"= {number(busy.value)}"
        if narrow:
            canvas.label(middle_x, corner_y + 32, terms, "middle", size=Size.LABEL, mono=True, colour=colour)
            canvas.label(middle_x, corner_y + 48, total, "middle", size=Size.LABEL, mono=True, colour=colour)
        else:
            canvas.label(
                middle_x,
                corner_y + 38,
                f"{terms} {total}",
                "middle",
                size=Size.VALUE,
                mono=True,
                colour=colour,
            )
    canvas.legend(left, below + down * high + 26, _INPUT, _RESULT, _IDLE, across=2 if narrow else None)
    return canvas


def draw_shared(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Both inputs, the block's shared tiles with what was stored there, and the output."""
    trace = facts.trace(f"{_PROGRAM} --single-block")
    size = facts.constant("SIZE", _PROGRAM)
    data = facts.inputs("single-block")
    across, down = trace.block[:2]
    tiles = _tiles(list(trace.accesses("store", SHARED, block=0)), across * down)
    stored = {store.element: store.value for store in trace.accesses("store", _OUTPUT, block=0)}
    cell, left, gap, size_text = (31, 4, 26, Size.VALUE) if narrow else (50, 24, 162, Size.VALUE)
    frame = left + size * cell + gap
    shared = frame + 14
    after = shared + across * cell + 14
    output = after + gap
    tops = (78, 78 + down * cell + 44)
    bottom = tops[1] + down * cell + 12
    canvas = sheet(output + size * cell + (4 if narrow else 24), bottom + (56 if narrow else 36))

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
                size=size_text,
            )

    def title(x: float, wide: int, y: float, text: str) -> None:
        canvas.label(x + wide * cell / 2, y - 13, text, "middle", mono=True, bold=True)

    canvas.frame(frame, 12, after - frame, bottom - 12)
    canvas.label(frame + 12, 28, Text("block (0, 0)"), size=Size.LABEL, quiet=True)
    for name, y, tile in zip(("a", "b"), tops, tiles, strict=True):
        title(left, size, y, name)
        square(left, y, size, dict(enumerate(data[name].reshape(-1))), Ink.PLAIN)
        canvas.arrow(left + size * cell + 4, y + size * cell / 2, shared - 4, y + size * cell / 2)
        title(shared, across, y, f"{name}_shared")
        square(shared, y, across, tile, Ink.LIVE)
    middle = (tops[0] + tops[1] + down * cell) / 2
    canvas.arrow(after + 4, middle, output - 4, middle)
    title(output, size, middle - size * cell / 2, "output")
    square(output, middle - size * cell / 2, size, stored, Ink.RESULT)
    spare = (Ink.SPARE, Text("unused"))
    canvas.legend(left, bottom + 20, _INPUT, _SHARED, _RESULT, spare, across=2 if narrow else None)
    return canvas


def draw_tiled(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """For each step: which tiles of `a` and `b` the block copies, its shared memory, and its totals."""
    trace = facts.trace(f"{_PROGRAM} --tiled")
    steps, tile = facts.constant("TILES", _PROGRAM), facts.constant("TPB", _PROGRAM)
    size = facts.constant("SIZE_TILED", _PROGRAM)
    (grid, _), cells = trace.grid[:2], tile * tile
    loads = {name: list(trace.accesses("load", buffer, _BLOCK)) for name, buffer in (("a", _A), ("b", _B))}
    stores = list(trace.accesses("store", SHARED, _BLOCK))
    small = 18 if narrow else 20  # a tile of a or b
    cell, high = (36, 32) if narrow else (39, 38)  # an element of a tile
    columns = _columns(narrow, steps * small, tile * cell)
    # Of a total; narrow ones are below both shared tiles.
    wide = (columns[3] - columns[2]) / tile + cell if narrow else 63
    pitch = tile * high + (42 if narrow else 36)  # a narrow one has a line of text above each step
    top = 80 if narrow else 64
    bottom = top + steps * pitch - (14 if narrow else 8)
    right = round(columns[2] + tile * wide if narrow else columns[4] + tile * wide)
    legend = bottom + (tile * high + 32 if narrow else 28)
    canvas = sheet(right + 1, legend + 16)
    copied = Ink.LIVE, Text("copied tile, shared memory")
    entries = ((Ink.SPARE, Text("tile")), copied, *(() if narrow else (_SUM,)), _RESULT)
    canvas.legend(1, legend, *entries)
    headings = ("a", "b", "a_shared", "b_shared", "total")
    widths = (steps * small, steps * small, tile * cell, tile * cell, tile * wide)
    for x, heading, across in zip(columns, headings, widths, strict=True):
        if heading != "total" or not narrow:
            # On a narrow screen below the title of the first step, each directly above its cells.
            y = top - 13 + ((tile * high - steps * small) / 2 if len(heading) == 1 else 0) if narrow else 44
            canvas.label(x + across / 2, y, heading, "middle", mono=True, bold=True)
    name = f"({_BLOCK % grid}, {_BLOCK // grid})"
    canvas.label(1, 14, Text("block {name}").of(name=name), size=Size.VALUE, bold=True)
    totals = [0.0] * cells
    for step in range(steps):
        y = top + step * pitch
        label = Text("tile = {step}").of(step=step)
        if not narrow:
            canvas.label(1, y + tile * high / 2, label, mono=True)
        for x, matrix in zip(columns, ("a", "b"), strict=False):
            first = min(load.element for load in loads[matrix][step * cells : (step + 1) * cells])
            here = (first // size // tile, first % size // tile)
            above = y + (tile * high - steps * small) / 2
            for index in range(steps * steps):
                at = (index // steps, index % steps)
                ink = Ink.LIVE if at == here else Ink.SPARE
                canvas.cell(x + at[1] * small, above + at[0] * small, small, small, ink=ink)
        tiles = _tiles(stores[2 * step * cells : 2 * (step + 1) * cells], cells)
        for x, held in zip(columns[2:], tiles, strict=False):
            for index in range(cells):
                canvas.cell(
                    x + index % tile * cell,
                    y + index // tile * high,
                    cell,
                    high,
                    number(held[index]),
                    ink=Ink.LIVE,
                    size=Size.LABEL if narrow else Size.VALUE,
                )
        a_shared, b_shared = tiles
        before = totals[0]
        for index in range(cells):
            row, col = index // tile, index % tile
            totals[index] += sum(a_shared[row * tile + k] * b_shared[k * tile + col] for k in range(tile))
            if not narrow:
                canvas.cell(
                    columns[4] + col * wide,
                    y + row * high,
                    wide,
                    high,
                    number(totals[index]),
                    ink=Ink.RESULT if step == steps - 1 else Ink.SUM,
                )
        middle = y + tile * high / 2
        canvas.label((columns[2] + tile * cell + columns[3]) / 2, middle, "×", "middle", mono=True)
        if not narrow:
            canvas.label((columns[3] + tile * cell + columns[4]) / 2, middle, "+=", "middle", mono=True)
        if narrow:
            thread = Text("total of thread (0, 0)")
            terms = f"{number(before)} + {number(totals[0] - before)} = " if step else ""
            line = f"tile = {step}: {canvas.say(thread)} = {terms}{number(totals[0])}"
            canvas.label(1, y - (12 if step else 36), line, size=Size.LABEL)
        elif step:
            centre = columns[4] + tile * wide / 2
            canvas.arrow(centre, y + tile * high - pitch + 4, centre, y - 4)
    written = {store.thread: store.value for store in trace.accesses("store", _OUTPUT, _BLOCK)}
    if [written[thread] for thread in range(cells)] != totals:
        raise ValueError("the kernel wrote other totals than the tiles give")
    if narrow:
        centre = (columns[2] + right) / 2
        canvas.arrow(centre, bottom - 24, centre, bottom - 4)
        canvas.label(1, bottom + tile * high / 2, "output", mono=True, bold=True)
        for index, total in enumerate(totals):
            place = (columns[2] + index % tile * wide, bottom + index // tile * high)
            canvas.cell(*place, wide, high, number(total), ink=Ink.RESULT, size=Size.LABEL)
    else:
        centre = columns[4] + tile * wide / 2
        canvas.label(centre, bottom - 14, "output", "middle", mono=True, bold=True)
    return canvas


def draw_roofline(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Both roofs of an H200, the intensities of the kernels, and what was measured."""
    roof = measured_roof(facts)
    left, top, wide, high = (31, 30, 308, 300) if narrow else (34, 30, 655, 360)
    low_x, high_x, low_y, high_y = 1 / 16, 64.0, 1 / 32, 128.0  # FLOP/byte, TFLOP/s

    def x_of(intensity: float) -> float:
        return left + wide * math.log2(intensity / low_x) / math.log2(high_x / low_x)

    def y_of(speed: float) -> float:
        return top + high - high * math.log2(speed / low_y) / math.log2(high_y / low_y)

    canvas = sheet(left + wide + 14, top + high + 42)
    small = Size.SMALL if narrow else Size.LABEL
    faint = canvas.shade.grid
    for power in range(-4, 7):
        value, x = 2.0**power, x_of(2.0**power)
        _line(canvas, (x, top), (x, top + high), faint, 1)
        if power % 2 == 0:
            text = number(value) if value >= 1 else f"1/{number(1 / value)}"
            canvas.label(x, top + high + 14, text, "middle", size=small, quiet=True)
    for power in range(-5, 8):
        value, y = 2.0**power, y_of(2.0**power)
        _line(canvas, (left, y), (left + wide, y), faint, 1)
        if power % 2 == 1:
            text = number(value) if value >= 1 else f"1/{number(1 / value)}"
            canvas.label(left - 6, y, text, "end", size=small, quiet=True)
    canvas.label(1, 12, "TFLOP/s", size=Size.LABEL, quiet=True)
    axis = Text("arithmetic intensity, FLOP per byte")
    canvas.label(left + wide / 2, top + high + 33, axis, "middle", size=Size.LABEL, quiet=True)
    _, _, ink = canvas.shade.marks[Ink.PLAIN]
    ridge = roof.peak / roof.bandwidth
    start = max(low_x, low_y / roof.bandwidth)
    corner = (x_of(ridge), y_of(roof.peak))
    _line(canvas, (x_of(start), y_of(start * roof.bandwidth)), corner, ink, 2.2)
    _line(canvas, corner, (left + wide, y_of(roof.peak)), ink, 2.2)
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
    fill, edge, _ = canvas.shade.marks[Ink.RESULT]
    for point in roof.points:
        x, y = x_of(point.intensity), y_of(point.speed)
        canvas.embed(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5.5" fill="{fill}" stroke="{edge}"/>')
        name = point.short if narrow else point.name
        canvas.embed(
            f'<rect x="{x + 8:.1f}" y="{y - 5:.1f}" width="{106 if narrow else 150}" height="34" '
            f'fill="{canvas.shade.paper}"/>'
        )
        canvas.label(x + 11, y + 5, name, size=small, bold=True)
        canvas.label(x + 11, y + 21, f"{point.speed:.2g} TFLOP/s", size=small)
    return canvas


class Point(Struct, frozen=True):
    """One measured kernel.

    Attributes:
        name, short: what it is called in the figure, and on a telephone.
        intensity: FLOP per byte of global memory.
        speed: TFLOP/s.
    """

    name: Text
    short: Text
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
    path = facts.puzzle_index.project.recordings / "h200" / "benchmarks.json"
    try:
        measured = json.loads(path.read_text(encoding="utf-8"))
        clock = measured["clocks"]["sm_mhz"]
        adding = _row(measured["programs"]["p23 --benchmark"], "elementwise", _ADDED)
        products = measured["programs"]["benchmarks/kernels/matrix_product.mojo"]
        tiled = _row(products, "p33:tiled", _SIZE * _SIZE)
    except (OSError, ValueError, KeyError, TypeError, StopIteration) as error:
        raise malformed("table of measurements", path, error) from error
    points = (
        Point(
            Text("elementwise addition"),
            Text("addition"),
            1 / 12,  # an addition for two elements read and one written
            _ADDED / float(adding[_MEAN]) / 1e6,
        ),
        Point(
            Text("tiled product, *T* = {TILE}").of(TILE=_TILE),
            Text("tiled, *T* = {TILE}").of(TILE=_TILE),
            _TILE / 4,
            2 * _SIZE**3 / float(tiled[_MEAN]) / 1e6,
        ),
    )
    peak = _MULTIPROCESSORS * _LANES * 2 * clock / 1e6
    return Roof(peak, float(adding[_BANDWIDTH]) / float(adding[_OF_COPY]) / 1000, points)


_ADDED, _SIZE, _TILE = 268435456, 4096, 32  # elements added; rows of the product, and of its tiles
_MEAN, _BANDWIDTH, _OF_COPY = 3, 5, 6  # columns of a benchmark's table: microseconds, GB/s, ratio to a copy
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


def _columns(narrow: bool, matrix: int, tile: int) -> tuple[int, int, int, int, int]:
    """Where the columns of the steps begin: `a`, `b`, both shared tiles with a sign between them, totals."""
    left, small, large, sign = (1, 6, 9, 14) if narrow else (78, 10, 24, 20)
    second = left + matrix + small
    third = second + matrix + large
    fourth = third + tile + sign
    return left, second, third, fourth, fourth + tile + (large if narrow else 28)


def _row(lines: Sequence[str], kernel: str, elements: int) -> list[str]:
    """A row of a benchmark's table: kernel, elements, runs, mean in microseconds and so on."""
    rows = (line.split() for line in lines)
    return next(row for row in rows if row[:2] == [kernel, str(elements)])


def _line(
    canvas: Canvas, start: tuple[float, float], end: tuple[float, float], colour: str, width: float
) -> None:
    (x1, y1), (x2, y2) = start, end
    canvas.embed(
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
        f'stroke-width="{width:g}"/>',
        (min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)),
    )


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
    return draw_grids(sheet, grids, side=60, high=30, beside=1 if narrow else 2)


FIGURES: tuple[Figure, ...] = (
    Figure(
        "p16",
        Text(
            "An element of the product needs one row of `a` and one column of `b`. All other elements of "
            "`output` need another row, another column, or both."
        ),
        Text(
            "Three matrices of 9 by 9: a on the left, b above, output between them. Row 4 of a holds 36 to "
            "44, column 5 of b holds 10, 28 and so on to 154. Arrows lead from both to the element in row 4 "
            "and column 5 of output. It is the sum of nine products: 36 times 10, 37 times 28, and so on to "
            "44 times 154, which makes 30600."
        ),
        draw_product,
        narrow=partial(draw_product, narrow=True),
    ),
    Figure(
        "p16-naive",
        Text(
            "Each thread (*x*, *y*) reads row *y* of `a` and column *x* of `b`. Threads with *x* = 2 or "
            "*y* = 2 have no element."
        ),
        Text(
            "A block of 3 by 3 threads. On its left a, 0 1 and 2 3, row by row; above it b, 0 2 and 4 6. "
            "Thread (0, 0) computes 0 times 0 plus 1 times 4, thread (1, 0) 0 times 2 plus 1 times 6, thread "
            "(0, 1) 2 times 0 plus 3 times 4, thread (1, 1) 2 times 2 plus 3 times 6: 4, 6, 12 and 22. The "
            "other five threads are idle."
        ),
        draw_naive,
        traces=(f"{_PROGRAM} --naive",),
        narrow=partial(draw_naive, narrow=True),
    ),
    Figure(
        "p16-shared",
        Text(
            "Each element is read from global memory once. The products are computed from the two shared "
            "tiles."
        ),
        Text(
            "On the left a and b in global memory, 2 by 2 each. An arrow leads from a to a_shared and one "
            "from b to b_shared; both are tiles of 3 by 3 in shared memory, inside the frame of block (0, "
            "0). Their first two rows and columns hold the elements, the other five cells of each are empty. "
            "Beside a_shared and below b_shared is output with 4 6 and 12 22; the other five places belong "
            "to threads without an element."
        ),
        draw_shared,
        traces=(f"{_PROGRAM} --single-block",),
        narrow=partial(draw_shared, narrow=True),
    ),
    Figure(
        "p16-tiled",
        Text(
            "The three steps of block (1, 0). The tile of `a` moves along a row of tiles, the tile of `b` "
            "down a column of tiles; every step adds the product of the two tiles to the totals. The totals "
            "of the last step are the block’s tile of `output`."
        ),
        Text(
            "Three rows, one for each step. In step 0 the block copies the tile in row 0 and column 0 of a "
            "and the tile in row 0 and column 1 of b, in step 1 tile (0, 1) of a and (1, 1) of b, in step 2 "
            "tile (0, 2) of a and (2, 1) of b. Beside them are the 3 by 3 elements of each tile in shared "
            "memory, and the totals: that of thread (0, 0) is 108 after the first step, 1080 after the "
            "second and 3888 after the third."
        ),
        draw_tiled,
        traces=(f"{_PROGRAM} --tiled",),
        narrow=partial(draw_tiled, narrow=True),
    ),
    Figure(
        "p16-roofline",
        Text(
            "The roofline of an H200 for `float32`. The sloping line is the measured bandwidth of a copy, "
            "the horizontal line the peak arithmetic rate. The circles were measured."
        ),
        Text(
            "A chart with logarithmic axes: arithmetic intensity from one sixteenth to 64 floating-point "
            "operations per byte, speed from one eighth to 128 teraflops. A line rises with 4.2 terabytes "
            "per second and becomes horizontal at 67 teraflops, at an intensity of 16. Dashed lines mark the "
            "naive kernel at 0.25, the tiled kernel with T = 3 at 0.75 and with T = 32 at 8. Two measured "
            "points: elementwise addition at one twelfth, on the line, with 0.36 teraflops; the tiled "
            "product with T = 32 at 8, below the line, with 8.4 teraflops."
        ),
        draw_roofline,
        narrow=partial(draw_roofline, narrow=True),
    ),
    Figure(
        "p16-copies",
        Text(
            "The elements of a tile, numbered, and above each the threads (*x*, *y*) that copy it. With one "
            "dimension of the block, no thread copies the red elements."
        ),
        Text(
            "Two tiles of three rows and three columns with the elements 0 to 8. block_dim_count=1: element "
            "0 is copied by the threads (0, 0), (0, 1) and (0, 2), element 1 by (1, 0), (1, 1) and (1, 2), "
            "element 2 by (2, 0), (2, 1) and (2, 2); elements 3 to 8 are red. block_dim_count=2: each "
            "element is copied by one thread, element 0 by (0, 0), element 1 by (1, 0), and so on to element "
            "8 by (2, 2)."
        ),
        draw_copies,
        narrow=partial(draw_copies, narrow=True),
    ),
)
