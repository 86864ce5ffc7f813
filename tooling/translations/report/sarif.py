"""A report as SARIF 2.1.0, for code scanning; its sentences are English."""

from __future__ import annotations

import hashlib
import json
from typing import Any
from urllib.parse import quote

from tooling.text import ENGLISH, Sentence
from tooling.text.sentences import joined
from tooling.translations.findings import TranslationFinding
from tooling.translations.model import FreshnessSeverity
from tooling.translations.report.report import Report

_LEVELS = {
    FreshnessSeverity.ERROR: "error",
    FreshnessSeverity.WARNING: "warning",
    FreshnessSeverity.INFO: "note",
}
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_RULES = {
    "stale": "The source has changed since the page was translated.",
    "missing": "A source page has no translation.",
    "orphaned": "A translation has no source page.",
    "untracked": "A translation has no marker.",
    "bad-pin": "A marker names a text that cannot be the page's source.",
    "unknown": "The freshness of a page could not be determined.",
    "parity": "A translation differs from its source at the pin.",
    "include": "An include cannot be resolved, or its code has changed since the pin.",
    "glossary": "A translation deviates from the glossary.",
    "ignore": "An ignored finding is out of date.",
}


def render(report: Report) -> str:
    """The report as indented JSON."""
    kinds = sorted({finding.kind for finding in report.findings})
    rules = [
        {
            "id": kind,
            "shortDescription": {"text": _RULES.get(kind.partition(":")[0], kind)},
        }
        for kind in kinds
    ]
    run: dict[str, Any] = {
        "tool": {"driver": {"name": "check-translations", "version": "1", "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, kinds.index(finding.kind)) for finding in report.findings]
        + [_suppressed(finding, reason) for finding, reason in report.ignored],
        "invocations": [
            {
                "executionSuccessful": not report.problems,
                "toolExecutionNotifications": [
                    {
                        "level": "error",
                        "message": {"text": _text(joined((one.what, one.why), ": "), one.hint)},
                    }
                    for one in report.problems
                ],
            }
        ],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, ensure_ascii=False, indent=2)


def _text(message: str | Sentence, hint: str | Sentence) -> str:
    parts = (message, hint) if hint else (message,)
    return joined(parts, ". Try: ").render(ENGLISH)


def _result(finding: TranslationFinding, rule: int | None = None) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": {"uri": quote(finding.file)}}
    if finding.line:
        location["region"] = {"startLine": finding.line}
        if finding.last_line:
            location["region"]["endLine"] = finding.last_line
    result: dict[str, Any] = {
        "ruleId": finding.kind,
        "level": _LEVELS[finding.severity],
        "message": {"text": _text(finding.message, finding.hint)},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": {"checkTranslations/v1": hashlib.sha256(finding.key.encode()).hexdigest()},
    }
    if rule is not None:
        result["ruleIndex"] = rule
    return result


def _suppressed(finding: TranslationFinding, reason: str) -> dict[str, Any]:
    return _result(finding) | {"suppressions": [{"kind": "external", "justification": reason}]}
