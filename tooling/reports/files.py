"""Writes reports for machines: JSON and JUnit XML, to a file or to stdout (`-`)."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tooling.platform.errors import Location, ToolingError
from tooling.text import Text

if TYPE_CHECKING:
    from tooling.reports.records import ReportRecord

_UNPRINTABLE = re.compile(r"[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SOURCES = (".mojo", ".py", ".yaml", ".toml", ".md")


class ReportNotWritten(ToolingError):
    """A report file cannot be written."""


def write_json(path: str, command: str, records: Sequence[ReportRecord]) -> None:
    """Writes the JSON report.

    Raises:
        ReportNotWritten: the file cannot be written.
    """
    import json  # noqa: PLC0415 - only where a report is asked for

    from tooling.reports.records import report_data  # noqa: PLC0415 - imports NumPy, which other reports do not need

    write_report(path, json.dumps(report_data(command, list(records)), indent=2, ensure_ascii=False) + "\n")


def write_junit(path: str, command: str, records: Sequence[ReportRecord]) -> None:
    """Writes the report as JUnit XML, one test suite for each puzzle.

    Raises:
        ReportNotWritten: the file cannot be written.
    """
    import xml.etree.ElementTree as ET  # noqa: PLC0415 - the customary name

    top = ET.Element("testsuites", name=f"tooling {command}")
    for suite in dict.fromkeys(record.suite for record in records):
        own = [record for record in records if record.suite == suite]
        element = ET.SubElement(
            top,
            "testsuite",
            name=printable(suite),
            tests=str(len(own)),
            failures=str(sum(record.status == "failed" for record in own)),
            errors=str(sum(record.status == "error" for record in own)),
            skipped=str(sum(record.status == "skipped" for record in own)),
            time=f"{sum(record.seconds for record in own):.3f}",
        )
        for record in own:
            case = ET.SubElement(
                element,
                "testcase",
                classname=printable(suite),
                name=printable(record.name),
                time=f"{record.seconds:.3f}",
            )
            tag = {"failed": "failure", "error": "error", "skipped": "skipped"}.get(record.status)
            if tag:
                ET.SubElement(case, tag, message=printable(record.message)).text = printable(record.details)
    ET.indent(top)
    write_report(
        path, '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(top, encoding="unicode") + "\n"
    )


def printable(text: str) -> str:
    """Without what XML 1.0 does not allow in any form: control characters, surrogates, non-characters."""
    return _UNPRINTABLE.sub("\ufffd", text)


def write_report(path: str, text: str) -> None:
    """Writes a report to a file, or to stdout where the path is `-`.

    Raises:
        ReportNotWritten: the file cannot be written, or is a program or a page, which nobody wants to lose.
    """
    if path == "-":
        sys.stdout.write(text)
        return
    if Path(path).suffix in _SOURCES and Path(path).exists():
        raise ReportNotWritten(
            Text("a report does not overwrite a program, a manifest or a page"),
            where=Location(Path(path)),
            hint=Text("name another file, such as report.json"),
        )
    try:
        Path(path).write_text(text, "utf-8")
    except OSError as error:
        raise ReportNotWritten(
            Text("a report cannot be written"), where=Location(Path(path)), why=error.strerror
        ) from error
