"""Properties of the memory accesses in a kernel's machine code, for the checks."""

from __future__ import annotations

import re

from tooling.simulator.amd.decoding.instruction import MachineInstruction
from tooling.simulator.amd.decoding.memory_forms import DS_ACCESS
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
    fenced = any(instruction.name in _FENCES for instruction in code)
    waited = _releases_by_waiting(sorted(code, key=lambda instruction: instruction.offset))
    acquiring = {
        space
        for instruction in code
        if _acquires(instruction)
        for space in ((Space.GLOBAL, Space.SHARED) if fenced else (Space.SHARED,))
        if _may_access(instruction, space)
    }
    return Accesses(granules, fenced or waited, frozenset(acquiring), _acquires)


def _releases_by_waiting(code: list[MachineInstruction]) -> bool:
    """Whether an atomic operation in LDS orders other accesses, by the waits around it.

    A flag for threads of the same block has no other trace: the cache is theirs (LLVM AMDGPU User Guide,
    "Memory Model"). On gfx1100 the operation waits for the stores before it. On gfx942 it does not need to,
    and is followed by a wait at once, not only where its result is used.
    """
    waited = False
    for number, instruction in enumerate(code):
        name = instruction.name
        if _waits_for_stores(instruction):
            waited = True
        elif "_store_" in name and not name.startswith("ds_"):
            waited = False
        elif name.startswith("ds_") and _is_atomic(name):
            following = code[number + 1 : number + 3]
            if waited or (len(following) == 2 and _waits_at_once(instruction, *following)):
                return True
    return False


def _waits_at_once(atomic: MachineInstruction, wait: MachineInstruction, user: MachineInstruction) -> bool:
    results = {(result.kind, result.index) for result in atomic.results}
    used = {(source.operand.kind, source.operand.index) for source in user.sources}
    is_wait = wait.name == "s_waitcnt" and "lgkmcnt(0)" in wait.text
    return is_wait and not results & used and user.name not in ("s_barrier", "s_endpgm")


def _waits_for_stores(instruction: MachineInstruction) -> bool:
    """Whether no store is outstanding after it (`vscnt(0)` on gfx1100)."""
    return instruction.name == "s_waitcnt_vscnt" and instruction.immediate == 0


def _is_atomic(name: str) -> bool:
    return not DS_ACCESS.fullmatch(name) and any(char.isdigit() for char in name)


def _may_access(instruction: MachineInstruction, space: Space) -> bool:
    name = instruction.name
    prefix = name.partition("_")[0]
    if space is Space.SHARED:
        return prefix in ("flat", "ds") or "_lds_" in name or "lds" in instruction.flags
    return prefix in ("flat", "global", "buffer")


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
