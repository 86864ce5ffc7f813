"""Matrix multiplication by a whole wavefront: V_MFMA (CDNA 3 ISA, "Matrix Arithmetic Instructions").

EXEC is ignored: the registers of all lanes are read and written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.amd.decoding.instruction import MachineInstruction, Operand
from tooling.simulator.amd.decoding.opcodes_gfx942 import VOP3P
from tooling.simulator.amd.instructions.binders import binds, step_of
from tooling.simulator.amd.instructions.vector import by_wave
from tooling.simulator.amd.lowering.binder import Lowering
from tooling.simulator.amd.lowering.waves import WaveGroup
from tooling.simulator.amd.semantics.matrix_core import matrix_form, multiply_add
from tooling.simulator.numerics.rounding import F16, F32, U16, U32
from tooling.simulator.program.program import Batch

Array = NDArray[Any]
_Elements = Callable[[WaveGroup], Array]
"""(waves, lanes, n): the float32 numbers in consecutive registers of each lane."""

MATRIX_FORMS = tuple(
    name for name in VOP3P.values() if name.startswith("v_mfma") and name.endswith(("_f32", "_f16", "_bf16"))
)
"""The forms that are executed; `_xf32` rounds its inputs in a way that the manual does not specify."""


def _registers(lowering: Lowering, operand: Operand) -> _Elements:
    if operand.kind == "const":
        read = lowering.raw(operand, "f32")
        return lambda group: np.broadcast_to(read(group).view(F32), (group.waves, group.wave_size, 1))
    slots = lowering.of(operand)
    for slot in slots:
        lowering.block.reads(slot)

    def elements(group: WaveGroup) -> Array:
        return np.stack([by_wave(group.get(slot).view(U32), group) for slot in slots], axis=2).view(F32)

    return elements


def _converted(elements: _Elements, kind: str) -> _Elements:
    """The 16-bit numbers in the registers as float32; the lower half of a register is the first."""
    if kind == "f32":
        return elements

    def halves(group: WaveGroup) -> Array:
        words = elements(group).view(U16)
        if kind == "f16":
            return words.view(F16).astype(F32)
        return (words.astype(U32) << U32.type(16)).view(F32)

    return halves


@binds(*MATRIX_FORMS)
def _multiply_matrices(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    if instruction.flags:
        raise lowering.unsupported(instruction)  # blocks are broadcast or exchanged (cbsz, abid, blgp)
    form = matrix_form(instruction.name)
    readers = [_registers(lowering, source.operand) for source in instruction.sources]
    a, b = (_converted(reader, kind) for reader, kind in zip(readers[:2], form.inputs, strict=True))
    c = readers[2]
    slots = lowering.of(instruction.results[0])
    lowering.block.defines.update(slots)
    a_lane, a_number = form.input_positions(form.rows)
    b_lane, b_number = form.input_positions(form.columns)
    lane, register = form.result_positions()

    def step(group: WaveGroup, _batch: Batch) -> None:
        addend = np.broadcast_to(c(group), (group.waves, group.wave_size, len(slots)))
        left, right = a(group)[:, a_lane, a_number], b(group)[:, b_lane, b_number]
        found = multiply_add(left, right, addend[:, lane, register])
        result = np.empty((len(slots), group.waves, group.wave_size), F32)
        result[register, :, lane] = np.moveaxis(found, 0, -1)
        for slot, value in zip(slots, result.view(U32), strict=True):
            group.registers[slot] = value.reshape(-1)

    lowering.block.steps.append(step_of(step))
