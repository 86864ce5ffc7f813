"""Liveness of register values."""

from __future__ import annotations

from collections.abc import Sequence


def liveness(
    reads: Sequence[set[int]], writes: Sequence[set[int]], successors: Sequence[Sequence[int]]
) -> list[tuple[int, ...]]:
    """Live-in slots of every block, by backward iteration over sets kept as bits of integers.

    Args:
        reads: per block, the slots that it reads before it writes them; writes: those that it always writes.
        successors: per block, the numbers of its successors.
    """
    uses = [_bits(slots) for slots in reads]
    kept = [~_bits(slots) for slots in writes]
    live = list(uses)
    changed = True
    while changed:
        changed = False
        for number in range(len(uses) - 1, -1, -1):
            out = 0
            for successor in successors[number]:
                out |= live[successor]
            now = uses[number] | (out & kept[number])
            if now != live[number]:
                live[number] = now
                changed = True
    return [_members(bits) for bits in live]


def _bits(slots: set[int]) -> int:
    total = 0
    for slot in slots:
        total |= 1 << slot
    return total


def _members(bits: int) -> tuple[int, ...]:
    text = bin(bits)[:1:-1]
    members = []
    position = text.find("1")
    while position >= 0:
        members.append(position)
        position = text.find("1", position + 1)
    return tuple(members)
