"""Bit masks, sign extension, the n-th set bit, and packed 16-bit integers (PTX ISA 9.7.1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from tooling.simulator.numerics.rounding import S16, S32, S64, U16, U32
from tooling.simulator.nvidia.semantics.registry import Array, Function, Operation, makes

_ALL = np.uint32(0xFFFFFFFF)
_FIVE = np.uint32(31)


@makes("bmsk")
def _mask(_opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    """`bmsk d, a, b`: b ones, starting at bit a."""
    if len(modifiers) != 2 or modifiers[0] not in ("clamp", "wrap") or modifiers[1] != "b32":
        return None
    clamps = modifiers[0] == "clamp"

    def mask(position: Array, width: Array) -> Array:
        start, count = position & _FIVE, width & _FIVE
        end = start + count
        past = end >= 32
        lower = _ALL << start
        if clamps:
            past = past | (position >= 32) | (width >= 32)
            lower = np.where(position >= 32, np.uint32(0), lower)
        return np.asarray(lower & ~np.where(past, np.uint32(0), _ALL << end), U32)

    return Operation(mask, U32, (U32, U32), "9.7.1.23")


@makes("szext")
def _extend(_opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    """`szext d, a, b`: the b low bits of a, extended by sign or by zeros."""
    if len(modifiers) != 2 or modifiers[0] not in ("clamp", "wrap") or modifiers[1] not in ("u32", "s32"):
        return None
    clamps, signed = modifiers[0] == "clamp", modifiers[1] == "s32"
    dtype = S32 if signed else U32

    def extend(a: Array, width: Array) -> Array:
        bits, count = a.view(U32), width & _FIVE
        large = (width >= 32) & clamps
        mask = np.where(large, np.uint32(0), _ALL << count)
        negative = (bits >> ((count - np.uint32(1)) & _FIVE)) & np.uint32(1) != 0
        fill = negative & (count != 0) & ~large & signed
        return np.asarray(np.where(fill, bits | mask, bits & ~mask), U32).view(dtype)

    return Operation(extend, dtype, (dtype, U32), "9.7.1.22")


@makes("fns")
def _find_set(_opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    """`fns d, mask, base, offset`: the position of the offset-th set bit from base on, or -1."""
    if modifiers != ("b32",):
        return None

    def find(mask: Array, base: Array, offset: Array) -> Array:
        mask, base, offset = np.broadcast_arrays(mask, base, offset)
        found = np.full(len(mask), _ALL)
        wanted = np.maximum(np.abs(offset.astype(S64)), 1)
        seen = np.zeros(len(mask), S64)
        position = base.astype(S64)
        step = np.where(offset < 0, -1, 1)
        for _ in range(32):
            inside = (position >= 0) & (position < 32)
            here = inside & (((mask >> position.clip(0, 31).astype(U32)) & np.uint32(1)) != 0)
            seen += here
            found = np.where(here & (seen == wanted), position.astype(U32), found)
            position = np.where(offset == 0, -1, position + step)
        return found

    return Operation(find, U32, (U32, U32, S32), "9.7.1.17")


def pair_of_integers(opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    """`add`, `min` and `max` of `.u16x2` and `.s16x2`; `min` and `max` with `.relu` (signed types)."""
    *flags, kind = modifiers
    functions: dict[str, Function] = {"add": np.add, "min": np.minimum, "max": np.maximum}
    sections = {"add": "9.7.1.1", "min": "9.7.1.12", "max": "9.7.1.13"}
    relu = flags == ["relu"] and opcode != "add" and kind[0] == "s"
    if opcode not in functions or (flags and not relu):
        return None
    plain = functions[opcode]

    def function(a: Array, b: Array) -> Array:
        result = plain(a, b)
        return np.asarray(np.maximum(result, result.dtype.type(0)) if relu else result)

    if kind == "s32":
        return Operation(function, S32, (S32, S32), sections[opcode])
    if kind not in ("u16x2", "s16x2"):
        return None
    half: np.dtype[Any] = U16 if kind[0] == "u" else S16

    def pairs(a: Array, b: Array) -> Array:
        low, high = (
            function(*((x >> np.uint32(shift)).astype(U16).view(half) for x in (a, b))) for shift in (0, 16)
        )
        return low.view(U16).astype(U32) | (high.view(U16).astype(U32) << np.uint32(16))

    return Operation(pairs, U32, (U32, U32), sections[opcode])


def packed_conversion(flags: tuple[str, ...], to: str, source: str) -> Operation | None:
    """`cvt.pack.sat.to.s32 d, a, b` and `cvt.pack.sat.to.s32.b32 d, a, b, c` (PTX ISA 9.7.9.22)."""
    if flags == ("pack", "sat") and source == "s32" and to in ("u16", "s16"):
        return Operation(lambda a, b: _joined(a, b, to), U32, (S32, S32), "9.7.9.22")
    if flags[:2] == ("pack", "sat") and flags[2:] in (("u8",), ("s8",), ("u4",), ("s4",), ("u2",), ("s2",)):
        kind = flags[2]
        bits = np.uint32(2 * int(kind[1:]))
        if (to, source) == ("s32", "b32"):
            return Operation(
                lambda a, b, c: (c << bits) | _joined(a, b, kind), U32, (S32, S32, U32), "9.7.9.22"
            )
    return None


def _joined(a: Array, b: Array, kind: str) -> Array:
    """Two integers clamped to a narrow type and packed: a in the upper bits, b in the lower."""
    bits = int(kind[1:])
    low, high = (0, 2**bits - 1) if kind[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    mask = np.uint32(2**bits - 1)
    upper, lower = (np.clip(x, low, high).astype(S32).view(U32) & mask for x in (a, b))
    return np.asarray((upper << np.uint32(bits)) | lower)
