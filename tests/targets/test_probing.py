"""Names and presence of GPUs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tooling.targets import probing
from tooling.targets.model import Absence, Target, TargetKind
from tooling.text import in_language


@pytest.mark.parametrize(
    ("compute", "name"),
    [((7, 5), "sm_75"), ((8, 0), "sm_80"), ((8, 9), "sm_89"), ((9, 0), "sm_90a"), ((10, 0), "sm_100a")],
)
def test_nvidia_names(compute: tuple[int, int], name: str) -> None:
    assert probing.nvidia_accelerator(compute) == name


@pytest.mark.parametrize(
    ("version", "name"),
    [(90402, "gfx942"), (90010, "gfx90a"), (90500, "gfx950"), (110001, "gfx1101"), (120000, "gfx1200")],
)
def test_amd_names(version: int, name: str) -> None:
    assert probing.amd_accelerator(version) == name


def test_amd_gpus_are_found_after_the_processors_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, version in enumerate((0, 90402)):
        node = tmp_path / str(number)
        node.mkdir()
        (node / "properties").write_text(f"cpu_cores_count 8\ngfx_target_version {version}\n")
    monkeypatch.setattr("os.access", lambda path, mode: True)
    found = probing._amd(tmp_path)
    assert isinstance(found, Target)
    assert found.accelerator == "gfx942"
    monkeypatch.setattr("os.access", lambda path, mode: False)
    closed = probing._amd(tmp_path)
    assert isinstance(closed, Absence)
    assert "/dev/kfd cannot be opened" in in_language(closed.reason, "en")
    assert "/dev/kfd를 열 수 없습니다" in in_language(closed.reason, "ko")


def test_hidden_nvidia_gpus_are_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    found = probing._nvidia()
    assert isinstance(found, Absence)
    assert found.kind is TargetKind.NVIDIA
