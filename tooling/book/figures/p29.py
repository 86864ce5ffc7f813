"""Puzzle 29: the stages of a pipeline, the threads that work in them, and the rounds of two buffers."""

from __future__ import annotations

from tooling.book.figures.canvas import Canvas, Ink, Sheet
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import responsive
from tooling.book.figures.lanes import Row, Step, cells, draw_rows, draw_steps
from tooling.book.figures.traces import BARRIER, SHARED
from tooling.text import Text

_STAGES = "p29_tile_tensor --multi-stage"
_ROUNDS = "p29_tile_tensor --double-buffer"


def draw_stages(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """Which threads store in each stage, and the barriers between the stages."""
    trace = facts.trace(_STAGES)
    threads = trace.block[0]
    labels = (Text("stage 1: load"), Text("stage 2: blur"), Text("stage 3: smooth"))
    steps: list[Step] = []
    for stage, label in zip(trace.storing(0), labels, strict=True):
        if steps:
            steps.append(Step("barrier()", range(threads), _of(threads, threads)))
        steps.append(Step(label, stage, _of(len(stage), threads)))
    return draw_steps(sheet, steps, threads=threads, narrow=narrow)


def _of(active: int, threads: int) -> Text:
    return Text("{active} of {lanes}").of(active=active, lanes=threads)


def draw_values(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The first elements of block 0 after each stage, with one window for each of them."""
    trace = facts.trace(_STAGES)
    radius = facts.constant("BLUR_RADIUS")
    own = facts.inputs("multi-stage")["input"].tolist()
    out = facts.expected("multi-stage")["out"].tolist()
    size = trace.block[0]
    shared: dict[int, float] = {}
    loaded: dict[int, float] = {}
    for event in trace.of_block(0):
        if event.action == BARRIER and not loaded:
            loaded, shared = shared, {}
        elif event.action == "store" and event.buffer == SHARED:
            shared.update(zip(event.elements, event.values, strict=True))
    low = min(shared)
    blurred = {element - low: value for element, value in shared.items()}
    first = min(loaded)
    chosen = 4 if not narrow else 3
    columns = range(6 if narrow else 9)
    window = tuple((chosen + j, chosen) for j in range(-radius, radius + 1))
    rows = (
        Row("input", cells({i: f"{own[i]:.2f}" for i in columns}, Ink.PLAIN)),
        Row(
            "input_shared",
            cells({i: f"{loaded[first + i]:.3f}" for i in columns}, Ink.LIVE),
            tuple((i, i) for i in columns),
        ),
        Row("blur_shared", cells({i: f"{blurred[i]:.3f}" for i in columns}, Ink.LIVE), window),
        Row(
            "output",
            cells({i: f"{out[i]:.3f}" for i in columns}, Ink.RESULT),
            tuple((chosen + j, chosen) for j in (-1, 0, 1)),
        ),
    )
    if size < len(columns):
        raise ValueError("a block is shorter than the figure")
    return draw_rows(sheet, rows, tuple(columns), Text("element"), narrow=narrow)


def draw_rounds(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The elements around a step of the input after each round, and the buffer that holds them."""
    trace = facts.trace(_ROUNDS)
    threads = trace.block[0]
    rounds = [
        dict(zip(event.threads, event.values, strict=True))
        for event in trace.of_block(0)
        if event.action == "store" and event.buffer == SHARED and len(event.threads) == threads
    ]
    out = facts.expected("double-buffer")["out"].tolist()
    columns = range(6, 13) if narrow else range(5, 15)
    rows = []
    for index, values in enumerate(rounds):
        buffer = "ab"[index % 2]
        label = (Text("loaded, buffer_{buffer}") if not index else Text("round {index}, buffer_{buffer}")).of(
            index=index, buffer=buffer
        )
        middle = columns[len(columns) // 2]
        arrows = tuple((middle + j, middle) for j in (-1, 0, 1)) if index else ()
        texts = {i: number(round(values[i], 3)) for i in columns}
        rows.append(Row(label, cells(texts, Ink.LIVE), arrows))
    rows.append(Row("output", cells({i: number(round(out[i], 3)) for i in columns}, Ink.RESULT)))
    return draw_rows(sheet, rows, tuple(columns), Text("element"), narrow=narrow)


FIGURES = (
    responsive("p29", draw_values, traces=(_STAGES,)),
    responsive("p29-stages", draw_stages, traces=(_STAGES,)),
    responsive("p29-rounds", draw_rounds, traces=(_ROUNDS,)),
)
