"""`tooling matrix build`: what builds, held against the manifests in both directions."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tooling.platform.exit_codes import ExitCode

if TYPE_CHECKING:
    from tests.cli.conftest import Workbench

NO_AMD = "targets: {amd: {unsupported: {en: no clusters, ko: 클러스터 없음}}}\n"
BUILDS_ONLY = "targets: {amd: {unsupported: {en: no clusters, ko: 클러스터 없음}, builds: true}}\n"
REFUSED = "# not for gfx\n"


@pytest.mark.parametrize(
    ("gate", "solution", "status", "complaint"),
    [
        ("", "", ExitCode.PASSED, ""),
        (NO_AMD, REFUSED, ExitCode.PASSED, ""),
        (BUILDS_ONLY, "", ExitCode.PASSED, ""),
        ("", REFUSED, ExitCode.WRONG, "p01 gfx942: does not build, and its manifest does not gate it"),
        (NO_AMD, "", ExitCode.WRONG, "p01 gfx1100: builds, but its manifest says that amd GPUs are unsupp"),
        (BUILDS_ONLY, REFUSED, ExitCode.WRONG, "p01 gfx942: does not build, but its manifest says `builds"),
        ("", "# needs xcrun\n", ExitCode.NOT_POSSIBLE, "p01 apple-m4: could not be checked: xcrun metallib"),
    ],
)
def test_manifest_and_compiler_must_agree(
    workbench: Workbench, gate: str, solution: str, status: ExitCode, complaint: str
) -> None:
    workbench.manifest.write_text(workbench.manifest.read_text() + gate)
    workbench.solution.write_text(workbench.solution.read_text() + solution)
    result = workbench.run("matrix", "build", "--jobs", "2")
    assert (result.status, complaint in result.stdout) == (status, True), result.stdout + result.stderr


def test_the_compilers_reason_is_shown_at_the_programs_own_line(workbench: Workbench) -> None:
    workbench.solution.write_text("x = 1\ncall()  # not for gfx\n")
    result = workbench.run("matrix", "build", "--accelerator", "gfx942")
    assert f"{workbench.solution}:2:5: error: constraint failed: only NVIDIA GPUs have it" in result.stdout
    assert "     call()  # not for gfx\n" in result.stdout


def test_a_compute_capability_gates_running_not_building(workbench: Workbench) -> None:
    workbench.add_p34()
    solution = workbench.root / "solutions" / "p34" / "p34.mojo"
    solution.write_text(solution.read_text() + "# not for gfx\n# not for apple\n")
    result = workbench.run("matrix", "build", "p34")
    assert result.status == ExitCode.PASSED, result.stdout
    row = next(line for line in result.stdout.splitlines() if line.startswith("p34"))
    assert row.split()[1:4] == ["gated,", "builds", "[1]"]  # all modes are the same: none is named
    assert "[1] thread-block clusters: it needs 9.0, and sm_80 has 8.0" in result.stdout
    solution.write_text(solution.read_text() + "# not for sm_80\n")
    assert workbench.run("matrix", "build", "p34").status == ExitCode.PASSED
    solution.write_text(solution.read_text() + "# not for sm_90\n")
    assert workbench.run("matrix", "build", "p34").status == ExitCode.WRONG


def test_modes_that_differ_have_rows_of_their_own(workbench: Workbench) -> None:
    workbench.add_p34()
    manifest = workbench.root / "problems" / "p34" / "puzzle.yaml"
    ungated = "    targets: {nvidia: {}}\n"
    manifest.write_text(manifest.read_text().replace("    kind: demo\n", "    kind: demo\n" + ungated))
    result = workbench.run("matrix", "build", "p34", "--accelerator", "sm_80")
    rows = [line.split() for line in result.stdout.splitlines() if line.startswith("p34")]
    assert rows == [["p34", "coordination", "gated,", "builds", "[1]"], ["p34", "demo", "builds"]]


def test_one_build_serves_all_modes_and_nothing_is_built_twice(workbench: Workbench) -> None:
    workbench.add_p34()
    solution = workbench.root / "solutions" / "p34" / "p34.mojo"
    solution.write_text(solution.read_text() + "# not for gfx\n# not for apple\n")
    for _ in range(2):
        assert workbench.run("matrix", "build").status == ExitCode.PASSED
        assert len(workbench.builds) == 14  # two programs, seven accelerators; p34 has two modes


def test_reports_say_what_is_gated_and_why(workbench: Workbench, tmp_path: Path) -> None:
    workbench.manifest.write_text(workbench.manifest.read_text() + NO_AMD)
    workbench.solution.write_text(workbench.solution.read_text() + REFUSED)
    written = tmp_path / "matrix.json", tmp_path / "matrix.xml"
    workbench.run("matrix", "build", "--json", str(written[0]), "--junit", str(written[1]))
    report = json.loads(written[0].read_text())
    assert report["counts"] == {"passed": 5, "failed": 0, "error": 0, "skipped": 2}
    gated = next(each for each in report["results"] if each["accelerator"] == "gfx942")
    assert (gated["standing"], gated["because"]) == ("gated", "no clusters")
    assert ET.parse(written[1]).getroot()[0].attrib["skipped"] == "2"


def test_a_refusal_that_cannot_be_kept_is_a_refusal_all_the_same(workbench: Workbench) -> None:
    workbench.solution.write_text(workbench.solution.read_text() + REFUSED)
    workbench.manifest.write_text(workbench.manifest.read_text() + NO_AMD)
    cache = Path(workbench.environment["PUZZLE_CACHE_DIR"])
    cache.mkdir()
    (cache / "refused").write_text("a file where a folder belongs")
    for _ in range(2):
        before = len(workbench.builds)
        result = workbench.run("matrix", "build", "--accelerator", "gfx942", "--accelerator", "gfx1100")
        assert result.status == ExitCode.PASSED, result.stdout + result.stderr
        assert len(workbench.builds) == before + 2
        notes = [line for line in result.stdout.splitlines() if line.startswith("note: ")]
        assert len(notes) == 1
        assert "a refusal could not be cached" in notes[0]


def test_unknown_names_are_usage_errors(workbench: Workbench) -> None:
    for arguments, hint in ((["p02"], "did you mean `p01`"), (["--accelerator", "gfx94"], "`gfx942`")):
        result = workbench.run("matrix", "build", *arguments)
        assert (result.status, hint in result.stderr) == (ExitCode.USAGE, True)


def test_an_interrupt_ends_all_builds(workbench: Workbench) -> None:
    workbench.solution.write_text("# slow build\n")
    process = workbench.start("matrix", "build", "--jobs", "2")
    while len(workbench.builds) < 2:
        assert process.poll() is None
    process.send_signal(2)
    process.communicate(timeout=20)
    assert process.returncode == 130
    assert len(workbench.builds) == 2
