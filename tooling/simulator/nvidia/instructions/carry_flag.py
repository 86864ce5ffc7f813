"""Arithmetic with the carry flag: add.cc, addc, sub.cc, subc, mad.cc, madc (PTX ISA 9.7.2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.gpu.code_model import Instruction
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.numerics.rounding import PRED, U32, U64
from tooling.simulator.nvidia.instructions.load_store import active
from tooling.simulator.nvidia.lowering.binders import assign, binds, write
from tooling.simulator.nvidia.lowering.decoder import Decoder
from tooling.simulator.nvidia.lowering.predicates import guard
from tooling.simulator.nvidia.semantics.integer import high_product
from tooling.simulator.nvidia.semantics.registry import DTYPES
from tooling.simulator.program.program import Batch

Array = NDArray[Any]
Chain = Callable[[Array, Array, Array], tuple[Array, Array]]
"""A function from (a, b, carry in) to (result, carry out)."""


def _add(a: Array, b: Array, carry: Array) -> tuple[Array, Array]:
    partial = a + b
    total = partial + carry.astype(a.dtype)
    return total, (partial < a) | (total < partial)


def _subtract(a: Array, b: Array, flag: Array) -> tuple[Array, Array]:
    """The carry is set where there is no borrow, as observed on an H200 with addc after sub.cc."""
    partial = a - b
    total = partial - (~flag).astype(a.dtype)
    return total, ~((a < b) | (partial < total))


@binds("addc", "subc", "madc", "cc")
def _carry(decoder: Decoder, instruction: Instruction, _following: int) -> None:
    """An opcode that ends with `c` reads the carry flag; `.cc` writes it."""
    opcode = instruction.opcode
    takes = opcode in ("addc", "subc", "madc")
    name = opcode.removesuffix("c") if takes else opcode
    *form, kind = instruction.modifiers or ("",)
    gives = "cc" in form
    form = [modifier for modifier in form if modifier != "cc"]
    product = form[0] if name == "mad" and form in (["lo"], ["hi"]) else ""
    if (
        kind not in ("u32", "s32", "u64", "s64")
        or name not in ("add", "sub", "mad")
        or form != [product][: len(product)]
    ):
        raise decoder.unknown(instruction)
    dtype = DTYPES[kind]
    unsigned = U32 if dtype.itemsize == 4 else U64
    destination, *sources = instruction.operands
    if len(sources) != (3 if product else 2):
        raise decoder.unknown(instruction)
    slots = [decoder.value(source, dtype, instruction) for source in sources]
    flag = decoder.flag()
    if takes or instruction.predicate is not None:
        decoder.block.reads(flag)
    target = write(decoder, destination, instruction)
    guarding = guard(decoder, instruction)
    if gives and guarding is None:
        decoder.block.defines.add(flag)
    chain: Chain = _subtract if name == "sub" else _add
    neutral = np.array([name == "sub"])

    def step(group: Group, batch: Batch) -> None:
        some, mask, _ = active(group, guarding, batch.size)
        if not some:
            return
        values = [group.get(slot).view(dtype) for slot in slots]
        if product:
            low = values[0] * values[1] if product == "lo" else high_product(values[0], values[1])
            values = [low, values[2]]
        before = group.get(flag) if takes else neutral
        total, after = chain(values[0].view(unsigned), values[1].view(unsigned), before)
        assign(group, target, total, mask, unsigned)
        if gives:
            assign(group, flag, after, mask, PRED)

    decoder.block.steps.append(step)
