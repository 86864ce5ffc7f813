"""The parts of a GPU: multiprocessors with their blocks, warps and memories; and what limits its speed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from tooling.book.figures.canvas import PAGE, PHONE, QUIET, Canvas, Ink, Sheet, Size
from tooling.book.figures.charts import Axis, Series, draw_chart
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import responsive
from tooling.book.figures.h200 import measured
from tooling.book.figures.lanes import WARP, Step, draw_steps
from tooling.text import Sentence, Text

if TYPE_CHECKING:  # only drawing needs the simulator
    from tooling.simulator.counters.occupancy import Occupancy

_FLAT = 1 << 16  # elements up to which the time hardly grows
_ADDITION = "benchmarks/kernels/vector_addition.mojo"
_L1_KIB, _L2_MIB, _GLOBAL_GIB = 256, 60, 140  # of an H200, by NVIDIA's documents and its driver
_LAST = 131  # the number of the last multiprocessor
_WARPS = 3  # of a drawn block
_INSET = 10  # from the outline of a block to what is in it
_MEMORY, _GLOBAL = 44, 66  # the height of a memory with its size, and of the global memory
_BELOW_SM = 40  # from multiprocessors to the L2 cache, and from there to the global memory
_OUTLINE = 2  # of a multiprocessor
_SECTOR, _WORD = 32, 4  # bytes
_SECTORS_SPACING, _NARROW_SECTORS_SPACING = 8, 21
_READ = {"kernel1": "p30 --kernel1", "kernel2": "p30 --kernel2 unsolved"}
_SHOWN = 1  # the warp of the first block that the page of puzzle 30 shows, too
_LOADED = {1: Text("Lane *i* loads word *i*"), 2: Text("Lane *i* loads word 2*i*")}
_REGISTERS = (16, 32, 64)  # of a thread
_COLUMNS_SPACING = 26
_BAR_HIGH = 30


class _Lanes(Struct, frozen=True):
    """How the lanes of a block are drawn.

    Attributes:
        wide, high: the size of a block.
        lane: the size of a lane, which shares its borders with its neighbours.
        top: from the upper end of the block to its first warp.
        row: from a warp to the next one.
        named: every warp has its name at its left.
    """

    wide: int
    high: int
    lane: tuple[int, int]
    top: int
    row: int
    named: bool


_WIDE_LANES = _Lanes(wide=318, high=106, lane=(8, 16), top=32, row=24, named=True)
_NARROW_LANES = _Lanes(wide=149, high=110, lane=(4, 14), top=48, row=20, named=False)


def draw_gpu(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Two multiprocessors of many, over the memories that they share."""
    from tooling.simulator.counters.occupancy import H200  # noqa: PLC0415 - only drawing needs the simulator

    lanes, gap, across = (_NARROW_LANES, 8, 1) if narrow else (_WIDE_LANES, 12, 2)
    width = lanes.wide + 2 * gap
    memories = 34 + 2 * (lanes.high + 8) + 4
    bottom = memories + 2 // across * (_MEMORY + 8) + 4
    canvas = sheet(PHONE if narrow else PAGE, 0)
    own: tuple[tuple[Text, Sentence | str], ...] = (
        (Text("registers"), Text("{count} of 32 bits").of(count=f"{H200.registers:,}")),
        (Text("shared memory, L1"), f"{_L1_KIB} KiB"),
    )
    lefts = (1, canvas.width - _OUTLINE - width)
    each = (lanes.wide + 8) // across - 8  # the width of a memory
    for left, number in zip(lefts, (0, _LAST), strict=True):
        canvas.frame(left, 1, width, bottom - 1, line=_OUTLINE)
        canvas.label(left + width / 2, 18, f"SM {number}", "middle", bold=True)
        for block in range(2):
            _block(canvas, left + gap, 34 + block * (lanes.high + 8), lanes)
        for index, (name, size) in enumerate(own):
            down, right = divmod(index, across)
            x, y = left + gap + right * (each + 8), memories + down * (_MEMORY + 8)
            _memory(canvas, (x, y, each, _MEMORY), name, size, ink=Ink.LIVE)
    middle, level = canvas.width / 2, bottom / 2
    for dot in (middle - 5, middle, middle + 5):
        circle = f'<circle cx="{dot:g}" cy="{level:g}" r="1.5" fill="{QUIET}"/>'
        canvas.embed(circle, (dot - 2, level - 2, dot + 2, level + 2))
    bandwidth = measured(facts, _ADDITION)["cold"][-1].bandwidth
    shared = (
        (Text("L2 cache"), f"{_L2_MIB} MiB", _MEMORY),
        (Text("global memory"), f"{_GLOBAL_GIB} GiB", _GLOBAL),
    )
    for name, size, high in shared:
        top = bottom + _BELOW_SM
        _memory(canvas, (1, top, canvas.width - 2, high), name, size, bold=True)
        for left in lefts:
            _both_ways(canvas, left + width / 2, bottom + 4, top - 3)
        bottom = top + high
    last = bottom - _GLOBAL - _BELOW_SM / 2
    canvas.label(middle, last, f"{bandwidth:,.0f} GB/s", "middle", size=Size.LABEL)
    canvas.height = bottom + 1
    return canvas


def _block(canvas: Canvas, x: float, y: float, lanes: _Lanes) -> None:
    """A block: its warps, each a row of all its lanes."""
    canvas.frame(x, y, lanes.wide, lanes.high, dashed=True)
    wide, high = lanes.lane
    first = x + lanes.wide - _INSET - WARP * wide
    canvas.label(x + _INSET, y + 16, Text("block"), size=Size.LABEL, quiet=True)
    if lanes.named:
        count = Text("{count} lanes").of(count=WARP)
        canvas.label(first + WARP * wide, y + 16, count, "end", size=Size.LABEL, quiet=True)
    else:
        count = Text("{warps} warps of {count} lanes").of(warps=_WARPS, count=WARP)
        canvas.label(x + _INSET, y + 34, count, size=Size.SMALL, quiet=True)
    line = Ink.LIVE.line
    for warp in range(_WARPS):
        top = y + lanes.top + warp * lanes.row
        if lanes.named:
            canvas.label(x + _INSET, top + high / 2, Text("warp"), size=Size.LABEL, quiet=True)
        borders = f"v{high}" + f"m{wide} -{high}v{high}" * (WARP - 2)
        canvas.embed(
            f'<rect x="{first + 0.5:g}" y="{top + 0.5:g}" width="{WARP * wide}" height="{high}" '
            f'fill="{Ink.LIVE.fill}" stroke="{line}"/>'
            f'<path d="M{first + wide + 0.5:g} {top + 0.5:g}{borders}" fill="none" stroke="{line}"/>',
            (first, top, first + WARP * wide + 1, top + high + 1),
        )


def _memory(
    canvas: Canvas,
    box: tuple[float, float, float, float],
    name: Text,
    size: Sentence | str,
    *,
    ink: Ink = Ink.PLAIN,
    bold: bool = False,
) -> None:
    """A memory with its size; `box` has its left and upper end, its width and its height."""
    x, y, width, high = box
    canvas.cell(x, y, width, high, ink=ink)
    canvas.label(x + width / 2, y + high / 2 - 8, name, "middle", bold=bold, colour=ink.text)
    canvas.label(x + width / 2, y + high / 2 + 10, size, "middle", size=Size.LABEL, colour=ink.text)


def _both_ways(canvas: Canvas, x: float, top: float, bottom: float) -> None:
    """An arrow with two heads."""
    middle = (top + bottom) / 2
    canvas.arrow(x, middle, x, top)
    canvas.arrow(x, middle, x, bottom)


def draw_divergence(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """A warp at a condition, in the branch of its even lanes, in that of the odd ones, and after both."""
    even, odd = range(0, WARP, 2), range(1, WARP, 2)
    steps = (
        Step(Text("condition"), range(WARP), Text("all lanes")),
        Step(Text("first branch"), even, Text("even lanes")),
        Step(Text("second branch"), odd, Text("odd lanes")),
        Step(Text("after both"), range(WARP), Text("all lanes")),
    )
    return draw_steps(sheet, steps, narrow=narrow)


def draw_launches(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The time of a launch against the number of elements, and that of its bytes at the speed of a copy."""
    rows = measured(facts, _ADDITION)["cold"]
    times = {row.elements: row.microseconds for row in rows}
    last = rows[-1]
    least = {row.elements: row.elements * last.microseconds * last.of_copy / last.elements for row in rows}
    first, flat = rows[0], next(row for row in rows if row.elements == _FLAT)
    remark = Text("{elements} times the elements: {percent}% longer").of(
        elements=flat.elements // first.elements,
        percent=round(100 * (flat.microseconds / first.microseconds - 1)),
    )
    series = (
        Series(
            remark,
            times,
            Ink.RESULT,
            first.elements,
            (1, 3),
            values=True,
            span=(first.elements, flat.elements),
        ),
        Series(
            Text("data transfer alone"),
            {elements: time for elements, time in least.items() if time >= 1},
            Ink.SPARE,
            1 << 20 if narrow else 1 << 22,
            (0, 0) if narrow else (1, 2),
            limit=True,
        ),
    )
    axis = Axis(Text("mean time (µs), logarithmic"), (1, 10, 100, 1000), logarithmic=True)
    return draw_chart(sheet, series, axis, Text("elements, logarithmic"), every=2, narrow=narrow)


def draw_coalescing(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The sectors that one request of a warp moves, of neighbouring elements and of distant ones."""
    from tooling.book.figures.requests import define_hatching, draw_states  # noqa: PLC0415 - brings NumPy

    canvas = sheet(PHONE if narrow else PAGE, 0)
    define_hatching(canvas)
    across, word, spacing = (
        (2, (21, 20), _NARROW_SECTORS_SPACING) if narrow else (4, (22, 24), _SECTORS_SPACING)
    )
    words = _SECTOR // _WORD
    end = 1 + across * (words * word[0] + spacing) - spacing
    row = word[1] + 5
    y = 8.0
    for kernel, run in _READ.items():
        reads = _reads(facts, run)
        sectors: dict[int, dict[int, int]] = {}
        for lane, address in reads:
            sectors.setdefault(address // _SECTOR, {})[address % _SECTOR // _WORD] = lane
        distance = (reads[1][1] - reads[0][1]) // _WORD
        near = Text("neighbouring elements")
        what = Text("elements {count} apart").of(count=distance) if distance > 1 else near
        canvas.label(1, y, kernel, bold=True, mono=True)
        canvas.label(1 + canvas.length(kernel, Size.VALUE, mono=True) + 10, y, what, size=Size.LABEL)
        used = Text("{sectors} sectors, {used} of {moved} bytes used").of(
            sectors=len(sectors), used=f"{len(reads) * _WORD:,}", moved=f"{len(sectors) * _SECTOR:,}"
        )
        if narrow:
            y += 20
            canvas.label(1, y, used, size=Size.LABEL, quiet=True)
        else:
            canvas.label(end, y, used, "end", size=Size.LABEL, quiet=True)
        y += 16
        for position, read in enumerate(sectors.values()):
            down, right = divmod(position, across)
            _sector(canvas, (1 + right * (words * word[0] + spacing), y + down * row), word, read)
        y += -(-len(sectors) // across) * row + 24
    canvas.height = round(y) - 22
    draw_states(canvas, all_moved=True)
    return canvas


def _reads(facts: Facts, run: str) -> list[tuple[int, int]]:
    """The lanes of a warp and the addresses that they read in the first load of a run."""
    load = next(event for event in facts.trace(run).events if event.action == "load")
    return [
        (thread % WARP, element * _WORD)
        for thread, element in zip(load.threads, load.elements, strict=True)
        if thread // WARP == _SHOWN
    ]


def _sector(canvas: Canvas, at: tuple[float, float], word: tuple[int, int], read: Mapping[int, int]) -> None:
    """A sector that is moved for some lanes, each of which has its number in the word that it reads.

    Args:
        canvas: is drawn on.
        at: the left and the upper end of the sector.
        word: the size of a word, which shares its borders with its neighbours.
        read: the lane of each word that one reads.
    """
    wide, high = word
    for index in range(_SECTOR // _WORD):
        x, y = at[0] + index * wide, at[1]
        look = Ink.LIVE.fill if index in read else "url(#hatched)"
        canvas.embed(
            f'<rect x="{x + 0.5:g}" y="{y + 0.5:g}" width="{wide}" height="{high}" fill="{look}" '
            f'stroke="{Ink.LIVE.line}"/>',
            (x, y, x + wide + 1, y + high + 1),
        )
    for index, lane in read.items():
        middle = at[0] + (index + 0.5) * wide + 0.5, at[1] + high / 2 + 0.5
        canvas.label(*middle, str(lane), "middle", size=Size.LANE, colour=Ink.LIVE.text)


def draw_banks(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The banks that serve a load of a warp, without conflicts and with them."""
    import numpy as np  # noqa: PLC0415

    from tooling.book.figures.requests import draw_requests  # noqa: PLC0415 - brings NumPy
    from tooling.simulator.counters.banks import Service  # noqa: PLC0415
    from tooling.simulator.counters.hook import Sample  # noqa: PLC0415
    from tooling.simulator.counters.profile import Picture  # noqa: PLC0415
    from tooling.simulator.gpu.launch import Dim3  # noqa: PLC0415

    pictures = []
    for stride, heading in _LOADED.items():
        addresses = np.arange(WARP, dtype=np.int64) * stride * _WORD
        sample = Sample(addresses, _WORD, 0, 0, Service.LOAD)
        pictures.append((heading, Picture(sample, Dim3(0, 0, 0), 0)))
    return draw_requests(sheet, pictures, narrow=narrow)


def draw_occupancy(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """How many blocks fit if a thread has some number of registers, and the warps that they fill."""
    from tooling.simulator.counters.occupancy import Limit, theoretical_occupancy  # noqa: PLC0415

    canvas = sheet(PHONE if narrow else PAGE, 0)
    heads = (Text("registers\nper thread"), Text("blocks\nby registers"), Text("blocks\nby warps"))
    columns = [1.0]
    for head in heads:
        longest = max(canvas.length(line, Size.LABEL) for line in canvas.say(head).split("\n"))
        columns.append(columns[-1] + longest + _COLUMNS_SPACING)
    share, edge = Text("occupancy"), canvas.width - 1
    left, right = columns.pop(), edge - canvas.length(share, Size.LABEL) - _COLUMNS_SPACING
    top, row = 42, _BAR_HIGH + 14
    if narrow:
        left, right, top, row = 1, edge, 22, _BAR_HIGH + 62
    else:
        for x, head in zip((*columns, left), (*heads, Text("warps of\na multiprocessor")), strict=True):
            for number, line in enumerate(canvas.say(head).split("\n")):
                canvas.label(x, 8 + number * 18, line, size=Size.LABEL, quiet=True)
        canvas.label(edge, 26, share, "end", size=Size.LABEL, quiet=True)
    threads = facts.constant("BLOCK_SIZE", "p31")
    for number, registers in enumerate(_REGISTERS):
        y = top + number * row
        middle = y + _BAR_HIGH / 2
        found = theoretical_occupancy(threads, 0, registers)
        allowed = found.limits[Limit.REGISTERS], found.limits[Limit.WARPS]
        percent = f"{100 * found.fraction:.0f}%"
        if narrow:
            name = Text("{count} registers per thread").of(count=registers)
            canvas.label(1, y - 14, name, bold=True)
            canvas.label(edge, y - 14, percent, "end", bold=True)
            share_x = edge - canvas.length(percent, Size.VALUE) - 11
            canvas.label(share_x, y - 14, share, "end", size=Size.LABEL, quiet=True)
            limits = Text("blocks: {registers} by registers, {warps} by warps")
            of_row = limits.of(registers=allowed[0], warps=allowed[1])
            canvas.label(1, y + _BAR_HIGH + 14, of_row, size=Size.LABEL, quiet=True)
        else:
            canvas.label(columns[0], middle, str(registers))
            for x, count in zip(columns[1:], allowed, strict=True):
                canvas.label(x, middle, str(count), bold=count == min(allowed))
            canvas.label(edge, middle, percent, "end", bold=True)
        _draw_warps(canvas, (left, y, right - left), found)
    canvas.height = top + (len(_REGISTERS) - 1) * row + _BAR_HIGH + (22 if narrow else 2)
    return canvas


def _draw_warps(canvas: Canvas, box: tuple[float, float, float], found: Occupancy) -> None:
    """The warps of a multiprocessor as a bar: those of its blocks, and the idle ones.

    Args:
        canvas: is drawn on.
        box: the left and the upper end of the bar, and its width.
        found: what fits.
    """
    x, y, width = box
    each = width * found.fraction / found.blocks
    for block in range(found.blocks):
        name = Text("block {number}").of(number=block)
        canvas.cell(x + block * each, y, each, _BAR_HIGH, name, ink=Ink.LIVE, size=Size.LABEL)
    idle = round(found.warps / found.fraction) - found.warps
    if idle:
        name = Text("{free} warps idle").of(free=idle)
        taken = found.blocks * each
        canvas.cell(x + taken, y, width - taken, _BAR_HIGH, name, ink=Ink.SPARE, size=Size.LABEL)


FIGURES = (
    responsive("gpu", draw_gpu),
    responsive("gpu-divergence", draw_divergence),
    responsive("gpu-launches", draw_launches),
    responsive("gpu-coalescing", draw_coalescing, traces=tuple(_READ.values())),
    responsive("gpu-banks", draw_banks),
    responsive("gpu-occupancy", draw_occupancy),
)
