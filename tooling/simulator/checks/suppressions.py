"""Findings that the user has accepted, listed in a TOML file with a reason for each.

[[suppress]]
check = "races"                 # optional, as are kind, kernel and file; each that is given must match
kind = "write-after-read"
kernel = "histogram"            # a part of the kernel's name
file = "histogram.mojo:41"      # the end of the path of any thread involved, with or without a line
reason = "all threads store the same value"
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct, ValidationError, convert

from tooling.platform.errors import Location, ToolingError
from tooling.platform.regular_files import read_text
from tooling.simulator.checks.findings import Check, Finding, Kind
from tooling.text import Text

_UNREADABLE = Text("the suppressions cannot be read")
_UNMATCHED = Text("entry {number} of {path} matches no finding ({reason}): remove it")


class SuppressionsUnusable(ToolingError):
    """The file of suppressions cannot be read, or an entry is not valid."""


class Suppression(Struct, frozen=True, forbid_unknown_fields=True):
    """One entry; what it names must match."""

    reason: str
    check: Check | None = None
    kind: Kind | None = None
    kernel: str = ""
    file: str = ""

    def matches(self, finding: Finding) -> bool:
        if self.check not in (None, finding.check) or self.kind not in (None, finding.kind):
            return False
        if self.kernel not in finding.kernel:
            return False
        path, _, line = self.file.rpartition(":") if self.file[-1:].isdigit() else (self.file, "", "")
        return not path or any(
            party.position.file.endswith(path) and line in ("", str(party.position.line))
            for party in finding.parties
        )


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    suppress: list[Suppression]


def read_suppressions(path: Path) -> tuple[Suppression, ...]:
    """The entries of a file.

    Raises:
        SuppressionsUnusable: it cannot be read, is not TOML, or has an entry without a reason, with an
            unknown key, or with nothing to match.
    """
    try:
        entries = tuple(convert(tomllib.loads(read_text(path)), _File).suppress)
        if any(not (each.check or each.kind or each.kernel or each.file) for each in entries):
            raise ValueError("an entry names neither check, kind, kernel nor file")
        return entries
    except (OSError, ValueError, ValidationError) as error:
        raise SuppressionsUnusable(_UNREADABLE, where=Location(path), why=str(error)) from error


def suppress(
    findings: Sequence[Finding], entries: Sequence[Suppression], path: Path
) -> tuple[list[Finding], list[Text]]:
    """The findings that no entry matches, and a note for each entry that matches none."""
    kept = [finding for finding in findings if not any(entry.matches(finding) for entry in entries)]
    notes = [
        _UNMATCHED.of(number=number, path=path, reason=entry.reason)
        for number, entry in enumerate(entries, start=1)
        if not any(entry.matches(finding) for finding in findings)
    ]
    return kept, notes
