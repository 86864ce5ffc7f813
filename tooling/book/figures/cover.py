"""The cover: a sum of 32 products as one warp computes it, and what a wrong answer to puzzle 1 does."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from tooling.book.figures.canvas import Canvas, Ink, Sheet, Size
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import responsive
from tooling.book.figures.traces import SHARED, Trace
from tooling.text import Text

_MISTAKE = "read_backwards"
_BENDS = (0.25, 0.6, 0.4, 0.75)  # of the arrow to each thread: no three arrows cross in one point
_CORNER = 0.16  # where the way of an addend turns, relative to its height
_ROUNDED = 0.12  # the part of its straight line that a corner takes
_NEXT_TO_WAY = 7  # from the last way of a row to the number of its threads, in pixels
_RUN = "p24_tile_tensor --traditional"


class _Step(Struct, frozen=True):
    """The threads that store to shared memory, and for each what it added: the element of another thread."""

    threads: frozenset[int]
    addends: tuple[tuple[int, int], ...]

    def distance(self) -> int:
        return max((element - thread for thread, element in self.addends), default=0)


class _Rows(Struct, frozen=True):
    """Draws rows of cells, which have a side and a distance from centre to centre in the canvas's units."""

    canvas: Canvas
    side: int
    pitch: int

    def cells(self, top: int, cells: Iterable[int], ink: Ink) -> None:
        """Cells of one ink as a single path: a rectangle each would make the picture ten times as large."""
        line = (Ink.RESULT if ink is Ink.LIVE else ink).line
        side = self.side
        path = "".join(f"M{1 + cell * self.pitch} {top}h{side}v{side}h-{side}z" for cell in sorted(cells))
        self.canvas.embed(f'<path d="{path}" fill="{ink.fill}" stroke="{line}"/>')

    def count(self, top: float, threads: int, letters: Size) -> None:
        """The number of threads, above the right end of the row."""
        self.canvas.label(self.canvas.width - 1, top, _threads(threads), "end", size=letters, quiet=True)

    def rest(self, top: int, lanes: int, threads: int, letters: Size) -> None:
        """The cells of the idle threads, and above the first of them how many are at work."""
        self.cells(top, range(threads, lanes), Ink.SPARE)
        left = 1 + threads * self.pitch + _NEXT_TO_WAY
        self.canvas.label(left, top - 0.7 * letters, _threads(threads), size=letters, quiet=True, halo=True)

    def ways(self, top: int, height: int, step: _Step) -> None:
        """The ways of the addends to the threads that add them, parallel lines, and of each own value."""
        middle = 1 + self.side / 2
        own = "".join(f"M{middle + thread * self.pitch:g} {top}v{height}" for thread, _ in step.addends)
        far = []
        for thread, element in step.addends:
            start, end = (middle + position * self.pitch for position in (element, thread))
            upper, lower = top + _CORNER * height, top + (1 - _CORNER) * height  # of the straight part
            rounded = _ROUNDED * (end - start), _ROUNDED * (lower - upper)
            far.append(
                f"M{start:g} {top}Q{start:g} {upper:g} {start + rounded[0]:g} {upper + rounded[1]:g}"
                f"L{end - rounded[0]:g} {lower - rounded[1]:g}Q{end:g} {lower:g} {end:g} {top + height}"
            )
        for path, opacity in ((own, 0.45), ("".join(far), 0.9)):
            look = f'stroke="{Ink.RESULT.line}" stroke-opacity="{opacity}"'
            self.canvas.embed(f'<path d="{path}" fill="none" {look}/>')


def draw_sum(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """A row of cells for each step, and a line for each addend that a thread reads from another one."""
    trace = facts.trace(_RUN)
    first, *rest = _steps(trace)
    lanes = trace.block[0]
    side, pitch, scale = (9, 11, 1.8) if narrow else (17, 20, 2.3)
    # The further the addends, the higher the lines.
    gaps = [round(scale * (17 + 2.6 * step.distance())) for step in rest]
    height, width = (22, 54) if narrow else (34, 77)
    letters = Size.LABEL if narrow else Size.VALUE
    head = 2 * letters - 4
    canvas = sheet(lanes * pitch - pitch + side + 2, sum(gaps) + (len(gaps) + 3) * side + height + head + 1)
    rows = _Rows(canvas, side, pitch)
    rows.cells(head, first.threads, Ink.LIVE)
    rows.count(head - 0.8 * letters, len(first.threads), letters)
    top = head + side
    for step, gap in zip(rest, gaps, strict=True):
        rows.ways(top, gap, step)
        rows.cells(top + gap, step.threads, Ink.LIVE)
        rows.rest(top + gap, lanes, len(step.threads), letters)
        top += gap + side
    canvas.arrow(1 + side / 2, top + 1, 1 + side / 2, top + 2 * side - 2)
    total = next(trace.accesses("store", 0)).value
    canvas.cell(
        1,
        top + 2 * side,
        width,
        height,
        f"{total:g}",
        ink=Ink.RESULT,
        size=Size.VALUE if narrow else Size.COVER,
    )
    return canvas


def _threads(count: int) -> Text:
    """The number of threads in words."""
    return Text("one thread") if count == 1 else Text("{count} threads").of(count=count)


def _steps(trace: Trace) -> list[_Step]:
    steps = []
    read: list[tuple[int, int]] = []
    for event in trace.of_block(0):
        if event.buffer == SHARED and event.action == "load":
            pairs = zip(event.threads, event.elements, strict=True)
            read += [(thread, element) for thread, element in pairs if thread != element]
        elif event.buffer == SHARED and event.action == "store":
            steps.append(_Step(frozenset(event.threads), tuple(read)))
            read = []
    return steps


def draw_mistake(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """`a`, the way of each thread from its element to `out`, and what it writes, as the verdict lists it."""
    puzzle = Facts(facts.puzzle_index, "p01")
    a = puzzle.inputs("default")["a"].reshape(-1).tolist()
    judged = puzzle.judged(_MISTAKE)
    right = [expected for _, expected in judged]
    left, side, gap, high, ways = (43, 81, 8, 34, 84) if narrow else (48, 111, 14, 38, 180)
    written = 1 + high + ways
    canvas = sheet(left + len(a) * side - gap + 1, written + high + 26)
    for y, array in ((1, "a"), (written, "out")):
        canvas.label(1, y + high / 2, array, mono=True)
    for index, value in enumerate(a):
        canvas.cell(left + index * side, 1, side - gap, high, number(value))
    for thread, (got, expected) in enumerate(judged):
        x = left + thread * side
        ink = Ink.RESULT if got == expected else Ink.WRONG
        canvas.cell(x, written, side - gap, high, number(got), ink=ink)
        name = Text("thread {thread}").of(thread=thread)
        canvas.label(x + (side - gap) / 2, written + high + 15, name, "middle", size=Size.LABEL, quiet=True)
    middle = left + (side - gap) / 2
    for thread in reversed(range(len(judged))):  # the marked one last
        read = middle + right.index(judged[thread][0]) * side
        to, bend = middle + thread * side, _BENDS[thread]
        canvas.curve(read, high + 6, to, written - 3, bend=bend, marked=thread == 0)
    return canvas


FIGURES = (
    responsive("cover", draw_sum, traces=(_RUN,)),
    responsive("cover-mistake", draw_mistake),
)
