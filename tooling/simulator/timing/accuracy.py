"""How far estimates were from measured times: what a range is made of."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import msgspec
from msgspec import Struct

from tooling.simulator.timing.model import Estimate


class Range(Struct, frozen=True):
    """Of measured over estimated times.

    Attributes:
        low, high: nine of ten kernels are between them.
        kernels: that were compared; held: of them, that were between.
    """

    low: float
    high: float
    kernels: int
    held: int


class Accuracy(Struct, frozen=True):
    """With machine code, and with PTX in its place."""

    sass: Range
    ptx: Range

    def of(self, *, exact: bool) -> Range:
        """The range of an estimate.

        Args:
            exact: it was made from machine code.
        """
        return self.sass if exact else self.ptx


@lru_cache(maxsize=1)
def accuracy() -> Accuracy:
    """What `benchmarks/estimates.py` found."""
    return msgspec.json.decode((Path(__file__).parent / "accuracy.json").read_bytes(), type=Accuracy)


def bounds(estimate: Estimate, measured: Range) -> tuple[float, float]:
    """The microseconds between which the time is expected."""
    return estimate.microseconds * measured.low, estimate.microseconds * measured.high
