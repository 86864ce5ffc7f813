"""A report as JSON: the `status.json` that the book's banner reads. Its schema is `status.schema.json`.

Its sentences are English whatever the language of the environment.
"""

from __future__ import annotations

import datetime
import json
from typing import Any

from tooling.text import ENGLISH, Sentence, in_language
from tooling.translations.findings import TranslationFinding
from tooling.translations.model import Freshness, LineRange, PageStatus, SectionChange
from tooling.translations.report.report import Report

SCHEMA_VERSION = 1


def render(report: Report) -> str:
    """The report as JSON, with one line for each page and each finding.

    Lines are readable and suit diffs; indenting every field would take as long as judging the pages.
    """
    fields = (f"{_dump(name)}: {_lay_out(value)}" for name, value in document(report).items())
    return "{\n" + ",\n".join(fields) + "\n}"


def _lay_out(value: Any) -> str:
    if value and isinstance(value, dict):
        return "{\n" + ",\n".join(f"  {_dump(key)}: {_dump(one)}" for key, one in value.items()) + "\n}"
    if value and isinstance(value, list):
        return "[\n" + ",\n".join(f"  {_dump(one)}" for one in value) + "\n]"
    return _dump(value)


def _dump(value: Any) -> str:
    return _ENCODER.encode(value)


_ENCODER = json.JSONEncoder(ensure_ascii=False)


def document(report: Report) -> dict[str, Any]:
    """The report as plain values, in the shape of `status.schema.json`."""
    return {
        "schema": SCHEMA_VERSION,
        "language": report.roots.language,
        "source_root": report.roots.name(report.roots.source),
        "target_root": report.roots.name(report.roots.target),
        "commit": report.head,
        "generated": _moment(report.time),
        "exit_code": int(report.verdict.exit_code),
        "unclear": [_english(one) for one in report.verdict.unclear],
        "counts": {str(state): report.counts[state] for state in Freshness},
        "git_processes": report.git_processes,
        "pages": {page.key: _page(report, page) for page in report.pages},
        "findings": [_finding(one) for one in report.findings],
        "ignored": [_finding(one) | {"because": reason} for one, reason in report.ignored],
        "problems": [
            {"what": _english(one.what), "why": _english(one.why), "try": _english(one.hint)}
            for one in report.problems
        ],
    }


def _english(sentence: str | Sentence | None) -> str | None:
    text: str | None = in_language(sentence, ENGLISH)
    return text


def _page(report: Report, page: PageStatus) -> dict[str, Any]:
    pin = page.pin
    return {
        "freshness": str(page.freshness),
        "fidelity": str(report.fidelity_of(page)),
        "needs_translation": page.needs_translation,
        "classes": sorted(page.classes),
        "source": page.source,
        "target": page.target,
        "pin": {"commit": pin.commit, "blob": pin.blob} if pin else None,
        "pinned_blob": page.pinned_blob,
        "canonical_commit": page.canonical,
        "today_blob": page.today,
        "commits_behind": page.behind,
        "days_behind": report.age_in_days(page),
        "outdated_since": None if page.outdated_since is None else _moment(page.outdated_since),
        "changed_blocks": page.changed_blocks,
        "dirty": page.dirty,
        "moved": page.moved,
        "forgiven": page.skipped,
        "reason": _english(page.reason),
        "try": _english(page.hint),
        "notes": [_english(note) for note in page.notes],
        "sections": [_section(one) for one in page.sections],
    }


def _section(section: SectionChange) -> dict[str, Any]:
    return {
        "ordinal": section.ordinal,
        "title": section.title,
        "classes": sorted(section.classes),
        "blocks": section.blocks,
        "moved_blocks": section.moved,
        "source_lines": _lines(section.source),
        "target_lines": _lines(section.target),
        "target_ordinal": section.target_ordinal,
        "precise": section.precise,
        "approximate": section.approximate,
    }


def _finding(finding: TranslationFinding) -> dict[str, Any]:
    return {
        "kind": finding.kind,
        "severity": finding.severity.word,
        "page": finding.page,
        "file": finding.file,
        "line": finding.line,
        "last_line": finding.last_line,
        "message": _english(finding.message),
        "try": _english(finding.hint),
        "key": finding.key,
    }


def _lines(lines: LineRange | None) -> list[int] | None:
    return None if lines is None else [lines.first, lines.last]


def _moment(seconds: int) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
