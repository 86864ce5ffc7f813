"""A verdict as plain data: facts, and the keys of messages. Every report of a verdict is rendered from it.

It has no sentence of a language, so a changed wording does not change a record. What only a sentence can say,
such as the reason of a driver's error, is recorded by its message of the catalogues; a text of a puzzle's
author, by its English version.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from tooling.catalog.model import ModeKind, ProgramLanguage
from tooling.execution.program import Ending, without_noise
from tooling.judging.verdict import CaseVerdict, Outcome, Problem, SourceLine, Verdict, sentences_of
from tooling.simulator.checks.findings import Finding
from tooling.targets.model import Target
from tooling.text import Sentence

BOOK = "book"
"""The data set that a program itself has."""
_STDERR_LINES = 8


class Element(Struct, frozen=True):
    """An element that differs; its values as text, since JSON has neither NaN nor infinities."""

    index: tuple[int, ...]
    got: str
    expected: str


class Mismatch(Struct, frozen=True):
    """The elements of an output that differ, and the first ones of them."""

    total: int
    differing: int
    first: tuple[Element, ...]


class ProblemRecord(Struct, frozen=True, omit_defaults=True):
    """One thing that is wrong; the fields are those of `Problem`."""

    name: str
    message: str
    facts: dict[str, Any] = {}
    output: str = ""
    also: tuple[str, ...] = ()
    line: SourceLine | None = None
    mismatch: Mismatch | None = None

    @property
    def sentences(self) -> tuple[Sentence, Sentence, Sentence]:
        """What is wrong, its cause and what to try.

        Raises:
            KeyError: there is no such message.
        """
        return sentences_of(self.message, self.output, self.facts)


class CaseRecord(Struct, frozen=True, omit_defaults=True):
    """The verdict on one data set.

    Attributes:
        seconds: after which a time limit ended the program.
        stderr: the last lines of standard error.
        inputs: the name and the first elements of each input.
        schedule: of a run in another order of threads: the simulated GPU's name of that order.
    """

    dataset: str
    ending: Ending = Ending.EXITED
    status: int = 0
    seconds: float = 0.0
    problems: tuple[ProblemRecord, ...] = ()
    findings: tuple[Finding, ...] = ()
    stderr: tuple[str, ...] = ()
    inputs: tuple[tuple[str, str], ...] = ()
    launches: int | None = None
    unchecked: tuple[str, ...] = ()
    schedule: str = ""

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Findings that make the verdict wrong."""
        return tuple(finding for finding in self.findings if finding.severity.value == "error")

    @property
    def right(self) -> bool:
        return not self.problems and not self.errors


class VerdictRecord(Struct, frozen=True, omit_defaults=True):
    """The verdict on one mode of one program.

    Attributes:
        hints: how many are offered; None where none are, as with a solution.
        replayable: whether a replay of a wrong answer is offered.
        seconds: how long the run took; None where that differs from run to run and is not shown.
    """

    command: str
    target: Target
    outcome: Outcome
    cases: tuple[CaseRecord, ...]
    hints: int | None = None
    replayable: bool = False
    seconds: float | None = None

    @property
    def wrong_case(self) -> CaseRecord | None:
        """The data set that is shown: the first one with which the answer is wrong."""
        return next((case for case in self.cases if not case.right), None)


def record_of(verdict: Verdict) -> VerdictRecord:
    """The record of a verdict."""
    mode, target = verdict.selection.mode, verdict.choice.target
    offered = mode.kind is ModeKind.PUZZLE and not verdict.solution
    is_mojo = verdict.selection.program.language is ProgramLanguage.MOJO
    return VerdictRecord(
        verdict.selection.command,
        target,
        verdict.outcome,
        tuple(map(case_record, verdict.cases)),
        hints=len(mode.hints) if offered else None,
        replayable=offered and is_mojo and target.simulated,
        seconds=verdict.seconds,
    )


def case_record(case: CaseVerdict) -> CaseRecord:
    """The record of one data set."""
    transcript = case.transcript
    stderr = [line for line in without_noise(transcript.stderr).splitlines() if line.strip()]
    return CaseRecord(
        case.dataset,
        transcript.ending,
        transcript.status,
        transcript.seconds,
        tuple(map(_problem_of, case.problems)),
        case.findings,
        tuple(stderr[-_STDERR_LINES:]),
        tuple(case.inputs.items()),
        case.launches,
        case.unchecked,
        case.schedule,
    )


def _problem_of(problem: Problem) -> ProblemRecord:
    mismatch = None
    if problem.comparison:
        first = tuple(
            Element(each.index, str(each.got), str(each.expected)) for each in problem.comparison.first
        )
        mismatch = Mismatch(problem.comparison.total, problem.comparison.differing, first)
    return ProblemRecord(
        problem.name,
        problem.message,
        dict(problem.facts),
        problem.output,
        problem.also,
        problem.line,
        mismatch,
    )
