"""Puzzle 34: four blocks in one cluster, the sum across them, and the threads that work at each level."""

from __future__ import annotations

from functools import partial

from tooling.book.figures.canvas import Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import Figure
from tooling.book.figures.lanes import Row, Step, cells, draw_rows, draw_steps
from tooling.text import Text

_REDUCTION = "p34_tile_tensor --reduction"
_ADVANCED = "p34_tile_tensor --advanced"
_LANES = 32  # of a warp, on every GPU that has clusters


def draw_cluster(facts: Facts, sheet: Sheet) -> Canvas:
    """Input ranges, blocks with their scale, the cluster's barrier, and the outputs."""
    return _draw(facts, sheet, width=152, aside=128)


def draw_narrow(facts: Facts, sheet: Sheet) -> Canvas:
    """The same for a telephone: narrow blocks, and the cluster's words in the gaps instead of at the side."""
    return _draw(facts, sheet, width=75, aside=0)


def _draw(facts: Facts, sheet: Sheet, *, width: int, aside: int) -> Canvas:
    """Draws the cluster with blocks of a width; without room aside, everything else moves down a line."""
    threads, blocks = facts.constant("TPB"), facts.constant("CLUSTER_SIZE")
    sums = next(iter(facts.expected("coordination").values())).reshape(-1)
    left = 24 if aside else 12
    edge = 8 if aside else 3  # from a block to its column's border
    inset = 12 if aside else 4
    size = Size.VALUE if aside else Size.LABEL
    low = 0 if aside else 22  # room for a line of words
    canvas = sheet(left * 2 + blocks * width + aside, 424 + (0 if aside else 2 * low + 44))
    right = left + blocks * width
    canvas.label(left, 20, Text("input"), bold=True)
    canvas.frame(
        left - 14 if aside else 1, 92, right - left + (28 if aside else 22), 244 + 2 * low, dashed=True
    )
    name = Text("one cluster")
    if aside:
        canvas.label(right + 28, 112, name, bold=True)
    else:
        canvas.label((left + right) / 2, 106, name, "middle", bold=True, size=Size.VALUE)
    for block in range(blocks):
        x = left + block * width + edge
        inner = width - 2 * edge
        middle = x + inner / 2
        canvas.cell(x, 38, inner, 36, f"{block * threads}–{(block + 1) * threads - 1}", size=size)
        canvas.arrow(middle, 76, middle, 128 if aside else 90)
        canvas.frame(x, 132, inner, 188 + low + (0 if aside else 12))
        canvas.label(middle, 150, Text("block {block}").of(block=block), "middle", bold=True, size=size)
        canvas.cell(x + inset, 166, inner - 2 * inset, 34, f"× {block + 1}", ink=Ink.LIVE)
        canvas.label(
            middle,
            216,
            "barrier()",
            "middle",
            size=Size.LABEL if aside else Size.SMALL,
            quiet=True,
            mono=True,
        )
        canvas.arrow(middle, 246 + low, middle, 264 + low)
        total = Text("sum of {threads}").of(threads=threads) if aside else Text("sum")
        canvas.cell(x + inset, 268 + low, inner - 2 * inset, 34, total, ink=Ink.LIVE, size=size)
        canvas.arrow(middle, (322 if aside else 334) + low, middle, 366 + 2 * low)
        canvas.cell(
            x + inset, 370 + 2 * low, inner - 2 * inset, 38, number(sums[block]), ink=Ink.RESULT, size=size
        )
    calls = ((236 + low // 4, "cluster_arrive()"), (310 + low + low // 4, "cluster_wait()"))
    for index, (y, call) in enumerate(calls, 1):
        canvas.arrow(left - 6, y, right + (22 if aside else -4), y, head=False, dashed=True)
        if aside:
            canvas.label(right + 28, y, call, size=Size.LABEL, mono=True, quiet=True)
        else:  # no room for names beside the lines: numbers, and a line for each below
            canvas.label(right + 3, y, str(index), "middle", size=Size.LABEL, bold=True)
            below = 424 + 2 * low + 20 * (index - 1) + 12
            canvas.label(left, below, f"{index}  {call}", size=Size.LABEL, mono=True)
    return canvas


def draw_scopes(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The warps of the blocks of one cluster, and the barrier of each level."""
    threads, blocks = facts.constant("TPB"), facts.constant("CLUSTER_SIZE")
    warps, lanes = threads // _LANES, _LANES
    columns, cell, gap = 4, 17 if narrow else 30, 2 if narrow else 4
    inner = columns * (cell + gap) + gap
    width, margin = inner + (6 if narrow else 20), 8 if narrow else 20
    rows = warps // columns
    top, block_height = 18, 30 + rows * (cell + gap) + 6
    canvas = sheet(2 * margin + blocks * width, top + block_height + 24 + 3 * 28)
    canvas.frame(margin - 4, top - 10, blocks * width + 8, block_height + 22, dashed=True)
    for block in range(blocks):
        x = margin + block * width + (width - inner) / 2
        canvas.frame(x, top, inner, block_height)
        name = Text("block {block}").of(block=block)
        canvas.label(
            x + inner / 2, top + 14, name, "middle", bold=True, size=Size.LABEL if narrow else Size.VALUE
        )
        for warp in range(warps):
            row, column = divmod(warp, columns)
            left = x + gap + column * (cell + gap)
            above = top + 28 + row * (cell + gap)
            canvas.cell(
                left, above, cell, cell, str(warp), ink=Ink.LIVE, size=Size.SMALL if narrow else Size.VALUE
            )
    levels = (
        (Text("cell: a warp of {count} threads"), lanes, "syncwarp()"),
        (Text("frame: a block of {count} warps"), warps, "barrier()"),
        (Text("dashed frame: a cluster of {count} blocks"), blocks, "cluster_sync()"),
    )
    for line, (level, count, call) in enumerate(levels):
        y = top + block_height + 36 + 28 * line
        canvas.label(margin, y, level.of(count=count), size=Size.LABEL if narrow else Size.VALUE)
        right = 2 * margin + blocks * width - margin
        canvas.label(right, y, call, "end", size=Size.SMALL if narrow else Size.VALUE, mono=True)
    return canvas


def draw_reduction(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The sum of each block, where it is stored, and the total after the barrier of the cluster."""
    trace = facts.trace(_REDUCTION)
    threads = trace.block[0]
    sums = {store.element: number(store.value) for store in trace.accesses("store", 2)}
    total = next(trace.accesses("store", 0))
    same = tuple((block, block) for block in sums)
    ranges = {block: f"{block * threads}–{(block + 1) * threads - 1}" for block in sums}
    rows = (
        Row(Text("input"), cells(ranges, Ink.PLAIN)),
        Row("shared[0]", cells(sums, Ink.LIVE), same),
        Row("temp_storage", cells(sums, Ink.PLAIN), same),
        Row(Text("read by block 0"), cells(sums, Ink.LIVE), call="cluster_sync()"),
        Row(
            "output[0]",
            cells({total.block: number(total.value)}, Ink.RESULT),
            tuple((block, total.block) for block in sums),
        ),
    )
    return draw_rows(
        sheet, rows, sorted(sums), Text("block"), side=80 if narrow else 116, left=150, narrow=narrow
    )


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
    return draw_steps(sheet, steps, threads=threads, left=190, right=108, narrow=narrow)


FIGURES = (
    Figure(
        "p34-scopes",
        Text(
            "The cluster of this puzzle. Each level has a barrier of its own; the number in a cell is that "
            "of a warp in its block."
        ),
        Text(
            "A dashed frame, the cluster, contains four frames, the blocks 0 to 3. Each block contains eight "
            "cells, the warps 0 to 7. syncwarp synchronises the 32 threads of a warp, barrier the eight "
            "warps of a block, and cluster_sync the four blocks of the cluster."
        ),
        draw_scopes,
        narrow=partial(draw_scopes, narrow=True),
    ),
    Figure(
        "p34",
        Text(
            "Each block multiplies and adds its own range. It arrives at the barrier of the cluster "
            "before the sum and waits there after it."
        ),
        Text(
            "Four blocks in one cluster. Block 0 multiplies elements 0 to 255 by 1, block 1 elements 256 "
            "to 511 by 2, block 2 elements 512 to 767 by 3, block 3 elements 768 to 1023 by 4. After "
            "cluster_arrive each block adds its range; after cluster_wait the outputs are complete: "
            "127.5, 255, 382.5 and 510."
        ),
        draw_cluster,
        narrow=draw_narrow,
    ),
    Figure(
        "p34-reduction",
        Text(
            "The sums of the four blocks. Each block stores its sum in global memory. After the barrier of "
            "the cluster, block 0 reads all four and adds them."
        ),
        Text(
            "Four columns, one for each block. The blocks add the elements 0 to 255, 256 to 511, 512 to 767 "
            "and 768 to 1023. Their sums are 32640, 98176, 163712 and 229248, in shared memory and in "
            "temp_storage. Below cluster_sync, block 0 reads the four sums and writes 523776 to output[0]."
        ),
        draw_reduction,
        traces=(_REDUCTION,),
        narrow=partial(draw_reduction, narrow=True),
    ),
    Figure(
        "p34-levels",
        Text(
            "The threads of one block that store a value at each level, and the barriers between the levels. "
            "A cell represents eight threads; it is coloured if its first thread takes part."
        ),
        Text(
            "Six rows of 32 cells, each for eight of the 256 threads. All 256 threads store in shared memory "
            "and pass a barrier. Then eight threads store the sums of their warps: 0, 32, 64, 96, 128, 160, "
            "192 and 224. All threads pass the second barrier, thread 0 stores in output, and all threads "
            "pass the barrier of the cluster."
        ),
        draw_levels,
        traces=(_ADVANCED,),
        narrow=partial(draw_levels, narrow=True),
    ),
)
