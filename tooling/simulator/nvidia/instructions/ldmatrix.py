"""ldmatrix and stmatrix: 8 by 8 matrices of 16-bit elements between shared memory and a warp's lanes.

movmatrix transposes one that is in the lanes.
Source: PTX ISA 9.7.14.5.15 to 9.7.14.5.17. Lane 8 m + r names the address of row r of matrix m; lane t holds
the elements 2 (t % 4) and 2 (t % 4) + 1 of row t // 4 of every matrix (of the transposed one with `.trans`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.gpu.code_model import Instruction, Vector
from tooling.simulator.gpu.generic_addresses import SHARED_WINDOW
from tooling.simulator.gpu.hooks import Space
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.gpu.requests import MemoryRequest, Width
from tooling.simulator.gpu.stop_texts import WRONG_VECTOR
from tooling.simulator.numerics.rounding import U16, U32
from tooling.simulator.nvidia.instructions.load_store import pointer
from tooling.simulator.nvidia.instructions.warp import together
from tooling.simulator.nvidia.lowering.binders import assign, binds, write
from tooling.simulator.nvidia.lowering.decoder import Decoder
from tooling.simulator.nvidia.ptx.modifiers import MATRIX, in_order
from tooling.simulator.program.program import Batch

Array = NDArray[Any]
_ROW = Width(4, 4)
"""A row of eight 16-bit elements, read as four words."""


@binds("movmatrix", alone=True)
def _move(decoder: Decoder, instruction: Instruction, following: int) -> None:
    """`movmatrix.sync.aligned.m8n8.trans.b16 d, a`."""
    if instruction.modifiers != ("sync", "aligned", "m8n8", "trans", "b16"):
        raise decoder.unknown(instruction)
    destination, operand = instruction.operands
    source = decoder.value(operand, U32, instruction)
    target = write(decoder, destination, instruction, U32)
    mask = decoder.constant(0xFFFFFFFF, U32)

    def move(group: Group, _batch: Batch) -> None:
        held = np.ascontiguousarray(np.broadcast_to(group.get(source).view(U32), group.count))
        transposed = np.ascontiguousarray(held.view(U16).reshape(-1, 8, 8).transpose(0, 2, 1))
        assign(group, target, transposed.reshape(-1).view(U32), None, U32)

    together(decoder, instruction, following, mask, move, whole=True)


@binds("ldmatrix", "stmatrix", alone=True)
def _matrix(decoder: Decoder, instruction: Instruction, following: int) -> None:
    modifiers = instruction.modifiers
    count = next((int(m[1]) for m in modifiers if m in ("x1", "x2", "x4")), 0)
    required = {"sync", "aligned", "m8n8", "b16"}
    if not count or not required <= set(modifiers) or not in_order(modifiers, MATRIX):
        raise decoder.unknown(instruction)
    loads = instruction.opcode == "ldmatrix"
    registers, address = instruction.operands if loads else instruction.operands[::-1]
    elements = registers.elements if isinstance(registers, Vector) else (registers,)
    if len(elements) != count:
        raise decoder.unknown(instruction, WRONG_VECTOR)
    at = pointer(decoder, address, instruction)
    window = np.uint64(0 if any(m.startswith("shared") for m in modifiers) else SHARED_WINDOW)
    transposed = "trans" in modifiers
    mask = decoder.constant(0xFFFFFFFF, U32)
    rows = np.arange(8 * count)

    def request(group: Group, batch: Batch) -> tuple[MemoryRequest, Array]:
        """The request of the lanes that address a row, and the addresses."""
        lanes = group.indices(batch.size).reshape(-1, 32)[:, rows].reshape(-1)
        addresses = np.broadcast_to(at.of(group), group.count).reshape(-1, 32)[:, rows].reshape(-1)
        return MemoryRequest(group, instruction, _ROW, lanes), addresses - window

    if loads:
        targets = [write(decoder, element, instruction) for element in elements]

        def load(group: Group, batch: Batch) -> None:
            words = np.stack(batch.spaces.load(Space.SHARED, *request(group, batch)), axis=1)
            halves = words.view(U16).reshape(-1, count, 8, 8)
            for m, target in enumerate(targets):
                matrix = halves[:, m].transpose(0, 2, 1) if transposed else halves[:, m]
                held = np.ascontiguousarray(matrix).reshape(-1).view(U32)
                assign(group, target, held, None, U32)

        together(decoder, instruction, following, mask, load, whole=True)
        return
    sources = [decoder.value(element, U32, instruction) for element in elements]

    def store(group: Group, batch: Batch) -> None:
        held = [np.broadcast_to(group.get(slot).view(U32), group.count) for slot in sources]
        matrices = np.stack([np.ascontiguousarray(h).view(U16).reshape(-1, 8, 8) for h in held], axis=1)
        if transposed:
            matrices = matrices.transpose(0, 1, 3, 2)
        words = np.ascontiguousarray(matrices).view(U32).reshape(-1, 4)
        batch.spaces.store(Space.SHARED, *request(group, batch), [words[:, k].copy() for k in range(4)])

    together(decoder, instruction, following, mask, store, whole=True)
