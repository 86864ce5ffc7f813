"""`tooling check`: one verdict for each check, and none that passes without having run."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tooling.platform.exit_codes import ExitCode
from tooling.project import Project
from tooling.repository_checks import CheckResult, RepositoryCheck, run_checks

HANGS = """\
#!/bin/sh
if [ "$3" = endless ]; then echo $$ > endless.pid; exec sleep 3600; fi
until [ -s endless.pid ]; do sleep 0.1; done
sleep 0.5
"""

if TYPE_CHECKING:
    from tests.cli.conftest import Workbench


def test_each_check_has_its_verdict_and_one_that_could_not_run_has_not_passed(
    workbench: Workbench, tmp_path: Path
) -> None:
    workbench.run("generate", "--force")
    report = tmp_path / "check.json"
    result = workbench.run("check", "--json", str(report))  # the project has no pages
    assert result.status not in (ExitCode.PASSED, ExitCode.INTERNAL)
    assert "✅ generated files: " in result.stdout
    assert (
        "error: translations: could not run (`tooling check-translations --all-languages --fail-on warning`)"
        in result.stdout
    )
    statuses = {each["name"]: each["status"] for each in json.loads(report.read_text())["results"]}
    assert (statuses["generated files"], statuses["translations"]) == ("passed", "error")
    assert statuses["book"] != "passed"


def test_what_a_check_found_is_shown(workbench: Workbench) -> None:
    result = workbench.run("check")
    assert result.status == ExitCode.WRONG
    assert "❌ generated files: failed (`tooling generate --check`)" in result.stdout
    assert '     +p01 = "tooling run p01"' in result.stdout


def test_a_workflow_shows_what_each_check_found_beside_its_file(workbench: Workbench) -> None:
    summary = workbench.root / "summary.md"
    result = workbench.run("check", GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(summary))
    assert "\n::error file=pixi.toml,title=generated file::" in result.stdout
    text = summary.read_text()
    assert text.startswith("### `tooling check`: ❌ 3 of 3 failed\n")  # and no summary of each check
    assert text.count("### ") == 1
    assert '+p01 = "tooling run p01"' in text
    assert "::error" not in text
    outside = workbench.run("check")
    assert "::error" not in outside.stdout


@pytest.mark.parametrize(
    ("arguments", "finding"),
    [
        (("list", "--help"), CheckResult.NOTHING),
        (("no-such-command",), CheckResult.NOT_RUN),
        (("list", "--no-such-option"), CheckResult.NOT_RUN),
    ],
)
def test_another_exit_status_is_no_verdict(
    workbench: Workbench, arguments: tuple[str, ...], finding: CheckResult
) -> None:
    (outcome,) = run_checks(Project(workbench.root), [RepositoryCheck("one", arguments)])
    assert outcome.finding is finding
    assert outcome.output


def test_checks_that_nobody_waits_for_any_more_are_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "python"
    program.write_text(HANGS, encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(program))
    outcomes = run_checks(
        Project(tmp_path), [RepositoryCheck("quick", ("quick",)), RepositoryCheck("endless", ("endless",))]
    )
    assert next(outcomes).finding is CheckResult.NOTHING
    outcomes.close()  # as an interrupt does; it comes back only because the other check was ended
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "endless.pid").read_text(encoding="utf-8")), 0)
