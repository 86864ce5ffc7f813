"""What a machine instruction does with the values of the registers that it reads.

Masks of lanes, such as the result of a comparison, are followed lane by lane: a bit depends on what its own
lane has compared. Writing EXEC uses a value, as a branch does, and so does everything that moves values
between lanes or to the scalar unit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from tooling.simulator.amd.decoding.instruction import MachineInstruction, Operand
from tooling.simulator.amd.decoding.memory_forms import DS_ACCESS, ds_form
from tooling.simulator.amd.instructions.memory import is_whole_load
from tooling.simulator.amd.lowering.binder import Lowering, Reader
from tooling.simulator.amd.lowering.waves import ACTIVE, SCC, WaveGroup
from tooling.simulator.amd.semantics.registry import DTYPES
from tooling.simulator.amd.semantics.tables import lookup
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.program.value_flow import Condition, Flow, Role

_SCALAR = ("SOP1", "SOP2", "SOPC", "SOPK", "SOPP", "SMEM")
_LOGIC = re.compile(r"s_(?P<kind>and|or|xor|xnor|nand|nor|not|mov)(?P<inverted>n2|_not1)?_b(?:32|64)")
_SECOND_INVERTED = ("n2", "_not1")
_KEEPS = ("and", "andn1", "and_not0")
"""The combinations of S_*_SAVEEXEC in which the lanes that are inactive stay so."""

_MOVES = frozenset(
    {"v_mov_b32", "v_mov_b64", "v_accvgpr_read_b32", "v_accvgpr_write_b32", "v_accvgpr_mov_b32"}
)
_UNTABLED = ("v_fma_mix", "v_cvt_")
"""Beginnings of the names of lane-wise operations that are not in the tables of semantics."""

_NOT_REGISTER = -1


def sets_exec(instruction: MachineInstruction) -> bool:
    """Whether other lanes execute from here on."""
    named = instruction.name.startswith("v_cmpx") or any(
        word in instruction.name for word in ("_saveexec_", "_wrexec_")
    )
    return named or any(result.kind == "exec" for result in instruction.results)


def flow_of(lowering: Lowering, instruction: MachineInstruction) -> Flow:
    """The flow of an instruction; both halves of a dual one read before either writes."""
    if instruction.second is not None:
        return _dual_flow(lowering, replace(instruction, second=None), instruction.second)
    if instruction.encoding in _SCALAR:
        return _scalar_flow(lowering, instruction)
    return replace(_vector_flow(lowering, instruction), lanes=ACTIVE)


def _dual_flow(lowering: Lowering, one: MachineInstruction, other: MachineInstruction) -> Flow:
    first, second = flow_of(lowering, one), flow_of(lowering, other)
    if not set(second.sources).isdisjoint(first.targets):
        first, second = second, first
    if not set(second.sources).isdisjoint(first.targets):  # each reads what the other writes
        sources, targets = (*first.sources, *second.sources), (*first.targets, *second.targets)
        return Flow(Role.COMPUTES, sources, targets, lanes=ACTIVE)
    return replace(first, other=second)


# -- the scalar unit ------------------------------------------------------------------------------------


def _scalar_flow(lowering: Lowering, instruction: MachineInstruction) -> Flow:
    name, operation = instruction.name, lookup(instruction.name)
    operands = [source.operand for source in instruction.sources]
    sources = _slots(lowering, operands)
    written = _slots(lowering, instruction.results)
    if sets_exec(instruction):
        saves = "_saveexec_" in name or "_wrexec_" in name
        kind = name.removeprefix("s_").rpartition("_b")[0].removesuffix("_saveexec").removesuffix("_wrexec")
        if saves:
            keeps = kind in _KEEPS
        else:
            keeps = kind.startswith("and") and any(each.kind == "exec" for each in operands)
        return Flow(
            Role.USES, sources, masks=(*written, SCC), lanes=ACTIVE if keeps else None, narrows=kind != "or"
        )
    if operation is not None and "scc" in operation.arguments:
        sources = (*sources, SCC)
    if name.startswith("s_cbranch_scc"):
        sources = (SCC,)
    if name.startswith("s_cbranch_vcc"):
        sources = _slots(lowering, [Operand("vcc", count=lowering.wave_size // 32)])
    if operation is not None and "scc" in operation.results:
        written = (*written, SCC)
    logic = _LOGIC.fullmatch(name)
    if logic is None:
        return Flow(Role.USES, sources, masks=written)
    if logic["kind"] in ("and", "or") and name.endswith(f"b{lowering.wave_size}"):
        conditions = _flags_of(lowering, operands, inverted=logic["inverted"] in _SECOND_INVERTED)
        if conditions:
            role = Role.AND if logic["kind"] == "and" else Role.OR
            return Flow(role, _padded(lowering, operands), masks=written, conditions=conditions)
    return Flow(Role.COPIES if logic["kind"] == "mov" else Role.COMPUTES, sources, masks=written)


def _padded(lowering: Lowering, operands: Sequence[Operand]) -> tuple[int, ...]:
    """The slots of operands, as many of each."""
    slots = [_slots(lowering, [operand]) for operand in operands]
    count = max(len(each) for each in slots)
    return tuple(slot for each in slots for slot in each or (_NOT_REGISTER,) * count)


def _flags_of(lowering: Lowering, operands: Sequence[Operand], *, inverted: bool) -> tuple[Condition, ...]:
    """Readers of masks as one flag per lane; empty if one of the operands is none."""
    try:
        readers = [lowering.flags(operand) for operand in operands]
    except LookupError:
        return ()
    conditions = [
        _condition(reader, inverted=inverted and number > 0) for number, reader in enumerate(readers)
    ]
    return tuple(conditions)


def _condition(reader: Reader, *, inverted: bool = False) -> Condition:
    def flags(group: Group) -> NDArray[np.bool_]:
        assert isinstance(group, WaveGroup)
        found = np.broadcast_to(reader(group), group.count)
        return ~found if inverted else found

    return flags


# -- the vector unit, and memory ------------------------------------------------------------------------


def _vector_flow(lowering: Lowering, instruction: MachineInstruction) -> Flow:
    name, operation = instruction.name, lookup(instruction.name)
    operands = [source.operand for source in instruction.sources]
    sources = _slots(lowering, operands)
    targets = _slots(lowering, [each for each in instruction.results if each.kind in "va"])
    masks = _slots(lowering, [each for each in instruction.results if each.kind not in "va"])
    if operation is not None and "vcc" in operation.arguments:
        sources = (*sources, *_slots(lowering, [Operand("vcc", count=lowering.wave_size // 32)]))
    if _keeps_rest(instruction):
        sources = (*sources, *targets)
    if sets_exec(instruction):
        return Flow(Role.USES, sources, targets, masks=masks, narrows=True)
    if _is_plain_load(instruction):
        return Flow(Role.LOADS, sources, targets)
    lane_wise = operation is not None or name.startswith(_UNTABLED)
    if not lane_wise or not instruction.encoding.startswith("VOP") or instruction.cross_lane is not None:
        return Flow(Role.USES, sources, targets, masks=masks)
    if name == "v_cndmask_b32" and not instruction.select:
        unselected, selected, mask = operands
        chosen = [next(iter(_slots(lowering, [each])), _NOT_REGISTER) for each in (selected, unselected)]
        conditions = (_condition(lowering.flags(mask)),)
        return Flow(Role.SELECTS, (*chosen, *_slots(lowering, [mask])), targets, conditions=conditions)
    return Flow(Role.COPIES if name in _MOVES else Role.COMPUTES, sources, targets, masks=masks)


def _keeps_rest(instruction: MachineInstruction) -> bool:
    """Whether the result depends on what its register holds: an accumulator, or the other half of it."""
    operation = lookup(instruction.name)
    if operation is None:
        return instruction.name.startswith(_UNTABLED)
    narrow = any(kind in DTYPES and DTYPES[kind].itemsize < 4 for kind in operation.results)
    return narrow or "acc" in operation.arguments or bool(instruction.select)


def _is_plain_load(instruction: MachineInstruction) -> bool:
    """Whether it only loads whole registers, so that a compiler may move it where not every lane needs it."""
    if instruction.is_strong or not instruction.results:
        return False
    if DS_ACCESS.fullmatch(instruction.name):
        return not ds_form(instruction.name).half
    return is_whole_load(instruction.name)


def _slots(lowering: Lowering, operands: Sequence[Operand]) -> tuple[int, ...]:
    """The slots of those operands that are registers."""
    found = list[int]()
    for operand in operands:
        if operand.kind in ("s", "v", "a", "vcc", "m0"):
            found += lowering.of(operand)
        elif operand.kind in ("scc", "src_scc"):
            found.append(SCC)
    return tuple(found)
