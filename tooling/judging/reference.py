"""The NumPy reference of a puzzle: solutions/pXX/reference.py.

It defines `inputs(mode, dataset)` (every staged buffer by name, initial content of outputs included) and
`expected(mode, inputs)` (the whole outputs). Where sizes depend on the GPU, a function has one or two more
parameters: `simulated` (whether it is the simulated GPU) and `lanes` (the number of threads of a warp).
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import inspect
import math
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tooling.catalog.model import LANES, Mode, Puzzle
from tooling.platform.errors import Location, ToolingError

Array = NDArray[np.generic]


class ReferenceUnusable(ToolingError):
    """A reference is missing, fails, or contradicts its manifest."""


class ReferenceCase(Struct, frozen=True):
    """The inputs of one data set and the expected outputs.

    Attributes:
        expected: in the shapes and types of the manifest.
        names: of the reference's module, the mode and the GPU's facts.
        recompute: the outputs for other inputs of the same sizes, or ReferenceUnusable; None where there is
            no reference's function.
    """

    dataset: str
    inputs: Mapping[str, Array]
    expected: Mapping[str, Array]
    names: Mapping[str, object] = {}
    recompute: Callable[[Mapping[str, Array]], Mapping[str, Array]] | None = None

    def evaluate(self, expression: str, where: Location) -> Array:
        """The value of an expression of NumPy, such as the result of a known mistake.

        It may use `names`, every input by its own name, and all of them as `inputs`; those of floating point
        are in double precision.

        Args:
            where: of the expression.

        Raises:
            ReferenceUnusable: it fails.
        """
        inputs = {
            name: array.astype(np.float64 if array.dtype.kind == "f" else array.dtype)
            for name, array in self.inputs.items()
        }
        names = {**self.names, **inputs, "inputs": inputs}
        with _failures(f"`{expression}` fails for data set `{self.dataset}`", where):
            return np.asarray(eval(expression, names))


class Reference(Struct, frozen=True):
    """The two functions of a loaded reference."""

    path: Path
    make_inputs: Callable[..., Mapping[str, Array]]
    make_expected: Callable[..., Mapping[str, Array]]
    names: Mapping[str, object]  # everything that its module defines

    def case(self, mode: Mode, dataset: str, *, simulated: bool = False, lanes: int = LANES) -> ReferenceCase:
        """Inputs and expected outputs of a data set.

        Args:
            mode: with its sizes on the GPU (`Mode.sized`).
            simulated, lanes: of the GPU; passed to a function that has such a parameter.

        Raises:
            ReferenceUnusable: a function fails, or an output is missing or has another type or shape
                than the manifest specifies.
        """
        gpu = {"simulated": simulated, "lanes": lanes}
        inputs = self.inputs(mode.name, dataset, gpu)
        found = self.expected(mode.name, dataset, {name: array.copy() for name, array in inputs.items()}, gpu)
        expected = {}
        for output in mode.outputs:
            array = found.get(output.name)
            wanted = f"{output.dtype} {output.shape}"
            if array is None:
                raise ReferenceUnusable(
                    f"the reference does not compute the output `{output.name}` of mode `{mode.name}`",
                    where=Location(self.path),
                    why=f"puzzle.yaml specifies {wanted}",
                )
            numpy_name = "float32" if output.dtype == "bfloat16" else output.dtype
            flat = array.ndim == 1 and array.size == math.prod(output.shape)  # as in memory
            if array.dtype.name != numpy_name or not (flat or array.shape == output.shape):
                raise ReferenceUnusable(
                    f"the reference's `{output.name}` is {array.dtype.name} {array.shape}, "
                    f"but puzzle.yaml specifies {wanted}",
                    where=Location(self.path),
                )
            expected[output.name] = array.reshape(output.shape)
        recompute = functools.partial(self.expected, mode.name, dataset, gpu=gpu)
        return ReferenceCase(dataset, inputs, expected, {**self.names, "mode": mode.name, **gpu}, recompute)

    def inputs(self, mode: str, dataset: str, gpu: Mapping[str, int] | None = None) -> dict[str, Array]:
        """The staged buffers of a data set by name.

        Args:
            gpu: facts of the GPU, passed to a function that has such a parameter.

        Raises:
            ReferenceUnusable: the function fails.
        """
        with _failures(_fails(mode, dataset), Location(self.path)):
            made = _call(self.make_inputs, gpu or {}, mode, dataset)
            return {name: np.asarray(array) for name, array in made.items()}

    def expected(
        self, mode: str, dataset: str, inputs: Mapping[str, Array], gpu: Mapping[str, int] | None = None
    ) -> dict[str, Array]:
        """The outputs by name, as the reference computes them from these inputs. Raises as `inputs`."""
        with _failures(_fails(mode, dataset), Location(self.path)):
            made = _call(self.make_expected, gpu or {}, mode, inputs)
            return {name: np.asarray(array) for name, array in made.items()}


def _call(
    function: Callable[..., Mapping[str, Array]], gpu: Mapping[str, int], *arguments: object
) -> Mapping[str, Array]:
    """Calls a function of the reference with the facts of the GPU that it has parameters for."""
    accepted = inspect.signature(function).parameters
    return function(*arguments, **{name: value for name, value in gpu.items() if name in accepted})


def load_reference(puzzle: Puzzle) -> Reference:
    """The reference of a puzzle.

    Raises:
        ReferenceUnusable: the file is missing, cannot be imported or lacks one of its two functions.
    """
    return read_reference(puzzle.programs[0].solution.parent / "reference.py")


def read_reference(path: Path) -> Reference:
    """The reference in a file. Raises as `load_reference`."""
    if not path.is_file():
        raise ReferenceUnusable("the puzzle has no reference", where=Location(path))
    module = _import(path, f"puzzle_reference_{path.parent.name}")
    for name in ("inputs", "expected"):
        if not callable(getattr(module, name, None)):
            raise ReferenceUnusable(f"the reference has no function `{name}`", where=Location(path))
    return Reference(path, module.inputs, module.expected, vars(module))


def _import(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with _failures("the reference cannot be imported", Location(path)):
        spec.loader.exec_module(module)
    return module


def _fails(mode: str, dataset: str) -> str:
    return f"the reference fails for mode `{mode}`, data set `{dataset}`"


@contextlib.contextmanager
def _failures(what: str, where: Location) -> Iterator[None]:
    """Turns whatever a reference raises into ReferenceUnusable.

    `sys.exit()` too: it must end neither this command nor the judging of other puzzles.
    """
    try:
        yield
    except (Exception, SystemExit) as error:
        lines = [
            frame.lineno
            for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename == str(where.path)
        ]
        if isinstance(error, SyntaxError) and error.filename == str(where.path):
            lines.append(error.lineno)
        hint = None
        if isinstance(error, SystemExit):
            hint = "remove `sys.exit()`: a reference is imported, and its functions are called"
        raise ReferenceUnusable(
            what,
            where=Location(where.path, lines[-1]) if lines else where,
            why=f"{type(error).__name__}: {error}",
            hint=hint,
        ) from error
