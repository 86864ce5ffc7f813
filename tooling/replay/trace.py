"""The trace of one block of one launch, as the page embeds it: JSON, version 1.

The objects have the fields of the classes below, with these conventions:

- Threads are linear numbers in the block, written as ranges: `"0-3,8"`.
- A value is a number; a string where JSON has no number for it (`"nan"`, `"inf"`, `"-inf"`, or an integer
  beyond 2**53); null where nothing was ever stored.
- The cells of a buffer before a step are those of `initial`, changed by the moves of all earlier steps in
  order: a load sets a cell to the value that it read (another block may have stored it), a store to the value
  of its last thread, and then `after` sets the cells whose content differs from that, as atomics and
  simultaneous stores leave them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

VERSION = 1

Value = float | int | str | None


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


class Buffer(Struct, frozen=True):
    """Memory that the block accesses.

    Attributes:
        name: as in the source, or a description.
        space: `global` or `shared`.
        format: of a cell: `f64`, `f32`, `f16`, `bf16`, `i64`, `i32`, `i16` or `i8`.
        cells: number of cells of the whole buffer.
        columns: cells of a row, as far as the accesses of a two-dimensional block show it; else 0.
        initial: (cell, value) before the block began, or, in a large buffer, before its first access.
    """

    name: str
    space: str
    format: str
    cells: int
    columns: int
    initial: tuple[tuple[int, Value], ...]


class Move(Struct, frozen=True, omit_defaults=True):
    """One memory instruction of some threads.

    Attributes:
        buffer: index in `Trace.buffers`.
        action: `load`, `store` or `atomic`.
        threads: that access it, in the order of `cells`.
        cells: first cell of each thread; negative, or beyond the buffer's last one: out of bounds.
        width: adjacent cells of each thread.
        values: `width` for each thread: loaded, stored, or (`atomic`) the operand.
        refused: the threads whose access a check has prevented.
        after: (cell, value) where the content differs from the last stored value.
        cost: 32-byte sectors (global), or wavefronts (shared) of the block's warps, and the least possible
            number for as many bytes.
    """

    buffer: int
    action: str
    threads: str
    cells: tuple[int, ...]
    width: int
    values: tuple[Value, ...]
    refused: str = ""
    after: tuple[tuple[int, Value], ...] = ()
    cost: tuple[int, int] = (0, 0)


class Step(Struct, frozen=True, omit_defaults=True):
    """Instructions of one source line that some threads executed together.

    Attributes:
        kind: `line`, `arrive` (threads reach a barrier and wait), `barrier` (the block passed it), `sync` (an
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


class Party(Struct, frozen=True):
    """A thread that a finding names: `step` is where it did what is reported, -1 if that was not recorded."""

    thread: int
    step: int


class Mark(Struct, frozen=True):
    """A finding of a check.

    Attributes:
        step: index of the step in which it was found.
        error: false for a warning.
        what, where, why, hint: its message in the language of the page.
        parties: the threads of this block that it names; the first one broke the rule.
        buffer, cell: that it is about; -1 if none.
    """

    step: int
    error: bool
    what: str
    where: tuple[str, ...]
    why: str
    hint: str
    parties: tuple[Party, ...]
    buffer: int = -1
    cell: int = -1


class Trace(Struct, frozen=True):
    """One block of one launch.

    Attributes:
        launch: number of the launch in the program, from 1; launches: how many there were.
        grid, block: the launch's shape; position: the block's, x first.
        steps_left_out: steps after the limit, which were executed and not recorded.
        elsewhere: findings that name no thread of this block.
        fault: why the kernel was stopped; empty if it ran to its end.
    """

    version: int
    kernel: str
    launch: int
    launches: int
    grid: tuple[int, ...]
    block: tuple[int, ...]
    position: tuple[int, ...]
    files: tuple[SourceFile, ...]
    buffers: tuple[Buffer, ...]
    steps: tuple[Step, ...]
    marks: tuple[Mark, ...]
    steps_left_out: int = 0
    elsewhere: int = 0
    fault: str = ""


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
    """The numbers of `ranges`."""
    found: list[int] = []
    for run in filter(None, text.split(",")):
        first, _, last = run.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found
