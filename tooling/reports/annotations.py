"""Messages that GitHub shows beside the lines of a pull request (workflow commands)."""

from __future__ import annotations

import os
from pathlib import Path

from tooling.errors import Location, ToolingError
from tooling.judging.verdict import Verdict


def annotations_wanted() -> bool:
    """Whether this runs in a GitHub workflow."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def verdict_annotations(verdict: Verdict, source: Path, root: Path) -> list[str]:
    """One line for each problem and each finding of a verdict that is not right."""
    lines = []
    for case in verdict.cases:
        title = f"{verdict.selection.command} ({case.dataset})"
        for finding in case.errors:
            from tooling.simulator.findings import explain  # noqa: PLC0415 - only simulated runs have any

            place = finding.parties[0].place if finding.parties else None
            where = Location(Path(place.file), place.line, place.column) if place and place.line else None
            message = explain(finding)
            lines.append(_command(title, f"{message.what}\n{message.why}\n{message.hint}", where, root))
        for problem in case.problems:
            text = f"{problem.what}\n{problem.cause}\n{problem.advice}"
            lines.append(_command(title, text, Location(source), root))
    return list(dict.fromkeys(lines))


def error_annotation(error: ToolingError, root: Path | None) -> str:
    """The line for an error that stopped a command."""
    details = getattr(error, "details", "")
    text = "\n".join(part for part in (error.what, error.why, details, error.hint) if part)
    return _command(type(error).__name__, text, error.where, root)


def _command(title: str, message: str, where: Location | None, root: Path | None) -> str:
    properties = []
    if where:
        path = where.path
        if root and path.is_absolute() and path.is_relative_to(root):
            path = path.relative_to(root)
        properties.append(f"file={_escape(path.as_posix(), property_=True)}")
        if where.line:
            properties.append(f"line={where.line}")
        if where.line and where.column:
            properties.append(f"col={where.column}")
    properties.append(f"title={_escape(title, property_=True)}")
    return f"::error {','.join(properties)}::{_escape(message)}"


def _escape(text: str, *, property_: bool = False) -> str:
    escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    if property_:
        escaped = escaped.replace(":", "%3A").replace(",", "%2C")
    return escaped
