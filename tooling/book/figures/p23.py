"""Puzzle 23: how four modes divide a vector among threads, what a warp requests, and measured speeds."""

from __future__ import annotations

from tooling.book.figures.canvas import GAP, PAGE, PHONE, Canvas, Ink, Sheet, Size
from tooling.book.figures.charts import Axis, Band, Series, draw_chart
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import responsive
from tooling.book.figures.h200 import measured, recorded
from tooling.book.figures.traces import Event
from tooling.text import Sentence, Text

_PROGRAM = "p23_tile_tensor"
_MODES = ("elementwise", "tiled", "manual-vectorized", "vectorized")
_TRACES = tuple(f"{_PROGRAM} --{mode}" for mode in _MODES)
_MEASURED = "benchmarks/kernels/vector_addition.mojo"
_LANES = 32
_LAUNCH = 1 << 16  # elements up to which the time is that of a launch
_L2_MIB, _BYTES = 60, 12  # the L2 cache of an H200, and what an addition moves for each element


def _loads(facts: Facts, mode: str) -> list[Event]:
    """The loads of one input, in their order."""
    events = [event for event in facts.trace(f"{_PROGRAM} --{mode}").events if event.action == "load"]
    return [event for event in events if event.buffer == events[0].buffer]


def _words(event: Event) -> int:
    """How many elements each thread loads."""
    return len(event.elements) // len(set(event.threads))


def draw_division(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The first elements in each mode: which of them thread 0 has, and how many a thread loads at a time."""
    shown, each = (44, 8) if narrow else (104, 7)
    above, high = (48, 28) if narrow else (24, 28)  # above a strip, and of it
    step = above + high + 34
    canvas = sheet(shown * each + 1, len(_MODES) * step)
    for row, mode in enumerate(_MODES):
        top = row * step
        y = top + above
        loads = _loads(facts, mode)
        canvas.label(1, top + 9, f"--{mode}", bold=True, mono=True)
        threads = {thread for event in loads for thread in event.threads}
        steps = max(sum(thread in event.threads for event in loads) for thread in (0, 1))
        words = _words(loads[0])
        remark = _division(len(threads), steps, words)
        if narrow:
            canvas.label(1, top + 32, remark, size=Size.LABEL, quiet=True)
        else:
            canvas.label(shown * each, top + 9, remark, "end", size=Size.LABEL, quiet=True)
        for event in loads:
            for first in range(0, len(event.elements), words):
                element, thread = event.elements[first], event.threads[first]
                if element < shown:
                    ink = Ink.LIVE if thread == 0 else Ink.PLAIN
                    canvas.cell(element * each, y, words * each, high, ink=ink)
        for element in range(0, shown, _LANES):
            canvas.arrow(element * each, y + high + 2, element * each, y + high + 6, head=False)
            middle = max(element * each, 5)
            canvas.label(middle, y + high + 15, str(element), "middle", size=Size.SMALL, quiet=True)
    own, other = (Ink.LIVE, Text("one load of thread 0")), (Ink.PLAIN, Text("of another thread"))
    canvas.legend(1, canvas.height + 9, own, other)
    canvas.height += 20
    return canvas


def _division(threads: int, loads: int, words: int) -> Sentence:
    """How a mode divides the elements: `32 threads, each 8 loads of 4 elements`."""
    if loads == 1:
        return Text("{threads} threads, each 1 load of {words} elements").of(threads=threads, words=words)
    if words == 1:
        return Text("{threads} threads, each {loads} loads of 1 element").of(threads=threads, loads=loads)
    several = Text("{threads} threads, each {loads} loads of {words} elements")
    return several.of(threads=threads, loads=loads, words=words)


def draw_calls(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The first calls of the function, with the values that they load and store."""
    data = {**facts.inputs("elementwise"), **facts.expected("elementwise")}
    first = _loads(facts, "elementwise")[0]
    width = _words(first)
    calls = 2 if narrow else 3
    side, left, gap = (33, 63, 17) if narrow else (50, 76, 24)
    size = Size.LABEL if narrow else Size.VALUE
    high, inset = 32, 5  # of a cell, and of the cells within a frame
    rows = (("a", Ink.PLAIN, 76), ("b", Ink.PLAIN, 114), ("output", Ink.RESULT, 196))
    canvas = sheet(left + calls * width * side + (calls - 1) * gap + inset + 1, 196 + high + inset + 2)
    for name, _, y in rows:
        canvas.name(y + high / 2, name, size=size)
    for call in range(calls):
        x = left + call * (width * side + gap)
        middle = x + width * side / 2
        thread, i = first.threads[call * width], first.elements[call * width]
        canvas.label(middle, 10, Text("thread {number}").of(number=thread), "middle", bold=True)
        canvas.label(middle, 33, f"add[{width}]({i})", "middle", mono=True)
        canvas.frame(x - inset, 48, width * side + 2 * inset, 196 + high + inset - 48, dashed=True)
        for element in range(width):
            across = x + (element + 0.5) * side
            canvas.label(across, 63, str(i + element), "middle", size=Size.SMALL, quiet=True)
            for name, ink, y in rows:
                value = number(data["out" if name == "output" else name][i + element])
                canvas.cell(x + element * side, y, side, high, value, ink=ink)
        canvas.label(middle, 158, "+", "middle", mono=True)
        canvas.arrow(middle, 168, middle, 192)
    return canvas


def draw_vectors(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The first load of the first warp where a thread has a chunk, a tile or a single vector."""
    import numpy as np  # noqa: PLC0415

    from tooling.book.figures.requests import draw_requests  # noqa: PLC0415 - brings NumPy
    from tooling.simulator.counters.hook import Sample  # noqa: PLC0415
    from tooling.simulator.counters.profile import Picture  # noqa: PLC0415
    from tooling.simulator.counters.warp_rows import LANES, NONE  # noqa: PLC0415
    from tooling.simulator.gpu.launch import Dim3  # noqa: PLC0415

    pictures: list[tuple[Text | str, Picture]] = []
    for mode in ("manual-vectorized", "vectorized", "elementwise"):
        first = _loads(facts, mode)[0]
        words = _words(first)
        addresses = np.full(LANES, NONE, np.int64)
        starts = zip(first.threads[::words], first.elements[::words], strict=True)
        for thread, element in starts:
            if thread < LANES:
                addresses[thread] = element * 4
        pictures.append((f"--{mode}", Picture(Sample(addresses, words * 4, 0, 0, None), Dim3(0, 0, 0), 0)))
    return draw_requests(sheet, pictures, narrow=narrow, most_rows=2, counted=True)


def draw_lanes(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The elements that one load instruction brings into the registers of each lane of a warp."""
    first = _loads(facts, "elementwise")[0]
    words = _words(first)
    lanes: tuple[int | None, ...] = (0, 1, None, 31) if narrow else (0, 1, 2, 3, 4, 5, None, 30, 31)
    canvas = sheet(0, 0)
    names = [f"[{word}]" if narrow else f"a_vector[{word}]" for word in range(words)]
    left = canvas.names_end([*names, Text("lane")])
    side = ((PHONE if narrow else PAGE) - 1 - left) // len(lanes)
    left = (PHONE if narrow else PAGE) - 1 - side * len(lanes)
    call, first_row, high = 26, 88, 34
    canvas.width = left + len(lanes) * side + 1
    canvas.height = first_row + words * high + 36
    canvas.label(1, 10, Text("lane"), size=Size.LABEL, quiet=True)
    # The instruction of all lanes is a pill, as in the drawings of a warp's functions.
    canvas.frame(left + 1, call, len(lanes) * side - 2, 26, dashed=True, corner=13)
    middle = left + len(lanes) * side / 2
    canvas.label(middle, call + 13, "ld.global.nc.v4.b32", "middle", size=Size.LABEL, mono=True)
    for column, lane in enumerate(lanes):
        x = left + (column + 0.5) * side
        if lane is None:
            canvas.label(x, 10, "…", "middle", quiet=True)
            canvas.label(x, first_row + words * high / 2, "…", "middle", quiet=True)
            continue
        canvas.label(x, 10, str(lane), "middle", size=Size.LABEL, quiet=True)
        canvas.arrow(x, call + 29, x, first_row - 3)
        for word in range(words):
            element, y = first.elements[lane * words + word], first_row + word * high
            across = x - side / 2 + GAP / 2, y, side - GAP
            canvas.cell(*across, high, f"a[{element}]", ink=Ink.LIVE, size=Size.LABEL)
    for word, name in enumerate(names):
        canvas.name(first_row + (word + 0.5) * high, name)
    remark = Text("one instruction, {lanes} lanes, {elements} elements").of(
        lanes=_LANES, elements=_LANES * words
    )
    canvas.label(middle, first_row + words * high + 18, remark, "middle", size=Size.LABEL, quiet=True)
    return canvas


def draw_tile_times(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Speed relative to a copy against the elements of a thread."""
    found: dict[str, dict[int, float]] = {}
    for kernel, (row, *_) in measured(facts, _MEASURED).items():
        name, _, tile = kernel.partition(" ")
        found.setdefault(name, {})[int(tile or 0)] = row.of_copy

    def named(mode: str, speed: float) -> str:
        """The name of a curve, with the speed at the point next to it where it has room."""
        return mode if narrow else f"{mode} {speed:.2f}"

    series = (
        Series(named("--tiled", found["tiled"][16]), found["tiled"], Ink.SPARE, 16, (-1, 1)),
        Series(
            named("--manual-vectorized", found["manual"][1024]),
            found["manual"],
            Ink.PLAIN,
            1024,
            (0, -2),
            ring=True,
        ),
        Series(named("--vectorized", found["vectorized"][16]), found["vectorized"], Ink.RESULT, 16, (1, -1)),
    )
    axis = Axis(Text("speed relative to a copy"), (0, 0.25, 0.5, 0.75, 1))
    return draw_chart(sheet, series, axis, Text("elements per thread, logarithmic"), narrow=narrow)


def draw_sizes(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Bandwidth against the number of elements, with caches overwritten before each run and not."""
    of_cold = measured(facts, _MEASURED)["cold"]
    cold = {row.elements: row.bandwidth for row in of_cold}
    others = (line.split(" | ") for line in recorded(facts, "benchmarks.json", "other_protocols", _MEASURED))
    warm = {int(row[1]): float(row[-1]) for row in others if row[0] == "warm"}
    first, last = min(cold), max(cold)
    ends = [f"{round(speeds[last]):,}" for speeds in (warm, cold)]
    copy = round(of_cold[-1].of_a_copy, -1)  # the ratio has four digits
    limit = Text("a copy: {speed} GB/s").of(speed=f"{copy:,.0f}")
    reached = next(elements for elements, speed in sorted(cold.items()) if speed >= copy)
    series = (
        Series(
            Text("run again and again"),
            warm,
            Ink.PLAIN,
            _LAUNCH,
            (1, 2),
            end=ends[0],
            end_below=True,
            folded=narrow,
            ring=True,
        ),
        Series(
            limit,
            {first: copy, reached: copy},
            Ink.SPARE,
            first,
            (1, 1) if narrow else (1, -1),
            limit=True,
            folded=narrow,
        ),
        Series(Text("caches overwritten"), cold, Ink.RESULT, _LAUNCH, (-1, -1), end=ends[1], folded=narrow),
    )
    bands = (
        Band(Text("launch"), _LAUNCH),
        Band(Text("L2 cache"), _L2_MIB * (1 << 20) / _BYTES),
        Band(Text("memory"), last),
    )
    axis = Axis(Text("bandwidth (GB/s), logarithmic"), (1, 10, 100, 1000, 10_000), logarithmic=True)
    return draw_chart(sheet, series, axis, Text("elements, logarithmic"), bands=bands, every=2, narrow=narrow)


def draw_tiles(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """All tiles in a strip; one of them enlarged, with the steps of its thread."""
    size, tile = facts.constant("SIZE"), facts.constant("TILE_SIZE")
    tiles = size // tile
    strip: tuple[int | None, ...] = (0, 1, None, tiles - 1) if narrow else (0, 1, 2, 3, None, tiles - 1)
    steps: tuple[int | None, ...] = (0, 1, 2, 3, 4, None, tile - 2, tile - 1)
    if narrow:
        steps = (0, 1, 2, None, tile - 1)
    width, skipped = (107, 37) if narrow else (121, 123)
    whole = (len(strip) - 1) * width + skipped
    canvas = sheet(whole + 2, 290)
    summary = Text("{size} elements in {tiles} tiles").of(size=f"{size:,}", tiles=tiles)
    canvas.label(1, 10, summary, bold=True)
    left = 1.0
    x = left
    for tile_id in strip:
        if tile_id is None:
            canvas.label(x + skipped / 2, 105, "…", "middle", quiet=True)
            x += skipped
            continue
        middle = x + width / 2
        canvas.label(middle, 42, Text("thread {number}").of(number=tile_id), "middle", quiet=True)
        code = f"tile_id = {tile_id}"
        letters = Size.SMALL if narrow else Size.LABEL
        canvas.label(middle, 60, code, "middle", size=letters, quiet=True, mono=True)
        canvas.arrow(middle, 71, middle, 84)
        ink = Ink.LIVE if tile_id == 1 else Ink.PLAIN
        span = f"{tile_id * tile}–{tile_id * tile + tile - 1:,}"
        canvas.cell(x + GAP / 2, 87, width - GAP, 38, span, ink=ink)
        x += width
    canvas.arrow(left + width + 2, 127, left + 2, 188, head=False, dashed=True)
    canvas.arrow(left + 2 * width - 2, 127, left + whole - 2, 188, head=False, dashed=True)
    cell = whole / len(steps)
    for index, step in enumerate(steps):
        x = left + index * cell
        if step is None:
            canvas.label(x + cell / 2, 209, "…", "middle", quiet=True)
            continue
        canvas.cell(x + GAP / 2, 190, cell - GAP, 38, str(tile + step), ink=Ink.LIVE)
        name = Text("step {step}").of(step=step)
        canvas.label(x + cell / 2, 243, name, "middle", size=Size.LABEL, quiet=True)
    canvas.label(
        left + whole / 2,
        272,
        Text("thread 1, one element after the other"),
        "middle",
        size=Size.LABEL,
        quiet=True,
    )
    return canvas


def draw_step(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The request that a warp makes in the first step of its loop."""
    from tooling.book.figures.requests import draw_request, request  # noqa: PLC0415 - brings NumPy

    trace = facts.trace("p23 --tiled")
    first = next(event for event in trace.events if event.action == "load")
    return draw_request(sheet, request(trace, first), narrow=narrow)


FIGURES = (
    responsive("p23", draw_division, traces=_TRACES),
    responsive("p23-elementwise", draw_calls, traces=(_TRACES[0],)),
    responsive("p23-vectors", draw_vectors, traces=(_TRACES[0], _TRACES[2], _TRACES[3])),
    responsive("p23-lanes", draw_lanes, traces=(_TRACES[0],)),
    responsive("p23-tile-times", draw_tile_times),
    responsive("p23-sizes", draw_sizes),
    responsive("p23-tiles", draw_tiles),
    responsive("p23-memory", draw_step, traces=("p23 --tiled",)),
)
