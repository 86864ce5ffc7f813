"""Sums, scans and sums of products of which other elements, or other functions of them, are taken."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np

from tooling.judging.formula_model import Formula, Numbers, OutputPair, are_equal, wide
from tooling.judging.reference import Array

_WIDEST_WINDOW = 8
_LEAST_SCAN = 4
_FUNCTIONS: tuple[tuple[str, Callable[[Numbers], Numbers]], ...] = (
    ("max", lambda terms: terms.max(axis=1)),
    ("min", lambda terms: terms.min(axis=1)),
)


def other_terms(result: OutputPair) -> Iterator[tuple[Formula, Array]]:
    """One sum over the products of two inputs, of which other terms are added."""
    if result.got.size != 1:
        return
    for (x, a), (y, b) in itertools.combinations(result.operands.items(), 2):
        if a.size != b.size or not are_equal(np.array([wide(a) @ wide(b)]), result.expected):
            continue
        one, two = wide(a), wide(b)
        for formula, terms in (
            (f"{x}[i] + {y}[i]", one + two),
            (f"{x}[i] - {y}[i]", one - two),
            (f"{x}[i] * {x}[i]", one * one),
            (f"{y}[i] * {y}[i]", two * two),
            (f"{x}[i]", one),
            (f"{y}[i]", two),
        ):
            yield Formula.of("sum-of-other-terms", formula=formula), np.array([terms.sum()])


def other_scans(result: OutputPair) -> Iterator[tuple[Formula, Array]]:
    """Prefix sums in steps: elements at other distances are added, or those after an element."""
    size = result.got.size
    for name, array in result.operands.items():
        if array.size != size or size < _LEAST_SCAN:
            continue
        flat = wide(array)
        if not are_equal(np.cumsum(flat), result.expected):
            continue
        doubling = [1 << power for power in range((size - 1).bit_length())]
        for distances in (list(range(1, size)), doubling[:-1], doubling[1:], [1, *doubling]):
            steps = {"used": _beginning(distances), "wanted": _beginning(doubling)}
            yield Formula.of("scan-distances", **steps), _scan(flat, distances)
        yield Formula.of("scan-backwards", input=name), np.cumsum(flat[::-1])[::-1]


def _beginning(distances: list[int]) -> str:
    shown = ", ".join(map(str, distances[:4]))
    return f"{shown}, …" if len(distances) > 4 else shown


def _scan(values: Numbers, distances: list[int]) -> Numbers:
    for distance in distances:
        step = values.copy()
        step[distance:] += values[:-distance]
        values = step
    return values


def other_directions(result: OutputPair) -> Iterator[tuple[Formula, Array]]:
    """A short filter over the elements from each one on: over those up to it, or around it."""
    for (x, a), (_, b) in itertools.permutations(result.operands.items(), 2):
        if a.size != result.got.size or not 1 < b.size < a.size:
            continue
        elements, weights, length = wide(a), wide(b), b.size
        padded = np.concatenate([np.zeros(length - 1), elements, np.zeros(length - 1)])
        if not are_equal(np.correlate(padded[length - 1 :], weights), result.expected):
            continue
        facts = {"input": x, "wanted": f"{x}[i + j]"}
        yield (
            Formula.of("filter-direction", used=f"{x}[i - j]", **facts),
            np.convolve(elements, weights)[: a.size],
        )
        for before in range(1, length):
            values = np.correlate(padded[length - 1 - before :], weights)[: a.size]
            yield Formula.of("filter-direction", used=f"{x}[i + j - {before}]", **facts), values


def other_reductions(result: OutputPair) -> Iterator[tuple[Formula, Array]]:
    """The largest or the smallest of the elements whose sum is wanted: of a window, a row, or all."""
    count = result.got.size
    for array in result.operands.values():
        if array.dtype.kind != "f":
            continue
        for terms in _terms(wide(array), count):
            if not are_equal(np.nansum(terms, axis=1), result.expected):
                continue
            for function, reduce in _FUNCTIONS:
                absent = -np.inf if function == "max" else np.inf
                values = reduce(np.where(np.isnan(terms), absent, terms))
                yield Formula.of("other-reduction", function=function), values


def _terms(flat: Numbers, count: int) -> Iterator[Numbers]:
    """(results, terms) arrays; NaN stands for an element that does not exist."""
    if flat.size == count and count >= 3:
        for length in range(2, min(_WIDEST_WINDOW, count) + 1):
            padded = np.concatenate([np.full(length - 1, np.nan), flat])
            yield np.lib.stride_tricks.sliding_window_view(padded, length)
    elif flat.size % count == 0 and flat.size >= 2 * count:
        yield flat.reshape(count, -1)


def other_row_strides(result: OutputPair) -> Iterator[tuple[Formula, Array]]:
    """The right formula with rows of an input that begin at other distances."""
    if result.expected.ndim != 2:
        return
    rows, columns = result.expected.shape
    for name, array in result.operands.items():
        if array.size != rows * columns:
            continue
        flat = array.ravel()
        for stride in range(1, columns):
            index = np.arange(rows)[:, None] * stride + np.arange(columns)
            values = result.reference(**{name: flat[index].reshape(array.shape)})
            if values is not None:
                facts = {"input": name, "stride": stride, "wanted": columns}
                yield Formula.of("other-row-stride", **facts), values
