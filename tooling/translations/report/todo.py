"""A report as a to-do list in Markdown: an item for each section to translate and finding to correct.

Sections that have been edited since the page was stamped are ticked off.
"""

from __future__ import annotations

from collections.abc import Iterator

from tooling.text import Sentence, Text, in_language
from tooling.text.sentences import joined
from tooling.translations.findings import TranslationFinding, describe_section
from tooling.translations.model import Freshness, FreshnessSeverity, PageStatus
from tooling.translations.report.report import Report
from tooling.translations.words import DAYS, label


def render(report: Report, language: str) -> str:
    """The list, longest stale first, then missing pages, then pages that only have findings."""
    grouped = report.by_page()
    pages = {page.key: list(_items(report, page, grouped.get(page.key, []))) for page in report.pages}
    work = sorted((page for page in report.pages if pages[page.key]), key=lambda page: _order(report, page))
    items = sum(not done for page in work for done, _ in pages[page.key])
    title = Text("To translate ({language}): {items}, {pages}").of(
        language=report.roots.language,
        items=Text("{count} item", "{count} items").of(count=items),
        pages=Text("{count} page", "{count} pages").of(count=len(work)),
    )
    lines = [f"# {title.render(language)}"]
    for page in work:
        days = report.age_in_days(page)
        state = (
            Text("{state}, stale for {days}").of(state=label(page), days=DAYS.of(count=days))
            if days
            else label(page)
        )
        name = page.target or page.source or page.key
        lines += ["", f"## `{name}`: {state.render(language)}", ""]
        lines += [
            f"- [{'x' if done else ' '}] {in_language(item, language)}" for done, item in pages[page.key]
        ]
        if page.needs_translation:
            stamp = report.roots.command("stamp", report.roots.target_argument(page.key))
            lines.append(f"- [ ] `{stamp}`")
    return "\n".join(lines)


def _items(
    report: Report, page: PageStatus, findings: list[TranslationFinding]
) -> Iterator[tuple[bool, Sentence]]:
    """Whether each item is done, and what it is."""
    if page.needs_translation:
        edited = report.edited.get(page.key, frozenset())
        for section in page.sections:
            yield section.ordinal in edited, describe_section(section)
        if not page.sections:
            yield False, Text("the changed sections are not known: compare the whole page")
    elif page.freshness not in (Freshness.CURRENT, Freshness.STALE):
        yield False, joined([part for part in (page.reason, page.hint) if part], ": ")
    for finding in findings:
        if finding.family in ("parity", "include", "glossary") and finding.severity > FreshnessSeverity.INFO:
            yield False, Text("line {line}: {message}").of(line=finding.line or "?", message=finding.message)


def _order(report: Report, page: PageStatus) -> tuple[int, int, str]:
    rank = 0 if page.needs_translation else 1 if page.freshness is Freshness.MISSING else 2
    return rank, -(report.age_in_days(page) or 0), page.key
