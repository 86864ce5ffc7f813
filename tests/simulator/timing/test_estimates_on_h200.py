"""Estimated times against those recorded on an H200, kernel by kernel."""

from __future__ import annotations

from pathlib import Path
from statistics import median

import msgspec
import pytest

from tooling.simulator.timing.accuracy import accuracy
from tooling.simulator.timing.comparison import (
    ESTIMATES,
    ComparedRow,
    accuracy_of,
    compared,
    order_of,
    recorded_rows,
)

DATA = Path(__file__).parents[2] / "data" / "h200"


@pytest.fixture(scope="module")
def rows() -> list[ComparedRow]:
    return compared(recorded_rows())


def errors(rows: list[ComparedRow], *, sealed: bool) -> list[float]:
    return sorted(abs(row.error) for row in rows if row.sealed is sealed and row.error is not None)


def test_the_written_table_is_that_of_the_model(rows: list[ComparedRow]) -> None:
    assert msgspec.json.decode(ESTIMATES.read_bytes(), type=list[ComparedRow]) == rows


def test_ranges_are_those_of_the_open_kernels(rows: list[ComparedRow]) -> None:
    assert accuracy() == accuracy_of(row for row in rows if not row.sealed)


def test_half_of_the_kernels_are_within_15_percent_and_nine_of_ten_within_30(rows: list[ComparedRow]) -> None:
    found = errors(rows, sealed=False)
    assert len(found) >= 60
    assert median(found) <= 0.15
    assert found[int(0.9 * len(found)) - 1] <= 0.30


def test_the_faster_variant_is_named(rows: list[ComparedRow]) -> None:
    order = order_of([row for row in rows if not row.sealed])
    assert order.right >= 0.98 * (order.right + order.wrong)
    assert order.undecided <= 0.2 * (order.right + order.wrong + order.undecided)


def test_kernels_outside_the_model_get_no_time(rows: list[ComparedRow]) -> None:
    refused = {row.kernel for row in rows if row.estimated is None}
    assert {"gather from 4096", "histogram, global, 32 bins"} <= refused
    assert all(row.refused for row in rows if row.estimated is None)
