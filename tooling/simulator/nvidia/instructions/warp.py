"""Instructions across the lanes of a warp: shfl, vote, match, redux, elect (PTX ISA 9.7.9.6, 9.7.13)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.gpu.code_model import Instruction, Negated, OperandPair, Register
from tooling.simulator.gpu.faults import broken_warp
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.gpu.stop_texts import OTHER_OPERANDS
from tooling.simulator.numerics.rounding import PRED, U32, U64
from tooling.simulator.nvidia.lowering.binders import assign, binds, write
from tooling.simulator.nvidia.lowering.decoder import Decoder
from tooling.simulator.nvidia.lowering.predicates import end_guarded, guard, guarded_lanes
from tooling.simulator.nvidia.semantics.registry import DTYPES
from tooling.simulator.program.program import Batch, Compute, Step, WarpOperation
from tooling.simulator.program.warp_lanes import ALL_LANES, Sources

Array = NDArray[Any]


def together(
    decoder: Decoder,
    instruction: Instruction,
    following: int,
    mask: int,
    perform: Step,
    *,
    whole: bool = False,
    operation: WarpOperation | None = None,
) -> None:
    """Bind an instruction that the lanes of a warp perform together, once all lanes of the mask arrive.

    Args:
        whole: the instruction requires all 32 lanes of a warp; if some are missing, the kernel stops.
        operation: what lanes at other instructions of its form perform with them, if these may be elsewhere.
    """

    def wait(group: Group, batch: Batch) -> bool:
        ready = batch.gather_warps(group, mask, instruction, operation)
        if ready is None:
            return False
        if whole and not batch.warps.whole(ready):
            raise broken_warp(batch.context.launch, instruction, int(ready.pick(batch.spaces.threads)[0]))
        perform(ready, batch)
        ready.pc = following
        if ready is group:
            return True
        batch.resume(ready)
        return False

    decoder.block.gathers = True
    decoder.block.successors.append(following)
    end_guarded(decoder, instruction, following, wait)


def collectively(
    decoder: Decoder,
    instruction: Instruction,
    following: int,
    compute: Compute,
    *,
    sources: tuple[int, ...],
    targets: tuple[int | None, ...],
    negated: bool = False,
) -> None:
    """Bind an instruction that lanes of a mask perform together, wherever they execute one of its form.

    Args:
        sources: the slots of its operands; the mask is the last one.
        negated: the first operand is a negated predicate.
    """
    operation = WarpOperation(instruction, following, sources, targets, compute, negated)
    together(decoder, instruction, following, sources[-1], operation.perform, operation=operation)


def _mask_groups(group: Group, batch: Batch, masks: Array) -> tuple[Array, int]:
    """Per lane of the group, the number of the lanes of its warp that have the same mask, and how many exist.

    Args:
        masks: `membermask` of each lane of the group, or a single one.
    """
    warp = group.pick(batch.warps.warp_of_lane)
    if len(masks) == 1:
        return warp, batch.warps.count
    keys = warp.astype(U64) << np.uint64(32) | masks
    different, mask_group = np.unique(keys, return_inverse=True)
    return mask_group, len(different)


def _ballot(group: Group, batch: Batch, predicate: Array, masks: Array) -> Array:
    """Per lane of the group, the lanes of its mask whose predicate is true."""
    if len(masks) == 1:
        return batch.warps.ballot(group, predicate) & masks
    mask_group, group_count = _mask_groups(group, batch, masks)
    bits = np.uint32(1) << group.pick(batch.warps.lane_in_warp)
    ballots = np.zeros(group_count, U32)
    np.bitwise_or.at(ballots, mask_group, np.where(predicate, bits, np.uint32(0)))
    return ballots[mask_group] & masks


@binds("shfl", alone=True)
def _shuffle(decoder: Decoder, instruction: Instruction, following: int) -> None:
    """`shfl.sync.mode.b32 d[|p], a, b, c, membermask` (PTX ISA 9.7.9.6)."""
    mode = instruction.modifiers[1]
    destination, a, b, c, members = instruction.operands
    value, amount, clamp, mask = (decoder.value(x, U32, instruction) for x in (a, b, c, members))
    found = None
    if isinstance(destination, OperandPair):
        found = write(decoder, destination.second, instruction, PRED)
        destination = destination.first
    target = write(decoder, destination, instruction, U32)

    def shuffle(group: Group, batch: Batch, operands: list[Array]) -> tuple[Array, Array]:
        values, amounts, clamps, masks = operands
        sources = batch.warps.shuffle(mode, group, amounts.view(U32), clamps.view(U32))
        if batch.hooks.shuffle_from_absent:
            _notify_inactive_sources(group, batch, sources, masks.view(U32), instruction)
        if len(values) > 1:
            values = values.take(sources.positions)
        if not sources.all_here:  # undefined by the PTX ISA; a Hopper GPU returns zero
            values = np.where(sources.here, values, values.dtype.type(0))
        if batch.hooks.exchange:
            threads, received = group.pick(batch.spaces.threads), np.broadcast_to(values, group.count)
            for hook in batch.hooks.exchange:
                hook.exchange(threads, threads[sources.positions], received.view(U32), instruction)
        return values, sources.inside

    collectively(
        decoder,
        instruction,
        following,
        shuffle,
        sources=(value, amount, clamp, mask),
        targets=(target, found),
    )


def _notify_inactive_sources(
    group: Group, batch: Batch, sources: Sources, masks: Array, instruction: Instruction
) -> None:
    """Notify hooks of lanes with the same mask that all read from lanes outside the shuffle."""
    if sources.all_here and len(masks) == 1 and masks[0] == ALL_LANES:
        return
    warps = batch.warps
    warp, lane = group.pick(warps.warp_of_lane), group.pick(warps.lane_in_warp)
    taking = sources.inside & (sources.lanes != lane)
    sound = taking & sources.here & (masks >> sources.lanes.astype(U32) & np.uint32(1)).astype(np.bool_)
    mask_group, group_count = _mask_groups(group, batch, masks)
    served = np.zeros(group_count, np.bool_)
    served[mask_group[sound]] = True
    invalid = taking & ~served[mask_group]
    if invalid.any():
        participants = warps.masks(group.indices(batch.size))[warp] & masks
        threads = group.pick(batch.spaces.threads)
        for hook in batch.hooks.shuffle_from_absent:
            hook.shuffle_from_absent(
                threads[invalid], sources.lanes[invalid], participants[invalid], instruction
            )


@binds("vote", alone=True)
def _vote(decoder: Decoder, instruction: Instruction, following: int) -> None:
    """`vote.sync.mode d, {!}a, membermask`: over the lanes of the mask (PTX ISA 9.7.13.6)."""
    mode = instruction.modifiers[1]
    destination, operand, named = instruction.operands
    negate = isinstance(operand, Negated)
    predicate = decoder.value(operand.operand if isinstance(operand, Negated) else operand, PRED, instruction)
    mask = decoder.value(named, U32, instruction)
    target = write(decoder, destination, instruction, U32 if mode == "ballot" else PRED)

    def vote(group: Group, batch: Batch, operands: list[Array]) -> tuple[Array]:
        voted, masks = operands[0], operands[1].view(U32)
        ballots = _ballot(group, batch, voted, masks)
        if mode == "ballot":
            return (ballots,)
        present = _ballot(group, batch, np.ones(1, PRED), masks)
        if mode == "all":
            return (ballots == present,)
        if mode == "any":
            return (ballots != 0,)
        return ((ballots == present) | (ballots == 0),)

    collectively(
        decoder, instruction, following, vote, sources=(predicate, mask), targets=(target,), negated=negate
    )


@binds("redux", alone=True)
def _reduce(decoder: Decoder, instruction: Instruction, following: int) -> None:
    """`redux.sync.op.type d, a, membermask`: over the lanes of the mask (PTX ISA 9.7.13.9)."""
    functions: dict[str, np.ufunc] = {
        "add": np.add, "min": np.minimum, "max": np.maximum,
        "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
    }  # fmt: skip
    modifiers = instruction.modifiers
    function, dtype = functions[modifiers[1]], DTYPES[modifiers[2]]
    destination, source, members = instruction.operands
    value = decoder.value(source, dtype, instruction)
    mask = decoder.value(members, U32, instruction)
    target = write(decoder, destination, instruction, U32)

    def reduce(group: Group, batch: Batch, operands: list[Array]) -> tuple[Array]:
        mask_group, _ = _mask_groups(group, batch, operands[1].view(U32))
        values = np.broadcast_to(operands[0].view(dtype), group.count)
        order = np.argsort(mask_group, kind="stable")
        ordered = mask_group[order]
        starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
        totals = function.reduceat(values[order], starts)
        result = np.empty(group.count, dtype)
        result[order] = np.repeat(totals.astype(dtype), np.diff(np.append(starts, group.count)))
        return (result,)

    collectively(decoder, instruction, following, reduce, sources=(value, mask), targets=(target,))


@binds("match", alone=True)
def _match(decoder: Decoder, instruction: Instruction, following: int) -> None:
    """`match.any.sync` and `match.all.sync d|p` (PTX ISA 9.7.13.8)."""
    modifiers = instruction.modifiers
    dtype = DTYPES[modifiers[2]]
    destination, source, named = instruction.operands
    value = decoder.value(source, dtype, instruction)
    mask = decoder.value(named, U32, instruction)
    agreed = None
    if isinstance(destination, OperandPair):
        if modifiers[0] == "any":
            raise decoder.unknown(instruction, OTHER_OPERANDS)
        agreed = write(decoder, destination.second, instruction, PRED)
        destination = destination.first
    target = write(decoder, destination, instruction, U32)

    def match(group: Group, batch: Batch, operands: list[Array]) -> tuple[Array, Array]:
        values = np.broadcast_to(operands[0].view(dtype), group.count)
        masks = operands[1].view(U32)
        mask_group, _ = _mask_groups(group, batch, masks)
        bits = np.uint32(1) << group.pick(batch.warps.lane_in_warp)
        order = np.lexsort((values, mask_group))
        change = (mask_group[order][1:] != mask_group[order][:-1]) | (values[order][1:] != values[order][:-1])
        starts = np.flatnonzero(np.concatenate([[True], change]))
        lanes = np.bitwise_or.reduceat(bits[order], starts)
        same = np.empty(group.count, U32)
        same[order] = np.repeat(lanes, np.diff(np.append(starts, group.count)))
        same &= masks
        everyone = same == _ballot(group, batch, np.ones(1, PRED), masks)
        return (same if modifiers[0] == "any" else np.where(everyone, same, np.uint32(0))), everyone

    collectively(decoder, instruction, following, match, sources=(value, mask), targets=(target, agreed))


@binds("elect", alone=True)
def _elect(decoder: Decoder, instruction: Instruction, following: int) -> None:
    """`elect.sync d|p, membermask`: the lowest lane of the mask is elected (PTX ISA 9.7.13.15)."""
    destination, members = instruction.operands
    if not isinstance(destination, OperandPair):
        raise decoder.unknown(instruction)
    mask = decoder.value(members, U32, instruction)
    leader = write(decoder, destination.first, instruction, U32)
    elected = write(decoder, destination.second, instruction, PRED)
    named = isinstance(destination.first, Register) and destination.first.name != "_"

    def elect(group: Group, batch: Batch, operands: list[Array]) -> tuple[Array, Array]:
        present = _ballot(group, batch, np.ones(1, PRED), operands[0].view(U32))
        lowest = np.bitwise_count((present & (~present + np.uint32(1))) - np.uint32(1)).astype(U32)
        return lowest, group.pick(batch.warps.lane_in_warp) == lowest

    collectively(
        decoder, instruction, following, elect, sources=(mask,), targets=(leader if named else None, elected)
    )


@binds("activemask")
def _active_mask(decoder: Decoder, instruction: Instruction, _following: int) -> None:
    (destination,) = instruction.operands
    target = write(decoder, destination, instruction, U32)
    guarding = guard(decoder, instruction)

    def step(group: Group, batch: Batch) -> None:
        lanes = True if guarding is None else guarded_lanes(group, guarding)
        if lanes is not False:
            mask = None if lanes is True else lanes
            present = np.ones(1, PRED) if mask is None else mask
            assign(group, target, batch.warps.ballot(group, present), mask, U32)

    decoder.block.steps.append(step)
