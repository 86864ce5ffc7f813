"""Which blocks form a cluster: neighbours in all three dimensions of the grid (PTX ISA 4.1.3)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.gpu.launch import Dim3, Launch

Ints = NDArray[np.int64]


def blocks_together(launch: Launch) -> int:
    """The smallest number of consecutive blocks that consist of whole clusters."""
    grid, cluster = launch.grid, launch.cluster
    if cluster.z > 1:
        return grid.x * grid.y * cluster.z
    return grid.x * cluster.y if cluster.y > 1 else cluster.x


def clusters_of(launch: Launch, blocks: Ints) -> Ints:
    """(n,) the cluster of each block; clusters are numbered like blocks, x fastest."""
    grid, cluster = launch.grid, launch.cluster
    x, y, z = (p // extent for p, extent in zip(_positions(grid, blocks), cluster, strict=True))
    return np.asarray(x + grid.x // cluster.x * (y + grid.y // cluster.y * z))


def blocks_of(launch: Launch, clusters: Ints) -> Ints:
    """(n, size) the blocks of each of these clusters of the launch."""
    grid, cluster = launch.grid, launch.cluster
    across = Dim3(grid.x // cluster.x, grid.y // cluster.y, grid.z // cluster.z)
    corner = [at * extent for at, extent in zip(_positions(across, clusters), cluster, strict=True)]
    inner = _positions(cluster, np.arange(cluster.count))
    x, y, z = (first[:, None] + more for first, more in zip(corner, inner, strict=True))
    return np.asarray(x + grid.x * (y + grid.y * z))


class Clusters:
    """The clusters of some consecutive blocks of a launch, which consist of whole clusters.

    Attributes:
        count, size: how many clusters, and blocks in each.
        of_block: (blocks,) which of these clusters a block belongs to.
        rank: (blocks,) the block's number in its cluster, x fastest (%cluster_ctarank).
        members: (clusters, size) blocks by cluster and rank.
        numbers: (clusters,) numbers of the clusters in the launch, x fastest.
    """

    def __init__(self, launch: Launch, first_block: int, blocks: int) -> None:
        cluster = launch.cluster
        number = np.arange(first_block, first_block + blocks)
        inner = [p % extent for p, extent in zip(_positions(launch.grid, number), cluster, strict=True)]
        self.size = cluster.count
        self.rank: Ints = inner[0] + cluster.x * (inner[1] + cluster.y * inner[2])
        self.numbers, self.of_block = np.unique(clusters_of(launch, number), return_inverse=True)
        self.count = len(self.numbers)
        self.members = blocks_of(launch, self.numbers) - first_block

    def mate(self, blocks: Ints, rank: Ints) -> Ints:
        """The blocks with these ranks in the clusters of `blocks`."""
        return np.asarray(self.members[self.of_block[blocks], rank])


def _positions(grid: Dim3, numbers: Ints) -> tuple[Ints, Ints, Ints]:
    """The positions with these linear numbers in a grid, x fastest."""
    return numbers % grid.x, numbers // grid.x % grid.y, numbers // (grid.x * grid.y)
