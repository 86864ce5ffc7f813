"""A report for a terminal: a table of the pages that need attention, then details."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tooling.translations.findings import TranslationFinding, describe_section
from tooling.translations.model import ChangeClass, Fidelity, Freshness, FreshnessSeverity, PageStatus
from tooling.translations.pages import snippets
from tooling.translations.report.display import Style, counted, table
from tooling.translations.report.report import Report
from tooling.translations.roots import visible

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
        lines.append(style(f"could not be checked: {problem.what}", "red", "bold"))
        lines += [f"  why: {problem.why}", f"  try: {problem.hint}"]
    if every_page and (names := snippets(report.roots.source)):
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        lines += [
            f"not pages, because a name begins with `_`: {', '.join(map(visible, names[:3]))}{more}",
            "",
        ]
    lines += _summary(report, style)
    return "\n".join(lines)


def _title(report: Report, style: Style) -> str:
    source, target = report.roots.name(report.roots.source), report.roots.name(report.roots.target)
    commit = f" at {report.head[:12]}" if report.head else ""
    since = f", pages changed since {report.scope.since}" if report.scope else ""
    return style(f"{source} → {target}{commit}{since}", "bold")


def _needs_a_look(report: Report, page: PageStatus, findings: Sequence[TranslationFinding]) -> bool:
    # Findings of the lowest severity too, such as changed included code: the prose around it may be wrong.
    unclear = report.fidelity_of(page) is Fidelity.UNKNOWN
    if page.freshness is Freshness.MISSING and report.roots.growing:
        return False  # the summary counts them
    return page.freshness is not Freshness.CURRENT or unclear or bool(findings)


def _table(report: Report, pages: list[PageStatus], style: Style) -> Iterator[str]:
    heads = ("page", "freshness", "behind", "fidelity")
    cells = [
        heads,
        *((visible(page.key), page.label, _behind(report, page), _fidelity(report, page)) for page in pages),
    ]
    rows = table(cells)
    yield style("  ".join(rows[0]), "dim")
    for page, row in zip(pages, rows[1:], strict=True):
        calm = page.freshness is Freshness.STALE and not page.needs_translation
        colours = ("dim",) if calm else _COLOURS[page.freshness]
        name, freshness, behind, fidelity = row
        fidelity = style(fidelity, *_FIDELITY_COLOURS[report.fidelity_of(page)])
        yield "  ".join((name, style(freshness, *colours), behind, fidelity)).rstrip()


def _behind(report: Report, page: PageStatus) -> str:
    if page.freshness is not Freshness.STALE:
        return ""
    facts: list[str] = []
    if page.behind:
        facts.append(counted(page.behind, "commit"))
    if (days := report.age_in_days(page)) is not None:
        facts.append(counted(days, "day"))
    if page.dirty:
        facts.append("uncommitted edits")
    return ", ".join(facts) or "?"


def _counting(findings: Sequence[TranslationFinding]) -> str:
    return f"{counted(len(findings), 'finding')} that count{'s' if len(findings) == 1 else ''}"


def _fidelity(report: Report, page: PageStatus) -> str:
    fidelity = report.fidelity_of(page)
    return "" if fidelity is Fidelity.NOT_CHECKED else str(fidelity)


def _details(page: PageStatus, findings: Sequence[TranslationFinding], style: Style) -> Iterator[str]:
    second_axis = [one for one in findings if one.family in ("parity", "include", "glossary")]
    if page.freshness is Freshness.CURRENT and not second_axis:
        return
    yield style(page.target or page.source or page.key, "bold")
    if page.freshness is Freshness.STALE:
        if page.weight is ChangeClass.FORMAT:
            yield "  only reformatted; nothing to translate"
        for section in page.sections:
            yield f"  {describe_section(section)}"
    elif page.reason:
        yield f"  {page.freshness}: {page.reason}"
    if page.moved and page.freshness is not Freshness.ORPHANED:
        yield style(f"  note: its source page was {page.moved} at the pin", "dim")
    for note in page.notes:
        yield style(f"  note: {note}", "dim")
    if page.hint and (page.needs_translation or page.freshness is not Freshness.STALE):
        yield style(f"  try: {page.hint}", "cyan")
    for finding in second_axis:
        yield from _finding(finding, style)


def _finding(finding: TranslationFinding, style: Style) -> Iterator[str]:
    location = f"{finding.file}:{finding.line}" if finding.line else finding.file
    label = style(f"{finding.severity.word}[{finding.kind}]", _SEVERITY_COLOURS[finding.severity])
    yield f"  {location}: {label} {finding.message}"
    if finding.hint:
        yield style(f"    try: {finding.hint}", "dim")


def _summary(report: Report, style: Style) -> Iterator[str]:
    counts = report.counts
    states = [
        style(f"{counts[state]} {state}", *_COLOURS[state]) for state in Freshness if counts[state]
    ] or ["no pages"]
    calm = sum(page.freshness is Freshness.STALE and not page.needs_translation for page in report.pages)
    note = f" ({calm} of the stale ones need no translation)" if calm else ""
    yield " · ".join(states) + note
    errors = sum(one.severity is FreshnessSeverity.ERROR for one in report.findings)
    warnings = sum(one.severity is FreshnessSeverity.WARNING for one in report.findings)
    reread = sum(one.kind == "include:drift" for one in report.findings)
    drift = f", {reread} to reread" if reread else ""
    ignored = f", {len(report.ignored)} ignored" if report.ignored else ""
    yield f"{counted(errors, 'error')}, {counted(warnings, 'warning')}{drift}{ignored}"
    verdict = report.verdict
    if verdict.unclear:
        more = f" and {len(verdict.unclear) - 1} more" if len(verdict.unclear) > 1 else ""
        yield style(f"could not be determined: {verdict.unclear[0]}{more}", "red", "bold")
    elif verdict.failing:
        yield style(f"failed: {_counting(verdict.failing)}", "red", "bold")
    elif verdict.reported:
        yield f"reported only; with --check this fails: {_counting(verdict.reported)}"
