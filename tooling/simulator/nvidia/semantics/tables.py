"""Look-up of the operation of an instruction form, in all tables."""

from __future__ import annotations

from tooling.simulator.nvidia.semantics import bit_fields, convert, floating_point, integer, logic, video
from tooling.simulator.nvidia.semantics.registry import MAKERS, Operation

TABLES = (integer, bit_fields, logic, floating_point, convert, video)
"""Each of these modules registers its operations in `MAKERS` when it is imported."""

_KNOWN: dict[tuple[str, tuple[str, ...]], Operation | None] = {}


def lookup(opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    """The operation of a form such as ("add", ("rn", "f32")), or None for an unknown form."""
    key = (opcode, modifiers)
    if key not in _KNOWN:
        maker = MAKERS.get(opcode)
        _KNOWN[key] = maker(modifiers) if maker else None
    return _KNOWN[key]
