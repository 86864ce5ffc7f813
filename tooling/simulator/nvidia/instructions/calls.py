"""Function calls, direct and indirect, to any depth (PTX ISA 9.7.12.5, 7.1).

Arguments and results are copied within a thread's local memory, where the parameters and variables of each
function have fixed offsets. Those of a recursive function are relative to a frame: a call from one recursive
function to another begins a new frame and saves the caller's registers until the return. All lanes of a group
have the same call stack, and so the same frame offset.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from msgspec import Struct

from tooling.simulator.gpu.code_model import (
    Arguments,
    Function,
    Instruction,
    Module,
    Operand,
    Register,
    Symbol,
)
from tooling.simulator.gpu.kernel_names import readable_kernel
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.gpu.launch import FaultKind, KernelFault
from tooling.simulator.gpu.stop_texts import (
    NARROW_ADDRESS,
    NO_FUNCTION,
    ONLY_PARAM,
    OTHER_ARGUMENTS,
    TOO_DEEP,
    UNKNOWN_FUNCTION,
    UNKNOWN_PARAM,
)
from tooling.simulator.numerics.rounding import U64
from tooling.simulator.nvidia.instructions.vprintf import bind_vprintf
from tooling.simulator.nvidia.lowering.binders import binds
from tooling.simulator.nvidia.lowering.decoder import Decoder
from tooling.simulator.nvidia.lowering.predicates import end_guarded
from tooling.simulator.program.program import BasicBlock, Batch, Landing, Program

STACK_BYTES = 16384
"""Local memory of a thread for the frames of recursive functions. An H200 gives a thread 1024 bytes of stack
unless the program requests more, and uses more of it per call."""

Copies = list[tuple[int, int, int]]


def reached(module: Module, kernel: Function) -> list[Function]:
    """Every function that a kernel may call, directly or indirectly, in breadth-first order."""
    edges = _Edges(module)
    found: dict[str, Function] = {}
    todo = [kernel]
    while todo:
        for name in edges.of(todo.pop(0)):
            if name not in found:
                found[name] = module.functions[name]
                todo.append(found[name])
    return list(found.values())


def recursive(module: Module, functions: Iterable[Function]) -> frozenset[str]:
    """The names of the functions that may call themselves, directly or through others."""
    edges = _Edges(module)
    calls = {function.name: edges.of(function) for function in functions}
    found = set()
    for name, called in calls.items():
        seen: set[str] = set()
        todo = list(called)
        while todo:
            callee = todo.pop()
            if callee not in seen:
                seen.add(callee)
                todo += calls[callee]
        if name in seen:
            found.add(name)
    return frozenset(found)


class _Edges:
    """The edges of the call graph."""

    def __init__(self, module: Module) -> None:
        self.module = module
        names = (r.symbol.name for variable in module.globals.values() for r in variable.references)
        self._in_tables = [name for name in names if name in module.functions]
        self._addressed: list[str] | None = None

    def of(self, function: Function) -> list[str]:
        """Names of the functions that this one may call."""
        names: dict[str, None] = {}
        for statement in function.body:
            if not isinstance(statement, Instruction) or statement.opcode != "call":
                continue
            callee = _callee(statement)
            if not isinstance(callee, Symbol):
                names.update(dict.fromkeys(self.addressed()))
            elif callee.name in self.module.functions:
                names[callee.name] = None
        return list(names)

    def addressed(self) -> list[str]:
        """Functions whose address is taken anywhere in the module."""
        if self._addressed is None:
            names = dict.fromkeys(self._in_tables)
            for function in (*self.module.kernels.values(), *self.module.functions.values()):
                for statement in function.body:
                    if isinstance(statement, Instruction) and statement.opcode in ("mov", "cvta", "st"):
                        for operand in statement.operands:
                            if isinstance(operand, Symbol) and operand.name in self.module.functions:
                                names[operand.name] = None
            self._addressed = list(names)
        return self._addressed


def _callee(instruction: Instruction) -> Operand | None:
    return next((o for o in instruction.operands if not isinstance(o, Arguments)), None)


class Site(Struct, frozen=True):
    """A call site and one of the functions that it may call.

    Attributes:
        name: of the function, as in the source.
        entry: its first block; landing: the block that it returns to.
        arguments: the copies before the call; frames: whether the caller and the callee have frames.
    """

    name: str
    entry: int
    landing: int
    arguments: Copies
    frames: tuple[bool, bool]
    instruction: Instruction

    def enter(self, group: Group, batch: Batch) -> None:
        """Enter the function."""
        program = batch.program
        here = _shift(group, program)
        there = here
        stack = (*group.stack, self.landing)
        if all(self.frames):
            there = here + program.frame_bytes
            if there + program.frame_bytes > program.local_bytes - program.frame_start:
                raise KernelFault(
                    FaultKind.ILLEGAL_ADDRESS,
                    TOO_DEEP.of(function=self.name, calls=len(stack)),
                    thread=int(group.pick(batch.spaces.threads)[0]),
                    instruction=self.instruction,
                )
            kept = {slot: program.origins[slot].dtype for slot in program.kept(self.landing)}
            batch.frames.keep(group, stack, kept)
        batch.spaces.copy_local(group, _moved(self.arguments, self.frames, (here, there)))
        group.stack = stack
        group.pc = self.entry
        _set_shift(group, program, there)


def leave(group: Group, batch: Batch) -> None:
    """Return from the current call."""
    program = batch.program
    *outer, number = group.stack
    landing = program.landings.get(number)
    here = _shift(group, program)
    there = here
    if landing is not None:
        if all(landing.frames):
            there = here - program.frame_bytes
            batch.frames.restore(group, group.stack)
        batch.spaces.copy_local(group, _moved(landing.results, landing.frames[::-1], (here, there)))
    group.stack = tuple(outer)
    group.pc = number
    _set_shift(group, program, there)


def _moved(copies: Copies, frames: tuple[bool, bool], shifts: tuple[int, int]) -> Copies:
    """Copies between two functions, with the offsets of their frames added."""
    start, end = (shift if framed else 0 for framed, shift in zip(frames, shifts, strict=True))
    if not start and not end:
        return copies
    return [(source + start, target + end, size) for source, target, size in copies]


def _shift(group: Group, program: Program) -> int:
    return int(group.get(program.frame_slot)[0]) if program.frame_bytes else 0


def _set_shift(group: Group, program: Program, shift: int) -> None:
    if program.frame_bytes:
        group.registers[program.frame_slot] = np.array([shift], U64)


# -- binding ------------------------------------------------------------------------------------------


@binds("call")
def _call(decoder: Decoder, instruction: Instruction, following: int) -> None:
    """`call[.uni] [(results),] function [, (arguments) [, prototype]]`."""
    operands: list[Operand] = list(instruction.operands)
    results = _arguments(operands)
    callee = operands.pop(0)
    arguments = _arguments(operands)
    if instruction.modifiers not in ((), ("uni",)):
        raise decoder.unknown(instruction)
    if not isinstance(callee, Symbol):
        _call_by_address(decoder, instruction, following, callee, arguments, results)
        return
    if operands:
        raise decoder.unknown(instruction)
    function = decoder.module.functions.get(callee.name)
    if function is None and callee.name == "vprintf":
        bind_vprintf(decoder, instruction, arguments, results)
        return
    if function is None:
        raise decoder.unknown(instruction, UNKNOWN_FUNCTION.of(name=callee.name))
    if len(function.parameters) != len(arguments.elements) or len(function.results) != len(results.elements):
        raise decoder.unknown(instruction, OTHER_ARGUMENTS.of(name=callee.name))
    site = _site(decoder, instruction, following, function, (arguments, results))
    decoder.block.successors.extend((site.entry, following))

    def take(group: Group, batch: Batch) -> bool:
        site.enter(group, batch)
        return True

    end_guarded(decoder, instruction, following, take)


def _site(
    decoder: Decoder,
    instruction: Instruction,
    landing: int,
    function: Function,
    passed: tuple[Arguments, Arguments],
) -> Site:
    """The call site of one function; records the copies of its return."""
    name = function.name
    arguments, results = passed
    into = [
        (_offset(decoder, argument, instruction), _own_offset(decoder, name, parameter.name), parameter.size)
        for parameter, argument in zip(function.parameters, arguments.elements, strict=True)
    ]
    back = [
        (_own_offset(decoder, name, result.name), _offset(decoder, argument, instruction), result.size)
        for result, argument in zip(function.results, results.elements, strict=True)
    ]
    frames = (decoder.function.name in decoder.framed, name in decoder.framed)
    decoder.landings[landing] = Landing(instruction, back, frames)
    shown = readable_kernel(name, decoder.module.files.values())
    return Site(shown, decoder.entries[name], landing, into, frames, instruction)


def _call_by_address(  # noqa: PLR0917 - the operands of one instruction, in order
    decoder: Decoder,
    instruction: Instruction,
    following: int,
    callee: Operand,
    arguments: Arguments,
    results: Arguments,
) -> None:
    """An indirect call: each lane calls the function whose address is in its register."""
    if isinstance(callee, Register) and decoder.width(callee.name).itemsize != U64.itemsize:
        raise decoder.unknown(instruction, NARROW_ADDRESS)
    slot = decoder.value(callee, U64, instruction)
    sizes = (_sizes(decoder, arguments), _sizes(decoder, results))
    addresses = decoder.module.code_addresses()
    sites: dict[int, Site] = {}
    for function in decoder.called:
        if function.call_sizes == sizes:
            landing = _landing(decoder, following)
            site = _site(decoder, instruction, landing, function, (arguments, results))
            sites[addresses[function.name]] = site
            decoder.block.successors.extend((site.entry, landing))
    decoder.block.successors.append(following)

    def take(group: Group, batch: Batch) -> bool:
        wanted = group.get(slot).view(U64)
        chosen = np.unique(wanted)
        if len(chosen) == 1:
            _site_at(sites, int(chosen[0]), group, batch, instruction).enter(group, batch)
            return True
        for address in chosen:
            site = _site_at(sites, int(address), group, batch, instruction)
            live = batch.program.live(site.entry, (*group.stack, site.landing))
            callers = group.subgroup(np.flatnonzero(wanted == address), group.pc, live)
            site.enter(callers, batch)
            batch.resume(callers)
        return False

    end_guarded(decoder, instruction, following, take)


def _site_at(
    sites: dict[int, Site], address: int, group: Group, batch: Batch, instruction: Instruction
) -> Site:
    site = sites.get(address)
    if site is None:
        raise KernelFault(
            FaultKind.ILLEGAL_INSTRUCTION,
            NO_FUNCTION.of(address=address),
            thread=int(group.pick(batch.spaces.threads)[0]),
            address=address,
            instruction=instruction,
        )
    return site


def _landing(decoder: Decoder, following: int) -> int:
    """A new empty block that jumps to `following`: one per callee, to identify the function that returns."""
    block = BasicBlock(len(decoder.blocks), decoder.function.name)

    def end(group: Group, _batch: Batch) -> bool:
        group.pc = following
        return True

    block.end = end
    block.successors.append(following)
    decoder.blocks.append(block)
    return block.number


def _sizes(decoder: Decoder, listed: Arguments) -> tuple[int, ...]:
    sizes = {variable.name: variable.size for variable in decoder.function.variables}
    sizes |= {parameter.name: parameter.size for parameter in decoder.function.parameters}
    return tuple(sizes[a.name] if isinstance(a, Symbol) else 0 for a in listed.elements)


def _arguments(operands: list[Operand]) -> Arguments:
    """Remove a parenthesised list from the front of the operands; an empty list if there is none."""
    first = operands[0] if operands else None
    if not isinstance(first, Arguments):
        return Arguments(())
    del operands[0]
    return first


def _offset(decoder: Decoder, argument: Operand, instruction: Instruction) -> int:
    if not isinstance(argument, Symbol):
        raise decoder.unknown(instruction, ONLY_PARAM)
    offset = decoder.local_offset(decoder.function.name, argument.name)
    if offset is None:
        raise decoder.unknown(instruction, UNKNOWN_PARAM.of(name=argument.name))
    return offset + argument.offset


def _own_offset(decoder: Decoder, function: str, name: str) -> int:
    offset = decoder.local_offset(function, name)
    assert offset is not None, f"the layout has no offset for {name} of {function}"
    return offset
