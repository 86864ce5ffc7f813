"""The registry of instruction semantics: opcode and modifiers to a function over arrays.

An `Operation` is pure and computes all lanes at once. Instructions that access memory, other lanes or the
program counter are in `instructions`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tooling.simulator.numerics.rounding import F16, F32, F64, PRED, S8, S16, S32, S64, U8, U16, U32, U64

Array = NDArray[Any]
Function = Callable[..., Array]
PairFunction = Callable[..., tuple[Array, Array]]

DTYPES: dict[str, np.dtype[Any]] = {
    "pred": PRED,
    "b8": U8, "u8": U8, "s8": S8,
    "b16": U16, "u16": U16, "s16": S16, "f16": F16, "bf16": U16,
    "b32": U32, "u32": U32, "s32": S32, "f32": F32, "f16x2": U32, "bf16x2": U32, "tf32": U32,
    "b64": U64, "u64": U64, "s64": S64, "f64": F64,
}  # fmt: skip
"""The array type that holds values of a PTX type."""

WIDER = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}
"""Result type of `.wide`."""


class Operation(Struct, frozen=True):
    """The meaning of one instruction form.

    Attributes:
        function: takes one array per source operand, returns the result.
        result: array type of the destination.
        arguments: array type of each source operand.
        section: of the PTX ISA 8.5.
        approximate: hardware returns an approximation that is not known bit for bit; the function, the
            correctly rounded value.
        pair: as `function`, but returns both results of `setp p|q` or `lop3 d|p`; None where one is possible.
    """

    function: Function
    result: np.dtype[Any]
    arguments: tuple[np.dtype[Any], ...]
    section: str
    approximate: bool = False
    pair: PairFunction | None = None


Maker = Callable[[tuple[str, ...]], "Operation | None"]
"""Makes the operation of one opcode with these modifiers, or returns None for an unknown form."""

MAKERS: dict[str, Maker] = {}


def makes(*opcodes: str) -> Callable[[Callable[[str, tuple[str, ...]], Operation | None]], Any]:
    """Register a maker function for these opcodes."""

    def enter(maker: Callable[[str, tuple[str, ...]], Operation | None]) -> Any:
        for opcode in opcodes:
            MAKERS[opcode] = lambda modifiers, opcode=opcode: maker(opcode, modifiers)  # type: ignore[misc]
        return maker

    return enter
