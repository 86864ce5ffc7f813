"""Integer arithmetic (PTX ISA 9.7.1 and 9.7.2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from tooling.simulator.numerics.rounding import S32, S64, U32, U64
from tooling.simulator.nvidia.semantics.bit_fields import pair_of_integers
from tooling.simulator.nvidia.semantics.registry import DTYPES, WIDER, Array, Function, Operation, makes

INTEGER_TYPES = ("u16", "s16", "u32", "s32", "u64", "s64")
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


def truncated_quotient(a: Array, b: Array) -> Array:
    """a / b, rounded towards zero; division by zero gives all ones, as in hardware."""
    safe = np.where(b == 0, b.dtype.type(1), b)
    quotient = np.floor_divide(a, safe)
    if a.dtype.kind == "i":
        inexact = a - quotient * safe != 0
        quotient = quotient + (inexact & ((a < 0) != (safe < 0)))
    return np.asarray(np.where(b == 0, ~b.dtype.type(0), quotient), a.dtype)


def truncated_remainder(a: Array, b: Array) -> Array:
    """a - (a / b) * b; division by zero gives all ones, as in hardware."""
    return np.asarray(np.where(b == 0, ~b.dtype.type(0), a - truncated_quotient(a, b) * b), a.dtype)


def high_product(a: Array, b: Array) -> Array:
    """The upper half of the double-width product."""
    if a.dtype.itemsize < 8:
        bits = 8 * a.dtype.itemsize
        wide = S64 if a.dtype.kind == "i" else U64
        return np.asarray((a.astype(wide) * b.astype(wide)) >> wide.type(bits), a.dtype)
    ua, ub = a.view(U64), b.view(U64)
    a0, a1, b0, b1 = ua & _LOW, ua >> _HALF, ub & _LOW, ub >> _HALF
    middle = a1 * b0 + ((a0 * b0) >> _HALF)
    other = a0 * b1 + (middle & _LOW)
    high = a1 * b1 + (middle >> _HALF) + (other >> _HALF)
    if a.dtype.kind == "i":
        high = high - np.where(a < 0, ub, np.uint64(0)) - np.where(b < 0, ua, np.uint64(0))
    return np.asarray(high.view(a.dtype))


def saturated_add(a: Array, b: Array) -> Array:
    """Saturating s32 addition."""
    return np.clip(a.astype(S64) + b.astype(S64), -(2**31), 2**31 - 1).astype(S32)


def saturated_sub(a: Array, b: Array) -> Array:
    """Saturating s32 subtraction."""
    return np.clip(a.astype(S64) - b.astype(S64), -(2**31), 2**31 - 1).astype(S32)


_BINARY: dict[str, tuple[Function, str]] = {
    "add": (np.add, "9.7.1.1"),
    "sub": (np.subtract, "9.7.1.2"),
    "div": (truncated_quotient, "9.7.1.8"),
    "rem": (truncated_remainder, "9.7.1.9"),
    "min": (np.minimum, "9.7.1.12"),
    "max": (np.maximum, "9.7.1.13"),
}


@makes(*_BINARY)
def _binary(opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    if modifiers and (modifiers[-1] in ("u16x2", "s16x2") or modifiers == ("relu", "s32")):
        return pair_of_integers(opcode, modifiers)
    if not modifiers or modifiers[-1] not in INTEGER_TYPES:
        return FLOAT_MAKERS[opcode](opcode, modifiers) if opcode in FLOAT_MAKERS else None
    dtype = DTYPES[modifiers[-1]]
    function, section = _BINARY[opcode]
    if modifiers == ("sat", "s32") and opcode in ("add", "sub"):
        function = saturated_add if opcode == "add" else saturated_sub
    elif len(modifiers) != 1:
        return None
    return Operation(function, dtype, (dtype, dtype), section)


FLOAT_MAKERS: dict[str, Any] = {}
"""Makers for opcodes with integer and floating-point forms; `floating_point` registers its own here."""


@makes("mul", "mad")
def _product(opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    if modifiers[-1] not in INTEGER_TYPES:
        return FLOAT_MAKERS[opcode](opcode, modifiers) if opcode in FLOAT_MAKERS else None
    if opcode == "mad" and modifiers == ("hi", "sat", "s32"):
        return Operation(
            lambda a, b, c: saturated_add(high_product(a, b), c), S32, (S32, S32, S32), "9.7.1.4"
        )
    if len(modifiers) != 2:
        return None
    half, kind = modifiers
    dtype = DTYPES[kind]
    result = dtype
    multiply: Function
    if half == "lo":
        multiply = np.multiply
    elif half == "hi":
        multiply = high_product
    elif half == "wide" and kind in WIDER:
        result = wide = DTYPES[WIDER[kind]]

        def multiply(a: Array, b: Array) -> Array:
            return a.astype(wide) * b

    else:
        return None
    if opcode == "mul":
        return Operation(multiply, result, (dtype, dtype), "9.7.1.3")

    def mad(a: Array, b: Array, c: Array) -> Array:
        return np.add(multiply(a, b), c)

    return Operation(mad, result, (dtype, dtype, result), "9.7.1.4")


@makes("mul24", "mad24")
def _product24(opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    saturates = (opcode, modifiers) == ("mad24", ("hi", "sat", "s32"))
    if saturates:
        modifiers = ("hi", "s32")
    if len(modifiers) != 2 or modifiers[0] not in ("lo", "hi") or modifiers[1] not in ("u32", "s32"):
        return None
    dtype = DTYPES[modifiers[1]]
    shift = np.int64(0 if modifiers[0] == "lo" else 16)

    def narrow(a: Array) -> Array:
        return np.asarray((a << dtype.type(8)) >> dtype.type(8), S64)

    def multiply(a: Array, b: Array) -> Array:
        return ((narrow(a) * narrow(b)) >> shift).astype(dtype)

    if opcode == "mul24":
        return Operation(multiply, dtype, (dtype, dtype), "9.7.1.5")
    add = saturated_add if saturates else np.add
    return Operation(lambda a, b, c: add(multiply(a, b), c), dtype, (dtype,) * 3, "9.7.1.6")


@makes("neg", "abs")
def _sign(opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    if modifiers[-1] not in INTEGER_TYPES:
        return FLOAT_MAKERS[opcode](opcode, modifiers) if opcode in FLOAT_MAKERS else None
    if len(modifiers) != 1 or modifiers[0][0] != "s":
        return None
    dtype = DTYPES[modifiers[0]]
    return Operation(np.negative if opcode == "neg" else np.abs, dtype, (dtype,), "9.7.1.11")


@makes("sad")
def _sad(_opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    if len(modifiers) != 1 or modifiers[0] not in INTEGER_TYPES:
        return None
    dtype = DTYPES[modifiers[0]]
    return Operation(
        lambda a, b, c: c + np.where(a < b, b - a, a - b).astype(dtype), dtype, (dtype,) * 3, "9.7.1.7"
    )


def leading_zeros(a: Array) -> Array:
    """clz of uint32 or uint64, as uint32."""
    bits = 8 * a.dtype.itemsize
    smeared = a.copy()
    step = 1
    while step < bits:
        smeared |= smeared >> a.dtype.type(step)
        step *= 2
    return np.uint32(bits) - np.bitwise_count(smeared).astype(U32)


def reversed_bits(a: Array) -> Array:
    """brev: bit 0 becomes the highest bit."""
    octets = np.ascontiguousarray(a).view(np.uint8).reshape(-1, a.dtype.itemsize)[:, ::-1]
    mirrored = np.packbits(np.unpackbits(octets, axis=1), axis=1, bitorder="little")
    return np.ascontiguousarray(mirrored).view(a.dtype).ravel()


@makes("popc", "clz", "brev")
def _count(opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    if modifiers not in (("b32",), ("b64",)):
        return None
    dtype = DTYPES[modifiers[0]]
    if opcode == "popc":
        return Operation(lambda a: np.bitwise_count(a).astype(U32), U32, (dtype,), "9.7.1.14")
    if opcode == "clz":
        return Operation(leading_zeros, U32, (dtype,), "9.7.1.15")
    return Operation(reversed_bits, dtype, (dtype,), "9.7.1.18")


@makes("bfind")
def _bfind(_opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    kind = modifiers[-1]
    if kind not in ("u32", "s32", "u64", "s64") or modifiers[:-1] not in ((), ("shiftamt",)):
        return None
    dtype = DTYPES[kind]
    unsigned = U32 if dtype.itemsize == 4 else U64
    highest = np.uint32(8 * dtype.itemsize - 1)

    def find(a: Array) -> Array:
        bits = a.view(unsigned)
        if dtype.kind == "i":
            bits = np.where(a < 0, ~bits, bits)
        zeros = leading_zeros(bits)
        position = zeros if len(modifiers) == 2 else highest - zeros
        return np.where(bits == 0, np.uint32(0xFFFFFFFF), position)

    return Operation(find, U32, (dtype,), "9.7.1.16")


@makes("bfe")
def _bfe(_opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    if len(modifiers) != 1 or modifiers[0] not in ("u32", "s32", "u64", "s64"):
        return None
    dtype = DTYPES[modifiers[0]]
    bits = 8 * dtype.itemsize
    unsigned = U32 if bits == 32 else U64

    def extract(a: Array, position: Array, length: Array) -> Array:
        start, count = _field(position, length, unsigned)
        mask = _low_mask(count, unsigned)
        field = (a.view(unsigned) >> start) & mask
        if dtype.kind == "i":
            top = np.minimum(start.astype(S64) + count.astype(S64) - 1, bits - 1).clip(0).astype(unsigned)
            negative = ((a.view(unsigned) >> top) & unsigned.type(1)) != 0
            field = np.where(negative & (count != 0), field | ~mask, field)
            covered = bits - np.minimum(start, unsigned.type(bits))
            over = negative & (count > covered)
            field = np.where(over, field | ~_low_mask(covered.astype(unsigned), unsigned), field)
        return field.astype(unsigned).view(dtype)

    return Operation(extract, dtype, (dtype, U32, U32), "9.7.1.19")


def _field(position: Array, length: Array, unsigned: np.dtype[Any]) -> tuple[Array, Array]:
    """Start and length of a bit field: their low 8 bits; on an H200, all 32 bits for 64-bit values."""
    if unsigned == U32:
        position, length = position & np.uint32(0xFF), length & np.uint32(0xFF)
    return position.astype(unsigned), length.astype(unsigned)


def _low_mask(count: Array, unsigned: np.dtype[Any]) -> Array:
    """`count` low bits set; in NumPy a shift by the width or more gives 0."""
    return np.asarray((unsigned.type(1) << count) - unsigned.type(1))


@makes("bfi")
def _bfi(_opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    if modifiers not in (("b32",), ("b64",)):
        return None
    dtype = DTYPES[modifiers[0]]

    def insert(a: Array, b: Array, position: Array, length: Array) -> Array:
        start, count = _field(position, length, dtype)
        mask = _low_mask(count, dtype) << start
        return (b & ~mask) | ((a << start) & mask)

    return Operation(insert, dtype, (dtype, dtype, U32, U32), "9.7.1.20")


@makes("dp2a")
def _dp2a(_opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    """Two products of 16-bit and 8-bit values; `.lo` and `.hi` select the bytes of b."""
    if len(modifiers) != 3 or modifiers[0] not in ("lo", "hi") or not {*modifiers[1:]} <= {"u32", "s32"}:
        return None
    wide, narrow = (("i" if m == "s32" else "u") for m in modifiers[1:])
    first = 0 if modifiers[0] == "lo" else 2
    result = S32 if "s32" in modifiers else U32

    def dot(a: Array, b: Array, c: Array) -> Array:
        total = c.astype(S64)
        for k in range(2):
            left = (a >> np.uint32(16 * k)).astype(np.uint16).view(f"{wide}2").astype(S64)
            right = (b >> np.uint32(8 * (first + k))).astype(np.uint8).view(f"{narrow}1").astype(S64)
            total = total + left * right
        return total.astype(result)

    return Operation(dot, result, (U32, U32, result), "9.7.1.24")


@makes("dp4a")
def _dp4a(_opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    if len(modifiers) != 2 or any(m not in ("u32", "s32") for m in modifiers):
        return None
    kinds = [np.int8 if m == "s32" else np.uint8 for m in modifiers]
    result = S32 if "s32" in modifiers else U32

    def dot(a: Array, b: Array, c: Array) -> Array:
        total = c.astype(S64)
        for byte in range(4):
            shift = np.uint32(8 * byte)
            left = (a >> shift).astype(np.uint8).view(kinds[0]).astype(S64)
            total = total + left * (b >> shift).astype(np.uint8).view(kinds[1]).astype(S64)
        return total.astype(result)

    return Operation(dot, result, (U32, U32, result), "9.7.1.23")
