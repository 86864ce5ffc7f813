"""Which accesses the caches serve, and how many bytes of memory a grid touches.

A sector in the first-level cache stays there until a block and those beside it on the multiprocessor have
touched as many other lines as fit. How blocks share data is extrapolated from four neighbours in the grid.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from tooling.simulator.gpu.hooks import AccessKind, Ints
from tooling.simulator.gpu.launch import Dim3
from tooling.simulator.timing.observer import BlockAccesses
from tooling.simulator.timing.sampling import Neighbours

LINE, SECTOR = 128, 32


class BlockReuse(Struct, frozen=True):
    """A block's requests to the caches.

    Attributes:
        requests, lines, sectors: requests of warps for loads, the lines that they name, and the sectors.
        missed_lines, missed_sectors: of loads, that the first-level cache does not have.
        stored_lines, stored_sectors: of stores and atomics.
        hits: by instruction, the share of requests that the first level serves completely.
        read, written: the distinct sectors.
        scale: by how much to multiply the counts, since only the first accesses are kept.
    """

    requests: float
    lines: float
    sectors: float
    missed_lines: float
    missed_sectors: float
    stored_lines: float
    stored_sectors: float
    hits: dict[int, float]
    read: Ints
    written: Ints
    scale: float


def reuse_of(block: BlockAccesses, lines_that_fit: float) -> BlockReuse:
    """The requests of a block.

    Args:
        lines_that_fit: lines of the first-level cache that are this block's share.
    """
    empty = np.zeros(0, np.int64)
    if not block.addresses:
        return BlockReuse(0, 0, 0, 0, 0, 0, 0, {}, empty, empty, 1.0)
    sizes = np.array([len(each) for each in block.addresses])
    events = np.repeat(np.arange(len(sizes)), sizes)
    kinds = np.array(block.kinds, np.int64)
    addresses, warps = np.concatenate(block.addresses), np.concatenate(block.warps)
    sectors = addresses // SECTOR
    # A request is an event of one warp; 64 warps at most.
    requests = events * 64 + warps
    order = np.lexsort((sectors, requests))
    requests, sectors = requests[order], sectors[order]
    first = np.ones(len(sectors), bool)
    first[1:] = (requests[1:] != requests[:-1]) | (sectors[1:] != sectors[:-1])
    requests, sectors = requests[first], sectors[first]
    event = requests >> 6
    load = kinds[event] == AccessKind.LOAD
    lines = sectors >> 2
    new_line = np.ones(len(lines), bool)
    new_line[1:] = (requests[1:] != requests[:-1]) | (lines[1:] != lines[:-1])
    touched = np.cumsum(new_line)
    hit = _hits(sectors, load, touched, lines_that_fit)
    missed = load & ~hit
    missed_line = np.zeros(len(lines), bool)
    starts = np.flatnonzero(new_line)
    if len(starts):
        missed_line[starts] = np.add.reduceat(missed.astype(np.int64), starts) > 0
    scale = block.seen / block.kept
    return BlockReuse(
        requests=scale * len(np.unique(requests[load])),
        lines=scale * int((new_line & load).sum()),
        sectors=scale * int(load.sum()),
        missed_lines=scale * int(missed_line.sum()),
        missed_sectors=scale * int(missed.sum()),
        stored_lines=scale * int((new_line & ~load).sum()),
        stored_sectors=scale * int((~load).sum()),
        hits=_hits_by_instruction(np.array(block.instructions), event, requests, missed, load),
        read=np.unique(sectors[load]),
        written=np.unique(sectors[~load]),
        scale=scale,
    )


def _hits(sectors: Ints, load: np.ndarray, touched: Ints, fits: float) -> np.ndarray:
    """For each sector of each request, whether the cache has it from an earlier load."""
    order = np.lexsort((np.arange(len(sectors)), sectors))
    ordered = sectors[order]
    hit = np.zeros(len(sectors), bool)
    again = (ordered[1:] == ordered[:-1]) & load[order][:-1]
    distance = touched[order][1:] - touched[order][:-1]
    hit[order[1:]] = again & (distance <= fits)
    return hit


def _hits_by_instruction(
    instructions: Ints, event: Ints, requests: Ints, missed: np.ndarray, load: np.ndarray
) -> dict[int, float]:
    starts = np.flatnonzero(np.concatenate([[True], requests[1:] != requests[:-1]]))
    any_missed = np.add.reduceat(missed.astype(np.int64), starts) > 0
    lines = instructions[event[starts]]
    loads = load[starts]
    return {
        int(line): 1 - float(any_missed[(lines == line) & loads].mean()) for line in np.unique(lines[loads])
    }


class Footprint(Struct, frozen=True):
    """Bytes of distinct sectors.

    Attributes:
        grid: of the whole grid, if blocks that are far apart share nothing; wave: of the blocks that run at
            a time; allocated: of the allocations that they are in.
        alone: the share of sectors whose neighbour in 64 bytes is not touched.
    """

    grid: float
    wave: float
    allocated: float
    alone: float


def footprint(
    sectors: dict[int, Ints], near: Neighbours, grid: Dim3, *, wave: float, scale: float, most_bytes: float
) -> Footprint:
    """The memory that a grid touches, from the sectors of a block and of its neighbours.

    Args:
        sectors: by block; near: these blocks; wave: blocks that run at a time.
        scale: of the first block's accesses; most_bytes: of the allocations that it touches.
    """
    first, right, below, across = near
    own = sectors.get(first)
    if own is None or not len(own):
        return Footprint(0, 0, 0, 0)
    beside = _new(sectors.get(right or -1), own)
    under = _new(sectors.get(below or -1), own)
    known = own
    for other in (right, below):
        if other is not None and other in sectors:
            known = np.union1d(known, sectors[other])
    inner = _new(sectors.get(across or -1), known)
    columns, rows = grid.x, grid.y * grid.z
    wide = min(columns, wave)
    high = max(1.0, min(rows, wave / columns))

    def extent(across_x: float, across_y: float) -> float:
        blocks = len(own) + (across_x - 1) * beside + (across_y - 1) * under
        return SECTOR * scale * (blocks + (across_x - 1) * (across_y - 1) * inner)

    pairs = np.unique(own >> 1)
    alone = 2 * len(pairs) / len(own) - 1 if len(own) else 0.0
    # A neighbour may touch the other half.
    if right is not None and right in sectors:
        both = np.union1d(own, sectors[right])
        alone = 2 * len(np.unique(both >> 1)) / len(both) - 1
    return Footprint(
        extent(columns, rows), min(extent(wide, high), most_bytes), most_bytes, max(0.0, min(1.0, alone))
    )


def _new(sectors: Ints | None, known: Ints) -> int:
    """How many of the sectors are not among the known ones."""
    return 0 if sectors is None else len(np.setdiff1d(sectors, known, assume_unique=True))
