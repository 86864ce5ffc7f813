"""The events of a launch, and of the host's use of memory, as hooks (checks, counters) receive them.

The methods of `Hook` do nothing. The engine calls only those that a hook overrides.

Thread numbers are linear in the launch: block number x threads per block + thread number in the block.
Arrays belong to the engine: read them, copy what is needed later, never write to them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from enum import Enum, IntEnum
from typing import Any, ClassVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tooling.simulator.gpu.code_model import Instruction, Module
from tooling.simulator.gpu.device_memory import Allocation, DeviceMemory
from tooling.simulator.gpu.lanes import Lanes
from tooling.simulator.gpu.launch import Launch
from tooling.simulator.gpu.loaded_values import LoadedValue
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
    """The constants of a launch.

    Attributes:
        shared_bytes: shared memory of one block, static and dynamic, in bytes.
        local_bytes: local memory of one thread, in bytes.
        blocks_per_cluster: 1 without clusters.
        arrays_meant: by `Instruction.code_position`, the shared array that an access must stay in, if known.
        warp_size: lanes of a warp.
        whole_warps: blocks consist of whole warps, whose last lanes may have no thread.
        lockstep: the lanes of a warp execute each instruction together, so that their accesses are ordered.
        several_devices: the program has several GPUs.
    """

    launch: Launch
    module: Module
    memory: DeviceMemory
    threads_per_block: int
    blocks: int
    blocks_per_cluster: int
    shared_bytes: int
    local_bytes: int
    arrays_meant: Callable[[], dict[tuple[int, int], SharedArray]] = dict
    warp_size: int = 32
    whole_warps: bool = False
    lockstep: bool = False
    several_devices: bool = False

    @property
    def lanes_per_block(self) -> int:
        """Lanes of a block: its threads, and in the last warp lanes without a thread if `whole_warps`."""
        return self.threads_per_block + (-self.threads_per_block % self.warp_size if self.whole_warps else 0)


class Transfer(Struct, frozen=True, eq=False):
    """One bulk copy (cp.async.bulk, cp.async.bulk.tensor or cp.reduce.async.bulk.tensor), the copies by
    cp.async that arrive at an mbarrier together, or one matrix product of four warps.

    Attributes:
        thread: the thread that started it, or the first one.
        barrier: the mbarrier that counts its bytes (block, offset in its shared memory), or None.
        group: without an mbarrier, the number of the thread's group, from 0, that it belongs to.
    """

    thread: int
    instruction: Instruction
    barrier: tuple[int, int] | None = None
    group: int = 0


class Rows(Struct, frozen=True):
    """Bytes of shared memory, the same ones in each of some neighbouring blocks, one lane after the other.

    Attributes:
        first, last: the blocks, from the batch's first one on (`last` is one past the last); lanes: how many
            of each block.
        low, high: the bytes in the window of a block (`high` is one past the last).
        thread: the number in its block of the first lane's thread, if the threads are consecutive, else None.
    """

    first: int
    last: int
    lanes: int
    low: int
    high: int
    thread: int | None


class Access(Struct, eq=False):
    """One memory instruction of many lanes, before it is performed.

    Attributes:
        space, kind, instruction: the memory, what is done, and by which instruction.
        bytes: bytes per lane, all vector elements together.
        element_bytes: bytes of one element.
        addresses: (n,) GLOBAL: device address; SHARED: byte offset inside the window of block `blocks[i]`;
            LOCAL: byte offset inside the thread's own window.
        threads: (n,) the accessing threads.
        blocks: (n,) SHARED only: the block whose window is accessed (another one of the cluster with
            `shared::cluster`), else None.
        contiguous: addresses == addresses[0] + bytes * arange(n).
        uniform: all addresses are equal.
        rows: SHARED only: the addresses as rows of consecutive bytes, if they are.
        values: (n,) or (elements, n) unsigned bits about to be stored, or None for a load.
        asynchronous: part of a cp.async, complete only at the wait (`Hook.async_wait`).
        transfer: the bulk copy that it is part of, complete only when its completion is observed.
        value: what a load reads, if some lanes may not use it; None if all use it.
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
    rows: Rows | None = None
    values: NDArray[Any] | None = None
    asynchronous: bool = False
    transfer: Transfer | None = None
    value: LoadedValue | None = None
    suppressed: NDArray[np.bool_] | None = None

    def suppress(self, lanes: NDArray[np.bool_]) -> None:
        """Suppress these lanes: their stores are dropped, their loads return zero. The kernel continues.

        Args:
            lanes: (n,) true for a lane whose access must not be performed (it was reported instead).
        """
        self.suppressed = lanes if self.suppressed is None else self.suppressed | lanes


class WaitsFor(Enum):
    """What a lane that cannot run waits for."""

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


class PartialBarrier(Struct, frozen=True):
    """A barrier that was passed by some threads of their blocks, not by all.

    Attributes:
        blocks: the blocks; threads: the threads that waited (sorted).
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
    """Operations of threads at mbarriers in shared memory, one per thread.

    Attributes:
        action: `init`, `inval`, `arrive`, …; for test_wait and try_wait `passed` (by the threads that found
            the phase complete), or `ignored` (the kernel never uses the result).
        blocks: (n,) the block whose shared memory holds each mbarrier; offsets: (n,) its offset there.
        values: (n,) the arrivals that each thread expects (`init`) or makes; None: none.
        bytes: (n,) by how much the transaction count increases; None: not at all.
    """

    action: str
    threads: Ints
    blocks: Ints
    offsets: Ints
    instruction: Instruction
    values: Ints | None = None
    bytes: Ints | None = None


class Hook:
    """A check or an observer. Override the events of interest; each call is for many lanes.

    Attributes:
        suppresses_faults: `access` suppresses every lane whose address is illegal or misaligned.
            If no hook does, such an access stops the kernel before any hook is called.
        follows_values: it wants `Access.value`, for which the engine follows values through registers.
    """

    suppresses_faults: ClassVar[bool] = False
    follows_values: ClassVar[bool] = False

    def for_launch(self, twins: Mapping[int, Hook]) -> Hook:
        """A twin for one launch that runs together with launches of other devices.

        What belongs to the launch is its own, what belongs to the program is shared.

        Args:
            twins: those of the hooks before this one, by identity.
        """
        return copy(self)

    def launch_begin(self, context: LaunchContext) -> None:
        """A launch starts."""

    def launch_end(self, context: LaunchContext) -> None:
        """It ended, by itself or by a fault."""

    def shared_memory(self, first_block: int, windows: NDArray[np.uint8]) -> None:
        """The shared memory of the blocks that start next, for observers: (blocks, bytes), which changes."""

    def batch_begin(self, first_block: int, blocks: int) -> None:
        """Blocks `first_block` to `first_block + blocks - 1` start together, with fresh shared memory."""

    def batch_end(self, first_block: int, blocks: int) -> None:
        """These blocks ended."""

    def issue(self, instructions: Sequence[Instruction], lanes: Lanes, executing: int | None) -> None:
        """A run of instructions without a jump is executed by these lanes of the batch together.

        `executing` is the number of them that are not masked off; None: all.

        Not called for instructions at which lanes of a warp wait for each other: see `warp_sync`.
        """

    def access(self, access: Access) -> None:
        """Every ld, st, atom, red and cp.async, before it is performed. May raise KernelFault."""

    def block_barrier(self, blocks: Ints, instruction: Instruction) -> None:
        """All threads of these blocks passed a barrier: earlier accesses are ordered before later ones."""

    def barrier_reached(self, threads: Ints, barrier: int, instruction: Instruction) -> None:
        """These threads reach a barrier of their block, whether they will wait there or not."""

    def barrier_arrive(self, threads: Ints, barrier: int, instruction: Instruction) -> None:
        """These threads arrived at a barrier of their block without waiting (`bar.arrive`)."""

    def named_barrier(self, passed: PartialBarrier) -> None:
        """A barrier was passed by some threads of a block."""

    def barrier_mixed(self, waiters: Sequence[Waiter], blocks: Ints) -> None:
        """Lanes of one warp passed a barrier together, but by several `.aligned` instructions: undefined.

        `blocks` are all blocks of which this is true, and the waiters are of the first one.
        """

    def barrier_mixed_warps(self, waiters: Sequence[Waiter]) -> None:
        """Whole warps of a block passed a barrier together, by several `.aligned` instructions."""

    def barrier_inactive(self, threads: Ints, inactive: Ints, instruction: Instruction) -> None:
        """Warps arrive at a barrier with these active threads, while others of their threads are inactive."""

    def barrier_counts(self, waiters: Sequence[Waiter]) -> None:
        """Threads (the first) reach a barrier at which others of their block wait for another count."""

    def warp_sync(self, threads: Ints, masks: NDArray[np.uint32], instruction: Instruction) -> None:
        """These threads passed a `.sync` instruction, each together with the lanes of its `masks` entry."""

    def warp_missing(self, threads: Ints, masks: NDArray[np.uint32], instruction: Instruction) -> None:
        """These threads have exited lanes (`masks`) in their `.sync` mask."""

    def shuffle_from_absent(
        self, threads: Ints, sources: Ints, masks: NDArray[np.uint32], instruction: Instruction
    ) -> None:
        """These threads read from lanes `sources` of their warps that do not take part (are not in `masks`),
        and no lane of these warps reads from a lane that does."""

    def exchange(
        self, threads: Ints, sources: Ints, values: NDArray[np.uint32], instruction: Instruction
    ) -> None:
        """These threads received 32 bits each from threads `sources` of their warps."""

    def cluster_arrive(self, threads: Ints, instruction: Instruction) -> None:
        """These threads executed barrier.cluster.arrive."""

    def cluster_wait(self, threads: Ints, instruction: Instruction) -> None:
        """These threads reached barrier.cluster.wait."""

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

    def async_arrive(self, threads: Ints, blocks: Ints, offsets: Ints, instruction: Instruction) -> None:
        """The earlier copies of these threads will arrive at mbarriers when they are complete: see
        `MBarrierOperation` for `blocks` and `offsets`."""

    def products_read(self, operands: Access) -> None:
        """An asynchronous matrix product begins, whose `transfer` reads these bytes of shared memory."""

    def product_wait(self, threads: Ints, groups: Ints, instruction: Instruction) -> None:
        """Each of these threads waited for its groups of matrix products before number `groups[i]`."""

    def product_used(self, threads: Ints, instruction: Instruction, product: Instruction) -> None:
        """These threads use a result of a matrix product that they have not waited for."""

    def product_unfenced(self, threads: Ints, instruction: Instruction) -> None:
        """These threads start a matrix product without `wgmma.fence` after what wrote its registers."""

    def register_unwritten(self, threads: Ints, instruction: Instruction) -> None:
        """These threads use what a register holds that no instruction has written."""

    def bulk_wait(self, threads: Ints, groups: Ints, instruction: Instruction) -> None:
        """Each of these threads waited for its groups of bulk copies before number `groups[i]`.

        A wait with `.read` waits only until they have read their sources.
        """

    def transfer_counted(self, transfer: Transfer) -> None:
        """A bulk copy is complete: its mbarrier has counted its bytes."""

    def mbarrier_phase(self, blocks: Ints, offsets: Ints) -> None:
        """A phase of each of these mbarriers is complete."""

    def mbarrier(self, operation: MBarrierOperation) -> None:
        """An operation on mbarriers in shared memory."""

    def threads_exit(self, threads: Ints, instruction: Instruction | None) -> None:
        """These threads exit by `instruction`, a `ret` or `exit` (None: the end of the text)."""

    def stuck(self, waiters: Sequence[Waiter]) -> None:
        """No thread can run; the launch ends with a DEADLOCK fault after this call."""

    # Host operations on memory, reported by the driver's server.

    def allocate(self, allocation: Allocation) -> None:
        """The host allocated device or pinned memory."""

    def free(self, allocation: Allocation) -> None:
        """The host freed it."""

    def drop(self, physical_address: int) -> None:
        """Created memory (`Allocation.physical_address`) was released."""

    def host_write(self, memory: DeviceMemory, address: int, size: int) -> None:
        """The host copied to, or filled, `size` bytes of device memory."""

    def host_read(self, memory: DeviceMemory, address: int, size: int) -> None:
        """The host copied `size` bytes back from device memory that a launch may have written."""

    def host_copy(self, memory: DeviceMemory, address: int, size: int) -> None:
        """The host copies `size` bytes back from device memory, also from memory that no launch has seen."""

    def device_copy(self, memory: DeviceMemory, address: int, source: int, size: int) -> None:
        """The host copied `size` bytes inside device memory."""
        self.host_write(memory, address, size)

    def end(self, memory: DeviceMemory) -> None:
        """The program ended."""


def hooks_of_launch(hooks: Sequence[Hook]) -> tuple[Hook, ...]:
    """The twins of a program's hooks for one launch."""
    twins: dict[int, Hook] = {}
    for hook in hooks:
        twins[id(hook)] = hook.for_launch(twins)
    return tuple(twins.values())
