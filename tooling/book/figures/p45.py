"""Puzzle 45: the stages of a pipeline step by step, and what overlaps in a block with several tiles."""

from __future__ import annotations

from tooling.book.figures.canvas import PAGE, PHONE, Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import responsive
from tooling.book.figures.grids import stages_by_step
from tooling.text import Sentence, Text


def draw_stages(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """A column for each step: which step each stage has, and who uses it."""
    steps = -(-facts.constant("INNER") // facts.constant("DEPTH"))
    legend = (
        (Ink.MARK, Text("multiplied in this step")),
        (Ink.RESULT, Text("given back in this step")),
        (Ink.LIVE, Text("on its way or full")),
    )
    return stages_by_step(sheet, facts.constant("STAGES"), steps, legend, narrow=narrow)


def draw_overlap(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Two tiles of a block: the steps that are copied and multiplied, and the stores of the results."""
    stages = facts.constant("STAGES")
    steps = -(-facts.constant("OUT_INNER") // facts.constant("DEPTH"))
    names: list[Sentence] = [Text("producer"), Text("consumers"), Text("stores")]
    canvas = sheet(0, 0)
    left = canvas.names_end(names)
    full = PHONE if narrow else PAGE
    # One column for each step of the consumers, and one after a tile's steps for its results.
    columns = 2 * (steps + 1) + 1
    wide, high, gap = (full - 1 - left) / columns, 28, 8
    rows = [1 + row * (high + gap) for row in range(len(names))]
    inks = (Ink.LIVE, Ink.RESULT)
    when = [tile * (steps + 1) + step for tile in range(2) for step in range(steps)]
    for count, column in enumerate(when):
        tile = count // steps
        # A copy begins when its stage is given back, which is a step after the stage's products began.
        begins = when[count - stages] + 1 if count >= stages else 0
        x, share = left + begins * wide, wide
        said = str(count % steps)
        if count < stages and narrow:  # all first copies in one cell
            said = f"0–{stages - 1}" if not count else ""
        elif count < stages:
            share = wide / stages
            x += count * share
        if said:
            canvas.cell(x, rows[0], share, high, said, ink=inks[tile], size=Size.SMALL)
        canvas.cell(left + column * wide, rows[1], wide, high, str(count % steps), ink=inks[tile])
    for tile in range(2):
        after = left + ((tile + 1) * (steps + 1) - 1) * wide
        canvas.cell(after, rows[1], wide, high, ink=Ink.MARK)
        canvas.cell(after + wide, rows[2], wide, high, str(tile), ink=inks[tile])
    for row, name in zip(rows, names, strict=True):
        canvas.name(row + high / 2, name)
    bottom = rows[-1] + high + 22
    canvas.legend(
        1,
        bottom,
        (inks[0], Text("tile {number}").of(number=0)),
        (inks[1], Text("tile {number}").of(number=1)),
        (Ink.MARK, Text("results into shared memory")),
        across=1 if narrow else 3,
    )
    canvas.width, canvas.height = full, round(bottom + (56 if narrow else 14))
    return canvas


FIGURES = (responsive("p45", draw_stages), responsive("p45-persistent", draw_overlap))
