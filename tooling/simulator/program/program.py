"""A kernel decoded for execution: basic blocks of bound steps, register slots, layout of its memory; and what
its steps may ask of the batch of blocks that executes them.

Decoding does not depend on a launch or on device memory, so programs are remembered by the module's digest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from tooling.simulator.gpu.address_spaces import Spaces
from tooling.simulator.gpu.code_model import Function, Instruction
from tooling.simulator.gpu.hooks import LaunchContext
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.gpu.listeners import Listeners
from tooling.simulator.gpu.shared_arrays import SharedArray, arrays_meant
from tooling.simulator.program.barrier_contract import BlockSync, ClusterSync
from tooling.simulator.program.first_answers import FirstAnswers
from tooling.simulator.program.frames import Frames
from tooling.simulator.program.liveness import liveness
from tooling.simulator.program.transfers import Transfers
from tooling.simulator.program.warp_lanes import Warps

Array = NDArray[Any]
Step: TypeAlias = "Callable[[Group, Batch], None]"
"""Executes one instruction for a group of the running batch."""

End: TypeAlias = "Callable[[Group, Batch], bool]"
"""Ends a basic block: sets the group's next place and says whether the group simply goes on."""


class BasicBlock(Struct):
    """Instructions without a jump into or out of their middle.

    Attributes:
        number: its place in the program; blocks are numbered in the order of the text.
        steps: bound instructions; `end` does the last one where that is a jump or a wait.
        uses, defines: slots read before written, and slots surely written (for liveness).
        last_steps: per slot that is read, the last step that does; -1 where `end` does.
        successors: numbers of the blocks that may follow inside the function.
        gathers: lanes of a warp wait for each other here, and may come back to it until all are there.
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
    _asked: list[int] = field(default_factory=list)

    def reads(self, slot: int) -> None:
        """Note that the block reads a slot."""
        self._asked.append(slot)
        if slot not in self.defines:
            self.uses.add(slot)

    def bound(self, steps_before: int) -> None:
        """An instruction has been bound: what it reads, its last step reads, or the end without any."""
        last = len(self.steps) - 1
        for slot in self._asked:
            self.last_steps[slot] = last if last >= steps_before else -1
        self._asked.clear()


class Origin(Struct, frozen=True):
    """Where a slot's value comes from when no instruction writes it.

    Attributes:
        kind: `constant`, `special`, `symbol`, `parameter`, or `undefined`.
        name: special register or symbol.
        value: constant bits, or byte offset.
    """

    kind: str
    dtype: np.dtype[Any]
    name: str = ""
    value: int = 0


class Landing(Struct, frozen=True):
    """What the return to a block that follows a call does.

    Attributes:
        call: that instruction.
        results: what is copied back: (from, to, bytes) in local memory.
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
        landings: per block that follows a call, what the return does.
        frame_bytes: local memory of one call of a function that may call itself; 0 without such functions.
        frame_start: where the first frame lies; frame_slot: the register that says how far on one is.
        framed_slots: registers of such functions.
        functions: the kernel and every function that it calls; shared_arrays: by name.
        live_in: per block, the slots that may be read before they are written, see `find_live_slots`.
        order: per block, its position in an order in which paths that part meet again as soon as they can.
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
    functions: tuple[Function, ...] = ()
    shared_arrays: dict[str, SharedArray] = field(default_factory=dict)
    live_in: list[tuple[int, ...]] = field(default_factory=list)
    order: list[int] = field(default_factory=list)
    _arrays_meant: dict[int, SharedArray] | None = None

    @property
    def arrays_meant(self) -> dict[int, SharedArray]:
        """By PTX line, the shared array that an access must stay in; unsure lines are left out."""
        if self._arrays_meant is None:
            arrays = self.shared_arrays
            self._arrays_meant = {
                line: arrays[name]
                for function in self.functions
                if arrays
                for line, name in arrays_meant(function, arrays).items()
            }
        return self._arrays_meant

    def live(self, block: int, stack: tuple[int, ...]) -> set[int]:
        """Slots whose value may still be read by lanes before `block` inside the calls of `stack`."""
        slots = set(self.live_in[block])
        for place in stack:
            slots.update(self.live_in[place])
        return slots

    def callers(self, stack: Sequence[int]) -> tuple[Instruction, ...]:
        """The calls that lanes with these return places are in, the innermost first."""
        return tuple(self.landings[place].call for place in reversed(stack) if place in self.landings)

    def kept(self, landing: int) -> list[int]:
        """Registers that a call back to `landing` must find as they were: the called may use them itself."""
        return sorted(self.live(landing, ()) & self.framed_slots)


class Batch(Protocol):
    """Some blocks of a launch that are executed together, as instructions see them (`batch.RunningBatch`).

    Attributes:
        program, context, hooks: of the launch.
        parameters: the launch's, as bytes; symbols: device addresses by name; stdout: takes what it prints.
        first_block, blocks: which blocks; size: how many lanes.
        alive: per block, threads that have not exited; alive_count: all of them.
        meetings: rises whenever threads may learn of what others did.
        spaces, barriers, transfers, first_answers, frames: the parts that instructions use.
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
    meetings: int
    spaces: Spaces
    transfers: Transfers
    first_answers: FirstAnswers
    frames: Frames

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
        """(3, blocks): where each block lies in the grid, x, y, z."""
        ...

    @property
    def issued(self) -> int:
        """Instructions issued so far, what `%clock` shows."""
        ...

    def resume(self, group: Group) -> None:
        """Let a group run when its turn comes."""
        ...

    def divide(self, group: Group, lanes: Array, first_pc: int, second_pc: int) -> tuple[Group, Group]:
        """Two groups: the lanes where `lanes` holds, at `first_pc`, and the others, at `second_pc`."""
        ...

    def split(self, group: Group, lanes: Array, target: int, following: int, backwards: bool) -> None:
        """A branch that some lanes take and others do not."""
        ...

    def scatter(self, group: Group, chosen: Array, targets: list[int]) -> None:
        """A jump table: lanes go where their index says."""
        ...

    def split_return(self, group: Group, lanes: Array, following: int, instruction: Instruction) -> None:
        """A guarded return or exit that some lanes take."""
        ...

    def leave(self, group: Group) -> None:
        """Return from a call."""
        ...

    def finish(self, group: Group, instruction: Instruction | None) -> None:
        """Lanes that exit, by their `ret` or `exit`, or because the text ended (None)."""
        ...

    def gather_warps(self, group: Group, mask: int, instruction: Instruction) -> Group | None:
        """The lanes of `group` whose whole mask is at this `.sync` instruction; the others are parked.

        Args:
            mask: the slot of each lane's mask.

        Returns:
            the lanes that may go on (the group itself when it is all of them), or None.
        """
        ...


def find_live_slots(program: Program) -> None:
    """A pass: which slots are live where each block begins."""
    blocks = program.blocks
    program.live_in = liveness(
        [block.uses for block in blocks],
        [block.defines for block in blocks],
        [block.successors for block in blocks],
    )


def order_blocks(program: Program) -> None:
    """A pass, reverse postorder: a block comes after all blocks that lead to it, but for jumps back.

    The order of the text would not do: compilers like to put the end of a loop's body before its beginning.
    Of two ways on, the one that stands first in the text comes first, so that loops come before what
    follows them.
    """
    blocks, entry = program.blocks, program.entries[program.name]
    place = [-1] * len(blocks)
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
                place[number] = after
                continue
            following = ahead.pop()
            if not seen[following]:
                seen[following] = True
                path.append((following, sorted(blocks[following].successors)))
    program.order = place
