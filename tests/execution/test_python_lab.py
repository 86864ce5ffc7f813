"""The lab module for Python programs writes and reads the same files as the one for Mojo."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from tooling.execution.channel import VARIABLE, LabFolder

LAB = Path(__file__).parents[2] / "problems" / "lab" / "__init__.py"


@pytest.fixture
def lab() -> ModuleType:
    spec = importlib.util.spec_from_file_location("lab", LAB)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_without_a_judge_nothing_happens(lab: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    values = np.arange(4, dtype=np.float32)
    lab.stage("a", values)
    lab.submit("out", values)
    assert values.tolist() == [0, 1, 2, 3]


def test_the_judge_replaces_and_collects(
    lab: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    folder = LabFolder(tmp_path)
    folder.stage({"a": np.array([[5, 6], [7, 8]], np.float32)})
    values = np.zeros((2, 2), np.float32)
    lab.stage("a", values)
    lab.submit("out", (values * 2).T)
    assert values.tolist() == [[5, 6], [7, 8]]
    assert folder.used()["a"].array().tolist() == [5, 6, 7, 8]
    assert folder.submitted()["out"].array().tolist() == [10, 14, 12, 16]
    assert folder.submitted()["out"].dtype == "float32"


def test_a_staged_file_must_fit(lab: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    LabFolder(tmp_path).stage({"a": np.zeros(3, np.float32)})
    with pytest.raises(ValueError, match="holds 12 bytes, but the array 'a' has 16"):
        lab.stage("a", np.zeros(4, np.float32))


@pytest.mark.parametrize(
    ("arguments", "status"),
    [([], 2), (["--other"], 2), (["--fused", "--fused"], 2), (["--help"], 0)],
)
def test_the_usage_line_names_the_modes(
    lab: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    status: int,
) -> None:
    monkeypatch.setattr("sys.argv", ["p22.py", *arguments])
    with pytest.raises(SystemExit) as ended:
        lab.choose_mode("p22", ["--fused", "--backward"])
    assert ended.value.code == status
    shown = capsys.readouterr()
    assert "usage: p22 (--fused | --backward)" in shown.out + shown.err


def test_a_flag_chooses_the_mode(lab: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["p22.py", "--backward"])
    assert lab.choose_mode("p22", ["--fused", "--backward"]) == "--backward"
    with pytest.raises(SystemExit):
        lab.expect_no_flags("p17")
