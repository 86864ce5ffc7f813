"""The lab module for Python programs writes and reads the same files as the one for Mojo."""

from __future__ import annotations

import importlib.util
import itertools
import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from tooling.execution.channel import VARIABLE, LabFolder

LAB = Path(__file__).parents[2] / "problems" / "lab"


@pytest.fixture
def lab() -> ModuleType:
    return load("__init__.py")


@pytest.fixture
def timing() -> ModuleType:
    return load("timing.py")


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location("lab", LAB / name)
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
    assert folder.used({"a": 4})["a"].array().tolist() == [5, 6, 7, 8]
    assert folder.submitted({"out": 4})["out"].array().tolist() == [10, 14, 12, 16]
    assert folder.submitted({"out": 4})["out"].dtype == "float32"


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


@pytest.mark.parametrize(("arguments", "chosen"), [([], ""), (["--benchmark"], "--benchmark")])
def test_a_mode_may_do_without_a_flag(
    lab: ModuleType, monkeypatch: pytest.MonkeyPatch, arguments: list[str], chosen: str
) -> None:
    monkeypatch.setattr("sys.argv", ["p21.py", *arguments])
    assert lab.choose_mode("p21", ["--benchmark"], without=True) == chosen
    monkeypatch.setattr("sys.argv", ["p21.py", "--other"])
    with pytest.raises(SystemExit) as ended:
        lab.choose_mode("p21", ["--benchmark"], without=True)
    assert ended.value.code == 2


def test_each_timed_call_is_waited_for(
    timing: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(timing.SIMULATOR_VARIABLE, raising=False)
    done: list[str] = []
    mean = timing.print_time("copy", lambda: done.append("call"), lambda: done.append("wait"), calls=3)
    assert mean is not None
    assert mean > 0
    timed = (len(done) - timing.WARM_UP - 1) // 2
    assert timed % 3 == 0
    assert 3 <= timed < timing.MOST_CALLS + 3
    assert done == ["call"] * timing.WARM_UP + ["wait"] + ["call", "wait"] * timed
    shown = capsys.readouterr().out
    assert re.fullmatch(rf"copy: \d+\.\d us \(standard error \d+\.\d%, {timed} calls\)\n", shown)


def test_times_that_have_settled_are_enough(timing: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(timing.SIMULATOR_VARIABLE, raising=False)
    clock = itertools.count()
    monkeypatch.setattr(timing.time, "perf_counter", lambda: next(clock))
    assert timing.print_time("copy", lambda: None, lambda: None, calls=10) == 1e6
    assert next(clock) == 20


def test_the_error_is_that_of_the_mean(
    timing: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(timing.SIMULATOR_VARIABLE, raising=False)
    clock = iter([0, 100, 200, 301, 400, 499])  # calls of 100, 101 and 99 seconds
    monkeypatch.setattr(timing.time, "perf_counter", lambda: next(clock))
    assert timing.print_time("copy", lambda: None, lambda: None, calls=3) == pytest.approx(100e6)
    assert "(standard error 0.6%, 3 calls)" in capsys.readouterr().out  # 1 / sqrt(3) of 100


def test_the_simulated_gpu_is_never_timed(
    timing: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(timing.SIMULATOR_VARIABLE, "/somewhere")
    done: list[str] = []
    mean = timing.print_time("copy", lambda: done.append("call"), lambda: done.append("wait"), calls=3)
    assert mean is None
    assert done == ["call", "wait"]
    assert capsys.readouterr().out == "copy: no time on the simulated GPU\n"
