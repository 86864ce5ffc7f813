"""Properties of the memory accesses in a kernel's PTX: their widths, which give the granule of the shadow
memory, and whether some of them may order accesses of different blocks."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tooling.simulator.gpu.code_model import Function, Instruction, Register, Vector
from tooling.simulator.gpu.hooks import Space
from tooling.simulator.program.backend import Accesses, Order, Scope

_ACCESSES = frozenset({"ld", "st", "atom", "red", "cp"})
_SPACES = frozenset(
    {"global", "shared", "shared::cta", "shared::cluster", "local", "param", "param::entry", "const"}
)
_MEANT = {
    Space.GLOBAL: frozenset({"global"}),
    Space.SHARED: frozenset({"shared", "shared::cta", "shared::cluster"}),
    Space.LOCAL: frozenset({"local"}),
}
_SYNCHRONISING = frozenset({"acquire", "release", "acq_rel", "sc"})
_OTHER_FENCES = frozenset({"proxy", "mbarrier_init"})
"""Fences that do not order ordinary accesses."""
_OF_THE_SYSTEM = frozenset({"sys", "volatile", "mmio"})
"""A volatile access is a relaxed one of system scope (PTX ISA 8.5)."""
_TYPE = re.compile(r"^(?:[bsuf]|bf)(8|16|32|64|128)(x2)?$")


def accesses_of(functions: Iterable[Function], read: frozenset[str]) -> Accesses:
    """The accesses of a kernel and of the functions that it may call.

    Args:
        read: the registers that an instruction reads.
    """
    body = [item for function in functions for item in function.body if isinstance(item, Instruction)]
    granules = {space: granule_of(body, space) for space in (Space.GLOBAL, Space.SHARED)}
    synchronise = any(
        item.opcode in ("fence", "membar") or not _SYNCHRONISING.isdisjoint(item.modifiers) for item in body
    )
    acquiring = [item for item in body if item.is_strong and _acquires(item, read)]
    narrow = [item for item in body if item.is_strong and _scope(item) < Scope.DEVICE]
    return Accesses(
        granules,
        synchronise,
        _spaces_of(acquiring),
        lambda item: _acquires(item, read),
        _order,
        _spaces_of(narrow),
        _scope,
        any(item.opcode == "wgmma" or "bulk" in item.modifiers for item in body),
    )


def _spaces_of(accesses: Iterable[Instruction]) -> frozenset[Space]:
    """The memories that some of these instructions may access."""
    return frozenset(
        space
        for item in accesses
        for space in (Space.GLOBAL, Space.SHARED)
        if _width(item, space) is not None
    )


def _scope(instruction: Instruction) -> Scope:
    """The scope of a strong access; without a modifier that of the device (PTX ISA 9.7.13.5)."""
    if "cta" in instruction.modifiers:
        return Scope.BLOCK
    if _OF_THE_SYSTEM.isdisjoint(instruction.modifiers):
        return Scope.CLUSTER if "cluster" in instruction.modifiers else Scope.DEVICE
    return Scope.SYSTEM


def _order(instruction: Instruction) -> Order:
    """How a strong access or a fence orders blocks (PTX ISA 8.5: scopes; 8.8: patterns)."""
    modifiers = frozenset(instruction.modifiers)
    reaches = "cta" not in modifiers
    if instruction.opcode in ("fence", "membar"):
        ordinary = modifiers.isdisjoint(_OTHER_FENCES)
        return Order(reaches and ordinary, "release" not in modifiers, "acquire" not in modifiers)
    both = "acq_rel" in modifiers
    return Order(reaches, both or "acquire" in modifiers, both or "release" in modifiers)


def _acquires(instruction: Instruction, read: frozenset[str]) -> bool:
    """Whether a strong access reads a value into one of the registers `read`."""
    if instruction.opcode == "ld":
        return True
    if instruction.opcode != "atom":
        return False
    result = instruction.operands[0]
    elements = result.elements if isinstance(result, Vector) else (result,)
    return any(isinstance(element, Register) and element.name in read for element in elements)


def granule_of(body: Iterable[Instruction], space: Space) -> int:
    """The narrowest access of a kernel to a memory, in bytes: 1, 2, 4 (also without any access) or 8.

    A generic access counts for every memory.
    """
    widths = {width for item in body if (width := _width(item, space)) is not None}
    return min(8, *widths) if widths else 4


def _width(instruction: Instruction, space: Space) -> int | None:
    """Bytes of one element, or None if the instruction does not access that memory."""
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
