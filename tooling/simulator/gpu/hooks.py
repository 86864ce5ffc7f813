"""The events of a launch, and of the host's use of memory, as hooks (checks, counters) receive them.

The methods of `Hook` do nothing. The engine reports only those events of a launch that a hook overrides.

Thread numbers are linear in the launch: block number x threads per block + thread number in the block.
Arrays belong to the engine: read them, keep a copy of what is needed later, never write into them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum, IntEnum
from typing import Any, ClassVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tooling.simulator.gpu.code_model import Instruction, Module
from tooling.simulator.gpu.device_memory import Allocation, DeviceMemory
from tooling.simulator.gpu.lanes import Lanes
from tooling.simulator.gpu.launch import Launch
from tooling.simulator.gpu.shared_arrays import SharedArray

Ints = NDArray[np.int64]


class Space(IntEnum):
    """The memory an access goes to."""

    GLOBAL = 0
    SHARED = 1
    LOCAL = 2


class AccessKind(IntEnum):
    """What an access does. An atomic both reads and writes."""

    LOAD = 0
    STORE = 1
    ATOMIC = 2


class LaunchContext(Struct, frozen=True):
    """What stays the same during a launch.

    Attributes:
        shared_bytes: shared memory of one block, static and dynamic, in bytes.
        local_bytes: local memory of one thread, in bytes.
        blocks_per_cluster: 1 without clusters.
        arrays_meant: by PTX line of an access, the shared array that it must stay in, where that is certain.
    """

    launch: Launch
    module: Module
    memory: DeviceMemory
    threads_per_block: int
    blocks: int
    blocks_per_cluster: int
    shared_bytes: int
    local_bytes: int
    arrays_meant: Callable[[], dict[int, SharedArray]] = dict


class Transfer(Struct, frozen=True, eq=False):
    """One bulk copy: cp.async.bulk, cp.async.bulk.tensor or cp.reduce.async.bulk.tensor.

    Attributes:
        thread: that began it.
        barrier: the mbarrier that its bytes are counted off (block, offset in its shared memory), or None.
        group: without an mbarrier, which of the thread's groups, from 0, it belongs to once that is
            committed.
    """

    thread: int
    instruction: Instruction
    barrier: tuple[int, int] | None = None
    group: int = 0


class Access(Struct, eq=False):
    """One memory instruction of many lanes, before it is performed.

    Attributes:
        space, kind, instruction: what is done, and by which instruction.
        bytes: bytes per lane, all vector elements together.
        element_bytes: bytes of one element.
        addresses: (n,) GLOBAL: device address; SHARED: byte offset inside the window of block `blocks[i]`;
            LOCAL: byte offset inside the thread's own window.
        threads: (n,) the accessing threads.
        blocks: (n,) SHARED only: the block whose window is meant (another one of the cluster with
            `shared::cluster`), else None.
        contiguous: addresses == addresses[0] + bytes * arange(n).
        uniform: all addresses are equal.
        values: (n,) or (elements, n) unsigned bits about to be stored, or None for a load.
        asynchronous: part of a cp.async, complete only at the wait (`Hook.async_wait`).
        transfer: the bulk copy that it is part of, complete only when its end was seen.
    """

    space: Space
    kind: AccessKind
    instruction: Instruction
    bytes: int
    element_bytes: int
    addresses: Ints
    threads: Ints
    blocks: Ints | None = None
    contiguous: bool = False
    uniform: bool = False
    values: NDArray[Any] | None = None
    asynchronous: bool = False
    transfer: Transfer | None = None
    suppressed: NDArray[np.bool_] | None = None

    def suppress(self, lanes: NDArray[np.bool_]) -> None:
        """Leave these lanes out: their stores are dropped, their loads give zero. The kernel goes on.

        Args:
            lanes: (n,) true for a lane whose access must not be performed (it was reported instead).
        """
        self.suppressed = lanes if self.suppressed is None else self.suppressed | lanes


class WaitsFor(Enum):
    """What a lane that cannot go on waits for."""

    BLOCK_BARRIER = "the other threads of its block at a barrier"
    NAMED_BARRIER = "other threads at a named barrier"
    CLUSTER_BARRIER = "the other blocks of its cluster"
    WARP = "the lanes named in its mask"
    LOOP = "a condition that no other thread can still change"


class Waiter(Struct, frozen=True):
    """Threads that wait at one instruction."""

    threads: Ints
    instruction: Instruction
    waits_for: WaitsFor
    barrier: int = 0


class Meeting(Struct, frozen=True):
    """A barrier that was passed by some threads of their blocks, not by all.

    Attributes:
        blocks: which blocks; threads: those that waited and go on (sorted).
        arrived: threads that only arrived, by `bar.arrive` (sorted): what they did before is ordered before
            what `threads` do from now on, nothing else is.
        barrier: its number, 0 to 15.
    """

    blocks: Ints
    threads: Ints
    arrived: Ints
    barrier: int
    instruction: Instruction


class MBarrierOperation(Struct, frozen=True, eq=False):
    """What threads do at mbarriers in shared memory, one each.

    Attributes:
        action: `init`, `inval`, `arrive`, …; of test_wait and try_wait `passed`, told of those that found the
            phase complete, or `unheeded`, where the kernel asks and never looks at the answer.
        blocks: (n,) in whose shared memory each mbarrier lies; offsets: (n,) where.
        values: (n,) the arrivals that each thread announces (`init`) or makes; None: none.
    """

    action: str
    threads: Ints
    blocks: Ints
    offsets: Ints
    instruction: Instruction
    values: Ints | None = None


class Hook:
    """A check or an observer. Override what you want to be told; each call stands for many lanes.

    Attributes:
        takes_strays: `access` suppresses every lane whose address is illegal or misaligned. Where no hook
            does, such an access ends the kernel before any hook hears of it.
    """

    takes_strays: ClassVar[bool] = False

    def launch_begin(self, context: LaunchContext) -> None:
        """A launch starts."""

    def launch_end(self, context: LaunchContext) -> None:
        """It ended, by itself or by a fault."""

    def batch_begin(self, first_block: int, blocks: int) -> None:
        """Blocks `first_block` to `first_block + blocks - 1` start together, with fresh shared memory."""

    def batch_end(self, first_block: int, blocks: int) -> None:
        """These blocks ended."""

    def issue(self, instructions: Sequence[Instruction], lanes: Lanes) -> None:
        """A run of instructions without a jump is executed by these lanes of the batch together.

        Not told of instructions at which lanes of a warp wait for each other: see `warp_sync`.
        """

    def access(self, access: Access) -> None:
        """Every ld, st, atom, red and cp.async, before it is performed. May raise KernelFault."""

    def block_barrier(self, blocks: Ints, instruction: Instruction) -> None:
        """All threads of these blocks passed a barrier: earlier accesses are ordered before later ones."""

    def barrier_come(self, threads: Ints, barrier: int, instruction: Instruction) -> None:
        """These threads come to a barrier of their block, whether they will wait there or not."""

    def barrier_arrive(self, threads: Ints, barrier: int, instruction: Instruction) -> None:
        """These threads arrived at a barrier of their block without waiting (`bar.arrive`)."""

    def named_barrier(self, meeting: Meeting) -> None:
        """A barrier was passed that not all threads of the block waited at."""

    def barrier_mixed(self, waiters: Sequence[Waiter]) -> None:
        """Lanes of one warp passed a barrier together, but by several `.aligned` instructions: undefined."""

    def barrier_counts(self, waiters: Sequence[Waiter]) -> None:
        """Threads (the first) come to a barrier at which others of their block wait for another number."""

    def warp_sync(self, threads: Ints, masks: NDArray[np.uint32], instruction: Instruction) -> None:
        """These threads passed a `.sync` instruction, each together with the lanes of its `masks` entry."""

    def warp_missing(self, threads: Ints, masks: NDArray[np.uint32], instruction: Instruction) -> None:
        """These threads named lanes (`masks`: the missing ones) that have exited, in a `.sync` mask."""

    def shuffle_astray(
        self, threads: Ints, sources: Ints, masks: NDArray[np.uint32], instruction: Instruction
    ) -> None:
        """These threads take values from lanes `sources` of their warps, which are not among `masks`, those
        that take part; and no lane of these warps takes a value from a lane that does."""

    def cluster_arrive(self, threads: Ints, instruction: Instruction) -> None:
        """These threads executed barrier.cluster.arrive."""

    def cluster_wait(self, threads: Ints, instruction: Instruction) -> None:
        """These threads came to barrier.cluster.wait."""

    def cluster_barrier(self, clusters: Ints, instruction: Instruction) -> None:
        """All threads of these clusters have arrived (the last one by `instruction`) or exited."""

    def fence(self, threads: Ints, instruction: Instruction) -> None:
        """A membar or fence."""

    def async_commit(self, threads: Ints, instruction: Instruction) -> None:
        """These threads ended a group of asynchronous copies (cp.async.commit_group)."""

    def async_wait(self, threads: Ints, pending: int | None, instruction: Instruction) -> None:
        """These threads waited until at most `pending` of their latest committed groups are unfinished.

        `pending` is None for cp.async.wait_all, which waits for copies without a group as well.
        """

    def bulk_wait(self, threads: Ints, groups: Ints, instruction: Instruction) -> None:
        """Each of these threads waited until its groups of bulk copies before number `groups[i]` were over.

        A wait with `.read` is content when they have read their sources.
        """

    def transfer_counted(self, transfer: Transfer) -> None:
        """A bulk copy has ended: its bytes are counted off its mbarrier now."""

    def mbarrier_phase(self, blocks: Ints, offsets: Ints) -> None:
        """A phase of each of these mbarriers is complete."""

    def mbarrier(self, operation: MBarrierOperation) -> None:
        """An operation on mbarriers in shared memory."""

    def threads_exit(self, threads: Ints, instruction: Instruction | None) -> None:
        """These threads are done; `instruction` is their `ret` or `exit` (None: the text ended)."""

    def stuck(self, waiters: Sequence[Waiter]) -> None:
        """Nothing can run any more; the launch ends with a DEADLOCK fault after this call."""

    # What the host does with memory, as the driver's server reports it.

    def allocate(self, allocation: Allocation) -> None:
        """The host allocated device or pinned memory."""

    def free(self, allocation: Allocation) -> None:
        """The host freed it."""

    def drop(self, place: int) -> None:
        """The memory at a place (`Allocation.place`), which was mapped and no longer is, is there no more."""

    def host_write(self, memory: DeviceMemory, address: int, size: int) -> None:
        """The host copied to, or filled, `size` bytes of device memory."""

    def host_read(self, memory: DeviceMemory, address: int, size: int) -> None:
        """The host copied `size` bytes back from device memory."""

    def device_copy(self, memory: DeviceMemory, address: int, source: int, size: int) -> None:
        """The host had `size` bytes copied inside device memory."""
        self.host_write(memory, address, size)

    def end(self, memory: DeviceMemory) -> None:
        """The program ended."""
