"""Values that are followed through the registers of a batch: what loads without sure use have read, and the
results of asynchronous products.

They are kept by slot for all lanes of the batch together, so that nothing changes when groups split or merge.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.gpu.code_model import Instruction
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.program.value_flow import FOLLOWED, Flow, Role

Mask = NDArray[np.bool_]


class Followed(Protocol):
    """A value in registers.

    Attributes:
        holders: registers that hold it in some lane.
        computable: arithmetic does not use it, as a copy does not; what uses the result does.
    """

    holders: int
    computable: bool

    def use(self, lanes: NDArray[np.intp], instruction: Instruction) -> None:
        """These lanes of the batch use it."""
        ...

    def drop(self) -> None:
        """No register holds it any more."""
        ...


class UnwrittenRegister:
    """What a register holds that no instruction has written.

    Args:
        used: called with the lanes that use it, and where.
    """

    computable = True

    def __init__(self, used: Callable[[NDArray[np.intp], Instruction], None]) -> None:
        self.holders = 0
        self._used = used

    def use(self, lanes: NDArray[np.intp], instruction: Instruction) -> None:
        """These lanes of the batch use it."""
        self._used(lanes, instruction)

    def drop(self) -> None:
        """It has been written everywhere."""


class FollowedValues:
    """The followed values of one batch.

    Args:
        size: lanes of the batch.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._held: dict[int, list[tuple[Followed, Mask]]] = {}

    def __bool__(self) -> bool:
        return bool(self._held)

    def hold(self, slot: int, value: Followed, lanes: NDArray[np.intp]) -> None:
        """These lanes of a register hold a value."""
        mask = np.zeros(self._size, np.bool_)
        mask[lanes] = True
        self._add(slot, value, mask)

    def forget(self, group: Group, live: Container[int]) -> None:
        """Registers other than the live ones are not read any more by the lanes of a group."""
        for slot in [slot for slot in self._held if slot not in live]:
            self._clear(slot, group, None)

    def replace(self, slot: int, value: Followed, group: Group) -> None:
        """A register of a group's lanes holds this value and no other."""
        self._clear(slot, group, None)
        self.hold(slot, value, group.indices(self._size))

    def release(self, over: Callable[[Followed], NDArray[np.intp] | None]) -> None:
        """Stop to follow values in the lanes that `over` returns; None: in no lane."""
        for slot, entries in list(self._held.items()):
            for value, mask in entries:
                lanes = over(value)
                if lanes is not None:
                    mask[lanes] = False
            self._tidy(slot)

    def execute(self, flow: Flow, instruction: Instruction, group: Group) -> None:
        """A group is about to execute an instruction."""
        self._execute(flow, instruction, group)
        if flow.other is not None:
            self._execute(flow.other, instruction, group)

    def _execute(self, flow: Flow, instruction: Instruction, group: Group) -> None:
        held = self._held
        guard = flow.guard
        unheld = held.keys().isdisjoint
        if unheld(flow.sources) and unheld(flow.written) and (guard is None or guard[0] not in held):
            return
        active = None if guard is None else _broadcast(group, guard[0]) != guard[1]
        if flow.lanes is not None:
            active = _broadcast(group, flow.lanes)
        arriving: list[tuple[Followed, Mask]] = []
        for source, slot in enumerate(flow.sources):
            for value, mask in held.get(slot, ()):
                here = group.pick(mask)
                if active is not None:
                    here = here & active
                if flow.role is Role.MULTIPLIES and slot in flow.targets and not value.computable:
                    continue  # the addend: products into the same registers are performed in order
                if _moves_on(value, flow.role):
                    here = here & self._matters(flow, source, group)
                if here.any():
                    self._arrive(value, here, flow, instruction, group, arriving)
        for value, mask in held.get(guard[0], ()) if guard is not None else ():
            here = group.pick(mask)
            if here.any():
                self._arrive(value, here, flow, instruction, group, arriving)
        if flow.role is Role.MULTIPLIES:
            return
        for value, _ in arriving:
            value.holders += 1  # the register that it leaves may be the one that it moves to
        for slot in flow.written:
            self._clear(slot, group, None if slot in flow.masks else active)
            for value, here in arriving:
                whole = np.zeros(self._size, np.bool_)
                whole[slice(None) if group.lanes is None else group.lanes] = here
                self._add(slot, value, whole)
        for value, _ in arriving:
            _let_go(value)

    def _arrive(  # noqa: PLR0917 - one lane mask and what it concerns
        self,
        value: Followed,
        here: Mask,
        flow: Flow,
        instruction: Instruction,
        group: Group,
        arriving: list[tuple[Followed, Mask]],
    ) -> None:
        if _moves_on(value, flow.role):
            arriving.append((value, here))
        else:
            value.use(group.numbers_at(np.flatnonzero(here)), instruction)

    def _matters(self, flow: Flow, source: int, group: Group) -> Mask | bool:
        """The lanes of a group whose result depends on a source, given by its index; True for all."""
        if flow.role is Role.SELECTS and source < 2:
            chosen = flow.conditions[0](group) if flow.conditions else _broadcast(group, flow.sources[2])
            return np.asarray(chosen if source == 0 else ~chosen)
        if flow.role in (Role.AND, Role.OR):
            registers = len(flow.sources) // 2  # of an operand
            other = 0 if source >= registers else 1
            slots = flow.sources[registers * other : registers * (other + 1)]
            bits = flow.conditions[other](group) if flow.conditions else _broadcast(group, slots[0])
            matters = bits != 0 if flow.role is Role.AND else ~bits != 0
            for slot in slots:
                for _, mask in self._held.get(slot, ()):
                    matters = matters | group.pick(mask)
            return np.asarray(matters)
        return True

    def _add(self, slot: int, value: Followed, mask: Mask) -> None:
        entries = self._held.setdefault(slot, [])
        for known, lanes in entries:
            if known is value:
                lanes[mask] = True
                return
        value.holders += 1
        entries.append((value, mask))

    def _clear(self, slot: int, group: Group, active: Mask | None) -> None:
        entries = self._held.get(slot)
        if entries is None:
            return
        lanes = slice(None) if group.lanes is None else group.lanes
        for _, mask in entries:
            if active is None:
                mask[lanes] = False
            else:
                mask[lanes] &= ~active
        self._tidy(slot)

    def _tidy(self, slot: int) -> None:
        entries = self._held[slot]
        kept = [entry for entry in entries if entry[1].any()]
        if len(kept) == len(entries):
            return
        for value, mask in entries:
            if not mask.any():
                _let_go(value)
        if kept:
            self._held[slot] = kept
        else:
            del self._held[slot]


def _let_go(value: Followed) -> None:
    """One register less holds a value."""
    value.holders -= 1
    if not value.holders:
        value.drop()


def _moves_on(value: Followed, role: Role) -> bool:
    """Whether an instruction of this role only moves a value to its results."""
    return role is Role.COPIES or (value.computable and role in FOLLOWED)


def _broadcast(group: Group, slot: int) -> NDArray[Any]:
    return np.broadcast_to(group.get(slot), group.count)
