"""Puzzle 35: requests of scalar and vector accesses, addresses of vectors, and the times of the kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tooling.book.figures.canvas import PAGE, PHONE, Canvas, Ink, Sheet, Size
from tooling.book.figures.charts import Bar, Limit, draw_bars
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import responsive
from tooling.book.figures.h200 import measured
from tooling.text import Text

if TYPE_CHECKING:
    from tooling.book.figures.traces import Event
    from tooling.simulator.counters.profile import Picture

_PROGRAM = "p35_tile_tensor"
_KERNELS = ("scalar", "unaligned", "aligned")
_WORD = 4  # bytes
_VECTOR = 16
_ELEMENTS = 8  # of the input, that are drawn


def _first_request(event: Event) -> Picture:
    """What the first warp asks for with one load, of as many words as a thread of the event has."""
    import numpy as np  # noqa: PLC0415

    from tooling.simulator.counters.hook import Sample  # noqa: PLC0415
    from tooling.simulator.counters.profile import Picture  # noqa: PLC0415
    from tooling.simulator.counters.warp_rows import LANES  # noqa: PLC0415
    from tooling.simulator.gpu.launch import Dim3  # noqa: PLC0415

    words = len(event.elements) // len(set(event.threads))
    addresses = np.array(event.elements[: LANES * words : words], np.int64) * _WORD
    return Picture(Sample(addresses, words * _WORD, 0, 0, None), Dim3(0, 0, 0), 0)


def draw_loads(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The first load instruction of each kernel, as the first warp executes it."""
    from tooling.book.figures.requests import draw_requests  # noqa: PLC0415 - brings NumPy

    pictures = []
    for kernel in _KERNELS:
        events = facts.trace(f"{_PROGRAM} --{kernel}").of_block(0)
        loads = [event for event in events if event.action == "load"]
        several, one = Text("{kernel}: first of {loads} loads"), Text("{kernel}: the only load")
        heading = several if len(loads) > 1 else one
        pictures.append((heading.of(kernel=kernel, loads=len(loads)), _first_request(loads[0])))
    return draw_requests(sheet, pictures, narrow=narrow, most_rows=2 if narrow else 4, counted=True)


def draw_addresses(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Sixteen words of a buffer, the boundaries of 16 bytes, and a vector at three addresses."""
    words = 12 if narrow else 16
    high, pitch = (28, 52) if narrow else (30, 34)
    left, width = 1, PHONE if narrow else PAGE
    cell = (width - 1 - left) / words
    canvas = sheet(width, 262)
    letters = Size.SMALL if narrow else Size.VALUE
    canvas.label(left, 16, Text("address in bytes"), size=Size.LABEL, quiet=True)
    for word in range(words):
        x = left + word * cell
        canvas.label(x + 3, 38, str(word * _WORD), size=Size.SMALL if narrow else Size.LABEL, quiet=True)
        canvas.cell(x, 48, cell, high, str(word), size=letters)
    rows = (
        (4, Text("aligned to 16 bytes"), Ink.LIVE),
        (5, Text("aligned to 4 bytes only"), Ink.SPARE),
        (6, Text("aligned to 8 bytes only"), Ink.SPARE),
    )
    tops = [92 + line * pitch for line in range(len(rows))]
    # The words of a vector share borders, and a boundary is visible in front of them.
    for y, (first, words_of_it, ink) in zip(tops, rows, strict=True):
        for word in range(first, first + _VECTOR // _WORD):
            canvas.cell(left + word * cell, y, cell, 24, str(word), ink=ink, size=letters)
        label_x = (left + first * cell + 1, y + 36) if narrow else (left + 12 * cell + 12, y + 12)
        canvas.label(*label_x, words_of_it, size=Size.LABEL)
    # On a narrow screen the lines leave out what is written below a vector.
    spans = [(44, tops[0] + 26), *((top - 4, top + 26) for top in tops[1:])]
    for boundary in range(0, words + 1, _VECTOR // _WORD):
        x = left + boundary * cell
        for begin, end in spans if narrow else [(spans[0][0], spans[-1][1])]:
            canvas.arrow(x, begin, x, end, head=False, dashed=True)
    return canvas


def draw_times(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Bars: the sectors that the kernel asks for, and its time, each relative to `scalar`."""
    from tooling.simulator.counters.sectors import SECTOR  # noqa: PLC0415

    times = measured(facts, f"{_PROGRAM} --benchmark")
    sectors = {}
    for kernel in _KERNELS:
        loads = [e for e in facts.trace(f"{_PROGRAM} --{kernel}").of_block(0) if e.action == "load"]
        asked = 0
        for load in loads:
            warps: dict[int, set[int]] = {}
            for thread, element in zip(load.threads, load.elements, strict=True):
                warps.setdefault(thread // 32, set()).add(element * _WORD // SECTOR)
            asked += sum(map(len, warps.values()))
        elements = {element for load in loads for element in load.elements}
        sectors[kernel] = asked * SECTOR / (len(elements) * _WORD)
    rows = {
        kernel: (
            Bar(sectors[kernel], f"{sectors[kernel]:.2g} ×", Ink.LIVE, Text("sectors")),
            Bar(1 / time.of_copy, f"{time.microseconds:.2f} µs", Ink.RESULT, Text("time")),
        )
        for kernel, (time,) in times.items()
    }
    limit = Limit(1, Text("1 = fewest sectors, time of a copy"))
    return draw_bars(sheet, rows, "", limits=[limit], narrow=narrow)


def draw_elements(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The first elements of the input, above them the threads that load one each, below those of vectors."""
    names = (("--scalar",), ("input",), ("--unaligned,", "--aligned"))
    canvas = sheet(0, 0)
    left = 1 if narrow else canvas.names_end([name for lines in names for name in lines])
    wide = ((PHONE if narrow else PAGE) - 1 - left) / _ELEMENTS
    threads, elements = (34, 42) if narrow else (38, 46)  # their heights
    spacing = 34 if narrow else 10
    tops = [24 if narrow else 0]
    tops += [tops[0] + threads + spacing, tops[0] + threads + 2 * spacing + elements]
    for top, lines in zip(tops, names, strict=True):
        if narrow:
            canvas.label(1, top - 14, " ".join(lines), mono=True)
            continue
        middle = top + (elements if lines == names[1] else threads) / 2
        for line, name in enumerate(lines):
            canvas.label(1, middle + (line - (len(lines) - 1) / 2) * 20, name, mono=True)
    for element in range(_ELEMENTS):
        canvas.cell(left + element * wide, tops[1], wide, elements, str(element))
    for kernel, top in (("scalar", tops[0]), ("aligned", tops[2])):
        loaded: dict[int, list[int]] = {}
        for load in facts.trace(f"{_PROGRAM} --{kernel}").accesses("load", 1):
            if load.element < _ELEMENTS:
                loaded.setdefault(load.thread, []).append(load.element)
        for thread, own in loaded.items():
            x, width = left + min(own) * wide, len(own) * wide
            canvas.cell(x, top, width, threads, f"T{thread}", ink=Ink.LIVE)
    canvas.width, canvas.height = round(left + _ELEMENTS * wide) + 1, tops[2] + threads
    return canvas


FIGURES = (
    responsive("p35", draw_loads, traces=tuple(f"{_PROGRAM} --{kernel}" for kernel in _KERNELS)),
    responsive("p35-addresses", draw_addresses),
    responsive("p35-times", draw_times, traces=tuple(f"{_PROGRAM} --{kernel}" for kernel in _KERNELS)),
    responsive(
        "p35-elements",
        draw_elements,
        traces=tuple(f"{_PROGRAM} --{kernel}" for kernel in ("scalar", "aligned")),
    ),
)
