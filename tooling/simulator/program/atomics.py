"""Atomic operations: lanes perform theirs in the order of lane numbers; see `Spaces` for another order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.gpu.hooks import AccessKind, Space
from tooling.simulator.gpu.requests import MemoryRequest
from tooling.simulator.program.program import Batch

Array = NDArray[Any]
Update: TypeAlias = Callable[[Array, Array, "Array | None"], Array]
"""A function from (old value, operand, second operand) to the new value."""


def in_lane_order(
    view: Array,
    index: Array,
    value: Array,
    second: Array | None,
    update: Update,
    *,
    ufunc: np.ufunc | None,
    returns: bool,
) -> Array:
    """Update `view[index]` lane by lane and return the old value that each lane read.

    Args:
        view: all memory of the space, as an array of the operation's type.
        index: (n,) indices into `view`; value, second: (n,) operands.
        ufunc: computes the same as `update` for these operands, or None.
        returns: whether the old values are needed.
    """
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    if len(starts) == len(index):
        old = view[index]
        view[index] = update(old, value, second)
        return old
    if ufunc is not None and not returns:
        ufunc.at(view, index, value)
        return view[index]
    lengths = np.diff(np.append(starts, len(index)))
    value, second = value[order], None if second is None else second[order]
    found = np.empty(len(index), view.dtype)
    if ufunc is not None and len(starts) < int(lengths.max()):
        _scan(view, ordered, starts, lengths, value, found, ufunc)
    else:
        for turn in range(int(lengths.max())):
            lanes = starts[lengths > turn] + turn
            old = view[ordered[lanes]]
            found[lanes] = old
            view[ordered[lanes]] = update(old, value[lanes], None if second is None else second[lanes])
    result = np.empty_like(found)
    result[order] = found
    return result


def _scan(*arrays: Any) -> None:
    """For few addresses with many lanes each: a sequential scan per address, so rounding is in lane order."""
    view, ordered, starts, lengths, value, found, ufunc = arrays
    for start, length in zip(starts.tolist(), lengths.tolist(), strict=True):
        at = ordered[start]
        running = ufunc.accumulate(np.concatenate([view[at : at + 1], value[start : start + length]]))
        found[start : start + length] = running[:-1]
        view[at] = running[-1]


def _parts(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The unsigned type in which values of a type are reported to the observers."""
    return np.dtype(np.uint64) if dtype.kind == "V" else np.dtype(f"u{dtype.itemsize}")


def _backwards(blocks: Array) -> NDArray[np.intp]:
    """The lanes block by block, in each from the last to the first.

    Blocks keep their order, in which the check for races takes what one releases to the next.

    Args:
        blocks: (n,) block of each lane.
    """
    return np.lexsort((-np.arange(len(blocks)), blocks))


def update_memory(
    batch: Batch,
    space: Space,
    request: MemoryRequest,
    address: Array,
    *,
    dtype: np.dtype[Any],
    values: list[Array],
    perform: Callable[[Array, Array, Array, NDArray[np.intp] | None], Array],
) -> list[Array]:
    """Update memory in one space; returns the old values, one array per element of a vector.

    Args:
        address: (n,) uint64; values: (n,) what may be stored, one array per element.
        dtype: of the operation; `V16` for 128 bits, an access of two elements of 64.
        perform: given all memory as an array of `dtype`, the indices of the lanes in it, their values, and
            which lanes they are (None for all), updates it and returns the old values.
    """
    spaces = batch.spaces
    count = len(values)
    kept, lanes = None, len(address)
    announced = [value.view(_parts(dtype)) for value in values]
    if spaces.observers:
        bits = np.stack(announced) if count > 1 else announced[0]
        if dtype.kind == "V":
            bits = bits.reshape(-1, 2).T
        left_out = spaces.notify(space, AccessKind.ATOMIC, request, address, bits)
        if left_out is not None:
            kept = np.flatnonzero(~left_out)
            if not len(kept):
                return [np.zeros(len(address), dtype)] * count
            request = request.only(kept, batch.size)
            values = [value[kept] for value in values]
            address = address[kept]
    offset, _ = spaces.offsets(space, request, address, AccessKind.ATOMIC)
    shift = np.uint64(dtype.itemsize.bit_length() - 1)
    index = np.broadcast_to((offset >> shift).view(np.int64), len(address))
    view = spaces.view(space, dtype.itemsize).view(dtype)
    found = []
    for element, value in enumerate(values):
        at = index + element if element else index
        before = view[at] if spaces.watching else None
        if spaces.first_wins:
            order = _backwards(request.pick(spaces.block_of_lane))
            performed = perform(view, at[order], value[order], order if kept is None else kept[order])
            old = np.empty_like(performed)
            old[order] = performed
        else:
            old = perform(view, at, value, kept)
        if before is not None:
            spaces.changes += view[at].tobytes() != before.tobytes()
        if kept is not None:
            whole = np.zeros(lanes, dtype)
            whole[kept] = old
            old = whole
        found.append(old)
    return found
