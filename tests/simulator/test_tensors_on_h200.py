"""Every tensor copy writes the same bytes as on an H200, or stops where it stopped there."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.simulator.instructions import tensor_cases
from tests.simulator.simulate import BASE, simulate
from tooling.simulator.nvidia.instructions.tensor_maps import LAYOUT, MAGIC

RECORDING = Path(__file__).parents[1] / "data" / "h200" / "tensors.npz"
ADDRESS = BASE
"""The device address of the first array of `simulate`."""

CASES = tensor_cases.cases()


@functools.cache
def recording() -> tuple[dict[str, npt.NDArray[np.uint8]], dict[str, str]]:
    with np.load(RECORDING) as archive:
        about: dict[str, Any] = json.loads(str(archive["__about__"]))
        return {name: archive[name] for name in archive.files if name != "__about__"}, about["errors"]


def packed(encoded: tensor_cases.Map) -> bytes:
    """The map as the driver of the simulated GPU encodes it."""

    def padded(numbers: tuple[int, ...], count: int, rest: int = 0) -> list[int]:
        return [*numbers, *[rest] * count][:count]

    content = LAYOUT.pack(
        MAGIC,
        ADDRESS,
        *padded(tuple(n - 1 for n in encoded.extents), 5),
        *padded(encoded.box, 5),
        len(encoded.extents),
        tensor_cases.KINDS.index(encoded.kind),
        *padded(encoded.strides, 4),
        *padded(encoded.steps, 5),
        encoded.swizzle,
        0,
        encoded.fill,
        *padded(encoded.lower, 3),
        *padded(encoded.upper, 3),
        encoded.channels,
        encoded.pixels,
        not encoded.box,
    )
    return content.ljust(128, b"\0")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_copy_has_the_result_of_the_h200(case: tensor_cases.Case) -> None:
    recorded, errors = recording()
    extra = bytes(-16 % 64) + packed(case.map)
    result, arrays = simulate(case.text(), [case.tensor(), case.output()], block=64, extra=extra)
    if case.name in errors:
        assert result.error is not None
        assert f"returned {result.error.kind.value}" in errors[case.name]
        return
    assert result.error is None, result.error
    got = arrays[0 if case.changes_tensor else 1].view(f"u{case.map.size}")
    want = recorded[case.name].view(got.dtype)
    wrong = np.flatnonzero(got != want)
    shown = ", ".join(f"element {k}: H200 {want[k]:#x}, simulated {got[k]:#x}" for k in wrong[:8].tolist())
    assert not len(wrong), f"{len(wrong)} of {len(want)} differ; {shown}"


def test_the_recording_has_exactly_these_cases() -> None:
    recorded, errors = recording()
    assert set(recorded) == {case.name for case in CASES} >= set(errors)
