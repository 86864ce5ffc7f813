"""The NumPy reference of a puzzle: solutions/pXX/reference.py.

It defines `inputs(mode, dataset)` (every staged buffer by name, initial content of outputs included) and
`expected(mode, inputs)` (the whole outputs). Where sizes depend on the GPU, a function has one parameter more
or two: `simulated` says whether it is the simulated GPU, `lanes` how many threads a warp has.
"""

from __future__ import annotations

import importlib.util
import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from tooling.catalog.model import LANES, Mode, Puzzle
from tooling.errors import Location, ToolingError

Array = NDArray[np.generic]


class ReferenceUnusable(ToolingError):
    """A reference is missing, fails, or contradicts its manifest."""


@dataclass(frozen=True, slots=True)
class ReferenceCase:
    """What one data set holds and what must come out."""

    dataset: str
    inputs: Mapping[str, Array]
    expected: Mapping[str, Array]  # in the shapes and types of the manifest


@dataclass(frozen=True, slots=True)
class Reference:
    """The two functions of a loaded reference."""

    path: Path
    make_inputs: Callable[..., Mapping[str, Array]]
    make_expected: Callable[..., Mapping[str, Array]]

    def case(self, mode: Mode, dataset: str, *, simulated: bool = False, lanes: int = LANES) -> ReferenceCase:
        """Inputs and expected outputs of a data set.

        Args:
            mode: with the sizes that it has on the GPU (`Mode.sized`).
            simulated, lanes: of the GPU; handed on to a function that has such a parameter.

        Raises:
            ReferenceUnusable: a function fails, or an output is missing or has another type or shape
                than the manifest says.
        """
        gpu = {"simulated": simulated, "lanes": lanes}
        try:
            made = _call(self.make_inputs, gpu, mode.name, dataset)
            inputs = {name: np.asarray(array) for name, array in made.items()}
            copies = {name: array.copy() for name, array in inputs.items()}
            outputs = _call(self.make_expected, gpu, mode.name, copies)
            found = {name: np.asarray(array) for name, array in outputs.items()}
        except Exception as error:  # whatever a reference raises, the answer is the same
            raise ReferenceUnusable(
                f"the reference fails for mode `{mode.name}`, data set `{dataset}`",
                where=Location(self.path),
                why=f"{type(error).__name__}: {error}",
            ) from error
        expected = {}
        for output in mode.outputs:
            array = found.get(output.name)
            wanted = f"{output.dtype} {output.shape}"
            if array is None:
                raise ReferenceUnusable(
                    f"the reference does not compute the output `{output.name}` of mode `{mode.name}`",
                    where=Location(self.path),
                    why=f"puzzle.yaml promises {wanted}",
                )
            numpy_name = "float32" if output.dtype == "bfloat16" else output.dtype
            flat = array.ndim == 1 and array.size == math.prod(output.shape)  # as it lies in memory
            if array.dtype.name != numpy_name or not (flat or array.shape == output.shape):
                raise ReferenceUnusable(
                    f"the reference's `{output.name}` is {array.dtype.name} {array.shape}, "
                    f"but puzzle.yaml says {wanted}",
                    where=Location(self.path),
                )
            expected[output.name] = array.reshape(output.shape)
        return ReferenceCase(dataset, inputs, expected)


def _call(
    function: Callable[..., Mapping[str, Array]], gpu: Mapping[str, int], *arguments: object
) -> Mapping[str, Array]:
    """Calls a function of the reference with those facts of the GPU that it asks for."""
    asked = inspect.signature(function).parameters
    return function(*arguments, **{name: value for name, value in gpu.items() if name in asked})


def load_reference(puzzle: Puzzle) -> Reference:
    """The reference of a puzzle.

    Raises:
        ReferenceUnusable: the file is missing, cannot be imported or lacks one of its two functions.
    """
    path = puzzle.programs[0].solution.parent / "reference.py"
    if not path.is_file():
        raise ReferenceUnusable("the puzzle has no reference", where=Location(path))
    module = _import(path, f"puzzle_reference_{puzzle.id}")
    for name in ("inputs", "expected"):
        if not callable(getattr(module, name, None)):
            raise ReferenceUnusable(f"the reference has no function `{name}`", where=Location(path))
    return Reference(path, module.inputs, module.expected)


def _import(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise ReferenceUnusable(
            "the reference cannot be imported",
            where=Location(path),
            why=f"{type(error).__name__}: {error}",
        ) from error
    return module
