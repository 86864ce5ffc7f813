"""A report as Markdown: a pull request comment or a step summary."""

from __future__ import annotations

from collections.abc import Iterator

from tooling.platform.exit_codes import ExitCode
from tooling.translations.findings import TranslationFinding, describe_section
from tooling.translations.model import ChangeClass, Fidelity, Freshness, FreshnessSeverity, PageStatus
from tooling.translations.report.report import Report

# A bot finds its earlier comment by this line and edits it instead of adding one per push.
COMMENT_MARK = "<!-- check-translations -->"
COMMENT_LIMIT = 65_536  # characters GitHub accepts in a comment
_SIGNS = {FreshnessSeverity.ERROR: "❌", FreshnessSeverity.WARNING: "⚠️", FreshnessSeverity.INFO: "ℹ️"}


def render(report: Report, limit: int = COMMENT_LIMIT) -> str:
    """The report in at most `limit` characters; the number of omitted lines is at the end."""
    head = "\n".join(_head(report))
    rows = list(_body(report))
    text = "\n".join([head, *rows])
    if len(text) <= limit:
        return text
    kept: list[str] = []
    # Reserves space for the closing sentence, whatever its number.
    left = limit - len(head) - 200
    for row in rows:
        left -= len(row) + 1
        if left < 0:
            break
        kept.append(row)
    dropped = len(rows) - len(kept)
    closing = f"\n_… {dropped} more lines. `tooling check-translations` shows everything._"
    return "\n".join([head, *kept, closing])[:limit]


def _head(report: Report) -> Iterator[str]:
    yield COMMENT_MARK
    verdict = report.verdict
    sign = {ExitCode.PASSED: "✅", ExitCode.WRONG: "❌"}.get(verdict.exit_code, "❓")
    if sign == "✅" and any(one.severity is FreshnessSeverity.ERROR for one in report.findings):
        sign = "⚠️"  # tolerated, or only reported
    yield f"### {sign} Translations ({report.roots.language})"
    yield ""
    counts = report.counts
    yield " · ".join(f"**{counts[state]}** {state}" for state in Freshness if counts[state]) or "No pages."
    if report.scope is not None:
        yield ""
        yield f"Pages changed since `{report.scope.since}`: translated pages must end accurate; "
        yield "source pages only warn about their translation."
    for problem in report.problems:
        yield ""
        yield f"> **Could not be checked:** {_inline(problem.what)} ({_inline(problem.why)})."
        yield f"> Try: `{problem.hint}`"
    for reason in verdict.unclear[:5]:
        yield f"> **Could not be determined:** {_inline(reason)}"
    yield ""


def _body(report: Report) -> Iterator[str]:
    pages = [page for page in report.pages if page.freshness is not Freshness.CURRENT]
    pages.sort(key=_gravity)
    if pages:
        yield "| page | freshness | behind | fidelity | where |"
        yield "|---|---|---|---|---|"
        yield from (_row(report, page) for page in pages)
        yield ""
    second_axis = [
        one for one in report.findings if one.family in ("parity", "include", "glossary", "ignore")
    ]
    if second_axis:
        yield f"<details><summary>{len(second_axis)} findings on fidelity</summary>"
        yield ""
        yield from (_finding(one) for one in second_axis)
        yield ""
        yield "</details>"


def _gravity(page: PageStatus) -> tuple[int, str]:
    order = (
        Freshness.UNKNOWN,
        Freshness.BAD_PIN,
        Freshness.UNTRACKED,
        Freshness.ORPHANED,
        Freshness.STALE,
        Freshness.MISSING,
    )
    calm = page.freshness is Freshness.STALE and not page.needs_translation
    return len(order) if calm else order.index(page.freshness), page.key


def _row(report: Report, page: PageStatus) -> str:
    age = report.age_in_days(page)
    behind = ", ".join(
        text
        for text in (
            f"{page.behind} commits" if page.behind else "",
            f"{age} days" if age is not None else "",
        )
        if text
    )
    fidelity = report.fidelity_of(page)
    where = page.reason or ""
    if page.weight is ChangeClass.FORMAT:
        where = "nothing to translate"
    elif page.sections:
        where = "<br>".join(_inline(describe_section(section)) for section in page.sections)
    cells = (
        f"`{page.key}`",
        page.label,
        behind,
        "" if fidelity is Fidelity.NOT_CHECKED else str(fidelity),
        where,
    )
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


def _finding(finding: TranslationFinding) -> str:
    location = f"{finding.file}:{finding.line}" if finding.line else finding.file
    return f"- {_SIGNS[finding.severity]} `{location}` **{finding.kind}**: {_inline(finding.message)}"


def _inline(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    text = " ".join(text.split())
    for character in "\\*_[]<>":
        text = text.replace(character, f"\\{character}")
    return text
