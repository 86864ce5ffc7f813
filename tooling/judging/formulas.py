"""Searches small families of wrong formulas for one that computes a wrong output, with every data set.

Nothing here knows a puzzle: other inputs are tried in the reference (exchanged, reversed, transposed, in a
narrower type), and sums whose shape is recognised in the expected values are tried with other bounds, strides
and tiles. A formula counts only if it gives the elements of every data set, right ones included.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tooling.judging.formula_model import (
    LARGEST,
    Formula,
    Numbers,
    OutputPair,
    are_equal,
    sizes_of,
    wide,
)
from tooling.judging.other_terms import (
    other_directions,
    other_reductions,
    other_row_strides,
    other_scans,
    other_terms,
)
from tooling.judging.reference import Array

_LARGE = 1 << 20
"""Elements of the output and of an input up to which operations on the elements with one index are tried."""
_LARGEST_CONSTANT = 100.0
_WIDEST_WINDOW = 8
_CUT_TERMS = 4.0
_LEAST_PERIODS = 4
_LONGEST_PRODUCT = 48  # terms of a product of matrices of which every range is tried
_NARROW: dict[str, Callable[[Numbers], Numbers]] = {
    "bfloat16": lambda values: (
        (values.astype(np.float32).view(np.uint32) & np.uint32(0xFFFF0000))
        .view(np.float32)
        .astype(np.float64)
    ),
    "float16": lambda values: values.astype(np.float16).astype(np.float64),
}


def find_formula(results: Sequence[OutputPair]) -> Formula | None:
    """The first formula of the families that gives the output with every data set.

    Args:
        results: of the same output, one for each data set.
    """
    if not results or not _are_varied(results):
        return None
    first, *others = results
    fitting = (formula for formula, values in _candidates(first) if first.is_computed_by(values))
    seen = dict.fromkeys(fitting)
    for other in others:
        if not seen:
            break
        known = {formula for formula, values in _candidates(other) if other.is_computed_by(values)}
        seen = {formula: None for formula in seen if formula in known}
    return next(iter(seen), None) or _narrow_type(results) or _some_lanes(results)


def _are_varied(results: Sequence[OutputPair]) -> bool:
    """Whether the values are varied enough to be evidence: several in one output, or in all of them."""
    values = {float(each) for result in results for each in wide(result.got)[:64]}
    return len(values) > 1


def _candidates(result: OutputPair) -> Iterator[tuple[Formula, Array]]:
    """Formulas and what they compute; the likeliest first."""
    families = [_other_types]
    largest = max(result.got.size, *(array.size for array in result.operands.values()), 0)
    if largest <= LARGEST:
        families = [
            _operations,
            _outer_operations,
            _with_constants,
            _with_two_operands,
            _other_windows,
            _other_strides,
            _other_products,
            other_terms,
            other_scans,
            other_directions,
            other_reductions,
            other_row_strides,
            _other_numbers,
            _other_operands,
            _other_types,
        ]
    elif largest <= _LARGE:
        families = [
            _operations,
            _with_constants,
            _with_two_operands,
            _large_products,
            _other_numbers,
            _other_types,
        ]
    with np.errstate(all="ignore"):
        for family in families:
            yield from family(result)


# -- operations on the elements with one index ----------------------------------------------------------


_OPERATIONS: tuple[tuple[str, Callable[[Numbers, Numbers], Numbers]], ...] = (
    ("{x} + {y}", np.add),
    ("{x} * {y}", np.multiply),
    ("{x} - {y}", np.subtract),
    ("{y} - {x}", lambda x, y: y - x),
    ("{x}", lambda x, y: x + 0 * y),
    ("{y}", lambda x, y: y + 0 * x),
    ("max({x}, {y})", np.maximum),
    ("min({x}, {y})", np.minimum),
)


def _operations(result: OutputPair) -> Iterator[tuple[Formula, Array]]:
    """Operations on equal elements of two inputs as large as the output."""
    fitting = [(name, wide(a)) for name, a in result.operands.items() if a.size == result.got.size]
    for (x, one), (y, two) in itertools.combinations(fitting, 2):
        for text, operation in _OPERATIONS:
            formula = text.format(x=f"{x}[i]", y=f"{y}[i]")
            yield Formula.of("other-operation", formula=formula), operation(one, two)


def _outer_operations(result: OutputPair) -> Iterator[tuple[Formula, Array]]:
    """Operations on an element for the row and one for the column of a matrix."""
    shape = result.expected.shape
    if len(shape) != 2:
        return
    rows, columns = shape
    for (x, a), (y, b) in itertools.permutations(result.operands.items(), 2):
        if (a.size, b.size) != (rows, columns):
            continue
        one, two = np.broadcast_arrays(wide(a)[:, None], wide(b)[None, :])
        for text, operation in _OPERATIONS:
            formula = text.format(x=f"{x}[row]", y=f"{y}[col]")
            yield Formula.of("other-operation", formula=formula), operation(one, two)


def _with_constants(result: OutputPair) -> Iterator[tuple[Formula, Array]]:
    """Operations on one input as large as the output and one or two constants of the puzzle."""
    for name, array in result.operands.items():
        if array.size != result.got.size:
            continue
        x, constants = wide(array), _constants(result, wide(array))
        for value in constants:
            for text, operation in _OPERATIONS[:4]:
                formula = text.format(x=f"{name}[i]", y=f"{value:g}")
                yield Formula.of("other-operation", formula=formula), operation(x, np.array([value]))
        for one, two in itertools.permutations(constants, 2):
            for text, values in (
                (f"({name}[i] + {one:g}) * {two:g}", (x + one) * two),
                (f"{name}[i] * {one:g} - {two:g}", x * one - two),
            ):
                yield Formula.of("other-operation", formula=text), values


def _constants(result: OutputPair, values: Numbers) -> list[float]:
    """The small numbers of the puzzle, and what is added to these values, or multiplies them."""
    found = [value for value in result.case.numbers if 0 < value <= _LARGEST_CONSTANT]
    expected = wide(result.expected)
    factors = expected[values != 0] / values[values != 0]
    found += [
        float(f"{candidates[0]:.4g}")
        for candidates in (expected - values, factors)
        if candidates.size > 1 and np.allclose(candidates, candidates[0], rtol=1e-4, atol=1e-4)
    ]
    return list(dict.fromkeys(value for value in found if value not in (0.0, 1.0)))


def _with_two_operands(result: OutputPair) -> Iterator[tuple[Formula, Array]]:
    """Operations on two inputs as large as the output and a constant of the puzzle."""
    fitting = [(name, wide(a)) for name, a in result.operands.items() if a.size == result.got.size]
    numbers = [value for value in result.case.numbers if 0 < value <= _LARGEST_CONSTANT]
    for ((x, one), (y, two)), value in itertools.product(itertools.permutations(fitting, 2), numbers):
        for text, values in (
            (f"{value:g} * {x}[i] + {y}[i]", value * one + two),
            (f"{value:g} * {x}[i] - {y}[i]", value * one - two),
            (f"{value:g} * ({x}[i] + {y}[i])", value * (one + two)),
            (f"{value:g} * {x}[i] * {y}[i]", value * one * two),
            (f"{value:g} * {x}[i]", value * one),
        ):
            yield Formula.of("other-operation", formula=text), values


# -- sums ------------------------------------------------------------------------------------------------


def _other_windows(result: OutputPair) -> Iterator[tuple[Formula, Array]]:
    """Sums over the elements around each one: a window that is longer or shorter by one."""
    for name, array in result.operands.items():
        if array.size != result.got.size or array.size < 3:
            continue
        sums = np.concatenate([[0.0], np.cumsum(wide(array))])

        def window(low: int, high: int, sums: Numbers = sums) -> Numbers:
            index = np.arange(sums.size - 1)
            ends = np.clip(index + high + 1, 0, sums.size - 1)
            return sums[ends] - sums[np.clip(index + low, 0, sums.size - 1)]

        widest = min(_WIDEST_WINDOW, array.size - 1)
        bounds = [(low, high) for low in range(-widest, 1) for high in range(widest + 1) if high > low]
        for low, high in bounds:
            if not are_equal(window(low, high), result.expected):
                continue
            wanted = high - low + 1
            for bound in ((low + 1, high), (low, high - 1), (low - 1, high), (low, high + 1)):
                length = bound[1] - bound[0] + 1
                formula = Formula.of("window-length", input=name, length=length, wanted=wanted)
                yield formula, window(*bound)


def _other_strides(result: OutputPair) -> Iterator[tuple[Formula, Array]]:
    """Sums of rows or columns: with the distance of another size, or of columns for rows."""
    count = result.got.size
    for array in result.operands.values():
        flat, (length, rest) = wide(array), divmod(array.size, count)
        if rest or length < 2 or count < 2:
            continue
        sizes = sorted({length, count, *sizes_of(result.case)})

        def sums(start: int, step: int, terms: int, flat: Numbers = flat) -> Numbers | None:
            index = np.arange(count)[:, None] * start + np.arange(terms) * step
            return flat[index].sum(axis=1) if index.max() < flat.size else None

        if are_equal(sums(length, 1, length), result.expected):
            for size in sizes:
                if (values := sums(size, 1, length)) is not None:
                    yield Formula.of("other-stride", stride=size, wanted=length), values
            for step, terms in itertools.product(sizes, (length, count)):
                if (values := sums(1, step, terms)) is not None:
                    yield Formula.of("columns-for-rows", step=step), values
        if are_equal(sums(1, count, length), result.expected):
            for size in sizes:
                if (values := sums(size, 1, length)) is not None:
                    yield Formula.of("rows-for-columns", stride=size), values


def _other_products(result: OutputPair) -> Iterator[tuple[Formula, Array]]:
    """Products of matrices: a range of the terms alone, or of the wrong tiles."""
    for (x, a), (y, b) in itertools.permutations(result.operands.items(), 2):
        inner = math.isqrt(a.size * b.size // max(result.got.size, 1))
        if inner < 2 or a.size % inner or b.size % inner:
            continue
        left, right = wide(a).reshape(-1, inner), wide(b).reshape(inner, -1)
        if left.shape[0] * right.shape[1] != result.got.size or not are_equal(left @ right, result.expected):
            continue
        if inner <= _LONGEST_PRODUCT:
            for first, end in itertools.combinations(range(inner + 1), 2):
                if end - first == inner:
                    continue
                facts = {"first": first, "last": end - 1, "total": inner}
                values = left[:, first:end] @ right[first:end]
                yield Formula.of("partial-sum", "partial-sum", **facts), values
        extents = (*left.shape, *right.shape)
        for size in range(2, min(inner, _LONGEST_PRODUCT)):
            if not any(extent % size for extent in extents):
                yield from _other_tiles((x, left), (y, right), size)


def _large_products(result: OutputPair) -> Iterator[tuple[Formula, Array]]:
    """Products of large matrices: without the first or last tiles of the terms, or with one transposed.

    Only those are computed whose first row is that of the output.
    """
    if result.expected.ndim != 2:
        return
    first_row = result.got.reshape(result.expected.shape)[0]
    for (x, a), (y, b) in itertools.permutations(result.operands.items(), 2):
        inner = math.isqrt(a.size * b.size // result.got.size)
        if inner < _LONGEST_PRODUCT or a.size % inner or b.size % inner:
            continue
        left, right = wide(a).reshape(-1, inner), wide(b).reshape(inner, -1)
        if (left.shape[0], right.shape[1]) != result.expected.shape:
            continue
        if not are_equal(left[:1] @ right, result.expected[0]):
            continue
        other_left, other_right = left.reshape(inner, -1).T, right.reshape(-1, inner).T
        factors = [
            (Formula.of("transposed-operand", input=x), other_left, right),
            (Formula.of("transposed-operand", input=y), left, other_right),
        ]
        for first, end in _without_end_tiles(inner):
            facts = {"first": first, "last": end - 1, "total": inner}
            formula = Formula.of("partial-sum", "partial-sum", **facts)
            factors.append((formula, left[:, first:end], right[first:end]))
        for formula, one, two in factors:
            if are_equal(one[:1] @ two, first_row):
                yield formula, one @ two


def _without_end_tiles(length: int) -> Iterator[tuple[int, int]]:
    """Ranges without the first or the last 8, 16, 32, … of a number of terms, or with these alone."""
    for size in (8 << power for power in range(length.bit_length()) if 8 << power < length):
        yield from ((0, length - size), (size, length), (0, size), (length - size, length))


def _other_tiles(
    one: tuple[str, Numbers], two: tuple[str, Numbers], size: int
) -> Iterator[tuple[Formula, Array]]:
    """The sum over t of products of tiles, of which one matrix is read at other tile indices."""
    (x, left), (y, right) = one, two
    tiles = {x: _tiles(left, size), y: _tiles(right, size)}
    right_indices = {x: "it", y: "tj"}
    counts = {"i": left.shape[0] // size, "j": right.shape[1] // size, "t": left.shape[1] // size}
    for name, wanted in right_indices.items():
        for row, column in itertools.product(counts, repeat=2):
            used = {**right_indices, name: row + column}
            there = (counts[row], counts[column]) == tiles[name].shape[:2]
            if row + column == wanted or not there:
                continue
            values = _sum_of_tile_products(tiles[x], tiles[y], used[x], used[y], counts)
            formula = Formula.of(
                "other-tile",
                input=name,
                used=f"({_TILE_INDEX[row]}, {_TILE_INDEX[column]})",
                wanted=f"({_TILE_INDEX[wanted[0]]}, {_TILE_INDEX[wanted[1]]})",
            )
            yield formula, values


def _sum_of_tile_products(
    left: Numbers, right: Numbers, left_index: str, right_index: str, counts: Mapping[str, int]
) -> Numbers:
    """The matrix of the sums over t, for every tile (i, j) of it.

    Args:
        left, right: tiles as of `_tiles`.
        left_index, right_index: the letters of each matrix's tile indices.
        counts: of the values of each letter.
    """
    used = set(left_index + right_index)
    outer = "".join(letter for letter in "ij" if letter in used)
    products = np.einsum(f"{left_index}ab,{right_index}bc->{outer}ac", left, right, optimize=True)
    if "t" not in used:
        products = products * counts["t"]
    absent = tuple(axis for axis, letter in enumerate("ij") if letter not in used)
    size = products.shape[-1]
    shape = (counts["i"], counts["j"], size, size)
    whole: Numbers = np.broadcast_to(np.expand_dims(products, absent), shape)
    return whole.swapaxes(1, 2).reshape(counts["i"] * size, counts["j"] * size)


_TILE_INDEX = {"i": "block_idx.y", "j": "block_idx.x", "t": "tile"}


def _tiles(matrix: Numbers, size: int) -> Numbers:
    """(rows of tiles, columns of tiles, size, size) of a matrix."""
    rows, columns = matrix.shape
    return matrix.reshape(rows // size, size, columns // size, size).swapaxes(1, 2)


# -- the reference with other inputs ---------------------------------------------------------------------


def _other_operands(result: OutputPair) -> Iterator[tuple[Formula, Array]]:
    """The right formula with other elements of the inputs."""
    operands = result.operands
    for (x, a), (y, b) in itertools.combinations(operands.items(), 2):
        if a.size == b.size and a.dtype == b.dtype:
            exchanged = result.reference(**{x: b.reshape(a.shape), y: a.reshape(b.shape)})
            if exchanged is not None:
                yield Formula.of("exchanged", first=x, second=y), exchanged
    for name, array in operands.items():
        for formula, changed in _changed(name, array, result):
            values = result.reference(**{name: changed.reshape(array.shape).astype(array.dtype)})
            if values is not None:
                yield formula, values


def _changed(name: str, array: Array, result: OutputPair) -> Iterator[tuple[Formula, Array]]:
    """Other elements for one input."""
    flat = array.ravel()
    if flat.size < 2:
        return
    yield Formula.of("reversed-operand", input=name), flat[::-1]
    for rows in sorted({math.isqrt(flat.size), *sizes_of(result.case)}):
        if 1 < rows < flat.size and flat.size % rows == 0 and (array.ndim < 2 or rows == array.shape[0]):
            yield Formula.of("transposed-operand", input=name), flat.reshape(rows, -1).T
    yield Formula.of("first-element", input=name), np.full_like(flat, flat[0])
    if flat.size < result.got.size:
        for index in (flat.size - 1, 0):
            shorter = flat.copy()
            shorter[index] = 0
            yield Formula.of("without-element", input=name, index=index), shorter
    for distance in (1, -1):
        yield Formula.of("neighbour-operand", input=name, distance=f"{distance:+d}"), np.roll(flat, -distance)
    yield Formula.of("operand-left-out", input=name), np.zeros_like(flat)


def _other_numbers(result: OutputPair) -> Iterator[tuple[Formula, Array]]:
    """The right formula with another value of a number that the program defines."""
    variations = result.case.variations
    for name, wanted, used, outputs in variations() if variations else ():
        yield Formula.of("other-number", number=name, wanted=wanted, used=used), outputs[result.output]


# -- types -----------------------------------------------------------------------------------------------


def _other_types(result: OutputPair) -> Iterator[tuple[Formula, Array]]:
    """The right formula through integers, whose values have no fractions or wrap around."""
    expected = wide(result.expected)
    if not np.isfinite(expected).all() or np.abs(expected).max(initial=0.0) >= 2.0**62:
        return
    floats = {name: array for name, array in result.operands.items() if array.dtype.kind == "f"}
    cut_inputs = {name: np.trunc(array) for name, array in floats.items()}
    of_cut = result.reference(**cut_inputs) if floats else None
    results = [expected] if of_cut is None else [expected, of_cut]
    if result.got.dtype.kind == "f":
        for values in (*results, *_sums_of_cut_terms(result)):
            yield Formula.of("fractions-cut"), np.trunc(values)
    for bits, signed in itertools.product((8, 16, 32), (True, False)):
        kind = f"{'' if signed else 'U'}Int{bits}"
        for values in results:
            yield Formula.of("wrapped", bits=bits, type=kind), _wrapped(values, bits, signed)


def _sums_of_cut_terms(result: OutputPair) -> Iterator[Numbers]:
    """Sums of products, or of elements, of which each term has lost its fraction."""
    count = result.got.size
    arrays = [wide(array) for array in result.operands.values() if array.size and array.size % count == 0]
    for one, two in itertools.combinations_with_replacement(arrays, 2):
        if one.size == two.size:
            terms = (one if one is two else one * two).reshape(count, -1)
            if are_equal(terms.sum(axis=1), result.expected):
                yield np.trunc(terms).sum(axis=1)


def _wrapped(values: Numbers, bits: int, signed: bool) -> Numbers:
    """Whole numbers reduced to those of an integer type."""
    low = -(2.0 ** (bits - 1)) if signed else 0.0
    return (np.trunc(values) - low) % 2.0**bits + low


def _narrow_type(results: Sequence[OutputPair]) -> Formula | None:
    """Every wrong element is a number of a narrower type, and close to the right one, which is none."""
    if any(result.got.dtype.name not in ("float32", "float64") for result in results):
        return None
    for kind, narrowed in _NARROW.items():
        if all(_is_rounded(result, narrowed) for result in results):
            return Formula.of("narrow-type", type=kind)
    if all(_is_rounded(result, np.trunc, slack=_CUT_TERMS) for result in results):
        return Formula.of("fractions-cut")
    if all(_is_nearly_scaled(result) for result in results):
        return Formula.of("shared-rounding")
    return None


def _is_nearly_scaled(result: OutputPair) -> bool:
    """Whether all elements have the same factor, close to 1."""
    got, expected = wide(result.got), wide(result.expected)
    ratios = got[expected != 0] / expected[expected != 0]
    if ratios.size < 2 or not np.isfinite(ratios).all():
        return bool(_right(result).all())
    return bool(abs(ratios[0] - 1) < 1 / 32 and np.allclose(ratios, ratios[0], rtol=1e-5, atol=0.0))


def _is_rounded(result: OutputPair, narrowed: Callable[[Numbers], Numbers], slack: float = 0.0) -> bool:
    """Whether the wrong elements can be sums in a type, and most elements that it cannot hold are wrong.

    Args:
        narrowed: rounds to the type.
        slack: a difference that the terms of a sum can have lost.
    """
    got, expected = wide(result.got), wide(result.expected)
    if not np.isfinite(expected).all():
        return False
    wrong, largest = ~_right(result), np.abs(expected).max(initial=0.0, keepdims=True)
    with np.errstate(over="ignore", invalid="ignore"):
        not_held = np.abs(narrowed(expected) - expected) > result.atol + result.rtol * np.abs(expected)
        possible = (narrowed(got) == got) & (np.abs(got - expected) <= np.maximum(largest / 32, slack))
        if np.isinf(narrowed(2 * largest)).all():  # sums on the way to these values may overflow
            possible |= ~np.isfinite(got)
    return bool(possible[wrong].all() and 2 * np.count_nonzero(wrong) >= np.count_nonzero(not_held))


# -- threads ---------------------------------------------------------------------------------------------


def _some_lanes(results: Sequence[OutputPair]) -> Formula | None:
    """Only the first elements of each warp or block are right, with every data set that is wrong."""
    masks = [mask for mask in map(_right, results) if not mask.all()]
    right = np.logical_and.reduce(masks)
    size = right.size
    repeated = [period for period in range(2, 65) if size % period == 0 and size >= _LEAST_PERIODS * period]
    for period in dict.fromkeys((32, 64, *sorted(sizes_of(results[0].case)), size, *repeated)):
        if size % period or (period < 8 and period not in repeated):
            continue
        count = int(np.argmin(right))
        if (period in repeated or count > 1) and 0 < count < period:
            if not (right == (np.arange(size) % period < count)).all():
                continue
            if period == size:
                return Formula.of("first-elements", count=count)
            return Formula.of("some-lanes", count=count, period=period)
    return None


def _right(result: OutputPair) -> NDArray[np.bool_]:
    got, wanted = wide(result.got), wide(result.expected)
    with np.errstate(invalid="ignore"):
        return np.abs(got - wanted) <= result.atol + result.rtol * np.abs(wanted)
