"""A command that code of others ends before its verdict does not pass."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import MANIFEST, REFERENCE, Workbench
from tooling.book.errors import BookError
from tooling.book.figures.facts import Facts
from tooling.book.puzzle_index import PuzzleIndex
from tooling.cli import list_command, main
from tooling.commandline.options import ListOptions
from tooling.platform.exit_codes import ExitCode
from tooling.platform.workers import WorkerDied
from tooling.project import Project
from tooling.reports.records import ReportRecord
from tooling.verify import trying

LEAVE = "import sys\n"
IMPORTED = LEAVE + REFERENCE + "\nsys.exit(0)\n"
CALLED = LEAVE + REFERENCE.replace('    return {"out"', '    sys.exit(0)\n    return {"out"')
QUITTING = REFERENCE.replace("(mode, dataset):", "(mode, dataset):\n    quit()")
SAID = (
    (IMPORTED, "the reference cannot be imported", 13),
    (CALLED, "the reference fails for mode `default`, data set `book`", 11),
    (
        REFERENCE.replace("def inputs(mode, dataset):", "def inputs(mode, dataset):\n    quit()"),
        "fails for",
        4,
    ),
)


def write_reference(workbench: Workbench, text: str) -> Path:
    path = workbench.solution.parent / "reference.py"
    path.write_text(text)
    return path


@pytest.mark.parametrize(("reference", "said", "line"), SAID)
def test_a_reference_that_ends_the_program_is_its_own_defect(
    workbench: Workbench, tmp_path: Path, reference: str, said: str, line: int
) -> None:
    path = write_reference(workbench, reference)
    report = tmp_path / "report.xml"
    result = workbench.run("run", "p01", "--junit", str(report))
    assert result.status == ExitCode.USAGE
    message = " ".join(result.stderr.split())
    assert f"error: {path}:{line}: " in message
    assert said in message
    assert "why: SystemExit: " in message
    assert "remove `sys.exit()`" in message
    assert ET.parse(report).getroot()[0].attrib["errors"] == "1"


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("reference", [IMPORTED, CALLED])
def test_verify_judges_the_other_puzzles_all_the_same(
    workbench: Workbench, tmp_path: Path, jobs: str, reference: str
) -> None:
    write_reference(workbench, reference)
    for kind in ("problems", "solutions"):
        other = workbench.root / kind / "p02"
        other.mkdir()
        (other / "p02.mojo").write_text(workbench.solution.read_text())
    (workbench.root / "solutions" / "p02" / "reference.py").write_text(REFERENCE)
    second = MANIFEST.replace("p01", "p02").replace("number: 1\n", "number: 2\n").replace("_01", "_02")
    (workbench.root / "problems" / "p02" / "puzzle.yaml").write_text(second)
    report, junit = tmp_path / "report.json", tmp_path / "report.xml"
    result = workbench.run(
        "verify", "--require-all", "--only", "solution", "--jobs", jobs,
        "--json", str(report), "--junit", str(junit),
    )  # fmt: skip
    assert result.status == ExitCode.WRONG
    results = json.loads(report.read_text())["results"]
    assert {each["name"]: each["status"] for each in results} == {
        "p01 solution": "error",
        "p02 solution": "passed",
    }
    assert [suite.attrib["errors"] for suite in ET.parse(junit).getroot()] == ["1", "0"]


ENDINGS = {
    "exit": "import os\nos._exit(0)\n",
    "late_exit": "import atexit, os\natexit.register(lambda: os._exit(0))\n",
    "generator": "raise GeneratorExit\n",
    "interrupt": "raise KeyboardInterrupt\n",
    "kill": "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n",
    "group": "import os, signal\nos.killpg(0, signal.SIGTERM)\n",
    "recursion": "import sys\nsys.setrecursionlimit(30)\n",
    "output": "import os\nos.closerange(0, 100)\n",
    "called": "import os\n" + REFERENCE.replace('    return {"out"', '    os._exit(0)\n    return {"out"'),
}


def test_no_way_to_end_its_process_hides_the_verdict(workbench: Workbench, tmp_path: Path) -> None:
    """Each puzzle has a wrong solution and a reference that ends its process in another way."""
    workbench.solution.write_text(workbench.solution.read_text().replace("a[i] + 10", "a[i] + 11", 1))
    for number, text in enumerate(ENDINGS.values(), 2):
        name = f"p{number:02}"
        for kind in ("problems", "solutions"):
            (workbench.root / kind / name).mkdir()
            (workbench.root / kind / name / f"{name}.mojo").write_text(workbench.solution.read_text())
        manifest = MANIFEST.replace("p01", name).replace("number: 1\n", f"number: {number}\n")
        (workbench.root / "problems" / name / "puzzle.yaml").write_text(
            manifest.replace("puzzle_01/puzzle_01", f"puzzle_{number:02}/puzzle_{number:02}")
        )
        (workbench.root / "solutions" / name / "reference.py").write_text(REFERENCE + "\n" + text)
    report, junit = tmp_path / "report.json", tmp_path / "report.xml"
    result = workbench.run(
        "verify", "--only", "solution", "--jobs", "1", "--json", str(report), "--junit", str(junit)
    )
    assert result.status == ExitCode.WRONG
    assert "Traceback" not in result.stderr
    results = {each["name"]: each for each in json.loads(report.read_text())["results"]}
    found = {ending: results[f"p{number:02} solution"]["status"] for number, ending in enumerate(ENDINGS, 2)}
    assert found == dict.fromkeys(ENDINGS, "error") | {"late_exit": "failed"}
    assert results["p01 solution"]["status"] == "failed"
    ended = [suite for suite in ET.parse(junit).getroot() if suite.attrib["errors"] == "1"]
    assert len(ended) == len(ENDINGS) - 1
    assert "it ended its process with status 0" in ET.tostring(ended[0], "unicode")


@pytest.mark.parametrize(("ending", "why"), [("exit", "status 0"), ("kill", "SIGKILL ended it")])
def test_run_names_a_reference_that_ends_its_process(
    workbench: Workbench, tmp_path: Path, ending: str, why: str
) -> None:
    path = write_reference(workbench, REFERENCE + "\n" + ENDINGS[ending])
    report = tmp_path / "report.xml"
    result = workbench.run("run", "p01", "--junit", str(report))
    assert result.status == ExitCode.USAGE
    message = " ".join(result.stderr.split())
    assert f"error: {path}: the reference cannot be imported why: " in message
    assert why in message
    assert ET.parse(report).getroot()[0].attrib["errors"] == "1"


def test_a_worker_of_verify_that_is_killed_leaves_a_report(
    workbench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(*_: object, **__: object) -> Iterator[ReportRecord]:
        yield ReportRecord("p01", "p01 solution", "passed", 0.1, "", "", {"subject": "solution"})
        raise WorkerDied("a worker process was killed before it had answered")

    junit = tmp_path / "report.xml"
    monkeypatch.chdir(workbench.root)
    for name, value in workbench.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(trying, "try_all", dies)
    assert main(["verify", "--junit", str(junit)]) == ExitCode.NOT_POSSIBLE
    assert [suite.attrib["errors"] for suite in ET.parse(junit).getroot()] == ["0", "1"]


def test_a_command_ended_from_within_is_a_defect(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def end(_: ListOptions) -> int:
        raise SystemExit(0)

    monkeypatch.setattr(list_command, "list_command", end)
    assert main(["list"]) == ExitCode.INTERNAL
    assert "CommandEnded: `tooling list` was ended by SystemExit(0)" in capsys.readouterr().err


def test_help_still_ends_well() -> None:
    for arguments in (["--help"], ["list", "--help"]):
        with pytest.raises(SystemExit) as end:
            main(arguments)
        assert end.value.code == 0


def test_a_figure_whose_reference_ends_the_program_is_an_error_of_the_book(tmp_path: Path) -> None:
    (tmp_path / "solutions" / "p01").mkdir(parents=True)
    path = tmp_path / "solutions" / "p01" / "reference.py"
    path.write_text(IMPORTED)
    facts = Facts(PuzzleIndex(Project(tmp_path)), "p01")
    with pytest.raises(BookError, match="the reference cannot be imported") as refusal:
        facts.inputs("default")
    assert str(refusal.value.where) == f"{path}:13"
