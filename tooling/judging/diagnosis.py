"""Patterns of mismatches: one function for each, tried in the order of `PATTERNS`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tooling.judging.comparison import Comparison, compare
from tooling.judging.reference import Array

GUARD = "guard"
"""The output of this name holds the elements after a result, filled with poison: no thread may write them."""

_MOST_SHIFT = 64
_MOST_TERMS = 2048
_LEAST_BLOCK = 4  # threads
_HALF_OF_LARGEST_FLOAT16 = 2.0**15
_SAMPLE = 256  # elements that are compared first
_PATTERN_LIMIT = 1 << 22  # elements; sorting and shifting more than this takes longer than it helps


class WrongOutput(Struct, frozen=True):
    """A wrong output with what may explain it."""

    got: Array
    expected: Array
    initial: Array | None  # what the buffer held before the launch
    comparison: Comparison
    inputs: Mapping[str, Array] = {}
    blocks: frozenset[int] | None = None  # threads per block of launches with several blocks; None: unknown
    rtol: float = 0.0
    atol: float = 0.0
    guard: bool = False  # the output is the elements after a result

    @property
    def untouched(self) -> NDArray[np.bool_]:
        """The elements whose bits have not changed since before the launch."""
        if self.initial is None or self.initial.size != self.got.size:
            return np.zeros(self.got.shape, dtype=bool)
        return _same_bits(self.got, self.initial.reshape(self.got.shape).astype(self.got.dtype, copy=False))

    def agrees(self, got: Array, expected: Array) -> bool:
        beginnings = got.ravel()[:_SAMPLE], expected.ravel()[:_SAMPLE]
        if not compare(*beginnings, self.rtol, self.atol).equal:
            return False
        return compare(got, expected, self.rtol, self.atol).equal


class Diagnosis(Struct, frozen=True):
    """A pattern that matches, with the facts of its sentence."""

    name: str
    detail: Mapping[str, int | float | str]
    text: str = ""  # the key of its sentences; empty: the name


def written_beyond_the_end(output: WrongOutput) -> Diagnosis | None:
    """Elements after the end of a result were overwritten."""
    if not output.guard:
        return None
    first = int(np.argmax(output.comparison.wrong.ravel()))
    return Diagnosis("written-beyond-the-end", {"count": output.comparison.differing, "ordinal": first + 1})


def never_written(output: WrongOutput) -> Diagnosis | None:
    """Nothing has changed since before the launch."""
    if output.untouched.all():
        return Diagnosis("never-written", {})
    return None


def not_a_number(output: WrongOutput) -> Diagnosis | None:
    """NaN or an infinity was computed where a finite number is expected."""
    if output.got.dtype.kind != "f":
        return None
    bad = ~np.isfinite(output.got) & np.isfinite(output.expected) & ~output.untouched
    count = int(np.count_nonzero(bad))
    if not count:
        return None
    with np.errstate(over="ignore"):
        finite = output.got[output.comparison.wrong & np.isfinite(output.got)]
        of_float16 = (finite.astype(np.float16) == finite).all()
    large = np.abs(output.expected[bad]) >= _HALF_OF_LARGEST_FLOAT16
    overflowed = of_float16 and 2 * np.count_nonzero(large) >= count
    return Diagnosis("not-a-number", {"count": count}, "overflowed" if overflowed else "")


def missing_last(output: WrongOutput) -> Diagnosis | None:
    """Only a short tail is wrong."""
    wrong = output.comparison.wrong.ravel()
    count = int(np.count_nonzero(wrong))
    if wrong.size < 2 or count > max(1, wrong.size // 4) or not wrong[-count:].all():
        return None
    return Diagnosis("missing-last", {"count": count})


def first_block_only(output: WrongOutput) -> Diagnosis | None:
    """As many elements as a block has threads are right, and the rest was never written."""
    wrong = output.comparison.wrong.ravel()
    right = int(np.argmax(wrong))
    if output.got.ndim != 1 or right < 2 or not output.untouched[right:].all():
        return None
    power_of_two = right & (right - 1) == 0  # as nearly every block is
    whole_block = right in output.blocks if output.blocks is not None else power_of_two
    return Diagnosis("first-block-only", {"count": right}) if whole_block else None


def transposed(output: WrongOutput) -> Diagnosis | None:
    """Rows and columns are swapped."""
    expected = output.expected
    if expected.ndim < 2 or min(expected.shape[-2:]) < 2:
        return None
    swapped = np.ascontiguousarray(np.swapaxes(expected, -1, -2)).reshape(expected.shape)
    return Diagnosis("transposed", {}) if output.agrees(output.got, swapped) else None


def accumulated(output: WrongOutput) -> Diagnosis | None:
    """Every element is the expected one plus what the buffer held before the launch."""
    if output.initial is None or output.initial.size != output.got.size:
        return None
    before = output.initial.reshape(output.got.shape).astype(output.got.dtype, copy=False)
    if not np.isfinite(before).all() or not np.any(before):
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.add(before, output.expected, dtype=output.got.dtype)
    tolerance = (1e-6, 0.0) if total.dtype.kind == "f" else (0.0, 0.0)
    return Diagnosis("accumulated", {}) if compare(output.got, total, *tolerance).equal else None


def constant_difference(output: WrongOutput) -> Diagnosis | None:
    """Every element is the right one plus the same amount."""
    got = output.got.ravel().astype(np.float64)
    expected = output.expected.ravel().astype(np.float64)
    if not (np.isfinite(got).all() and np.isfinite(expected).all()) or _constant(expected):
        return None
    differences = got - expected
    difference = float(differences[0])
    tolerance = 1e-5 * float(np.abs(expected).max())
    if abs(difference) <= tolerance or not np.allclose(differences, difference, rtol=0.0, atol=tolerance):
        return None
    return Diagnosis("constant-difference", {"difference": float(f"{difference:.6g}")})


def reversed_order(output: WrongOutput) -> Diagnosis | None:
    """The right elements from the last to the first."""
    got, expected = output.got.ravel(), output.expected.ravel()
    if expected.size < 2 or output.agrees(expected[::-1], expected):
        return None
    return Diagnosis("reversed-order", {}) if output.agrees(got, expected[::-1]) else None


def shifted(output: WrongOutput) -> Diagnosis | None:
    """Every element is at a constant distance from its correct index."""
    got, expected = output.got.ravel(), output.expected.ravel()
    size = got.size
    if size < 3 or size > _PATTERN_LIMIT:
        return None
    for distance in range(1, min(size // 2, _MOST_SHIFT) + 1):
        for later, earlier, sign in ((got, expected, 1), (expected, got, -1)):
            # later[i] == earlier[i - distance]: with `later` the result, values moved up by `distance`
            if _constant(earlier[: size - distance]):
                continue
            if output.agrees(later[distance:], earlier[: size - distance]):
                return Diagnosis("shifted", {"distance": sign * distance})
    return None


def tile_repeated(output: WrongOutput) -> Diagnosis | None:
    """One tile of the expected values is repeated everywhere."""
    got, expected = output.got.ravel(), output.expected.ravel()
    size = got.size
    if size > _PATTERN_LIMIT:
        return None
    for period in range(2, size // 2 + 1):
        if size % period or not _same_bits(got[period:], got[:-period]).all():
            continue
        tiles = expected.reshape(-1, period)
        if any(output.agrees(got[:period], tile) for tile in tiles[:_MOST_SHIFT]):
            by_blocks = output.blocks is not None and period in output.blocks
            return Diagnosis("tile-repeated", {"count": period}, "block-repeated" if by_blocks else "")
        return None
    return None


def scaled(output: WrongOutput) -> Diagnosis | None:
    """Every element is the expected one times the same factor."""
    got = output.got.ravel().astype(np.float64)
    expected = output.expected.ravel().astype(np.float64)
    usable = np.isfinite(expected) & (expected != 0)
    # A single value, or equal ones, are some multiple of whatever is expected.
    if not usable.any() or _constant(expected[usable]) or not np.isfinite(got).all():
        return None
    if np.any(got[~usable] != expected[~usable]):
        return None
    ratios = got[usable] / expected[usable]
    factor = float(ratios[0])
    if factor in (0.0, 1.0) or not np.allclose(ratios, factor, rtol=1e-5, atol=0.0):
        return None
    return Diagnosis("scaled", {"factor": float(f"{factor:.6g}")})


def permuted(output: WrongOutput) -> Diagnosis | None:
    """The right elements, in another order."""
    got, expected = output.got.ravel(), output.expected.ravel()
    if got.size < 2 or got.size > _PATTERN_LIMIT or np.count_nonzero(output.comparison.wrong) < 2:
        return None
    if output.agrees(np.sort(got), np.sort(expected)):
        return Diagnosis("permuted", {"count": output.comparison.differing})
    return None


def partly_written(output: WrongOutput) -> Diagnosis | None:
    """Some of the wrong elements were never written."""
    count = int(np.count_nonzero(output.untouched & output.comparison.wrong))
    if 0 < count < output.got.size:
        return Diagnosis("partly-written", {"count": count})
    return None


def partial_sum(output: WrongOutput) -> Diagnosis | None:
    """A sum of some of its terms, or a scan without the carries between its blocks."""
    wrong = output.comparison.wrong.ravel()
    written = wrong & ~output.untouched.ravel()
    if not written.any() or not np.isfinite(output.got[output.got == output.got]).all():
        return None
    for terms in _possible_terms(output):
        if found := _some_of_terms(output, terms):
            return found
    got, expected = output.got.ravel().astype(np.float64), output.expected.ravel().astype(np.float64)
    size, missing = got.size, expected - got
    first_wrong = int(np.argmax(wrong))
    # A scan without carries lacks one constant per block; the first block is complete.
    jumps = np.flatnonzero(np.diff(missing)) + 1
    block = int(np.gcd.reduce(jumps)) if jumps.size and jumps[0] == first_wrong else 0
    if size >= 8 and block >= 2 and wrong[first_wrong:].all():
        facts = {"count": int(np.count_nonzero(written)), "first": first_wrong}
        if block == first_wrong:
            return Diagnosis("partial-sum", facts, "scan-without-carry")
        if block >= _LEAST_BLOCK:
            return Diagnosis("partial-sum", facts, "scan-without-some-carries")
    return None


def _possible_terms(output: WrongOutput) -> Iterator[Array]:
    """(results, terms) arrays of inputs, or products of two, whose sums are the expected results."""
    size = output.expected.size
    arrays = [array.ravel().astype(np.float64) for array in output.inputs.values() if array.dtype != bool]
    arrays = [array for array in arrays if array.size >= 2 * size and array.size % size == 0]
    if max((array.size for array in arrays), default=0) > _PATTERN_LIMIT:
        return
    products = [one * two for i, one in enumerate(arrays) for two in arrays[:i] if one.size == two.size]
    expected = output.expected.ravel().astype(np.float64)
    for flat in (*arrays, *products):
        for terms in {(size, -1): flat.reshape(size, -1), (-1, size): flat.reshape(-1, size).T}.values():
            if np.allclose(terms.sum(axis=1), expected, rtol=1e-4, atol=1e-4):
                yield terms


def _some_of_terms(output: WrongOutput, terms: Array) -> Diagnosis | None:
    """A range of the terms, or every second, fourth, … alone is in every result, or a range is missing."""
    sums = np.concatenate([np.zeros((len(terms), 1)), np.cumsum(terms, axis=1)], axis=1)
    count = terms.shape[1]
    if count > _MOST_TERMS:
        return None
    got = output.got.ravel().astype(np.float64)
    close = max(1e-6 * float(np.abs(terms).sum(axis=1).max()), 1e-12)
    for text, wanted in (("", got), ("sum-without-terms", sums[:, -1] - got)):
        if text and np.abs(wanted).max() <= close:
            continue
        first = sums[0]
        starts, ends = np.nonzero(np.triu(np.abs(first[None, :] - first[:, None] - wanted[0]) <= close, 1))
        fits = np.abs(sums[:, ends] - sums[:, starts] - wanted[:, None]).max(axis=0, initial=0.0) <= close
        fits &= ends - starts < count  # all terms: a difference that is lost in their rounding
        starts, ends = starts[fits], ends[fits]
        if not starts.size:
            continue
        # An arbitrary range can have the sum by accident: a long one at the beginning or the end is likelier.
        inside = (starts != 0) & (ends != count)
        best = np.lexsort((starts - ends, inside))[0]
        facts = {"first": int(starts[best]), "last": int(ends[best]) - 1, "total": count}
        return Diagnosis("partial-sum", facts, text)
    for step in (1 << power for power in range(1, count.bit_length() - 1)):
        if np.abs(terms[:, ::step].sum(axis=1) - got).max() <= close:
            return Diagnosis("partial-sum", {"step": step, "total": count}, "sum-of-every")
    return None


PATTERNS: tuple[Callable[[WrongOutput], Diagnosis | None], ...] = (
    never_written,
    not_a_number,
    missing_last,
    first_block_only,
    transposed,
    accumulated,
    constant_difference,
    reversed_order,
    tile_repeated,  # explains every element; a shift does not explain those at the edge
    shifted,
    scaled,
    permuted,
    partly_written,
    partial_sum,
)
"""From the most specific pattern to the least; for results, not for the elements after them."""


def diagnose(output: WrongOutput) -> tuple[Diagnosis, ...]:
    """All patterns that match, the most specific first."""
    # Whether an element is past the end depends on its position, not on its value.
    patterns = (written_beyond_the_end,) if output.guard else PATTERNS
    found = (pattern(output) for pattern in patterns)
    return tuple(diagnosis for diagnosis in found if diagnosis)


def _same_bits(left: Array, right: Array) -> NDArray[np.bool_]:
    """Bitwise equality: a NaN equals the same NaN, since poison is often NaN."""
    if left.dtype.kind == "f":
        unsigned = f"u{left.dtype.itemsize}"
        left, right = np.ascontiguousarray(left), np.ascontiguousarray(right)
        return np.asarray(left.view(unsigned) == right.view(unsigned))
    return np.asarray(left == right)


def _constant(values: Array) -> bool:
    return bool((values == values[0]).all()) if values.size else True
