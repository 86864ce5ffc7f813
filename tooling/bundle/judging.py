"""Judges the results.json that a bundle brought back, exactly as a run here is judged."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from tooling.catalog.model import ModeKind
from tooling.errors import Location, ToolingError
from tooling.execution.channel import Buffer
from tooling.execution.program import Ending, Transcript
from tooling.judging.judge import judge_case, judge_unjudged, outcome_of
from tooling.judging.reference import load_reference
from tooling.judging.verdict import CaseVerdict, Outcome, Verdict
from tooling.targets.accelerators import target_for
from tooling.targets.model import Choice
from tooling.verify.plan import Task, Trial

_VERSION = 1
SIMULATOR_ONLY = frozenset({"memory", "races", "initialisation", "synchronisation"})
"""What only the simulated GPU can name: hardware may let such a mutant pass."""


class ResultsUnreadable(ToolingError):
    """A results file is missing, damaged or of another version."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One trial of the bundle with its verdict; None where the results do not have it."""

    trial: Trial
    verdict: Verdict | None
    complaint: str  # empty: as it must be
    undecided: str = ""  # why the hardware's word does not count


def judge_results(path: Path, tasks: Sequence[Task]) -> tuple[Judged, ...]:
    """The verdict on every trial that the results hold.

    Raises:
        ResultsUnreadable: the file is not what run_bundle.py writes.
    """
    try:
        report = json.loads(path.read_text("utf-8"))
        if report["version"] != _VERSION:
            raise ValueError(f"version {report['version']}, not {_VERSION}")
        target = target_for(str(report["bundle"]), str(report["device"]))
        by_id: dict[str, list[dict[str, Any]]] = {}
        for result in report["results"]:
            by_id.setdefault(result["id"], []).append(result)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ResultsUnreadable(
            "the results cannot be read", where=Location(path), why=f"{type(error).__name__}: {error}"
        ) from error
    choice = Choice(target, f"results of {path.name}")
    return tuple(
        _judge(trial, by_id[trial.id], choice) for task in tasks for trial in task.trials if trial.id in by_id
    )


def _judge(trial: Trial, results: Sequence[dict[str, Any]], choice: Choice) -> Judged:
    from tooling.verify.trying import complaint_about  # noqa: PLC0415 - brings multiprocessing

    mode = trial.selection.mode
    cases = tuple(_case(trial, result) for result in results)
    verdict = Verdict(
        trial.selection,
        choice,
        solution=False,
        cases=cases,
        outcome=outcome_of(mode, cases),
        seconds=sum(case.transcript.seconds for case in cases),
    )
    if verdict.outcome is Outcome.UNDECIDED:
        return Judged(trial, verdict, "", "the values are right; only the simulated GPU judges the counters")
    complaint = complaint_about(trial, verdict)
    if complaint and (why := _left_behind(trial, results, cases)):
        return Judged(trial, verdict, "", why)
    faults = SIMULATOR_ONLY.intersection(trial.expect)
    passed = verdict.outcome is Outcome.PASSED
    if complaint and faults and (passed or faults.issuperset(trial.expect)):
        return Judged(trial, verdict, "", "only the simulated GPU's checks can tell")
    return Judged(trial, verdict, complaint)


def _case(trial: Trial, result: dict[str, Any]) -> CaseVerdict:
    transcript = Transcript(
        result["stdout"],
        result["stderr"],
        Ending(result["ending"]),
        int(result["status"]),
        float(result["seconds"]),
    )
    mode = trial.selection.mode
    if mode.kind not in (ModeKind.PUZZLE, ModeKind.GIVEN):
        return judge_unjudged(result["dataset"], transcript)
    case = load_reference(trial.selection.puzzle).case(mode, result["dataset"])
    used, out = _buffers(result["used"], case.inputs), _buffers(result["out"], case.expected)
    return judge_case(mode, case, transcript, used, out)


def _buffers(records: dict[str, Any], known: Mapping[str, NDArray[Any]]) -> dict[str, Buffer]:
    """The buffers that came back; one that is known by its hash alone is taken from `known` if it is that."""
    found = {}
    for name, record in records.items():
        if record["zlib"] is not None:
            found[name] = Buffer(record["dtype"], zlib.decompress(base64.b64decode(record["zlib"])))
        elif name in known:
            content = known[name].tobytes()
            if hashlib.sha256(content).hexdigest() == record["sha256"]:
                found[name] = Buffer(record["dtype"], content)
    return found


def _left_behind(trial: Trial, results: Sequence[dict[str, Any]], cases: Sequence[CaseVerdict]) -> str:
    """Why a buffer that is missing here says nothing about the program; empty where none is."""
    for result, case in zip(results, cases, strict=True):
        large = [name for name, record in result["out"].items() if record["zlib"] is None]
        if case.problems and large and trial.selection.mode.kind in (ModeKind.PUZZLE, ModeKind.GIVEN):
            return f"`{large[0]}` is not what was expected, bit for bit, and was too large to be brought back"
    return ""
