"""Bytes of a buffer as numbers: how many bytes a cell has, and what its bits mean.

PTX does not say what a buffer holds (`ld.global.b32`). Where the arithmetic of the kernel does not say it
either (`register_types`), the format is inferred from the modifiers of the instructions, or else from the
values: small integers are denormal as floats, and floats of ordinary size are large integers.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from tooling.replay.trace import Value
from tooling.simulator.gpu.device_memory import POISON_BYTES

Bytes = NDArray[np.uint8]
_TYPES = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16,
    "i64": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8,
}  # fmt: skip
_SIZES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i64": 8, "i32": 4, "i16": 2, "i8": 1}
_FLOATS = {8: ("f64", 2.0**-60, 2.0**60), 4: ("f32", 2.0**-40, 2.0**40)}
_MOST_EXACT = 2**53


def size_of(form: str) -> int:
    """Bytes of a cell."""
    return _SIZES[form]


def format_of(contents: Iterable[Bytes], size: int, modifiers: frozenset[str]) -> str:
    """The format of cells.

    Args:
        contents: what was loaded and stored, each a multiple of `size` bytes.
        size: bytes of the narrowest access.
        modifiers: of all instructions of the kernel.
    """
    if size == 2:
        return "bf16" if "bf16" in modifiers else "f16" if "f16" in modifiers else "i16"
    if size == 1:
        return "i8"
    known = [one.reshape(-1) for one in contents]
    raw = np.concatenate(known) if known else np.zeros(0, np.uint8)
    if "bf16" in modifiers and _pairs_of_bfloat16(raw):
        return "bf16"
    pairs = size == 8 and _share_of_floats(raw, 4) > _share_of_floats(raw, 8) and _integers(raw) < 0.5
    width = 4 if pairs else size
    form, _, _ = _FLOATS[width]
    return (
        form if _share_of_floats(raw, width) >= 0.5 and f"{form}" in modifiers | {"f32"} else f"i{width * 8}"
    )


def _share_of_floats(raw: Bytes, size: int) -> float:
    """The share of values, other than 0 and poison, that are floats of ordinary size."""
    form, least, most = _FLOATS[size]
    cells = raw.reshape(-1, size)
    cells = cells[cells.any(axis=1) & ~_poisoned(cells)]
    if not len(cells):
        return 1.0 if size == 4 else 0.0
    with np.errstate(invalid="ignore"):  # integers may be signalling NaNs
        magnitude = np.abs(np.ascontiguousarray(cells).view(_TYPES[form]).reshape(-1).astype(np.float64))
    ordinary = (magnitude >= least) & (magnitude <= most)
    # A small negative integer is a NaN as well; -0.0 has a bit that is set.
    large = np.abs(np.ascontiguousarray(cells).view(_TYPES[f"i{size * 8}"]).reshape(-1)) >= 2**20
    return float(np.mean(ordinary | (~np.isfinite(magnitude) & large) | (magnitude == 0)))


def _pairs_of_bfloat16(raw: Bytes) -> bool:
    """Whether the lower halves of words, the last digits of a float32, are floats of ordinary size."""
    lower = np.ascontiguousarray(raw.reshape(-1, 4)[:, :2]).view(np.uint16).reshape(-1)
    lower = lower[lower != 0].astype(np.uint32) << 16
    magnitude = np.abs(lower.view(np.float32))
    _, least, most = _FLOATS[4]
    return len(lower) > 0 and bool(((magnitude >= least) & (magnitude <= most)).all())


def _integers(raw: Bytes) -> float:
    numbers = np.ascontiguousarray(raw.reshape(-1, 8)).view(np.int64)
    return float(np.mean(np.abs(numbers) < 2**40)) if len(numbers) else 0.0


def _poisoned(cells: Bytes) -> NDArray[np.bool_]:
    pattern = np.frombuffer((POISON_BYTES * 2)[: cells.shape[1]], np.uint8)
    return np.asarray((cells == pattern).all(axis=1))


def values_of(raw: Bytes, form: str) -> list[Value]:
    """The values of cells; None for memory that was never written.

    Args:
        raw: bytes, a multiple of the format's size.
    """
    cells = np.ascontiguousarray(raw.reshape(-1, _SIZES[form]))
    unwritten = _poisoned(cells) if cells.shape[1] >= 4 else np.zeros(len(cells), np.bool_)
    if form == "bf16":
        numbers = (cells.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    else:
        numbers = cells.view(_TYPES[form])
    return [
        None if skip else _value(number) for number, skip in zip(numbers.reshape(-1), unwritten, strict=True)
    ]


def _value(number: np.generic) -> Value:
    if isinstance(number, np.integer):
        whole = int(number)
        return whole if abs(whole) <= _MOST_EXACT else str(whole)
    exact = float(number)
    if not np.isfinite(exact):
        return str(exact)
    shortest = float(str(number))  # of float32, 0.1 rather than 0.10000000149011612
    if shortest == 0:
        return "-0" if np.signbit(exact) else 0
    return int(shortest) if shortest == int(shortest) and abs(shortest) < 1e15 else shortest
