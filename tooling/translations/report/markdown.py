"""A report as Markdown: a pull request comment or a step summary."""

from __future__ import annotations

from collections.abc import Iterator

from tooling.platform.exit_codes import ExitCode
from tooling.text import Text
from tooling.text.sentences import joined
from tooling.translations.findings import TranslationFinding, describe_section
from tooling.translations.model import ChangeClass, Fidelity, Freshness, FreshnessSeverity, PageStatus
from tooling.translations.report.display import Style
from tooling.translations.report.report import Report
from tooling.translations.words import COMMITS, DAYS, FIDELITIES, HEADS, NOTHING_TO_TRANSLATE, STATES, label

# A bot finds its earlier comment by this line and edits it instead of adding one per push.
COMMENT_MARK = "<!-- check-translations -->"
COMMENT_LIMIT = 65_536  # characters GitHub accepts in a comment
_SIGNS = {FreshnessSeverity.ERROR: "❌", FreshnessSeverity.WARNING: "⚠️", FreshnessSeverity.INFO: "ℹ️"}


def render(report: Report, language: str, limit: int = COMMENT_LIMIT) -> str:
    """The report in at most `limit` characters; the number of omitted lines is at the end."""
    say = Style(language=language)
    head = "\n".join(_head(report, say))
    rows = list(_body(report, say))
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
    closing = Text("… {dropped} more lines. `tooling check-translations` shows everything.").of(
        dropped=dropped
    )
    return "\n".join([head, *kept, f"\n_{say(closing)}_"])[:limit]


def _head(report: Report, say: Style) -> Iterator[str]:
    yield COMMENT_MARK
    verdict = report.verdict
    sign = {ExitCode.PASSED: "✅", ExitCode.WRONG: "❌"}.get(verdict.exit_code, "❓")
    if sign == "✅" and any(one.severity is FreshnessSeverity.ERROR for one in report.findings):
        sign = "⚠️"  # tolerated, or only reported
    yield f"### {sign} {say(Text('Translations ({language})').of(language=report.roots.language))}"
    yield ""
    counts = report.counts
    yield " · ".join(
        f"**{counts[state]}** {say(STATES[state])}" for state in Freshness if counts[state]
    ) or say(Text("No pages."))
    if report.scope is not None:
        yield ""
        scope = Text(
            "Pages changed since `{ref}`: translated pages must end accurate; "
            "source pages only warn about their translation."
        )
        yield say(scope.of(ref=report.scope.since))
    for problem in report.problems:
        yield ""
        what, why = (_inline(say(sentence)) for sentence in (problem.what, problem.why))
        yield f"> **{say(Text('Could not be checked:'))}** {what} ({why})."
        yield "> " + say(Text("Try: `{hint}`").of(hint=problem.hint))
    for reason in verdict.unclear[:5]:
        yield f"> **{say(Text('Could not be determined:'))}** {_inline(say(reason))}"
    yield ""


def _body(report: Report, say: Style) -> Iterator[str]:
    pages = [page for page in report.pages if page.freshness is not Freshness.CURRENT]
    pages.sort(key=_gravity)
    if pages:
        yield f"| {' | '.join(map(say, (*HEADS, Text('where', context='column'))))} |"
        yield "|---|---|---|---|---|"
        yield from (_row(report, page, say) for page in pages)
        yield ""
    second_axis = [
        one for one in report.findings if one.family in ("parity", "include", "glossary", "ignore")
    ]
    if second_axis:
        found = Text("{count} finding on fidelity", "{count} findings on fidelity").of(count=len(second_axis))
        yield f"<details><summary>{say(found)}</summary>"
        yield ""
        yield from (_finding(one, say) for one in second_axis)
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


def _row(report: Report, page: PageStatus, say: Style) -> str:
    age = report.age_in_days(page)
    behind = [COMMITS.of(count=page.behind)] if page.behind else []
    behind += [DAYS.of(count=age)] if age is not None else []
    fidelity = report.fidelity_of(page)
    where = say(page.reason or "")
    if page.weight is ChangeClass.FORMAT:
        where = say(NOTHING_TO_TRANSLATE)
    elif page.sections:
        where = "<br>".join(_inline(say(describe_section(section))) for section in page.sections)
    cells = (
        f"`{page.key}`",
        say(label(page)),
        say(joined(behind, ", ")),
        "" if fidelity is Fidelity.NOT_CHECKED else say(FIDELITIES[fidelity]),
        where,
    )
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


def _finding(finding: TranslationFinding, say: Style) -> str:
    location = f"{finding.file}:{finding.line}" if finding.line else finding.file
    return f"- {_SIGNS[finding.severity]} `{location}` **{finding.kind}**: {_inline(say(finding.message))}"


def _inline(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    text = " ".join(text.split())
    for character in "\\*_[]<>":
        text = text.replace(character, f"\\{character}")
    return text
