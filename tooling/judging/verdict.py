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
from tooling.text import Sentence

if TYPE_CHECKING:
    from tooling.execution.channel import BufferContent
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


class SourceLine(Struct, frozen=True):
    """A line of a program.

    Attributes:
        position: `FILE:LINE` or `FILE:LINE:COLUMN`.
        text: the code there; empty if it could not be read.
    """

    position: str
    text: str = ""

    def __str__(self) -> str:
        return f"{self.position}: `{self.text}`" if self.text else self.position


class Problem(Struct, frozen=True):
    """One thing that is wrong.

    Attributes:
        name: a diagnosis, `mismatch`, `counters`, `crash`, `time-limit` or `program-error`.
        message: the key of its sentences, see `sentences_of`.
        facts: of its sentences.
        output: of `counters`: the kernel.
        also: further diagnoses that fit.
        diagnoses: the facts of each diagnosis that fits, by its name.
        line: the source line concerned; None if it is not known.
    """

    name: str
    message: str
    facts: Mapping[str, Any] = {}
    output: str = ""
    comparison: Comparison | None = None
    also: tuple[str, ...] = ()
    diagnoses: Mapping[str, Mapping[str, object]] = {}
    line: SourceLine | None = None

    @property
    def what(self) -> Sentence:
        return sentences_of(self.message, self.output, self.facts)[0]

    @property
    def cause(self) -> Sentence:
        return sentences_of(self.message, self.output, self.facts)[1]

    @property
    def advice(self) -> Sentence:
        return sentences_of(self.message, self.output, self.facts)[2]


def sentences_of(message: str, output: str, facts: Mapping[str, Any]) -> tuple[Sentence, Sentence, Sentence]:
    """What is wrong, its cause and what to try, by the key of the message.

    Raises:
        KeyError: there is no such message.
    """
    if message in EXPLANATIONS:
        return EXPLANATIONS[message].of({"output": output, **facts})
    from tooling.judging.counter_texts import counter_sentences  # noqa: PLC0415 - imports the simulator

    return counter_sentences(message, output, facts)


def explained(name: str, *, text: str = "", output: str = "", **facts: Any) -> Problem:
    """A problem with the sentences of `name`, or with those of `text`."""
    return Problem(name, text or name, facts, output)


class CaseVerdict(Struct, frozen=True):
    """The verdict on one data set."""

    dataset: str
    transcript: Transcript
    problems: tuple[Problem, ...]
    findings: tuple[Finding, ...] = ()  # of the simulated GPU
    uncounted: bool = False  # the mode requires counters, and the target has none
    submitted: Mapping[str, BufferContent] = {}  # the outputs, by name
    reference: ReferenceCase | None = None
    inputs: Mapping[str, str] = {}  # the first elements of each input, as text
    launches: int | None = None  # how many kernels were launched, where that is known
    notes: tuple[Sentence, ...] = ()  # on a right answer
    unchecked: tuple[str, ...] = ()  # keys of the mode's requirements that this target does not show
    schedule: str = ""  # of a run in another order of threads: the simulated GPU's name of that order

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Findings that make the verdict wrong."""
        return tuple(finding for finding in self.findings if finding.severity.value == "error")

    @property
    def right(self) -> bool:
        return not self.problems and not self.errors

    @property
    def label(self) -> str:
        """The data set and the order of threads, as commands name them."""
        return f"{self.dataset}, {self.schedule}" if self.schedule else self.dataset


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
