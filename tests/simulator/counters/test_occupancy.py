"""Theoretical occupancy, held to CUDA's calculator and to the simulated driver's answer."""

from __future__ import annotations

import pytest

from tooling.simulator import device
from tooling.simulator.counters.occupancy import MULTIPROCESSORS, Limit, theoretical_occupancy

KIB = 1024


@pytest.mark.parametrize(
    ("threads", "shared", "registers", "blocks", "limit"),
    [
        (1024, 0, None, 2, Limit.WARPS),
        (1024, 48 * KIB, None, 2, Limit.WARPS),
        (1024, 113 * KIB, None, 2, Limit.WARPS),
        (1024, 113 * KIB + 1, None, 1, Limit.SHARED),
        (256, 48 * KIB, None, 4, Limit.SHARED),
        (32, 0, None, 32, Limit.BLOCKS),
        (33, 0, None, 32, Limit.WARPS),  # two warps a block
        (1024, 0, 32, 2, Limit.WARPS),
        (1024, 0, 33, 1, Limit.REGISTERS),
        (256, 0, 255, 1, Limit.REGISTERS),
        (1024, 0, 65, 0, Limit.REGISTERS),  # cannot be launched at all
    ],
)
def test_the_scarcest_resource_decides(
    threads: int, shared: int, registers: int | None, blocks: int, limit: Limit
) -> None:
    found = theoretical_occupancy(threads, shared, registers)
    assert (found.blocks, found.limited_by) == (blocks, limit)
    assert found.warps == blocks * -(-threads // 32)
    assert found.fraction == found.warps / 64
    assert found.exact == (registers is not None)


@pytest.mark.parametrize("threads", [1, 32, 96, 256, 1000, 1024])
@pytest.mark.parametrize("shared", [0, 128, 16 * KIB, 48 * KIB, 100 * KIB, 227 * KIB])
def test_the_simulated_driver_says_the_same(threads: int, shared: int) -> None:
    assert theoretical_occupancy(threads, shared).blocks == device.blocks_per_multiprocessor(threads, shared)


def test_smaller_multiprocessors_hold_less() -> None:
    ada = theoretical_occupancy(256, 16 * KIB, multiprocessor=MULTIPROCESSORS[8, 9])
    assert (ada.blocks, ada.limited_by, ada.warps) == (5, Limit.SHARED, 40)
