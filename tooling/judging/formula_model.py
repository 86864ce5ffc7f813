"""A wrong formula, and an output that it may have computed."""

from __future__ import annotations

import contextlib

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tooling.judging.reference import Array, ReferenceCase, ReferenceUnusable

Numbers = NDArray[np.float64]

OTHER_FORMULA = "other-formula"
"""The diagnosis: each formula has sentences of its own."""

LARGEST = 1 << 13
"""Elements of the output and of an input up to which every formula is tried."""

_SAMPLE = 256  # elements that are compared first


class Formula(Struct, frozen=True):
    """A wrong formula.

    Attributes:
        text: the key of its sentences.
        facts: of the sentences, sorted by name, so that equal formulas of two data sets are equal.
        name: of the diagnosis.
    """

    text: str
    facts: tuple[tuple[str, int | float | str], ...] = ()
    name: str = OTHER_FORMULA

    @classmethod
    def of(cls, text: str, name: str = OTHER_FORMULA, **facts: int | float | str) -> Formula:
        return cls(text, tuple(sorted(facts.items())), name)


class OutputPair(Struct, frozen=True, eq=False):
    """An output that the program handed in with one data set, and the reference's."""

    case: ReferenceCase
    output: str
    got: Array
    rtol: float = 0.0
    atol: float = 0.0

    @property
    def expected(self) -> Array:
        return self.case.expected[self.output]

    @property
    def operands(self) -> dict[str, Array]:
        """The inputs that are no outputs, by name."""
        inputs = self.case.inputs.items()
        return {name: array for name, array in inputs if name not in self.case.expected and array.size}

    def is_computed_by(self, values: Array) -> bool:
        """Whether these values are the output's, within its tolerance and rounding."""
        got, wanted = wide(self.got), wide(values)
        if got.shape != wanted.shape or not np.isfinite(wanted).all() or not np.isfinite(got).all():
            return False
        rounding = 1e-6 * float(np.abs(wanted).max(initial=0.0)) if self.got.dtype.kind == "f" else 0.0

        def agree(got: Numbers, wanted: Numbers) -> bool:
            return bool((np.abs(got - wanted) <= self.atol + self.rtol * np.abs(wanted) + rounding).all())

        return agree(got[:_SAMPLE], wanted[:_SAMPLE]) and agree(got, wanted)

    def reference(self, **changed: Array) -> Numbers | None:
        """The reference's output with other inputs; None where it fails with them."""
        recompute = self.case.recompute
        if recompute is None:
            return None
        inputs = {name: array.copy() for name, array in {**self.case.inputs, **changed}.items()}
        with contextlib.suppress(ReferenceUnusable), np.errstate(all="ignore"):
            return wide(recompute(inputs)[self.output])
        return None


def wide(array: Array | Numbers) -> Numbers:
    """The elements in order, in double precision."""
    return np.asarray(array).ravel().astype(np.float64)


def are_equal(values: Numbers | None, expected: Array) -> bool:
    """Whether values, if there are any, are those of an array up to rounding."""
    return values is not None and np.allclose(values.ravel(), wide(expected), rtol=1e-4, atol=1e-4)


def sizes_of(case: ReferenceCase) -> tuple[int, ...]:
    """The whole numbers among those of the reference's module, and the sizes of the mode."""
    values = (*case.numbers, *case.sizes)
    return tuple(
        dict.fromkeys(int(value) for value in values if value == int(value) and 1 < value <= LARGEST)
    )
