"""Every table of operations together: what an instruction form means."""

from __future__ import annotations

from tooling.simulator.nvidia.semantics import bit_fields, convert, floating_point, integer, logic
from tooling.simulator.nvidia.semantics.registry import MAKERS, Operation

TABLES = (integer, bit_fields, logic, floating_point, convert)
"""Each of these modules enters its operations into `MAKERS` when it is imported."""

_KNOWN: dict[tuple[str, tuple[str, ...]], Operation | None] = {}


def lookup(opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    """The operation of a form such as ("add", ("rn", "f32")), or None when the table has none."""
    key = (opcode, modifiers)
    if key not in _KNOWN:
        maker = MAKERS.get(opcode)
        _KNOWN[key] = maker(modifiers) if maker else None
    return _KNOWN[key]
