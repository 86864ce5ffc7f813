"""mbarrier objects in shared memory (PTX ISA 9.7.13.15).

The 64 bits, which PTX calls opaque, hold: phase parity (bit 63), pending arrivals (bits 0-19), expected
arrivals (bits 20-39), tx-count in bytes (bits 40-62, biased, since it may be negative for a time).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tooling.simulator.gpu.code_model import Instruction, Operand, Register
from tooling.simulator.gpu.generic_addresses import SHARED_WINDOW
from tooling.simulator.gpu.hooks import MBarrierOperation, Space
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.gpu.requests import MemoryRequest, Width
from tooling.simulator.numerics.rounding import PRED, U32, U64
from tooling.simulator.nvidia.instructions.load_store import active, pointer, space_of
from tooling.simulator.nvidia.lowering.binders import assign, binds, write
from tooling.simulator.nvidia.lowering.decoder import Decoder
from tooling.simulator.nvidia.lowering.predicates import guard
from tooling.simulator.program.program import Batch

Array = NDArray[Any]

BARRIER = Width(8, 1)
"""The size of an mbarrier."""

_PENDING = (1 << 20) - 1
_TX_ZERO = 1 << 22
_TX_MASK = (1 << 23) - 1
_IGNORED = (
    "release",
    "acquire",
    "relaxed",
    "cta",
    "cluster",
    "b64",
    "shared",
    "shared::cta",
    "shared::cluster",
)
_ACTIONS = {
    "init": 1, "inval": 0, "arrive": 1, "arrive_drop": 1, "expect_tx": 1, "complete_tx": 1,
    "test_wait": 1, "try_wait": 1, "pending_count": 0,
}  # fmt: skip


_CONTRIBUTIONS = frozenset({"arrive", "arrive_drop", "arrive_counted", "complete_tx"})
"""Actions that may complete a phase."""


class MBarrierState(Struct):
    """The fields of an mbarrier. Counts that overflow, which PTX leaves undefined, are truncated: a phase
    with more arrivals than it expects does not complete."""

    pending: int
    expected: int
    bytes: int
    parity: int

    @staticmethod
    def unpack(bits: int) -> MBarrierState:
        """The fields in the 64 bits of an mbarrier."""
        return MBarrierState(
            bits & _PENDING, bits >> 20 & _PENDING, (bits >> 40 & _TX_MASK) - _TX_ZERO, bits >> 63
        )

    def pack(self) -> int:
        """The 64 bits of the mbarrier."""
        return (
            self.pending & _PENDING
            | (self.expected & _PENDING) << 20
            | (self.bytes + _TX_ZERO & _TX_MASK) << 40
            | self.parity << 63
        )

    def arrive(self, count: int) -> None:
        """Count `count` arrivals; the last one of a phase completes it."""
        self.pending -= count
        self.complete()

    def complete(self) -> None:
        """Begin the next phase if no arrivals and no bytes are pending."""
        if self.pending == 0 and self.bytes == 0:
            self.parity ^= 1
            self.pending = self.expected


@binds("mbarrier")
def _mbarrier(decoder: Decoder, instruction: Instruction, _following: int) -> None:
    modifiers = instruction.modifiers
    action = modifiers[0]
    flags = {m for m in modifiers[1:] if m not in _IGNORED}
    name, _ = space_of(instruction)
    if action not in _ACTIONS or not flags <= {"parity", "expect_tx", "noComplete"}:
        raise decoder.unknown(instruction)
    if action == "pending_count":
        _pending_count(decoder, instruction)
        return
    operands: list[Operand] = list(instruction.operands)
    result = operands.pop(0) if action in ("arrive", "arrive_drop", "test_wait", "try_wait") else None
    at = pointer(decoder, operands.pop(0), instruction)
    parity = "parity" in flags
    waiting = action in ("test_wait", "try_wait")
    kind = U64 if waiting and not parity else U32
    argument = decoder.value(operands[0], kind, instruction) if operands else None
    guarding = guard(decoder, instruction)
    wanted = result is not None and not (isinstance(result, Register) and result.name == "_")
    target = None
    if wanted and result is not None:
        target = write(decoder, result, instruction, PRED if waiting else U64)
    tested = wanted and isinstance(result, Register) and decoder.is_read(result.name)
    expects = "expect_tx" in flags
    window = np.uint64(0 if name == "shared" else SHARED_WINDOW)

    def step(group: Group, batch: Batch) -> None:
        some, mask, lanes = active(group, guarding, batch.size)
        if not some:
            return
        total = group.count if lanes is None else len(lanes)

        def spread(values: Array) -> Array:
            return np.broadcast_to(values if mask is None or len(values) == 1 else values[mask], total)

        address = spread(at.of(group)) - window
        request = MemoryRequest(group, instruction, BARRIER, lanes)
        at_barriers = Barriers.of(batch, request, address)
        words = at_barriers.words
        view = batch.spaces.view(Space.SHARED, 8)
        values = spread(group.get(argument).view(kind)) if argument is not None else np.ones(total, U32)
        if waiting:
            group.polling = instruction
            now = view[words] >> np.uint64(63)
            asked = values.astype(U64) & np.uint64(1) if parity else values >> np.uint64(63)
            done = now != asked
            if action == "test_wait" and done.any():
                done[done] = ~batch.first_answers.denied(
                    words[done], request.indices(batch.size)[done], batch.sync_count
                )
            if not tested:  # no instruction reads the result: the lanes have not waited
                at_barriers.notify(batch, "ignored")
            elif done.any():
                at_barriers.only(done).notify(batch, "passed")
            batch.transfers.asked(at_barriers.blocks, at_barriers.offsets)
            found: Array = done
            dtype: np.dtype[Any] = PRED
        else:
            counted = None
            if expects or action in ("expect_tx", "complete_tx"):
                counted = values.astype(np.int64) * (-1 if action == "complete_tx" else 1)
            arrivals = np.ones_like(values) if expects else values
            at_barriers.notify(batch, action, arrivals, counted)
            found = at_barriers.update(batch, values, action, expects=expects)
            dtype = U64
        if target is not None:
            whole = found
            if mask is not None:
                whole = np.zeros(group.count, dtype)
                whole[mask] = found
            assign(group, target, whole, mask, dtype)

    decoder.block.steps.append(step)


def _pending_count(decoder: Decoder, instruction: Instruction) -> None:
    """`mbarrier.pending_count.b64 count, state`: arrivals pending before the one that returned `state`."""
    if instruction.modifiers != ("pending_count", "b64") or len(instruction.operands) != 2:
        raise decoder.unknown(instruction)
    destination, token = instruction.operands
    slot = decoder.value(token, U64, instruction)
    target = write(decoder, destination, instruction, U32)
    guarding = guard(decoder, instruction)

    def step(group: Group, batch: Batch) -> None:
        some, mask, _ = active(group, guarding, batch.size)
        if some:
            count = (group.get(slot).view(U64) & np.uint64(_PENDING)).astype(U32)
            assign(group, target, count, mask, U32)

    decoder.block.steps.append(step)


class Barriers(Struct, frozen=True, eq=False):
    """The mbarriers that lanes operate on, one per lane.

    Attributes:
        lanes: (n,) numbers of the lanes in the batch; threads: their threads in the launch.
        blocks: (n,) the blocks whose shared memory holds the mbarriers; offsets: in bytes, in that memory.
        words: (n,) their indices in the shared memory of the batch, in units of 8 bytes.
    """

    instruction: Instruction
    lanes: NDArray[np.intp]
    threads: NDArray[np.int64]
    blocks: NDArray[np.int64]
    offsets: NDArray[np.int64]
    words: NDArray[np.intp]

    @staticmethod
    def of(batch: Batch, request: MemoryRequest, address: Array) -> Barriers:
        """The mbarriers at the shared addresses (n,) of the request's lanes.

        Raises:
            KernelFault: illegal or misaligned address.
        """
        spaces = batch.spaces
        position, blocks = spaces.shared_offsets(request, address)
        offsets = position.astype(np.int64) - blocks * (
            0 if len(spaces.shared_bytes) == spaces.shared_stride else spaces.shared_stride
        )
        return Barriers(
            request.instruction,
            request.indices(batch.size),
            request.pick(spaces.threads),
            blocks + spaces.first_block,
            offsets,
            (position >> np.uint64(3)).astype(np.intp),
        )

    @staticmethod
    def one(batch: Batch, group: Group, instruction: Instruction, lane: int, address: int) -> Barriers:
        """The mbarrier on which a copy that a lane begins completes.

        Raises:
            KernelFault: illegal or misaligned address.
        """
        request = MemoryRequest(group, instruction, BARRIER, np.array([lane]))
        return Barriers.of(batch, request, np.array([address], U64))

    @property
    def key(self) -> tuple[int, int]:
        """The block of the one mbarrier, and its offset in the block's shared memory."""
        (block,), (offset,) = self.blocks.tolist(), self.offsets.tolist()
        return block, offset

    def complete_tx(self, batch: Batch, size: int) -> Callable[[], None]:
        """A callback that performs complete-tx for the `size` bytes of a copy when it ends."""
        return partial(self.count, batch, "complete_tx", np.array([size], U32))

    def only(self, chosen: NDArray[np.bool_]) -> Barriers:
        """The mbarriers of the chosen lanes (a mask)."""
        arrays = (self.lanes, self.threads, self.blocks, self.offsets, self.words)
        return Barriers(self.instruction, *(array[chosen] for array in arrays))

    def notify(
        self, batch: Batch, action: str, values: Array | None = None, counted: Array | None = None
    ) -> None:
        """Notify hooks of an operation on these mbarriers, which counts bytes if `counted` is given."""
        operation = MBarrierOperation(
            action, self.threads, self.blocks, self.offsets, self.instruction, values, counted
        )
        for hook in batch.hooks.mbarrier:
            hook.mbarrier(operation)

    def count(self, batch: Batch, action: str, values: Array) -> None:
        """Perform the operation at the end of copies: arrivals, or complete-tx of `values` bytes (n,)."""
        if action == "arrive":
            self.notify(batch, "arrive", values)
        else:
            done = values.astype(np.int64) if action == "complete_tx" else None
            self.notify(batch, "complete", counted=None if done is None else -done)
        self.update(batch, values, action, copied=action == "complete_tx")

    def update(
        self, batch: Batch, values: Array, action: str, *, expects: bool = False, copied: bool = False
    ) -> Array:
        """Perform an operation lane by lane, in lane order; returns the 64 bits before each lane's operation.

        Args:
            expects: an arrival is preceded by expect-tx; copied: copies that the lanes began, not the lanes
                themselves, perform the operation.
        """
        view = batch.spaces.view(Space.SHARED, 8)
        found = np.empty(len(self.words), U64)
        flipped = np.zeros(len(self.words), np.bool_)
        contributes = action in _CONTRIBUTIONS
        lanes = self.lanes.tolist()
        for k, (word, value) in enumerate(zip(self.words.tolist(), values.tolist(), strict=True)):
            bits = int(view[word])
            found[k] = bits
            after = _changed(MBarrierState.unpack(bits), action, value, expects).pack()
            view[word] = np.uint64(after)
            if action in ("init", "inval"):
                batch.first_answers.forget(word)
            elif contributes:
                batch.first_answers.contribute(word, lanes[k], batch.sync_count, copied=copied)
                if (bits ^ after) >> 63:
                    flipped[k] = True
                    batch.first_answers.flip(word)
        batch.spaces.changes += 1
        if flipped.any():
            for hook in batch.hooks.mbarrier_phase:
                hook.mbarrier_phase(self.blocks[flipped], self.offsets[flipped])
        return found


def _changed(state: MBarrierState, action: str, value: int, expects: bool) -> MBarrierState:
    """The mbarrier after one lane's operation."""
    if action == "init":
        return MBarrierState(value, value, 0, 0)
    if action == "inval":
        return MBarrierState(0, 0, 0, 0)
    if action == "expect_tx" or expects:
        state.bytes += value
        if action == "arrive":
            state.arrive(1)
    elif action == "complete_tx":
        state.bytes -= value
        state.complete()
    elif action != "arrive_counted":
        if action == "arrive_drop":
            state.expected -= value
        state.arrive(value)
    return state
