"""Instructions across the lanes of a warp: shfl, vote, match, redux, elect (PTX ISA 9.7.9.6, 9.7.13)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.bindings import assign, binds, write
from tooling.simulator.decoder import Decoder
from tooling.simulator.faults import broken_warp
from tooling.simulator.guards import end_guarded, guard, guarded_lanes
from tooling.simulator.lanes import Group
from tooling.simulator.numerics import PRED, S32, U32
from tooling.simulator.ptx_model import Instruction, Negated, Pair, Register
from tooling.simulator.semantics import DTYPES

Array = NDArray[Any]

_ALL_LANES = np.uint32(0xFFFFFFFF)


def together(
    decoder: Decoder,
    instruction: Instruction,
    following: int,
    mask: int,
    perform: Callable[[Group, Any], None],
    *,
    whole: bool = False,
) -> None:
    """Perform for the lanes of each warp once all lanes of their mask are here.

    Args:
        whole: the instruction takes all 32 lanes of a warp; without some of them it stops the kernel.
    """

    def wait(group: Group, batch: Any) -> bool:
        ready = batch.gather_warps(group, mask, instruction)
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


@binds("shfl", alone=True)
def _shuffle(decoder: Decoder, instruction: Instruction, following: int) -> None:
    """`shfl.sync.mode.b32 d[|p], a, b, c, membermask` (PTX ISA 9.7.9.6)."""
    if (
        len(instruction.modifiers) != 3
        or instruction.modifiers[0] != "sync"
        or instruction.modifiers[2] != "b32"
    ):
        raise decoder.unknown(instruction)
    mode = instruction.modifiers[1]
    if mode not in ("up", "down", "bfly", "idx"):
        raise decoder.unknown(instruction)
    destination, a, b, c, members = instruction.operands
    value, amount, clamp, mask = (decoder.value(x, U32, instruction) for x in (a, b, c, members))
    found = None
    if isinstance(destination, Pair):
        found = write(decoder, destination.second, instruction, PRED)
        destination = destination.first
    target = write(decoder, destination, instruction, U32)

    def perform(group: Group, batch: Any) -> None:
        sources: Sources = batch.warps.shuffle(
            mode, group, group.get(amount).view(U32), group.get(clamp).view(U32)
        )
        if batch.hooks.shuffle_astray:
            _tell_astray(group, batch, sources, group.get(mask).view(U32), instruction)
        values = group.get(value)
        assign(
            group, target, values if len(values) == 1 else values.take(sources.positions), None, values.dtype
        )
        if found is not None:
            assign(group, found, sources.inside, None, PRED)

    together(decoder, instruction, following, mask, perform)


def _tell_astray(group: Group, batch: Any, sources: Sources, masks: Array, instruction: Instruction) -> None:
    """Tell of warps where all values that lanes take from others come from lanes that take no part."""
    if sources.all_here and len(masks) == 1 and masks[0] == _ALL_LANES:
        return
    warps = batch.warps
    warp, lane = group.pick(warps.warp_of_lane), group.pick(warps.lane_in_warp)
    taking = sources.inside & (sources.lanes != lane)
    sound = taking & sources.here & (masks >> sources.lanes.astype(U32) & np.uint32(1)).astype(np.bool_)
    served = np.zeros(warps.count, np.bool_)
    served[warp[sound]] = True
    astray = taking & ~served[warp]
    if astray.any():
        parts = warps.masks(group.indices(batch.size))[warp] & masks
        threads = group.pick(batch.spaces.threads)
        for hook in batch.hooks.shuffle_astray:
            hook.shuffle_astray(threads[astray], sources.lanes[astray], parts[astray], instruction)


@binds("vote", alone=True)
def _vote(decoder: Decoder, instruction: Instruction, following: int) -> None:
    modifiers = instruction.modifiers
    if modifiers[0] != "sync" or modifiers[1] not in ("all", "any", "uni", "ballot"):
        raise decoder.unknown(instruction)
    mode = modifiers[1]
    destination, operand, members = instruction.operands
    negate = isinstance(operand, Negated)
    predicate = decoder.value(operand.operand if isinstance(operand, Negated) else operand, PRED, instruction)
    mask = decoder.value(members, U32, instruction)
    target = write(decoder, destination, instruction, U32 if mode == "ballot" else PRED)

    def perform(group: Group, batch: Any) -> None:
        voted = group.get(predicate)
        ballots = batch.warps.ballot(group, ~voted if negate else voted)
        if mode == "ballot":
            assign(group, target, ballots, None, U32)
            return
        present = batch.warps.ballot(group, np.ones(1, PRED))
        if mode == "all":
            result = ballots == present
        elif mode == "any":
            result = ballots != 0
        else:
            result = (ballots == present) | (ballots == 0)
        assign(group, target, result, None, PRED)

    together(decoder, instruction, following, mask, perform)


@binds("redux", alone=True)
def _reduce(decoder: Decoder, instruction: Instruction, following: int) -> None:
    functions: dict[str, np.ufunc] = {
        "add": np.add, "min": np.minimum, "max": np.maximum,
        "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
    }  # fmt: skip
    modifiers = instruction.modifiers
    if len(modifiers) != 3 or modifiers[1] not in functions or modifiers[2] not in ("u32", "s32", "b32"):
        raise decoder.unknown(instruction)
    function, dtype = functions[modifiers[1]], DTYPES[modifiers[2]]
    destination, source, members = instruction.operands
    value = decoder.value(source, dtype, instruction)
    mask = decoder.value(members, U32, instruction)
    target = write(decoder, destination, instruction, U32)

    def perform(group: Group, batch: Any) -> None:
        warp = group.pick(batch.warps.warp_of_lane)
        values = np.broadcast_to(group.get(value).view(dtype), group.count)
        starts = np.flatnonzero(np.concatenate([[True], warp[1:] != warp[:-1]]))
        totals = function.reduceat(values, starts)
        lengths = np.diff(np.append(starts, group.count))
        assign(group, target, np.repeat(totals.astype(dtype), lengths), None, dtype)

    together(decoder, instruction, following, mask, perform)


@binds("match", alone=True)
def _match(decoder: Decoder, instruction: Instruction, following: int) -> None:
    """`match.any.sync` and `match.all.sync d|p` (PTX ISA 9.7.13.8)."""
    modifiers = instruction.modifiers
    if len(modifiers) != 3 or modifiers[0] not in ("any", "all") or modifiers[2] not in ("b32", "b64"):
        raise decoder.unknown(instruction)
    dtype = DTYPES[modifiers[2]]
    destination, source, members = instruction.operands
    value = decoder.value(source, dtype, instruction)
    mask = decoder.value(members, U32, instruction)
    agreed = None
    if isinstance(destination, Pair):
        agreed = write(decoder, destination.second, instruction, PRED)
        destination = destination.first
    target = write(decoder, destination, instruction, U32)

    def perform(group: Group, batch: Any) -> None:
        values = np.broadcast_to(group.get(value).view(dtype), group.count)
        warp = group.pick(batch.warps.warp_of_lane)
        bits = np.uint32(1) << group.pick(batch.warps.lane_in_warp)
        order = np.lexsort((values, warp))
        change = (warp[order][1:] != warp[order][:-1]) | (values[order][1:] != values[order][:-1])
        starts = np.flatnonzero(np.concatenate([[True], change]))
        masks = np.bitwise_or.reduceat(bits[order], starts)
        same = np.empty(group.count, U32)
        same[order] = np.repeat(masks, np.diff(np.append(starts, group.count)))
        if modifiers[0] == "any":
            assign(group, target, same, None, U32)
            return
        everyone = same == batch.warps.ballot(group, np.ones(1, PRED))
        assign(group, target, np.where(everyone, same, np.uint32(0)), None, U32)
        if agreed is not None:
            assign(group, agreed, everyone, None, PRED)

    together(decoder, instruction, following, mask, perform)


@binds("elect", alone=True)
def _elect(decoder: Decoder, instruction: Instruction, following: int) -> None:
    """`elect.sync d|p, membermask`: the lowest lane of the mask is elected (PTX ISA 9.7.13.15)."""
    destination, members = instruction.operands
    if not isinstance(destination, Pair):
        raise decoder.unknown(instruction)
    mask = decoder.value(members, U32, instruction)
    leader = write(decoder, destination.first, instruction, U32)
    elected = write(decoder, destination.second, instruction, PRED)
    named = isinstance(destination.first, Register) and destination.first.name != "_"

    def perform(group: Group, batch: Any) -> None:
        present = batch.warps.ballot(group, np.ones(1, PRED))
        lowest = np.bitwise_count((present & (~present + np.uint32(1))) - np.uint32(1)).astype(U32)
        if named:
            assign(group, leader, lowest, None, U32)
        assign(group, elected, group.pick(batch.warps.lane_in_warp) == lowest, None, PRED)

    together(decoder, instruction, following, mask, perform)


@binds("activemask")
def _active_mask(decoder: Decoder, instruction: Instruction, _following: int) -> None:
    (destination,) = instruction.operands
    target = write(decoder, destination, instruction, U32)
    guarding = guard(decoder, instruction)

    def step(group: Group, batch: Any) -> None:
        lanes = True if guarding is None else guarded_lanes(group, guarding)
        if lanes is not False:
            mask = None if lanes is True else lanes
            present = np.ones(1, PRED) if mask is None else mask
            assign(group, target, batch.warps.ballot(group, present), mask, U32)

    decoder.block.steps.append(step)


class Sources(NamedTuple):
    """Where the lanes of a group take their values from in a shuffle.

    Attributes:
        positions: (n,) in the group; inside: (n,) the predicate.
        lanes: (n,) numbers in the warp; here: (n,) whether such a lane is in the group; all_here: all are.
    """

    positions: Array
    inside: NDArray[np.bool_]
    lanes: Array
    here: NDArray[np.bool_]
    all_here: bool


class Warps:
    """Which lanes of a batch form warps: 32 consecutive threads of a block, the last warp maybe shorter."""

    def __init__(self, blocks: int, threads_per_block: int) -> None:
        thread = np.arange(threads_per_block)
        per_block = -(-threads_per_block // 32)
        self.size = blocks * threads_per_block
        self.lane_in_warp: Array = np.tile((thread % 32).astype(U32), blocks)
        self.warp_of_lane: Array = (
            np.repeat(np.arange(blocks), threads_per_block) * per_block + np.tile(thread // 32, blocks)
        ).astype(np.intp)
        self.count = blocks * per_block
        self.first_lane: Array = (
            np.repeat(np.arange(blocks) * threads_per_block, per_block)
            + np.tile(np.arange(per_block) * 32, blocks)
        ).astype(np.intp)
        self.full: Array = self.masks(np.arange(self.size))
        self.alive = self.full
        self._shuffles: dict[tuple[Any, ...], Sources] = {}

    def masks(self, lanes: Array) -> Array:
        """Per warp, the lane mask of these lane numbers (sorted)."""
        result = np.zeros(self.count, U32)
        if len(lanes):
            warp = self.warp_of_lane[lanes]
            starts = np.flatnonzero(np.concatenate([[True], warp[1:] != warp[:-1]]))
            result[warp[starts]] = np.bitwise_or.reduceat(np.uint32(1) << self.lane_in_warp[lanes], starts)
        return result

    def whole(self, group: Group) -> bool:
        """Whether the group holds all 32 lanes of each of its warps."""
        if group.lanes is None:
            return self.size == 32 * self.count
        lanes = group.indices(self.size)
        return bool((self.masks(lanes)[self.warp_of_lane[lanes]] == _ALL_LANES).all())

    def ballot(self, group: Group, predicate: Array) -> Array:
        """Per lane of the group, the mask of the group's lanes in its warp whose predicate holds."""
        lanes = group.indices(self.size)
        chosen = lanes[np.broadcast_to(predicate, group.count)]
        return self.masks(chosen)[self.warp_of_lane[lanes]]

    def shuffle(self, mode: str, group: Group, amount: Array, control: Array) -> Sources:
        """Where each lane of the group reads from.

        A source that takes no part (exited, or not in the group) leaves the lane with its own value.
        """
        uniform = len(amount) == 1 and len(control) == 1
        key = (mode, int(amount[0]), int(control[0])) if uniform and group.lanes is None else None
        if key is not None and key in self._shuffles:
            return self._shuffles[key]
        lane = group.pick(self.lane_in_warp).astype(S32)
        shift = (amount & np.uint32(31)).astype(S32)
        clamp = (control & np.uint32(31)).astype(S32)
        segment = ((control >> np.uint32(8)) & np.uint32(31)).astype(S32)
        lowest = lane & segment
        highest = lowest | (clamp & ~segment)
        if mode == "up":
            source = lane - shift
            inside = source >= highest
        else:
            if mode == "down":
                source = lane + shift
            elif mode == "bfly":
                source = lane ^ shift
            else:
                source = lowest | (shift & ~segment)
            inside = source <= highest
        source = np.where(inside, source, lane)
        wanted = self.first_lane[group.pick(self.warp_of_lane)] + source
        positions, here = self._positions(group, wanted, group.pick(self.warp_of_lane))
        inside, source = np.broadcast_to(inside, group.count), np.broadcast_to(source, group.count)
        result = Sources(positions, inside, source, here, bool(here.all()))
        if key is not None:
            self._shuffles[key] = result
        return result

    def _positions(self, group: Group, wanted: Array, warp: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Positions in the group of lane numbers, and whether they are in it.

        A lane that is not there is replaced by the asking one.
        """
        own = np.arange(group.count)
        valid = wanted < self.size
        wanted = np.where(valid, wanted, 0)
        valid &= self.warp_of_lane[wanted] == warp
        if group.lanes is None:
            return np.where(valid, wanted, own), valid
        lanes = group.indices(self.size)
        position = np.minimum(np.searchsorted(lanes, wanted), group.count - 1)
        valid &= lanes[position] == wanted
        return np.where(valid, position, own), valid
