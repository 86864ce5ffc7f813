"""Initial values of slots: special registers, constants, parameters and symbols.

Source: PTX ISA 10 (special registers).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.gpu.launch import Dim3
from tooling.simulator.numerics.rounding import PRED, U32, U64
from tooling.simulator.program.program import Batch, Origin

Array = NDArray[Any]

_AXES = {"x": 0, "y": 1, "z": 2}

VECTORS = (
    "%tid", "%ntid", "%ctaid", "%nctaid", "%cluster_ctaid", "%cluster_nctaid", "%clusterid", "%nclusterid",
)  # fmt: skip
"""Special registers with the components `.x`, `.y` and `.z`."""

SCALARS = (
    "%laneid", "%warpid", "%nwarpid", "%smid", "%nsmid", "%gridid", "%clock", "%clock_hi", "%clock64",
    "%globaltimer", "%globaltimer_lo", "%globaltimer_hi", "%lanemask_eq", "%lanemask_lt", "%lanemask_le",
    "%lanemask_gt", "%lanemask_ge", "%cluster_nctarank", "%cluster_ctarank", "%is_explicit_cluster",
    "%dynamic_smem_size", "%total_smem_size",
)  # fmt: skip
"""The scalar special registers that the simulator supports."""


def is_special(name: str) -> bool:
    """Whether the simulator supports this special register."""
    base, _, axis = name.partition(".")
    return name in SCALARS or (base in VECTORS and axis in ("x", "y", "z"))


def special_dtype(name: str) -> np.dtype[Any]:
    """The array type of a special register (PTX ISA 10)."""
    if name in ("%clock64", "%globaltimer", "%gridid"):
        return U64
    if name == "%is_explicit_cluster":
        return PRED
    return U32


def initial_value(origin: Origin, batch: Batch) -> Array:
    """The value of a slot for all lanes of a batch: one per lane, or a single one.

    A register that no instruction has written is 0. PTX leaves it undefined, and no check looks for such
    reads, since Mojo emits none (`tests/simulator/test_unwritten_registers.py`).

    Raises:
        KeyError: an unsupported special register.
    """
    if origin.kind == "constant":
        if origin.dtype == PRED:
            return np.array([bool(origin.value)])
        unsigned = np.dtype(f"u{origin.dtype.itemsize}")
        return np.array([origin.value], unsigned).view(origin.dtype)
    if origin.kind == "undefined":
        return np.zeros(1, origin.dtype)
    if origin.kind == "parameter":
        content: Array = batch.parameters[origin.value : origin.value + origin.dtype.itemsize]
        return content.copy().view(origin.dtype)
    if origin.kind == "symbol":
        address = batch.symbols[origin.name] + origin.value
        return np.array([address], U64).astype(origin.dtype)
    return special(origin.name, batch)


def special(name: str, batch: Batch) -> Array:
    """The value of a special register for all lanes of a batch."""
    launch = batch.context.launch
    base, _, axis = name.partition(".")
    extent = {"%ntid": launch.block, "%nctaid": launch.grid, "%cluster_nctaid": launch.cluster}.get(base)
    if base == "%nclusterid":
        extent = Dim3(*(g // c for g, c in zip(launch.grid, launch.cluster, strict=True)))
    if extent is not None:
        return np.array([extent[_AXES[axis]]], U32)
    if base == "%tid":
        return _thread_index(batch, launch.block, _AXES[axis])
    if base in ("%ctaid", "%cluster_ctaid", "%clusterid"):
        return _block_index(batch, base, _AXES[axis])
    return _plain(name, batch)


def _thread_index(batch: Batch, block: Dim3, axis: int) -> Array:
    if block[axis] == 1:
        return np.zeros(1, U32)
    inner = int(np.prod(block[:axis], dtype=np.int64))
    one = (np.arange(block.count) // inner % block[axis]).astype(U32)
    return np.tile(one, batch.blocks)


def differs_by_batch(origin: Origin) -> bool:
    """Whether the value may differ between batches of the same shape."""
    moving = ("%ctaid", "%cluster_cta", "%clusterid", "%smid", "%clock", "%globaltimer")
    return origin.kind == "special" and origin.name.startswith(moving)


def _block_index(batch: Batch, base: str, axis: int) -> Array:
    cluster = batch.context.launch.cluster
    index = batch.block_position[axis]
    if base == "%cluster_ctaid":
        index = index % cluster[axis]
    elif base == "%clusterid":
        index = index // cluster[axis]
    return _per_block(batch, index)


def _per_block(batch: Batch, values: Array) -> Array:
    if (values == values[0]).all():
        return values[:1].astype(U32)
    return np.repeat(values.astype(U32), batch.context.threads_per_block)


def _plain(name: str, batch: Batch) -> Array:
    context = batch.context
    launch = context.launch
    warps = -(-context.threads_per_block // 32)
    lane: Array = batch.warps.lane_in_warp
    match name:
        case "%laneid":
            return lane
        case "%warpid":
            return np.asarray(batch.warps.warp_of_lane % warps, U32)
        case "%nwarpid":
            return np.array([64], U32)
        case "%smid":
            return _per_block(batch, np.arange(batch.first_block, batch.first_block + batch.blocks) % 132)
        case "%nsmid":
            return np.array([132], U32)
        case "%gridid" | "%clock64" | "%globaltimer":
            return np.array([0 if name == "%gridid" else batch.issued], U64)
        case "%clock" | "%clock_hi" | "%globaltimer_lo" | "%globaltimer_hi":
            return np.array([0 if name.endswith("_hi") else batch.issued & 0xFFFFFFFF], U32)
        case "%lanemask_eq":
            return np.asarray(np.uint32(1) << lane, U32)
        case "%lanemask_lt":
            return np.asarray((np.uint32(1) << lane) - np.uint32(1), U32)
        case "%lanemask_le":
            return np.asarray((np.uint32(2) << lane) - np.uint32(1), U32)
        case "%lanemask_gt":
            return np.asarray(~((np.uint32(2) << lane) - np.uint32(1)), U32)
        case "%lanemask_ge":
            return np.asarray(~((np.uint32(1) << lane) - np.uint32(1)), U32)
        case "%cluster_nctarank":
            return np.array([context.blocks_per_cluster], U32)
        case "%cluster_ctarank":
            return _per_block(batch, batch.spaces.clusters.rank)
        case "%is_explicit_cluster":
            return np.array([launch.explicit_cluster or context.blocks_per_cluster > 1])
        case "%dynamic_smem_size":
            return np.array([launch.shared_bytes], U32)
        case "%total_smem_size":
            return np.array([context.shared_bytes], U32)
    raise KeyError(name)
