"""PTX functions to a `Program`: splits basic blocks, and has every instruction of them bound."""

from __future__ import annotations

from typing import TypeAlias

from tooling.gc_pause import paused_gc
from tooling.simulator.engine.module_cache import ModuleCache
from tooling.simulator.gpu.code_model import Function, Instruction, Label, Module
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.gpu.stop_texts import TOO_MUCH_LOCAL
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
from tooling.simulator.nvidia.ptx.errors import PtxError
from tooling.simulator.program.dead_values import forget_dead
from tooling.simulator.program.program import BasicBlock, Batch, End, Program

Pieces: TypeAlias = list[tuple[BasicBlock, list[Instruction]]]
"""The basic blocks of a function, still empty, with their instructions."""

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
            return _decode(module, kernel)

    return _PROGRAMS.get((module.digest, kernel.name), find)


def _decode(module: Module, kernel: Function) -> Program:
    called = reached(module, kernel)
    framed = recursive(module, called)
    decoder = Decoder(module, kernel, called, framed)
    functions = (kernel, *called)
    cut = [_split(decoder, function) for function in functions]
    for function, pieces in zip(functions, cut, strict=True):
        _bind(decoder, function, pieces)
    layout = decoder.layout
    if layout.local_bytes > MAX_LOCAL_BYTES:
        too_much = TOO_MUCH_LOCAL.of(local=layout.local_bytes, most=MAX_LOCAL_BYTES)
        raise PtxError(too_much, line=kernel.line)
    program = Program(
        kernel.name,
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
        functions,
        layout.arrays,
    )
    forget_dead(program)
    return program


def _split(decoder: Decoder, function: Function) -> Pieces:
    """Cut the body where a label stands or an instruction ends a block."""
    pieces: Pieces = []
    current: list[Instruction] | None = None

    def start() -> list[Instruction]:
        block = BasicBlock(len(decoder.blocks), function.name)
        decoder.blocks.append(block)
        pieces.append((block, []))
        return pieces[-1][1]

    decoder.entries[function.name] = len(decoder.blocks)
    current = start()
    for statement in function.body:
        if isinstance(statement, Label):
            if current:
                current = start()
            decoder.labels[f"{function.name}:{statement.name}"] = pieces[-1][0].number
            continue
        if current and stands_alone(statement):
            current = start()
        current.append(statement)
        if ends_block(statement):
            current = start()
    return pieces


def _bind(decoder: Decoder, function: Function, pieces: Pieces) -> None:
    decoder.function = function
    for index, (block, instructions) in enumerate(pieces):
        decoder.block = block
        block.instructions = instructions
        following = pieces[index + 1][0].number if index + 1 < len(pieces) else -1
        for instruction in instructions:
            steps = len(block.steps)
            bind(decoder, instruction, following)
            block.bound(steps)
        if block.end is None:
            if following >= 0:
                block.successors.append(following)
            block.end = _fall_through(following) if following >= 0 else _end_of_text


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
