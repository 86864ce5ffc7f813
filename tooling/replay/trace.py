"""The trace of some blocks of one launch, as it is recorded: JSON, version 3.

The objects have the fields of the classes below, with these conventions:

- Threads are linear numbers, written as ranges: `"0-3,8"`. Of the block `positions[b]`, thread `t` has the
  number `b * n + t`, where a block has `n` threads.
- Cells at equal distances are written as `[first, distance, count]`.
- A value is a number; a string where JSON has no number for it (`"nan"`, `"inf"`, `"-inf"`, or an integer
  beyond 2**53); null where nothing was ever stored.
- The cells of a buffer before a step are those of `initial`, changed by the moves of all earlier steps in
  order: a load sets a cell to the value that it read (another block may have stored it), a store to the value
  of its last thread, and then `after` sets the cells whose content differs from that, as atomics and
  simultaneous stores leave them.
- Local memory is one buffer, with a row of `columns` cells for each thread.

A page embeds it with the sentences of its language in place of each finding, see `tooling.replay.page`.

Version 1 had one block (`position`), and no `warp`, `exchange` or `TracedBuffer.block`; version 2 had
sentences in one language.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from tooling.simulator.checks.findings import Finding

VERSION = 3

MOST_NUMBERS = 1 << 20
"""Of threads or cells in one entry; eight blocks, the most that are recorded, have far fewer."""

Value = float | int | str | None
Run = tuple[int, int, int]


class SourceFile(Struct, frozen=True):
    """A source file of the kernel.

    Attributes:
        name: without folder.
        first: number of the first line in `lines`, from 1.
        lines: its text, or the part around the recorded lines; empty if the file cannot be read.
    """

    name: str
    first: int
    lines: tuple[str, ...]


class TracedBuffer(Struct, frozen=True, omit_defaults=True):
    """Memory that the blocks access.

    Attributes:
        name: as in the source, or a description.
        space: `global`, `shared` or `local`.
        format: of a cell: `f64`, `f32`, `f16`, `bf16`, `i64`, `i32`, `i16` or `i8`.
        cells: number of cells of the whole buffer.
        columns: cells of a row, as far as the accesses of a two-dimensional block show it; else 0.
        initial: (first cell, values of it and the next ones) before the blocks began, or, in a large buffer,
            before its first access.
        block: of shared memory, which of several recorded blocks has it; else -1.
        gpu: of global memory, the GPU that has it if there are several; else -1.
    """

    name: str
    space: str
    format: str
    cells: int
    columns: int
    initial: tuple[tuple[int, tuple[Value, ...]], ...]
    block: int = -1
    gpu: int = -1


class Move(Struct, frozen=True, omit_defaults=True):
    """One memory instruction of some threads.

    Attributes:
        buffer: index in `Trace.buffers`.
        action: `load`, `store` or `atomic`.
        threads: that access it, in the order of `cells`.
        cells: first cell of each thread; negative, or beyond the buffer's last one: out of bounds.
        width: adjacent cells of each thread.
        values: `width` for each thread: loaded, stored, or (`atomic`) the operand; empty for a load of what
            the cells contain by the moves before it.
        refused: the threads whose access a check has prevented.
        after: (cell, value) where the content differs from the last stored value.
        cost: 32-byte sectors (global), or wavefronts (shared) of the accessing warps, and the least possible
            number for as many bytes.
    """

    buffer: int
    action: str
    threads: str
    cells: tuple[int | Run, ...]
    width: int
    values: tuple[Value, ...]
    refused: str = ""
    after: tuple[tuple[int, Value], ...] = ()
    cost: tuple[int, int] = (0, 0)


class Exchange(Struct, frozen=True):
    """What threads received from others of their warps, by a shuffle.

    Attributes:
        threads: that received.
        sources: for each the thread that gave; a thread that gives to itself keeps its value. -1: unknown.
        values: received.
    """

    threads: str
    sources: tuple[int | Run, ...]
    values: tuple[Value, ...]


class Step(Struct, frozen=True, omit_defaults=True):
    """Instructions of one source line that some threads executed together.

    Attributes:
        kind: `line`, `poll` (threads read a flag, again and again until their next step), `arrive` (threads
            reach a barrier and wait), `barrier` (the block or its cluster passed it), `signal` (threads reach
            the barrier of their cluster and go on), `arrived` and `passed` (an mbarrier), `sync` (an
            instruction that synchronises lanes of a warp), `exit`, `stuck` (no thread can continue) or `end`
            (of the launch; its moves show what other blocks stored).
        file: index in `Trace.files`; line: from 1, 0 where the compiler gives none.
        threads: that execute it.
    """

    kind: str
    file: int
    line: int
    threads: str
    moves: tuple[Move, ...] = ()
    exchange: Exchange | None = None


class Party(Struct, frozen=True):
    """A thread that a finding names: `step` is where it did what is reported, -1 if that was not recorded."""

    thread: int
    step: int


class Mark(Struct, frozen=True):
    """A finding of a check.

    Attributes:
        step: index of the step in which it was found.
        parties: the threads of the recorded blocks that it names; the first one broke the rule.
        buffer, cell: that it is about; -1 if none.
    """

    step: int
    finding: Finding
    parties: tuple[Party, ...]
    buffer: int = -1
    cell: int = -1


class Trace(Struct, frozen=True):
    """Some blocks of one launch.

    Attributes:
        launch: number of the launch in the program, from 1; launches: how many there were.
        grid, block: the launch's shape.
        positions: of the recorded blocks, x first. With several GPUs the GPU and the number of its launch
            follow; the launches are of one kernel and shape, and `launch` is the one that was chosen.
        warp: threads of a warp.
        steps_left_out: steps after the limit, which were executed and not recorded.
        elsewhere: findings that name no thread of the recorded blocks.
        fault: why the kernel was stopped, a sentence as in `tooling.text.plain`; None if it ran to its end.
    """

    version: int
    kernel: str
    launch: int
    launches: int
    grid: tuple[int, ...]
    block: tuple[int, ...]
    positions: tuple[tuple[int, ...], ...]
    warp: int
    files: tuple[SourceFile, ...]
    buffers: tuple[TracedBuffer, ...]
    steps: tuple[Step, ...]
    marks: tuple[Mark, ...]
    steps_left_out: int = 0
    elsewhere: int = 0
    fault: dict[str, Any] | None = None


def ranges(numbers: Iterable[int]) -> str:
    """`"0-3,8"` for 0, 1, 2, 3, 8: runs of ascending numbers, in the order given."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def numbers(text: str) -> Sequence[int]:
    """The numbers of `ranges`.

    Raises:
        ValueError: not such a text, or more than MOST_NUMBERS.
    """
    pairs = [run.partition("-") for run in filter(None, text.split(","))]
    runs = [range(int(first), int(last or first) + 1) for first, _, last in pairs]
    _require_few(sum(run.stop - run.start for run in runs))
    return [number for run in runs for number in run]


def packed(numbers: Sequence[int]) -> tuple[int | Run, ...]:
    """Numbers, where runs of more than three at equal distances become one entry."""
    found: list[int | Run] = []
    start = 0
    while start < len(numbers):
        end = start + 2
        while end < len(numbers) and numbers[end] - numbers[end - 1] == numbers[start + 1] - numbers[start]:
            end += 1
        if end - start > 3 and end <= len(numbers):
            found.append((numbers[start], numbers[start + 1] - numbers[start], end - start))
            start = end
        else:
            found.append(numbers[start])
            start += 1
    return tuple(found)


def unpacked(numbers: Iterable[int | Run]) -> list[int]:
    """The numbers of `packed`.

    Raises:
        ValueError: more than MOST_NUMBERS.
    """
    entries = list(numbers)
    _require_few(sum(1 if isinstance(each, int) else each[2] for each in entries))
    found: list[int] = []
    for each in entries:
        if isinstance(each, int):
            found.append(each)
        else:
            first, distance, count = each
            found += (first + distance * index for index in range(count))
    return found


def _require_few(count: int) -> None:
    if count > MOST_NUMBERS:
        raise ValueError(f"{count} threads or cells in one entry; at most {MOST_NUMBERS} are possible")


def require_valid_counts(trace: Trace) -> None:
    """Checks the numbers of threads and cells, which a file states and a page writes out.

    Raises:
        ValueError: they are too large, or differ.
    """
    for step in trace.steps:
        numbers(step.threads)
        for move in step.moves:
            threads, cells = numbers(move.threads), unpacked(move.cells)
            numbers(move.refused)
            _require_few(len(cells) * move.width)
            if len(cells) != len(threads):
                raise ValueError(f"{len(threads)} threads with {len(cells)} cells")
        if step.exchange:
            threads, sources = numbers(step.exchange.threads), unpacked(step.exchange.sources)
            if not len(threads) == len(sources) == len(step.exchange.values):
                raise ValueError(f"{len(threads)} threads that received values from {len(sources)}")


def initial_cells(buffer: TracedBuffer) -> dict[int, Value]:
    """The cells of `TracedBuffer.initial`."""
    return {first + index: value for first, values in buffer.initial for index, value in enumerate(values)}


def grouped(cells: Mapping[int, Value]) -> tuple[tuple[int, tuple[Value, ...]], ...]:
    """`TracedBuffer.initial` of these cells."""
    groups: list[tuple[int, list[Value]]] = []
    for cell in sorted(cells):
        if groups and cell == groups[-1][0] + len(groups[-1][1]):
            groups[-1][1].append(cells[cell])
        else:
            groups.append((cell, [cells[cell]]))
    return tuple((first, tuple(values)) for first, values in groups)
