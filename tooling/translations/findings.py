"""The findings of a report, about freshness and about parity."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from tooling.text import Sentence, Text, joined
from tooling.translations.model import (
    ChangeClass,
    Fidelity,
    Freshness,
    FreshnessSeverity,
    PageStatus,
    Problem,
    SectionChange,
)
from tooling.translations.words import CLASSES, LINES_UNKNOWN


class TranslationFinding(Struct, frozen=True):
    """One finding.

    Attributes:
        kind: its name, families first: `stale:prose`, `missing`, `parity:heading-level`, `ignore:unused`.
        severity: errors fail a check by default.
        page: key of the page it concerns.
        file: where to look, as the report names files.
        line, last_line: the lines there, None for the whole file.
        message: what is wrong, in one sentence.
        hint: what to do, as a command or an edit.
        key: identifies it in `[[ignore]]`; derived from its subject, so that it expires when that changes.
    """

    kind: str
    severity: FreshnessSeverity
    page: str
    file: str
    line: int | None
    last_line: int | None
    message: str | Sentence
    hint: str | Sentence
    key: str

    @property
    def family(self) -> str:
        return self.kind.partition(":")[0]


class FidelityResult(Struct, frozen=True):
    """Translations compared with their pinned sources: fidelity by page key, the differences, and what could
    not be compared.
    """

    pages: Mapping[str, Fidelity]
    findings: tuple[TranslationFinding, ...]
    problems: tuple[Problem, ...]


SUMMARY = "SUMMARY.md"


def is_expected(kind: str, key: str) -> bool:
    """Whether a growing translation may have such a finding: a page or title is not translated yet."""
    return kind in ("missing", "parity:link-untranslated-page") or (
        kind == "parity:untranslated" and key == SUMMARY
    )


_SEVERITIES = {
    Freshness.MISSING: FreshnessSeverity.WARNING,
    Freshness.ORPHANED: FreshnessSeverity.ERROR,
    Freshness.UNTRACKED: FreshnessSeverity.ERROR,
    Freshness.BAD_PIN: FreshnessSeverity.ERROR,
    Freshness.UNKNOWN: FreshnessSeverity.ERROR,
}


def freshness_findings(status: PageStatus) -> list[TranslationFinding]:
    """The findings about a page's freshness; none for a current page."""
    if status.freshness is Freshness.CURRENT:
        return []
    file = status.target or status.source or status.key
    if status.freshness is Freshness.STALE:
        return [_stale(status, file)]
    pinned = (status.pin.blob or status.pin.commit or "")[:12] if status.pin else ""
    return [
        TranslationFinding(
            str(status.freshness),
            _SEVERITIES[status.freshness],
            status.key,
            file,
            1,
            None,
            status.reason or str(status.freshness),
            status.hint or "",
            "/".join(field for field in (str(status.freshness), status.key, pinned) if field),
        )
    ]


def _stale(status: PageStatus, file: str) -> TranslationFinding:
    weight = status.weight or ChangeClass.UNCLASSIFIED
    blocking = status.needs_translation
    lines = next((one.target for one in status.sections if one.target is not None), None)
    return TranslationFinding(
        f"stale:{weight}",
        FreshnessSeverity.ERROR if blocking else FreshnessSeverity.INFO,
        status.key,
        file,
        lines.first if lines else 1,
        lines.last if lines else None,
        stale_message(status),
        status.hint or "",
        f"stale/{status.key}/{(status.today or '')[:12]}",
    )


def stale_message(status: PageStatus) -> Sentence:
    """What changed and where, in one sentence."""
    if status.weight is ChangeClass.FORMAT:
        return Text("the source was only reformatted; nothing to translate")
    if not status.sections:
        return Text("the source has changed since it was translated ({notes})").of(
            notes=joined(status.notes) if status.notes else Text("unclassified")
        )
    sections = joined(describe_section(section) for section in status.sections)
    if status.skipped:
        return Text("the source has changed (every commit asks to be skipped): {sections}").of(
            sections=sections
        )
    return Text("the source has changed: {sections}").of(sections=sections)


def describe_section(section: SectionChange) -> Sentence:
    """One changed section, such as `§3 "Barriers" (prose, 2 blocks) → lines 120-148`."""
    blocks = Text("{count} block", "{count} blocks").of(count=section.blocks)
    if section.moved == section.blocks:
        blocks = Text("{blocks} only moved").of(blocks=blocks)
    elif section.moved:
        blocks = Text("{blocks}, {moved} of them only moved").of(blocks=blocks, moved=section.moved)
    kinds = joined((CLASSES[kind] for kind in ChangeClass if kind in section.classes), ", ")
    title = f'"{section.title}"' if section.title else Text("(before the first heading)")
    return Text("§{ordinal} {title} ({kinds}, {blocks}) → {where}").of(
        ordinal=section.ordinal, title=title, kinds=kinds, blocks=blocks, where=_where(section)
    )


def _where(section: SectionChange) -> Text:
    target = section.target
    if target is None:
        return LINES_UNKNOWN
    if target.first == target.last:
        one = Text("about line {line}") if section.approximate else Text("line {line}")
        return one.of(line=target.first)
    several = Text("about lines {lines}") if section.approximate else Text("lines {lines}")
    return several.of(lines=str(target))
