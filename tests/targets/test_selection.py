"""Which GPUs may run a mode, and what is said where none may."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.judging.test_judge import MODE
from tooling.catalog.catalogue import Selection
from tooling.catalog.model import Program, ProgramLanguage, Puzzle, Requirement, TensorApi, Vendor
from tooling.targets.model import Absence, Target, TargetKind
from tooling.targets.probing import SIMULATED, SIMULATED_AMD
from tooling.targets.selection import ModeGated, choose, gate
from tooling.text import LocalText, in_language


def needing(compute: tuple[int, int]) -> Selection:
    """A mode that needs at least this compute capability of NVIDIA GPUs."""
    because = LocalText.of(en="clusters", ko="클러스터")
    mode = replace(MODE, requirements=(Requirement(Vendor.NVIDIA, compute=compute, because=because),))
    program = Program("p01", TensorApi.RAW, Path("p01.mojo"), Path("p01.mojo"))
    puzzle = Puzzle(
        "p01", 1, LocalText.of(en="Map", ko="맵"), "I", (), (program,), (mode,), Path("puzzle.yaml")
    )
    return Selection(puzzle, program, mode)


def gpu(compute: tuple[int, int]) -> Target:
    return Target(TargetKind.NVIDIA, "GPU of the test", "sm_00", compute)


@pytest.mark.parametrize(
    ("wanted", "have"),
    [((9, 0), (9, 0)), ((8, 0), (8, 0)), ((8, 0), (8, 6)), ((9, 0), (10, 0)), ((12, 1), (12, 1))],
)
def test_a_gpu_with_the_required_compute_capability_or_a_higher_one_may_run_a_mode(
    wanted: tuple[int, int], have: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    selection = needing(wanted)
    assert gate(selection, TargetKind.NVIDIA, gpu(have)) is None
    monkeypatch.setattr("tooling.targets.selection.probe", lambda kind: gpu(have))
    assert choose(selection, "nvidia").target == gpu(have)


def test_a_machine_with_fewer_gpus_is_refused_with_both_numbers() -> None:
    selection = needing((8, 0))
    selection = replace(selection, mode=replace(selection.mode, gpus=2))
    assert gate(selection, TargetKind.NVIDIA, replace(gpu((9, 0)), gpus=2)) is None
    reason = gate(selection, TargetKind.NVIDIA, gpu((9, 0)))
    assert reason is not None
    assert reason.render("en") == "it needs 2 GPUs, and there is 1"
    assert reason.render("ko") == "GPU가 2개 필요한데 1개 있습니다"
    assert gate(selection, TargetKind.SIM, SIMULATED) is None
    assert gate(selection, TargetKind.SIM_AMD, SIMULATED_AMD) is not None


def test_a_gpu_with_another_number_of_lanes_is_refused_with_both_numbers() -> None:
    because = LocalText.of(en="matrices", ko="행렬")
    selection = needing((8, 0))
    mode = replace(MODE, requirements=(Requirement(Vendor.AMD, lanes=64, because=because),))
    selection = replace(selection, mode=mode)
    targets = [Target(TargetKind.AMD, "GPU of the test", name) for name in ("gfx942", "gfx1100")]
    assert gate(selection, TargetKind.AMD, targets[0]) is None
    assert gate(selection, TargetKind.AMD) is None
    reason = gate(selection, TargetKind.AMD, targets[1])
    assert reason is not None
    assert reason.render("en") == (
        "matrices: it needs warps of 64 lanes, and those of GPU of the test have 32"
    )
    assert (
        reason.render("ko") == "행렬: 워프당 레인 64개가 필요하지만 GPU of the test의 워프에는 32개뿐입니다"
    )


@pytest.mark.parametrize("kind", [TargetKind.SIM_AMD, TargetKind.SIM_GFX1100])
def test_the_simulated_amd_gpu_does_not_run_graphs(kind: TargetKind) -> None:
    selection = needing((8, 0))
    graph = replace(selection, program=replace(selection.program, language=ProgramLanguage.PYTHON))
    assert gate(selection, kind) is None
    with pytest.raises(ModeGated) as caught:
        choose(graph, kind.value)
    assert str(caught.value) == (
        f"`p01` does not run on the target `{kind.value}`\n"
        "  why: graphs of MAX are not supported on the simulated AMD GPU yet\n"
        "  try: it runs on: nvidia, amd, apple, sim"
    )


@pytest.mark.parametrize(
    ("wanted", "have", "numbers"),
    [
        ((9, 0), (8, 9), ("9.0", "8.9")),
        ((8, 6), (8, 0), ("8.6", "8.0")),
        ((10, 0), (9, 0), ("10.0", "9.0")),  # compared as numbers, not as text
    ],
)
def test_a_gpu_with_a_lower_one_is_refused_with_both_numbers(
    wanted: tuple[int, int], have: tuple[int, int], numbers: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    selection, (needs, has) = needing(wanted), numbers
    english = f"clusters: it needs {needs}, and GPU of the test has {has}"
    korean = f"클러스터: {needs} 이상이 필요하지만 이 GPU(GPU of the test)는 {has}입니다"
    reason = gate(selection, TargetKind.NVIDIA, gpu(have))
    assert reason is not None
    assert (reason.render("en"), reason.render("ko")) == (english, korean)
    monkeypatch.setattr("tooling.targets.selection.probe", lambda kind: gpu(have))
    with pytest.raises(ModeGated) as caught:
        choose(selection, "nvidia")
    assert str(caught.value) == (
        f"`p01` does not run on the target `nvidia`\n  why: {english}\n"
        "  try: it runs on: amd, apple, sim, sim-amd, sim-gfx1100"
    )
    assert caught.value.exit_code == 4


def test_without_a_gpu_that_may_run_it_a_mode_runs_on_the_simulated_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    simulated = Target(TargetKind.SIM, "simulated GPU", "sm_90a", (9, 0))
    found = {TargetKind.NVIDIA: gpu((8, 9)), TargetKind.SIM: simulated}
    monkeypatch.setattr(
        "tooling.targets.selection.probe", lambda kind: found.get(kind, Absence(kind, "none", "none"))
    )
    choice = choose(needing((9, 0)))
    assert choice.target == simulated
    assert in_language(choice.reason, "en") == (
        "GPU of the test cannot run it: clusters: it needs 9.0, and GPU of the test has 8.9"
    )
    assert choose(needing((8, 9))).target == gpu((8, 9))
