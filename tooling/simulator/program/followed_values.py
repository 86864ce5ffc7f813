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
_NOTHING: dict[Followed, Mask] = {}


class Followed(Protocol):
    """A value in registers.

    Attributes:
        holders: how many registers, and values that were joined, hold it in some lane.
        computable: arithmetic does not use it, as a copy does not; what uses the result does.
        joinable: of the uses by a lane only the first one counts.
        settled: nothing can be found about any use of it any more.
    """

    holders: int
    computable: bool
    joinable: bool

    @property
    def settled(self) -> bool:
        """See `Followed`."""
        ...

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
    joinable = False
    settled = False

    def __init__(self, used: Callable[[NDArray[np.intp], Instruction], None]) -> None:
        self.holders = 0
        self._used = used

    def use(self, lanes: NDArray[np.intp], instruction: Instruction) -> None:
        """These lanes of the batch use it."""
        self._used(lanes, instruction)

    def drop(self) -> None:
        """It has been written everywhere."""


MOST_VALUES = 32
"""The most values of a result that are listed one by one. More are joined, so that an instruction costs the
same however many loads its operands come from."""


class JoinedValues:
    """Values that moved to a register together, in whichever lanes.

    Attributes:
        parts: the values, and the lanes of the batch in which the register held each.
    """

    computable = True
    joinable = True
    settled = False

    def __init__(self, parts: dict[Followed, Mask]) -> None:
        self.holders = 0
        self.parts = parts
        self._left: Mask | None = None
        for value in parts:
            value.holders += 1

    def use(self, lanes: NDArray[np.intp], instruction: Instruction) -> None:
        """These lanes of the batch use all of them: each part that was joined in turn, without recursion."""
        stack: list[tuple[Followed, NDArray[np.intp]]] = [(self, lanes)]
        while stack:
            value, using = stack.pop()
            if not isinstance(value, JoinedValues):
                value.use(using, instruction)
                continue
            first = value.first_uses(using)
            if len(first):
                inside = [(part, first[mask[first]]) for part, mask in value.parts.items()]
                stack += [each for each in reversed(inside) if len(each[1])]

    def first_uses(self, lanes: NDArray[np.intp]) -> NDArray[np.intp]:
        """Those of the lanes that have not used the values before."""
        if self._left is None:
            self._left = np.logical_or.reduce(list(self.parts.values()))
        first = lanes[self._left[lanes]]
        self._left[first] = False
        return first

    def drop(self) -> None:
        """See `Followed`; the parts are dropped by `_let_go`."""


class FollowedValues:
    """The followed values of one batch.

    Masks are never modified, only replaced, so that registers share them.

    Args:
        size: lanes of the batch.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._held: dict[int, dict[Followed, Mask]] = {}

    def __bool__(self) -> bool:
        return bool(self._held)

    def held(self, slot: int) -> list[Followed]:
        """The values that a register holds in some lane, as they are listed."""
        return list(self._held.get(slot, ()))

    def hold(self, slot: int, value: Followed, lanes: NDArray[np.intp]) -> None:
        """These lanes of a register hold a value."""
        if value.settled:
            return
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
            kept = np.ones(self._size, np.bool_)
            for value in list(entries):
                lanes = over(value)
                if lanes is not None:
                    kept[lanes] = False
                    self._limit(slot, value, kept)
                    kept[lanes] = True

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
        if active is not None and active.all():
            active = None
        arriving: dict[Followed, Mask] = {}
        for source, slot in enumerate(flow.sources):
            for value, mask in held.get(slot, _NOTHING).items():
                if value.settled:
                    continue
                if flow.role is Role.MULTIPLIES and slot in flow.targets and not value.computable:
                    continue  # the addend: products into the same registers are performed in order
                here = group.pick(mask)
                if active is not None:
                    here = here & active
                if _moves_on(value, flow.role):
                    matters = self._matters(flow, source, group)
                    here = here if matters is True else here & matters
                if here is mask or here.any():
                    self._arrive(value, here, flow, instruction, group, arriving)
        for value, mask in held.get(guard[0], _NOTHING).items() if guard is not None else ():
            here = group.pick(mask)
            if not value.settled and here.any():
                self._arrive(value, here, flow, instruction, group, arriving)
        if flow.role is Role.MULTIPLIES:
            return
        if len(arriving) > MOST_VALUES:
            arriving = _joined(arriving)
        for value in arriving:
            value.holders += 1  # the register that it leaves may be the one that it moves to
        for slot in flow.written:
            self._clear(slot, group, None if slot in flow.masks else active)
            for value, mask in arriving.items():
                self._add(slot, value, mask)
        for value in arriving:
            _let_go(value)

    def _arrive(  # noqa: PLR0917 - one lane mask and what it concerns
        self,
        value: Followed,
        here: Mask,
        flow: Flow,
        instruction: Instruction,
        group: Group,
        arriving: dict[Followed, Mask],
    ) -> None:
        if _moves_on(value, flow.role):
            if group.lanes is not None:
                whole = np.zeros(self._size, np.bool_)
                whole[group.lanes] = here
                here = whole
            known = arriving.get(value)
            arriving[value] = here if known is None else known | here
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
                for mask in self._held.get(slot, _NOTHING).values():
                    matters = matters | group.pick(mask)
            return np.asarray(matters)
        return True

    def _add(self, slot: int, value: Followed, mask: Mask) -> None:
        entries = self._held.setdefault(slot, {})
        known = entries.get(value)
        if known is None:
            value.holders += 1
            entries[value] = mask
        elif known is not mask:
            entries[value] = known | mask

    def _clear(self, slot: int, group: Group, active: Mask | None) -> None:
        entries = self._held.get(slot)
        if entries is None:
            return
        if group.lanes is None and active is None:
            del self._held[slot]
            for value in entries:
                _let_go(value)
            return
        kept = np.ones(self._size, np.bool_)
        kept[slice(None) if group.lanes is None else group.lanes] = False if active is None else ~active
        for value in list(entries):
            self._limit(slot, value, kept)

    def _limit(self, slot: int, value: Followed, kept: Mask) -> None:
        """A register holds a value only in lanes of a mask."""
        entries = self._held[slot]
        mask = entries[value] & kept
        if mask.any():
            entries[value] = mask
            return
        del entries[value]
        if not entries:
            del self._held[slot]
        _let_go(value)


def _joined(values: dict[Followed, Mask]) -> dict[Followed, Mask]:
    """The values, with all joinable ones as one."""
    parts = {value: mask for value, mask in values.items() if value.joinable}
    rest = {value: mask for value, mask in values.items() if not value.joinable}
    return {JoinedValues(parts): np.logical_or.reduce(list(parts.values())), **rest} if parts else rest


def _let_go(value: Followed) -> None:
    """One register less holds a value, without recursion into what was joined."""
    stack = [value]
    while stack:
        value = stack.pop()
        value.holders -= 1
        if not value.holders:
            value.drop()
            if isinstance(value, JoinedValues):
                stack += value.parts


def _moves_on(value: Followed, role: Role) -> bool:
    """Whether an instruction of this role only moves a value to its results."""
    return role is Role.COPIES or (value.computable and role in FOLLOWED)


def _broadcast(group: Group, slot: int) -> NDArray[Any]:
    return np.broadcast_to(group.get(slot), group.count)
