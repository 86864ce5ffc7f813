"""Performing a warp's operation for lanes that are at several instructions (PTX ISA 9.7.13)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tooling.simulator.gpu.lanes import Group, merge
from tooling.simulator.program.program import Batch, WarpOperation


def joined_lanes(groups: Sequence[Group], batch: Batch) -> Group:
    """A group of the lanes of several groups, without values."""
    return merge(groups, (), batch.size)


def perform_jointly(joint: Group, operations: Sequence[tuple[Group, WarpOperation]], batch: Batch) -> None:
    """Perform one operation for groups that are at different instructions of its form.

    Args:
        joint: the lanes of all groups.
    """
    groups = [group for group, _ in operations]
    first = operations[0][1]
    operands = [operation.operands(group) for group, operation in operations]
    values = [joint.joined(list(each), groups, batch.size) for each in zip(*operands, strict=True)]
    results = first.compute(joint, batch, values)
    lanes = joint.indices(batch.size)
    for group, operation in operations:
        positions = np.searchsorted(lanes, group.indices(batch.size))
        operation.finish(group, [value if len(value) == 1 else value[positions] for value in results])
