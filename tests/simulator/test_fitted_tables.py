"""The fit of the special function unit's tables finds them again in results that were computed from them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.simulator.instructions.fit_approximations import FUNCTIONS, Bounds, fit, sweeps_of
from tests.simulator.instructions.record_approximations import Sweep
from tooling.simulator.nvidia.semantics import special_functions as unit

COMPUTED = {
    "rcp": unit.reciprocal, "rsqrt0": unit.reciprocal_root, "sqrt1": unit.root, "ex2": unit.exponential,
    "sin": unit.sine, "lg2": unit.logarithm,
}  # fmt: skip


@pytest.mark.parametrize("name", COMPUTED)
def test_a_segment_of_each_function_is_found_again(name: str) -> None:
    function, number = FUNCTIONS[name], 21
    count = (1 << 23) // function.segments
    bounds = Bounds()
    for sweep in sweeps_of(function):
        if sweep.text.startswith("cos"):
            continue
        first, cases = sweep.first + number * count, count  # the part of the binade
        if name == "sin":  # the same segment of the fifth quarter of a turn
            start, end = (math.tau / 4 * (4 + (number + k) / function.segments) for k in (0, 1))
            first, cases = int(np.float32(start).view(np.uint32)), int((end - start) * 2**21)
        part = Sweep(sweep.text, first, 1, cases)
        function.add(bounds, part, COMPUTED[name](part.operands()))
    found = fit(bounds, function.segments, range(number, number + 1))
    assert found[:, 0].tolist() == unit._tables()[name][:, number].tolist()


def test_results_of_no_table_are_refused() -> None:
    bounds = Bounds()
    fractions = np.arange(1 << 17)
    noise = np.random.default_rng(0).integers(0, 1 << 40, 1 << 17)
    bounds.add(fractions, noise, noise)
    with pytest.raises(ValueError, match="no coefficients for the fractions from 0"):
        fit(bounds, 64, range(1))
