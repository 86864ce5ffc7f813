"""Annotations: messages that GitHub shows at lines of a pull request, written as workflow commands.

GitHub shows ten errors, ten warnings and ten notices of a step, and fifty annotations of a job: `limited`
selects them, and the step summary contains the rest.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from tooling.platform.errors import Location, ToolingError

if TYPE_CHECKING:  # they import NumPy, which a check of texts does not need
    from tooling.judging.verdict import Verdict
    from tooling.reports.records import ReportRecord
from tooling.text import ENGLISH

PER_LEVEL = 10
PER_STEP = 50


class Level(StrEnum):
    """The severity of an annotation."""

    ERROR = "error"
    WARNING = "warning"
    NOTICE = "notice"


COMMANDS = tuple(f"::{level}" for level in Level)
"""The prefixes of a line with an annotation."""


class Annotation(Struct, frozen=True):
    """One message, at a line of a file if it has one."""

    title: str
    message: str
    where: Location | None = None
    last_line: int | None = None
    level: Level = Level.ERROR

    def render(self, root: Path | None) -> str:
        """The workflow command; paths below `root` are relative to it, as GitHub requires."""
        properties = []
        if self.where:
            path = self.where.path
            if root and path.is_absolute() and path.is_relative_to(root):
                path = path.relative_to(root)
            properties.append(f"file={_escape(path.as_posix(), property_=True)}")
            if self.where.line:
                properties.append(f"line={self.where.line}")
                if self.last_line:
                    properties.append(f"endLine={self.last_line}")
                if self.where.column:
                    properties.append(f"col={self.where.column}")
        properties.append(f"title={_escape(self.title, property_=True)}")
        return f"::{self.level} {','.join(properties)}::{_escape(self.message)}"


def in_workflow() -> bool:
    """Whether this runs in a GitHub workflow."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def limited(annotations: Iterable[Annotation]) -> tuple[list[Annotation], int]:
    """The annotations that GitHub shows, without duplicates, and the number of the others."""
    used: Counter[Level] = Counter()
    distinct = list(dict.fromkeys(annotations))
    shown: list[Annotation] = []
    for one in distinct:
        if used[one.level] < PER_LEVEL and used.total() < PER_STEP:
            used[one.level] += 1
            shown.append(one)
    return shown, len(distinct) - len(shown)


def annotation_lines(annotations: Iterable[Annotation], root: Path | None) -> list[str]:
    """The workflow commands of those that GitHub shows, and a line with the number of the others."""
    shown, left_out = limited(annotations)
    lines = [one.render(root) for one in shown]
    return [*lines, f"{left_out} more findings are in the step summary"] if left_out else lines


def verdict_annotations(verdict: Verdict, source: Path, language: str = ENGLISH) -> list[Annotation]:
    """One for each problem and each finding of a verdict that is not right."""
    found = []
    for case in verdict.cases:
        title = f"{verdict.selection.command} ({case.label})"
        for finding in case.errors:
            from tooling.simulator.checks.findings import explain  # noqa: PLC0415 - only simulated runs have any

            position = finding.parties[0].position if finding.parties else None
            where = None
            if position is not None and position.line:
                where = Location(Path(position.file), position.line, position.column)
            message = explain(finding, language)
            found.append(Annotation(title, f"{message.what}\n{message.why}\n{message.hint}", where))
        for problem in case.problems:
            what, cause, advice = (
                sentence.render(language) for sentence in (problem.what, problem.cause, problem.advice)
            )
            text = "\n".join((what, *([str(problem.line)] if problem.line else []), cause, advice))
            found.append(Annotation(title, text, Location(source)))
    return found


def record_annotations(records: Iterable[ReportRecord]) -> list[Annotation]:
    """One for each record that failed, or that could not be judged."""
    return [
        Annotation(record.name, f"{record.message}\n{record.details}".strip(), record.where)
        for record in records
        if record.status in ("failed", "error")
    ]


def error_annotation(error: ToolingError) -> Annotation:
    """The annotation for an error that stopped a command."""
    details = getattr(error, "details", "")
    text = "\n".join(each for each in (error.what, error.why, details, error.hint) if each)
    return Annotation(type(error).__name__, text, error.where)


def _escape(text: str, *, property_: bool = False) -> str:
    escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    if property_:
        escaped = escaped.replace(":", "%3A").replace(",", "%2C")
    return escaped
