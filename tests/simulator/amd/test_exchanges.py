"""Hooks learn which lane gave a value to which, by DPP and by exchanges through the LDS unit."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tooling.simulator.amd.architectures import GFX942
from tooling.simulator.amd.decoding.decoder import Decoder
from tooling.simulator.amd.instructions import binders, data_share
from tooling.simulator.amd.lowering.binder import Lowering
from tooling.simulator.amd.lowering.waves import ACTIVE, WaveGroup

assert data_share, "importing it registers the instructions"
LANES = 64
Given = dict[int, tuple[int, int]]


def executed(words: str, addresses: list[int], active: list[int]) -> tuple[Given, list[int]]:
    """What hooks learn from an instruction of v0 (address: v1) to v2, and the values of v2 afterwards.

    Args:
        words: the instruction in memory, in hexadecimal.
        active: the lanes that execute it. Lane n has n + 100 in v0, and 7 in v2.
    """
    instruction = Decoder(GFX942).decode(bytes.fromhex(words), 0)
    lowering = Lowering(None, SimpleNamespace(name="kernel"), GFX942)  # type: ignore[arg-type]
    v0, v1, v2 = (lowering.register("v", number) for number in range(3))
    binders.bind(lowering, instruction, 1)
    registers: list[Any] = [None] * len(lowering.origins)
    group = WaveGroup(0, (), None, LANES, registers, base=registers, missing=lambda _slot: np.zeros(LANES))
    group.wave_size, group.batch_size, group.has_thread = LANES, LANES, None
    registers[v0] = np.arange(LANES, dtype=np.uint32) + 100
    registers[v1] = np.array(addresses, np.uint32)
    registers[v2] = np.full(LANES, 7, np.uint32)
    registers[ACTIVE] = np.isin(np.arange(LANES), active)
    found: Given = {}

    class Listener:
        def exchange(self, threads: Any, sources: Any, values: Any, at: Any) -> None:
            assert at is instruction
            rows = zip(threads.tolist(), sources.tolist(), values.tolist(), strict=True)
            found.update({thread: (source, value) for thread, source, value in rows})

    threads = np.arange(LANES) + 1000
    for listeners in ((Listener(),), ()):
        registers[v2] = np.full(LANES, 7, np.uint32)
        hooks = SimpleNamespace(exchange=listeners)
        batch = SimpleNamespace(hooks=hooks, spaces=SimpleNamespace(threads=threads))
        for step in lowering.block.steps:
            step(group, batch)
    return found, registers[v2].tolist()


ALL = list(range(LANES))


@pytest.mark.parametrize(
    ("words", "addresses", "active", "pairs", "zero"),
    [
        # v_mov_b32_dpp v2, v0 row_shr:1: the first lane of each row has no source.
        ("fa02047e001101ff", ALL, ALL, {lane: lane - 1 for lane in ALL if lane % 16}, []),
        # The same of row 0 alone, while lane 2 is inactive: it neither gives nor receives.
        ("fa02047e0011011f", ALL, [0, 1, 3, 4, 17], {1: 0, 4: 3}, []),
        # quad_perm:[1,0,3,2], and 0 where the source is inactive (bound_ctrl).
        ("fa02047e00b108ff", ALL, [0, 1, 2], {0: 1, 1: 0}, [2]),
        # ds_swizzle_b32 v2, v0: lanes that differ in bit 2 exchange.
        ("1f107ad800000002", ALL, ALL, {lane: lane ^ 4 for lane in ALL}, []),
        ("1f107ad800000002", ALL, [0, 4, 5], {0: 4, 4: 0}, [5]),
        # ds_bpermute_b32 v2, v1, v0: each lane reads the next one.
        ("00007ed801000002", [4 * (n + 1) for n in ALL], ALL, {n: (n + 1) % 64 for n in ALL}, []),
        ("00007ed801000002", [4 * (n + 1) for n in ALL], [3, 4, 9], {3: 4}, [4, 9]),
        # ds_permute_b32 v2, v1, v0: every active lane sends to lane 5; the highest wins.
        ("00007cd801000002", [20] * LANES, [1, 5, 8], {5: 8}, [1, 8]),
    ],
)  # fmt: skip
def test_each_receiving_lane_is_told_with_its_source(
    words: str, addresses: list[int], active: list[int], pairs: dict[int, int], zero: list[int]
) -> None:
    notified, values = executed(words, addresses, active)
    assert notified == {1000 + lane: (1000 + source, 100 + source) for lane, source in pairs.items()}
    expected = dict.fromkeys(range(LANES), 7) | dict.fromkeys(zero, 0)
    expected |= {lane: 100 + source for lane, source in pairs.items()}
    assert values == list(expected.values())


def test_the_operand_of_a_sum_is_told() -> None:
    notified, _ = executed("fa00000200b108ff", ALL, ALL)  # v_add_f32_dpp v0, v0, v0 quad_perm:[1,0,3,2]
    assert notified == {1000 + lane: (1000 + (lane ^ 1), 100 + (lane ^ 1)) for lane in ALL}
