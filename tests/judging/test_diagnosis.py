"""Each pattern on the mistake it is named for, and silence where nothing fits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tooling.execution.listing import parse_listings
from tooling.judging.buffers import agrees
from tooling.judging.comparison import compare
from tooling.judging.diagnosis import Diagnosis, WrongOutput, diagnose
from tooling.judging.reference import Array
from tooling.judging.texts import EXPLANATIONS

POISON = np.float32(-777.25)
RAMP = (np.arange(16, dtype=np.float32) * 7 % 31) + 1
MATRIX = RAMP.reshape(4, 4)


def diagnosed(
    got: Array, expected: Array, *, initial: float = float(POISON), **more: Any
) -> tuple[Diagnosis, ...]:
    evidence = WrongOutput(
        got=got,
        expected=expected,
        initial=np.full(expected.shape, initial, expected.dtype),
        comparison=compare(got, expected),
        **more,
    )
    return diagnose(evidence)


def names(got: Array, expected: Array, **more: Any) -> list[str]:
    return [diagnosis.name for diagnosis in diagnosed(got, expected, **more)]


def with_poison(array: Array, *indices: int | slice) -> Array:
    changed = array.copy()
    for index in indices:
        changed[index] = POISON
    return changed


@pytest.mark.parametrize(
    ("got", "expected", "first"),
    [
        (np.full(16, POISON), RAMP, "never-written"),
        (with_poison(RAMP, slice(4, None)), RAMP, "first-block-only"),
        (with_poison(RAMP, slice(1, None)), RAMP, "partly-written"),
        (with_poison(RAMP, slice(15, None)), RAMP, "missing-last"),
        (np.append(RAMP[:-1], np.float32(99)), RAMP, "missing-last"),
        (with_poison(RAMP, 3, 7, 11), RAMP, "partly-written"),
        (RAMP + np.float32(1), RAMP, "constant-difference"),
        (np.append(RAMP[1:], np.float32(99)), RAMP, "shifted"),
        (np.append(np.float32(99), RAMP[:-1]), RAMP, "shifted"),
        (np.roll(RAMP, 2), RAMP, "shifted"),
        (RAMP[::-1].copy(), RAMP, "reversed-order"),
        (RAMP[[1, 0, *range(2, 16)]], RAMP, "permuted"),
        (MATRIX.T.copy(), MATRIX, "transposed"),
        (np.tile(RAMP[:4], 4), RAMP, "tile-repeated"),
        (np.tile(RAMP[:8], 2), RAMP, "tile-repeated"),
        (RAMP * 2, RAMP, "scaled"),
        (np.where(RAMP > 9, np.float32("nan"), RAMP), RAMP, "not-a-number"),
        (np.append(np.cumsum(RAMP[:8]), np.cumsum(RAMP[8:])), np.cumsum(RAMP), "partial-sum"),
    ],
)
def test_the_usual_mistakes_are_named(got: Array, expected: Array, first: str) -> None:
    assert names(got.astype(np.float32), expected)[0] == first


def test_nan_poison_counts_as_never_written() -> None:
    got = np.full(16, np.nan, np.float32)
    assert names(got, RAMP, initial=float("nan"))[0] == "never-written"


def test_arbitrary_differences_match_no_pattern() -> None:
    got = RAMP + np.array([3, 0, 5, 0, -2, 8, 1, 0, 9, 2, 0, 4, 0, 7, -6, 1], np.float32)
    assert names(got, RAMP) == []


def test_a_sum_of_some_terms_says_which() -> None:
    a, b = RAMP[:8], np.arange(8, dtype=np.float32) + 2
    inputs = {"a": a, "b": b}
    terms = a * b
    whole = terms.sum(keepdims=True)
    for got, text, facts in (
        (terms[:7].sum(), "", {"first": 0, "last": 6, "total": 8}),
        (terms[4:].sum(), "", {"first": 4, "last": 7, "total": 8}),
        (whole[0] - terms[3:5].sum(), "sum-without-terms", {"first": 3, "last": 4, "total": 8}),
        (terms[::2].sum(), "sum-of-every", {"step": 2, "total": 8}),
    ):
        (found,) = diagnosed(np.array([got], np.float32), whole, inputs=inputs)
        assert (found.name, found.text, found.detail) == ("partial-sum", text, facts)
    assert names(whole + 1, whole, inputs=inputs) == []  # one number alone is no sum of other terms
    rows = {"a": RAMP.reshape(4, 4)}
    expected = RAMP.reshape(4, 4).sum(axis=1)
    (found,) = diagnosed(expected - RAMP[3::4], expected, inputs=rows)
    assert (found.text, found.detail) == ("", {"first": 0, "last": 2, "total": 4})


def test_one_value_or_equal_values_are_no_multiple_of_what_is_expected() -> None:
    assert names(np.array([14], np.float32), np.array([7], np.float32)) == []
    assert "scaled" not in names(np.full(4, 3, np.float32), np.array([2, 2, 2, 2], np.float32))


def test_the_first_block_is_one_of_the_launch() -> None:
    got = with_poison(RAMP, slice(4, None))
    assert names(got, RAMP, blocks=frozenset({4}))[0] == "first-block-only"
    assert names(got, RAMP, blocks=frozenset({8}))[0] == "partly-written"
    assert names(got, RAMP, blocks=frozenset())[0] == "partly-written"
    assert names(with_poison(RAMP, slice(5, None)), RAMP)[0] == "partly-written"
    matrix = with_poison(RAMP, slice(4, None)).reshape(4, 4)
    assert names(matrix, MATRIX, blocks=frozenset({4}))[0] == "partly-written"


def test_elements_that_repeat_block_by_block_are_said_to_do_so() -> None:
    got = np.tile(RAMP[:4], 4)
    for blocks, text in ((frozenset({4}), "block-repeated"), (frozenset({8}), ""), (None, "")):
        (found, *_) = diagnosed(got, RAMP, blocks=blocks)
        assert (found.name, found.text) == ("tile-repeated", text)


def test_a_sum_with_the_content_from_before_the_launch_is_recognised() -> None:
    assert names(RAMP + POISON, RAMP)[0] == "accumulated"
    assert "accumulated" not in names(RAMP, RAMP + 1, initial=0.0)


def test_integers_have_no_nan_and_large_values_are_exact() -> None:
    expected = np.array([2**53 + 1, 5, 9], np.int64)
    got = expected.copy()
    got[0] -= 1
    comparison = compare(got, expected)
    assert (comparison.differing, comparison.first[0].got) == (1, 2**53)
    assert "not-a-number" not in names(np.array([1, 2, 3, 9], np.int64), np.array([4, 2, 3, 8], np.int64))


@pytest.mark.parametrize(
    ("got", "expected", "tolerance", "equal"),
    [
        (1.0, 1.0, (0, 0), True),
        (0.0, -0.0, (0, 0), True),
        (1.0 + 1e-6, 1.0, (0, 0), False),
        (1.0 + 1e-6, 1.0, (1e-5, 0), True),
        (1e-6, 0.0, (1e-5, 0), False),
        (1e-6, 0.0, (0, 1e-5), True),
        (np.nan, np.nan, (0, 0), True),
        (np.nan, 1.0, (1e9, 1e9), False),
        (np.inf, np.inf, (0, 0), True),
        (np.inf, -np.inf, (1e9, 1e9), False),
        (np.inf, 3e38, (1e9, 1e9), False),
        (3e38, np.inf, (1e9, 1e9), False),
    ],
)
def test_comparison_law(got: float, expected: float, tolerance: tuple[float, float], equal: bool) -> None:
    left, right = (np.array([value], np.float32) for value in (got, expected))
    assert compare(left, right, *tolerance).equal is equal


def test_mismatches_are_shown_as_their_type_prints_them() -> None:
    comparison = compare(np.array([[0.1, 1]], np.float32), np.array([[0.3, 1]], np.float32))
    assert comparison.first[0].index == (0, 0)
    assert str(comparison.first[0].got) == "0.1"


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("out: HostBuffer([0.0, 1.0, 2.0, 3.0, 4.0, 5.0])", True),
        ("out: HostBuffer([0.0, 1.0, ..., 5.0])", True),
        ("out: HostBuffer([0.0, 1.0, ..., 4.0])", False),
        ("out: HostBuffer([1.0, ..., 5.0])", False),
        ("out: HostBuffer([0.0, 1.0])", False),
        ("out: HostBuffer([0, 1, 2, 3, 4, 5])", True),
        ("out: [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]", True),
        ("out: [[0.0, 1.0, 2.0],\n      [3.0, 4.0, 5.5]]", False),
        ("out: [[0.0, ..., 2.0], [3.0, ..., 5.0]]", True),
        ("out: [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]", False),
    ],
)
def test_printed_text_is_compared_with_the_buffer(text: str, same: bool) -> None:
    (listing,) = parse_listings(text)
    assert agrees(listing.items, np.arange(6, dtype=np.float32).reshape(2, 3)) is same


def test_elements_after_a_result_show_only_a_write_past_the_end() -> None:
    untouched = np.full(4, POISON, np.float32)
    got = untouched.copy()
    got[2:] = (12, 13)
    evidence = WrongOutput(
        got=got,
        expected=untouched,
        initial=None,
        comparison=compare(got, untouched),
        guard=True,
    )
    (diagnosis,) = diagnose(evidence)
    assert (diagnosis.name, diagnosis.detail) == ("written-beyond-the-end", {"count": 2, "ordinal": 3})
    for language, words in (("en", "2 of the elements after it"), ("ko", "원소 2개")):
        what, cause, advice = (
            sentence.render(language)
            for sentence in EXPLANATIONS[diagnosis.name].of({"output": "guard", **diagnosis.detail})
        )
        assert words in what
        assert "3" in cause
        assert advice


def test_a_subnormal_number_may_be_printed_with_one_digit() -> None:
    """The smallest float32, 1.4e-45, is printed as 1e-45."""
    smallest = np.array([1, 3], np.uint32).view(np.float32)
    assert agrees((1e-45, 4e-45), smallest)
    assert not agrees((1e-45, 4e-44), smallest)
