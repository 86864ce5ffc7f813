"""`summary`: writes the table of contents of a translation with the titles of its pages, and its marker."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from tooling.platform.atomic_write import write_atomically
from tooling.platform.errors import Location, ToolingError
from tooling.platform.regular_files import TEXT_LIMIT, read_regular, read_text
from tooling.text import Text
from tooling.translations.findings import SUMMARY
from tooling.translations.marker import read_marker, without_marker, write_marker
from tooling.translations.model import Pin
from tooling.translations.pages import blob_ids, read_translation
from tooling.translations.roots import Roots
from tooling.translations.writing_systems import WritingSystem, writing_of

_ENTRY = re.compile(r"^(\s*(?:[-*+]\s+)?\[)((?:[^\]\\]|\\.)*)(\]\(<?([^)>]*)>?\)\s*)$")
_PART = re.compile(r"^(#\s+)(.+?)(\s*)$")


class SummaryError(ToolingError):
    """The source has no table of contents."""


class WrittenSummary(Struct, frozen=True):
    """The file as reports name it, its marker, and the titles that are still those of the source."""

    file: str
    pin: Pin
    left: tuple[str, ...]


def write_summary(roots: Roots) -> WrittenSummary:
    """Writes SUMMARY.md of the translation: the source's lines with translated titles.

    A title that the present file translates stays. Another one is the heading of the translated page, and
    that of the source where there is no such page. The marker names the source's text in the working tree.

    Raises:
        SummaryError: the source has no SUMMARY.md.
    """
    path = roots.source / SUMMARY
    if not path.is_file():
        raise SummaryError(
            Text("there is no table of contents to translate"),
            where=Location(path),
            why=Text("the chapters of an mdBook are listed in its SUMMARY.md"),
            hint=Text("name the folder of the source pages with --source"),
        )
    data = read_regular(path, limit=TEXT_LIMIT)
    target = roots.target / SUMMARY
    old = read_text(target) if target.is_file() else ""
    text, left = _translated(data.decode("utf-8"), old, roots)
    pin = Pin(None, blob_ids(data)[-1])
    before = read_marker(old.encode(), roots.marker).pin
    if before is not None and before.blob == pin.blob:
        pin = before  # with its commit
    write_atomically(target, write_marker(text.encode(), pin, roots.marker))
    return WrittenSummary(roots.target_name(SUMMARY), pin, left)


def _translated(source: str, old: str, roots: Roots) -> tuple[str, tuple[str, ...]]:
    """The text, and the titles that were left."""
    writing = writing_of(roots.language)
    known, parts = _titles(without_marker(old.encode()).decode("utf-8"))
    source_parts = _titles(source)[1]
    same = len(parts) == len(source_parts)
    lines: list[str] = []
    left: list[str] = []
    part = -1
    for line in source.splitlines():
        if match := _PART.match(line):
            part += 1
            title = parts[part] if same and _is_translated(parts[part], match[2], writing) else None
            lines.append(f"{match[1]}{title or match[2]}{match[3]}")
        elif match := _ENTRY.match(line):
            title = _title(match[2], match[4], known, roots, writing)
            lines.append(f"{match[1]}{title or match[2]}{match[3]}")
        else:
            lines.append(line)
            continue
        if title is None:
            left.append(match[2])
    return "\n".join(lines) + "\n", tuple(left)


def _titles(text: str) -> tuple[dict[str, str], list[str]]:
    """The titles of the chapters by path, and those of the parts."""
    lines = text.splitlines()
    chapters = {match[4]: match[2] for line in lines if (match := _ENTRY.match(line))}
    return chapters, [match[2] for line in lines if (match := _PART.match(line))]


def _title(
    title: str, path: str, known: Mapping[str, str], roots: Roots, writing: WritingSystem
) -> str | None:
    """The translated title of a chapter; None where it has none."""
    if _is_translated(known.get(path, title), title, writing):
        return known[path]
    page = roots.target / path
    if not path or not page.is_file():
        return None
    headings = read_translation(page, roots).structure.headings
    return headings[0].text if headings else None


def _is_translated(title: str, source: str, writing: WritingSystem) -> bool:
    return writing.letters.search(title) is not None if writing.own_script else title != source
