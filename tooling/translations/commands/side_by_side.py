"""Drift as a page of HTML: for each changed block the text at the pin, the text today, the translation."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from itertools import groupby

from tooling.translations.commands.diff_rendering import block_text, section_name, word_changes
from tooling.translations.commands.drift import LocatedChange, PageDrift
from tooling.translations.report.html_page import document

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --old: #d3322f26; --new: #2aa84a2e; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 96rem; padding: 0 1rem; }
table { border-collapse: collapse; table-layout: fixed; width: 100%; }
th, td { border: 1px solid var(--line); padding: .4rem .6rem; text-align: left; vertical-align: top; }
td { overflow-wrap: anywhere; white-space: pre-wrap; }
del { background: var(--old); } ins { background: var(--new); text-decoration: none; }
code { font-size: .9em; }
"""


def render(drifts: Sequence[PageDrift], language: str) -> str:
    """The net changes of the pages as an HTML document that needs no network.

    Args:
        drifts: from `page_drifts` with `net`.
        language: code of the translation.
    """
    body = (line for drift in drifts for line in _page(drift, html.escape(language)))
    return document(f"Changes to translate ({language})", _STYLE, body)


def _page(drift: PageDrift, language: str) -> Iterator[str]:
    status = drift.status
    yield f"<h2><code>{html.escape(status.target or status.key)}</code>: {html.escape(status.label)}</h2>"
    if not drift.steps:
        yield f"<p>{html.escape(status.reason or 'nothing to translate')}</p>"
    for step in drift.steps:
        for (_, name), changes in groupby(step.changes, lambda one: (one.section, section_name(one))):
            yield f"<h3>{html.escape(name)}</h3>"
            yield "<table><thead><tr><th>source at the pin</th><th>source today</th>"
            yield f"<th>translation ({language})</th></tr></thead><tbody>"
            yield from map(_row, changes)
            yield "</tbody></table>"


def _row(located: LocatedChange) -> str:
    change = located.change
    old = block_text(change.old) if change.old is not None else ""
    new = block_text(change.new) if change.new is not None else ""
    before, after = [], []
    for removed, added in word_changes(old, new):
        before.append(_marked("del", removed, added))
        after.append(_marked("ins", added, removed))
    lines = located.target.lines
    where = (
        f"<small>lines {lines}</small>\n" if lines else "<small>lines unknown: the headings differ</small>"
    )
    translation = where + html.escape(located.translation)
    cells = ("".join(before), "".join(after), translation)
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _marked(tag: str, text: str, other: str) -> str:
    """The text, marked where it differs from the other version."""
    escaped = html.escape(text)
    return f"<{tag}>{escaped}</{tag}>" if text and text != other else escaped
