"""What the comparison of a translation with its source reports."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How much a finding weighs; by default only errors fail a check."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class ParityFinding:
    """One difference between a page and its translation.

    Attributes:
        kind: the rule's name, such as `heading-level` or `fence-code`.
        severity: error, warning or info.
        line_source: line of the source page, counted from 1; None where only the translation is concerned.
        line_target: line of the translated page; None where nothing there corresponds.
        message: one sentence: what differs.
        hint: what to do.
        key: names the finding across unrelated edits: made of the kind and of what differs, never of line
            numbers. `[[ignore]]` entries carry it.
    """

    kind: str
    severity: Severity
    line_source: int | None
    line_target: int | None
    message: str
    hint: str
    key: str
