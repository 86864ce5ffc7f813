"""Exchanges between lanes: which lane each lane reads by DPP (CDNA 3 ISA, "DPP: Data Parallel Processing";
RDNA 3 ISA 7.7), and the notification of hooks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.amd.decoding.instruction import CrossLane, MachineInstruction
from tooling.simulator.amd.lowering.waves import WaveGroup
from tooling.simulator.numerics.rounding import U32
from tooling.simulator.program.program import Batch

Array = NDArray[Any]


def source_lanes(cross_lane: CrossLane, wave_size: int) -> tuple[Array, Array]:
    """Which lane of the wavefront each lane reads, and whether that lane exists.

    Raises:
        ValueError: an unknown control.
    """
    lane = np.arange(wave_size)
    row, inside = lane & ~15, lane & 15
    control = cross_lane.control
    exists = np.ones(wave_size, np.bool_)
    if cross_lane.is_dpp8:
        selectors = np.array([control >> 3 * k & 7 for k in range(8)])
        return (lane & ~7) + selectors[lane & 7], exists
    if control < 0x100:
        quad = np.array([control >> 2 * k & 3 for k in range(4)])
        return (lane & ~3) + quad[lane & 3], exists
    by = control & 15
    if 0x101 <= control <= 0x10F:
        return np.minimum(row + inside + by, wave_size - 1), inside + by < 16
    if 0x111 <= control <= 0x11F:
        return np.maximum(lane - by, 0), inside - by >= 0
    if 0x121 <= control <= 0x12F:
        return row + (inside - by & 15), exists
    if control == 0x130:
        return np.minimum(lane + 1, wave_size - 1), lane + 1 < wave_size
    if control == 0x134:
        return (lane + 1) % wave_size, exists
    if control == 0x138:
        return np.maximum(lane - 1, 0), lane > 0
    if control == 0x13C:
        return (lane - 1) % wave_size, exists
    if control == 0x140:
        return row + 15 - inside, exists
    if control == 0x141:
        return (lane & ~7) + 7 - (lane & 7), exists
    if control == 0x142:
        return np.maximum(row - 1, 0), row >= 16
    if control == 0x143:
        return np.full(wave_size, 31), lane >= 32
    if 0x150 <= control <= 0x15F:
        return row + by, exists
    if 0x160 <= control <= 0x16F:
        return row + (inside ^ by), exists
    raise ValueError(control)


def notify_exchange(
    group: WaveGroup,
    batch: Batch,
    instruction: MachineInstruction,
    *,
    lanes: Array,
    taking: Array,
    received: Array,
) -> None:
    """Notify the hooks of the threads that received a value, and of those that it came from.

    Args:
        lanes: (lanes,) or (waves, lanes) the lane that each lane reads.
        taking: (waves, lanes) whether it receives something.
        received: (n,) the value of each lane of the group; of 32 bits, or fewer.
    """
    threads = group.pick(batch.spaces.threads)
    by_wave = threads.reshape(group.waves, group.wave_size)
    sources = np.take_along_axis(by_wave, np.broadcast_to(lanes, by_wave.shape), axis=1).reshape(-1)
    own = np.flatnonzero(taking)
    if len(own):
        bits = received.view(f"u{received.dtype.itemsize}").astype(U32)
        for hook in batch.hooks.exchange:
            hook.exchange(threads[own], sources[own], bits[own], instruction)
