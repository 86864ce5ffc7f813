"""A kernel decoded for execution: basic blocks of bound steps, register slots, memory layout; and the
interface between its steps and the batch of blocks that executes them.

Decoding does not depend on a launch or on device memory, so that programs are cached by the module's digest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from tooling.simulator.gpu.address_spaces import Spaces
from tooling.simulator.gpu.code_model import Instruction
from tooling.simulator.gpu.hooks import LaunchContext
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.gpu.listeners import Listeners
from tooling.simulator.gpu.shared_arrays import SharedArray
from tooling.simulator.program.barrier_contract import BlockSync, ClusterSync
from tooling.simulator.program.first_answers import FirstAnswers
from tooling.simulator.program.followed_values import FollowedValues
from tooling.simulator.program.frames import Frames
from tooling.simulator.program.liveness import liveness
from tooling.simulator.program.products import Products
from tooling.simulator.program.transfers import Transfers
from tooling.simulator.program.value_flow import (
    Flow,
    Role,
    loads_without_sure_use,
    products_without_fence,
)
from tooling.simulator.program.warp_lanes import Warps

Array = NDArray[Any]
Step: TypeAlias = "Callable[[Group, Batch], None]"
"""Executes one instruction for a group of the running batch."""

End: TypeAlias = "Callable[[Group, Batch], bool]"
"""Ends a basic block: sets the group's next program point, and returns whether the group continues."""

Compute: TypeAlias = "Callable[[Group, Batch, list[Array]], Sequence[Array]]"
"""The results of an operation for the lanes of a group, from the values of its operands."""


def go_to(target: int, number: int) -> End:
    """An unconditional jump from block `number`."""
    backwards = target <= number

    def end(group: Group, _batch: Batch) -> bool:
        group.pc = target
        if backwards:
            group.back_edges += 1
        return True

    return end


class BasicBlock(Struct):
    """A basic block: instructions without a jump into or out of their middle.

    Attributes:
        number: its index in the program; blocks are numbered in the order of the text.
        steps: bound instructions; `end` executes the last one if that is a jump or a wait.
        uses, defines: slots read before written, and slots always written (for liveness).
        last_steps: per slot that is read, the last step that reads it; -1 for `end`.
        successors: numbers of the blocks that may follow inside the function.
        gathers: lanes of a warp wait for each other here, and may execute it again until all have arrived.
        flows: what each instruction does with the values of registers; empty if the back end does not say.
        first_steps: per instruction, the number of steps before its own.
        unsure: the loads, by code position, of which some lanes may not use the value.
        starts_values: values that must be followed may begin in this block.
        unfenced: the asynchronous products, by code position, with a register computed since the last fence.
        may_wait: it loads what other blocks may change while it waits for them (an atomic operation whose
            result is used, a volatile or an atomic load).
    """

    number: int
    function: str
    instructions: list[Instruction] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    end: End | None = None
    uses: set[int] = field(default_factory=set)
    defines: set[int] = field(default_factory=set)
    successors: list[int] = field(default_factory=list)
    gathers: bool = False
    last_steps: dict[int, int] = field(default_factory=dict)
    flows: list[Flow] = field(default_factory=list)
    first_steps: list[int] = field(default_factory=list)
    unsure: frozenset[tuple[int, int]] = frozenset()
    starts_values: bool = False
    unfenced: frozenset[tuple[int, int]] = frozenset()
    may_wait: bool = False
    _asked: list[int] = field(default_factory=list)

    def reads(self, slot: int) -> None:
        """Note that the block reads a slot."""
        self._asked.append(slot)
        if slot not in self.defines:
            self.uses.add(slot)

    def bound(self, steps_before: int) -> None:
        """An instruction has been bound: its last step, or the end if it has none, reads its slots."""
        last = len(self.steps) - 1
        for slot in self._asked:
            self.last_steps[slot] = last if last >= steps_before else -1
        self._asked.clear()


class Origin(Struct, frozen=True):
    """The source of a slot's value if no instruction writes it.

    Attributes:
        kind: `constant`, `special`, `symbol`, `parameter`, `register` (what the hardware left there), or
            `undefined` (whose use is reported).
        name: special register or symbol.
        value: constant bits, or byte offset.
    """

    kind: str
    dtype: np.dtype[Any]
    name: str = ""
    value: int = 0


class Landing(Struct, frozen=True):
    """The return to a block that follows a call.

    Attributes:
        call: that instruction.
        results: copies (from, to, bytes) in local memory.
        frames: whether the caller and the function called have their local memory in a frame.
    """

    call: Instruction
    results: list[tuple[int, int, int]]
    frames: tuple[bool, bool] = (False, False)


class Program(Struct):
    """A decoded kernel with every function that it calls.

    Attributes:
        origins: per slot, what it holds before it is written.
        entries: first block of each function.
        shared_bytes: static shared memory of a block; dynamic memory follows.
        local_bytes: local memory of a thread, call parameters included.
        landings: per block that follows a call, its return.
        frame_bytes: local memory of one call of a function that may call itself; 0 without such functions.
        frame_start: offset of the first frame; frame_slot: the register with a frame's distance from it.
        framed_slots: registers of such functions.
        find_arrays: computes `arrays_meant`, when it is first needed.
        live_in: per block, the slots that may be read before they are written, see `find_live_slots`.
        order: per block, its rank in an order in which divergent paths reconverge as early as possible.
    """

    name: str
    blocks: list[BasicBlock]
    origins: list[Origin]
    entries: dict[str, int]
    shared_bytes: int
    local_bytes: int
    landings: dict[int, Landing]
    frame_bytes: int = 0
    frame_start: int = 0
    frame_slot: int = -1
    framed_slots: frozenset[int] = frozenset()
    find_arrays: Callable[[], dict[tuple[int, int], SharedArray]] = dict
    live_in: list[tuple[int, ...]] = field(default_factory=list)
    order: list[int] = field(default_factory=list)
    _arrays_meant: dict[tuple[int, int], SharedArray] | None = None

    @property
    def arrays_meant(self) -> dict[tuple[int, int], SharedArray]:
        """By `Instruction.code_position`, the shared array that an access must stay in, if known."""
        if self._arrays_meant is None:
            self._arrays_meant = self.find_arrays()
        return self._arrays_meant

    @property
    def may_wait(self) -> bool:
        """Whether threads may wait for threads of other blocks."""
        return any(block.may_wait for block in self.blocks)

    def live(self, block: int, stack: tuple[int, ...]) -> set[int]:
        """Slots that are live before `block` inside the calls of `stack`."""
        slots = set(self.live_in[block])
        for number in stack:
            slots.update(self.live_in[number])
        return slots

    def callers(self, stack: Sequence[int]) -> tuple[Instruction, ...]:
        """The calls that lanes with these return points are in, innermost first."""
        return tuple(self.landings[block].call for block in reversed(stack) if block in self.landings)

    def kept(self, landing: int) -> list[int]:
        """Registers to save across a call that returns to `landing`, since the callee may use them."""
        return sorted(self.live(landing, ()) & self.framed_slots)


class WarpOperation(Struct, frozen=True):
    """A `.sync` instruction whose lanes may be at other instructions of the same form (PTX ISA 9.7.13).

    Attributes:
        instruction: the instruction; following: the block at which its lanes continue.
        sources: the slots of its operands, in the same order at every instruction of the form.
        targets: the slots of its results; None for one that is not wanted.
        compute: the results from the operands of the lanes of a group: a value of each lane, or a single one.
        negated: the first operand is a negated predicate.
    """

    instruction: Instruction
    following: int
    sources: tuple[int, ...]
    targets: tuple[int | None, ...]
    compute: Compute
    negated: bool = False

    def perform(self, group: Group, batch: Batch) -> None:
        """Perform it for the lanes of a group, all at this instruction."""
        self.finish(group, self.compute(group, batch, self.operands(group)))

    def operands(self, group: Group) -> list[Array]:
        """The values of its operands: one for each lane of the group, or a single one."""
        values = [group.get(slot) for slot in self.sources]
        if self.negated:
            values[0] = ~values[0]
        return values

    def finish(self, group: Group, results: Sequence[Array]) -> None:
        """Set the results of a group's lanes, which then continue."""
        for slot, value in zip(self.targets, results, strict=True):
            if slot is not None:
                group.registers[slot] = value
        group.pc = self.following


class Batch(Protocol):
    """The interface of a batch of blocks to instructions (`batch.RunningBatch`).

    Attributes:
        program, context, hooks: of the launch.
        parameters: the launch's, as bytes; symbols: device addresses by name; stdout: receives its output.
        first_block, blocks: which blocks; size: the number of lanes.
        alive: per block, threads that have not exited; alive_count: all of them.
        sync_count: increases whenever threads may synchronise.
        spaces, barriers, transfers, first_answers, frames: what instructions use.
        products: the groups of asynchronous matrix products.
        followed: values that are followed through registers; None if no hook wants that.
    """

    program: Program
    context: LaunchContext
    hooks: Listeners
    parameters: NDArray[np.uint8]
    symbols: dict[str, int]
    stdout: Callable[[bytes], None]
    first_block: int
    blocks: int
    size: int
    alive: NDArray[np.int64]
    alive_count: int
    sync_count: int
    spaces: Spaces
    transfers: Transfers
    first_answers: FirstAnswers
    frames: Frames
    followed: FollowedValues | None
    products: Products

    @property
    def barriers(self) -> BlockSync:
        """The barriers of its blocks."""
        ...

    @property
    def cluster_barriers(self) -> ClusterSync:
        """The barriers of its clusters."""
        ...

    @property
    def warps(self) -> Warps:
        """Its warps."""
        ...

    @property
    def block_position(self) -> NDArray[np.int64]:
        """(3, blocks): the position of each block in the grid, x, y, z."""
        ...

    @property
    def issued(self) -> int:
        """Instructions issued so far: the value of `%clock`."""
        ...

    def resume(self, group: Group) -> None:
        """Add a group to those that can run."""
        ...

    def divide(self, group: Group, lanes: Array, first_pc: int, second_pc: int) -> tuple[Group, Group]:
        """Split a group: lanes for which `lanes` is true, at `first_pc`, and the others, at `second_pc`."""
        ...

    def split(self, group: Group, lanes: Array, target: int, following: int, backwards: bool) -> None:
        """A divergent branch."""
        ...

    def scatter(self, group: Group, chosen: Array, targets: list[int]) -> None:
        """A jump table: each lane jumps to the target of its index."""
        ...

    def split_return(self, group: Group, lanes: Array, following: int, instruction: Instruction) -> None:
        """A predicated return or exit that some lanes take."""
        ...

    def leave(self, group: Group) -> None:
        """Return from a call."""
        ...

    def finish(self, group: Group, instruction: Instruction | None) -> None:
        """Lanes exit, by `ret` or `exit`, or at the end of the text (None)."""
        ...

    def gather_warps(
        self, group: Group, mask: int, instruction: Instruction, operation: WarpOperation | None = None
    ) -> Group | None:
        """The lanes of `group` whose whole mask is at this `.sync` instruction; the others are parked.

        Args:
            mask: the slot of each lane's mask.
            operation: what lanes of a mask that are at several instructions of its form perform together;
                None if all of them must be at this one.

        Returns:
            the lanes that may continue (the group itself if it is all of them), or None.
        """
        ...


def find_live_slots(program: Program) -> None:
    """A pass: the slots that are live at the start of each block."""
    blocks = program.blocks
    program.live_in = liveness(
        [block.uses for block in blocks],
        [block.defines for block in blocks],
        [block.successors for block in blocks],
    )


def find_unsure_loads(program: Program) -> None:
    """A pass: the loads of which some lanes may not use the value, where values to follow begin, and the
    asynchronous products that lack a fence.

    A call goes on at the block after it: what the function does with the caller's registers does not count.
    """
    entries = set(program.entries.values())
    ways = []
    for block in program.blocks:
        calls = bool(block.instructions) and block.instructions[-1].opcode == "call"
        inside = [number for number in block.successors if number not in entries]
        ways.append(inside if calls and inside else block.successors)
    unsure = loads_without_sure_use([block.flows for block in program.blocks], ways)
    for block, loads in zip(program.blocks, unsure, strict=True):
        block.unsure = frozenset(block.instructions[index].code_position for index in loads)
        products = any(flow.role is Role.MULTIPLIES for flow in block.flows)
        block.starts_values = bool(loads) or products
    if any(flow.role is Role.MULTIPLIES for block in program.blocks for flow in block.flows):
        unfenced = products_without_fence([block.flows for block in program.blocks], ways)
        for block, found in zip(program.blocks, unfenced, strict=True):
            block.unfenced = frozenset(block.instructions[index].code_position for index in found)


def order_blocks(program: Program) -> None:
    """A pass, reverse postorder: a block comes after all its predecessors, except by back edges.

    The order of the text is not sufficient: compilers may place the end of a loop's body before its start.
    Of two successors, the first in the text comes first, so that loops come before the code after them.
    """
    blocks, entry = program.blocks, program.entries[program.name]
    position = [-1] * len(blocks)
    after = len(blocks)
    seen = [False] * len(blocks)
    starts = [*range(len(blocks) - 1, -1, -1), entry]
    while starts:
        root = starts.pop(-1)
        if seen[root]:
            continue
        seen[root] = True
        path = [(root, sorted(blocks[root].successors))]
        while path:
            number, ahead = path[-1]
            if not ahead:
                path.pop()
                after -= 1
                position[number] = after
                continue
            following = ahead.pop()
            if not seen[following]:
                seen[following] = True
                path.append((following, sorted(blocks[following].successors)))
    program.order = position
