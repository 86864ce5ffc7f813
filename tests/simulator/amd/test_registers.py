"""64-bit values are pairs of registers: views of one array where possible, whatever becomes of them."""

from __future__ import annotations

import numpy as np
import pytest

from tooling.simulator.amd.lowering.registers import combined, halves


@pytest.mark.parametrize("count", [1, 2, 63, 64, 1000])
def test_two_registers_are_joined_as_they_are(count: int) -> None:
    value = np.random.default_rng(count).integers(0, 2**64, count, np.uint64)
    low, high = halves(value)
    bits = np.uint64(32)
    lower = value & np.uint64(2**32 - 1)
    assert low.tolist() == lower.tolist()
    assert combined(low, high).tolist() == value.tolist()
    assert count == 1 or np.shares_memory(combined(low, high), value), "joined without a copy"
    assert combined(high, low).tolist() == (value >> bits | value << bits).tolist()
    assert combined(low, low).tolist() == (lower | lower << bits).tolist()
    assert combined(low.copy(), high).tolist() == value.tolist()
    assert combined(low[1:], high[1:]).tolist() == value[1:].tolist()
