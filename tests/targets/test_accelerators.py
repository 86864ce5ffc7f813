"""What an accelerator's name says about the GPU."""

from __future__ import annotations

import pytest

from tooling.targets.accelerators import UnknownAccelerator, target_for
from tooling.targets.model import TargetKind


@pytest.mark.parametrize(
    ("name", "kind", "compute"),
    [
        ("sm_80", TargetKind.NVIDIA, (8, 0)),
        ("sm_90a", TargetKind.NVIDIA, (9, 0)),
        ("sm_100a", TargetKind.NVIDIA, (10, 0)),
        ("sm_121", TargetKind.NVIDIA, (12, 1)),
        ("gfx942", TargetKind.AMD, None),
        ("gfx90a", TargetKind.AMD, None),
        ("apple-m4", TargetKind.APPLE, None),
    ],
)
def test_names_of_accelerators(name: str, kind: TargetKind, compute: tuple[int, int] | None) -> None:
    target = target_for(name)
    assert (target.kind, target.compute, target.accelerator, target.device) == (kind, compute, name, name)


@pytest.mark.parametrize("name", ["", "h200", "sm_9", "gfx", "apple-m", "sm_90ab"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(UnknownAccelerator, match="such as sm_90a, gfx942 or apple-m4"):
        target_for(name)


@pytest.mark.parametrize(
    ("name", "lanes"),
    [
        *(("gfx90a", 64), ("gfx942", 64), ("gfx950", 64), ("gfx1030", 32), ("gfx1100", 32), ("gfx1201", 32)),
        *(("sm_80", 32), ("sm_90a", 32), ("apple-m1", 32)),
    ],
)
def test_lanes_of_a_warp(name: str, lanes: int) -> None:
    assert target_for(name).lanes == lanes
