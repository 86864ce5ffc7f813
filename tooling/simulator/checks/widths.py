"""How wide a kernel's accesses are: what decides the granule of the race check's shadow."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tooling.simulator.hooks import Space
from tooling.simulator.ptx_model import Instruction

_ACCESSES = frozenset({"ld", "st", "atom", "red", "cp"})
_SPACES = frozenset(
    {"global", "shared", "shared::cta", "shared::cluster", "local", "param", "param::entry", "const"}
)
_MEANT = {
    Space.GLOBAL: frozenset({"global"}),
    Space.SHARED: frozenset({"shared", "shared::cta", "shared::cluster"}),
    Space.LOCAL: frozenset({"local"}),
}
_TYPE = re.compile(r"^(?:[bsuf]|bf)(8|16|32|64|128)(x2)?$")


def granule_of(body: Iterable[Instruction], space: Space) -> int:
    """The narrowest access of a kernel to a memory, in bytes: 1, 2, 4 (also where there is none) or 8.

    A generic access counts for every memory, as it may go to any.
    """
    widths = {width for item in body if (width := _width(item, space)) is not None}
    return min(8, *widths) if widths else 4


def _width(instruction: Instruction, space: Space) -> int | None:
    """Bytes of one element, or None where the instruction does not go to that memory."""
    if instruction.opcode not in _ACCESSES:
        return None
    spaces = _SPACES.intersection(instruction.modifiers)
    if spaces and spaces.isdisjoint(_MEANT[space]):
        return None
    if instruction.opcode == "cp":
        return 4
    for modifier in reversed(instruction.modifiers):
        if match := _TYPE.match(modifier):
            return int(match[1]) // 8 * (2 if match[2] else 1)
    return None
