"""Kernels of code objects to a `Program`: `_lower` is the list of passes."""

from __future__ import annotations

from tooling.platform.gc_pause import paused_gc
from tooling.simulator.amd.architectures import Architecture
from tooling.simulator.amd.backend.value_flow import flow_of, sets_exec
from tooling.simulator.amd.code_object.errors import UnknownInstruction
from tooling.simulator.amd.code_object.model import CodeObject, KernelFunction
from tooling.simulator.amd.decoding import opcodes_gfx942, opcodes_gfx1100
from tooling.simulator.amd.decoding.decoder import Decoder
from tooling.simulator.amd.decoding.instruction import MachineInstruction
from tooling.simulator.amd.decoding.rdna3 import make_decoder
from tooling.simulator.amd.instructions import (
    atomics,
    buffers,
    dual,
    matrix,
    register_indexing,
    scalar,
    vector,
)
from tooling.simulator.amd.instructions.binders import ALONE, ENDS, bind
from tooling.simulator.amd.instructions.data_share import bind_shared
from tooling.simulator.amd.instructions.memory import bind_memory
from tooling.simulator.amd.instructions.refusals import end_refused, refuse, undecoded
from tooling.simulator.amd.lowering.atomic_loads import with_atomic_loads
from tooling.simulator.amd.lowering.binder import Lowering
from tooling.simulator.amd.lowering.entry import initialise_registers
from tooling.simulator.amd.lowering.lines import source_at
from tooling.simulator.amd.lowering.unread import unread_results
from tooling.simulator.amd.lowering.waves import ACTIVE, EXEC
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.program.module_cache import ModuleCache
from tooling.simulator.program.program import (
    BasicBlock,
    Batch,
    End,
    Program,
    find_live_slots,
    find_unsure_loads,
    order_blocks,
)

INSTRUCTIONS = (atomics, buffers, dual, matrix, register_indexing, scalar, vector)
"""Each of these modules enters its instructions into `binders.BINDERS` when it is imported."""

for _tables in (opcodes_gfx942, opcodes_gfx1100):
    for _table in (_tables.FLAT, _tables.GLOBAL, _tables.SCRATCH):
        bind_memory(_table)
        atomics.bind_atomics(_table)
    bind_shared(_tables.DS)
    atomics.bind_atomics(_tables.DS)
    atomics.bind_atomics(_tables.MUBUF)
    buffers.bind_buffers(_tables.MUBUF, _tables.GLOBAL)

_JUMPS = frozenset({"s_setpc_b64", "s_swappc_b64"})
_CALLS = ("s_swappc_b64", "s_call_b64")

_PROGRAMS: ModuleCache[Program] = ModuleCache()


def decode(module: CodeObject, kernel: KernelFunction, architecture: Architecture) -> Program:
    """The program of a kernel and of every function it calls; decoded once per code object and kernel.

    Raises:
        CodeObjectError: the kernel needs something that the simulator does not provide.
    """

    def find() -> Program:
        with paused_gc():
            return _lower(module, kernel, architecture)

    return _PROGRAMS.get((module.digest, kernel.name), find)


def _lower(module: CodeObject, kernel: KernelFunction, architecture: Architecture) -> Program:
    """The passes from machine code to a program, in their order."""
    lowering = Lowering(module, kernel, architecture)
    instructions = _reachable(lowering, make_decoder(architecture))
    initialise_registers(lowering)
    bodies = _split_into_blocks(lowering, instructions, kernel.descriptor.entry)
    _bind_instructions(lowering, bodies)
    _connect_jumps(lowering, bodies)
    program = _assemble(lowering)
    find_live_slots(program)
    if all(block.flows for block in program.blocks):
        find_unsure_loads(program)
    order_blocks(program)
    return program


def _reachable(lowering: Lowering, decoder: Decoder) -> dict[int, MachineInstruction]:
    """Every instruction that control can reach, by offset.

    Functions are called by addresses in registers. If the kernel calls any, all code of the module counts.
    What cannot be decoded ends a path: the kernel is refused when it gets there.
    """
    module = lowering.module
    found: dict[int, MachineInstruction] = {}
    work = [lowering.kernel.descriptor.entry]
    starts = function_starts(module)
    while work:
        offset = work.pop()
        while offset not in found:
            try:
                instruction = decoder.decode(module.code, offset, source_at(module, offset))
            except UnknownInstruction as error:
                found[offset] = undecoded(error)
                lowering.refusals[offset] = error
                break
            found[offset] = instruction
            offset += instruction.size
            if instruction.target >= 0:
                work.append(instruction.target)
            if instruction.name in _JUMPS:
                work += starts
            if instruction.name in (
                "s_endpgm",
                "s_endpgm_ordered_ps_done",
                "s_branch",
                "s_setpc_b64",
                "s_trap",
            ):
                break
    return with_atomic_loads(dict(sorted(found.items())))


def function_starts(module: CodeObject) -> list[int]:
    """The offsets of the functions in the code, from the symbol table."""
    return list(module.function_offsets)


def _split_into_blocks(
    lowering: Lowering, instructions: dict[int, MachineInstruction], entry: int
) -> list[list[MachineInstruction]]:
    """Cut the code at jump targets, ends of blocks and changes of EXEC: all vector instructions of a block
    are executed by the same lanes. Returns the instructions of each block."""
    starts = {entry, *function_starts(lowering.module)}
    for instruction in instructions.values():
        after = instruction.offset + instruction.size
        if instruction.target >= 0:
            starts.add(instruction.target)
        if instruction.name in ENDS or instruction.offset in lowering.refusals:
            starts.add(after)
        if instruction.name in ALONE:
            starts.add(instruction.offset)
        if sets_exec(instruction):
            starts.add(after)
    bodies: list[list[MachineInstruction]] = []
    end = -1
    for instruction in instructions.values():
        if instruction.offset != end or instruction.offset in starts:
            bodies.append([])
            lowering.block_at[instruction.offset] = len(bodies) - 1
        bodies[-1].append(instruction)
        end = instruction.offset + instruction.size
    lowering.blocks = [BasicBlock(number, lowering.kernel.name) for number in range(len(bodies))]
    return bodies


def _bind_instructions(lowering: Lowering, bodies: list[list[MachineInstruction]]) -> None:
    """Turn each instruction into a step or the end of its block. One that the simulator does not support
    stops the kernel when it gets there."""
    modes = register_indexing.index_modes(instruction for body in bodies for instruction in body)
    follows = not modes and not any(_hides_flow(each) for body in bodies for each in body)
    for block, body in zip(lowering.blocks, bodies, strict=True):
        lowering.block = block
        lowering.unread.update(unread_results(body))
        block.instructions = list(body)
        block.reads(EXEC)
        block.reads(ACTIVE)
        after = body[-1].offset + body[-1].size
        following = lowering.block_at.get(after, -1)
        for instruction in body:
            steps = len(block.steps)
            block.first_steps.append(steps)
            try:
                if mode := modes.get(instruction.offset):
                    register_indexing.bind_indexed(lowering, instruction, mode, following)
                else:
                    bind(lowering, instruction, following)
            except UnknownInstruction as error:
                del block.steps[steps:]
                block.steps.append(refuse(instruction, error))
            if follows:
                block.flows.append(flow_of(lowering, instruction))
            block.bound(steps)
        if block.end is None:
            if body[-1].offset in lowering.refusals:
                block.end = end_refused(lowering.refusals[body[-1].offset])
                continue
            if following < 0:
                block.end = end_refused(lowering.unsupported(body[-1]))
                continue
            block.successors.append(following)
            block.end = _fall_through(following)


def _hides_flow(instruction: MachineInstruction) -> bool:
    """Whether its registers are known only when it executes: loads of its kernel count as used at once."""
    return instruction.name in _JUMPS or "movrel" in instruction.name


def _connect_jumps(lowering: Lowering, bodies: list[list[MachineInstruction]]) -> None:
    """A jump to a register may lead to every function and to the code after every call."""
    calls = [number for number, body in enumerate(bodies) if body[-1].name in _CALLS]
    targets = [
        lowering.block_at[start] for start in function_starts(lowering.module) if start in lowering.block_at
    ]
    targets += [number + 1 for number in calls if number + 1 < len(bodies)]
    for block, body in zip(lowering.blocks, bodies, strict=True):
        if body[-1].name in _JUMPS:
            block.successors += targets


def _assemble(lowering: Lowering) -> Program:
    """Gather what the passes found."""
    kernel = lowering.kernel
    local = kernel.descriptor.local_bytes
    if kernel.uses_dynamic_stack:
        local = max(local, _DYNAMIC_STACK)
    return Program(
        kernel.name,
        lowering.blocks,
        lowering.origins,
        {kernel.name: lowering.block_at[kernel.descriptor.entry]},
        kernel.descriptor.shared_bytes,
        local,
        {},
    )


_DYNAMIC_STACK = 16384
"""Local memory of a thread of a kernel whose stack has no known size, in bytes."""


def _fall_through(following: int) -> End:
    def end(group: Group, _batch: Batch) -> bool:
        group.pc = following
        return True

    return end
