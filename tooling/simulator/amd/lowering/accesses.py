"""Properties of the memory accesses in a kernel's machine code, for the checks."""

from __future__ import annotations

import re

from tooling.simulator.amd.decoding.instruction import MachineInstruction
from tooling.simulator.gpu.code_model import Instruction
from tooling.simulator.gpu.hooks import LaunchContext, Space
from tooling.simulator.program.backend import Accesses, Backend
from tooling.simulator.program.module_cache import ModuleCache

_BYTE = re.compile(r"(load|store|read|write)_(d16_)?(hi_)?(u|s|i)?(byte|b8|u8|i8)")
_HALF = re.compile(r"(load|store|read|write)_(u|s|i)?(short|b16|u16|i16|d16)")
_FENCES = ("buffer_wbl2", "buffer_inv", "buffer_gl1_inv")
"""RDNA 3's `buffer_gl0_inv` alone is a part of a barrier: threads of other blocks are not ordered by it."""

_FOUND: ModuleCache[Accesses] = ModuleCache()


def accesses_of(context: LaunchContext, backend: Backend) -> Accesses:
    """The accesses of a launch's kernel; cached by code object and kernel."""
    key = (context.module.digest, context.launch.function.name)
    return _FOUND.get(key, lambda: _accesses(context, backend))


def _accesses(context: LaunchContext, backend: Backend) -> Accesses:
    program = backend.decode(context.module, context.launch.function)
    code = [
        instruction
        for block in program.blocks
        for instruction in block.instructions
        if isinstance(instruction, MachineInstruction)
    ]
    granules = {space: _granule(code, space) for space in (Space.GLOBAL, Space.SHARED)}
    synchronise = any(instruction.name in _FENCES for instruction in code)
    acquiring = {
        space
        for instruction in code
        if _acquires(instruction)
        for space in (Space.GLOBAL, Space.SHARED)
        if _may_access(instruction, space)
    }
    return Accesses(granules, synchronise, frozenset(acquiring), _acquires)


def _may_access(instruction: MachineInstruction, space: Space) -> bool:
    prefix = instruction.name.partition("_")[0]
    return prefix in ("flat", "ds" if space is Space.SHARED else "global")


def _granule(code: list[MachineInstruction], space: Space) -> int:
    """The narrowest access to a memory, in bytes; accesses of several registers count as one of each."""
    narrowest = 4
    for instruction in code:
        if _may_access(instruction, space):
            if _BYTE.search(instruction.name):
                return 1
            if _HALF.search(instruction.name):
                narrowest = 2
    return narrowest


def _acquires(instruction: Instruction) -> bool:
    """Whether a strong access reads a value into a register."""
    if not isinstance(instruction, MachineInstruction) or not instruction.results:
        return False
    return "_atomic_" in instruction.name or instruction.name.startswith("ds_") or instruction.is_strong
