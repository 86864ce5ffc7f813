"""Arrays as long as a buffer take the memory of what is used of them."""

from __future__ import annotations

import resource
from pathlib import Path

import numpy as np
import pytest

from tooling.simulator.checks.shadow import sparse_zeros


def resident() -> int:
    """Bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * resource.getpagesize()


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system shows no resident memory")
def test_untouched_elements_take_no_memory() -> None:
    before = resident()
    array = sparse_zeros(1 << 28, np.int64)  # 2 GiB
    array[[0, 1 << 27, -1]] = 7
    assert resident() - before < 64 << 20  # three pages, huge ones where the system has them
    assert array[[0, 1, 1 << 27, -1]].tolist() == [7, 0, 7, 7]


@pytest.mark.parametrize("count", [0, 5, 1 << 20])
def test_small_and_large_arrays_are_zero_and_writable(count: int) -> None:
    array = sparse_zeros(count, np.int64)
    assert len(array) == count
    assert not array.any()
    array[:] = 3
    assert (array == 3).all()
