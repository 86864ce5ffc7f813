"""Judges one run: its inputs, the buffers that it handed in, its output and how it ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tooling.catalog.model import Mode, ModeKind
from tooling.execution.program import Transcript
from tooling.judging.endings import error_before_results, own_error, stopped_program
from tooling.judging.evidence import Evidence
from tooling.judging.origins import stored_by_several
from tooling.judging.reference import Array
from tooling.judging.rules import find_problems
from tooling.judging.verdict import CaseVerdict, Outcome
from tooling.text import Sentence

if TYPE_CHECKING:
    from tooling.simulator.checks.findings import Finding
    from tooling.simulator.server.stopped import StoppedKernel

_SHOWN_INPUTS = 8


def judge_case(evidence: Evidence) -> CaseVerdict:
    """The verdict on one data set of a judged mode."""
    case, problems = evidence.case, find_problems(evidence)
    notes: Sequence[Sentence] = ()
    if not problems and evidence.provenance is not None:
        notes = stored_by_several(evidence.mode, evidence.submitted, evidence.provenance)
    return CaseVerdict(
        case.dataset,
        evidence.transcript,
        problems,
        tuple(evidence.findings),
        uncounted=any(not criterion.simulated_only for criterion in evidence.unjudged_counters),
        submitted=evidence.submitted,
        reference=case,
        inputs={name: _beginning(array) for name, array in case.inputs.items() if name not in case.expected},
        launches=evidence.launches,
        unchecked=evidence.unchecked,
        notes=tuple(notes),
    )


def _beginning(array: Array) -> str:
    """The first elements of an input, as a list."""
    flat = array.ravel()
    shown = [str(element) for element in flat[:_SHOWN_INPUTS]]
    return f"[{', '.join(shown)}{', …' if flat.size > _SHOWN_INPUTS else ''}]"


def judge_unjudged(
    dataset: str,
    transcript: Transcript,
    findings: Sequence[Finding] = (),
    *,
    launches: int | None = None,
    stopped: StoppedKernel | None = None,
) -> CaseVerdict:
    """The verdict on a demo or a benchmark: only how it ended matters. Arguments as in `Evidence`."""
    problems = stopped_program(transcript, launches, stopped)
    if own_error(transcript):
        problems.append(error_before_results(transcript))
    return CaseVerdict(dataset, transcript, tuple(problems), tuple(findings))


def outcome_of(mode: Mode, cases: Sequence[CaseVerdict]) -> Outcome:
    """The outcome of a run with these verdicts."""
    if any(problem.name == "time-limit" for case in cases for problem in case.problems):
        return Outcome.TIME_LIMIT
    if not cases or not all(case.right for case in cases):
        return Outcome.WRONG
    if any(case.uncounted for case in cases):
        return Outcome.UNDECIDED
    judged = mode.kind in (ModeKind.PUZZLE, ModeKind.GIVEN)
    return Outcome.PASSED if judged else Outcome.UNJUDGED
