"""A report as GitHub workflow commands, within what GitHub shows.

Of one step's annotations GitHub shows ten errors, ten warnings and ten notices, and fifty of a job; the
gravest come first and the rest goes to the step summary.
"""

from __future__ import annotations

from collections import Counter

from tooling.translations.findings import Finding
from tooling.translations.model import Severity
from tooling.translations.report import Report

PER_KIND = 10
PER_JOB = 50
SUMMARY_LIMIT = 1_000_000  # bytes; GitHub refuses a step summary over one MiB
_WORDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(report: Report) -> str:
    """The annotations, one a line."""
    shown, left_out = _choose(report)
    lines = [_command(finding) for finding in shown]
    for problem in reversed(report.problems):
        message = f"{problem.what}: {problem.why}\ntry: {problem.hint}"
        lines.insert(0, f"::error title=check-translations::{_data(message)}")
    if left_out:
        lines.append(f"{left_out} more findings are in the step summary")
    return "\n".join(lines)


def _choose(report: Report) -> tuple[list[Finding], int]:
    # Problems are errors too and come first.
    used = Counter({Severity.ERROR: len(report.problems)})
    counted = set(map(id, report.verdict.failing))
    # Within a severity, what makes the check fail is shown before what does not.
    ordered = sorted(report.findings, key=lambda one: (-one.severity, id(one) not in counted))
    shown: list[Finding] = []
    for finding in ordered:
        if used[finding.severity] < PER_KIND and used.total() < PER_JOB:
            used[finding.severity] += 1
            shown.append(finding)
    return shown, len(ordered) - len(shown)


def _command(finding: Finding) -> str:
    properties = {"file": finding.file, "title": f"{finding.kind}: {finding.page or finding.file}"}
    if finding.line:
        properties["line"] = str(finding.line)
        if finding.last_line:
            properties["endLine"] = str(finding.last_line)
    text = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    message = f"{finding.message}\ntry: {finding.hint}" if finding.hint else finding.message
    return f"::{_WORDS[finding.severity]} {text}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
