"""A report as GitHub workflow commands, most severe first; the step summary has what GitHub does not show."""

from __future__ import annotations

from pathlib import Path

from tooling.platform.errors import Location
from tooling.reports.annotations import Annotation, Level, annotation_lines
from tooling.text import Sentence, Text
from tooling.text.sentences import joined
from tooling.translations.findings import TranslationFinding
from tooling.translations.model import FreshnessSeverity
from tooling.translations.report.report import Report

_LEVELS = {
    FreshnessSeverity.ERROR: Level.ERROR,
    FreshnessSeverity.WARNING: Level.WARNING,
    FreshnessSeverity.INFO: Level.NOTICE,
}


def render(report: Report, language: str) -> str:
    """The annotations, one a line."""
    problems = [
        Annotation(
            "check-translations", _message(joined((problem.what, problem.why), ": "), problem.hint, language)
        )
        for problem in report.problems
    ]
    counted = set(map(id, report.verdict.failing))
    # Within a severity, findings that fail the check are shown first.
    ordered = sorted(report.findings, key=lambda one: (-one.severity, id(one) not in counted))
    return "\n".join(
        annotation_lines([*problems, *(_annotation(one, language) for one in ordered)], root=None)
    )


def _message(message: str | Sentence, hint: str | Sentence, language: str) -> str:
    lines = [message, Text("try: {hint}").of(hint=hint)] if hint else [message]
    return joined(lines, "\n").render(language)


def _annotation(finding: TranslationFinding, language: str) -> Annotation:
    return Annotation(
        f"{finding.kind}: {finding.page or finding.file}",
        _message(finding.message, finding.hint, language),
        Location(Path(finding.file), finding.line or None),
        finding.last_line or None,
        _LEVELS[finding.severity],
    )
