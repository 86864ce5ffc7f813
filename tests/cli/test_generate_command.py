"""`tooling generate`, and the commands that only show something."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

from tooling.platform.exit_codes import ExitCode

if TYPE_CHECKING:
    from tests.cli.conftest import Workbench


def test_drift_is_shown_as_a_diff_and_then_mended(workbench: Workbench) -> None:
    drifted = workbench.run("generate", "--check")
    assert drifted.status == ExitCode.WRONG
    assert "+# FILL ME IN (about 2 lines)" in drifted.stdout
    assert '+p01 = "tooling run p01"' in drifted.stdout
    assert workbench.run("generate", "--force").status == ExitCode.PASSED
    assert workbench.run("generate", "--check").status == ExitCode.PASSED
    assert "# FILL ME IN" in workbench.problem.read_text()
    assert 'p01 = "tooling run p01"' in (workbench.root / "pixi.toml").read_text()
    result = workbench.run("run", "p01")
    assert (result.status, "wrote nothing into `out`" in result.stdout) == (ExitCode.WRONG, True)


def test_a_learners_edits_are_not_overwritten(workbench: Workbench) -> None:
    workbench.run("generate", "--force")
    git = ["git", "-C", str(workbench.root), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "start"]):
        subprocess.run([*git, *arguments], check=True)
    workbench.answer("pass  # my own work\n")
    refused = workbench.run("generate")
    assert refused.status == ExitCode.USAGE
    assert "my own work" in workbench.problem.read_text()
    assert workbench.run("generate", "--force").status == ExitCode.PASSED
    assert "my own work" not in workbench.problem.read_text()
    copies = [copy.read_text() for copy in workbench.problem.parent.glob("p01.mojo.20*")]
    assert sum("my own work" in text for text in copies) == 1
    subprocess.run([*git, "checkout", "-q", "."], check=True)
    workbench.solution.write_text(workbench.solution.read_text().replace("about 2", "about 3"))
    assert workbench.run("generate").status == ExitCode.PASSED
    assert "about 3" in workbench.problem.read_text()


def test_asking_git_for_edits_runs_no_program_of_its_configuration(workbench: Workbench) -> None:
    workbench.run("generate", "--force")
    git = ["git", "-C", str(workbench.root), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    (workbench.root / ".gitattributes").write_text("*.mojo filter=mine\n")
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "start"]):
        subprocess.run([*git, *arguments], check=True)
    trap, sprung = workbench.root / "trap", workbench.root / "sprung"
    trap.write_text(f"#!/bin/sh\ntouch '{sprung}'\nexit 1\n")
    trap.chmod(0o755)
    for name in ("core.fsmonitor", "filter.mine.clean", "filter.mine.process"):
        subprocess.run([*git, "config", name, str(trap)], check=True)
    workbench.answer("pass  # my own work\n")
    workbench.solution.write_text(workbench.solution.read_text().replace("about 2", "about 3"))
    assert workbench.run("generate").status == ExitCode.USAGE
    assert "my own work" in workbench.problem.read_text()
    assert not sprung.exists()


def test_one_edited_problem_file_does_not_block_another_puzzle(workbench: Workbench) -> None:
    workbench.add_p34()
    refused = workbench.run("generate")  # without git, no problem file is known to be safe
    assert refused.status == ExitCode.USAGE
    assert "`tooling generate p15` writes the problem files of one puzzle alone" in refused.stderr
    workbench.answer("pass  # my own work\n")
    generated = workbench.run("generate", "p34", "--force")
    assert generated.status == ExitCode.PASSED
    assert "# FILL ME IN" in (workbench.root / "problems" / "p34" / "p34.mojo").read_text()
    assert "my own work" in workbench.problem.read_text()
    assert workbench.run("generate", "--check", "p34").status == ExitCode.PASSED
    assert workbench.run("generate", "--check").status == ExitCode.WRONG
    assert "did you mean" in workbench.run("generate", "p35").stderr


def test_the_jobs_of_ci_follow_from_the_manifests(workbench: Workbench) -> None:
    workbench.run("generate", "--force")
    matrix = workbench.root / ".ci" / "matrix.json"
    assert '"accelerator": "gfx942"' in matrix.read_text()
    gate = "targets: {amd: {unsupported: {en: no AMD, ko: AMD 없음}}}\n"
    workbench.manifest.write_text(workbench.manifest.read_text() + gate)
    drifted = workbench.run("generate", "--check")
    assert (drifted.status, '-        "accelerator": "gfx942"' in drifted.stdout) == (ExitCode.WRONG, True)
    workbench.run("generate", "--force")
    assert "gfx942" not in matrix.read_text()
    assert '"accelerator": "sm_90a"' in matrix.read_text()


def test_an_anchor_of_the_manifest_must_exist(workbench: Workbench) -> None:
    workbench.manifest.write_text(workbench.manifest.read_text().replace("[add_10]", "[add_11]"))
    result = workbench.run("generate", "--check")
    assert result.status == ExitCode.USAGE
    assert "the anchor `add_11_solution` of the manifest is not in the solution" in result.stderr


def test_the_matrix_gates_by_vendor_with_the_reason(workbench: Workbench) -> None:
    workbench.add_p34()
    workbench.run("generate", "--force")
    vendors = json.loads((workbench.root / ".ci" / "matrix.json").read_text())["vendors"]
    assert {"command": "p34 --coordination", "compute": "9.0"} in vendors["nvidia"]["run"]
    assert vendors["amd"]["run"] == [{"command": "p01"}]
    assert "SM 9.0" in vendors["amd"]["skip"][0]["because"]


def test_the_list_names_commands_and_gates(workbench: Workbench) -> None:
    workbench.add_p34()
    result = workbench.run("list", "--modes")
    assert result.status == ExitCode.PASSED
    assert "p34 --coordination" in result.stdout
    assert "nvidia ≥ 9.0" in result.stdout
    assert "맵" in workbench.run("list", "--lang", "ko", "--part", "I").stdout


def test_the_list_has_a_line_for_each_puzzle_and_its_filters(workbench: Workbench) -> None:
    workbench.add_p34()
    whole = (
        "Part I: First kernels\n  {sign} p01  Map\n\n"
        "Part XI: Tensor cores and clusters\n    p34  Clusters       nvidia ≥ 9.0\n\n"
        "`tooling list p01` shows the commands of a puzzle\n"
    )
    assert workbench.run("list").stdout == whole.format(sign=" ")
    workbench.run("run", "p01")
    assert workbench.run("list").stdout == whole.format(sign="✓")
    assert "Map" not in (todo := workbench.run("list", "--todo").stdout)
    assert "p34 --coordination  layout_tensor" in todo
    for words in (["map"], ["맵"], ["1"], ["--part", "I"]):
        shown = workbench.run("list", *words).stdout
        assert "\n    p01      raw         puzzle  nvidia, amd, apple\n" in shown, words
    assert workbench.run("list", "map", "clusters").stdout == "no puzzle matches\n"
    solved = {
        each["id"]: each["solved"] for each in json.loads(workbench.run("list", "--json").stdout)["puzzles"]
    }
    assert solved == {"p01": True, "p34": False}


def test_a_word_of_a_title_in_place_of_a_puzzle_finds_it(workbench: Workbench) -> None:
    workbench.add_p34()
    error = workbench.run("run", "cluster").stderr
    assert error.endswith("\n  try: did you mean `p34` (Clusters)?\n")
    korean = workbench.run("hint", "맵", "--lang", "ko").stderr
    assert "`p01`(맵)" in korean


def test_a_puzzle_without_its_manifest_is_not_suggested_for_itself(workbench: Workbench) -> None:
    workbench.manifest.unlink()
    result = workbench.run("run", "p01")
    assert result.status == ExitCode.USAGE
    assert f"error: {workbench.manifest}: the manifest of p01 is missing\n" in result.stderr
    assert "`git restore`" in result.stderr


def test_targets_say_why_they_are_absent(workbench: Workbench) -> None:
    result = workbench.run("targets")
    assert "nvidia      yes test GPU: sm_90a, compute capability 9.0, warps of 32 threads" in result.stdout
    assert "apple       no  this is not a Mac" in result.stdout
    korean = workbench.run("targets", "--lang", "ko").stdout
    assert "nvidia      가능 test GPU: sm_90a, 컴퓨팅 능력 9.0, 워프당 스레드 32개" in korean
    assert "sim-amd     가능 시뮬레이션 AMD GPU(gfx942): 워프당 스레드 64개" in korean
    assert "apple       불가 Apple 실리콘 Mac이 아닙니다" in korean


def test_targets_are_wrapped_beside_their_names(workbench: Workbench) -> None:
    shown = workbench.run("targets", "--lang", "ko", COLUMNS="60").stdout
    assert ("sim-amd     가능 시뮬레이션 AMD GPU(gfx942): 워프당 스레드\n                 64개\n") in shown


def test_help_lists_the_commands_without_loading_them(workbench: Workbench) -> None:
    result = workbench.run("--help")
    assert result.status == ExitCode.PASSED
    for name in ("run", "verify", "generate"):
        assert f"\n    {name} " in result.stdout


def test_list_shows_the_tensor_api_of_each_program(workbench: Workbench) -> None:
    workbench.add_p34()
    assert workbench.run("list", "--modes").stdout == (
        "    command             tensor API     kind    runs on\n"
        "\n"
        "Part I: First kernels\n"
        "  p01  Map\n"
        "    p01                 raw            puzzle  nvidia, amd, apple\n"
        "\n"
        "Part XI: Tensor cores and clusters\n"
        "  p34  Clusters\n"
        "    p34 --coordination  layout_tensor  puzzle  nvidia ≥ 9.0\n"
        "    p34 --demo          layout_tensor  demo    nvidia ≥ 9.0\n"
    )


def test_list_in_korean_in_a_narrow_terminal(workbench: Workbench) -> None:
    workbench.add_p34()
    manifest = workbench.root / "problems" / "p34" / "puzzle.yaml"
    manifest.write_text(manifest.read_text().replace("--coordination", "--coordination-of-all-clusters"))
    assert workbench.run("list", "--lang", "ko", "--part", "XI", COLUMNS="66").stdout == (
        "    명령                            텐서 API       종류  실행되는 GPU\n"
        "\n"
        "11부: 텐서 코어와 클러스터\n"
        "  p34  클러스터\n"
        "    p34                             layout_tensor  퍼즐  nvidia ≥ 9.0\n"
        "      --coordination-of-all-clusters\n"
        "    p34 --demo                      layout_tensor  데모  nvidia ≥ 9.0\n"
    )


def test_list_as_json(workbench: Workbench) -> None:
    result = workbench.run("list", "--json", "-")
    assert result.status == ExitCode.PASSED
    assert json.loads(result.stdout) == {
        "version": 1,
        "puzzles": [
            {
                "id": "p01",
                "part": "I",
                "title": {"en": "Map", "ko": "맵"},
                "solved": False,
                "programs": [
                    {
                        "name": "p01",
                        "api": "raw",
                        "language": "mojo",
                        "modes": [{"name": "default", "flags": [], "kind": "puzzle"}],
                    }
                ],
            }
        ],
    }
