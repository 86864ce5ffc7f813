"""Launches that the model does not describe: they get no time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tooling.simulator.gpu.clusters import blocks_together
from tooling.simulator.gpu.code_model import Function, Instruction
from tooling.simulator.gpu.hooks import LaunchContext
from tooling.simulator.gpu.launch import Launch
from tooling.simulator.timing.costs import registers_of
from tooling.text import Text

_SEVERAL = Text("the program has several GPUs")
_FAULT = Text("the kernel was stopped")
_CLUSTER = Text("its blocks form clusters")
_WAITS = Text("`{form}` may wait for another thread, for a time that depends on the data")
_UNKNOWN = Text("the time of `{form}` was not measured")

_GATHERS = Text(
    "`{form}` in line {line} of the PTX has an address that is computed from loaded data, which decide how "
    "often the caches serve it"
)

_DECIDES = Text(
    "the branch in line {line} of the PTX depends on loaded data or on the order of blocks: the blocks of a "
    "sample do not stand for the others"
)
EDGES = Text("the first or the last block has more than twice the instructions of the blocks of the sample")
APART = Text("the blocks of the sample differ: its error is ±{error:.0f}%")

_BULK = frozenset({"wgmma", "tensormap", "mbarrier", "multimem", "griddepcontrol", "tcgen05"})
_POLLING = frozenset({"acquire", "volatile", "relaxed", "mmio"})


def refusal(context: LaunchContext, instructions: Iterable[Instruction], *, fault: bool) -> Text | None:
    """Why a launch gets no time; None: the model describes it.

    Args:
        instructions: those that it executed.
    """
    if fault:
        return _FAULT
    if context.several_devices:
        return _SEVERAL
    if context.blocks_per_cluster > 1:
        return _CLUSTER
    for instruction in instructions:
        reason = _of_instruction(instruction)
        if reason is not None:
            return reason.of(form=instruction.form)
    gather = _gather(context.launch.function)
    if gather is not None and context.blocks > 1:
        return _GATHERS.of(form=gather.form, line=gather.code_line)
    return None


def refusal_of_sample(launch: Launch) -> Text | None:
    """Why some blocks of a launch cannot stand for the others, before any has run; None: they may."""
    if blocks_together(launch) > 1:
        return _CLUSTER
    instructions = _instructions(launch.function)
    for instruction in instructions:
        if _of_instruction(instruction) is _WAITS:
            return _WAITS.of(form=instruction.form)
    loaded = _computed_from(
        instructions, [each for each in instructions if each.opcode == "atom" or _loads_global(each)]
    )
    for instruction in instructions:
        guard = instruction.predicate
        if instruction.opcode == "bra" and guard is not None and guard.register in loaded:
            return _DECIDES.of(line=instruction.code_line)
    return None


def _gather(function: Function) -> Instruction | None:
    """A load from global memory whose address was computed from loaded data; not one that they only guard."""
    instructions = _instructions(function)
    guards = frozenset(name for name, kind in function.registers.items() if kind == "pred")
    loaded = _computed_from(instructions, [each for each in instructions if _loads_global(each)], guards)
    for instruction in instructions:
        if _loads_global(instruction) and not loaded.isdisjoint(registers_of(instruction)[0]):
            return instruction
    return None


def _instructions(function: Function) -> list[Instruction]:
    return [each for each in function.body if isinstance(each, Instruction)]


def _computed_from(
    instructions: Sequence[Instruction], sources: Sequence[Instruction], without: frozenset[str] = frozenset()
) -> set[str]:
    """The registers whose values depend on the results of some instructions, except through `without`."""
    found = {name for each in sources for name in registers_of(each)[1]} - without
    known = -1
    while len(found) != known:
        known = len(found)
        for instruction in instructions:
            reads, writes = registers_of(instruction)
            if not found.isdisjoint(reads):
                found.update(name for name in writes if name not in without)
    return found


def _loads_global(instruction: Instruction) -> bool:
    return instruction.opcode == "ld" and "global" in instruction.modifiers


def _of_instruction(instruction: Instruction) -> Text | None:
    opcode, modifiers = instruction.opcode, instruction.modifiers
    if opcode == "nanosleep" or (opcode == "ld" and not _POLLING.isdisjoint(modifiers)):
        return _WAITS
    if opcode == "atom" and not {"cas", "exch"}.isdisjoint(modifiers):
        return _WAITS
    if opcode == "mbarrier" and not {"test_wait", "try_wait"}.isdisjoint(modifiers):
        return _WAITS
    if opcode in _BULK or (opcode == "cp" and "bulk" in modifiers) or opcode == "call":
        return _UNKNOWN
    return None
