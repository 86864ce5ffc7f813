"""A report as one self-contained page: the translators' dashboard."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator

from tooling.translations.findings import TranslationFinding, describe_section
from tooling.translations.model import ChangeClass, Fidelity, Freshness, PageStatus
from tooling.translations.report.report import Report

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


def render(report: Report) -> str:
    """The report as an HTML document that needs no network."""
    body = [
        *_head(report),
        '<p><input id="filter" type="search" placeholder="filter pages" aria-label="filter pages"></p>',
        "<table><thead><tr><th>page</th><th>freshness</th><th>behind</th><th>fidelity</th>"
        "<th>where to look</th></tr></thead><tbody>",
        *_rows(report),
        "</tbody></table>",
        f"<script>{_SCRIPT}</script>",
    ]
    return document(f"Translations ({report.roots.language})", _STYLE, body)


def document(title: str, style: str, body: Iterable[str]) -> str:
    """An HTML document that needs no network: the title, also as its heading, and the lines of the body."""
    title = html.escape(title)
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}</title><style>{style}</style></head><body>",
            f"<h1>{title}</h1>",
            *body,
            "</body></html>",
        ]
    )


def _head(report: Report) -> Iterator[str]:
    counts = report.counts
    total = max(1, len(report.pages))
    commit = f" at <code>{report.head[:12]}</code>" if report.head else ""
    yield f"<p>{len(report.pages)} pages{commit}, {report.day.isoformat()}: "
    yield ", ".join(f'<b class="{one}">{counts[one]} {one}</b>' for one in Freshness if counts[one]) + "</p>"
    bars = (
        f'<span class="{one}" style="width:{counts[one] * 100 / total:.2f}%"></span>'
        for one in Freshness
        if counts[one]
    )
    yield f'<div class="bar" aria-hidden="true">{"".join(bars)}</div>'
    for problem in report.problems:
        yield f'<p class="problem"><b>Could not be checked:</b> {html.escape(problem.what)}<br>'
        yield f"{html.escape(problem.why)}<br>Try: <code>{html.escape(problem.hint)}</code></p>"


def _rows(report: Report) -> Iterator[str]:
    grouped = report.by_page()
    order = sorted(report.pages, key=lambda page: (page.freshness is Freshness.CURRENT, page.key))
    for page in order:
        yield _row(report, page, grouped.get(page.key, []))


def _row(report: Report, page: PageStatus, findings: list[TranslationFinding]) -> str:
    fidelity = report.fidelity_of(page)
    age = report.age_in_days(page)
    behind = [f"{page.behind} commits"] if page.behind else []
    behind += [f"{age} days"] if age is not None else []
    label = html.escape(page.label)
    shown = "" if fidelity is Fidelity.NOT_CHECKED else str(fidelity)
    return (
        f"<tr><td><code>{html.escape(page.key)}</code></td>"
        f'<td class="{page.freshness}">{label}</td><td>{", ".join(behind)}</td>'
        f'<td class="{fidelity}">{shown}</td><td>{"".join(_where(page, findings))}</td></tr>'
    )


def _where(page: PageStatus, findings: list[TranslationFinding]) -> Iterator[str]:
    items = [describe_section(section) for section in page.sections]
    if page.weight is ChangeClass.FORMAT:
        items.append("only reformatted; nothing to translate")
    elif page.freshness is not Freshness.STALE and page.reason:
        items.append(page.reason)
    for finding in findings:
        if finding.family in ("parity", "include", "glossary"):
            location = f"line {finding.line}: " if finding.line else ""
            items.append(f"{finding.severity.word} [{finding.kind}] {location}{finding.message}")
    if items:
        yield "<ul>" + "".join(f"<li>{html.escape(item)}</li>" for item in items) + "</ul>"
    if page.hint and page.needs_translation:
        yield f"<code>{html.escape(page.hint)}</code>"
