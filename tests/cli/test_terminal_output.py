"""What a run shows in a terminal: signs of life, whole words, and no flood."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import PROLOGUE
from tests.cli.test_learner_commands import in_terminal
from tooling.cli import main
from tooling.platform.exit_codes import ExitCode

if TYPE_CHECKING:
    from tests.cli.conftest import Workbench


def test_a_terminal_shows_that_the_compiler_and_the_program_are_at_work(workbench: Workbench) -> None:
    text = workbench.solution.read_text().replace("# FILL", "import time; time.sleep(2)\n# FILL")
    workbench.problem.write_text(text + "# build of 2 seconds\n")
    shown = in_terminal(workbench, "run", "p01")
    assert "building p01.mojo … 1 s" in shown
    assert "running and judging p01, for at most 10 s (--timeout) … 1 s" in shown
    assert shown.rindex("\x1b[K") < shown.index("✅ p01 passed"), "the line is removed"
    assert "…" not in workbench.run("run", "p01").stdout


def test_endless_output_does_not_flood_a_terminal(workbench: Workbench) -> None:
    text = PROLOGUE + "for i in range(5000):\n    print('line', i)\n"
    workbench.problem.write_text(text + workbench.solution.read_text().removeprefix(PROLOGUE))
    shown = in_terminal(workbench, "run", "p01")
    assert "line 199\n" in shown
    assert "line 200\n" not in shown
    assert "lines left out]\n" in shown
    assert "Puzzle 01 complete ✅\n" in shown
    assert workbench.run("run", "p01").stdout.count("line ") >= 5000


def test_words_are_whole_at_80_columns(workbench: Workbench) -> None:
    manifest = workbench.manifest.read_text().replace("Which element is yours?", "word " * 40)
    workbench.manifest.write_text(manifest)
    for arguments in (["hint", "p01"], ["run", "p01", "--hint"]):
        lines = in_terminal(workbench, *arguments).splitlines()
        assert all(len(line) <= 80 for line in lines)
        assert sum(line.split().count("word") for line in lines) == 40


def test_a_missing_package_of_the_book_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "latex2mathml.converter", None)
    for name in ("UV", "POE_ACTIVE", "PIXI_ENVIRONMENT_NAME"):
        monkeypatch.delenv(name, raising=False)
    assert main(["book", "formulas"]) == ExitCode.NOT_POSSIBLE
    said = capsys.readouterr().err
    assert "latex2mathml is not installed" in said
    assert "begin the command with `uv run --group book`" in said
    assert "Traceback" not in said
