"""The constants of a GPU are those of its recorded microbenchmarks, and of nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tooling.simulator.timing.constants import IncompleteTable, constants_of
from tooling.simulator.timing.parameters import GPUS, between, parameters_of

DATA = Path(__file__).parents[2] / "data"
PROGRAM = "benchmarks/kernels/constants.mojo"


def table(gpu: str) -> str:
    """What the microbenchmarks printed there."""
    recorded = json.loads((DATA / gpu / "benchmarks.json").read_text("utf-8"))
    return "\n".join(recorded["programs"][PROGRAM])


@pytest.mark.parametrize("gpu", GPUS)
def test_the_constants_come_from_the_microbenchmarks(gpu: str) -> None:
    assert constants_of(table(gpu)) == parameters_of(gpu)


def test_a_second_run_gives_the_same_constants_within_eight_percent() -> None:
    recorded = json.loads((DATA / "h200" / "benchmarks.json").read_text("utf-8"))
    (lines,) = recorded["repeated"][PROGRAM]
    again, first = constants_of("\n".join(lines)), parameters_of("h200")
    for name in ("read", "write", "copy", "shared_pass", "sparse", "ramp", "launch"):
        assert getattr(again, name) == pytest.approx(getattr(first, name), rel=0.04), name
    for name in ("latency", "interval", "start", "barrier", "nearest", "shared_atomic", "atomic"):
        assert getattr(again, name) == pytest.approx(getattr(first, name), rel=0.09), name


def test_a_row_that_is_missing_is_named() -> None:
    lines = [line for line in table("h200").splitlines() if not re.match("memory copy ", line)]
    with pytest.raises(IncompleteTable, match=r"^the table has not two rows 'memory copy'$"):
        constants_of("\n".join(lines))


def test_a_longer_row_that_takes_no_longer_is_refused() -> None:
    text = table("h200").replace(" 265.79 ", "   1.00 ")
    with pytest.raises(
        IncompleteTable, match=r"^'memory copy': 1073741824 elements do not take longer than 536870912$"
    ):
        constants_of(text)


def test_between_the_numbers_of_a_table_it_is_linear() -> None:
    known = {1: 10.0, 4: 40.0}
    assert [between(known, at) for at in (0.5, 1, 2, 4, 9)] == [10, 10, 20, 40, 40]
