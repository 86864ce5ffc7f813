"""Which blocks form a cluster: neighbours in all three directions of the grid (PTX ISA 4.1.3)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.launch import Launch

Ints = NDArray[np.int64]


def blocks_together(launch: Launch) -> int:
    """The fewest consecutive blocks that hold whole clusters: rows or planes of them where need be."""
    grid, cluster = launch.grid, launch.cluster
    if cluster.z > 1:
        return grid.x * grid.y * cluster.z
    return grid.x * cluster.y if cluster.y > 1 else cluster.x


class Clusters:
    """The clusters of some consecutive blocks of a launch, all of them whole.

    Attributes:
        count, size: how many clusters, and blocks in each.
        of_block: (blocks,) which of these clusters a block belongs to.
        rank: (blocks,) the block's number in its cluster, x fastest (%cluster_ctarank).
        members: (clusters, size) blocks by cluster and rank.
        numbers: (clusters,) numbers of the clusters in the launch, x fastest.
    """

    def __init__(self, launch: Launch, first_block: int, blocks: int) -> None:
        grid, cluster = launch.grid, launch.cluster
        number = np.arange(first_block, first_block + blocks)
        position = (number % grid.x, number // grid.x % grid.y, number // (grid.x * grid.y))
        x, y, z = (p // extent for p, extent in zip(position, cluster, strict=True))
        inner = [p % extent for p, extent in zip(position, cluster, strict=True)]
        self.size = cluster.count
        self.rank: Ints = inner[0] + cluster.x * (inner[1] + cluster.y * inner[2])
        wide, high = grid.x // cluster.x, grid.y // cluster.y
        in_launch: Ints = x + wide * (y + high * z)
        self.numbers, self.of_block = np.unique(in_launch, return_inverse=True)
        self.count = len(self.numbers)
        self.members: Ints = np.zeros((self.count, self.size), np.int64)
        self.members[self.of_block, self.rank] = np.arange(blocks)

    def mate(self, blocks: Ints, rank: Ints) -> Ints:
        """The blocks with these ranks in the clusters of `blocks`."""
        return np.asarray(self.members[self.of_block[blocks], rank])
