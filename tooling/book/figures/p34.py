"""Puzzle 34: four blocks in one cluster, the sum across them, and the threads that work at each level."""

from __future__ import annotations

from msgspec import Struct

from tooling.book.figures.canvas import Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import responsive
from tooling.book.figures.lanes import Row, Step, cells, draw_rows, draw_steps
from tooling.text import Sentence, Text

_REDUCTION = "p34_tile_tensor --reduction"
_ADVANCED = "p34_tile_tensor --advanced"
_LEVELS_SPACING = 244  # pixels between the levels in the key of a wide drawing
_LANES = 32  # of a warp, on every GPU that has clusters


class _Column(Struct, frozen=True):
    """The part of one block: its elements, the value of one of them, and its output."""

    elements: str
    value: Sentence
    total: str


def _columns(facts: Facts) -> tuple[_Column, ...]:
    """The blocks of the cluster, from the input and the expected output."""
    threads, blocks = facts.constant("TPB"), facts.constant("CLUSTER_SIZE")
    values = facts.inputs("coordination")["input"].reshape(blocks, threads)
    if any(value != k / threads for row in values.tolist() for k, value in enumerate(row)):
        raise ValueError(f"the elements of a block are not k/{threads}")
    sums = next(iter(facts.expected("coordination").values())).reshape(-1)
    return tuple(
        _Column(
            f"{block * threads:,}–{(block + 1) * threads - 1:,}",
            Text("*k*/{threads}").of(threads=threads),
            number(total),
        )
        for block, total in enumerate(sums)
    )


def draw_cluster(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Input ranges, blocks with their scale and sum, both halves of the cluster's barrier, outputs.

    On a narrow screen the halves of the barrier are bands across the blocks.
    """
    left, width, edge, inset, high = (9, 83, 3, 8, 32) if narrow else (169, 138, 8, 14, 34)
    given, cluster, block = (42, 102, 130) if narrow else (20, 92, 106)
    downs = (34, 93, 124, 150, 210, 234) if narrow else (42, 100, 148, 170, 234, 258)
    scale, block_barrier, arrive, total, wait, end = (block + down for down in downs)
    around, output = (10, end + 46) if narrow else (12, end + 50)
    columns, size = _columns(facts), Size.LABEL if narrow else Size.VALUE
    right = left + len(columns) * width
    canvas = sheet(right + 9, output + high + (22 if narrow else 2))
    canvas.frame(left - 8, cluster, right - left + 16, end + around - cluster)
    for number_of_block, column in enumerate(columns):
        x, inner = left + number_of_block * width + edge, width - 2 * edge
        middle, cell, side = x + inner / 2, x + inset, inner - 2 * inset
        canvas.label(middle, given - 11, column.elements, "middle", size=Size.LABEL, quiet=True)
        canvas.cell(x, given, inner, high, column.value, size=size)
        canvas.arrow(middle, given + high + 2, middle, (cluster if narrow else block) - 2)
        canvas.frame(x, block, inner, end - block)
        name = Text("block {block}").of(block=number_of_block)
        canvas.label(middle, block + 19, name, "middle", bold=True, size=size)
        canvas.cell(cell, scale, side, high, f"× {number_of_block + 1}", ink=Ink.LIVE, size=size)
        if narrow:
            canvas.label(middle, block_barrier - 13, "barrier()", "middle", size=Size.SMALL, mono=True)
        _draw_barrier(canvas, x + 1, x + inner - 1, block_barrier)
        canvas.cell(cell, total, side, high, Text("sum"), ink=Ink.LIVE, size=size)
        canvas.arrow(middle, end + (around if narrow else 0) + 2, middle, output - 4)
        canvas.cell(x, output, inner, high, column.total, ink=Ink.RESULT, size=size)
    halves = (
        (arrive, "cluster_arrive()", Text("does not wait")),
        (wait, "cluster_wait()", Text("waits for all blocks")),
    )
    if narrow:
        canvas.label(1, 10, "input", size=Size.LABEL, mono=True)
        canvas.label(1, output + high + 12, "output", size=Size.LABEL, mono=True)
        canvas.label(left + 3, cluster + 15, Text("cluster"), size=Size.LABEL)
        for half in halves:
            _draw_band(canvas, (left - 2, right + 2), *half)
        return canvas
    canvas.rule(left - 7, right + 7, arrive, dotted=True)
    canvas.rule(left - 7, right + 7, wait)
    wide = canvas.length(Text("cluster"), Size.LABEL) + 10
    canvas.plate(left + 2 + wide / 2, cluster, wide, Text("cluster"))
    canvas.label(1, given - 11, Text("offset"), size=Size.LABEL, quiet=True)
    rows: tuple[Text | str, ...] = ("input", Text("multiply"), Text("add"), "output")
    for level, row in zip((given, scale, total, output), rows, strict=True):
        canvas.name(level + high / 2, row)
    for level, call, meaning in ((block_barrier, "barrier()", Text("waits for its block")), *halves):
        canvas.name(level, call, meaning)
    return canvas


def _draw_band(canvas: Canvas, ends: tuple[float, float], y: float, call: str, meaning: Text) -> None:
    """A half of the barrier as a band across the blocks, with its meaning."""
    left, right = ends
    canvas.band(left, y - 13, right - left, 26)
    label_x = canvas.length(call, Size.LABEL, mono=True) + 10
    start = (left + right - label_x - canvas.length(meaning, Size.LABEL)) / 2
    canvas.label(start, y, call, size=Size.LABEL, mono=True)
    canvas.label(start + label_x, y, meaning, size=Size.LABEL, quiet=True)


def _draw_barrier(canvas: Canvas, end: float, begin: float, y: float) -> None:
    """The barrier of a block, on whole pixels, so that its line is not blurred."""
    canvas.arrow(end, y + 0.5, begin, y + 0.5, head=False, dashed=True)


def draw_scopes(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The warps of the blocks of one cluster, and the barrier of each level."""
    threads, blocks = facts.constant("TPB"), facts.constant("CLUSTER_SIZE")
    warps, lanes = threads // _LANES, _LANES
    columns, cell, edge, gap, margin = (4, 18, 4, 5, 8) if narrow else (4, 35, 11, 15, 18)
    inner = columns * cell + 2 * edge
    rows = warps // columns
    top, high = 16, 32 + rows * cell + edge
    end = margin + blocks * (inner + gap) - gap
    below = top + high + 42  # the middle of the first line of the key
    canvas = sheet(end + margin, below + (66 if narrow else 34))
    canvas.frame(1, 2, end + margin - 2, high + 28, dashed=True)
    for block in range(blocks):
        x = margin + block * (inner + gap)
        canvas.frame(x, top, inner, high)
        name = Text("block {block}").of(block=block)
        canvas.label(
            x + inner / 2, top + 17, name, "middle", bold=True, size=Size.LABEL if narrow else Size.VALUE
        )
        for warp in range(warps):
            row, column = divmod(warp, columns)
            corner = x + edge + column * cell, top + 32 + row * cell
            canvas.cell(
                *corner, cell, cell, str(warp), ink=Ink.LIVE, size=Size.SMALL if narrow else Size.VALUE
            )
    levels = (
        (Text("a warp of {count} threads"), lanes, "syncwarp()"),
        (Text("a block of {count} warps"), warps, "barrier()"),
        (Text("a cluster of {count} blocks"), blocks, "cluster_sync()"),
    )
    for line, (level, count, call) in enumerate(levels):
        x, y = (margin, below + 28 * line) if narrow else (margin + line * _LEVELS_SPACING, below)
        if line == 0:
            canvas.cell(x, y - 9, 18, 18, ink=Ink.LIVE)
        else:
            canvas.frame(x, y - 9, 18, 18, dashed=line == 2, corner=4)
        canvas.label(x + 28, y, level.of(count=count), size=Size.LABEL if narrow else Size.VALUE)
        at = (margin + 205, y) if narrow else (x + 28, y + 22)
        canvas.label(*at, call, size=Size.LABEL, mono=True)
    return canvas


def draw_reduction(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The sum of each block, where it is stored, and the total after the barrier of the cluster."""
    trace = facts.trace(_REDUCTION)
    threads = trace.block[0]
    sums = {store.element: number(store.value) for store in trace.accesses("store", 2)}
    total = next(trace.accesses("store", 0))
    same = tuple((block, block) for block in sums)
    ranges = {block: f"{block * threads:,}–{(block + 1) * threads - 1:,}" for block in sums}
    rows = (
        Row("input", cells(ranges, Ink.PLAIN)),
        Row("shared[0]", cells(sums, Ink.LIVE), same),
        Row("temp_storage", cells(sums, Ink.PLAIN), same),
        Row(
            Text("read by block 0"),
            cells(sums, Ink.LIVE),
            call="cluster_sync()",
            short=Text("block {block}").of(block=total.block),
        ),
        Row(
            "output[0]",
            cells({total.block: number(total.value)}, Ink.RESULT),
            tuple((block, total.block) for block in sums),
        ),
    )
    return draw_rows(sheet, rows, sorted(sums), Text("block"), narrow=narrow)


def draw_levels(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Which threads of a block store at each level, and the barriers between the levels."""
    trace = facts.trace(_ADVANCED)
    threads = trace.block[0]
    barriers = ("barrier()", "barrier()", "cluster_sync()")
    stores = ("shared[local_i]", "warp_sums[warp_id()]", "output[block_id]")
    steps = [
        Step(label, active, Text("{active} of {lanes}").of(active=len(active), lanes=threads))
        for store, barrier, storing in zip(stores, barriers, trace.storing(0), strict=True)
        for label, active in ((store, storing), (barrier, range(threads)))
    ]
    return draw_steps(sheet, steps, threads=threads, narrow=narrow)


FIGURES = (
    responsive("p34-scopes", draw_scopes),
    responsive("p34", draw_cluster),
    responsive("p34-reduction", draw_reduction, traces=(_REDUCTION,)),
    responsive("p34-levels", draw_levels, traces=(_ADVANCED,)),
)
