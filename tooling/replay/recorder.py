"""Records some blocks of one launch: a hook of the simulated GPU."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from tooling.replay.buffers import Buffers
from tooling.replay.names import lines_of
from tooling.replay.recording import Moment, RecordedFinding, RecordedLaunch, Recording
from tooling.simulator.checks.base import CheckHook, lanes_of, source_position
from tooling.simulator.checks.findings import SourcePosition
from tooling.simulator.gpu.clusters import blocks_of
from tooling.simulator.gpu.code_model import Instruction
from tooling.simulator.gpu.hooks import (
    Access,
    Hook,
    Ints,
    LaunchContext,
    MBarrierOperation,
    PartialBarrier,
    Waiter,
)
from tooling.simulator.gpu.lanes import Lanes, numbers_of

MOST_STEPS = 3000
MOST_VALUES = 120_000
"""Values that are loaded and stored, over all steps."""
_PIECE = 16
"""Bytes of an operand of `wgmma` that are adjacent in every layout (PTX ISA 9.7.15.5.1)."""
_WAITS = {"passed": "passed", "arrive": "arrived"}  # of the actions at an mbarrier, those that are shown


class Recorder(Hook):
    """Records some blocks of a launch.

    Args:
        blocks: their numbers in the launch. Their threads are numbered in this order.
        checks: hooks that are called before this one; their findings belong to the step in which they appear.
        number: of the launch in the program.
        together: what is recorded of a launch of the same kernel on another GPU; None: a new recording.
    """

    def __init__(
        self,
        blocks: Sequence[int],
        checks: Sequence[CheckHook],
        number: int = 1,
        together: Recording | None = None,
    ) -> None:
        self._blocks = tuple(blocks)
        self._number = number
        self._recording = together
        self._checks = tuple(checks)
        self._before = {type(check): len(check.findings) for check in checks}
        self._launch: RecordedLaunch | None = None
        self._running = False
        self._position: SourcePosition | None = None
        self._first = 0  # the recorded number of the first block
        self._ranks: Ints = np.zeros(0, np.int64)  # by block of the launch: its recorded number, or -1
        self._numbers: Ints = np.zeros(0, np.int64)  # by lane of the batch: recorded thread, or -1
        self._alive: set[int] = set()

    @property
    def began(self) -> bool:
        """Whether the launch has begun."""
        return self._launch is not None

    @property
    def recording(self) -> Recording:
        """What is recorded. Raises RuntimeError before the launch began."""
        if self._recording is None:
            raise RuntimeError("no launch has begun")
        return self._recording

    @property
    def _context(self) -> LaunchContext:
        if self._launch is None:
            raise RuntimeError("the launch has not begun")
        return self._launch.context

    @property
    def _moments(self) -> list[Moment]:
        return self.recording.moments

    @property
    def _pending(self) -> list[Moment]:
        return self.recording.pending

    # -- events --------------------------------------------------------------------------------------

    def launch_begin(self, context: LaunchContext) -> None:
        self._launch = RecordedLaunch(context, self._blocks, self._number)
        if self._recording is None:
            self._recording = Recording([], Buffers(context))
        recording = self._recording
        self._first = recording.blocks
        recording.launches.append(self._launch)
        recording.buffers.add_blocks(len(self._blocks))
        for check, count in self._before.items():
            recording.seen.setdefault(check, count)
        self._ranks = np.full(context.blocks, -1)
        self._ranks[list(self._blocks)] = self._first + np.arange(len(self._blocks))

    def shared_memory(self, first_block: int, windows: NDArray[np.uint8]) -> None:
        for rank, block in enumerate(self._blocks, self._first):
            if first_block <= block < first_block + len(windows):
                self.recording.buffers.windows[rank] = windows[block - first_block]

    def batch_begin(self, first_block: int, blocks: int) -> None:
        ranks = self._ranks[first_block : first_block + blocks]
        self._running = bool((ranks >= 0).any())
        if not self._running:
            return
        lane = np.arange(self._context.lanes_per_block)
        count = self._context.threads_per_block
        numbers = ranks[:, None] * count + lane
        numbers[(ranks < 0)[:, None] | (lane >= count)] = -1
        self._numbers = numbers.reshape(-1)
        self._alive.update(self._own_lanes(None))
        self.recording.buffers.find_arguments(self._context.launch)

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
                self._pending.append(self._new("line", position, own))
                self._pending[-1].codes.add(id(instruction))
        self._look()

    def access(self, access: Access) -> None:
        self.recording.buffers.settle()
        if self._running and "const" not in access.instruction.modifiers:
            if access.instruction.opcode == "wgmma":
                access = _pieces(access)
            chosen = self._ranks[access.threads // self._context.threads_per_block] >= 0
            by_block = [(self._first, chosen)]
            if access.blocks is not None:
                by_block = [
                    (rank, chosen & (access.blocks == block))
                    for rank, block in enumerate(self._blocks, self._first)
                ]
            lanes = [(rank, np.flatnonzero(mask)) for rank, mask in by_block if mask.any()]
            if lanes:
                self._record(access, lanes)
        self._look()

    def barrier_reached(self, threads: Ints, barrier: int, instruction: Instruction) -> None:
        self._meet(threads, instruction, "arrive")

    def block_barrier(self, blocks: Ints, instruction: Instruction) -> None:
        self.recording.buffers.settle()
        self._pass(blocks, instruction)

    def _pass(self, blocks: Ints, instruction: Instruction) -> None:
        """All threads of these blocks passed a barrier."""
        count = self._context.threads_per_block
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
        self.recording.buffers.settle()
        self._pass(blocks_of(self._context.launch, clusters).reshape(-1), instruction)

    def mbarrier(self, operation: MBarrierOperation) -> None:
        if operation.action in _WAITS:
            self._meet(operation.threads, operation.instruction, _WAITS[operation.action])

    def _meet(self, threads: Ints, instruction: Instruction | None, kind: str) -> None:
        """These threads wait for others, or arrive without waiting."""
        self.recording.buffers.settle()
        own = self._own_threads(threads)
        if own:
            self._moment(instruction, own, kind)
        self._look()

    def named_barrier(self, passed: PartialBarrier) -> None:
        self.recording.buffers.settle()
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
        last = self._last(self._context.launch.device)
        if last is None or last.kind != "sync" or last.exchange or last.threads != sorted(taking):
            self._moment(instruction, sorted(taking), "sync")
            last = self._moments[-1]
        if not self._full:
            raw = np.ascontiguousarray(values[own]).view(np.uint8).reshape(len(own), -1)
            last.exchange = (taking, self._numbers_of(sources[own]).tolist(), raw)
            self.recording.values += len(own)

    def threads_exit(self, threads: Ints, instruction: Instruction | None) -> None:
        self._meet(threads, instruction, "exit")
        self._alive.difference_update(self._own_threads(threads))

    def stuck(self, waiters: Sequence[Waiter]) -> None:
        self._advance()
        for waiter in waiters:
            own = self._own_threads(waiter.threads)
            if own:
                self._add(self._new("stuck", self._at(waiter.instruction), own))
        self._look()

    def batch_end(self, first_block: int, blocks: int) -> None:
        self._finish()

    def launch_end(self, context: LaunchContext) -> None:
        self._finish()

    def _finish(self) -> None:
        self.recording.buffers.settle()
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
        count = self._context.threads_per_block
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
        return len(self._moments) >= MOST_STEPS or self.recording.values >= MOST_VALUES

    def _new(self, kind: str, position: SourcePosition, threads: list[int]) -> Moment:
        return Moment(kind, position, threads, gpu=self._context.launch.device)

    def _last(self, gpu: int) -> Moment | None:
        """The last step of a GPU."""
        return next((moment for moment in reversed(self._moments) if moment.gpu == gpu), None)

    def _add(self, moment: Moment) -> bool:
        """Add a step, unless the one before shows it already; whether it is recorded now."""
        moment.used = True
        last = self._last(moment.gpu)
        if moment.kind == "line" and not moment.moves:
            here = last is not None and last.position.line == moment.position.line
            if moment.position.line <= 0 or (
                here and last is not None and last.kind != "exit" and set(moment.threads) <= set(last.threads)
            ):
                return False
        if self._full:
            self.recording.left_out += 1
            return False
        self._moments.append(moment)
        return True

    def _advance(self, instruction: Instruction | None = None) -> Moment | None:
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
            moment = self._new(kind, self._at(instruction), threads)
        moment.kind, moment.threads = kind, threads
        self._add(moment)

    def _passed(self, threads: list[int], instruction: Instruction) -> None:
        """The threads passed a barrier; if all of them have just reached it, that is one step."""
        last = self._moments[-1] if self._moments else None
        if last and last.kind == "arrive" and last.threads == threads:
            last.kind = "barrier"
        else:
            self._add(self._new("barrier", self._at(instruction), threads))

    # -- memory --------------------------------------------------------------------------------------

    def _record(self, access: Access, by_block: Sequence[tuple[int, NDArray[np.intp]]]) -> None:
        """Record an access; `by_block` are the blocks whose shared memory is accessed, and their lanes."""
        moment = self._advance(access.instruction)
        if moment is None or moment.used:
            every = np.concatenate([lanes for _, lanes in by_block])
            threads = moment.threads if moment else self._numbers_of(access.threads[every]).tolist()
            moment = self._new("line", self._at(access.instruction), threads)
        buffers = self.recording.buffers
        moves = [
            each
            for rank, every in by_block
            for lanes in buffers.by_buffer(access, every)
            if (each := buffers.move(access, lanes, self._numbers_of(access.threads[lanes]), rank))
        ]
        moment.moves += [move for move, _ in moves]
        if self._context.several_devices and access.instruction.is_strong:
            moment.used = moment.used or self.recording.add_waiting(moment)
            if moment.used:
                return
        if not moves or not self._add(moment):
            return
        for move, where in moves:
            buffers.add(move, where, access)
            self.recording.values += move.raw.size // max(1, access.element_bytes)

    def _look(self) -> None:
        """Assign new findings to the last step."""
        seen = self.recording.seen
        for check in self._checks:
            count = len(check.findings)
            if count > seen[type(check)]:
                step = max(0, len(self._moments) - 1)
                self.recording.found += (
                    RecordedFinding(check, number, step) for number in range(seen[type(check)], count)
                )
                seen[type(check)] = count


def _pieces(access: Access) -> Access:
    """The operand of a product by the 16 bytes that its layouts keep together, not by elements."""
    firsts = lanes_of(access, np.flatnonzero(access.addresses % _PIECE == 0))
    firsts.bytes = _PIECE
    return firsts
