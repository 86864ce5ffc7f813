"""What instructions do with the values of registers, and the loads whose value may remain unused.

A back end that gives each instruction its `Flow` lets the engine follow values (`followed_values`); without
that, every loaded value counts as used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from enum import Enum
from typing import NamedTuple, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tooling.simulator.gpu.lanes import Group

Condition: TypeAlias = Callable[[Group], NDArray[np.bool_]]
"""The flags of a group's lanes in a mask."""


class Role(Enum):
    """What an instruction does with the values that it reads."""

    COPIES = "the result is the value"
    COMPUTES = "the result depends on all of them"
    SELECTS = "the result is the first or the second, as the third says"
    AND = "the result does not depend on one operand where the other is zero"
    OR = "the result does not depend on one operand where the other has only ones"
    LOADS = "they are addresses, and the result comes from memory"
    MULTIPLIES = "an asynchronous product, which adds to its results"
    FENCES = "what was written to registers before is ordered before the products that follow"
    USES = "they have an effect outside the registers, or on what is executed"


FOLLOWED = frozenset({Role.COPIES, Role.COMPUTES, Role.SELECTS, Role.AND, Role.OR})
"""Roles in which the values only move on to the results."""


class Flow(Struct, frozen=True):
    """The registers that one instruction reads and writes, by slot.

    Attributes:
        guard: the predicate and whether it is negated; without a guard None.
        lanes: of a vector unit, the slot of the flags of the lanes that execute it; None: all lanes do.
        masks: registers that it writes for all lanes, whichever execute it.
        conditions: of SELECTS, the lanes whose result is the first operand; of AND and OR, the lanes where
            each operand has a one, if the operands are masks of lanes. Without them the registers are flags.
        narrows: fewer lanes may execute what follows.
        fenced: of MULTIPLIES, the registers that need a fence after another instruction has computed them.
        other: the flow of the other half of a dual instruction, which reads nothing that this one writes.
    """

    role: Role
    sources: tuple[int, ...] = ()
    targets: tuple[int, ...] = ()
    guard: tuple[int, bool] | None = None
    lanes: int | None = None
    masks: tuple[int, ...] = ()
    conditions: tuple[Condition, ...] = ()
    narrows: bool = False
    fenced: tuple[int, ...] = ()
    other: Flow | None = None

    @property
    def written(self) -> tuple[int, ...]:
        """All registers that it writes."""
        return (*self.targets, *self.masks) if self.masks else self.targets


def loads_without_sure_use(
    flows: Sequence[Sequence[Flow]], successors: Sequence[Sequence[int]]
) -> list[frozenset[int]]:
    """Per basic block, the loads (by index) whose value is not used on every path to the end.

    A slot is surely used at a point if every path from there has an instruction with the role USES that
    depends on it: a backward analysis, whose greatest fixed point is wanted. A load in a loop whose value is
    used after the last iteration counts as used in all: a register that only this load writes is not
    overwritten by it.
    """
    writers = Counter(slot for block in flows for flow in block for slot in _all_written(flow))
    steps = [[_step(flow, writers) for flow in block] for block in flows]
    after: list[set[int] | None] = [None] * len(flows)
    before: list[set[int] | None] = [None] * len(flows)
    changed = True
    while changed:
        changed = False
        for number in range(len(flows) - 1, -1, -1):
            ends = [one for each in successors[number] if (one := before[each]) is not None]
            if not ends and successors[number]:
                continue  # nothing is known yet of what follows
            out = set.intersection(*ends) if ends else set()
            if out == after[number] and before[number] is not None:
                continue
            after[number], changed = out, True
            before[number] = _before(steps[number], set(out))
    return [_unsure(each, out or set()) for each, out in zip(steps, after, strict=True)]


class _Step(NamedTuple):
    """A flow, and the registers whose earlier value may be lost by it."""

    flow: Flow
    lost: tuple[int, ...]


def _all_written(flow: Flow) -> tuple[int, ...]:
    return flow.written if flow.other is None else (*flow.written, *flow.other.written)


def _step(flow: Flow, writers: Counter[int]) -> _Step:
    if flow.role is Role.MULTIPLIES:
        return _Step(flow, ())
    alone = flow.role is Role.LOADS
    return _Step(flow, tuple(slot for slot in _all_written(flow) if not (alone and writers[slot] == 1)))


def _before(steps: Sequence[_Step], used: set[int]) -> set[int]:
    for step in reversed(steps):
        _step_back(step, used)
    return used


def _step_back(step: _Step, used: set[int]) -> None:
    """Change the slots that are surely used after an instruction to those before it."""
    flow = step.flow
    if flow.narrows:
        used.clear()
    matters = flow.role not in FOLLOWED or not used.isdisjoint(_all_written(flow))
    used.difference_update(step.lost)
    if not matters or flow.other is not None:
        return
    if flow.guard is not None:
        used.add(flow.guard[0])
    elif flow.role is Role.SELECTS:
        used.update(flow.sources[2:])
    elif flow.role not in (Role.AND, Role.OR):
        used.update(flow.sources)


def _unsure(steps: Sequence[_Step], used: set[int]) -> frozenset[int]:
    found = []
    for index in range(len(steps) - 1, -1, -1):
        flow = steps[index].flow
        if flow.role is Role.LOADS and not used.issuperset(flow.targets):
            found.append(index)
        _step_back(steps[index], used)
    return frozenset(found)


def products_without_fence(
    flows: Sequence[Sequence[Flow]], successors: Sequence[Sequence[int]]
) -> list[frozenset[int]]:
    """Per basic block, the products (by index) with a register that was computed since the last fence.

    A forward analysis: on some path there. A copy counts as what it copies, since compilers copy results of
    products from register to register between them, and constants count as ordered.
    """
    computed: list[set[int]] = [set() for _ in flows]
    work = list(range(len(flows)))
    while work:
        number = work.pop()
        state = set(computed[number])
        for flow in flows[number]:
            _pass_forward(flow, state)
        for each in successors[number]:
            if not state <= computed[each]:
                computed[each] |= state
                work.append(each)
    found = []
    for block, state in zip(flows, computed, strict=True):
        unfenced = set()
        for index, flow in enumerate(block):
            if flow.role is Role.MULTIPLIES and not state.isdisjoint(flow.fenced):
                unfenced.add(index)
            _pass_forward(flow, state)
        found.append(frozenset(unfenced))
    return found


def _pass_forward(flow: Flow, computed: set[int]) -> None:
    """Change the registers that were computed since the last fence from before an instruction to after it."""
    if flow.role is Role.FENCES:
        computed.clear()
    elif flow.role is Role.MULTIPLIES or (
        flow.role is Role.COPIES and flow.guard is None and computed.isdisjoint(flow.sources)
    ):
        computed.difference_update(flow.written)
    elif flow.role is not Role.COPIES or not computed.isdisjoint(flow.sources):
        computed.update(flow.written)
