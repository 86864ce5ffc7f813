"""A report as a to-do list in Markdown: an item for each section to translate and finding to correct."""

from __future__ import annotations

from collections.abc import Iterator

from tooling.translations.findings import TranslationFinding, describe_section
from tooling.translations.model import Freshness, FreshnessSeverity, PageStatus
from tooling.translations.report.display import counted
from tooling.translations.report.report import Report


def render(report: Report) -> str:
    """The list, longest stale first, then missing pages, then pages that only have findings."""
    grouped = report.by_page()
    pages = {page.key: list(_items(page, grouped.get(page.key, []))) for page in report.pages}
    work = sorted((page for page in report.pages if pages[page.key]), key=lambda page: _order(report, page))
    items = sum(len(pages[page.key]) for page in work)
    lines = [
        f"# To translate ({report.roots.language}): {counted(items, 'item')}, {counted(len(work), 'page')}"
    ]
    for page in work:
        days = report.age_in_days(page)
        age = "" if not days else f", stale for {counted(days, 'day')}"
        lines += ["", f"## `{page.target or page.source or page.key}`: {page.label}{age}", ""]
        lines += [f"- [ ] {item}" for item in pages[page.key]]
        if page.needs_translation:
            stamp = report.roots.command("stamp", report.roots.target_argument(page.key))
            lines.append(f"- [ ] `{stamp}`")
    return "\n".join(lines)


def _items(page: PageStatus, findings: list[TranslationFinding]) -> Iterator[str]:
    if page.needs_translation:
        yield from map(describe_section, page.sections)
        if not page.sections:
            yield "the changed sections are not known: compare the whole page"
    elif page.freshness not in (Freshness.CURRENT, Freshness.STALE):
        yield f"{page.reason}: {page.hint}"
    for finding in findings:
        if finding.family in ("parity", "include", "glossary") and finding.severity > FreshnessSeverity.INFO:
            yield f"line {finding.line or '?'}: {finding.message}"


def _order(report: Report, page: PageStatus) -> tuple[int, int, str]:
    rank = 0 if page.needs_translation else 1 if page.freshness is Freshness.MISSING else 2
    return rank, -(report.age_in_days(page) or 0), page.key
