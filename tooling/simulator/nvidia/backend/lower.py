"""PTX functions to a `Program`: `_lower` is the list of passes."""

from __future__ import annotations

from itertools import zip_longest

from tooling.platform.gc_pause import paused_gc
from tooling.simulator.gpu.code_model import Function, Label, Module
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.gpu.shared_arrays import SharedArray
from tooling.simulator.gpu.stop_texts import TOO_MUCH_LOCAL
from tooling.simulator.nvidia.analysis.followed_addresses import arrays_meant
from tooling.simulator.nvidia.instructions import (
    addresses,
    async_stores,
    atomics,
    barriers,
    calls,
    carry_flag,
    control_flow,
    cp_async,
    ldmatrix,
    load_store,
    mbarriers,
    mma,
    warp,
    wgmma,
)
from tooling.simulator.nvidia.instructions.calls import STACK_BYTES, reached, recursive
from tooling.simulator.nvidia.lowering.binders import bind, ends_block, stands_alone
from tooling.simulator.nvidia.lowering.decoder import Decoder
from tooling.simulator.nvidia.lowering.quirks import as_assembled
from tooling.simulator.nvidia.lowering.value_flow import flow_of
from tooling.simulator.nvidia.ptx.errors import PtxError
from tooling.simulator.program.dead_values import forget_dead
from tooling.simulator.program.module_cache import ModuleCache
from tooling.simulator.program.program import (
    Batch,
    End,
    Program,
    find_live_slots,
    find_unsure_loads,
    order_blocks,
)

MAX_LOCAL_BYTES = 512 * 1024
"""Local memory of a thread (CUDA C++ Programming Guide, "Technical Specifications")."""

INSTRUCTIONS = (
    addresses, async_stores, atomics, barriers, calls, carry_flag, control_flow, cp_async, mma, ldmatrix,
    mbarriers, load_store, wgmma, warp,
)  # fmt: skip
"""Each of these modules enters its instructions into `binders.BINDERS` when it is imported."""

_PROGRAMS: ModuleCache[Program] = ModuleCache()


def decode(module: Module, kernel: Function) -> Program:
    """The program of a kernel and of every function it calls; decoded once per module text and kernel.

    Raises:
        PtxError: an instruction or form that the simulator does not know, or more local memory than a thread
            can have.
    """

    def find() -> Program:
        with paused_gc():
            return _lower(module, kernel)

    return _PROGRAMS.get((module.digest, kernel.name), find)


def _lower(module: Module, kernel: Function) -> Program:
    """The passes from PTX to a program, in their order."""
    decoder = _find_functions(module, kernel)
    _split_into_blocks(decoder)
    _apply_quirks(decoder)
    _bind_instructions(decoder)
    _check_local_memory(decoder)
    program = _assemble(decoder)
    find_live_slots(program)
    find_unsure_loads(program)
    order_blocks(program)
    forget_dead(program)
    return program


def _find_functions(module: Module, kernel: Function) -> Decoder:
    """Collect what the kernel may call; the decoder lays out the memory of all of it."""
    called = reached(module, kernel)
    return Decoder(module, kernel, called, recursive(module, called))


def _split_into_blocks(decoder: Decoder) -> None:
    """Cut each body where a label stands or an instruction ends a block."""
    for function in decoder.functions:
        decoder.entries[function.name] = len(decoder.blocks)
        current = decoder.start_block(function)
        for statement in function.body:
            if isinstance(statement, Label):
                if current.instructions:
                    current = decoder.start_block(function)
                decoder.labels[f"{function.name}:{statement.name}"] = current.number
                continue
            if current.instructions and stands_alone(statement):
                current = decoder.start_block(function)
            current.instructions.append(statement)
            if ends_block(statement):
                current = decoder.start_block(function)


def _apply_quirks(decoder: Decoder) -> None:
    """Replace instructions that the assembler takes for others."""
    for block in decoder.blocks:
        block.instructions = [as_assembled(instruction) for instruction in block.instructions]


def _bind_instructions(decoder: Decoder) -> None:
    """Turn each instruction into a step, its operands into slots, its labels into blocks.

    Raises:
        PtxError: an instruction or form that the simulator does not know.
    """
    functions = {function.name: function for function in decoder.functions}
    for block, after in zip_longest(decoder.blocks, decoder.blocks[1:]):
        decoder.function, decoder.block = functions[block.function], block
        following = after.number if after is not None and after.function == block.function else -1
        for instruction in block.instructions:
            steps = len(block.steps)
            block.first_steps.append(steps)
            bind(decoder, instruction, following)
            block.flows.append(flow_of(decoder, instruction))
            block.bound(steps)
        if block.end is None:
            if following >= 0:
                block.successors.append(following)
            block.end = _fall_through(following) if following >= 0 else _end_of_text


def _check_local_memory(decoder: Decoder) -> None:
    """Refuse what no thread can have.

    Raises:
        PtxError: more local memory than that.
    """
    local = decoder.layout.local_bytes
    if local > MAX_LOCAL_BYTES:
        raise PtxError(TOO_MUCH_LOCAL.of(local=local, most=MAX_LOCAL_BYTES), line=decoder.kernel.line)


def _assemble(decoder: Decoder) -> Program:
    """Gather what the passes found."""
    layout, framed = decoder.layout, decoder.framed
    return Program(
        decoder.kernel.name,
        decoder.blocks,
        decoder.origins,
        decoder.entries,
        layout.shared_bytes,
        layout.frame_start + STACK_BYTES if framed else layout.local_bytes,
        decoder.landings,
        layout.frame_bytes,
        layout.frame_start,
        decoder.frame() if framed else -1,
        decoder.registers_of(framed),
        lambda: _arrays_meant(decoder.functions, layout.arrays),
    )


def _arrays_meant(
    functions: tuple[Function, ...], arrays: dict[str, SharedArray]
) -> dict[tuple[int, int], SharedArray]:
    """By `Instruction.code_position`, the shared array that an access must stay in, if known."""
    return {
        position: arrays[name]
        for function in functions
        if arrays
        for position, name in arrays_meant(function, arrays).items()
    }


def _fall_through(following: int) -> End:
    def end(group: Group, _batch: Batch) -> bool:
        group.pc = following
        return True

    return end


def _end_of_text(group: Group, batch: Batch) -> bool:
    """A function that ends without `ret` returns all the same."""
    if group.stack:
        batch.leave(group)
        return True
    batch.finish(group, None)
    return False
