"""The table of operations: mnemonic, types of results and arguments, function, and its source.

A row is entered as `"u32 scc <- u32 u32"`: the results, an arrow, the arguments. Besides types:

    scc    the scalar condition code, a flag that no operand names
    vcc    the mask in VCC, which no operand names
    mask   a lane mask: VCC in the short encodings, an operand in the long ones
    acc    the old value of the destination, as the last argument

A function takes one array per argument and returns one per result, of these types. Arrays have one entry
for each lane (vector) or wavefront (scalar), or a single one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

Array = NDArray[Any]

DTYPES: dict[str, np.dtype[Any]] = {
    "b8": np.dtype(np.uint8),
    "b16": np.dtype(np.uint16), "u16": np.dtype(np.uint16), "i16": np.dtype(np.int16),
    "f16": np.dtype(np.float16), "bf16": np.dtype(np.uint16),
    "b32": np.dtype(np.uint32), "u32": np.dtype(np.uint32), "i32": np.dtype(np.int32),
    "f32": np.dtype(np.float32), "pk16": np.dtype(np.uint32), "pkb16": np.dtype(np.uint32),
    "b64": np.dtype(np.uint64), "u64": np.dtype(np.uint64), "i64": np.dtype(np.int64),
    "f64": np.dtype(np.float64), "pk32": np.dtype(np.uint64),
}  # fmt: skip
"""The array types; `pk16` (of float16), `pkb16` and `pk32` are two halves in one register or pair."""

FLAGS = ("scc", "vcc", "mask", "acc")


class Operation(Struct, frozen=True):
    """A row of the table.

    Attributes:
        results, arguments: types, and the words above.
        source: the section of the vendor's manual.
        first: computes the first result alone, for instructions whose second one is not read; None if
            that saves nothing.
        clamped: the function whose result is limited to the range of its integer type instead of wrapping
            around; None if `clamp` does not do so, as for floats.
    """

    name: str
    results: tuple[str, ...]
    arguments: tuple[str, ...]
    function: Callable[..., Any]
    source: str
    first: Callable[..., Array] | None = None
    clamped: Callable[..., Array] | None = None

    @property
    def operand_types(self) -> tuple[str, ...]:
        """Types of the arguments that operands name."""
        return tuple(kind for kind in self.arguments if kind not in ("scc", "vcc", "acc"))


OPERATIONS: dict[str, Operation] = {}


def enter(source: str, form: str, **functions: Callable[..., Any]) -> None:
    """Enter operations of one form: mnemonic to function."""
    results, _, arguments = form.partition("<-")
    for name, function in functions.items():
        assert name not in OPERATIONS, name
        OPERATIONS[name] = Operation(name, tuple(results.split()), tuple(arguments.split()), function, source)


def enter_first(**functions: Callable[..., Array]) -> None:
    """Enter functions that compute only the first result of operations of the table."""
    for name, function in functions.items():
        OPERATIONS[name] = replace(OPERATIONS[name], first=function)


def limited_to(exact: Callable[..., Array], kind: str) -> Callable[..., Array]:
    """An exact function of int64 numbers with its result limited to the range of an integer type."""
    dtype = DTYPES[kind]
    limits = np.iinfo(dtype)
    return lambda *arguments: np.clip(exact(*arguments), limits.min, limits.max).astype(dtype)


def enter_clamped(**functions: Callable[..., Array]) -> None:
    """Enter the exact functions (of int64 numbers) that `clamp` limits to the range of the result's type."""
    for name, function in functions.items():
        operation = OPERATIONS[name]
        kind = operation.results[0]

        def widened(*arguments: Array, function: Callable[..., Array] = function) -> Array:
            return function(*(argument.astype(np.int64) for argument in arguments))

        OPERATIONS[name] = replace(operation, clamped=limited_to(widened, kind))


def dwords(kind: str) -> int:
    """Registers that a value of this type takes."""
    return 1 if kind in FLAGS else max(1, DTYPES[kind].itemsize // 4)
