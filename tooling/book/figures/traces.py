"""Traces: the memory accesses and barriers of a program on the simulated GPU, recorded for figures.

One trace is one file, `tests/data/traces/<program>[.<flags>][.unsolved].json`, with one event a line, in the
order in which the simulator performed them. It contains a digest of its program, so that a trace of an older
program is detected without running anything.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from msgspec import Struct

from tooling.book.errors import BookError, malformed
from tooling.book.puzzle_index import PuzzleIndex
from tooling.catalog.catalogue import Selection
from tooling.platform.state_file import read_json
from tooling.project import Project

BARRIER = "barrier"
SHARED = -1
"""The `buffer` of an event in shared memory."""


class Event(Struct, frozen=True):
    """One memory instruction of some threads of a block, or a barrier that the block passed.

    Attributes:
        action: `load`, `store`, `atomic` or `barrier`.
        block: linear number of the block.
        buffer: which pointer argument of the kernel, from 0, or SHARED.
        threads: linear numbers in the block.
        elements: for each thread, the element that it accesses, counted from the buffer's start.
        values: for each thread, what it stores; empty for loads.
        line: in the program; 0 where the compiler gives none.
    """

    action: str
    block: int
    buffer: int = SHARED
    threads: tuple[int, ...] = ()
    elements: tuple[int, ...] = ()
    values: tuple[float, ...] = ()
    line: int = 0


class Access(Struct, frozen=True):
    """One access of one thread to one element.

    Attributes:
        block: linear number of the block.
        thread: linear number in the block.
        element: counted from the buffer's start.
        value: what was stored; 0 for a load.
    """

    block: int
    thread: int
    element: int
    value: float


class _Launch(Struct, frozen=True):
    program: str
    mojo: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    cluster: tuple[int, ...]
    element_bytes: int


class Trace(_Launch, frozen=True):
    """The first launch of a program.

    Attributes:
        program: digest of the program, see `recordings.digest`.
        mojo: the toolchain's version.
        grid, block, cluster: the launch's shape.
        element_bytes: of the buffers' elements.
        events: in the order of the simulator, which runs threads in step.
    """

    events: tuple[Event, ...]

    def of_block(self, block: int) -> Iterator[Event]:
        """The events of one block."""
        return (event for event in self.events if event.block == block)

    def accesses(self, action: str, buffer: int, block: int | None = None) -> Iterator[Access]:
        """The accesses of the threads (of one block) to a buffer, in the order of the simulator.

        Args:
            action: `load`, `store` or `atomic`.
            buffer: which pointer argument of the kernel, from 0, or SHARED.
        """
        for event in self.events if block is None else self.of_block(block):
            if (event.action, event.buffer) == (action, buffer):
                values = event.values or (0.0,) * len(event.threads)
                for thread, element, value in zip(event.threads, event.elements, values, strict=True):
                    yield Access(event.block, thread, element, value)

    def storing(self, block: int) -> Iterator[frozenset[int]]:
        """The threads of a block that store before, between and after its barriers."""
        threads: set[int] = set()
        for event in self.of_block(block):
            if event.action == BARRIER:
                yield frozenset(threads)
                threads = set()
            elif event.action == "store":
                threads.update(event.threads)
        yield frozenset(threads)


class Move(Struct, frozen=True):
    """The cells of a block's shared memory after a barrier, and the accesses since the last change.

    Attributes:
        cells: the value of each cell; None before the first store.
        written: the cells stored to.
        read: for each thread that read, the cells it read since the move before.
    """

    cells: tuple[float | None, ...]
    written: frozenset[int]
    read: dict[int, tuple[int, ...]]


def shared_moves(trace: Trace, block: int) -> list[Move]:
    """How a block's shared memory changed, from barrier to barrier."""
    held: dict[int, float] = {}
    moves: list[Move] = []
    written: set[int] = set()
    read: dict[int, list[int]] = {}
    size = 1 + max(
        (max(e.elements) for e in trace.of_block(block) if e.buffer == SHARED and e.elements), default=-1
    )
    for event in trace.of_block(block):
        if event.action == BARRIER:
            if written:
                cells = tuple(held.get(cell) for cell in range(size))
                moves.append(
                    Move(cells, frozenset(written), {t: tuple(sorted(set(c))) for t, c in read.items()})
                )
                written, read = set(), {}
        elif event.buffer == SHARED and event.action == "load":
            for thread, cell in zip(event.threads, event.elements, strict=True):
                read.setdefault(thread, []).append(cell)
        elif event.buffer == SHARED:
            written.update(event.elements)
            held.update(zip(event.elements, event.values, strict=True))
    return moves


def traced_run(puzzle_index: PuzzleIndex, run: str) -> tuple[Selection, str]:
    """Parses the name of a run in a figure: `p23 --tiled`, or `p32 --two-way unsolved` for the problem file.

    Returns:
        Program and mode, and `solved` or `unsolved`.

    Raises:
        UnknownPuzzle, UnknownMode, ManifestError: as `catalog` does.
    """
    name, *flags = run.split()
    state = flags.pop() if flags[-1:] == ["unsolved"] else "solved"
    return puzzle_index.selection(name, flags), state


def trace_path(project: Project, selection: Selection, state: str) -> Path:
    """The file of a trace."""
    parts = [selection.program.name, *(flag.lstrip("-") for flag in selection.mode.flags)]
    if state == "unsolved":
        parts.append(state)
    return project.recordings / "traces" / f"{'.'.join(parts)}.json"


class _Numbers(Struct, frozen=True, array_like=True):
    """Numbers at equal distances."""

    first: int
    step: int
    count: int


class _Row(Struct, frozen=True, array_like=True):
    """An event, as a trace's file keeps it."""

    action: str
    block: int
    buffer: int
    line: int
    threads: tuple[int | _Numbers, ...]
    elements: tuple[int | _Numbers, ...]
    values: tuple[float, ...]

    def event(self) -> Event:
        threads, elements = _unpacked(self.threads), _unpacked(self.elements)
        return Event(self.action, self.block, self.buffer, threads, elements, self.values, self.line)


class _TraceFile(_Launch, frozen=True):
    """A trace's file."""

    events: tuple[_Row, ...]


_MOST_NUMBERS = 1 << 20
"""Of the threads or elements of one event; a launch that a figure shows has far fewer."""


def _unpacked(numbers: Sequence[int | _Numbers]) -> tuple[int, ...]:
    if sum(1 if isinstance(each, int) else max(each.count, 0) for each in numbers) > _MOST_NUMBERS:
        raise ValueError(f"an event with more than {_MOST_NUMBERS} threads or elements")
    found: list[int] = []
    for each in numbers:
        if isinstance(each, int):
            found.append(each)
        elif each.step:
            found += range(each.first, each.first + each.step * each.count, each.step)
        else:
            found += (each.first,) * each.count
    return tuple(found)


def load(path: Path) -> Trace:
    """Reads a trace.

    Raises:
        BookError: missing, or not a trace.
    """
    try:
        kept = read_json(path, _TraceFile)
        events = tuple(row.event() for row in kept.events)
        return Trace(kept.program, kept.mojo, kept.grid, kept.block, kept.cluster, kept.element_bytes, events)
    except FileNotFoundError as error:
        raise BookError(
            f"this program was never traced: {path.stem}",
            why="the figure shows what its threads did",
            hint=f"tooling figure {path.stem.split('_')[0].split('.')[0]} --trace",
        ) from error
    except ValueError as error:
        raise malformed("trace", path, error) from error


def save(path: Path, trace: Trace) -> None:
    """Writes a trace."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(as_text(trace), encoding="utf-8")


def as_text(trace: Trace) -> str:
    """The contents of a trace's file: an event a line."""
    fields = [f'"{name}": {json.dumps(getattr(trace, name))}' for name in _Launch.__struct_fields__]
    rows = ",\n".join(f"  {json.dumps(_row(event))}" for event in trace.events)
    return "{\n" + ",\n".join(fields) + f',\n"events": [\n{rows}\n]\n}}\n'


def _row(event: Event) -> list[Any]:
    numbers = (_packed(event.threads), _packed(event.elements))
    return [event.action, event.block, event.buffer, event.line, *numbers, list(event.values)]


def _packed(numbers: Sequence[int]) -> list[int] | list[list[int]]:
    """Numbers at equal distances, as in most events, become `[[first, step, count]]`."""
    if len(numbers) > 3 and len({b - a for a, b in pairwise(numbers)}) == 1:
        return [[numbers[0], numbers[1] - numbers[0], len(numbers)]]
    return list(numbers)
