"""A report for a terminal: a table of the pages that need attention, then details."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tooling.text import Sentence, Text
from tooling.text.sentences import joined
from tooling.translations.findings import TranslationFinding, describe_section
from tooling.translations.model import ChangeClass, Fidelity, Freshness, FreshnessSeverity, PageStatus
from tooling.translations.pages import snippets
from tooling.translations.report.display import Style, table
from tooling.translations.report.report import Report
from tooling.translations.roots import visible
from tooling.translations.words import (
    COMMITS,
    COULD_NOT_BE_CHECKED,
    DAYS,
    FIDELITIES,
    HEADS,
    NOTE,
    ONLY_REFORMATTED,
    SEVERITIES,
    STATES,
    TRY,
    WHY,
    label,
)

_COLOURS: dict[Freshness, tuple[str, ...]] = {
    Freshness.CURRENT: ("green",),
    Freshness.STALE: ("yellow",),
    Freshness.MISSING: ("cyan",),
    Freshness.ORPHANED: ("red",),
    Freshness.UNTRACKED: ("red",),
    Freshness.BAD_PIN: ("red",),
    Freshness.UNKNOWN: ("red", "bold"),
}
_FIDELITY_COLOURS: dict[Fidelity, tuple[str, ...]] = {
    Fidelity.NOT_CHECKED: ("dim",),
    Fidelity.FAITHFUL: ("green",),
    Fidelity.WARNINGS: ("yellow",),
    Fidelity.MISMATCH: ("red",),
    Fidelity.UNKNOWN: ("red", "bold"),
}
_SEVERITY_COLOURS = {
    FreshnessSeverity.ERROR: "red",
    FreshnessSeverity.WARNING: "yellow",
    FreshnessSeverity.INFO: "dim",
}


def render(report: Report, style: Style, *, every_page: bool = False) -> str:
    """The report as text, without a final line feed.

    Args:
        every_page: list pages that are current and faithful too.
    """
    lines = [_title(report, style), ""]
    grouped = report.by_page()
    shown = [
        page for page in report.pages if every_page or _needs_a_look(report, page, grouped.get(page.key, ()))
    ]
    if shown:
        lines += [*_table(report, shown, style), ""]
    details = [line for page in shown for line in _details(page, grouped.get(page.key, ()), style)]
    details += [line for one in grouped.get("", ()) for line in _finding(one, style)]
    if details:
        lines += [*details, ""]
    for problem in report.problems:
        lines.append(style(COULD_NOT_BE_CHECKED.of(what=problem.what), "red", "bold"))
        lines += [style(WHY.of(why=problem.why)), style(TRY.of(hint=problem.hint))]
    if every_page and (names := snippets(report.roots.source)):
        shown_names = _some(list(map(visible, names)), 3)
        lines += [style(Text("not pages, because a name begins with `_`: {names}").of(names=shown_names)), ""]
    lines += _summary(report, style)
    return "\n".join(lines)


def _some(texts: Sequence[str | Sentence], most: int) -> Sentence:
    """The first texts, and how many others there are."""
    names = joined(texts[:most], ", ")
    left = len(texts) - most
    return Text("{names} and {left} more").of(names=names, left=left) if left > 0 else names


def _title(report: Report, style: Style) -> str:
    title = f"{report.roots.name(report.roots.source)} → {report.roots.name(report.roots.target)}"
    parts: list[str | Sentence] = [title]
    if report.head:
        parts = [Text("{trees} at {commit}").of(trees=title, commit=report.head[:12])]
    if report.scope:
        parts.append(Text("pages changed since {ref}").of(ref=report.scope.since))
    return style(joined(parts, ", "), "bold")


def _needs_a_look(report: Report, page: PageStatus, findings: Sequence[TranslationFinding]) -> bool:
    # Findings of the lowest severity too, such as changed included code: the prose around it may be wrong.
    unclear = report.fidelity_of(page) is Fidelity.UNKNOWN
    if page.freshness is Freshness.MISSING and report.roots.growing:
        return False  # the summary counts them
    return page.freshness is not Freshness.CURRENT or unclear or bool(findings)


def _table(report: Report, pages: list[PageStatus], style: Style) -> Iterator[str]:
    cells = [
        [style(head) for head in HEADS],
        *(
            [visible(page.key), *map(style, (label(page), _behind(report, page), _fidelity(report, page)))]
            for page in pages
        ),
    ]
    rows = table(cells)
    yield style("  ".join(rows[0]), "dim")
    for page, row in zip(pages, rows[1:], strict=True):
        calm = page.freshness is Freshness.STALE and not page.needs_translation
        colours = ("dim",) if calm else _COLOURS[page.freshness]
        name, freshness, behind, fidelity = row
        fidelity = style(fidelity, *_FIDELITY_COLOURS[report.fidelity_of(page)])
        yield "  ".join((name, style(freshness, *colours), behind, fidelity)).rstrip()


def _behind(report: Report, page: PageStatus) -> str | Sentence:
    if page.freshness is not Freshness.STALE:
        return ""
    facts: list[str | Sentence] = []
    if page.behind:
        facts.append(COMMITS.of(count=page.behind))
    if (days := report.age_in_days(page)) is not None:
        facts.append(DAYS.of(count=days))
    if page.dirty:
        facts.append(Text("uncommitted edits"))
    return joined(facts, ", ") if facts else "?"


def _counting(findings: Sequence[TranslationFinding]) -> Text:
    return Text("{count} finding that counts", "{count} findings that count").of(count=len(findings))


def _fidelity(report: Report, page: PageStatus) -> str | Sentence:
    fidelity = report.fidelity_of(page)
    return "" if fidelity is Fidelity.NOT_CHECKED else FIDELITIES[fidelity]


def _details(page: PageStatus, findings: Sequence[TranslationFinding], style: Style) -> Iterator[str]:
    second_axis = [one for one in findings if one.family in ("parity", "include", "glossary")]
    if page.freshness is Freshness.CURRENT and not second_axis:
        return
    yield style(page.target or page.source or page.key, "bold")
    if page.freshness is Freshness.STALE:
        if page.weight is ChangeClass.FORMAT:
            yield "  " + style(ONLY_REFORMATTED)
        for section in page.sections:
            yield "  " + style(describe_section(section))
    elif page.reason:
        yield "  " + style(joined((STATES[page.freshness], page.reason), ": "))
    if page.moved and page.freshness is not Freshness.ORPHANED:
        yield style(NOTE.of(note=Text("its source page was {page} at the pin").of(page=page.moved)), "dim")
    for note in page.notes:
        yield style(NOTE.of(note=note), "dim")
    if page.hint and (page.needs_translation or page.freshness is not Freshness.STALE):
        yield style(TRY.of(hint=page.hint), "cyan")
    for finding in second_axis:
        yield from _finding(finding, style)


def _finding(finding: TranslationFinding, style: Style) -> Iterator[str]:
    location = f"{finding.file}:{finding.line}" if finding.line else finding.file
    severity = f"{style(SEVERITIES[finding.severity])}[{finding.kind}]"
    yield f"  {location}: {style(severity, _SEVERITY_COLOURS[finding.severity])} {style(finding.message)}"
    if finding.hint:
        yield style(joined(("  ", TRY.of(hint=finding.hint)), ""), "dim")


def _summary(report: Report, style: Style) -> Iterator[str]:
    counts = report.counts
    states = [
        style(Text("{count} {state}").of(count=counts[state], state=STATES[state]), *_COLOURS[state])
        for state in Freshness
        if counts[state]
    ] or [style(Text("no pages"))]
    calm = sum(page.freshness is Freshness.STALE and not page.needs_translation for page in report.pages)
    note = style(Text(" ({calm} of the stale ones need no translation)").of(calm=calm)) if calm else ""
    yield " · ".join(states) + note
    reread = sum(one.kind == "include:drift" for one in report.findings)
    numbers = [
        Text("{count} error", "{count} errors").of(count=report.number_of(FreshnessSeverity.ERROR)),
        Text("{count} warning", "{count} warnings").of(count=report.number_of(FreshnessSeverity.WARNING)),
    ]
    if reread:
        numbers.append(Text("{count} to reread").of(count=reread))
    if report.ignored:
        numbers.append(Text("{count} ignored").of(count=len(report.ignored)))
    yield style(joined(numbers, ", "))
    verdict = report.verdict
    if verdict.unclear:
        unclear = Text("could not be determined: {pages}").of(pages=_some(verdict.unclear, 1))
        yield style(unclear, "red", "bold")
    elif verdict.failing:
        yield style(Text("failed: {findings}").of(findings=_counting(verdict.failing)), "red", "bold")
    elif verdict.reported:
        yield style(
            Text("reported only; with --check this fails: {findings}").of(
                findings=_counting(verdict.reported)
            )
        )
