"""PTX functions to a `Program`: splits basic blocks, and has every instruction of them bound."""

from __future__ import annotations

from typing import Any, TypeAlias

from tooling.collection import uncollected
from tooling.simulator.bindings import bind, ends_block, load_binders, stands_alone
from tooling.simulator.calls import STACK_BYTES, reached, recursive
from tooling.simulator.decoder import Decoder
from tooling.simulator.lifetimes import forget_dead
from tooling.simulator.program import BasicBlock, Program
from tooling.simulator.ptx_model import Function, Instruction, Label, Module
from tooling.simulator.remembered import Remembered

Pieces: TypeAlias = list[tuple[BasicBlock, list[Instruction]]]
"""The basic blocks of a function, still empty, with their instructions."""

_PROGRAMS: Remembered[Program] = Remembered()


def decode(module: Module, kernel: Function) -> Program:
    """The program of a kernel and of every function it calls; decoded once per module text and kernel.

    Raises:
        PtxError: an instruction or form that the simulator does not know.
    """

    def find() -> Program:
        with uncollected():
            return _decode(module, kernel)

    return _PROGRAMS.get((module.digest, kernel.name), find)


def _decode(module: Module, kernel: Function) -> Program:
    load_binders()
    called = reached(module, kernel)
    framed = recursive(module, called)
    decoder = Decoder(module, kernel, called, framed)
    functions = (kernel, *called)
    cut = [_split(decoder, function) for function in functions]
    for function, pieces in zip(functions, cut, strict=True):
        _bind(decoder, function, pieces)
    layout = decoder.layout
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


def _fall_through(following: int) -> Any:
    def end(group: Any, _batch: Any) -> bool:
        group.pc = following
        return True

    return end


def _end_of_text(group: Any, batch: Any) -> bool:
    """A function that ends without `ret` returns all the same."""
    if group.stack:
        batch.leave(group)
        return True
    batch.finish(group, None)
    return False
