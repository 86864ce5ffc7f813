"""8-bit floats: values, rounding and conversions (PTX ISA 5.2.3, 9.7.9.21).

`e4m3` has no infinities and one NaN per sign; `e5m2` has infinities and several NaNs. Registers hold pairs.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from tooling.simulator.numerics.rounding import F16, F32, F64, NAN16, U8, U16, U32
from tooling.simulator.nvidia.semantics.registry import Array, Operation

SECTION = "9.7.9.21"
PAIRS = ("e4m3x2", "e5m2x2")
NAN8 = 0x7F
"""The NaN that conversions return."""


@cache
def values8(kind: str) -> Array:
    """(256,) float16 values of all bit patterns; `kind` is e4m3 or e5m2."""
    bits = np.arange(256)
    if kind == "e5m2":
        values: Array = (bits << 8).astype(U16).view(F16)
        return np.where(np.isnan(values), NAN16, values)
    exponent, fraction = bits >> 3 & 15, bits & 7
    size = np.where(exponent == 0, fraction * 2.0**-9, (8 + fraction) * 2.0 ** (exponent - 10.0))
    sign = np.where(bits < 128, 1.0, -1.0)
    return np.where(bits & NAN8 == NAN8, NAN16, (sign * size).astype(F16)).astype(F16)


def to_8_bits(value: Array, kind: str, *, relu: bool) -> Array:
    """float16 or float32 values to the bits of the nearest 8-bit float: ties to even, saturating."""
    most = 0x7E if kind == "e4m3" else 0x7B
    table = values8(kind)[: most + 1].astype(F64)
    size = np.abs(value.astype(F64))
    above = np.searchsorted(table, size).clip(1, most)
    low, high = size - table[above - 1], table[above] - size
    up = (high < low) | ((high == low) & (above % 2 == 0))
    bits = np.where(up, above, above - 1).astype(U8)
    bits = np.where(size >= table[most], U8.type(most), bits)
    bits = bits | np.where(np.signbit(value), U8.type(0x80), U8.type(0))
    if relu:
        bits = np.where(np.signbit(value), U8.type(0), bits)
    return np.where(np.isnan(value), U8.type(NAN8), bits).astype(U8)


def narrow_form(to: str, source: str, flags: tuple[str, ...]) -> Operation | None:
    """`cvt` to or from a pair of 8-bit floats, or None for an unknown form."""
    relu = "relu" in flags
    if (
        to in PAIRS
        and source in ("f32", "f16x2")
        and flags in (("rn", "satfinite"), ("rn", "satfinite", "relu"))
    ):
        kind = to[:4]

        def pack(a: Array, b: Array) -> Array:
            low, high = (to_8_bits(x, kind, relu=relu).astype(U16) for x in (b, a))
            return low | (high << U16.type(8))

        if source == "f32":
            return Operation(pack, U16, (F32, F32), SECTION)
        return Operation(lambda a: pack(*_halves(a)), U16, (U32,), SECTION)
    if to == "f16x2" and source in PAIRS and flags in (("rn",), ("rn", "relu")):
        table = values8(source[:4])

        def unpack(a: Array) -> Array:
            low, high = (table[a & U16.type(0xFF)], table[a >> U16.type(8)])
            if relu:
                low, high = (np.where(x <= 0, F16.type(0), x) for x in (low, high))
            return np.asarray(low.view(U16).astype(U32) | (high.view(U16).astype(U32) << np.uint32(16)))

        return Operation(unpack, U32, (U16,), SECTION)
    return None


def _halves(pair: Array) -> tuple[Array, Array]:
    """The upper and the lower float16 of a register."""
    return (pair >> np.uint32(16)).astype(U16).view(F16), (pair & np.uint32(0xFFFF)).astype(U16).view(F16)
