"""Theoretical occupancy, held to CUDA's calculator and to what an H200's driver answered."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tooling.simulator.counters.occupancy import MULTIPROCESSORS, Limit, theoretical_occupancy

KIB = 1024
ANSWERS = Path(__file__).parents[1] / "data" / "driver_answers.json"
RECORDED = [
    (*map(int, question.split()[1:]), answer[1])
    for question, answer in json.loads(ANSWERS.read_text(encoding="utf-8"))["attributes"].items()
    if question.startswith("occupancy") and answer[1] > 0
]
"""Threads and shared bytes of a block whose registers do not bind, and what an H200's driver answered."""


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


@pytest.mark.parametrize(("threads", "shared", "blocks"), RECORDED)
def test_an_h200_holds_as_many_blocks(threads: int, shared: int, blocks: int) -> None:
    assert theoretical_occupancy(threads, shared).blocks == blocks


def test_shared_memory_is_given_in_units() -> None:
    assert theoretical_occupancy(32, 7 * KIB * 4 + 3 * KIB + 512).blocks == 7
    assert theoretical_occupancy(32, 7 * KIB * 4 + 3 * KIB + 512 + 73).blocks == 6


def test_smaller_multiprocessors_hold_less() -> None:
    ada = theoretical_occupancy(256, 16 * KIB, multiprocessor=MULTIPROCESSORS[8, 9])
    assert (ada.blocks, ada.limited_by, ada.warps) == (5, Limit.SHARED, 40)
