"""A report as GitHub workflow commands, most severe first; the step summary has what GitHub does not show."""

from __future__ import annotations

from pathlib import Path

from tooling.platform.errors import Location
from tooling.reports.annotations import Annotation, Level, annotation_lines
from tooling.translations.findings import TranslationFinding
from tooling.translations.model import FreshnessSeverity
from tooling.translations.report.report import Report

_LEVELS = {
    FreshnessSeverity.ERROR: Level.ERROR,
    FreshnessSeverity.WARNING: Level.WARNING,
    FreshnessSeverity.INFO: Level.NOTICE,
}


def render(report: Report) -> str:
    """The annotations, one a line."""
    problems = [
        Annotation("check-translations", f"{problem.what}: {problem.why}\ntry: {problem.hint}")
        for problem in report.problems
    ]
    counted = set(map(id, report.verdict.failing))
    # Within a severity, findings that fail the check are shown first.
    ordered = sorted(report.findings, key=lambda one: (-one.severity, id(one) not in counted))
    return "\n".join(annotation_lines([*problems, *map(_annotation, ordered)], root=None))


def _annotation(finding: TranslationFinding) -> Annotation:
    return Annotation(
        f"{finding.kind}: {finding.page or finding.file}",
        f"{finding.message}\ntry: {finding.hint}" if finding.hint else finding.message,
        Location(Path(finding.file), finding.line or None),
        finding.last_line or None,
        _LEVELS[finding.severity],
    )
