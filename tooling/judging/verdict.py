"""The frozen types of a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from tooling.catalog.catalogue import Selection
from tooling.execution.program import Transcript
from tooling.judging.comparison import Comparison
from tooling.judging.texts import EXPLANATIONS
from tooling.platform.exit_codes import ExitCode
from tooling.targets.model import Choice
from tooling.text import Sentence, joined

if TYPE_CHECKING:
    from tooling.execution.channel import Buffer
    from tooling.judging.reference import ReferenceCase
    from tooling.simulator.checks.findings import Finding


class Outcome(Enum):
    """The outcome of a run."""

    PASSED = "passed"
    WRONG = "wrong"
    TIME_LIMIT = "time-limit"
    UNJUDGED = "unjudged"  # a demo or a benchmark that ended well
    UNDECIDED = "undecided"  # the values are right, but this target has no counters to judge

    @property
    def exit_code(self) -> ExitCode:
        return {
            Outcome.WRONG: ExitCode.WRONG,
            Outcome.TIME_LIMIT: ExitCode.TIME_LIMIT,
            Outcome.UNDECIDED: ExitCode.NOT_POSSIBLE,
        }.get(self, ExitCode.PASSED)


class Problem(Struct, frozen=True):
    """One thing that is wrong.

    Attributes:
        place: the source line concerned, with its text; None if it is not known.
    """

    name: str  # a diagnosis, `mismatch`, `counters`, `crash`, `time-limit` or `program-error`
    what: Sentence
    cause: Sentence
    advice: Sentence
    output: str = ""  # of `counters`: the kernel
    comparison: Comparison | None = None
    also: tuple[str, ...] = ()  # further diagnoses that fit
    facts: Mapping[str, Mapping[str, object]] = {}  # of each diagnosis, by its name
    place: Sentence | None = None


def line_of_code(place: str, source: str) -> Sentence:
    """A place in a file, and the line of code there; an empty one is unknown."""
    return joined([place, f"`{source}`"] if source else [place], ": ")


def explained(name: str, *, text: str = "", output: str = "", **facts: Any) -> Problem:
    """A problem with the sentences of `name`, or with those of `text`."""
    what, cause, advice = EXPLANATIONS[text or name].of({"output": output, **facts})
    return Problem(name, what, cause, advice, output)


class CaseVerdict(Struct, frozen=True):
    """The verdict on one data set."""

    dataset: str
    transcript: Transcript
    problems: tuple[Problem, ...]
    findings: tuple[Finding, ...] = ()  # of the simulated GPU
    uncounted: bool = False  # the mode requires counters, and the target has none
    submitted: Mapping[str, Buffer] = {}  # the outputs, by name
    reference: ReferenceCase | None = None
    inputs: Mapping[str, str] = {}  # the first elements of each input, as text
    launches: int | None = None  # how many kernels were launched, where that is known
    unchecked: tuple[str, ...] = ()  # keys of the mode's requirements that this target does not show

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Findings that make the verdict wrong."""
        return tuple(finding for finding in self.findings if finding.severity.value == "error")

    @property
    def right(self) -> bool:
        return not self.problems and not self.errors


class Verdict(Struct, frozen=True):
    """The verdict on one mode of one program."""

    selection: Selection
    choice: Choice
    solution: bool  # the solution was judged, not the problem file
    cases: tuple[CaseVerdict, ...]
    outcome: Outcome
    seconds: float
    notes: tuple[Sentence, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """Every diagnosis, program failure and simulator check that makes the verdict wrong."""
        found: set[str] = set()
        for case in self.cases:
            for problem in case.problems:
                found.update((problem.name, *problem.also))
            found.update(finding.check.value for finding in case.errors)
        return frozenset(found)
