"""Makes the trace of what was recorded: bytes become cells with values, addresses become names."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from pathlib import PurePath

import msgspec
import numpy as np
from msgspec import UNSET, Struct
from msgspec.structs import replace

from tooling.replay.buffers import Key, RecordedMove
from tooling.replay.cells import Bytes, format_of, size_of, values_of
from tooling.replay.names import array_name, call_line, lines_of, parameter_names
from tooling.replay.recording import RecordedFinding, Recording
from tooling.replay.trace import (
    VERSION,
    Exchange,
    Mark,
    Move,
    Party,
    SourceFile,
    Step,
    Trace,
    TracedBuffer,
    Value,
    grouped,
    initial_cells,
    packed,
    ranges,
)
from tooling.simulator.gpu.code_model import Instruction
from tooling.simulator.gpu.hooks import Ints, Space
from tooling.simulator.gpu.kernel_names import readable_kernel
from tooling.text import Text
from tooling.text.plain import plain_fact

_LINES = 1500  # of a source file


def make_trace(recording: Recording, fault: Text | None = None) -> Trace:
    """What was recorded, right after the launch: memory is read once more.

    Args:
        fault: why the kernel was stopped.
    """
    return _Assembler(recording).trace(fault)


def shorten(recording: Recording, most_bytes: int) -> None:
    """Leaves out the last steps, from a barrier on, until the trace as JSON has at most `most_bytes`.

    Steps up to the last finding are kept. A trace grows with its steps, so the barrier is found by bisection.
    """
    count = len(recording.moments)
    last = max((found.step for found in _Assembler(recording).own), default=-1)
    ends = [at + 1 for at, moment in enumerate(recording.moments) if moment.kind == "barrier" and at >= last]
    if not ends or _bytes_up_to(recording, count) <= most_bytes:
        return
    fitting = bisect_right(ends, most_bytes, key=lambda end: _bytes_up_to(recording, end))
    end = ends[max(fitting - 1, 0)]
    recording.left_out += count - end
    del recording.moments[end:]


def _bytes_up_to(recording: Recording, end: int) -> int:
    """The bytes of the trace as JSON with the steps before `end` alone."""
    kept = recording.moments[:end]
    left_out = recording.left_out + len(recording.moments) - end
    shorter = replace(recording, moments=kept, left_out=left_out)
    return len(msgspec.json.encode(make_trace(shorter)))


def _distinct(every: Sequence[RecordedFinding]) -> list[RecordedFinding]:
    """The first of the findings at the same source positions: unrolled loops have many copies of a line."""
    kept: dict[tuple[object, ...], RecordedFinding] = {}
    for found in every:
        finding = found.finding
        kept.setdefault((finding.kind, *(str(party.position) for party in finding.parties)), found)
    return list(kept.values())


class _Assembler:
    def __init__(self, recording: Recording) -> None:
        self._context = recording.context
        self._launches = recording.launches
        self._recorded = recording.buffers
        self._moments = recording.moments
        self._found = recording.found
        self._left_out = recording.left_out
        self._files = tuple(
            dict.fromkeys(one.position.file for one in self._moments if one.position.line > 0)
        )
        self._layouts = [_Layout(key, self._format(key), self._origin(key)) for key in self._keys()]
        self._several = self._context.several_devices
        blocks = [
            (launch, launch.context.launch.grid.position(block))
            for launch in recording.launches
            for block in launch.blocks
        ]
        self._positions = [
            (*position, launch.gpu, launch.number) if self._several else tuple(position)
            for launch, position in blocks
        ]
        self._ranks = {
            (launch.gpu if self._several else UNSET, tuple(position)): rank
            for rank, (launch, position) in enumerate(blocks)
        }

    def trace(self, fault: Text | None) -> Trace:
        """See `make_trace`."""
        context = self._context
        kernel = readable_kernel(context.launch.function.name, context.module.files.values())
        buffers = self._buffers(kernel)
        return Trace(
            VERSION,
            kernel,
            self._launches[0].number,
            max(launch.number for launch in self._launches),
            tuple(context.launch.grid),
            tuple(context.launch.block),
            tuple(self._positions),
            context.warp_size,
            tuple(self._source(file) for file in self._files),
            tuple(buffers),
            tuple(self._steps(buffers)),
            tuple(map(self._mark, self.own)),
            self._left_out,
            sum(not self._names_own(each) for each in self._found),
            None if fault is None else plain_fact(fault),
        )

    @property
    def own(self) -> list[RecordedFinding]:
        """The findings about the recorded blocks, one for each combination of source positions."""
        return _distinct([each for each in self._found if self._names_own(each)])

    def _names_own(self, found: RecordedFinding) -> bool:
        return any((party.device, party.block) in self._ranks for party in found.finding.parties)

    def _keys(self) -> list[Key]:
        """The buffers that were accessed, those in shared memory first."""
        return sorted(
            dict.fromkeys(move.key for one in self._moments for move in one.moves),
            key=lambda key: key[0] is not Space.SHARED,
        )

    def _moves(self, key: Key) -> list[RecordedMove]:
        return [move for moment in self._moments for move in moment.moves if move.key == key]

    @cached_property
    def _modifiers(self) -> frozenset[str]:
        """Those of all instructions of the module."""
        function = self._context.launch.function
        functions = (function, *self._context.module.functions.values())
        return frozenset(
            word
            for one in functions
            for statement in one.body
            if isinstance(statement, Instruction)
            for word in statement.modifiers
        )

    def _format(self, key: Key) -> str:
        stated = {move.form for move in self._moves(key)} - {""}
        if len(stated) == 1 and size_of(form := stated.pop()) == self._recorded.widths[key]:
            return form
        contents = [move.raw[~move.refused] for move in self._moves(key)]
        whole = self._recorded.contents.get(key)
        if key[0] is Space.GLOBAL and whole is not None and not len(whole) % 8:
            contents.append(whole)
        return format_of(contents, self._recorded.widths[key], self._modifiers)

    def _origin(self, key: Key) -> int:
        """Bytes from the start of the allocation to the only address in it that is an argument, else 0."""
        addresses = set(self._recorded.pointers.get(key, {}).values())
        return addresses.pop() - self._recorded.bases[key] if len(addresses) == 1 else 0

    def _buffers(self, kernel: str) -> list[TracedBuffer]:
        count = len(self._context.launch.function.parameters)
        parameters = next(filter(None, (parameter_names(file, kernel, count) for file in self._files)), ())
        found = []
        for each in self._layouts:
            size = size_of(each.format)
            cells = max(1, (self._recorded.sizes[each.key] - each.origin) // size)
            columns = self._columns(each)
            initial: dict[int, Value] = {}
            if each.key[0] is Space.GLOBAL:
                initial = self._initial(each, size)
            name = self._name(each.key, parameters)
            if each.key[0] is Space.LOCAL:
                initial = self._initial(each, size)
                columns = self._context.local_bytes // size
            rank = each.key[2] if each.key[0] is Space.SHARED and len(self._positions) > 1 else -1
            gpu = self._recorded.gpus.get(each.key, -1) if self._several else -1
            space = each.key[0].name.lower()
            found.append(TracedBuffer(name, space, each.format, cells, columns, grouped(initial), rank, gpu))
        return found

    def _columns(self, layout: _Layout) -> int:
        """The distance of the cells of two threads that are neighbours in y; 0 if it varies."""
        across = self._context.launch.block.x
        if self._context.launch.block.y == 1:
            return 0
        found: set[int] = set()
        for move in self._moves(layout.key):
            cells = dict(zip(move.threads, layout.cells(move)[:, 0].tolist(), strict=True))
            found |= {cells[each + across] - cells[each] for each in cells if each + across in cells}
        found.discard(0)
        return found.pop() if len(found) == 1 and min(found) > 1 else 0

    def _initial(self, layout: _Layout, size: int) -> dict[int, Value]:
        content = self._recorded.contents.get(layout.key)
        if content is not None:
            whole = content[layout.origin :]
            return dict(enumerate(values_of(whole[: len(whole) // size * size], layout.format)))
        initial: dict[int, Value] = {}
        for move in self._moves(layout.key):
            assert move.before is not None
            cells = layout.cells(move)[~move.refused]
            for cell, value in zip(
                cells.reshape(-1).tolist(), values_of(move.before[~move.refused], layout.format), strict=True
            ):
                initial.setdefault(cell, value)
        return initial

    def _name(self, key: Key, parameters: Sequence[str]) -> str:
        if key[0] is Space.GLOBAL:
            numbers = self._recorded.pointers.get(key, {})
            named = [parameters[n] if parameters else f"argument {n + 1}" for n in numbers]
            allocation = self._context.memory.containing(self._recorded.bases[key])
            return " / ".join(named) or (allocation.label if allocation else "") or "global memory"
        if key[0] is Space.LOCAL:
            return "local memory"
        lines = {
            call_line(moment.position.file, moment.position.line)
            for moment in self._moments
            if any(move.key == key for move in moment.moves)
            and 0 < moment.position.line <= len(lines_of(moment.position.file))
        }
        return array_name(lines, parameters) or (f"shared {key[1]}" if key[1] > 1 else "shared memory")

    def _steps(self, buffers: Sequence[TracedBuffer]) -> list[Step]:
        state = [initial_cells(buffer) for buffer in buffers]
        numbers = {each.key: number for number, each in enumerate(self._layouts)}
        received = [moment.exchange[2] for moment in self._moments if moment.exchange]
        form = format_of(received, 4, self._modifiers) if received else ""
        steps = []
        for moment in self._moments:
            moves = []
            for raw in moment.moves:
                number = numbers[raw.key]
                moves.append(_move(raw, number, self._layouts[number], state[number]))
            known = moment.position.line > 0
            file = self._files.index(moment.position.file) if known else -1
            line = moment.position.line if known else 0
            exchange = _exchange(moment.exchange, form) if moment.exchange else None
            steps.append(Step(moment.kind, file, line, ranges(moment.threads), tuple(moves), exchange))
        steps.append(Step("end", -1, 0, "", tuple(self._changes(state))))
        return steps

    def _changes(self, state: Sequence[dict[int, Value]]) -> list[Move]:
        """What global memory holds after the launch, where this block has not stored it."""
        moves = []
        for number, (each, cells) in enumerate(zip(self._layouts, state, strict=True)):
            if each.key[0] is not Space.GLOBAL or not cells:
                continue
            size = size_of(each.format)
            order = np.array(list(cells), np.int64)
            start = self._recorded.bases[each.key] + each.origin - self._context.memory.base
            where = (start + order * size)[:, None] + np.arange(size)
            now = values_of(self._context.memory.bytes[where], each.format)
            after = tuple(
                (int(cell), value)
                for cell, value in zip(order, now, strict=True)
                if cells[int(cell)] != value
            )
            if after:
                moves.append(Move(number, "store", "", (), 1, (), after=after))
        return moves

    def _source(self, file: str) -> SourceFile:
        lines = lines_of(file)
        if len(lines) <= _LINES:
            return SourceFile(PurePath(file).name, 1, lines)
        recorded = [one.position.line for one in self._moments if one.position.file == file]
        first = max(1, min(recorded) - 40)
        return SourceFile(PurePath(file).name, first, lines[first - 1 : first - 1 + _LINES])

    def _mark(self, found: RecordedFinding) -> Mark:
        finding = found.finding
        block = self._context.launch.block
        parties: list[Party] = []
        step, buffer, cell = found.step, -1, -1
        for number, party in enumerate(finding.parties):
            rank = self._ranks.get((party.device, party.block))
            if rank is None:
                continue
            x, y, z = party.thread
            first = rank * self._context.threads_per_block
            thread = first + x + block.x * (y + block.y * z)
            done = self._step_of(thread, party.position.line, found.step)
            if not number and done >= 0:
                step = done  # a check may report an access in a later step
            for raw in self._moments[step].moves if not number and self._moments else ():
                if thread in raw.threads:
                    buffer = next(i for i, each in enumerate(self._layouts) if each.key == raw.key)
                    cell = int(self._layouts[buffer].cells(raw)[raw.threads.index(thread), 0])
            parties.append(Party(thread, done if number else step))
        return Mark(step, finding, tuple(parties), buffer, cell)

    def _step_of(self, thread: int, line: int, last: int) -> int:
        """The latest step in which a thread executed a line; -1 if there is none."""
        for number in range(last, -1, -1):
            moment = self._moments[number]
            if moment.position.line == line and thread in moment.threads:
                return number
        return -1


class _Layout(Struct, frozen=True):
    """How the bytes of a buffer are cells: their format, and the byte at which cell 0 begins."""

    key: Key
    format: str
    origin: int

    def cells(self, move: RecordedMove) -> Ints:
        """(n, width) the cells that each thread accesses."""
        size = size_of(self.format)
        first = (move.offsets - self.origin) // size
        return np.asarray(first[:, None] + np.arange(max(1, move.size // size)))


def _exchange(raw: tuple[list[int], list[int], Bytes], form: str) -> Exchange:
    threads, sources, values = raw
    return Exchange(ranges(threads), packed(sources), tuple(values_of(values, form)))


def _move(raw: RecordedMove, number: int, layout: _Layout, state: dict[int, Value]) -> Move:
    """A memory instruction in cells; `state` is changed as a reader of the trace changes it."""
    cells = layout.cells(raw)
    width = cells.shape[1]
    values = values_of(raw.raw, layout.format)
    flat = cells.reshape(-1).tolist()
    refused = np.repeat(raw.refused, width)
    values = [None if skip else value for value, skip in zip(values, refused, strict=True)]
    after: dict[int, Value] = {}
    if raw.action == "load" and all(
        cell in state and state[cell] == value for cell, value in zip(flat, values, strict=True)
    ):
        values = []
    elif raw.action != "atomic":
        state |= {cell: value for cell, value, skip in zip(flat, values, refused, strict=True) if not skip}
    if raw.after is not None:
        for cell, value, skip in zip(flat, values_of(raw.after, layout.format), refused, strict=True):
            if not skip and (cell not in state or state[cell] != value):
                after[cell] = state[cell] = value
    return Move(
        number,
        raw.action,
        ranges(raw.threads),
        packed(cells[:, 0].tolist()),
        width,
        tuple(values),
        ranges(np.array(raw.threads)[raw.refused].tolist()),
        tuple(after.items()),
        raw.cost,
    )
