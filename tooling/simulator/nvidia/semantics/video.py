"""Video instructions: sums, differences, averages, products and comparisons of words, or of their parts.

Source: PTX ISA 9.7.17. The assembler replaces them by several instructions on Hopper. Not here are the
optional second operation and the forms that keep a part of the destination.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tooling.simulator.numerics.rounding import S64, U32, U64
from tooling.simulator.nvidia.semantics.registry import Array, Operation, makes

_KINDS = ("u32", "s32")
_OPERATIONS: dict[str, Callable[[Array, Array], Array]] = {
    "vadd": np.add, "vsub": np.subtract, "vmin": np.minimum, "vmax": np.maximum,
    "vabsdiff": lambda a, b: np.abs(a - b),
}  # fmt: skip
_OF_PARTS: dict[str, Callable[[Array, Array], Array]] = {
    **_OPERATIONS,
    "vavrg": lambda a, b: (a + b + (a + b >= 0)) >> 1,  # halves are rounded away from zero
}
_SCALES = {"shr7": 7, "shr15": 15}
_COMPARISONS: dict[str, Callable[[Array, Array], Array]] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal,
}  # fmt: skip
_SELECTED = {"b": 8, "h": 16}


def _field(value: Array, low: int, width: int, *, signed: bool) -> Array:
    """Bits of words as integers of 64 bits."""
    bits = value.astype(S64) >> low & (1 << width) - 1
    return bits - (bits >> width - 1 << width) if signed else bits


def _saturated(value: Array, width: int, *, signed: bool) -> Array:
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if signed else (0, (1 << width) - 1)
    return value.clip(low, high)


def _word(value: Array) -> Array:
    return (value & 0xFFFFFFFF).astype(U32)


def _split(modifiers: tuple[str, ...]) -> tuple[list[str], dict[int, tuple[int, int]]]:
    """The modifiers, and by operand the first bit and the width of the part that a selector names."""
    plain = [modifier for modifier in modifiers if not modifier[0].isdigit()]
    selected = {}
    for modifier in modifiers:
        if modifier[0].isdigit():
            position, _, selector = modifier.partition(".")
            width = _SELECTED[selector[0]]
            selected[int(position)] = (width * int(selector[1]), width)
    return plain, selected


def _reader(kind: str, part: tuple[int, int] | None) -> Callable[[Array], Array]:
    low, width = part or (0, 32)
    return lambda value: _field(value, low, width, signed=kind == "s32")


def _typed(plain: Sequence[str], count: int) -> tuple[list[str], list[str]] | None:
    """The first `count` modifiers, which are types, and the others; None for another form."""
    kinds, rest = list(plain[:count]), list(plain[count:])
    return (kinds, rest) if len(kinds) == count and all(kind in _KINDS for kind in kinds) else None


@makes("vadd", "vsub", "vmin", "vmax", "vabsdiff")
def _combination(opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    plain, parts = _split(modifiers)
    typed = _typed(plain, 3)
    if typed is None or typed[1] not in ([], ["sat"]):
        return None
    (result, *kinds), saturates = typed
    first, second = (_reader(kind, parts.get(number)) for number, kind in enumerate(kinds, start=1))
    combine = _OPERATIONS[opcode]

    def function(a: Array, b: Array) -> Array:
        value = combine(first(a), second(b))
        return _word(_saturated(value, 32, signed=result == "s32") if saturates else value)

    return Operation(function, U32, (U32, U32), "9.7.17.1")


@makes("vmad")
def _multiply_add(_opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    """a * b + c, and 1 with `.po`, shifted right. It is signed if a factor is, whatever the result's type."""
    plain, parts = _split(modifiers)
    typed = _typed(plain, 3)
    if typed is None:
        return None
    (_, *kinds), rest = typed
    scales = [_SCALES[modifier] for modifier in rest if modifier in _SCALES]
    if len(set(rest)) < len(rest) or len(scales) > 1 or not {*rest} <= {"sat", "po", *_SCALES}:
        return None
    signed = "s32" in kinds
    wide = S64 if signed else U64
    shift = wide.type(sum(scales))
    one = wide.type("po" in rest)
    first, second = (_reader(kind, parts.get(number)) for number, kind in enumerate(kinds, start=1))
    addend = _reader("s32" if signed else "u32", None)

    def function(a: Array, b: Array, c: Array) -> Array:
        total = first(a).astype(wide) * second(b).astype(wide) + addend(c).astype(wide) + one
        scaled = total >> shift
        return _word(_saturated(scaled, 32, signed=signed) if "sat" in rest else scaled)

    return Operation(function, U32, (U32, U32, U32), "9.7.17.3")


@makes("vshl", "vshr")
def _shift(opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    plain, parts = _split(modifiers)
    typed = _typed(plain, 3)
    if typed is None or typed[0][2] != "u32":
        return None
    (result, kind, by), (*saturates, mode) = typed[0], typed[1] or ("",)
    if mode not in ("clamp", "wrap") or saturates not in ([], ["sat"]):
        return None
    first, second = _reader(kind, parts.get(1)), _reader(by, parts.get(2))

    def function(a: Array, b: Array) -> Array:
        distance = second(b) & 31 if mode == "wrap" else np.minimum(second(b), 32)
        value = first(a)
        if opcode == "vshl":
            value = np.where(distance == 32, np.sign(value), value) << distance  # fits in 64 bits
        else:
            value = value >> distance
        return _word(_saturated(value, 32, signed=result == "s32") if saturates else value)

    return Operation(function, U32, (U32, U32), "9.7.17.2")


@makes("vset")
def _comparison(_opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    plain, parts = _split(modifiers)
    typed = _typed(plain, 2)
    if typed is None or len(typed[1]) != 1 or typed[1][0] not in _COMPARISONS:
        return None
    first, second = (_reader(kind, parts.get(number)) for number, kind in enumerate(typed[0], start=1))
    compare = _COMPARISONS[typed[1][0]]
    return Operation(lambda a, b: compare(first(a), second(b)).astype(U32), U32, (U32, U32), "9.7.17.4")


def _of_parts(width: int, name: str) -> None:
    """The instruction on all halves or bytes of a word; its third operand is for parts that are kept."""

    @makes(f"{name}{32 // width}")
    def _each(_opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
        typed = _typed(modifiers, 3)
        if typed is None or typed[1] not in ([], ["sat"]):
            return None
        (result, *kinds), saturates = typed
        combine = _OF_PARTS[name]

        def part(a: Array, b: Array, low: int) -> Array:
            left, right = (
                _field(value, low, width, signed=kind == "s32")
                for value, kind in zip((a, b), kinds, strict=True)
            )
            value = combine(left, right)
            return _saturated(value, width, signed=result == "s32") if saturates else value

        return Operation(_assembled(part, width), U32, (U32, U32, U32), "9.7.17.5")


def _assembled(
    part: Callable[[Array, Array, int], Array], width: int
) -> Callable[[Array, Array, Array], Array]:
    def function(a: Array, b: Array, _kept: Array) -> Array:
        total = np.zeros(1, S64)
        for low in range(0, 32, width):
            total = total | (part(a, b, low) & (1 << width) - 1) << low
        return _word(total)

    return function


def _compared_parts(width: int) -> None:
    @makes(f"vset{32 // width}")
    def _each(_opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
        typed = _typed(modifiers, 2)
        if typed is None or len(typed[1]) != 1 or typed[1][0] not in _COMPARISONS:
            return None
        compare = _COMPARISONS[typed[1][0]]

        def part(a: Array, b: Array, low: int) -> Array:
            left, right = (
                _field(value, low, width, signed=kind == "s32")
                for value, kind in zip((a, b), typed[0], strict=True)
            )
            return compare(left, right).astype(S64)

        return Operation(_assembled(part, width), U32, (U32, U32, U32), "9.7.17.6")


for _width in (16, 8):
    _compared_parts(_width)
    for _name in _OF_PARTS:
        _of_parts(_width, _name)
