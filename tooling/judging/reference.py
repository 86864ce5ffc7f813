"""The NumPy reference of a puzzle: solutions/pXX/reference.py.

It defines `inputs(mode, dataset)` (every staged buffer by name, initial content of outputs included) and
`expected(mode, inputs)` (the whole outputs). Where sizes depend on the GPU, a function has one or two more
parameters: `simulated` (whether it is the simulated GPU) and `lanes` (the number of threads of a warp).

It is executed in a process of its own, so that a reference that ends its process is reported, and does not
end the command that judges with it.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import math
import re
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias, cast

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from tooling.catalog.model import LANES, Mode, Output, Puzzle
from tooling.execution.channel import BufferContent
from tooling.platform.errors import Location, ToolingError
from tooling.platform.regular_files import read_text
from tooling.platform.separate_process import ProcessEnded, SeparateProcess

Array = NDArray[np.generic]

_ENDED = "remove `sys.exit()` and the like: a reference is imported, and its functions are called"
_CANNOT_BE_IMPORTED = "the reference cannot be imported"


class ReferenceUnusable(ToolingError):
    """A reference is missing, fails, or contradicts its manifest."""


Variation: TypeAlias = tuple[str, int | float, int | float, dict[str, Array]]
"""A number's name, its value, another value, and the outputs with that."""

_MOST_VARIED = 1 << 10
_DEFINED = re.compile(r"^comptime ([A-Z][A-Z0-9_]*) = ", re.MULTILINE)


class ReferenceCase(Struct, frozen=True):
    """The inputs of one data set and the expected outputs.

    Attributes:
        expected: in the shapes and types of the manifest.
        numbers: those that the reference's module names in capitals.
        sizes: of the mode, from the table `SIZES` of the reference's module.
        recompute: the outputs for other inputs of the same sizes, or ReferenceUnusable; None where there is
            no reference's function.
        variations: the outputs with other values of the numbers that the puzzle's programs define as well.
        evaluate: the value of an expression of NumPy at a location, such as the result of a known mistake, or
            ReferenceUnusable. The expression may use what the reference's module defines, `mode`, the facts
            of the GPU, every input by its own name, and all of them as `inputs`; those of floating point are
            in double precision. None where there is no reference.
    """

    dataset: str
    inputs: Mapping[str, Array]
    expected: Mapping[str, Array]
    numbers: tuple[float, ...] = ()
    sizes: tuple[float, ...] = ()
    recompute: Callable[[Mapping[str, Array]], Mapping[str, Array]] | None = None
    variations: Callable[[], Sequence[Variation]] | None = None
    evaluate: Callable[[str, Location], Array] | None = None

    def initial(self, output: Output) -> Array | None:
        """The content that was staged for an output, as numbers that its results are compared with."""
        staged = self.inputs.get(output.name)
        if staged is None or output.dtype != "bfloat16":
            return staged
        return BufferContent(output.dtype, staged.tobytes()).array()


class Reference(Struct, frozen=True):
    """The two functions of a reference, called in its process, which ends with this object."""

    path: Path
    process: SeparateProcess

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
        made = self._ask("case", _fails(mode.name, dataset), mode, dataset, gpu)
        case = cast("ReferenceCase", made)
        return replace(
            case,
            recompute=functools.partial(self.expected, mode.name, dataset, gpu=gpu),
            variations=functools.partial(self._variations, mode.name, case, gpu),
            evaluate=functools.partial(self._evaluate, mode.name, case, gpu),
        )

    def inputs(self, mode: str, dataset: str, gpu: Mapping[str, int] | None = None) -> dict[str, Array]:
        """The staged buffers of a data set by name.

        Args:
            gpu: facts of the GPU, passed to a function that has such a parameter.

        Raises:
            ReferenceUnusable: the function fails.
        """
        return cast("dict[str, Array]", self._ask("inputs", _fails(mode, dataset), mode, dataset, gpu or {}))

    def expected(
        self, mode: str, dataset: str, inputs: Mapping[str, Array], gpu: Mapping[str, int] | None = None
    ) -> dict[str, Array]:
        """The outputs by name, as the reference computes them from these inputs. Raises as `inputs`."""
        made = self._ask("expected", _fails(mode, dataset), mode, dataset, dict(inputs), gpu or {})
        return cast("dict[str, Array]", made)

    def _variations(self, mode: str, case: ReferenceCase, gpu: Mapping[str, int]) -> list[Variation]:
        made = self._ask("variations", _fails(mode, case.dataset), mode, case.dataset, case.inputs, gpu)
        return cast("list[Variation]", made)

    def _evaluate(
        self, mode: str, case: ReferenceCase, gpu: Mapping[str, int], expression: str, where: Location
    ) -> Array:
        names = {"mode": mode, **gpu}
        fails = f"`{expression}` fails for data set `{case.dataset}`"
        made = self._ask("evaluate", fails, expression, where, case.dataset, case.inputs, names)
        return cast("Array", made)

    def _ask(self, method: str, fails: str, *arguments: object) -> object:
        with _answered(fails, self.path):
            return self.process.call(method, *arguments)


def load_reference(puzzle: Puzzle) -> Reference:
    """The reference of a puzzle.

    Raises:
        ReferenceUnusable: the file is missing, cannot be imported or lacks one of its two functions.
    """
    return read_reference(reference_path(puzzle))


def reference_path(puzzle: Puzzle) -> Path:
    return puzzle.programs[0].solution.parent / "reference.py"


def read_reference(path: Path) -> Reference:
    """The reference in a file. Raises as `load_reference`."""
    with _answered(_CANNOT_BE_IMPORTED, path):
        return Reference(path, SeparateProcess(ReferenceModule, path))


@contextlib.contextmanager
def _answered(what: str, path: Path) -> Iterator[None]:
    """Raises ReferenceUnusable where the process did not answer, or failed outside the reference's functions.

    The latter is the reference's doing too: it may have changed the limits of its process.
    """
    try:
        yield
    except ReferenceUnusable:
        raise
    except ProcessEnded as ended:
        raise ReferenceUnusable(what, where=Location(path), why=str(ended), hint=_ENDED) from ended
    except Exception as error:
        raise ReferenceUnusable(what, where=Location(path), why=f"{type(error).__name__}: {error}") from error


def _fails(mode: str, dataset: str) -> str:
    return f"the reference fails for mode `{mode}`, data set `{dataset}`"


# -- in the reference's process --------------------------------------------------------------------------


class ReferenceModule:
    """The imported module of a reference. The methods take and return what those of `Reference` do.

    Raises:
        ReferenceUnusable: as `load_reference`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        module = _import(path)
        for name in ("inputs", "expected"):
            if not callable(getattr(module, name, None)):
                raise ReferenceUnusable(f"the reference has no function `{name}`", where=Location(path))
        self._make_inputs: Callable[..., Mapping[str, Array]] = module.inputs
        self._make_expected: Callable[..., Mapping[str, Array]] = module.expected
        self._names = vars(module)

    def case(self, mode: Mode, dataset: str, gpu: Mapping[str, int]) -> ReferenceCase:
        inputs = self.inputs(mode.name, dataset, gpu)
        copies = {name: array.copy() for name, array in inputs.items()}
        found = self.expected(mode.name, dataset, copies, gpu)
        expected = {}
        for output in mode.outputs:
            array = found.get(output.name)
            wanted = f"{output.dtype} {output.shape}"
            if array is None:
                raise ReferenceUnusable(
                    f"the reference does not compute the output `{output.name}` of mode `{mode.name}`",
                    where=Location(self._path),
                    why=f"puzzle.yaml specifies {wanted}",
                )
            numpy_name = "float32" if output.dtype == "bfloat16" else output.dtype
            flat = array.ndim == 1 and array.size == math.prod(output.shape)  # as in memory
            if array.dtype.name != numpy_name or not (flat or array.shape == output.shape):
                raise ReferenceUnusable(
                    f"the reference's `{output.name}` is {array.dtype.name} {array.shape}, "
                    f"but puzzle.yaml specifies {wanted}",
                    where=Location(self._path),
                )
            expected[output.name] = array.reshape(output.shape)
        return ReferenceCase(dataset, inputs, expected, self._numbers(), self._sizes(mode.name))

    def inputs(self, mode: str, dataset: str, gpu: Mapping[str, int]) -> dict[str, Array]:
        with _failures(_fails(mode, dataset), Location(self._path)):
            return _arrays(_call(self._make_inputs, gpu, mode, dataset))

    def expected(
        self, mode: str, dataset: str, inputs: Mapping[str, Array], gpu: Mapping[str, int]
    ) -> dict[str, Array]:
        # Inputs that the judge tries may make a reference divide by zero, which says nothing to a reader.
        with _failures(_fails(mode, dataset), Location(self._path)), np.errstate(all="ignore"):
            return _arrays(_call(self._make_expected, gpu, mode, inputs))

    def variations(
        self, mode: str, dataset: str, inputs: Mapping[str, Array], gpu: Mapping[str, int]
    ) -> list[Variation]:
        """The outputs with other values of the small numbers that the programs define, too.

        A value is 1 more or less, or that of another number. Where the reference fails with it, it is left
        out.
        """
        defined = {
            name for path in self._path.parent.glob("*.mojo") for name in _DEFINED.findall(read_text(path))
        }
        numbers = {
            name: cast("int | float", value)
            for name, value in self._names.items()
            if name in defined and _is_number(value) and 0 < value <= _MOST_VARIED
        }
        found: list[Variation] = []
        for name, value in numbers.items():
            others = [other for other in numbers.values() if type(other) is type(value)]
            if isinstance(value, int):
                others += [value - 1, value + 1]
            for other in dict.fromkeys(other for other in others if 0 < other != value):
                self._names[name] = other
                try:
                    copies = {key: array.copy() for key, array in inputs.items()}
                    found.append((name, value, other, self.expected(mode, dataset, copies, gpu)))
                except ReferenceUnusable:
                    pass
                finally:
                    self._names[name] = value
        return found

    def evaluate(
        self,
        expression: str,
        where: Location,
        dataset: str,
        inputs: Mapping[str, Array],
        names: Mapping[str, object],
    ) -> Array:
        return evaluated(expression, where, dataset, inputs, {**self._names, **names})

    def _numbers(self) -> tuple[float, ...]:
        found = (value for name, value in self._names.items() if name.isupper() and _is_number(value))
        return tuple(dict.fromkeys(float(value) for value in found))

    def _sizes(self, mode: str) -> tuple[float, ...]:
        by_mode = self._names.get("SIZES")
        own = by_mode.get(mode) if isinstance(by_mode, Mapping) else None
        values = own if isinstance(own, tuple) else (own,)
        return tuple(float(value) for value in values if _is_number(value))


def evaluated(
    expression: str,
    where: Location,
    dataset: str,
    inputs: Mapping[str, Array],
    names: Mapping[str, object],
) -> Array:
    """The value of an expression, as `ReferenceCase.evaluate` describes it.

    Raises:
        ReferenceUnusable: it fails.
    """
    wide = {
        name: array.astype(np.float64 if array.dtype.kind == "f" else array.dtype)
        for name, array in inputs.items()
    }
    with _failures(f"`{expression}` fails for data set `{dataset}`", where):
        return np.asarray(eval(expression, {**names, **wide, "inputs": wide}))


def _call(
    function: Callable[..., Mapping[str, Array]], gpu: Mapping[str, int], *arguments: object
) -> Mapping[str, Array]:
    """Calls a function of the reference with the facts of the GPU that it has parameters for."""
    accepted = inspect.signature(function).parameters
    return function(*arguments, **{name: value for name, value in gpu.items() if name in accepted})


def _arrays(made: Mapping[str, Any]) -> dict[str, Array]:
    arrays = {name: np.asarray(array) for name, array in made.items()}
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise TypeError(f"`{name}` contains Python objects, not numbers")
    return arrays


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _import(path: Path) -> ModuleType:
    if not path.exists():
        raise ReferenceUnusable("the puzzle has no reference", where=Location(path))
    module = ModuleType(f"puzzle_reference_{path.parent.name}")
    module.__file__ = str(path)
    with _failures(_CANNOT_BE_IMPORTED, Location(path)):
        exec(compile(read_text(path), path, "exec", dont_inherit=True), vars(module))
    return module


@contextlib.contextmanager
def _failures(what: str, where: Location) -> Iterator[None]:
    """Turns whatever a reference raises into ReferenceUnusable, `sys.exit()` and an interrupt too."""
    try:
        yield
    except BaseException as error:
        lines = [
            frame.lineno
            for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename == str(where.path)
        ]
        if isinstance(error, SyntaxError) and error.filename == str(where.path):
            lines.append(error.lineno)
        raise ReferenceUnusable(
            what,
            where=Location(where.path, lines[-1]) if lines else where,
            why=f"{type(error).__name__}: {error}",
            hint=None if isinstance(error, Exception) else _ENDED,
        ) from error
