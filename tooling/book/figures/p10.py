"""Puzzle 10: which elements nine threads read, and how four additions to one element overwrite each other."""

from __future__ import annotations

from tooling.book.figures.canvas import GAP, PAGE, PHONE, Canvas, Ink, Sheet, Size
from tooling.book.figures.charts import draw_counts
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import responsive
from tooling.book.figures.h200 import defects_found
from tooling.text import Text

_TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")  # of compute-sanitizer


def draw_elements(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The buffer and what follows it in memory; below each element the threads that read it."""
    values = facts.inputs("memory-bug")["a"].tolist()
    columns = facts.constant("SIZE")
    width, height = (facts.constant(f"THREADS_PER_BLOCK[{axis}]") for axis in range(2))
    readers: dict[int, list[str]] = {}
    for row in range(height):
        for column in range(width):
            readers.setdefault(row * columns + column, []).append(
                f"{column},{row}" if narrow else f"({column}, {row})"
            )
    title = Text("threads (*x*, *y*)")
    top, step = (44, 20) if narrow else (28, 21)
    most = max(map(len, readers.values()))
    canvas = sheet(0, top + 84 + (most + narrow) * step)
    side, left = (51, 1) if narrow else (0, canvas.names_end([title]))
    if not narrow:
        side = (PAGE - 1 - left) // len(readers)
        left = PAGE - 1 - len(readers) * side
    canvas.width = left + len(readers) * side + 8
    if narrow:
        canvas.label(left, 14, "a", mono=True)
    else:
        canvas.name(top + 22, "a")
    for element in sorted(readers):
        x = left + element * side
        canvas.label(x + side / 2, top - 12, str(element), "middle", size=Size.LABEL, quiet=True)
        if element < len(values):
            canvas.cell(x, top, side, 44, number(values[element]))
        else:
            _beyond(canvas, x + GAP / 2, top + 0.5, side - GAP, 43)
        canvas.arrow(x + side / 2, top + 66, x + side / 2, top + 48)
        for index, thread in enumerate(readers[element]):
            y = top + 78 + index * step
            canvas.label(
                x + side / 2, y, thread, "middle", size=Size.LABEL if narrow else Size.VALUE, mono=True
            )
    if narrow:
        canvas.label(left, top + 82 + most * step, title, size=Size.LABEL, quiet=True)
    else:
        canvas.name(top + 78, title)
    return canvas


def draw_additions(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Four threads that read, add and write at the same time, and the sum that was meant."""
    values = facts.inputs("race-condition")["a"].tolist()
    total = facts.expected("race-condition")["out"].reshape(-1)[0]
    rows = (Text("read"), Text("add"), Text("write"), Text("remains"))
    step, gap = (54, 10) if narrow else (56, 22)
    canvas = sheet(0, 40 + 4 * step)
    left = canvas.names_end(rows)
    column = ((PHONE if narrow else PAGE) - 1 + gap - left) // len(values)
    wide = column - gap
    right = left + len(values) * column - gap
    canvas.width = right + 8
    for index, row in enumerate(rows[:3]):
        canvas.name(48 + index * step, row)
    for thread, value in enumerate(values):
        x = left + thread * column
        middle = x + wide / 2
        title = f"T{thread}" if narrow else Text("thread {thread}").of(thread=thread)
        canvas.label(middle, 14, title, "middle", size=Size.VALUE)
        texts = (number(0), f"0 + {number(value)}", number(value))
        for index, (text, ink) in enumerate(zip(texts, (Ink.PLAIN, Ink.LIVE, Ink.RESULT), strict=True)):
            canvas.cell(x, 30 + index * step, wide, 36, text, ink=ink, size=Size.VALUE)
            if index:
                canvas.arrow(middle, 66 - step + index * step + 3, middle, 30 + index * step - 3)
    y = 36 + 3 * step
    canvas.arrow(1, y - 18, right, y - 18, head=False, dashed=True)
    canvas.name(y, rows[-1])
    canvas.label(left, y, Text("one of {join}").of(join=", ".join(map(number, values))))
    canvas.label(right, y, Text("meant: {total}").of(total=number(total)), "end")
    return canvas


def _beyond(canvas: Canvas, x: float, y: float, width: float, height: float) -> None:
    """Memory that does not belong to the buffer."""
    canvas.embed(
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4" fill="none" '
        f'stroke="{Ink.WRONG.line}" stroke-dasharray="4 3"/>',
        (x, y, x + width, y + height),
    )


def draw_tools(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """A row for each tool with a cell for each faulty kernel that it reports."""
    found = defects_found(facts)
    rows: dict[Text | str, list[Ink]] = {
        tool: [Ink.LIVE] * sum(tool in tools for tools in found.values()) for tool in _TOOLS
    }
    rows[Text("none of them")] = [Ink.MARK] * sum(not tools for tools in found.values())
    return draw_counts(sheet, rows, narrow=narrow)


FIGURES = (
    responsive("p10", draw_elements),
    responsive("p10-race", draw_additions),
    responsive("p10-tools", draw_tools),
)
