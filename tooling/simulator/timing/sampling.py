"""Which blocks stand for a grid that is too large to be simulated, and how far their estimates are apart.

The sample is stratified: blocks at five places of the grid, each in a fifth of its columns and of its rows.
At each place some blocks run that follow each other, and those below them, since caches serve neighbours.
The first and the last block of the grid run too, as a check: they often have work of their own. Of kernels
with long loops, one place and these two blocks run.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import fmean, stdev
from typing import NamedTuple

from msgspec import Struct

from tooling.simulator.gpu.launch import Dim3

SAMPLE_VARIABLE = "GPU_SIM_SAMPLE"
"""The variable by which programs know that a sample runs, see `problems/lab/machine.mojo`."""
MOST_LANES = 1 << 15
"""Threads of a grid that runs as a whole."""
LARGEST_ERROR = 0.2
"""Relative error of a sample whose estimate is shown."""
LARGEST_EDGE = 2.0
"""How many times the instructions of the sample the first and the last block may have."""
LONG_WARP = 50_000
"""Instructions of a warp from which on only the middle of the grid runs, and its first and last block."""
LANES_OF_PLACE = 2048
"""Threads that run at a place of a larger grid, if its blocks are not larger."""
_ERRORS = 2
"""Standard errors of a mean that are its error."""
_MIDDLES = ((0.5, 0.5), (0.1, 0.3), (0.3, 0.9), (0.7, 0.1), (0.9, 0.7))


class Neighbours(NamedTuple):
    """Numbers of blocks: one, the next in x, the next in y (or z), the one between; None: the grid ends."""

    first: int
    right: int | None
    below: int | None
    across: int | None


class Place(Struct, frozen=True):
    """Blocks that stand for a part of a grid.

    Attributes:
        near: those whose accesses are observed; blocks: all that run.
    """

    near: Neighbours
    blocks: tuple[range, ...]

    @property
    def count(self) -> int:
        """The number of its blocks."""
        return sum(map(len, self.blocks))


def neighbours(grid: Dim3, across: float = 0.5, down: float = 0.5) -> Neighbours:
    """A block and those beside it.

    Args:
        across, down: where it is, as shares of the grid's columns and rows; planes are more rows.
    """
    columns, rows = grid.x, grid.y * grid.z
    x, y = int(across * (columns - 1)), int(down * (rows - 1))
    first = y * columns + x
    right = first + 1 if x + 1 < columns else None
    below = first + columns if y + 1 < rows else None
    return Neighbours(first, right, below, below + 1 if below is not None and right is not None else None)


def places_of(grid: Dim3, threads: int) -> tuple[Place, ...] | None:
    """The sample of a grid, the place in its middle first; None: all blocks run.

    Args:
        threads: of a block.
    """
    if grid.count * threads <= MOST_LANES:
        return None
    wanted = max(2, LANES_OF_PLACE // 2 // threads)
    found = []
    for across, down in _MIDDLES:
        near = neighbours(grid, across, down)
        wide = min(wanted, grid.x - near.first % grid.x)
        starts = (near.first,) if near.below is None else (near.first, near.below)
        found.append(Place(near, tuple(range(start, start + wide) for start in starts)))
    return tuple(found)


def edges_of(grid: Dim3) -> tuple[Place, ...]:
    """The first and the last block of a grid."""
    return tuple(
        Place(Neighbours(edge, None, None, None), (range(edge, edge + 1),)) for edge in (0, grid.count - 1)
    )


def error_of_mean(values: Sequence[float]) -> float:
    """The relative error of the mean of a sample; 0 for a single value."""
    if len(values) == 1:
        return 0.0
    return _ERRORS * stdev(values) / sqrt(len(values)) / fmean(values)
