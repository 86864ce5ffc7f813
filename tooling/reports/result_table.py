"""The results of several puzzles, a line for each."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from tooling.judging.verdict import Outcome, Verdict
from tooling.platform.errors import ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.reports.terminal import Terminal
from tooling.simulator.checks.findings import explain
from tooling.targets.model import Target
from tooling.text import Text
from tooling.text.width import columns

_SECONDS = Text("{seconds:.1f} s")
_NOT_JUDGED = Text("not judged on this GPU")
_TIME_LIMIT = Text("the time limit was exceeded")
_SIGNS = {True: ("✓", "green"), False: ("✗", "red"), None: ("–", "yellow")}


class ProgramResult(Struct, frozen=True):
    """What became of one program.

    Attributes:
        passed: None where it could not be judged here.
        target: the GPU; None where none was chosen.
        reason: why it did not pass, in the reader's language; empty if it did.
    """

    command: str
    passed: bool | None
    exit_code: ExitCode
    target: Target | None = None
    seconds: float = 0.0
    reason: str = ""


def result_of(verdict: Verdict, language: str) -> ProgramResult:
    """The line of a judged program."""
    right = verdict.outcome in (Outcome.PASSED, Outcome.UNJUDGED)
    undecided = verdict.outcome is Outcome.UNDECIDED
    return ProgramResult(
        verdict.selection.command,
        None if undecided else right,
        verdict.outcome.exit_code,
        verdict.choice.target,
        verdict.seconds,
        "" if right else _NOT_JUDGED.render(language) if undecided else _reason(verdict, language),
    )


def result_of_error(command: str, error: ToolingError, language: str) -> ProgramResult:
    """The line of a program that was not run."""
    error.speak(language)
    passed = None if error.exit_code is ExitCode.NOT_POSSIBLE else False
    reason = f"{error.what}: {error.why}" if passed is None and error.why else error.what
    return ProgramResult(command, passed, error.exit_code, reason=reason)


def show_result(result: ProgramResult, width: int, terminal: Terminal, language: str) -> None:
    """Writes the command, padded to `width` columns, and the time; below it why the program did not pass."""
    sign, style = _SIGNS[result.passed]
    padded = result.command + " " * (width - columns(result.command))
    line = f"{terminal.paint(sign, style)} {padded}"
    if result.target:
        line += f"  {_SECONDS.of(seconds=result.seconds).render(language):>7}"
    terminal.line(line.rstrip())
    if result.reason:
        terminal.wrapped(f"    {result.reason}", "dim")


def show_results(results: Sequence[ProgramResult], terminal: Terminal, language: str) -> None:
    """Writes the lines of several programs below each other."""
    width = max((columns(result.command) for result in results), default=0)
    for result in results:
        show_result(result, width, terminal, language)


def _reason(verdict: Verdict, language: str) -> str:
    for case in verdict.cases:
        for finding in case.errors:
            return str(explain(finding, language).what)
        for problem in case.problems:
            return problem.what.render(language)
    return (_TIME_LIMIT if verdict.outcome is Outcome.TIME_LIMIT else _NOT_JUDGED).render(language)
