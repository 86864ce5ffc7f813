"""Wrong formulas that learners write, found by what they compute with the data of the real puzzles."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from tooling.catalog.manifest import load_puzzle
from tooling.catalog.model import Mode, ModeKind, Output
from tooling.execution.channel import BufferContent
from tooling.execution.program import Ending, Transcript
from tooling.judging import formulas, other_terms
from tooling.judging.confirmation import confirmed
from tooling.judging.diagnosis import GUARD
from tooling.judging.evidence import Evidence
from tooling.judging.formula_model import Formula, OutputPair
from tooling.judging.formulas import find_formula
from tooling.judging.judge import judge_case
from tooling.judging.reference import Reference, ReferenceCase, load_reference
from tooling.judging.texts import EXPLANATIONS
from tooling.judging.verdict import Problem
from tooling.project import find_project

ENDED = Transcript("", "", Ending.EXITED, 0, 0.1)
Floats = NDArray[np.float32]
Numbers = NDArray[np.float64]
Wrong = Callable[[ReferenceCase], NDArray[np.generic]]

LARGE_INPUTS = {"p21", "p30", "p31", "p33", "p35"}  # of which a search for formulas takes a second


def puzzle_of(name: str, mode_name: str) -> tuple[Mode, Reference]:
    project = find_project()
    puzzle = load_puzzle(project.problems / name / "puzzle.yaml", project)
    (mode,) = (mode for mode in puzzle.modes if mode.name == mode_name)
    return mode.sized(simulated=True), load_reference(puzzle)


def reported(name: str, mode_name: str, wrong: Wrong) -> Problem:
    """The first problem with the probe's data if the kernel computes this, as `tooling run` reports it."""
    mode, reference = puzzle_of(name, mode_name)
    verdicts = []
    for dataset in mode.datasets:
        case = reference.case(mode, dataset, simulated=True)
        used = {key: BufferContent(array.dtype.name, array.tobytes()) for key, array in case.inputs.items()}
        submitted = {
            key: BufferContent(array.dtype.name, array.tobytes()) for key, array in case.expected.items()
        }
        output: Output = mode.outputs[0]
        got = np.asarray(wrong(case)).astype(output.dtype)
        submitted[output.name] = BufferContent(output.dtype, np.ascontiguousarray(got).tobytes())
        verdicts.append(judge_case(Evidence(mode, case, ENDED, used, submitted)))
    return confirmed(verdicts)[-1].problems[0]


def operands(case: ReferenceCase) -> list[Numbers]:
    return [array.astype(np.float64) for name, array in case.inputs.items() if name not in case.expected]


def matrices(case: ReferenceCase) -> tuple[Numbers, Numbers]:
    a, b = (array.reshape(9, 9) for array in operands(case))
    return a, b


def window_of_two(case: ReferenceCase) -> Numbers:
    (a,) = operands(case)
    return np.asarray(a + np.append(0.0, a[:-1]), np.float64)


def through_int8(case: ReferenceCase) -> Numbers:
    a, b = operands(case)
    return (a.astype(np.int64) + b.astype(np.int64)).astype(np.int8).astype(np.float64)


def flipped_filter(case: ReferenceCase) -> Numbers:
    a, b = operands(case)
    return np.correlate(np.append(a, np.zeros(b.size - 1)), b[::-1])


def short_filter(case: ReferenceCase) -> Numbers:
    a, b = operands(case)
    return np.correlate(np.append(a, np.zeros(b.size - 1)), np.append(b[:-1], 0))


def stride_of_batch(case: ReferenceCase) -> Numbers:
    (a,) = operands(case)
    return np.array([a[4 * row : 4 * row + 6].sum() for row in range(4)])


def columns(case: ReferenceCase) -> Numbers:
    (a,) = operands(case)
    return np.asarray(a.reshape(4, 6)[:, :4].sum(axis=0), np.float64)


def without_last_tile(case: ReferenceCase) -> Numbers:
    a, b = matrices(case)
    return a[:, :6] @ b[:6]


def elementwise(case: ReferenceCase) -> Numbers:
    a, b = operands(case)
    return a * b


def tile_of_b_like_a(case: ReferenceCase) -> Numbers:
    a, b = matrices(case)
    out = np.zeros((9, 9))
    for row in range(0, 9, 3):
        for column in range(0, 9, 3):
            for t in range(0, 9, 3):
                here = slice(row, row + 3)
                out[here, column : column + 3] += a[here, t : t + 3] @ b[here, t : t + 3]
    return out


def scan_in_steps_of_one(case: ReferenceCase) -> Numbers:
    (total,) = operands(case)
    for distance in range(1, total.size):
        step = total.copy()
        step[distance:] += total[:-distance]
        total = step
    return np.asarray(total, np.float64)


def reversed_direction(case: ReferenceCase) -> Numbers:
    a, b = operands(case)
    return np.asarray(np.convolve(a, b)[: a.size], np.float64)


def rows_four_apart(case: ReferenceCase) -> Numbers:
    (a,) = operands(case)
    return np.asarray(a[np.arange(5)[:, None] * 4 + np.arange(5)] + 10, np.float64)


def through_uint8(case: ReferenceCase) -> Numbers:
    (a,) = operands(case)
    return (a.astype(np.int64) + 10).astype(np.uint8).astype(np.float64)


def first_of_four(case: ReferenceCase) -> Numbers:
    right = case.expected["out"].astype(np.float64)
    return np.where(np.arange(right.size) % 4 == 0, right, 0)


def blur_of_three(case: ReferenceCase) -> Numbers:
    """The mean of an element and its two neighbours, where five elements are wanted."""
    (a,) = operands(case)
    blocks = np.pad(a.reshape(-1, 256) * 1.1, ((0, 0), (1, 1)))
    count = np.full(256, 3.0)
    count[[0, -1]] = 2
    mean = (blocks[:, :-2] + blocks[:, 1:-1] + blocks[:, 2:]) / count
    smooth = mean.copy()
    smooth[:, 1:] = (smooth[:, 1:] + mean[:, :-1]) * 0.6
    smooth[:, :-1] = (smooth[:, :-1] + mean[:, 1:]) * 0.6
    return np.asarray(smooth.ravel(), np.float64)


def without_last_tile_of_32(case: ReferenceCase) -> Numbers:
    a, b = (array.reshape(256, 256) for array in operands(case))
    return np.asarray(a[:, :224] @ b[:224], np.float64)


def other_matrix_transposed(case: ReferenceCase) -> Numbers:
    a, b = (array.reshape(2, 2) for array in operands(case))
    return np.asarray(a @ b.T, np.float64)


def mean_in_the_first_warp(case: ReferenceCase) -> Numbers:
    (a,) = operands(case)
    means = np.where(np.arange(128) < 32, a.mean(), a[:32].sum() / 128)
    return np.asarray(a / means, np.float64)


@pytest.mark.parametrize(
    ("puzzle", "mode", "wrong", "says"),
    [
        ("p02", "default", elementwise, "each element of `out` is `a[i] * b[i]`"),
        ("p02", "default", through_int8, "`out` holds what 8 bits can hold of the right values"),
        ("p02", "default", lambda case: operands(case)[0] - operands(case)[1], "`a[i] - b[i]`"),
        ("p05", "default", lambda case: np.add.outer(operands(case)[1], operands(case)[0]).T, "transposed"),
        ("p11", "default", window_of_two, "a sum of 2 elements of `a`, not of 3"),
        ("p13", "simple", flipped_filter, "with the elements of `b` in reverse order"),
        ("p13", "block-boundary", flipped_filter, "with the elements of `b` in reverse order"),
        ("p13", "block-boundary", short_filter, "without element 3 of `b`"),
        ("p15", "default", stride_of_batch, "sums of rows that begin 4 elements apart, not 6"),
        ("p15", "default", columns, "sums of columns instead of rows"),
        ("p16", "tiled", without_last_tile, "contains the terms 0 to 5 only, of 9 terms from 0"),
        ("p16", "tiled", elementwise, "each element of `out` is `a[i] * b[i]`"),
        ("p16", "tiled", tile_of_b_like_a, "the product with other tiles of `b`"),
        ("p16", "naive", lambda case: _product(case, swapped=True), "with `a` and `b` exchanged"),
        (
            "p27",
            "normalize",
            mean_in_the_first_warp,
            "only the first 32 elements of `out` are right",
        ),
        ("p14", "simple", scan_in_steps_of_one, "whose steps add the elements 1, 2, 3, 4, … apart"),
        # Formulas of the same families in other puzzles.
        ("p06", "default", lambda case: operands(case)[0] * 10, "each element of `out` is `a[i] * 10`"),
        ("p31", "minimal", lambda case: operands(case)[0] + 2.5 * operands(case)[1], "`2.5 * y[i] + x[i]`"),
        ("p30", "kernel1", elementwise, "each element of `out` is `a[i] * b[i]`"),
        ("p08", "default", through_uint8, "`out` holds what 8 bits can hold of the right values"),
        (
            "p26",
            "prefix-sum",
            lambda case: np.cumsum(np.trunc(operands(case)[0])),
            "is what the formula gives without the fractions",
        ),
        ("p29", "multi-stage", blur_of_three, "with 1 in place of `BLUR_RADIUS`, 2"),
        ("p17", "default", reversed_direction, "with `input[i - j]` in place of `input[i + j]`"),
        ("p20", "default", flipped_filter, "with the elements of `kernel` in reverse order"),
        ("p16", "single-block", other_matrix_transposed, "with rows and columns of `b` swapped"),
        ("p07", "default", rows_four_apart, "if the rows of `a` begin at multiples of 4"),
        ("p33", "tensor-core", without_last_tile_of_32, "contains the terms 0 to 223 only, of 256 terms"),
        ("p23", "manual-vectorized", first_of_four, "only the first of every 4 elements of `out` is right"),
        ("p24", "kernel", lambda case: np.dot(*2 * operands(case)[:1]), "the sum of `a[i] * a[i]`"),
        (
            "p15",
            "default",
            lambda case: operands(case)[0].reshape(4, 6).max(1),
            "each element of `out` is `max`",
        ),
        (
            "p26",
            "prefix-sum",
            lambda case: np.cumsum(operands(case)[0][::-1])[::-1],
            "the sums of the elements of `a` from each one to the last",
        ),
    ],
)
def test_a_wrong_formula_is_named(puzzle: str, mode: str, wrong: Wrong, says: str) -> None:
    problem = reported(puzzle, mode, wrong)
    assert says in problem.what.render("en")
    assert problem.diagnoses[problem.name]["text"] is not None


def one_element_each(dataset: str, expected: Floats, got: Floats) -> OutputPair:
    return OutputPair(ReferenceCase(dataset, {"a": expected}, {"out": expected}), "out", got)


def test_the_precision_of_a_narrower_type_is_named() -> None:
    a = np.linspace(1, 3, 16, dtype=np.float32)
    for kind, narrow in (("float16", a.astype(np.float16).astype(np.float32)), ("bfloat16", _bfloat16(a))):
        found = find_formula([one_element_each("book", a, narrow)])
        assert found == Formula.of("narrow-type", type=kind)
    assert find_formula([one_element_each("book", a, a + np.float32(0.001))]) is None


def _bfloat16(values: Floats) -> Floats:
    bits = values.view(np.uint32) & np.uint32(0xFFFF0000)
    return bits.view(np.float32)


def test_the_first_lanes_of_every_warp_are_named() -> None:
    a = np.arange(1, 129, dtype=np.float32)
    got = np.where(np.arange(128) % 32 < 16, a, 0).astype(np.float32)
    result = one_element_each("book", a, got)
    assert find_formula([result]) == Formula.of("some-lanes", count=16, period=32)


def test_every_formula_has_sentences() -> None:
    code = inspect.getsource(formulas) + inspect.getsource(other_terms)
    keys = set(re.findall(r'Formula\.of\(\s*"([a-z-]+)"', code))
    assert keys > {"exchanged", "other-tile"}
    assert keys <= EXPLANATIONS.keys()


@pytest.mark.parametrize("word", ["block", "barrier", "shared memory", "tile", "warp", "lane", "atomic"])
def test_the_first_puzzles_are_not_told_what_comes_later(word: str) -> None:
    """Of the formulas that any output may have; the others need matrices or products of them."""
    anywhere = ("other-operation", "other-number", "first-elements", "some-lanes", "exchanged", "wrapped")
    said = [
        sentence.render("en")
        for key in anywhere
        for sentence in (EXPLANATIONS[key].what, EXPLANATIONS[key].cause, EXPLANATIONS[key].advice)
    ]
    assert not [sentence for sentence in said if re.search(rf"\b{word}s?\b", sentence)]


def test_a_formula_must_hold_with_every_data_set() -> None:
    """With the book's data of p02, twice `a` is the sum and the product of 2 and 2 is 4."""
    mode, reference = puzzle_of("p02", "default")
    book, probe = (reference.case(mode, dataset) for dataset in ("book", "probe"))
    product = OutputPair(book, "out", elementwise(book).astype(np.float32))
    assert find_formula([product]) == Formula.of("other-operation", formula="a[i] * b[i]")
    noise = np.array([3, 8, -2, 900], np.float32)
    assert find_formula([product, OutputPair(probe, "out", noise)]) is None


def test_a_product_of_matrices_with_more_columns_than_rows_or_fewer() -> None:
    """Of 256 terms, and without the last 128; the factors in the other order have another shape."""
    for rows, cols in ((30, 50), (50, 30)):
        a = np.arange(rows * 256, dtype=np.float64) % 7
        b = np.arange(256 * cols, dtype=np.float64) % 11
        left, right = a.reshape(rows, 256), b.reshape(256, cols)
        case = ReferenceCase("book", {"a": a, "b": b}, {"out": (left @ right).astype(np.float32)})
        formula = find_formula([OutputPair(case, "out", (left[:, :128] @ right[:128]).astype(np.float32))])
        assert formula is not None
        assert formula.text == "partial-sum"


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name in LARGE_INPUTS else ())
        for name in (f"p{number:02}" for number in range(1, 36))
    ],
)
def test_noise_is_no_formula(name: str) -> None:
    """Values that no kernel computes from the inputs, for every judged mode of every puzzle."""
    project = find_project()
    puzzle = load_puzzle(project.problems / name / "puzzle.yaml", project)
    reference = load_reference(puzzle)
    generator = np.random.default_rng(11)
    for mode in puzzle.modes:
        if mode.kind not in (ModeKind.PUZZLE, ModeKind.GIVEN):
            continue
        sized = mode.sized(simulated=True)
        cases = [reference.case(sized, dataset, simulated=True) for dataset in mode.datasets]
        for output in sized.outputs:
            if output.name == GUARD:
                continue
            results = []
            for case in cases:
                expected = case.expected[output.name]
                noise = generator.integers(-99, 99, expected.shape)
                fraction = 0.3 if expected.dtype.kind == "f" else 0
                got = expected.astype(np.float64) + noise + fraction
                results.append(OutputPair(case, output.name, got.astype(expected.dtype)))
            assert find_formula(results) is None, (mode.name, output.name)


def _product(case: ReferenceCase, *, swapped: bool) -> Numbers:
    one, two = (array.reshape(2, 2) for array in operands(case))
    return two @ one if swapped else one @ two


SUMS_OF = {
    "p11": "default",
    "p12": "default",
    "p13": "block-boundary",
    "p14": "complete",
    "p16": "tiled",
    "p24": "kernel",
    "p26": "prefix-sum",
    "p27": "block-sum-dot-product",
    "p28": "default",
    "p34": "coordination",
}


@pytest.mark.parametrize("name", SUMS_OF)
def test_results_of_a_narrower_type_are_named(name: str) -> None:
    def right(case: ReferenceCase) -> Numbers:
        return np.asarray(next(iter(case.expected.values())), np.float64)

    def in_float16(case: ReferenceCase) -> NDArray[np.generic]:
        with np.errstate(over="ignore"):
            return right(case).astype(np.float16)

    problem = reported(name, SUMS_OF[name], in_float16)
    says = problem.what.render("en")
    assert "has the precision of float16 only" in says or "look as if rounded to float16" in says
    problem = reported(name, SUMS_OF[name], lambda case: np.trunc(right(case)))
    assert "is what the formula gives without the fractions" in problem.what.render("en")


def test_a_difference_that_rounding_explains_is_no_partial_sum() -> None:
    """All of the terms are not some of them."""
    mode, reference = puzzle_of("p16", "tiled")
    case = reference.case(mode, "probe", simulated=True)
    got = case.expected["out"].astype(np.float32) + np.float32(0.25)
    found = find_formula([OutputPair(case, "out", got)])
    assert found is None or found.name != "partial-sum"
