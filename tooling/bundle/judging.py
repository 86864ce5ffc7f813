"""Judges the results.json of a bundle exactly as a local run is judged."""

from __future__ import annotations

import base64
import hashlib
import math
import zlib
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from tooling.catalog.model import Mode, ModeKind, Output, ProgramLanguage, Puzzle
from tooling.catalog.mutants import (
    COUNTERS,
    DIAGNOSES,
    ORDERS,
    ORIGINS,
    SIMULATOR_CHECKS,
    known_mistakes,
)
from tooling.execution.channel import BufferContent, Fault, element_bytes
from tooling.execution.program import Ending, Transcript
from tooling.judging.confirmation import confirmed
from tooling.judging.evidence import Evidence
from tooling.judging.judge import judge_case, judge_unjudged, outcome_of
from tooling.judging.reference import ReferenceCase, load_reference
from tooling.judging.verdict import CaseVerdict, Outcome, Verdict
from tooling.platform.errors import Location, ToolingError
from tooling.platform.state_file import read_json
from tooling.targets.accelerators import target_for
from tooling.targets.model import Choice, Target
from tooling.targets.selection import gate
from tooling.verify.plan import PlannedTrial, Task
from tooling.verify.trying import complaint_about

SIMULATOR_ONLY = frozenset((*SIMULATOR_CHECKS, *COUNTERS, *ORDERS, *ORIGINS))
"""Problems that only the simulated GPU reports: on hardware such a mutant may pass."""

_WIDEST = 8  # a buffer of another type is at most this many times as large

OF_VALUES = frozenset(DIAGNOSES) - {"not-submitted", "input-changed"}
"""The names of problems that only the values of an output can have."""


class ResultsUnreadable(ToolingError):
    """A results file is missing, damaged or of another version."""


class _RecordedBuffer(Struct, frozen=True):
    """A buffer that a program used or submitted; one that was too large has no content."""

    dtype: str
    bytes: int
    sha256: str
    zlib: str | None  # the content, compressed, in base 64


class _Result(Struct, frozen=True):
    """A run of a program on one data set."""

    id: str
    dataset: str
    ending: Ending
    status: int
    seconds: float
    stdout: str
    stderr: str
    used: dict[str, _RecordedBuffer]
    out: dict[str, _RecordedBuffer]


class _Results(Struct, frozen=True):
    """The output of run_bundle.py."""

    version: Literal[1]
    bundle: str
    device: str
    results: tuple[_Result, ...]
    gpus: int = 1  # that the machine has


class Judged(Struct, frozen=True):
    """One trial of the bundle; the verdict is None where the results do not contain all of its runs."""

    trial: PlannedTrial
    verdict: Verdict | None
    complaint: str  # empty: as expected
    undecided: str = ""  # why the hardware's result does not decide


def judge_results(path: Path, tasks: Sequence[Task]) -> tuple[Target, tuple[Judged, ...]]:
    """The GPU of the results, and the verdict on every trial that it can run.

    A program in Python that is not in the results is skipped: a bundle contains those only if the machine
    has MAX.

    Raises:
        ResultsUnreadable: the file is not what run_bundle.py writes.
    """
    try:
        report = read_json(path, _Results)
        target = replace(target_for(report.bundle, report.device), gpus=report.gpus)
        by_id: dict[str, list[_Result]] = {}
        for result in report.results:
            by_id.setdefault(result.id, []).append(result)
    except (OSError, ValueError) as error:
        raise ResultsUnreadable(
            "the results cannot be read", where=Location(path), why=f"{type(error).__name__}: {error}"
        ) from error
    choice = Choice(target, f"results of {path.name}")
    cases = _Cases(target.lanes)
    wanted = [
        trial.on(target.kind.vendor, target.lanes)
        for task in tasks
        for trial in task.trials
        if trial.id in by_id or _is_required(trial, target)
    ]
    unknown = sorted(
        {
            each.dataset
            for trial in wanted
            for each in by_id.get(trial.id, ())
            if each.dataset not in (*trial.selection.mode.datasets, "book")
        }
    )
    if unknown:
        raise ResultsUnreadable(
            "the results cannot be read", where=Location(path), why=f"there is no data set `{unknown[0]}`"
        )
    # Mode by mode, since trials of one mode share what its reference computes.
    judged = {}
    for trial in sorted(wanted, key=lambda each: (each.selection.puzzle.id, each.selection.mode.name)):
        try:
            judged[trial.id] = _judge(trial, by_id.get(trial.id, ()), choice, cases)
        except ValueError as error:
            raise ResultsUnreadable(
                "the results cannot be read", where=Location(path), why=f"{trial.id}: {error}"
            ) from error
    return target, tuple(judged[trial.id] for trial in wanted)


def _is_required(trial: PlannedTrial, target: Target) -> bool:
    selection = trial.selection
    return selection.program.language is ProgramLanguage.MOJO and not gate(selection, target.kind, target)


class _Cases:
    """What the references compute for a GPU; only the last mode is cached, since the data can be large."""

    def __init__(self, lanes: int) -> None:
        self._lanes = lanes
        self._mode: tuple[str, str] | None = None
        self._kept: dict[str, ReferenceCase] = {}

    def case(self, puzzle: Puzzle, mode: Mode, dataset: str) -> ReferenceCase:
        """The case of a mode in the sizes that it has there."""
        asked = (puzzle.id, mode.name)
        if asked != self._mode:
            self._mode, self._kept = asked, {}
        if dataset not in self._kept:
            self._kept[dataset] = load_reference(puzzle).case(mode, dataset, lanes=self._lanes)
        return self._kept[dataset]


def _judge(trial: PlannedTrial, results: Sequence[_Result], choice: Choice, cases: _Cases) -> Judged:
    mode = trial.selection.mode
    if not results:
        return Judged(trial, None, "", "it is not in the results")
    runs = [_read_run(trial, result, choice.target, cases) for result in results]
    mistakes = partial(known_mistakes, trial.selection.puzzle, mode.name)
    verdicts = confirmed([each.verdict for each in runs], mistakes)
    verdict = Verdict(
        trial.selection,
        choice,
        solution=False,
        cases=verdicts,
        outcome=outcome_of(mode, verdicts),
        seconds=sum(case.transcript.seconds for case in verdicts),
    )
    if verdict.outcome is Outcome.UNDECIDED:
        return Judged(trial, verdict, "", "the values are right; only the simulated GPU judges the counters")
    lacking = set(mode.datasets) - {result.dataset for result in results}
    if lacking and all(case.right for case in verdicts):
        return Judged(trial, None, "", f"its run is missing from the results: `{min(lacking)}`")
    complaint = complaint_about(trial, verdict)
    if large := _undecidable_output(trial, verdict, runs):
        why = f"`{large}` is not bit-identical to the expected values, and was too large to be returned"
        return Judged(trial, verdict, "", why)
    faults = SIMULATOR_ONLY.intersection(trial.expect)
    passed = verdict.outcome is Outcome.PASSED
    if complaint and faults and (passed or faults.issuperset(trial.expect)):
        return Judged(trial, verdict, "", "only the checks of the simulated GPU can decide")
    if complaint and passed and mode.other_sizes is not None:
        return Judged(trial, verdict, "", "a bundle has no run with other sizes")
    return Judged(trial, verdict, complaint)


class _ReturnedRun(Struct, frozen=True):
    """The result of a run on one data set."""

    verdict: CaseVerdict
    # Outputs that were not returned, and are not bit-identical to the reference.
    missing: frozenset[str] = frozenset()

    @property
    def wrong_regardless(self) -> bool:
        """Whether something is wrong whatever the missing outputs contain."""
        if self.verdict.transcript.status != 0:
            return True  # the program itself reports it
        return any(
            problem.name != "not-submitted" or problem.output not in self.missing
            for problem in self.verdict.problems
        )


def _read_run(trial: PlannedTrial, result: _Result, target: Target, cases: _Cases) -> _ReturnedRun:
    transcript = Transcript(result.stdout, result.stderr, result.ending, result.status, result.seconds)
    mode = trial.selection.mode
    if mode.kind not in (ModeKind.PUZZLE, ModeKind.GIVEN):
        return _ReturnedRun(judge_unjudged(result.dataset, transcript))
    mode = target.sized(mode)
    case = cases.case(trial.selection.puzzle, mode, result.dataset)
    used, out = _buffers(result.used, case.inputs), _buffers(result.out, case.expected)
    missing = frozenset(
        output.name
        for output in mode.outputs
        if output.name not in out and _matches_output(output, result.out.get(output.name))
    )
    return _ReturnedRun(judge_case(Evidence(mode, case, transcript, used, out)), missing)


def _buffers(
    records: dict[str, _RecordedBuffer], known: Mapping[str, NDArray[Any]]
) -> dict[str, BufferContent]:
    """The returned buffers; one of which only the hash was returned is taken from `known` if that matches."""
    found = {}
    for name, record in records.items():
        if name not in known:
            continue
        if record.zlib is not None:
            found[name] = _returned(record, limit=known[name].nbytes * _WIDEST)
        else:
            content = known[name].tobytes()
            if hashlib.sha256(content).hexdigest() == record.sha256:
                found[name] = BufferContent(record.dtype, content)
    return found


def _returned(record: _RecordedBuffer, limit: int) -> BufferContent:
    """A buffer whose content was returned; of more than `limit` bytes only that it is too large.

    Raises:
        ValueError: it is not what run_bundle.py writes.
    """
    assert record.zlib is not None
    stream = zlib.decompressobj()
    try:
        content = stream.decompress(base64.b64decode(record.zlib, validate=True), limit + 1)
    except zlib.error as error:
        raise ValueError(f"a buffer is damaged: {error}") from error
    if len(content) > limit:
        return BufferContent(record.dtype, b"", Fault.TOO_LARGE)
    if not stream.eof or len(content) != record.bytes:
        raise ValueError(f"a buffer is incomplete: {len(content)} of {record.bytes} bytes")
    return BufferContent(record.dtype, content)


def _matches_output(output: Output, record: _RecordedBuffer | None) -> bool:
    """Whether a buffer that was not returned has the output's type and size."""
    if record is None or record.dtype != output.dtype:
        return False
    return record.bytes == math.prod(output.shape) * element_bytes(output.dtype)


def _undecidable_output(trial: PlannedTrial, verdict: Verdict, runs: Sequence[_ReturnedRun]) -> str:
    """A missing output that the verdict depends on; empty where there is none."""
    missing = next((name for each in runs for name in sorted(each.missing)), "")
    if not missing or verdict.outcome is not Outcome.WRONG:
        return ""
    if not any(each.wrong_regardless for each in runs):
        return missing  # it may be right within the tolerance
    rejected_otherwise = not trial.must_pass and not verdict.names & set(trial.expect)
    return missing if rejected_otherwise and OF_VALUES.intersection(trial.expect) else ""
