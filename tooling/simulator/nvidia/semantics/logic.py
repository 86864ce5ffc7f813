"""Bits, comparisons and selection (PTX ISA 9.7.5 to 9.7.8)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tooling.simulator.numerics.rounding import PRED, U8, U16, U32, U64, bf16_to_f32, flush16, flush32
from tooling.simulator.nvidia.semantics.integer import INTEGER_TYPES
from tooling.simulator.nvidia.semantics.registry import DTYPES, Array, Function, Operation, makes

_BITWISE: dict[str, Function] = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
_BIT_TYPES = ("pred", "b16", "b32", "b64")


@makes("and", "or", "xor", "not", "cnot")
def _bitwise(opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    if len(modifiers) != 1 or modifiers[0] not in _BIT_TYPES:
        return None
    dtype = DTYPES[modifiers[0]]
    if opcode == "not":
        return Operation(np.invert, dtype, (dtype,), "9.7.8.5")
    if opcode == "cnot":
        return Operation(lambda a: (a == 0).astype(dtype), dtype, (dtype,), "9.7.8.6")
    return Operation(_BITWISE[opcode], dtype, (dtype, dtype), "9.7.8.1")


@makes("shl", "shr")
def _shift(opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    """Shift amounts above the width are clamped to it, which is also how NumPy shifts."""
    if len(modifiers) != 1 or modifiers[0][1:] not in ("16", "32", "64"):
        return None
    if modifiers[0][0] not in ("b" if opcode == "shl" else "bus"):
        return None
    dtype = DTYPES[modifiers[0]]
    if opcode == "shl":
        return Operation(lambda a, n: a << _amount(n, a), dtype, (dtype, U32), "9.7.8.8")
    return Operation(lambda a, n: a >> _amount(n, a), dtype, (dtype, U32), "9.7.8.9")


def _amount(count: Array, value: Array) -> Array:
    """The shift amount in the type of the value, clamped to 127."""
    return np.minimum(count, np.uint32(127)).astype(value.dtype)


@makes("shf")
def _funnel(_opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    if len(modifiers) != 3 or modifiers[0] not in ("l", "r") or modifiers[2] != "b32":
        return None
    left, mode = modifiers[0] == "l", modifiers[1]
    if mode not in ("wrap", "clamp"):
        return None

    def funnel(low: Array, high: Array, count: Array) -> Array:
        n = (count & np.uint32(31) if mode == "wrap" else np.minimum(count, np.uint32(32))).astype(U64)
        both = (high.astype(U64) << np.uint64(32)) | low
        if left:
            # (both << n) >> 32 needs no more than 64 bits for any n up to 32.
            return ((both << n) >> np.uint64(32)).astype(U32)
        return (both >> n).astype(U32)

    return Operation(funnel, U32, (U32, U32, U32), "9.7.8.7")


@makes("lop3")
def _lop3(_opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    *combined, kind = modifiers
    if kind != "b32" or combined not in ([], ["and"], ["or"]):
        return None

    def lop3(a: Array, b: Array, c: Array, table: Array) -> Array:
        result = np.zeros(1, U32)
        for row in range(8):
            if int(table[0]) >> row & 1:
                term = (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
                result = result | term
        return result

    if not combined:
        return Operation(lop3, U32, (U32, U32, U32, U32), "9.7.8.6")
    combine = _BITWISE[combined[0]]

    def with_predicate(a: Array, b: Array, c: Array, table: Array, q: Array) -> tuple[Array, Array]:
        result = lop3(a, b, c, table)
        return result, combine(result != 0, q)

    def alone(*operands: Array) -> Array:
        return with_predicate(*operands)[0]

    return Operation(alone, U32, (U32, U32, U32, U32, PRED), "9.7.8.6", pair=with_predicate)


_PERMUTATIONS = ("", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16")
"""The modes of `prmt`, the first one without a name (PTX ISA 9.7.9.7)."""


@makes("prmt")
def _permute(_opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    mode = modifiers[1] if len(modifiers) > 1 else ""
    if modifiers[0] != "b32" or len(modifiers) > 2 or mode not in _PERMUTATIONS:
        return None

    def permute(a: Array, b: Array, c: Array) -> Array:
        a, b, c = np.broadcast_arrays(a, b, c)
        octets = np.stack([a, b], axis=1).astype(U32).view(U8)
        lanes = np.arange(len(a))
        result = np.zeros(len(a), U32)
        for byte in range(4):
            selector = _selector(mode, byte, c)
            chosen = octets[lanes, selector & 7]
            if not mode:
                sign = ((chosen.astype(np.int8) >> 7).view(U8)).astype(U8)
                chosen = np.where(selector & 8, sign, chosen)
            result |= chosen.astype(U32) << np.uint32(8 * byte)
        return result

    return Operation(permute, U32, (U32, U32, U32), "9.7.9.7")


def _selector(mode: str, byte: int, control: Array) -> Array:
    """The index of the source byte (0 to 7) that is copied to `byte` (PTX ISA 9.7.9.7, table of modes)."""
    n = (control & np.uint32(3)).astype(np.intp)
    match mode:
        case "":
            return ((control >> np.uint32(4 * byte)) & np.uint32(15)).astype(np.intp)
        case "f4e":
            return n + byte
        case "b4e":
            return (n - byte) % 8
        case "rc8":
            return n
        case "ecl":
            return np.maximum(n, byte)
        case "ecr":
            return np.minimum(n, byte)
        case _:
            return (n & 1) * 2 + (byte & 1)


def _unordered(compare: Callable[[Array, Array], Array]) -> Function:
    return lambda a, b: compare(a, b) | np.isnan(a) | np.isnan(b)


_COMPARE: dict[str, Function] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal, "lo": np.less, "ls": np.less_equal, "hi": np.greater, "hs": np.greater_equal,
}  # fmt: skip
_COMPARE_FLOAT: dict[str, Function] = {
    "eq": np.equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "ne": lambda a, b: (a != b) & ~np.isnan(a) & ~np.isnan(b),
    "equ": _unordered(np.equal),
    "neu": np.not_equal,
    "ltu": _unordered(np.less),
    "leu": _unordered(np.less_equal),
    "gtu": _unordered(np.greater),
    "geu": _unordered(np.greater_equal),
    "num": lambda a, b: ~(np.isnan(a) | np.isnan(b)),
    "nan": lambda a, b: np.isnan(a) | np.isnan(b),
}


def _comparison(modifiers: tuple[str, ...]) -> Function | None:
    """The comparison that `modifiers` specify: operator first, type last, `ftz` allowed once (f32 and f16).

    Bits are compared for equality alone, and `lo`, `ls`, `hi` and `hs` compare unsigned numbers.
    """
    operator, kind = modifiers[0], modifiers[-1]
    if modifiers.count("ftz") > (kind in ("f16", "f32")):
        return None
    if kind in ("b16", "b32", "b64"):
        return _COMPARE[operator] if operator in ("eq", "ne") else None
    if kind in INTEGER_TYPES:
        return None if operator in ("lo", "ls", "hi", "hs") and kind[0] == "s" else _COMPARE.get(operator)
    compare = _COMPARE_FLOAT.get(operator)
    if compare is None or kind not in ("f16", "bf16", "f32", "f64"):
        return None
    if kind == "bf16":
        return lambda a, b: compare(bf16_to_f32(a), bf16_to_f32(b))
    if "ftz" in modifiers:
        flush = flush32 if kind == "f32" else flush16
        return lambda a, b: compare(flush(a), flush(b))
    return compare


_SET_RESULTS = ("u32", "s32", "f32", "f16", "bf16")
_SET_RESULTS_OF_HALVES = {
    "f16": ("u16", "s16", "u32", "s32", "f16", "bf16"),
    "bf16": ("u16", "s16", "u32", "s32", "bf16"),
    "f16x2": ("u32", "s32", "f16x2"),
    "bf16x2": ("u32", "s32", "bf16x2"),
}
"""Types of the results of `set`, and of those that compare f16 or bf16 (PTX ISA 9.7.6.1, 9.7.7.1)."""


_ONES = {"f32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80, "f16x2": 0x3C00, "bf16x2": 0x3F80}
"""Bits of 1.0, which `set` writes for true if the result is a float; integers get all ones."""


def _paired_set(opcode: str, modifiers: tuple[str, ...], result_type: str) -> Operation | None:
    """`setp` and `set` of `.f16x2` and `.bf16x2`: low halves give p (or the low half), high halves q."""
    kind = modifiers[-1]
    compare = _comparison((*modifiers[:-1], kind[:-2]))
    combine = [_BITWISE[m] for m in modifiers[1:-1] if m in _BITWISE]
    if compare is None or any(m != "ftz" and m not in _BITWISE for m in modifiers[1:-1]) or len(combine) > 1:
        return None
    half_type = DTYPES[kind[:-2]]

    def both(a: Array, b: Array, *more: Array) -> tuple[Array, Array]:
        halves = [
            compare(*((x >> np.uint32(shift)).astype(U16).view(half_type) for x in (a, b)))
            for shift in (0, 16)
        ]
        if more:
            halves = [combine[0](half, more[0]) for half in halves]
        return halves[0], halves[1]

    arguments = (U32, U32, PRED) if combine else (U32, U32)
    if opcode == "setp":
        return Operation(lambda *sources: both(*sources)[0], PRED, arguments, "9.7.7.2", pair=both)
    one = np.uint32(_ONES.get(result_type, 0xFFFF))

    def join(*sources: Array) -> Array:
        low, high = both(*sources)
        return np.where(low, one, np.uint32(0)) | np.where(high, one << np.uint32(16), np.uint32(0))

    return Operation(join, U32, arguments, "9.7.7.1")


@makes("setp", "set")
def _set(opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    """`setp.op[.bool][.ftz].type p[|q], a, b[, c]`: q is `bool(!(a op b), c)`, or the negation of p."""
    if len(modifiers) < 2:
        return None
    result_type = "pred"
    if opcode == "set":
        *rest, result_type, source_type = modifiers
        modifiers = (*rest, source_type)
    kind = modifiers[-1]
    if opcode == "set" and result_type not in _SET_RESULTS_OF_HALVES.get(kind, _SET_RESULTS):
        return None
    if kind in ("f16x2", "bf16x2"):
        return _paired_set(opcode, modifiers, result_type)
    combine = [m for m in modifiers[1:-1] if m in _BITWISE]
    known = all(m in _BITWISE or m == "ftz" for m in modifiers[1:-1])
    compare = _comparison(modifiers)
    if compare is None or not known or len(combine) > 1:
        return None
    dtype = DTYPES[modifiers[-1]]
    if opcode == "set":
        result = np.dtype(f"u{DTYPES[result_type].itemsize}")
        one = result.type(_ONES.get(result_type, (1 << 8 * result.itemsize) - 1))
        if combine:
            join = _BITWISE[combine[0]]
            return Operation(
                lambda a, b, c: np.where(join(compare(a, b), c), one, result.type(0)),
                result, (dtype, dtype, PRED), "9.7.6.1",
            )  # fmt: skip
        return Operation(
            lambda a, b: np.where(compare(a, b), one, result.type(0)), result, (dtype, dtype), "9.7.6.1"
        )
    if combine:
        join = _BITWISE[combine[0]]

        def joined(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
            first = compare(a, b)
            return join(first, c), join(~first, c)

        single: Function = lambda a, b, c: join(compare(a, b), c)  # noqa: E731
        return Operation(single, PRED, (dtype, dtype, PRED), "9.7.6.2", pair=joined)

    def negated(a: Array, b: Array) -> tuple[Array, Array]:
        first = compare(a, b)
        return first, ~first

    return Operation(compare, PRED, (dtype, dtype), "9.7.6.2", pair=negated)


_SELECTED = ("b16", "b32", "b64", *INTEGER_TYPES, "f32", "f64")
"""The types of `selp` and `slct`, and with `pred` of `mov` (PTX ISA 9.7.6.3, 9.7.6.4, 9.7.9.2)."""


@makes("selp")
def _select(_opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    if len(modifiers) != 1 or modifiers[0] not in _SELECTED:
        return None
    dtype = DTYPES[modifiers[0]]
    return Operation(_choose, dtype, (dtype, dtype, PRED), "9.7.6.3")


def _choose(a: Array, b: Array, condition: Array) -> Array:
    return np.where(condition, a, b)


@makes("slct")
def _slct(_opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    """`slct.type.s32` and `slct[.ftz].type.f32`: a where c >= 0, else b; `.ftz` flushes c."""
    flags, kinds = modifiers[:-2], modifiers[-2:]
    if len(kinds) != 2 or kinds[0] not in _SELECTED or kinds[1] not in ("s32", "f32"):
        return None
    if flags not in ((), ("ftz",)) or (flags and kinds[1] != "f32"):
        return None
    dtype = DTYPES[kinds[0]]
    arguments = (dtype, dtype, DTYPES[kinds[1]])
    if flags:
        return Operation(lambda a, b, c: _choose(a, b, flush32(c) >= 0), dtype, arguments, "9.7.6.4")
    return Operation(lambda a, b, c: _choose(a, b, c >= 0), dtype, arguments, "9.7.6.4")


@makes("mov")
def _move(_opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    if len(modifiers) != 1 or modifiers[0] not in ("pred", *_SELECTED):
        return None
    dtype = DTYPES[modifiers[0]]
    return Operation(lambda a: a, dtype, (dtype,), "9.7.9.2")
