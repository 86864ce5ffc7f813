"""Ignored findings, each with a reason.

    [[ignore]]
    key = "parity/puzzle_03/puzzle_03.md/numbers:1024"
    reason = "the Korean text rounds on purpose"
    until = 2026-06-30          # optional

A key is derived from the subject of a finding, so it stops matching when that changes; entries that no longer
match are reported, and so are expired ones.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from tooling.platform.errors import Location, ToolingError
from tooling.platform.regular_files import read_text
from tooling.text import Sentence, Text
from tooling.translations.findings import TranslationFinding
from tooling.translations.model import FreshnessSeverity


class IgnoreFileError(ToolingError):
    """The file of ignored findings is malformed."""


class Ignore(Struct, frozen=True):
    """One `[[ignore]]` entry."""

    key: str
    reason: str
    until: datetime.date | None


class Sorted(Struct, frozen=True):
    """The findings that remain, and the ignored ones with their reasons."""

    kept: tuple[TranslationFinding, ...]
    ignored: tuple[tuple[TranslationFinding, str], ...]


def read_ignores(path: Path) -> tuple[Ignore, ...]:
    """The entries of an ignore file; a file that does not exist has none.

    Raises:
        IgnoreFileError: not TOML, an unknown field, a missing key or reason.
    """
    if not path.is_file():
        return ()
    import tomllib  # noqa: PLC0415 -- most books have no such file

    try:
        table = tomllib.loads(read_text(path))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise IgnoreFileError(
            Text("not a TOML file"),
            where=Location(path),
            why=str(error),
            hint=Text("write [[ignore]] entries with key and reason"),
        ) from error
    entries = table.pop("ignore", [])
    if table or not isinstance(entries, list):
        raise _broken(
            path,
            Text("only [[ignore]] entries belong here"),
            ", ".join(table) or Text("ignore is not a list"),
        )
    return tuple(_entry(path, entry) for entry in entries)


def _entry(path: Path, entry: object) -> Ignore:
    if not isinstance(entry, dict):
        raise _broken(path, Text("an ignore entry is a table"), repr(entry))
    fields = dict(entry)
    key, reason, until = fields.pop("key", None), fields.pop("reason", None), fields.pop("until", None)
    if fields:
        raise _broken(
            path,
            Text("unknown field {fields}").of(fields=", ".join(fields)),
            Text("in the entry {key!r}").of(key=key),
        )
    if not isinstance(key, str) or not key:
        raise _broken(path, Text("an entry has no key"), Text("reason: {reason!r}").of(reason=reason))
    if not isinstance(reason, str) or not reason.strip():
        raise _broken(
            path, Text("the entry {key!r} gives no reason").of(key=key), Text("every entry needs a reason")
        )
    if isinstance(until, datetime.datetime):
        until = until.date()
    if until is not None and not isinstance(until, datetime.date):
        raise _broken(path, Text("until of {key!r} is not a date").of(key=key), repr(until))
    return Ignore(key, reason.strip(), until)


def _broken(path: Path, what: Text, why: str | Sentence) -> IgnoreFileError:
    hint = Text('an entry is [[ignore]] with key = "…", reason = "…" and, if wanted, until = 2026-06-30')
    return IgnoreFileError(what, where=Location(path), why=why, hint=hint)


def apply_ignores(
    findings: Iterable[TranslationFinding],
    ignores: Sequence[Ignore],
    *,
    file: str,
    today: datetime.date,
    whole: bool,
) -> Sorted:
    """Separates the ignored findings, and adds findings about ignores that have expired.

    Args:
        file: the ignore file as reports name it.
        whole: the run covered everything, so an entry that matches nothing is out of date.
    """
    expired = [entry for entry in ignores if entry.until is not None and entry.until < today]
    active = {entry.key: entry for entry in ignores if entry not in expired}
    kept: list[TranslationFinding] = []
    ignored: list[tuple[TranslationFinding, str]] = []
    matched: set[str] = set()
    for finding in findings:
        entry = active.get(finding.key)
        # What could not be determined cannot be ignored.
        if entry is None or finding.kind == "unknown":
            kept.append(finding)
        else:
            matched.add(entry.key)
            ignored.append((finding, entry.reason))
    for entry in expired:
        message = Text("the ignore of {key} expired on {until}").of(key=entry.key, until=entry.until)
        kept.append(_about(entry, "ignore:expired", message, file))
    for key, entry in active.items():
        if whole and key not in matched:
            message = Text("the ignore of {key} no longer matches anything").of(key=key)
            kept.append(_about(entry, "ignore:unused", message, file))
    return Sorted(tuple(kept), tuple(ignored))


def _about(entry: Ignore, kind: str, message: Text, file: str) -> TranslationFinding:
    hint = Text("delete the entry, or renew it with a reason that still applies")
    return TranslationFinding(
        kind, FreshnessSeverity.WARNING, "", file, None, None, message, hint, f"{kind}/{entry.key}"
    )
