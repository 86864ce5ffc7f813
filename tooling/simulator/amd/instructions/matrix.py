"""Matrix multiplication by a whole wavefront: V_MFMA (CDNA 3 ISA, "Matrix Arithmetic Instructions"), V_WMMA.

V_MFMA ignores EXEC: the registers of all lanes are read and written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.amd.decoding.instruction import MachineInstruction, Modified, Operand
from tooling.simulator.amd.decoding.opcodes_gfx942 import VOP3P
from tooling.simulator.amd.instructions.binders import binds, step_of
from tooling.simulator.amd.instructions.vector import by_wave
from tooling.simulator.amd.lowering.binder import Lowering, put
from tooling.simulator.amd.lowering.waves import WaveGroup
from tooling.simulator.amd.semantics.bytes_and_pairs import fields, to_bfloat16
from tooling.simulator.amd.semantics.matrix_core import (
    WMMA_FORMS,
    input_lanes,
    matrix_form,
    multiply_add,
    to_xf32,
    wmma_types,
)
from tooling.simulator.amd.semantics.narrow_floats import widened
from tooling.simulator.numerics.rounding import F16, F32, F64, S32, U8, U16, U32
from tooling.simulator.program.program import Batch

Array = NDArray[Any]
_Elements = Callable[[WaveGroup], Array]
"""(waves, lanes, n): the numbers in consecutive registers of each lane."""

_TYPES: dict[str, np.dtype[Any]] = {"f32": F32, "f64": F64, "i32": S32}

MATRIX_FORMS = tuple(
    name for name in VOP3P.values() if name.startswith("v_mfma") and name != "v_mfma_f64_4x4x4_4b_f64"
)
"""The forms that are executed; where the left-out one has its blocks is not documented."""


def _registers(lowering: Lowering, operand: Operand, kind: str) -> _Elements:
    """The registers as numbers of a type of 4 or 8 bytes; a constant is every number."""
    dtype = _TYPES[kind]
    if operand.kind == "const":
        read = lowering.raw(operand, kind)
        return lambda group: np.broadcast_to(read(group).view(dtype), (group.waves, group.wave_size, 1))
    slots = lowering.of(operand)
    for slot in slots:
        lowering.block.reads(slot)

    def elements(group: WaveGroup) -> Array:
        words = np.stack([by_wave(group.get(slot).view(U32), group) for slot in slots], axis=2)
        return words.view(dtype)

    return elements


def numbers_of(words: Array, kind: str) -> Array:
    """The numbers in the last axis of registers, the lowest bits first, as the matrix cores multiply them."""
    if kind == "f64":
        return words.view(F64)
    if kind == "f32":
        return words.view(F32)
    if kind == "xf32":
        return to_xf32(words.view(F32))
    if kind == "f16":
        return words.view(F16).astype(F32)
    if kind == "bf16":
        return (words.view(U16).astype(U32) << U32.type(16)).view(F32)
    if kind == "i8":
        return words.view(np.int8).astype(S32)
    return widened(kind, words.view(U8))


@binds(*MATRIX_FORMS)
def _multiply_matrices(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    """CBSZ and ABID repeat one block of A for several products, BLGP exchanges the lanes of B; of float64
    numbers BLGP negates A, B and C instead."""
    form = matrix_form(instruction.name)
    modes = {flag.partition(":")[0]: int(flag.partition(":")[2]) for flag in instruction.flags}
    shared, chosen, pattern = (modes.get(name, 0) for name in ("cbsz", "abid", "blgp"))
    negated = pattern if form.result == "f64" else 0
    if 1 << shared > form.blocks:
        raise lowering.unsupported(instruction)
    chosen &= (1 << shared) - 1
    operands = [source.operand for source in instruction.sources]
    a, b = (_registers(lowering, operand, "i32") for operand in operands[:2])
    c = _registers(lowering, operands[2], form.result)
    slots = lowering.of(instruction.results[0])
    lowering.block.defines.update(slots)
    a_lane, a_number = form.input_positions(form.rows)
    b_lane, b_number = form.input_positions(form.columns)
    block = np.arange(form.blocks)
    a_lane, a_number = (each[(block >> shared << shared) + chosen] for each in (a_lane, a_number))
    if not negated:
        b_lane = input_lanes(pattern)[b_lane]
    lane, number = form.result_positions()
    dtype = _TYPES[form.result]
    count = len(slots) * 4 // dtype.itemsize
    signs = [dtype.type(-1 if negated >> position & 1 else 1) for position in range(3)]

    def step(group: WaveGroup, _batch: Batch) -> None:
        left = numbers_of(np.ascontiguousarray(a(group)), form.inputs[0])[:, a_lane, a_number]
        right = numbers_of(np.ascontiguousarray(b(group)), form.inputs[1])[:, b_lane, b_number]
        addend = np.broadcast_to(c(group), (group.waves, group.wave_size, count))[:, lane, number]
        if negated:
            left, right, addend = (
                each * sign for each, sign in zip((left, right, addend), signs, strict=True)
            )
        found = multiply_add(left, right, addend)
        result = np.empty((group.waves, group.wave_size, count), dtype)
        result[:, lane, number] = found
        words = result.view(U32)
        for position, slot in enumerate(slots):
            group.registers[slot] = np.ascontiguousarray(words[:, :, position]).reshape(-1)

    lowering.block.steps.append(step_of(step))


# -- WMMA of gfx1100 --------------------------------------------------------------------------------------

_SIZE = 16


@binds(*WMMA_FORMS)
def _multiply_in_a_wave(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    """V_WMMA: D = A * B + C of 16 by 16 numbers (RDNA 3 ISA 7.9).

    Lane n has row n of A and column n of B, the other 16 lanes a copy of them; register r of C and D has row
    2 * r of the first 16 lanes' columns, and row 2 * r + 1 of the others. A result of 16 bits is in one half
    of a register.
    """
    kind, result = wmma_types(instruction.name)
    operands = [source.operand for source in instruction.sources]
    a, b, c = (
        _registers(lowering, operand, "i32")
        if operand.kind != "const"
        else _constant(lowering, operand, result)
        for operand in operands
    )
    slots = lowering.vector_slots(instruction.results[0])
    first, second, third = instruction.sources
    high = third.low_half  # OPSEL[2]
    clamps = "clamp" in instruction.flags
    row = 2 * np.arange(len(slots))[None, :] + (np.arange(lowering.wave_size) >= _SIZE)[:, None]
    column = np.broadcast_to((np.arange(lowering.wave_size) % _SIZE)[:, None], row.shape)

    def matrix(words: Array, source: Modified) -> Array:
        words = np.ascontiguousarray(words[:, :_SIZE])
        if kind in ("iu8", "iu4"):
            elements = fields(words, int(kind[2:]), signed=source.negate)
            return np.stack(elements, axis=-1).reshape(*words.shape[:2], -1).astype(np.int64)
        if source.negate or source.negate_high:
            flip = 0x8000 * source.negate | 0x80000000 * source.negate_high
            words = words ^ S32.type(np.uint32(flip).view(S32))
        return numbers_of(words, kind)

    def addends(group: WaveGroup) -> Array:
        words = np.broadcast_to(c(group), (group.waves, group.wave_size, len(slots)))
        if result in ("f16", "bf16"):
            words = (words.view(U32) >> U32.type(16 * high)).astype(U16)
            numbers = words.view(F16).astype(F32) if result == "f16" else _brain(words)
        else:
            numbers = words.view(F32) if result == "f32" else words.view(S32).astype(np.int64)
        if third.negate_high and result != "i32":  # NEG_HI[2]: the absolute value
            numbers = np.abs(numbers)
        return -numbers if third.negate and result != "i32" else numbers

    def step(group: WaveGroup, _batch: Batch) -> None:
        left, right, base = matrix(a(group), first), matrix(b(group), second), addends(group)
        total = np.empty((group.waves, _SIZE, _SIZE), base.dtype)
        total[:, row, column] = base
        found = multiply_add(left, right, total)[:, row, column]
        if result == "i32":
            found = np.clip(found, -(2**31), 2**31 - 1) if clamps else found
            words = found.astype(np.int64).astype(U32)
        elif result == "f32":
            words = np.ascontiguousarray(found).view(U32)
        else:
            half = (
                found.astype(F16).view(U16) if result == "f16" else to_bfloat16(np.ascontiguousarray(found))
            )
            words = half.astype(U32)
        for position, slot in enumerate(slots):
            value = np.ascontiguousarray(words[:, :, position]).reshape(-1)
            if result in ("f16", "bf16"):
                old = group.get(slot).view(U32)
                kept = U32.type(0xFFFF if high else 0xFFFF0000)
                value = old & kept | value << U32.type(16 * high)
            put(group, slot, value)

    lowering.block.steps.append(step_of(step))


def _constant(lowering: Lowering, operand: Operand, result: str) -> _Elements:
    """A constant addend, as the bits of registers."""
    read = lowering.raw(operand, "f32" if result != "i32" else "i32")
    return lambda group: np.broadcast_to(read(group).view(S32), (group.waves, group.wave_size, 1))


def _brain(words: Array) -> Array:
    return (words.astype(U32) << U32.type(16)).view(F32)
