"""The second data set tells float32 from narrower types: in the inputs, and in the sums.

A kernel that converts its inputs to float16, or that adds up in an integer, must fail with the probe. So the
reference is computed again with every input rounded to the type, and with every sum rounded to it.
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from msgspec import Struct

from tooling.catalog.catalogue import load_catalogue
from tooling.catalog.model import LANES, Mode, ModeKind, Puzzle
from tooling.judging.comparison import compare
from tooling.judging.diagnosis import GUARD
from tooling.judging.reference import Array, ReferenceCase, load_reference
from tooling.project import find_project

Round = Callable[[Array], Array]


def _bfloat16(values: Array) -> Array:
    """The nearest bfloat16 values, ties to even."""
    bits = values.astype(np.float32).view(np.uint32).astype(np.uint64)
    nearest = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
    return nearest.astype(np.uint32).view(np.float32)


TYPES: dict[str, Round] = {
    "float16": lambda values: values.astype(np.float16),
    "bfloat16": _bfloat16,
    "int32": lambda values: values.astype(np.float64).astype(np.int64).astype(np.int32),
    "int8": lambda values: values.astype(np.float64).astype(np.int64).astype(np.int8),
}
GPU = {"simulated": True, "lanes": LANES}
SUMS = (np.add, np.subtract, np.matmul)
SUM_FUNCTIONS: tuple[Callable[..., Any], ...] = (np.dot, np.correlate, np.convolve)


class RoundedSums(np.ndarray[Any, np.dtype[Any]]):
    """An array whose sums are rounded, also those of arrays computed from it."""

    rounded: Round

    def __array_finalize__(self, origin: object) -> None:
        self.rounded = getattr(origin, "rounded", lambda values: values)

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *operands: object, out: object = None, **options: object
    ) -> object:
        result = getattr(ufunc, method)(*map(_plain, operands), **options)
        return self._with_sums(result, rounds=ufunc in SUMS)

    def __array_function__(
        self, func: Callable[..., Any], types: Iterable[Any], args: Iterable[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        if func in SUM_FUNCTIONS:
            return self._with_sums(func(*map(_plain, args), **kwargs), rounds=True)
        return super().__array_function__(func, types, args, kwargs)

    def _with_sums(self, result: object, *, rounds: bool) -> object:
        if not isinstance(result, (np.ndarray, np.floating)) or np.asarray(result).dtype.kind != "f":
            return result
        array = np.asarray(result)
        rounded = np.asarray(self.rounded(array)).astype(array.dtype) if rounds else array
        return with_rounded_sums(rounded, self.rounded)


def with_rounded_sums(array: Array, rounded: Round) -> RoundedSums:
    found = array.view(RoundedSums)
    found.rounded = rounded
    return found


def _plain(operand: object) -> object:
    return operand.view(np.ndarray) if isinstance(operand, RoundedSums) else operand


class Probe(Struct, frozen=True, eq=False):
    """The second data set of a judged mode."""

    puzzle: Puzzle
    mode: Mode

    def __str__(self) -> str:
        return f"{self.puzzle.id}-{self.mode.name}"

    @property
    def case(self) -> ReferenceCase:
        return _case(self.puzzle, self.mode)

    @property
    def inputs(self) -> dict[str, Array]:
        """Its inputs of floating point that are no outputs."""
        case = self.case
        inputs = case.inputs.items()
        return {name: each for name, each in inputs if each.dtype.kind == "f" and name not in case.expected}

    def tells_apart(self, changed: Mapping[str, Array]) -> bool:
        """Whether the right formula with these inputs gives other outputs, beyond the tolerance."""
        case = self.case
        inputs = {name: array.copy() for name, array in {**case.inputs, **changed}.items()}
        expected = _module(self.puzzle).expected
        parameters = inspect.signature(expected).parameters
        gpu = {name: fact for name, fact in GPU.items() if name in parameters}
        with np.errstate(all="ignore"):
            found = expected(self.mode.name, inputs, **gpu)
        for output in self.mode.outputs:
            if output.name == GUARD:
                continue
            wanted = case.expected[output.name]
            got = np.asarray(found[output.name]).view(np.ndarray).reshape(wanted.shape)
            if not compare(got.astype(wanted.dtype), wanted, output.rtol, output.atol).equal:
                return True
        return False


@functools.cache
def _module(puzzle: Puzzle) -> ModuleType:
    """The reference in this process: in another one, arrays arrive as plain ones."""
    path = puzzle.programs[0].solution.parent / "reference.py"
    spec = importlib.util.spec_from_file_location(f"reference_of_{puzzle.id}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@functools.cache
def _case(puzzle: Puzzle, mode: Mode) -> ReferenceCase:
    return load_reference(puzzle).case(mode, "probe", simulated=True)


def probes() -> Iterator[Probe]:
    for puzzle in load_catalogue(find_project(Path(__file__).parent)):
        for mode in puzzle.modes:
            if mode.kind in (ModeKind.PUZZLE, ModeKind.GIVEN):
                yield Probe(puzzle, mode.sized(simulated=True))


PROBES = {str(probe): probe for probe in probes()}

_BYTES = "its inputs are bytes, and its sums are counts"
_INTEGERS = "its inputs are integers, of more bits than narrower types hold"
_HALVES = "its inputs are bfloat16 in the program too, and the reference gets their bits"
_HALF = "its inputs are bfloat16, and are passed as their bits"
_MOVED = "its keys and values are integers of 32 bits, and are moved"
WITHOUT_INPUTS = {
    "p09-first-case": "its unsolved program has no input: that is the mistake to find",
    "p37-global": _BYTES,
    "p37-shared": _BYTES,
    "p37-merged": _BYTES,
    "p38-scan": _INTEGERS,
    "p38-packed": _INTEGERS,
    "p39-pass": _MOVED,
    "p39-sort": _MOVED,
    "p44-one-tile": _HALF,
    "p44-tile-loop": _HALF,
    "p45-specialised": _HALVES,
    "p45-persistent": _HALVES,
    "p46-wgmma": _HALF,
    "p46-causal": _HALF,
}
NOT_READ = {
    ("p22-backward", "linear_bias"): "no gradient depends on it",
    ("p34-reduction", "temp_storage"): "the kernel writes it before it reads it",
}
_FEW_DIGITS = "the sums of 1024 products with `a` are exact in float32 because `b` has few digits"
_MULTIPLES = "11 bits, which tf32 holds, reach beyond float16 only as multiples of 256"
INPUTS_THAT_A_TYPE_HOLDS = {
    ("p33", "b", "float16"): _FEW_DIGITS,
    ("p33", "b", "bfloat16"): _FEW_DIGITS,
    ("p33", "a", "int32"): _MULTIPLES,
    ("p41", "b", "float16"): "the sums of 20 products are exact in float32 because `b` has few digits",
    ("p41", "b", "bfloat16"): "the sums of 20 products are exact in float32 because `b` has few digits",
    ("p46", "k", "float16"): "rounded keys move the scores by less than the tolerance; the values show it",
}
"""Inputs whose values a type holds: another input of the mode, or the sums, show this type."""
WITHOUT_SUMS = {
    "p21-default": "rows are copied",
    "p25-broadcast-conditional": "elements are compared, doubled and halved",
    "p26-pair-swap": "elements are exchanged",
    "p26-parallel-max": "elements are compared",
    "p26-conditional-max": "elements are compared",
    "p26-partition": "elements are moved; the sums are those of counts",
    "p27-histogram": "elements are counted",
}


ROUNDED_WITHIN_THE_TOLERANCE = {
    ("p18-kernels", "float16"): "the test's tolerance is absolute, and one sum of all is rounded once here",
}


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("name", PROBES)
def test_inputs_that_are_rounded_to_a_narrower_type_change_the_result(name: str, kind: str) -> None:
    probe = PROBES[name]
    assert bool(probe.inputs) is not (name in WITHOUT_INPUTS)
    for each, array in probe.inputs.items():
        with np.errstate(all="ignore"):
            rounded = TYPES[kind](array).astype(array.dtype)
        shows = probe.tells_apart({each: rounded})
        excepted = (probe.puzzle.id, each, kind) in INPUTS_THAT_A_TYPE_HOLDS or (name, each) in NOT_READ
        assert shows is not excepted, each


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("name", [name for name in PROBES if name not in WITHOUT_INPUTS])
def test_sums_in_a_narrower_type_change_the_result(name: str, kind: str) -> None:
    probe = PROBES[name]
    changed = {}
    for each, array in probe.inputs.items():
        changed[each] = with_rounded_sums(array, TYPES[kind])
    excepted = name in WITHOUT_SUMS or (name, kind) in ROUNDED_WITHIN_THE_TOLERANCE
    assert probe.tells_apart(changed) is not excepted
