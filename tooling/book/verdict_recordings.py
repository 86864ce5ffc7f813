"""Recorded verdicts on answers, which the pages show in every language.

One verdict is one file, `tests/data/outputs/<puzzle>/<name>.verdict.json`: facts and the keys of messages,
see `tooling.reports.verdict_record`. Its sentences are those that the tool has when the page is rendered, so
a new wording needs no new recording. Digests of the program and of the verdict itself show, without a run,
that it is of an older program or was edited.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path, PurePath

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import replace

from tooling.book.errors import BookError, malformed
from tooling.book.recordings import recording_name, recordings_folder
from tooling.catalog.catalogue import Selection
from tooling.catalog.model import Puzzle
from tooling.platform.atomic_write import write_atomically
from tooling.platform.errors import Location
from tooling.platform.state_file import encoded, read_json
from tooling.project import Project
from tooling.replay.trace import Trace
from tooling.reports.verdict_record import CaseRecord, ProblemRecord, VerdictRecord
from tooling.simulator.checks.findings import Finding, SourcePosition
from tooling.text import LocalText
from tooling.text.plain import plain_facts, read_facts

_FOLDER = re.compile(r"\S*/(?=[\w.]+\.(?:mojo|py):)")
"""The folder of a file in what a program wrote."""
_HASH = re.compile(r"\bmojo_pkg:[0-9a-f]{8}(?![0-9a-f])")
"""A kernel of a graph: its hash depends on the machine."""


class RecordedVerdict(Struct, frozen=True):
    """One recorded verdict.

    Attributes:
        state: `unsolved`, `solved` or the name of a wrong answer.
        mojo: the toolchain's version.
        program: digest of the program, see `recordings.digest`.
        digest: of `verdict`.
        verdict: its facts as JSON has them.
    """

    state: str
    mojo: str
    program: str
    digest: str
    verdict: VerdictRecord

    def readable(self, authored: Callable[[str], LocalText]) -> VerdictRecord:
        """The verdict with its sentences.

        Args:
            authored: the text of the puzzle's author with an English version, see `authored_texts`.

        Raises:
            BookError: the tool or the puzzle no longer has one of them.
        """
        try:
            record = _with_facts(self.verdict, lambda facts: read_facts(facts, authored))
            for problem in (problem for case in record.cases for problem in case.problems):
                problem.sentences  # noqa: B018 - raises if there is no such message
        except LookupError as error:
            raise BookError(
                f"the judge no longer has a message of this verdict: {error.args[0]}",
                why="a page shows what the judge says now",
                hint="record it again with `tooling book outputs --update`",
            ) from error
        return record


def verdict_path(project: Project, selection: Selection, answer: str) -> Path:
    """The file of a recorded verdict."""
    folder = recordings_folder(project, selection.puzzle.id)
    return folder / f"{recording_name(selection, answer)}.verdict.json"


def recorded_verdict(state: str, mojo: str, program: str, verdict: VerdictRecord) -> RecordedVerdict:
    """The recording of a verdict, without what depends on the machine or is not shown."""
    cases = tuple(map(_portable_case, verdict.cases))
    portable = _with_facts(replace(verdict, cases=cases, seconds=None), plain_facts)
    return RecordedVerdict(state, mojo, program, digest_of(portable), portable)


def load_verdict(path: Path) -> RecordedVerdict:
    """Reads one recorded verdict.

    Raises:
        BookError: missing, not a verdict, or edited.
    """
    hint = f"record it with `tooling book outputs --update {path.name.partition('.')[0]}`"
    try:
        recorded = read_json(path, RecordedVerdict)
    except FileNotFoundError as error:
        raise BookError(
            f"this verdict was never recorded: {path.name}",
            why="pages show only what the judge said of an answer",
            hint=hint,
        ) from error
    except ValueError as error:
        raise malformed("recorded verdict", path, error, hint) from error
    if recorded.digest != digest_of(recorded.verdict):
        raise BookError(
            "this verdict was edited after it had been recorded",
            where=Location(path),
            why="pages show only what the judge said of an answer",
            hint=hint,
        )
    return recorded


def save_verdict(path: Path, recorded: RecordedVerdict) -> None:
    """Writes one recorded verdict."""
    plain = encoded(recorded).replace(b',{"', b',\n{"').replace(b':[{"', b':[\n{"')  # an object a line
    write_atomically(path, plain + b"\n")


def authored_texts(project: Project, puzzle: Puzzle) -> Callable[[str], LocalText]:
    """Finds a text that the puzzle's author wrote for verdicts, by its English version; else LookupError."""

    def find(english: str) -> LocalText:
        from tooling.catalog.mutants import load_mutants  # noqa: PLC0415 - few verdicts have such a text

        reasons = [
            reason.because
            for mode in puzzle.modes
            for reason in (*mode.counters, mode.launch, mode.threads, mode.shared_memory, mode.overlap)
            if reason is not None
        ]
        reasons += [mutant.because for mutant in load_mutants(project, puzzle)]
        for reason in reasons:
            if reason.render("en") == english:
                return reason
        raise LookupError(english)

    return find


def without_machine(text: str) -> str:
    """What a program wrote, or a name in it, without what differs between machines."""
    return _HASH.sub("mojo_pkg:…", _FOLDER.sub("", text))


def portable_finding(finding: Finding) -> Finding:
    """A finding without what differs between machines."""

    def here(position: SourcePosition) -> SourcePosition:
        return replace(position, file=PurePath(position.file).name)

    parties = tuple(
        replace(
            party,
            position=here(party.position),
            callers=tuple(map(here, party.callers)) if party.callers else UNSET,
        )
        for party in finding.parties
    )
    calls = tuple(
        replace(call, position=here(call.position), kernel=without_machine(call.kernel))
        for call in finding.calls
    )
    kernel = without_machine(finding.kernel)
    return replace(finding, kernel=kernel, parties=parties, calls=calls, launched=None)


def _portable_case(case: CaseRecord) -> CaseRecord:
    return replace(
        case,
        seconds=0.0,
        problems=tuple(map(_portable_problem, case.problems)),
        findings=tuple(map(portable_finding, case.findings)),
        stderr=tuple(map(without_machine, case.stderr)),
    )


def _portable_problem(problem: ProblemRecord) -> ProblemRecord:
    facts = {
        name: without_machine(fact) if isinstance(fact, str) else fact for name, fact in problem.facts.items()
    }
    line = problem.line and replace(problem.line, position=without_machine(f"{problem.line.position}:")[:-1])
    return replace(problem, facts=facts, line=line)


def _with_facts(
    verdict: VerdictRecord, convert: Callable[[dict[str, object]], dict[str, object]]
) -> VerdictRecord:
    cases = (
        replace(case, problems=tuple(replace(each, facts=convert(each.facts)) for each in case.problems))
        for case in verdict.cases
    )
    return replace(verdict, cases=tuple(cases))


def digest_of(recorded: VerdictRecord | Trace) -> str:
    """Shows that a recording was not edited."""
    return hashlib.sha256(msgspec.json.encode(recorded, order="deterministic")).hexdigest()[:16]
