"""The findings of the comparison of a translation with its source."""

from __future__ import annotations

import hashlib
from collections import Counter
from enum import StrEnum

from msgspec import Struct, field

from tooling.text import Sentence


class ParitySeverity(StrEnum):
    """The severity of a finding; by default only errors fail a check."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class ParityFinding(Struct, frozen=True):
    """One difference between a page and its translation.

    Attributes:
        kind: the rule's name, such as `heading-level` or `fence-code`.
        severity: error, warning or info.
        line_source: line of the source page, counted from 1; None where only the translation is affected.
        line_target: line of the translated page; None where nothing there corresponds.
        message: one sentence: what differs.
        hint: what to do.
        key: identifies the finding across unrelated edits: derived from the kind and from what differs, never
            from line numbers. `[[ignore]]` entries contain it.
    """

    kind: str
    severity: ParitySeverity
    line_source: int | None
    line_target: int | None
    message: str | Sentence
    hint: str | Sentence
    key: str


# Line of the source and line of the translation.
Lines = tuple[int | None, int | None]

_LONGEST_SUBJECT = 48


class Findings(Struct):
    """Collects findings and gives each its key; the second of the same kind and subject ends in `~2`."""

    found: list[ParityFinding] = field(default_factory=list)
    _seen: Counter[str] = field(default_factory=Counter)

    def error(
        self, kind: str, lines: Lines, message: str | Sentence, *, hint: str | Sentence, subject: str
    ) -> None:
        """Adds a finding; `subject` is what differs: an id, a word, an address, some code."""
        self._add(kind, ParitySeverity.ERROR, lines, message, hint=hint, subject=subject)

    def warning(
        self, kind: str, lines: Lines, message: str | Sentence, *, hint: str | Sentence, subject: str
    ) -> None:
        """As `error`, for what may be intended."""
        self._add(kind, ParitySeverity.WARNING, lines, message, hint=hint, subject=subject)

    def info(
        self, kind: str, lines: Lines, message: str | Sentence, *, hint: str | Sentence, subject: str
    ) -> None:
        """As `error`, for what is usually intended."""
        self._add(kind, ParitySeverity.INFO, lines, message, hint=hint, subject=subject)

    def _add(
        self,
        kind: str,
        severity: ParitySeverity,
        lines: Lines,
        message: str | Sentence,
        *,
        hint: str | Sentence,
        subject: str,
    ) -> None:
        key = f"{kind}:{_short(subject)}"
        self._seen[key] += 1
        if self._seen[key] > 1:
            key = f"{key}~{self._seen[key]}"
        self.found.append(ParityFinding(kind, severity, *lines, message, hint, key))


def _short(subject: str) -> str:
    """The subject on one line; a long one is truncated and gets a digest to be unique."""
    line = " ".join(subject.split())
    if len(line) <= _LONGEST_SUBJECT:
        return line
    digest = hashlib.sha256(line.encode()).hexdigest()[:8]
    return f"{line[: _LONGEST_SUBJECT - 9].rstrip()}…{digest}"


def quoted(text: str, limit: int = 60) -> str:
    """Text of a page for a message: on one line, truncated."""
    line = " ".join(text.split())
    return f"`{line[: limit - 1]}…`" if len(line) > limit else f"`{line}`"
