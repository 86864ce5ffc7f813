"""Address instructions: cvta, isspacep, mapa, getctarank (PTX ISA 9.7.9.20 to 9.7.9.24)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.gpu.code_model import Instruction, Operand
from tooling.simulator.gpu.generic_addresses import CLUSTER_SHIFT, LOCAL_WINDOW, SHARED_WINDOW, by_space
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.gpu.stop_texts import NARROW_ADDRESS
from tooling.simulator.numerics.rounding import PRED, U32, U64
from tooling.simulator.nvidia.instructions.load_store import SPACES, active
from tooling.simulator.nvidia.lowering.binders import assign, binds, write
from tooling.simulator.nvidia.lowering.decoder import Decoder
from tooling.simulator.nvidia.lowering.predicates import guard
from tooling.simulator.nvidia.semantics.registry import DTYPES
from tooling.simulator.program.program import Batch

Array = NDArray[Any]


@binds("cvta")
def _generic(decoder: Decoder, instruction: Instruction, _following: int) -> None:
    """`cvta` to and from generic addresses (PTX ISA 9.7.9.20), with windows for shared and local memory."""
    space = next(
        (m.partition("::")[0] for m in instruction.modifiers if m.partition("::")[0] in SPACES), "param"
    )
    if instruction.modifiers[-1] != "u64":
        raise decoder.unknown(instruction, NARROW_ADDRESS)
    if space in ("param", "const"):
        base = decoder.constant_window() if space == "const" else decoder.parameter_block()
        _generic_from_base(decoder, instruction, base)
        return
    window = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW}.get(space, 0)
    back = "to" in instruction.modifiers
    destination, source = instruction.operands
    slot = decoder.value(source, U64, instruction, any_width=True)
    result = DTYPES[instruction.modifiers[-1]]
    distance = np.uint64((-window if back else window) % (1 << 64))

    def compute(group: Group) -> Array:
        value = group.get(slot)
        wide = (value if value.dtype.itemsize == 8 else value.astype(U64)).view(U64)
        return (wide + distance if window else wide).astype(result, copy=False)

    _set(decoder, instruction, destination, compute, result)


def _generic_from_base(decoder: Decoder, instruction: Instruction, base: int) -> None:
    """Generic addresses of constants and kernel parameters, which are in device memory.

    Args:
        base: the slot of the device address at which they begin.
    """
    destination, source = instruction.operands
    slot = decoder.value(source, U64, instruction)
    back = "to" in instruction.modifiers

    def compute(group: Group) -> Array:
        value, start = group.get(slot).astype(U64), group.get(base)
        return value - start if back else value + start

    _set(decoder, instruction, destination, compute, U64)


def _set(
    decoder: Decoder,
    instruction: Instruction,
    destination: Operand,
    compute: Callable[[Group], Array],
    dtype: np.dtype[Any],
) -> None:
    """Append a step that sets a register for the lanes that the predicate enables."""
    target = write(decoder, destination, instruction, dtype)
    guarding = guard(decoder, instruction)

    def step(group: Group, batch: Batch) -> None:
        some, mask, _ = active(group, guarding, batch.size)
        if some:
            value = compute(group)
            assign(group, target, value, mask, dtype)

    decoder.block.steps.append(step)


@binds("isspacep")
def _is_space(decoder: Decoder, instruction: Instruction, _following: int) -> None:
    wanted = SPACES.get(instruction.modifiers[0].partition("::")[0])
    if wanted is None:
        raise decoder.unknown(instruction)
    destination, source = instruction.operands
    slot = decoder.value(source, U64, instruction)
    constants = instruction.modifiers[0] == "const"
    window, size = decoder.constant_window(), np.uint64(decoder.module.constant_bytes)

    def compute(group: Group) -> Array:
        address = group.get(slot).view(U64)
        in_constants = address - group.get(window) < size
        if constants:
            return np.asarray(in_constants)
        result = np.zeros(len(address), PRED)
        for found, which, _ in by_space(address):
            if found is wanted:
                result |= True if which is None else which
        return result & ~in_constants

    _set(decoder, instruction, destination, compute, PRED)


@binds("mapa")
def _map_address(decoder: Decoder, instruction: Instruction, _following: int) -> None:
    """The corresponding shared address in another block of the cluster (PTX ISA 9.7.9.22)."""
    destination, source, block = instruction.operands
    *space, kind = instruction.modifiers
    dtype = DTYPES[kind]
    generic = not space
    if space not in ([], ["shared"], ["shared::cluster"]) or dtype not in ((U64,) if generic else (U32, U64)):
        raise decoder.unknown(instruction)
    slot = decoder.value(source, dtype, instruction)
    rank_slot = decoder.value(block, U32, instruction)

    def compute(group: Group) -> Array:
        address = group.get(slot).view(dtype)
        rank = group.get(rank_slot).view(U32).astype(dtype) + dtype.type(1)
        window = dtype.type(SHARED_WINDOW if generic else 0)
        offset = (address - window) & dtype.type((1 << CLUSTER_SHIFT) - 1)
        return np.asarray((rank << dtype.type(CLUSTER_SHIFT)) + offset + window)

    _set(decoder, instruction, destination, compute, dtype)


@binds("getctarank")
def _block_rank(decoder: Decoder, instruction: Instruction, _following: int) -> None:
    """The rank in the cluster of the block whose shared memory an address is in (PTX ISA 9.7.9.23).

    The type is that of the address, 32 or 64 bits; the rank always has 32 bits.
    """
    destination, source = instruction.operands
    *space, kind = instruction.modifiers
    dtype = DTYPES[kind]
    if space not in ([], ["shared::cluster"]) or dtype not in (U32, U64):
        raise decoder.unknown(instruction)
    slot = decoder.value(source, dtype, instruction)
    own = decoder.special("%cluster_ctarank")

    def compute(group: Group) -> Array:
        address = group.get(slot).astype(U64)
        rank = ((address & np.uint64(0xFFFFFFFF)) >> np.uint64(CLUSTER_SHIFT)).astype(U32)
        return np.where(rank > 0, rank - np.uint32(1), group.get(own))

    _set(decoder, instruction, destination, compute, U32)
