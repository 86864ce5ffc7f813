"""The constants of a GPU, which `benchmarks/constants.py` computes from the table of microbenchmarks."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import msgspec
from msgspec import Struct

_FOLDER = Path(__file__).parent / "parameters"
GPUS = ("h200",)
"""The GPUs with recorded constants; the first is the one that the simulated GPU presents."""


class Parameters(Struct, frozen=True, forbid_unknown_fields=True):
    """Constants of one GPU. Cycles are those of its clock under these benchmarks.

    Attributes:
        name: as its driver names it; clock: GHz; multiprocessors: their number.
        cache_bytes: first-level cache and shared memory of a multiprocessor; second_level_bytes: of the GPU.
        launch: microseconds of a launch of one block without work.
        start: nanoseconds between the starts of two blocks, by the warps of a block.
        latency: cycles until the result of an instruction can be used, by unit.
        interval: cycles of a multiprocessor between two instructions of warps, by unit.
        shared_pass: cycles of a wavefront of shared memory; shared_atomic: of an atomic by a warp, by
            the addresses of its lanes.
        barrier: cycles between two barriers of a block that do nothing else, by its warps.
        nearest: cycles of a multiprocessor for a global load by a warp, by the cache lines that it reads.
        level: cycles of a load that the first level, the second level or the memory serves.
        second_level_line, second_level_sector: nanoseconds of the GPU for each cache line of a request to
            the second level, and for each of its sectors; the first two for loads, then for stores.
        read, write: bytes per nanosecond of device memory; copy: of both at once.
        sparse: how much longer a sector takes whose neighbour in 64 bytes is not read.
        ramp: microseconds that a launch needs in addition until memory is at its full rate.
        atomic: nanoseconds of the GPU for each atomic addition, by the addresses that all of them share.
    """

    name: str
    clock: float
    multiprocessors: int
    cache_bytes: int
    second_level_bytes: int
    launch: float
    start: dict[int, float]
    latency: dict[str, float]
    interval: dict[str, float]
    shared_pass: float
    shared_atomic: dict[int, float]
    barrier: dict[int, float]
    nearest: dict[int, float]
    level: tuple[float, float, float]
    second_level_line: tuple[float, float]
    second_level_sector: tuple[float, float]
    read: float
    write: float
    copy: float
    sparse: float
    ramp: float
    atomic: dict[int, float]


@lru_cache(maxsize=4)
def parameters_of(gpu: str = GPUS[0]) -> Parameters:
    """The constants of a GPU of `GPUS`.

    Raises:
        FileNotFoundError, msgspec.ValidationError: there is no such file, or it is damaged.
    """
    return msgspec.json.decode((_FOLDER / f"{gpu}.json").read_bytes(), type=Parameters, strict=False)


def between(table: dict[int, float], at: float) -> float:
    """The value of a table at a number between or beyond its own, linear in the number."""
    keys = sorted(table)
    if at <= keys[0]:
        return table[keys[0]]
    if at >= keys[-1]:
        return table[keys[-1]]
    upper = next(number for number, key in enumerate(keys) if key >= at)
    low, high = keys[upper - 1], keys[upper]
    return table[low] + (table[high] - table[low]) * (at - low) / (high - low)
