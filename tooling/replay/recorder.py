"""Records some blocks of one launch on the simulated GPU: a hook, and the executor that adds it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace
from numpy.typing import NDArray

from tooling.replay.cells import Bytes, format_of, size_of, values_of
from tooling.replay.names import array_name, lines_of, parameter_names
from tooling.replay.trace import (
    VERSION,
    Buffer,
    Exchange,
    Mark,
    Move,
    Party,
    SourceFile,
    Step,
    Trace,
    Value,
    grouped,
    initial_cells,
    packed,
    ranges,
)
from tooling.simulator.backends import backend_of
from tooling.simulator.checks.base import CheckHook, lanes_of, source_position
from tooling.simulator.checks.findings import Finding, Severity, SourcePosition, explain
from tooling.simulator.counters.hook import route_of, service_of
from tooling.simulator.counters.measure import measure
from tooling.simulator.counters.warp_rows import warp_rows
from tooling.simulator.engine.executor import Engine, Job
from tooling.simulator.gpu.clusters import blocks_of, clusters_of
from tooling.simulator.gpu.code_model import Instruction
from tooling.simulator.gpu.device_memory import POISON_BYTES, Allocation
from tooling.simulator.gpu.hooks import (
    Access,
    AccessKind,
    Hook,
    Ints,
    LaunchContext,
    MBarrierOperation,
    PartialBarrier,
    Space,
    Waiter,
)
from tooling.simulator.gpu.kernel_names import readable_kernel
from tooling.simulator.gpu.lanes import Lanes, numbers_of
from tooling.simulator.gpu.launch import Dim3, LaunchResult

MOST_STEPS = 3000
MOST_VALUES = 120_000
"""Values that are loaded and stored, over all steps."""
MOST_BLOCKS = 8
_WHOLE = 4096  # bytes of a buffer whose cells are all recorded, whether they are accessed or not
_LINES = 1500  # of a source file
_Key = tuple[Space, int, int]
"""A buffer: base of the allocation or number of the shared array, and which recorded block's it is."""
_WAITS = {"passed": "passed", "arrive": "arrived"}  # of the actions at an mbarrier, those that are shown


class _Raw(Struct, eq=False):
    """A memory instruction of some threads of the recorded blocks, as bytes.

    Attributes:
        offsets: (n,) bytes from the start of the buffer.
        raw: (n, size) loaded or stored; before: memory before it, in a large buffer; after: memory after a
            store or atomic.
        refused: (n,) lanes that a check has suppressed.
    """

    key: _Key
    action: str
    threads: list[int]
    offsets: Ints
    size: int
    raw: Bytes
    refused: NDArray[np.bool_]
    before: Bytes | None = None
    after: Bytes | None = None
    cost: tuple[int, int] = (0, 0)


class _Moment(Struct, eq=False):
    """A step while it is recorded.

    Attributes:
        codes: the identities of its instructions.
        exchange: receiving threads, for each the thread that gives (-1: one that is not recorded), and the
            bytes of the values.
        used: whether it was added.
    """

    kind: str
    position: SourcePosition
    threads: list[int]
    codes: set[int] = field(default_factory=set)
    moves: list[_Raw] = field(default_factory=list)
    exchange: tuple[list[int], list[int], Bytes] | None = None
    used: bool = False


class _Found(Struct):
    """A finding: which one of which check, and the step in which it was found."""

    check: CheckHook
    number: int
    step: int

    @property
    def finding(self) -> Finding:
        return self.check.findings[self.number]


class Recorder(Hook):
    """Records some blocks of a launch.

    Args:
        blocks: their numbers in the launch. Their threads are numbered in this order.
        checks: hooks that are called before this one; their findings belong to the step in which they appear.
    """

    def __init__(self, blocks: Sequence[int], checks: Sequence[CheckHook]) -> None:
        self._blocks = tuple(blocks)
        self._context: LaunchContext | None = None
        self._seen = {check: len(check.findings) for check in checks}
        self._moments: list[_Moment] = []
        self._pending: list[_Moment] = []  # lines of the instructions that are issued, and not reached yet
        self._found: list[_Found] = []
        self._left_out = 0
        self._values = 0
        self._running = False
        self._position: SourcePosition | None = None
        self._ranks: Ints = np.zeros(0, np.int64)  # by block of the launch: index in `_blocks`, or -1
        self._numbers: Ints = np.zeros(0, np.int64)  # by lane of the batch: recorded thread, or -1
        self._alive: set[int] = set()
        self._unsettled: list[tuple[_Raw, Ints]] = []
        self._windows: dict[int, NDArray[np.uint8]] = {}
        self._local: NDArray[np.uint8] = np.zeros(0, np.uint8)
        self._read: frozenset[str] = frozenset()
        self._bases: dict[_Key, int] = {}
        self._sizes: dict[_Key, int] = {}
        self._pointers: dict[_Key, dict[int, int]] = {}  # address by the parameter that holds it
        self._contents: dict[_Key, Bytes] = {}  # of small buffers, when they are first seen
        self._widths: dict[_Key, int] = {}

    @property
    def began(self) -> bool:
        """Whether the launch has begun."""
        return self._context is not None

    @property
    def context(self) -> LaunchContext:
        """The launch. Raises RuntimeError before it began."""
        if self._context is None:
            raise RuntimeError("no launch has begun")
        return self._context

    # -- events --------------------------------------------------------------------------------------

    def launch_begin(self, context: LaunchContext) -> None:
        self._context = context
        backend = backend_of(context.module)
        self._read, self._rules = backend.registers_read(context), backend.counting
        self._ranks = np.full(context.blocks, -1)
        self._ranks[list(self._blocks)] = np.arange(len(self._blocks))

    def shared_memory(self, first_block: int, windows: NDArray[np.uint8]) -> None:
        for rank, block in enumerate(self._blocks):
            if first_block <= block < first_block + len(windows):
                self._windows[rank] = windows[block - first_block]

    def batch_begin(self, first_block: int, blocks: int) -> None:
        ranks = self._ranks[first_block : first_block + blocks]
        self._running = bool((ranks >= 0).any())
        if not self._running:
            return
        lane = np.arange(self.context.lanes_per_block)
        count = self.context.threads_per_block
        numbers = ranks[:, None] * count + lane
        numbers[(ranks < 0)[:, None] | (lane >= count)] = -1
        self._numbers = numbers.reshape(-1)
        self._alive.update(self._own_lanes(None))
        parameters = self.context.launch.parameters
        for number, parameter in enumerate(self.context.launch.function.parameters):
            for offset in range(parameter.offset, parameter.offset + parameter.size - 7, 8):
                address = int.from_bytes(parameters[offset : offset + 8], "little")
                allocation = self.context.memory.containing(address)
                if allocation is not None and allocation.live and not allocation.internal:
                    self._pointers.setdefault(self._global(allocation), {})[number] = address

    def issue(self, instructions: Sequence[Instruction], lanes: Lanes, executing: int | None) -> None:
        if not self._running:
            return
        own = self._own_lanes(lanes)
        if not own:
            return
        self._advance()
        for instruction in instructions:
            if instruction.opcode == "cvta" or "param" in {
                each.partition(":")[0] for each in instruction.modifiers
            }:
                continue  # the compiler's own: no line of the program asks for it
            position = self._at(instruction)
            last = self._pending[-1] if self._pending else None
            if last is not None and last.position.line == position.line:
                last.codes.add(id(instruction))
            else:
                self._pending.append(_Moment("line", position, own, {id(instruction)}))
        self._look()

    def access(self, access: Access) -> None:
        self._settle()
        if self._running and "const" not in access.instruction.modifiers:
            chosen = self._ranks[access.threads // self.context.threads_per_block] >= 0
            parts = [(0, chosen)]
            if access.blocks is not None:
                parts = [(rank, chosen & (access.blocks == block)) for rank, block in enumerate(self._blocks)]
            lanes = [(rank, np.flatnonzero(part)) for rank, part in parts if part.any()]
            if lanes:
                self._record(access, lanes)
        self._look()

    def barrier_reached(self, threads: Ints, barrier: int, instruction: Instruction) -> None:
        self._meet(threads, instruction, "arrive")

    def block_barrier(self, blocks: Ints, instruction: Instruction) -> None:
        self._settle()
        self._pass(blocks, instruction)

    def _pass(self, blocks: Ints, instruction: Instruction) -> None:
        """All threads of these blocks passed a barrier."""
        count = self.context.threads_per_block
        ranks = set(self._ranks[blocks].tolist())
        own = sorted(thread for thread in self._alive if thread // count in ranks)
        if self._running and own:
            self._passed(own, instruction)
        self._look()

    def cluster_arrive(self, threads: Ints, instruction: Instruction) -> None:
        self._meet(threads, instruction, "signal")

    def cluster_wait(self, threads: Ints, instruction: Instruction) -> None:
        self._meet(threads, instruction, "arrive")

    def cluster_barrier(self, clusters: Ints, instruction: Instruction) -> None:
        self._settle()
        self._pass(blocks_of(self.context.launch, clusters).reshape(-1), instruction)

    def mbarrier(self, operation: MBarrierOperation) -> None:
        if operation.action in _WAITS:
            self._meet(operation.threads, operation.instruction, _WAITS[operation.action])

    def _meet(self, threads: Ints, instruction: Instruction | None, kind: str) -> None:
        """These threads wait, or tell others that they are here."""
        self._settle()
        own = self._own_threads(threads)
        if own:
            self._moment(instruction, own, kind)
        self._look()

    def named_barrier(self, passed: PartialBarrier) -> None:
        self._settle()
        own = self._own_threads(passed.threads)
        if own:
            self._passed(own, passed.instruction)
        self._look()

    def warp_sync(self, threads: Ints, masks: NDArray[np.uint32], instruction: Instruction) -> None:
        self._meet(threads, instruction, "sync")

    def exchange(
        self, threads: Ints, sources: Ints, values: NDArray[np.uint32], instruction: Instruction
    ) -> None:
        numbers = self._numbers_of(threads)
        own = np.flatnonzero(numbers >= 0)
        if not self._running or not len(own):
            return
        taking = numbers[own].tolist()
        last = self._moments[-1] if self._moments else None
        if last is None or last.kind != "sync" or last.exchange or last.threads != sorted(taking):
            self._moment(instruction, sorted(taking), "sync")
            last = self._moments[-1]
        if not self._full:
            raw = np.ascontiguousarray(values[own]).view(np.uint8).reshape(len(own), -1)
            last.exchange = (taking, self._numbers_of(sources[own]).tolist(), raw)
            self._values += len(own)

    def threads_exit(self, threads: Ints, instruction: Instruction | None) -> None:
        self._meet(threads, instruction, "exit")
        self._alive.difference_update(self._own_threads(threads))

    def stuck(self, waiters: Sequence[Waiter]) -> None:
        self._advance()
        for waiter in waiters:
            own = self._own_threads(waiter.threads)
            if own:
                self._add(_Moment("stuck", self._at(waiter.instruction), own))
        self._look()

    def batch_end(self, first_block: int, blocks: int) -> None:
        self._finish()

    def launch_end(self, context: LaunchContext) -> None:
        self._finish()

    def _finish(self) -> None:
        self._settle()
        self._advance()
        self._look()
        self._running = False
        self._alive.clear()

    # -- steps ---------------------------------------------------------------------------------------

    def _own_lanes(self, lanes: Lanes) -> list[int]:
        inside = self._numbers if lanes is None else self._numbers[numbers_of(lanes)]
        own: list[int] = inside[inside >= 0].tolist()
        return own

    def _numbers_of(self, threads: Ints) -> Ints:
        """The recorded numbers of threads of the launch; -1 for those of other blocks."""
        count = self.context.threads_per_block
        ranks = self._ranks[threads // count]
        return np.asarray(np.where(ranks < 0, -1, ranks * count + threads % count))

    def _at(self, instruction: Instruction | None) -> SourcePosition:
        """Where an instruction is; inside a library whose source is not here, the last position before it."""
        position = source_position(instruction)
        if position.line <= 0:
            return position
        if lines_of(position.file):
            self._position = position
        return self._position or replace(position, line=0)

    def _own_threads(self, threads: Ints) -> list[int]:
        if not self._running:
            return []
        numbers = self._numbers_of(threads)
        return sorted(numbers[numbers >= 0].tolist())

    @property
    def _full(self) -> bool:
        return len(self._moments) >= MOST_STEPS or self._values >= MOST_VALUES

    def _add(self, moment: _Moment) -> bool:
        """Add a step, unless the one before shows it already; whether it is recorded now."""
        moment.used = True
        last = self._moments[-1] if self._moments else None
        if moment.kind == "line" and not moment.moves:
            here = last is not None and last.position.line == moment.position.line
            if moment.position.line <= 0 or (
                here and last is not None and last.kind != "exit" and set(moment.threads) <= set(last.threads)
            ):
                return False
        if self._full:
            self._left_out += 1
            return False
        self._moments.append(moment)
        return True

    def _advance(self, instruction: Instruction | None = None) -> _Moment | None:
        """Add the lines before an instruction (None: all), and return its own line if it was announced."""
        while self._pending:
            first = self._pending[0]
            if instruction is not None and id(instruction) in first.codes:
                return first
            self._pending.pop(0)
            if not first.used:
                self._add(first)
        return None

    def _moment(self, instruction: Instruction | None, threads: list[int], kind: str) -> None:
        """Add the step of an instruction at which threads wait or end."""
        moment = self._advance(instruction)
        if moment is None or moment.used:
            moment = _Moment(kind, self._at(instruction), threads)
        moment.kind, moment.threads = kind, threads
        self._add(moment)

    def _passed(self, threads: list[int], instruction: Instruction) -> None:
        """The threads passed a barrier; if all of them have just reached it, that is one step."""
        last = self._moments[-1] if self._moments else None
        if last and last.kind == "arrive" and last.threads == threads:
            last.kind = "barrier"
        else:
            self._add(_Moment("barrier", self._at(instruction), threads))

    # -- memory --------------------------------------------------------------------------------------

    def _global(self, allocation: Allocation) -> _Key:
        """The key of an allocation; records what a small one contains when it is first seen."""
        key = (Space.GLOBAL, allocation.base, 0)
        if key not in self._bases:
            self._bases[key] = allocation.base
            self._sizes[key] = allocation.size
            if allocation.size <= _WHOLE:
                self._contents[key] = self.context.memory.view(allocation.base, allocation.size).copy()
        return key

    def _buffer_of(self, access: Access, address: int, rank: int) -> _Key | None:
        """The buffer that an access is meant for; None if it is not shown (parameters, `printf`)."""
        if access.space is Space.GLOBAL:
            memory = self.context.memory
            allocation = memory.containing(address)
            if allocation is None:  # out of bounds: the buffer before it
                below = [one for one in memory if one.base <= address and not one.internal]
                allocation = below[-1] if below else None
            if allocation is None or (allocation.internal and not allocation.label):
                return None
            return None if allocation.label.startswith("parameters of") else self._global(allocation)
        if access.space is Space.LOCAL:
            key = (Space.LOCAL, 0, 0)
            self._bases[key] = 0
            self._sizes[key] = len(self._blocks) * self.context.threads_per_block * self.context.local_bytes
            if not len(self._local):
                pattern = np.frombuffer(POISON_BYTES, np.uint8)
                self._local = np.resize(pattern, self._sizes[key])
            return key
        array = self.context.arrays_meant().get(access.instruction.code_line)
        number, offset = (array.number, array.offset) if array else (0, 0)
        key = (Space.SHARED, number, rank)
        if key not in self._bases:
            size = array.size if array else None
            self._bases[key] = offset
            self._sizes[key] = self.context.shared_bytes - offset if size is None else size
            self._contents[key] = np.zeros(0, np.uint8)
        return key

    def _memory(self, key: _Key) -> Bytes:
        """All bytes of the space that a buffer is in."""
        if key[0] is Space.GLOBAL:
            return self.context.memory.bytes
        return self._local if key[0] is Space.LOCAL else self._windows[key[2]]

    def _record(self, access: Access, parts: Sequence[tuple[int, NDArray[np.intp]]]) -> None:
        """Record an access; `parts` are the blocks whose shared memory is accessed, and their lanes."""
        moment = self._advance(access.instruction)
        if moment is None or moment.used:
            every = np.concatenate([lanes for _, lanes in parts])
            threads = moment.threads if moment else self._numbers_of(access.threads[every]).tolist()
            moment = _Moment("line", self._at(access.instruction), threads)
        moves = [each for rank, lanes in parts if (each := self._raw(access, lanes, rank))]
        moment.moves += [move for move, _ in moves]
        if not moves or not self._add(moment):
            return
        for move, where in moves:
            self._widths[move.key] = min(self._widths.get(move.key, 8), access.element_bytes)
            self._values += move.raw.size // max(1, access.element_bytes)
            if access.kind is AccessKind.LOAD:
                continue
            self._unsettled.append((move, where))
            if move.key[0] is Space.LOCAL:  # of which the engine shows no memory
                self._local[where[~move.refused]] = move.raw[~move.refused]

    def _raw(self, access: Access, lanes: NDArray[np.intp], rank: int) -> tuple[_Raw, Ints] | None:
        """What some lanes do, and where in the memory of their space, (n, bytes); None if it is not shown."""
        numbers = self._numbers_of(access.threads[lanes])
        addresses = access.addresses[lanes]
        if access.space is Space.LOCAL:
            addresses = addresses + numbers * self.context.local_bytes
        refused = np.zeros(len(lanes), np.bool_) if access.suppressed is None else access.suppressed[lanes]
        inside = np.flatnonzero(~refused)
        representative = int(addresses[inside[0]]) if len(inside) else int(addresses[0])
        key = self._buffer_of(access, representative, rank)
        if key is None:
            return None
        base = self._bases[key]
        origin = self.context.memory.base if key[0] is Space.GLOBAL else 0
        memory = self._memory(key)
        where = np.where(refused, 0, addresses - origin)[:, None] + np.arange(access.bytes)
        where[refused] = 0
        action = access.kind.name.lower()
        if access.kind is AccessKind.LOAD or access.values is None:
            raw = memory[where]
        else:
            bits = np.atleast_2d(access.values)
            wanted = np.broadcast_to(bits, (len(bits), len(access.threads)))[:, lanes].T
            raw = np.ascontiguousarray(wanted).view(np.uint8).reshape(len(lanes), -1)[:, : access.bytes]
        move = _Raw(key, action, numbers.tolist(), addresses - base, access.bytes, raw, refused)
        if key[0] is not Space.LOCAL:
            move.cost = self._cost(access, lanes[inside])
        if key not in self._contents:
            move.before = memory[where]
        return move, where

    def _cost(self, access: Access, lanes: NDArray[np.intp]) -> tuple[int, int]:
        if not len(lanes) or access.transfer is not None:
            return 0, 0
        own = lanes_of(access, lanes)
        rows = warp_rows(own, self.context.threads_per_block, self._rules.lanes)
        if rows is None:
            return 0, 0
        service = service_of(own) if own.space is Space.SHARED else None
        route = route_of(own, self._read, self._rules)
        traffic, _ = measure(rows.addresses, own.bytes, route, service, self._rules)
        if service is not None:
            return traffic.wavefronts, traffic.wavefronts - traffic.conflicts
        return traffic.sectors, -(-traffic.used_bytes // self._rules.line_bytes)

    def _settle(self) -> None:
        """Read what the stores since the last event have left in memory."""
        for move, where in self._unsettled:
            move.after = self._memory(move.key)[where]
        self._unsettled.clear()

    def _look(self) -> None:
        """Assign new findings to the last step."""
        for check, seen in self._seen.items():
            count = len(check.findings)
            if count > seen:
                step = max(0, len(self._moments) - 1)
                self._found += (_Found(check, number, step) for number in range(seen, count))
                self._seen[check] = count

    # -- the trace -----------------------------------------------------------------------------------

    def trace(self, launch: int, language: str, fault: str = "") -> Trace:
        """What was recorded, right after the launch: memory is read once more.

        Args:
            launch: its number in the program.
            language: of the findings' messages.
            fault: why the kernel was stopped.
        """
        context = self.context
        files = tuple(dict.fromkeys(one.position.file for one in self._moments if one.position.line > 0))
        keys = sorted(
            dict.fromkeys(move.key for one in self._moments for move in one.moves),
            key=lambda key: key[0] is not Space.SHARED,
        )
        layout = [_Layout(key, self._format(key), self._origin(key)) for key in keys]
        buffers = self._buffers(
            layout, readable_kernel(context.launch.function.name, context.module.files.values()), files
        )
        steps = self._steps(layout, buffers, files)
        positions = [tuple(context.launch.grid.position(block)) for block in self._blocks]
        own = [each for each in self._found if any(one.block in positions for one in each.finding.parties)]
        return Trace(
            VERSION,
            readable_kernel(context.launch.function.name, context.module.files.values()),
            launch,
            launch,
            tuple(context.launch.grid),
            tuple(context.launch.block),
            tuple(positions),
            context.warp_size,
            tuple(self._source(file) for file in files),
            tuple(buffers),
            tuple(steps),
            tuple(self._mark(each, layout, steps, positions, language) for each in own),
            self._left_out,
            len(self._found) - len(own),
            fault,
        )

    def _moves(self, key: _Key) -> list[_Raw]:
        return [move for moment in self._moments for move in moment.moves if move.key == key]

    @property
    def _modifiers(self) -> frozenset[str]:
        """Those of all instructions of the module."""
        function = self.context.launch.function
        functions = (function, *self.context.module.functions.values())
        return frozenset(
            word
            for one in functions
            for statement in one.body
            if isinstance(statement, Instruction)
            for word in statement.modifiers
        )

    def _format(self, key: _Key) -> str:
        contents = [move.raw[~move.refused] for move in self._moves(key)]
        if key[0] is Space.GLOBAL and key in self._contents and not len(self._contents[key]) % 8:
            contents.append(self._contents[key])
        return format_of(contents, self._widths[key], self._modifiers)

    def _origin(self, key: _Key) -> int:
        """Bytes from the start of the allocation to the only address in it that is an argument, else 0."""
        addresses = set(self._pointers.get(key, {}).values())
        return addresses.pop() - self._bases[key] if len(addresses) == 1 else 0

    def _buffers(self, layout: Sequence[_Layout], kernel: str, files: Sequence[str]) -> list[Buffer]:
        function = self.context.launch.function
        parameters = next(
            filter(None, (parameter_names(file, kernel, len(function.parameters)) for file in files)), ()
        )
        found = []
        for each in layout:
            size = size_of(each.format)
            cells = max(1, (self._sizes[each.key] - each.origin) // size)
            columns = self._columns(each)
            initial: dict[int, Value] = {}
            if each.key[0] is Space.GLOBAL:
                initial = self._initial(each, size)
            name = self._name(each.key, parameters)
            if each.key[0] is Space.LOCAL:
                initial = self._initial(each, size)
                columns = self.context.local_bytes // size
            rank = each.key[2] if each.key[0] is Space.SHARED and len(self._blocks) > 1 else -1
            space = each.key[0].name.lower()
            found.append(Buffer(name, space, each.format, cells, columns, grouped(initial), rank))
        return found

    def _columns(self, layout: _Layout) -> int:
        """The distance of the cells of two threads that are neighbours in y; 0 if it varies."""
        across = self.context.launch.block.x
        if self.context.launch.block.y == 1:
            return 0
        found: set[int] = set()
        for move in self._moves(layout.key):
            cells = dict(zip(move.threads, layout.cells(move)[:, 0].tolist(), strict=True))
            found |= {cells[each + across] - cells[each] for each in cells if each + across in cells}
        found.discard(0)
        return found.pop() if len(found) == 1 and min(found) > 1 else 0

    def _initial(self, layout: _Layout, size: int) -> dict[int, Value]:
        content = self._contents.get(layout.key)
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

    def _name(self, key: _Key, parameters: Sequence[str]) -> str:
        if key[0] is Space.GLOBAL:
            numbers = self._pointers.get(key, {})
            named = [parameters[n] if parameters else f"argument {n + 1}" for n in numbers]
            allocation = self.context.memory.containing(self._bases[key])
            return " / ".join(named) or (allocation.label if allocation else "") or "global memory"
        if key[0] is Space.LOCAL:
            return "local memory"
        lines = {
            lines_of(moment.position.file)[moment.position.line - 1]
            for moment in self._moments
            if any(move.key == key for move in moment.moves)
            and 0 < moment.position.line <= len(lines_of(moment.position.file))
        }
        return array_name(lines, parameters) or (f"shared {key[1]}" if key[1] > 1 else "shared memory")

    def _steps(
        self, layout: Sequence[_Layout], buffers: Sequence[Buffer], files: Sequence[str]
    ) -> list[Step]:
        state = [initial_cells(buffer) for buffer in buffers]
        numbers = {each.key: number for number, each in enumerate(layout)}
        received = [moment.exchange[2] for moment in self._moments if moment.exchange]
        form = format_of(received, 4, self._modifiers) if received else ""
        steps = []
        for moment in self._moments:
            moves = []
            for raw in moment.moves:
                number = numbers[raw.key]
                moves.append(_move(raw, number, layout[number], state[number]))
            known = moment.position.line > 0
            file = files.index(moment.position.file) if known else -1
            line = moment.position.line if known else 0
            exchange = _exchange(moment.exchange, form) if moment.exchange else None
            steps.append(Step(moment.kind, file, line, ranges(moment.threads), tuple(moves), exchange))
        steps.append(Step("end", -1, 0, "", tuple(self._changes(layout, state))))
        return steps

    def _changes(self, layout: Sequence[_Layout], state: Sequence[dict[int, Value]]) -> list[Move]:
        """What global memory holds after the launch, where this block has not stored it."""
        moves = []
        for number, (each, cells) in enumerate(zip(layout, state, strict=True)):
            if each.key[0] is not Space.GLOBAL or not cells:
                continue
            size = size_of(each.format)
            order = np.array(list(cells), np.int64)
            start = self._bases[each.key] + each.origin - self.context.memory.base
            where = (start + order * size)[:, None] + np.arange(size)
            now = values_of(self.context.memory.bytes[where], each.format)
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

    def _mark(
        self,
        found: _Found,
        layout: Sequence[_Layout],
        steps: Sequence[Step],
        positions: Sequence[tuple[int, ...]],
        language: str,
    ) -> Mark:
        finding = found.finding
        message = explain(finding, language)
        block = self.context.launch.block
        parties: list[Party] = []
        buffer = cell = -1
        for number, party in enumerate(finding.parties):
            if party.block not in positions:
                continue
            x, y, z = party.thread
            first = positions.index(party.block) * self.context.threads_per_block
            thread = first + x + block.x * (y + block.y * z)
            step = found.step
            if number:
                step = self._step_of(thread, party.position.line, found.step)
            elif self._moments:
                for raw in self._moments[step].moves:
                    if thread in raw.threads:
                        buffer = next(i for i, each in enumerate(layout) if each.key == raw.key)
                        cell = int(layout[buffer].cells(raw)[raw.threads.index(thread), 0])
            parties.append(Party(thread, step))
        return Mark(
            found.step,
            finding.severity is Severity.ERROR,
            message.what,
            message.where,
            message.why,
            message.hint,
            tuple(parties),
            buffer,
            cell,
        )

    def _step_of(self, thread: int, line: int, last: int) -> int:
        """The latest step in which a thread executed a line; -1 if there is none."""
        for number in range(last, -1, -1):
            moment = self._moments[number]
            if moment.position.line == line and thread in moment.threads:
                return number
        return -1


class _Layout(Struct, frozen=True):
    """How the bytes of a buffer are cells: their format, and the byte at which cell 0 begins."""

    key: _Key
    format: str
    origin: int

    def cells(self, move: _Raw) -> Ints:
        """(n, width) the cells that each thread accesses."""
        size = size_of(self.format)
        first = (move.offsets - self.origin) // size
        return np.asarray(first[:, None] + np.arange(max(1, move.size // size)))


def _exchange(raw: tuple[list[int], list[int], Bytes], form: str) -> Exchange:
    threads, sources, values = raw
    return Exchange(ranges(threads), packed(sources), tuple(values_of(values, form)))


def _move(raw: _Raw, number: int, layout: _Layout, state: dict[int, Value]) -> Move:
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


class ReplayEngine(Engine):
    """Runs launches, and records some blocks of one of them.

    Args:
        launch: its number, from 1; blocks: the positions of the blocks. Of a single one, its whole cluster is
            recorded; of many, the first MOST_BLOCKS.
        languages: of the findings' messages.

    Attributes:
        traces: by language; empty until the launch was made, and where it has no such block.
        grid: of the launch; None until it was made.
    """

    def __init__(self, launch: int, blocks: Sequence[Dim3], languages: Sequence[str]) -> None:
        super().__init__("lockstep", None)
        self.traces: dict[str, Trace] = {}
        self.grid: Dim3 | None = None
        self._blocks = blocks
        self._languages = languages
        self._launch = launch
        self._launches = 0

    def run(self, job: Job) -> LaunchResult:
        """See `Executor.run`."""
        self._launches += 1
        if self._launches != self._launch:
            return super().run(job)
        grid = self.grid = job.launch.grid
        if any(at >= extent for block in self._blocks for at, extent in zip(block, grid, strict=True)):
            return super().run(job)
        numbers = [block.x + grid.x * (block.y + grid.y * block.z) for block in self._blocks]
        if len(numbers) == 1:
            numbers = blocks_of(job.launch, clusters_of(job.launch, np.array(numbers)))[0].tolist()
        recorder = Recorder(
            numbers[:MOST_BLOCKS], [hook for hook in job.hooks if isinstance(hook, CheckHook)]
        )
        result = super().run(job.watched_by(recorder))
        if recorder.began:
            for language in self._languages:
                fault = result.error.reason.render(language) if result.error else ""
                self.traces[language] = recorder.trace(self._launch, language, fault)
        return result
