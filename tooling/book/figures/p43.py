"""Puzzle 43: tiles that extend past the matrix, the stages of a ring, and the slices of a table."""

from __future__ import annotations

from tooling.book.figures.canvas import PAGE, PHONE, Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import responsive
from tooling.book.figures.grids import stages_by_step
from tooling.text import Sentence, Text

_STEPS = 10  # of a block of --ring


def draw_tiles(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The matrix with its tiles, and what of them is outside."""
    rows, cols = facts.constant("ROWS"), facts.constant("COLS")
    high, wide = facts.constant("TILE_ROWS"), facts.constant("TILE_COLS")
    down, across = -(-rows // high), -(-cols // wide)
    left, top, height = 34, 22, 44
    scale = ((PHONE if narrow else PAGE) - left - 2) / (across * wide)
    canvas = sheet(0, 0)
    for tile_row in range(down):
        y = top + tile_row * height
        inside_down = min(high, rows - tile_row * high) * height / high
        canvas.label(left - 8, y + 9, str(tile_row * high), "end", size=Size.SMALL, quiet=True)
        for tile_col in range(across):
            x = left + tile_col * wide * scale
            inside = min(wide, cols - tile_col * wide) * scale
            outside = wide * scale - inside
            if not tile_row:
                canvas.label(x + 2, 10, str(tile_col * wide), size=Size.SMALL, quiet=True)
            said = "" if outside else f"({tile_col}, {tile_row})"
            canvas.cell(x, y, inside, inside_down, said, ink=Ink.LIVE, size=Size.LABEL)
            if outside:
                canvas.cell(x + inside, y, outside, inside_down, ink=Ink.SPARE)
            if inside_down < height:
                canvas.cell(x, y + inside_down, wide * scale, height - inside_down, ink=Ink.SPARE)
    bottom = top + down * height + 22
    canvas.legend(
        left,
        bottom,
        (Ink.LIVE, Text("elements of the matrix")),
        (Ink.SPARE, Text("outside: zeros arrive")),
        across=1 if narrow else 2,
    )
    canvas.width, canvas.height = PHONE if narrow else PAGE, round(bottom + (34 if narrow else 14))
    return canvas


def draw_ring(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """A column for each step: the tile in each stage after the wait, and the one that is computed."""
    legend = (
        (Ink.MARK, Text("computed in this step")),
        (Ink.RESULT, Text("being stored")),
        (Ink.LIVE, Text("on its way or arrived")),
    )
    shown = 6 if narrow else _STEPS
    return stages_by_step(sheet, facts.constant("STAGES"), _STEPS, legend, shown=shown, narrow=narrow)


def draw_multicast(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The shared memory of four blocks: their own tiles, and the table's from four blocks."""
    blocks = facts.constant("SEQUENCES")
    rows = facts.constant("TILE_ROWS") // blocks
    canvas = sheet(0, 0)
    gap = 8 if narrow else 20
    full = PHONE if narrow else PAGE
    names: list[Sentence] = [Text("own tile"), Text("table")]
    left = 1 if narrow else canvas.names_end(names)
    wide = (full - 1 - left - (blocks - 1) * gap) / blocks
    high, slice_high, top = 44, 30, 26
    below = top + high + (28 if narrow else 14)
    for block in range(blocks):
        x = left + block * (wide + gap)
        name = Text("block {block}").of(block=block)
        canvas.label(x + wide / 2, 11, name, "middle", size=Size.LABEL, bold=True)
        canvas.cell(
            x, top, wide, high, Text("sequence {block}").of(block=block), ink=Ink.LIVE, size=Size.SMALL
        )
        for source in range(blocks):
            first = source * rows
            said = Text("from {block}") if narrow else Text("rows {first}–{last}, from {block}")
            canvas.cell(
                x,
                below + source * slice_high,
                wide,
                slice_high,
                said.of(first=first, last=first + rows - 1, block=source),
                ink=Ink.MARK if source == 1 else Ink.LIVE,
                size=Size.SMALL,
            )
    if narrow:
        canvas.label(1, below - 13, names[1], size=Size.LABEL, quiet=True)
    else:
        canvas.name(top + high / 2, names[0])
        canvas.name(below + blocks * slice_high / 2, names[1])
    canvas.width, canvas.height = full, round(below + blocks * slice_high + 2)
    return canvas


FIGURES = (
    responsive("p43", draw_tiles),
    responsive("p43-ring", draw_ring),
    responsive("p43-multicast", draw_multicast),
)
