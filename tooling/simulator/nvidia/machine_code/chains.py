"""Chains of dependent instructions: each reads a register that the one before it writes.

They are counted in instructions, not in cycles, since the latency of an instruction is not in its encoding
where a scoreboard waits for it. Values that go through memory are not followed.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from tooling.simulator.nvidia.machine_code.disassembly import SassInstruction
from tooling.simulator.nvidia.machine_code.operands import Uses, uses_of


class Chains(Struct, frozen=True):
    """Of an iteration of a loop, whose instructions are taken once each, in the order of their addresses.

    Attributes:
        longest: indices of the longest chain of an iteration.
        carried: indices of the longest chain from a register's value at the beginning of an iteration to its
            value at the beginning of the next: iterations cannot follow each other faster than this chain
            takes. Empty: no register's value depends on the one before.
    """

    longest: tuple[int, ...]
    carried: tuple[int, ...]


def chains_of(code: Sequence[SassInstruction], indices: Sequence[int]) -> Chains:
    """The chains of a loop's instructions, given by index in ascending order."""
    uses = {index: uses_of(code[index]) for index in indices}
    longest = max(_ends(indices, uses, None).values(), key=len, default=())
    written = frozenset().union(*(use.writes for use in uses.values()))
    carried = [
        _ends(indices, uses, register).get(register, ()) for register in _entering(indices, uses) & written
    ]
    return Chains(longest, max(sorted(carried), key=len, default=()))


def _entering(indices: Sequence[int], uses: dict[int, Uses]) -> frozenset[str]:
    """The registers that are read before the iteration writes them."""
    written: set[str] = set()
    entering: set[str] = set()
    for index in indices:
        entering |= uses[index].reads - written
        written |= uses[index].writes
    return frozenset(entering)


def _ends(indices: Sequence[int], uses: dict[int, Uses], start: str | None) -> dict[str, tuple[int, ...]]:
    """For each register, the longest chain that ends in its last value.

    Args:
        start: chains must begin by reading the value of this register at the beginning; None: anywhere.
    """
    ends: dict[str, tuple[int, ...]] = {} if start is None else {start: ()}
    for index in indices:
        use = uses[index]
        known = [ends[register] for register in use.reads if register in ends]
        if start is None or known:
            chain = (*max(known, key=len, default=()), index)
            ends.update(dict.fromkeys(use.writes, chain))
        else:
            for register in use.writes:
                ends.pop(register, None)
    return ends
