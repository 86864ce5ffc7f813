"""mbarrier objects in shared memory (PTX ISA 9.7.13.15).

The 64 bits, which PTX calls opaque, hold: phase parity (bit 63), pending arrivals (bits 0-19), expected
arrivals (bits 20-39), outstanding transaction bytes (bits 40-62, offset so that they may run ahead).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.bindings import assign, binds, write
from tooling.simulator.decode import Decoder
from tooling.simulator.guards import guard
from tooling.simulator.hooks import Space
from tooling.simulator.lanes import Group
from tooling.simulator.memory_access import active, pointer, space_of
from tooling.simulator.memory_requests import Request, Width
from tooling.simulator.numerics import PRED, U32, U64
from tooling.simulator.ptx_model import Instruction, Operand, Register
from tooling.simulator.record import Record
from tooling.simulator.windows import SHARED_WINDOW

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


class State(Record, frozen=False):
    """An mbarrier taken apart."""

    pending: int
    expected: int
    bytes: int
    parity: int

    @staticmethod
    def unpack(bits: int) -> State:
        """From the 64 bits in memory."""
        return State(bits & _PENDING, bits >> 20 & _PENDING, (bits >> 40 & _TX_MASK) - _TX_ZERO, bits >> 63)

    def pack(self) -> int:
        """To the 64 bits in memory."""
        return self.pending | self.expected << 20 | (self.bytes + _TX_ZERO) << 40 | self.parity << 63

    def arrive(self, count: int) -> None:
        """`count` arrivals; the last one of a phase begins the next."""
        while count > 0:
            now = min(count, self.pending) or count
            self.pending -= now
            count -= now
            self.complete()

    def complete(self) -> None:
        """Begin the next phase when nothing is outstanding."""
        if self.pending <= 0 and self.bytes == 0:
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
    target = write(decoder, result, instruction) if wanted and result is not None else None
    heeded = wanted and isinstance(result, Register) and decoder.is_read(result.name)
    expects = "expect_tx" in flags
    window = np.uint64(0 if name == "shared" else SHARED_WINDOW)

    def step(group: Group, batch: Any) -> None:
        some, mask, lanes = active(group, guarding, batch.size)
        if not some:
            return
        total = group.count if lanes is None else len(lanes)

        def spread(values: Array) -> Array:
            return np.broadcast_to(values if mask is None or len(values) == 1 else values[mask], total)

        address = spread(at.of(group)) - window
        offset, _ = batch.spaces.place(Space.SHARED, Request(group, instruction, BARRIER, lanes), address)
        places = np.broadcast_to(offset >> np.uint64(3), total).astype(np.intp)
        view = batch.spaces.view(Space.SHARED, 8)
        values = spread(group.get(argument).view(kind)) if argument is not None else np.ones(total, U32)
        threads = batch.spaces.threads_of(group, lanes)
        if waiting:
            group.polling = instruction
            now = view[places] >> np.uint64(63)
            asked = values.astype(U64) & np.uint64(1) if parity else values >> np.uint64(63)
            done = now != asked
            if not heeded:  # whatever the answer is, lanes go on: they have not waited
                _tell(batch, "unheeded", threads, address, instruction)
            elif done.any():
                _tell(batch, "passed", threads[done], address[done], instruction)
            found: Array = done
            dtype: np.dtype[Any] = PRED
        else:
            found = _update(view, places, values, action, expects)
            batch.spaces.changes += 1
            _tell(batch, action, threads, address, instruction, values)
            dtype = U64
        if target is not None:
            whole = found
            if mask is not None:
                whole = np.zeros(group.count, dtype)
                whole[mask] = found
            assign(group, target, whole, mask, dtype)

    decoder.block.steps.append(step)


def _pending_count(decoder: Decoder, instruction: Instruction) -> None:
    """`mbarrier.pending_count.b64 count, state`: arrivals pending before the one that gave `state`."""
    if instruction.modifiers != ("pending_count", "b64") or len(instruction.operands) != 2:
        raise decoder.unknown(instruction)
    destination, token = instruction.operands
    slot = decoder.value(token, U64, instruction)
    target = write(decoder, destination, instruction)
    guarding = guard(decoder, instruction)

    def step(group: Group, batch: Any) -> None:
        some, mask, _ = active(group, guarding, batch.size)
        if some:
            count = (group.get(slot).view(U64) & np.uint64(_PENDING)).astype(U32)
            assign(group, target, count, mask, U32)

    decoder.block.steps.append(step)


def change_at(batch: Any, request: Request, address: Array, action: str, values: Array) -> None:
    """What copies do to mbarriers when they are complete.

    Args:
        request: the lanes, as many as there are copies.
        address: (n,) shared addresses; values: (n,) counts or bytes.
    """
    offset, _ = batch.spaces.place(Space.SHARED, request, address)
    places = np.broadcast_to(offset >> np.uint64(3), request.count).astype(np.intp)
    _update(batch.spaces.view(Space.SHARED, 8), places, values, action, expects=False)
    batch.spaces.changes += 1
    told = "arrive" if action == "arrive" else "complete"
    threads = request.pick(batch.spaces.threads)
    _tell(batch, told, threads, address, request.instruction, values if action == "arrive" else None)


def _update(view: Array, places: Array, values: Array, action: str, expects: bool) -> Array:
    """Lanes act in the order of their numbers; returns what each of them found, as 64 bits."""
    found = np.empty(len(places), U64)
    for lane, (place, value) in enumerate(zip(places.tolist(), values.tolist(), strict=True)):
        bits = int(view[place])
        found[lane] = bits
        view[place] = np.uint64(_changed(State.unpack(bits), action, value, expects).pack())
    return found


def _changed(state: State, action: str, value: int, expects: bool) -> State:
    """An mbarrier after one lane's operation."""
    if action == "init":
        return State(value, value, 0, 0)
    if action == "inval":
        return State(0, 0, 0, 0)
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


def _tell(  # noqa: PLR0917 - what hooks are told, and whom
    batch: Any,
    action: str,
    threads: Array,
    address: Array,
    instruction: Instruction,
    values: Array | None = None,
) -> None:
    for hook in batch.hooks.mbarrier:
        hook.mbarrier(action, threads, address.view(np.int64), instruction, values)
