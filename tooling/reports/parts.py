"""The parts of a report on a verdict, in their order: what a terminal, and a page, show in their own ways."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from msgspec import Struct

from tooling.execution.program import Ending
from tooling.judging.diagnosis import GUARD
from tooling.judging.verdict import Outcome, SourceLine
from tooling.reports.invocation import tool_prefix
from tooling.reports.verdict_record import BOOK, CaseRecord, Mismatch, ProblemRecord, VerdictRecord
from tooling.simulator.checks.findings import Check, Finding, explain
from tooling.targets.model import TargetKind
from tooling.text import ENGLISH, Code, JoinedText, Sentence, Text, joined

_HEADLINES: dict[Outcome, tuple[str, str, Text]] = {
    Outcome.PASSED: ("✅ ", "green", Text("{command} passed")),
    Outcome.UNJUDGED: ("", "green", Text("{command} ran; there is nothing to judge in this mode")),
    Outcome.WRONG: ("❌ ", "red", Text("{command} is not right yet")),
    Outcome.TIME_LIMIT: ("⏱ ", "red", Text("{command} ran into its time limit")),
    Outcome.UNDECIDED: ("", "yellow", Text("{command}: values right, counters not judged")),
}
"""The sign, the colour and the sentence."""
_OTHER_LIMITS = frozenset(Ending) - {Ending.EXITED, Ending.SIGNALLED, Ending.TIME_LIMIT}
_RAN_INTO_A_LIMIT = Text("{command} ran into a limit")
_UNCHECKED = Text("not checked on {device}: {requirements}; `{tool} run {command} --target sim` checks it")
_REQUIREMENTS: dict[str, Text] = {
    "counters": Text("the counters of the kernel"),
    "launch": Text("the shape of the launch"),
    "threads": Text("how many threads share the work"),
    "shared_memory": Text("whether a kernel reads shared memory"),
    "overlap": Text("whether the copies overlap"),
    "checks": Text("races, wrong accesses, and threads in other orders"),
    "lockstep": Text("missing barriers between the threads of a warp, which run in lockstep there"),
}
"""What was not checked: a requirement of a mode by its key in the manifest, or what a target hides."""
_DATASETS: dict[str, Text] = {BOOK: Text("the book's data"), "probe": Text("other data")}
_ORDERS: dict[str, Text] = {
    "adversarial": Text("the last threads first"),
    "random": Text("threads in a random order"),
}
"""The orders of the simulated GPU in which an answer that passes is run again."""
_WITH_ROOM = Text("the last threads first, with room for {blocks} blocks")
_WITH = Text("with {dataset}")
_WITH_IN_ORDER = Text("with {dataset}, {order}")
_RIGHT_WITH_BOOK = Text(
    "the result is right with the book's data, which the program prints, and wrong with other data. The "
    "inputs there begin:"
)
NOTE, WHERE, WHY, TRY = Text("note"), Text("where"), Text("why"), Text("try")
_LIMIT, _HINT, _REPLAY = Text("limit"), Text("hint"), Text("replay")
_MORE_TIME = Text("`{tool} run {command} --timeout {seconds}` gives it more time")
_HINTS = Text("{count} hints are available: `{tool} hint {command}`")
_STEP_THROUGH = Text("`{tool} replay {command}` shows this run step by step")
_FOUND = Text("the simulated GPU found:")
_BY_LUCK = Text("the values are right this time, but by luck; the simulated GPU found:")
PRINTED = Text("what it wrote to stderr")
_MORE_FOUND = Text("... and {count} more finding", "... and {count} more findings")
_DIFFER = Text("{differing} of {total} elements differ:")
_BEYOND = Text("{differing} of {total} elements after the end changed:")
_INDEX, _GOT, _EXPECTED, _BEFORE = Text("index"), Text("got"), Text("expected"), Text("before")
_MORE = Text("... and {count} more")
_MOST_FINDINGS = 6


class Title(Struct, frozen=True):
    """The first line.

    Attributes:
        circumstances: with which data, where and how long the program ran; None if the rest says it.
    """

    sign: str
    style: str
    sentence: Text
    circumstances: JoinedText | None = None


class Note(Struct, frozen=True):
    """A remark that belongs to the whole verdict."""

    sentence: Sentence


class Statement(Struct, frozen=True):
    """What is wrong; or the line above findings, which has no data set."""

    sentence: Sentence
    dataset: Sentence | None = None


class Table(Struct, frozen=True):
    """Elements that differ; `beyond`: after the end of a result, where no thread may write."""

    mismatch: Mismatch
    beyond: bool

    @property
    def title(self) -> Text:
        """The number of elements that differ."""
        title = _BEYOND if self.beyond else _DIFFER
        return title.of(differing=self.mismatch.differing, total=self.mismatch.total)

    @property
    def head(self) -> tuple[Text, Text, Text]:
        return _INDEX, _GOT, _BEFORE if self.beyond else _EXPECTED

    @property
    def rows(self) -> list[tuple[str, str, str]]:
        """Index, what the program wrote, and what belongs there."""
        return [
            (f"[{', '.join(map(str, each.index))}]", each.got, each.expected) for each in self.mismatch.first
        ]

    @property
    def rest(self) -> Text | None:
        """The number of elements that have no row."""
        count = self.mismatch.differing - len(self.mismatch.first)
        return _MORE.of(count=count) if count > 0 else None


class Labelled(Struct, frozen=True):
    """A fact with its label.

    Attributes:
        complete: the text is written as a sentence of its own.
    """

    label: Text
    text: Sentence | SourceLine | str
    complete: bool = False
    style: str = "dim"


class Input(Struct, frozen=True):
    """The first elements of an input."""

    name: str
    elements: str


class Found(Struct, frozen=True):
    """A finding of the simulated GPU; `warning`: below the verdict, whatever that is."""

    finding: Finding
    warning: bool = False


class MoreFound(Struct, frozen=True):
    """The number of findings that are not shown."""

    count: int

    @property
    def sentence(self) -> Text:
        return _MORE_FOUND.of(count=self.count)


class Printed(Struct, frozen=True):
    """The last lines that the program wrote to stderr."""

    lines: tuple[str, ...]


Part: TypeAlias = Title | Note | Statement | Table | Labelled | Input | Found | MoreFound | Printed


def parts_of(record: VerdictRecord) -> Iterator[Part]:
    """One line if the answer is right; what, where, why and what to try if it is not."""
    sign, style, headline = _HEADLINES[record.outcome]
    if record.wrong_case and record.wrong_case.ending in _OTHER_LIMITS:
        headline = _RAN_INTO_A_LIMIT
    sentence = headline.of(command=Code(record.command))
    if record.outcome in (Outcome.WRONG, Outcome.TIME_LIMIT):
        yield Title(sign, style, sentence)
        yield from _wrong(record)
        return
    yield Title(sign, style, sentence, _circumstances(record))
    if record.outcome is Outcome.UNDECIDED:
        yield from _undecided(record)
        return
    yield from _unchecked(record)
    yield from _warnings(record)


def positions(record: VerdictRecord) -> Iterator[str]:
    """The lines of the program that the report names, as `FILE:LINE` or `FILE:LINE:COLUMN`."""
    for part in parts_of(record):
        match part:
            case Found(finding):
                yield from (str(party.position) for party in finding.parties)
                yield from (str(call.position) for call in finding.calls)
            case Labelled(_, SourceLine(position)):
                yield position
            case _:
                pass


def _circumstances(record: VerdictRecord) -> JoinedText:
    datasets = joined([dataset_name(case.dataset) for case in record.cases], ", ")
    seconds = () if record.seconds is None else (f"{record.seconds:.1f} s",)
    return joined([datasets, record.target.named, *seconds])


def dataset_name(name: str) -> Text | str:
    """A data set as sentences name it."""
    return _DATASETS.get(name, name)


def _wrong(record: VerdictRecord) -> Iterator[Part]:
    case = record.wrong_case
    if case:
        yield from _case(case, record.cases)
    yield from _warnings(record)
    facts = {"tool": tool_prefix(os.environ), "command": record.command}
    if case and case.ending is Ending.TIME_LIMIT:
        yield Labelled(_LIMIT, _MORE_TIME.of(seconds=math.ceil(2 * case.seconds), **facts))
    if record.hints is not None:
        yield Labelled(_HINT, _HINTS.of(count=record.hints, **facts), style="cyan")
    if (
        record.replayable
        and case
        and case.dataset in _DATASETS
        and not case.schedule
        and case.ending is not Ending.TIME_LIMIT
        and case.launches != 0
    ):
        kind = record.target.kind
        options = ["" if kind is TargetKind.SIM else f" --target {kind.value}"]
        options.append("" if case.dataset == BOOK else f" --data {case.dataset}")
        command = f"{record.command}{''.join(options)} --open"
        yield Labelled(_REPLAY, _STEP_THROUGH.of(**facts | {"command": command}), style="cyan")


def _undecided(record: VerdictRecord) -> Iterator[Part]:
    from tooling.judging.counter_texts import NOT_JUDGED  # noqa: PLC0415 - imports the simulator

    yield Labelled(WHY, NOT_JUDGED.of(device=record.target.named), complete=True)
    yield Labelled(TRY, f"`{tool_prefix(os.environ)} run {record.command} --target sim`")


def _unchecked(record: VerdictRecord) -> Iterator[Note]:
    """Names the requirements of the mode that only the simulated GPU checks, and how to check them."""
    keys = dict.fromkeys(key for case in record.cases for key in case.unchecked)
    if keys:
        yield Note(
            _UNCHECKED.of(
                device=record.target.named,
                requirements=joined([_REQUIREMENTS[key] for key in keys], ", "),
                tool=tool_prefix(os.environ),
                command=record.command,
            )
        )


def _order(schedule: str) -> Sentence | Text:
    kind, _, number = schedule.partition(":")
    return _WITH_ROOM.of(blocks=number) if kind == "adversarial" and number else _ORDERS[kind]


def _case(case: CaseRecord, cases: Iterable[CaseRecord]) -> Iterator[Part]:
    dataset = _WITH.of(dataset=dataset_name(case.dataset))
    if case.schedule:
        dataset = _WITH_IN_ORDER.of(dataset=dataset_name(case.dataset), order=_order(case.schedule))
    if case.errors:
        yield from _findings(case)
    # Once is enough: that other data shows the mistake, and what that data is.
    of_data = not case.errors and not case.schedule
    right_before = of_data and any(other.right and other.dataset == BOOK for other in cases)
    for problem in case.problems:
        yield from _problem(problem, dataset)
        if problem.mismatch and right_before:
            yield Labelled(NOTE, _RIGHT_WITH_BOOK)
            yield from (Input(*each) for each in case.inputs)
            right_before = False
    explained = any(problem.mismatch for problem in case.problems)
    if case.ending is Ending.EXITED and case.status != 0 and not explained and case.stderr:
        yield Printed(case.stderr)


def _problem(problem: ProblemRecord, dataset: Sentence) -> Iterator[Part]:
    what, cause, advice = problem.sentences
    yield Statement(what, dataset)
    if problem.mismatch:
        yield Table(problem.mismatch, beyond=problem.output == GUARD)
    if problem.line:
        yield Labelled(WHERE, problem.line)
    yield Labelled(WHY, cause, complete=True)
    yield Labelled(TRY, advice, complete=True)


def _findings(case: CaseRecord) -> Iterator[Part]:
    yield Statement(_FOUND if case.problems else _BY_LUCK)
    # A barrier that some threads miss is the cause of races, not their effect.
    errors = sorted(case.errors, key=lambda finding: finding.check is not Check.SYNCHRONISATION)
    yield from map(Found, errors[:_MOST_FINDINGS])
    if len(errors) > _MOST_FINDINGS:
        yield MoreFound(len(errors) - _MOST_FINDINGS)


def _warnings(record: VerdictRecord) -> Iterator[Found]:
    """Warnings, whatever the verdict; the JSON report also has those without a line of the program."""
    seen = []
    for case in record.cases:
        for finding in case.findings:
            located = any(party.position.line > 0 for party in finding.parties)
            if finding not in case.errors and located and (said := explain(finding, ENGLISH)) not in seen:
                seen.append(said)
                yield Found(finding, warning=True)
