"""The records of machine-readable reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, to_builtins

from tooling.judging.verdict import CaseVerdict, Outcome, Verdict
from tooling.platform.errors import Location, ToolingError
from tooling.reports.verdict_record import ProblemRecord, case_record
from tooling.text import ENGLISH, in_language
from tooling.text.plain import plain_facts

VERSION = 1
"""Version of the JSON report, incremented when a field changes its meaning or is removed."""


class ReportRecord(Struct, frozen=True):
    """One result of a report: a program in a mode, its status and its messages."""

    suite: str  # the puzzle
    name: str
    status: str  # passed, failed, error, skipped
    seconds: float
    message: str = ""
    details: str = ""
    data: Mapping[str, Any] | None = None  # further fields of the JSON report
    where: Location | None = None  # the file that a failure concerns


def verdict_record(verdict: Verdict, language: str = ENGLISH) -> ReportRecord:
    """The record of a judged program, with sentences in a language."""
    if verdict.outcome is Outcome.UNDECIDED:
        return _undecided(verdict, language)
    right = verdict.outcome in (Outcome.PASSED, Outcome.UNJUDGED)
    message = "" if right else _summary(verdict, language)
    return ReportRecord(
        suite=verdict.selection.puzzle.id,
        name=verdict.selection.command,
        status="passed" if right else "failed",
        seconds=verdict.seconds,
        message=message,
        details="" if right else _details(verdict, language),
        data=verdict_data(verdict, language),
    )


def _undecided(verdict: Verdict, language: str) -> ReportRecord:
    from tooling.judging.counter_texts import NOT_JUDGED  # noqa: PLC0415 - imports the simulator

    return ReportRecord(
        suite=verdict.selection.puzzle.id,
        name=verdict.selection.command,
        status="skipped",
        seconds=verdict.seconds,
        message=NOT_JUDGED.of(device=verdict.choice.target.named).render(language),
        data=verdict_data(verdict, language),
    )


def verdict_data(verdict: Verdict, language: str = ENGLISH) -> dict[str, Any]:
    """The fields of a verdict in the JSON report."""
    return {
        "puzzle": verdict.selection.puzzle.id,
        "program": verdict.selection.program.name,
        "mode": verdict.selection.mode.name,
        "solution": verdict.solution,
        "target": verdict.choice.target.kind.value,
        "device": verdict.choice.target.device,
        "target_because": in_language(verdict.choice.reason, language),
        "outcome": verdict.outcome.value,
        "exit_code": int(verdict.outcome.exit_code),
        "names": sorted(verdict.names),
        "notes": [in_language(note, language) for note in verdict.notes],
        "cases": [_case_data(case, language) for case in verdict.cases],
    }


def error_record(suite: str, name: str, error: ToolingError) -> ReportRecord:
    """The record of something that could not be judged."""
    data = {
        "outcome": "error",
        "exit_code": int(error.exit_code),
        "error": {
            "type": type(error).__name__,
            "what": error.what,
            "where": str(error.where) if error.where else None,
            "why": error.why,
            "try": error.hint,
        },
    }
    details = str(getattr(error, "details", "") or error)
    return ReportRecord(suite, name, "error", 0.0, error.what, details, data, error.where)


def report_data(command: str, records: list[ReportRecord]) -> dict[str, Any]:
    """The whole JSON report."""
    counts = {status: sum(record.status == status for record in records) for status in _STATUSES}
    return {
        "version": VERSION,
        "command": command,
        "counts": counts,
        "results": [
            {
                "suite": record.suite,
                "name": record.name,
                "status": record.status,
                "seconds": round(record.seconds, 3),
                "message": record.message,
                **(record.data or {}),
            }
            for record in records
        ],
    }


_STATUSES = ("passed", "failed", "error", "skipped")


def _case_data(case: CaseVerdict, language: str) -> dict[str, Any]:
    record = case_record(case)
    return {
        "dataset": case.dataset,
        "schedule": case.schedule or None,
        "right": case.right,
        "counters_judged": not case.uncounted,
        "unchecked": list(case.unchecked),
        "ending": case.transcript.ending.value,
        "status": case.transcript.status,
        "seconds": round(case.transcript.seconds, 3),
        "stdout": case.transcript.stdout,
        "stderr": case.transcript.stderr,
        "launches": case.launches,
        "inputs": dict(case.inputs),
        "problems": [_problem_data(problem, language) for problem in record.problems],
        "findings": [finding.to_json() for finding in case.findings],
    }


def _problem_data(problem: ProblemRecord, language: str) -> dict[str, Any]:
    what, cause, advice = (sentence.render(language) for sentence in problem.sentences)
    return {
        "name": problem.name,
        "also": list(problem.also),
        "message": problem.message,
        "facts": plain_facts(problem.facts),
        "what": what,
        "where": str(problem.line) if problem.line else None,
        "line": to_builtins(problem.line),
        "why": cause,
        "try": advice,
        "output": problem.output or None,
        "mismatch": to_builtins(problem.mismatch),
    }


def _summary(verdict: Verdict, language: str) -> str:
    for case in verdict.cases:
        for finding in case.errors:
            return f"{finding.check.value}: {finding.kind.value} in {finding.kernel}"
        for problem in case.problems:
            return f"{problem.name}: {problem.what.render(language)}"
    return verdict.outcome.value


def _details(verdict: Verdict, language: str) -> str:
    lines = []
    for case in verdict.cases:
        for problem in case.problems:
            sentences = (problem.what, problem.cause, problem.advice)
            what, cause, advice = (sentence.render(language) for sentence in sentences)
            line = f" ({problem.line})" if problem.line else ""
            lines.append(f"[{case.label}] {what}{line}: {cause}; {advice}")
            if problem.comparison:
                lines.append(
                    f"  {problem.comparison.differing} of {problem.comparison.total} elements differ"
                )
                lines += [
                    f"  {list(each.index)}: got {each.got}, expected {each.expected}"
                    for each in problem.comparison.first
                ]
        for finding in case.errors:
            from tooling.simulator.checks.findings import render  # noqa: PLC0415 - only simulated runs have any

            lines.append(f"[{case.label}] {render(finding, language)}")
    return "\n".join(lines)
