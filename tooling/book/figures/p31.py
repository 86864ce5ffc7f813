"""Puzzle 31: the blocks that fit on a multiprocessor, and the times of the kernels."""

from __future__ import annotations

import math

from tooling.book.figures.canvas import PAGE, PHONE, Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import responsive
from tooling.text import Text

_KIB = 1024
_NAMED = 30  # a block that is at most as wide has no room for its name, so all are one cell
_LEAST = 6  # the width of that cell with the gaps at its sides


def draw_blocks(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The shared memory and the warps of a multiprocessor, with the blocks of three kernels."""
    from tooling.simulator.counters.occupancy import H200, theoretical_occupancy  # noqa: PLC0415

    threads, slot = facts.constant("BLOCK_SIZE"), facts.constant("BLOCK_SIZE") * 4
    kernels = (
        ("minimal", 0),
        ("sophisticated", facts.constant("STEPS")),
        ("balanced", facts.constant("BALANCED_SLOTS")),
    )
    names = Text("{count} warps"), Text("{count} KiB") if narrow else Text("{count} KiB shared memory")
    totals = H200.warps, H200.shared_bytes // _KIB
    bars = [name.of(count=count) for name, count in zip(names, totals, strict=True)]
    canvas = sheet(0, 0)
    size = Size.SMALL if narrow else Size.LABEL
    left = math.ceil(1 + max(canvas.length(name, size) for name in bars) + (8 if narrow else 14))
    high, row = 28, 106 if narrow else 114
    wide = (PHONE if narrow else PAGE) - 1 - left
    canvas.width, canvas.height = left + wide + 1, len(kernels) * row
    for number, (name, slots) in enumerate(kernels):
        y = number * row
        found = theoretical_occupancy(threads, slots * slot)
        heading = Text("`{kernel}`: {percent}% of the warps")
        canvas.label(1, y + 10, heading.of(kernel=name, percent=round(100 * found.fraction)), bold=True)
        taken = slots * slot + H200.reserved_per_block
        for line, (unit, total) in enumerate(((threads // 32, H200.warps), (taken, H200.shared_bytes))):
            top = y + 26 + line * (high + 6)
            canvas.label(1, top + high / 2, bars[line], size=size, quiet=True)
            scale = wide / total
            width = unit * scale
            x = left + found.blocks * width
            for block in range(found.blocks if width > _NAMED else 0):
                label = Text("block {number}").of(number=block)
                canvas.cell(left + block * width + 1, top, width - 2, high, label, ink=Ink.LIVE, size=size)
            rest = left + wide - x
            if width <= _NAMED:
                x = max(x, left + _LEAST)
                canvas.cell(left + 1, top, x - left - 2, high, ink=Ink.LIVE)
            if rest > 4:
                free = round(rest / scale / _KIB) if line else round(rest / scale)
                text = Text("{free} KiB free") if line else Text("{free} warps idle")
                idle = left + wide - x - 2
                canvas.cell(x + 1, top, idle, high, text.of(free=free), ink=Ink.SPARE, size=size)
    return canvas


FIGURES = (responsive("p31", draw_blocks),)
