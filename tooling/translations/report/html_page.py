"""A report as one self-contained page: the translators' dashboard."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator

from tooling.text import Text
from tooling.text.sentences import joined
from tooling.translations.findings import TranslationFinding, describe_section
from tooling.translations.model import ChangeClass, Fidelity, Freshness, PageStatus
from tooling.translations.report.display import Style
from tooling.translations.report.report import Report
from tooling.translations.words import (
    COMMITS,
    DAYS,
    FIDELITIES,
    HEADS,
    ONLY_REFORMATTED,
    SEVERITIES,
    STATES,
    label,
)

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --good: #2a7; --bad: #d33; --warn: #b80; --calm: #888; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem; border-bottom: 1px solid var(--line); }
code { font-size: .9em; }
.bar { display: flex; height: .8rem; border-radius: .4rem; overflow: hidden; margin: 1rem 0; }
.current, .faithful { color: var(--good); } .bar .current { background: var(--good); }
.stale, .warnings { color: var(--warn); } .bar .stale { background: var(--warn); }
.missing, .not-checked { color: var(--calm); } .bar .missing { background: var(--calm); }
.bad-pin, .unknown, .orphaned, .untracked, .mismatch { color: var(--bad); }
.bar .bad-pin, .bar .unknown, .bar .orphaned, .bar .untracked { background: var(--bad); }
.problem { border-left: .3rem solid var(--bad); padding-left: .8rem; }
input { font: inherit; padding: .3rem .6rem; width: 20rem; max-width: 100%; }
ul { margin: .3rem 0; padding-left: 1.2rem; }
"""
_SCRIPT = """
const field = document.getElementById('filter');
field.addEventListener('input', () => {
  const wanted = field.value.toLowerCase();
  for (const row of document.querySelectorAll('tbody tr'))
    row.hidden = !row.textContent.toLowerCase().includes(wanted);
});
"""


def render(report: Report, language: str) -> str:
    """The report as an HTML document that needs no network."""
    say = Style(language=language)
    prompt = html.escape(say(Text("filter pages")))
    heads = "".join(f"<th>{say(head)}</th>" for head in (*HEADS, Text("where to look")))
    body = [
        *_head(report, say),
        f'<p><input id="filter" type="search" placeholder="{prompt}" aria-label="{prompt}"></p>',
        f"<table><thead><tr>{heads}</tr></thead><tbody>",
        *_rows(report, say),
        "</tbody></table>",
        f"<script>{_SCRIPT}</script>",
    ]
    title = Text("Translations ({language})").of(language=report.roots.language)
    return document(say(title), _STYLE, body, language)


def document(title: str, style: str, body: Iterable[str], language: str) -> str:
    """An HTML document that needs no network: the title, also as its heading, and the lines of the body."""
    title = html.escape(title)
    return "\n".join(
        [
            "<!doctype html>",
            f'<html lang="{language}"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}</title><style>{style}</style></head><body>",
            f"<h1>{title}</h1>",
            *body,
            "</body></html>",
        ]
    )


def _head(report: Report, say: Style) -> Iterator[str]:
    counts = report.counts
    total = max(1, len(report.pages))
    pages: Text = Text("{count} page", "{count} pages").of(count=len(report.pages))
    if report.head:
        pages = Text("{trees} at {commit}").of(trees=pages, commit=f"<code>{report.head[:12]}</code>")
    yield f"<p>{say(pages)}, {report.day.isoformat()}: "
    states = (f'<b class="{one}">{counts[one]} {say(STATES[one])}</b>' for one in Freshness if counts[one])
    yield ", ".join(states) + "</p>"
    bars = (
        f'<span class="{one}" style="width:{counts[one] * 100 / total:.2f}%"></span>'
        for one in Freshness
        if counts[one]
    )
    yield f'<div class="bar" aria-hidden="true">{"".join(bars)}</div>'
    for problem in report.problems:
        what, why, hint = (html.escape(say(one)) for one in (problem.what, problem.why, problem.hint))
        yield f'<p class="problem"><b>{say(Text("Could not be checked:"))}</b> {what}<br>'
        yield f"{why}<br>{say(Text('Try: {hint}').of(hint=f'<code>{hint}</code>'))}</p>"


def _rows(report: Report, say: Style) -> Iterator[str]:
    grouped = report.by_page()
    order = sorted(report.pages, key=lambda page: (page.freshness is Freshness.CURRENT, page.key))
    for page in order:
        yield _row(report, page, grouped.get(page.key, []), say)


def _row(report: Report, page: PageStatus, findings: list[TranslationFinding], say: Style) -> str:
    fidelity = report.fidelity_of(page)
    age = report.age_in_days(page)
    behind = [COMMITS.of(count=page.behind)] if page.behind else []
    behind += [DAYS.of(count=age)] if age is not None else []
    shown = "" if fidelity is Fidelity.NOT_CHECKED else say(FIDELITIES[fidelity])
    return (
        f"<tr><td><code>{html.escape(page.key)}</code></td>"
        f'<td class="{page.freshness}">{html.escape(say(label(page)))}</td>'
        f"<td>{say(joined(behind, ', '))}</td>"
        f'<td class="{fidelity}">{shown}</td><td>{"".join(_where(page, findings, say))}</td></tr>'
    )


def _where(page: PageStatus, findings: list[TranslationFinding], say: Style) -> Iterator[str]:
    items = [say(describe_section(section)) for section in page.sections]
    if page.weight is ChangeClass.FORMAT:
        items.append(say(ONLY_REFORMATTED))
    elif page.freshness is not Freshness.STALE and page.reason:
        items.append(say(page.reason))
    for finding in findings:
        if finding.family in ("parity", "include", "glossary"):
            message = finding.message
            if finding.line:
                message = Text("line {line}: {message}").of(line=finding.line, message=message)
            items.append(f"{say(SEVERITIES[finding.severity])} [{finding.kind}] {say(message)}")
    if items:
        yield "<ul>" + "".join(f"<li>{html.escape(item)}</li>" for item in items) + "</ul>"
    if page.hint and page.needs_translation:
        yield f"<code>{html.escape(say(page.hint))}</code>"
