"""Clusters in every direction of the grid."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.simulator.simulate import kernel, simulate
from tooling.simulator.gpu.clusters import Clusters, blocks_together
from tooling.simulator.gpu.launch import Dim3, Launch
from tooling.simulator.nvidia.ptx.reader import parse_module

FUNCTION = parse_module(kernel("")).kernels["k"]

SHAPES = [
    (Dim3(8), Dim3(4)),
    (Dim3(4, 4), Dim3(2, 2)),
    (Dim3(4, 4), Dim3(1, 4)),
    (Dim3(2, 2, 4), Dim3(1, 2, 2)),
    (Dim3(2, 4, 4), Dim3(2, 2, 2)),
    (Dim3(3, 2, 2), Dim3(1, 1, 2)),
]

RING = """
    .shared .align 4 .b8 cell[4];
    mov.u32 %r10, %ctaid.y; mov.u32 %r11, %nctaid.x; mad.lo.u32 %r12, %r10, %r11, %r32;
    mov.u32 %r10, %ctaid.z; mov.u32 %r13, %nctaid.y; mul.lo.u32 %r11, %r11, %r13;
    mad.lo.u32 %r12, %r10, %r11, %r12;
    mov.b32 %r1, cell;
    st.shared.b32 [%r1], %r12;
    barrier.cluster.arrive.release.aligned;
    barrier.cluster.wait.acquire.aligned;
    mov.u32 %r2, %cluster_ctarank;
    mov.u32 %r3, %cluster_nctarank;
    add.s32 %r4, %r2, 1;
    rem.u32 %r4, %r4, %r3;
    mapa.shared::cluster.u32 %r5, %r1, %r4;
    ld.shared::cluster.b32 %r6, [%r5];
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    mul.wide.u32 %rd1, %r12, 4;
    add.s64 %rd2, %rd30, %rd1;
    st.global.b32 [%rd2], %r6;
"""


def next_in_cluster(grid: Dim3, cluster: Dim3) -> list[int]:
    """Per block of the grid, the block whose rank in the same cluster is one higher."""
    result = []
    for block in range(grid.count):
        at = grid.position(block)
        corner = [p // c * c for p, c in zip(at, cluster, strict=True)]
        inner = [p % c for p, c in zip(at, cluster, strict=True)]
        rank = inner[0] + cluster.x * (inner[1] + cluster.y * inner[2])
        mate = cluster.position((rank + 1) % cluster.count)
        x, y, z = (c + m for c, m in zip(corner, mate, strict=True))
        result.append(x + grid.x * (y + grid.y * z))
    return result


@pytest.mark.parametrize(("grid", "cluster"), SHAPES, ids=str)
@pytest.mark.parametrize("schedule", ["lockstep", "random:3", "adversarial"])
def test_each_block_reads_the_next_block_of_its_cluster(grid: Dim3, cluster: Dim3, schedule: str) -> None:
    out = np.zeros(grid.count, np.uint32)
    result, (got,) = simulate(kernel(RING), [out], grid=grid, block=1, cluster=cluster, schedule=schedule)
    assert result.error is None
    assert got.tolist() == next_in_cluster(grid, cluster)


@pytest.mark.parametrize(("grid", "cluster"), SHAPES, ids=str)
def test_clusters_are_in_consecutive_blocks(grid: Dim3, cluster: Dim3) -> None:
    launch = Launch(FUNCTION, grid, Dim3(1), cluster)
    together = blocks_together(launch)
    assert grid.count % together == 0
    for first in range(0, grid.count, together):
        clusters = Clusters(launch, first, together)
        assert clusters.count * math.prod(cluster) == together
        assert sorted(clusters.members.reshape(-1).tolist()) == list(range(together))


def test_many_batches_of_clusters_in_y() -> None:
    grid, cluster = Dim3(16, 8), Dim3(2, 2)
    text = kernel(
        RING.replace("st.global.b32", "@%p1 st.global.b32").replace(
            "mul.wide", "setp.eq.u32 %p1, %r30, 0; mul.wide"
        )
    )
    result, (got,) = simulate(text, [np.zeros(128, np.uint32)], grid=grid, block=1024, cluster=cluster)
    assert result.error is None
    assert got.tolist() == next_in_cluster(grid, cluster)
