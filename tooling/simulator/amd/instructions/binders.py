"""Binding: each instruction becomes a step, or the end of a basic block.

Operations of `semantics` are bound by the form of their table row; the other instructions have binders of
their own, registered in `BINDERS` by mnemonic.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.amd.decoding.instruction import CrossLane, MachineInstruction, Modified, Operand
from tooling.simulator.amd.instructions.cross_lane import notify_exchange, source_lanes
from tooling.simulator.amd.lowering.binder import Lowering, Reader, Writer
from tooling.simulator.amd.lowering.waves import ACTIVE, SCC, WaveGroup
from tooling.simulator.amd.semantics.registry import DTYPES, Operation
from tooling.simulator.amd.semantics.tables import lookup
from tooling.simulator.gpu.stop_texts import OTHER_OPERAND
from tooling.simulator.program.program import Batch, Step

Array = NDArray[Any]
Binder: TypeAlias = Callable[[Lowering, MachineInstruction, int], None]

BINDERS: dict[str, Binder] = {}
"""Binders by mnemonic without the suffix of the encoding. Modules register theirs on import."""

ENDS: set[str] = set()
"""Mnemonics after which a new basic block starts."""

ALONE: set[str] = set()
"""Mnemonics that make a basic block of their own: wavefronts may wait there."""


def binds(*names: str, ends: bool = False, alone: bool = False) -> Callable[[Binder], Binder]:
    """Register a binder.

    Args:
        ends: a new basic block starts after these instructions; alone: wavefronts may wait at them.
    """

    def enter(binder: Binder) -> Binder:
        for name in names:
            BINDERS[name] = binder
            if ends or alone:
                ENDS.add(name)
            if alone:
                ALONE.add(name)
        return binder

    return enter


def bind_matching(table: Mapping[int, str], *rules: tuple[re.Pattern[str], Binder]) -> None:
    """Register, for each mnemonic of an opcode table, the binder of the first pattern that it matches."""
    for name in table.values():
        found = next((binder for pattern, binder in rules if pattern.fullmatch(name)), None)
        if found is not None:
            binds(name)(found)


def bind(lowering: Lowering, instruction: MachineInstruction, following: int) -> None:
    """Append the step of an instruction to the current block, or set how the block ends.

    Raises:
        UnknownInstruction: an unsupported instruction or operand.
    """
    try:
        binder = BINDERS.get(instruction.name)
        if binder is not None:
            binder(lowering, instruction, following)
            return
        operation = lookup(instruction.name)
        if operation is None:
            raise lowering.unsupported(instruction)
        if instruction.encoding.startswith("SOP"):
            _bind_scalar(lowering, instruction, operation)
        else:
            bind_vector(lowering, instruction, operation)
    except (LookupError, ValueError) as error:
        raise lowering.unsupported(instruction, OTHER_OPERAND) from error


def step_of(step: Callable[[WaveGroup, Batch], None]) -> Step:
    """A step over a group of wavefronts, as the engine calls it."""
    return step  # type: ignore[return-value]


# -- the scalar unit ------------------------------------------------------------------------------------


def _bind_scalar(lowering: Lowering, instruction: MachineInstruction, operation: Operation) -> None:
    readers: list[Reader] = []
    operands = [source.operand for source in instruction.sources]
    for kind in operation.arguments:
        if kind == "scc":
            lowering.block.reads(SCC)
            readers.append(lambda group: group.get(SCC))
        elif kind == "acc":
            readers.append(lowering.scalar(instruction.results[0], operation.results[0]))
        else:
            readers.append(lowering.scalar(operands.pop(0), kind))
    results = list(instruction.results)
    writers: list[Writer] = []
    for kind in operation.results:
        if kind == "scc":
            lowering.block.defines.add(SCC)
            writers.append(_write_scc)
        else:
            writers.append(lowering.scalar_writer(results.pop(0), kind))
    function = operation.function
    if len(writers) == 1:
        (write,) = writers

        def step(group: WaveGroup, _batch: Batch) -> None:
            write(group, function(*[reader(group) for reader in readers]))

        lowering.block.steps.append(step_of(step))
        return

    def several(group: WaveGroup, _batch: Batch) -> None:
        values = function(*[reader(group) for reader in readers])
        for write, value in zip(writers, values, strict=True):
            write(group, value)

    lowering.block.steps.append(step_of(several))


def _write_scc(group: WaveGroup, value: Array) -> None:
    group.registers[SCC] = value


# -- the vector unit ------------------------------------------------------------------------------------


def bind_vector(lowering: Lowering, instruction: MachineInstruction, operation: Operation) -> None:
    sources = list(instruction.sources)
    readers: list[Reader] = []
    for kind in operation.arguments:
        if kind == "acc":
            accumulator = Modified(instruction.results[0], low_half=int(instruction.high_result))
            readers.append(lowering.vector(accumulator, operation.results[0]))
        elif kind == "vcc":
            readers.append(lowering.flags(Operand("vcc", count=lowering.wave_size // 32)))
        else:
            readers.append(lowering.vector(sources.pop(0), kind))
    if instruction.cross_lane is None:
        finish_vector(lowering, instruction, operation, readers)
    else:
        _bind_cross_lane(lowering, instruction, operation, readers, instruction.cross_lane)


def _bind_cross_lane(
    lowering: Lowering,
    instruction: MachineInstruction,
    operation: Operation,
    readers: list[Reader],
    cross_lane: CrossLane,
) -> None:
    """DPP: the first operand comes from the lanes that it selects; 0 where there is no active lane.

    Written are the enabled rows and banks and, without bound_ctrl, only lanes with an active source.
    """
    size = lowering.wave_size
    lanes, exists = source_lanes(cross_lane, size)
    number = np.arange(size)
    enabled = (cross_lane.row_mask >> (number >> 4 & 3) & 1) & (cross_lane.bank_mask >> (number >> 2 & 3) & 1)
    enabled = enabled.astype(np.bool_)
    everywhere = bool(enabled.all()) and cross_lane.bound_control
    fits = DTYPES[operation.arguments[0]].itemsize <= 4
    read, moved = readers[0], [np.zeros(0)]
    before = len(lowering.block.steps)
    finish_vector(lowering, instruction, operation, [lambda _group: moved[0], *readers[1:]])
    step = lowering.block.steps.pop(before)

    def limited(group: WaveGroup, batch: Batch) -> None:
        active = group.get(ACTIVE)
        here = np.broadcast_to(active, group.count).reshape(group.waves, size)
        valid = (here[:, lanes] | cross_lane.fetch_inactive) & exists
        value = np.broadcast_to(read(group), group.count).reshape(group.waves, size)
        moved[0] = np.where(valid, value[:, lanes], value.dtype.type(0)).reshape(-1)
        if batch.hooks.exchange and fits:
            taking = here & enabled & valid
            notify_exchange(group, batch, instruction, lanes=lanes, taking=taking, received=moved[0])
        if everywhere:
            step(group, batch)
            return
        written = enabled if cross_lane.bound_control else enabled & valid
        group.registers[ACTIVE] = active & np.broadcast_to(written, (group.waves, size)).reshape(-1)
        step(group, batch)
        group.registers[ACTIVE] = active

    lowering.block.steps.append(step_of(limited))


def finish_vector(
    lowering: Lowering, instruction: MachineInstruction, operation: Operation, readers: list[Reader]
) -> None:
    """Append the step of a vector operation with these readers of its arguments."""
    function, kinds, results = operation.function, operation.results, instruction.results
    if operation.first and (instruction.offset in lowering.unread or results[1].kind == "null"):
        function, kinds, results = operation.first, kinds[:1], results[:1]
    if "clamp" in instruction.flags or instruction.output_scale:
        if len(kinds) > 1:
            raise ValueError(kinds)
        function = _adjusted(function, operation, instruction, kinds[0])
    writers: list[Writer] = []
    for kind, operand in zip(kinds, results, strict=True):
        if kind == "mask":
            writers.append(_mask_writer(lowering, instruction, operand))
        elif instruction.select and instruction.select != "DWORD":
            writers.append(_selected_writer(lowering, instruction, operand))
        else:
            writers.append(lowering.vector_writer(operand, kind, high=instruction.high_result))
    if len(writers) > 1:

        def several(group: WaveGroup, _batch: Batch) -> None:
            values = function(*[reader(group) for reader in readers])
            for write, value in zip(writers, values, strict=True):
                write(group, value)

        lowering.block.steps.append(step_of(several))
        return
    (write,) = writers
    if len(readers) == 2:
        first, second = readers

        def two(group: WaveGroup, _batch: Batch) -> None:
            write(group, function(first(group), second(group)))

        lowering.block.steps.append(step_of(two))
        return

    def step(group: WaveGroup, _batch: Batch) -> None:
        write(group, function(*[reader(group) for reader in readers]))

    lowering.block.steps.append(step_of(step))


def _mask_writer(lowering: Lowering, instruction: MachineInstruction, operand: Operand) -> Writer:
    """A writer of a comparison's flags; V_CMPX writes them to EXEC as well."""
    write = lowering.mask_writer(operand)
    if not instruction.name.startswith("v_cmpx") or operand.kind == "exec":
        return write
    enable = lowering.mask_writer(Operand("exec", count=lowering.wave_size // 32))

    def write_both(group: WaveGroup, flags: Array) -> None:
        write(group, flags)
        enable(group, flags)

    return write_both


def _adjusted(
    function: Callable[..., Any], operation: Operation, instruction: MachineInstruction, kind: str
) -> Callable[..., Any]:
    """The function with its result clamped: floats to [0, 1], integers to the range of their type.

    Output scaling has no effect: the hardware ignores it while subnormal numbers are on, and the simulator
    supports no other mode (CDNA 3 ISA, "Output Modifiers"; RDNA 3 ISA 7.2.2).

    Raises:
        ValueError: clamping of another type.
    """
    if "clamp" not in instruction.flags:
        return function
    if operation.clamped is not None:
        return operation.clamped
    if kind in ("pk16", "pkb16", "pk32"):
        half = np.dtype(np.float16 if kind == "pk16" else np.float32)
        if not instruction.name.endswith(("_f16", "_f32")):
            raise ValueError(kind)
    elif kind in ("f16", "f32", "f64"):
        half = DTYPES[kind]
    else:
        raise ValueError(kind)

    def clamped(*arguments: Array) -> Array:
        value = np.ascontiguousarray(function(*arguments))
        elements = value.view(half)
        return np.where(elements > 0, np.minimum(elements, half.type(1)), half.type(0)).view(value.dtype)

    return clamped


def _selected_writer(lowering: Lowering, instruction: MachineInstruction, operand: Operand) -> Writer:
    """SDWA: the result goes to a byte or word of the destination."""
    low = {"BYTE_0": 0, "BYTE_1": 8, "BYTE_2": 16, "BYTE_3": 24, "WORD_0": 0, "WORD_1": 16}[
        instruction.select
    ]
    count = 8 if instruction.select.startswith("BYTE") else 16
    mask = np.uint32((1 << count) - 1)
    (slot,) = lowering.of(operand)
    write = lowering.vector_writer(operand, "b32")
    unused = instruction.unused

    def write_field(group: WaveGroup, value: Array) -> None:
        bits = value.view(f"u{value.dtype.itemsize}").astype(np.uint32)
        field = (bits & mask) << np.uint32(low)
        if unused == "UNUSED_PRESERVE":
            field = field | group.get(slot).view(np.uint32) & ~(mask << np.uint32(low))
        elif unused == "UNUSED_SEXT":
            up = np.uint32(32 - count - low)
            field = ((field << up).view(np.int32) >> np.int32(up)).view(np.uint32)
        write(group, field)

    return write_field
