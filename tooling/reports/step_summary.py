"""The summary page of a step in a GitHub workflow: the results of a command, as Markdown.

It shows the contents of the JUnit report: counts by suite, and every failure with its details.
"""

from __future__ import annotations

import html
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tooling.platform.errors import ToolingError
from tooling.reports.annotations import annotation_lines, in_workflow, record_annotations
from tooling.reports.terminal import Terminal

if TYPE_CHECKING:  # it imports NumPy, which a check of texts does not need
    from tooling.reports.records import ReportRecord

LIMIT = 1_000_000  # bytes; GitHub refuses a step summary over one MiB
_MOST_FAILURES = 100
_MOST_DETAILS = 6_000  # characters of one failure
_STATUSES = ("passed", "failed", "error", "skipped")


def add_to_summary(markdown: str) -> None:
    """Appends text to the summary of this step, up to GitHub's limit; does nothing outside a workflow."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    text = (markdown.rstrip("\n") + "\n\n").encode("utf-8")
    try:
        with Path(path).open("ab") as file:
            if file.tell() + len(text) <= LIMIT:
                file.write(text)
    except OSError as error:
        print(f"::warning title=step summary::{path} cannot be written: {error.strerror}")  # noqa: T201


def publish(command: str, records: Sequence[ReportRecord], root: Path, terminal: Terminal) -> None:
    """Writes annotations and the step summary in a workflow; does nothing elsewhere."""
    if in_workflow():
        for line in annotation_lines(record_annotations(records), root):
            terminal.line(line)
        terminal.stream.flush()
    add_to_summary(records_markdown(command, records))


def records_markdown(command: str, records: Sequence[ReportRecord]) -> str:
    """Counts by suite, and the failed records with their details."""
    bad = [record for record in records if record.status in ("failed", "error")]
    verdict = f"❌ {len(bad)} of {len(records)} failed" if bad else f"✅ {_passed(records)}"
    lines = [f"### `{command}`: {verdict}", ""]
    lines += ["| | passed | failed | errors | skipped | seconds |", "|---|--:|--:|--:|--:|--:|"]
    suites = list(dict.fromkeys(sorted(record.suite for record in records)))
    for suite in suites if len(suites) > 1 else []:
        lines.append(_row(suite, [record for record in records if record.suite == suite]))
    lines += [_row("all", records), ""]
    for record in bad[:_MOST_FAILURES]:
        lines += _failure(record)
    if len(bad) > _MOST_FAILURES:
        lines.append(f"{len(bad) - _MOST_FAILURES} more failures are in the JUnit report.")
    return "\n".join(lines)


def error_markdown(command: str, error: ToolingError) -> str:
    """An error that stopped a command."""
    return f"### `{command}`: ❌ {html.escape(error.what)}\n\n{_fenced(str(error))}"


def text_markdown(command: str, verdict: str, text: str) -> str:
    """The output of a command that has no records."""
    return f"### `{command}`: {verdict}" + (f"\n\n{_fenced(text)}" if text else "")


def _passed(records: Sequence[ReportRecord]) -> str:
    skipped = sum(record.status == "skipped" for record in records)
    return f"{len(records) - skipped} passed" + (f", {skipped} skipped" if skipped else "")


def _row(name: str, records: Sequence[ReportRecord]) -> str:
    counts = [str(sum(record.status == status for record in records)) for status in _STATUSES]
    return f"| {name} | {' | '.join(counts)} | {sum(record.seconds for record in records):.1f} |"


def _failure(record: ReportRecord) -> list[str]:
    head = f"❌ <code>{html.escape(record.name)}</code>: {html.escape(record.message)}".replace("\n", " ")
    if not record.details:
        return [head, ""]
    return [f"<details><summary>{head}</summary>", "", _fenced(record.details), "", "</details>", ""]


def _fenced(text: str) -> str:
    if len(text) > _MOST_DETAILS:
        text = text[:_MOST_DETAILS] + "\n…"
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"
