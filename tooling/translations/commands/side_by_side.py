"""Drift as a page of HTML: for each changed block the text at the pin, the text today, the translation."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from itertools import groupby

from tooling.text import Text
from tooling.translations.commands.diff_rendering import (
    block_text,
    known_translation,
    section_name,
    word_changes,
)
from tooling.translations.commands.drift import LocatedChange, PageDrift
from tooling.translations.report.display import Style
from tooling.translations.report.html_page import document
from tooling.translations.words import LINES_UNKNOWN, NOTHING_TO_TRANSLATE, label

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --old: #d3322f26; --new: #2aa84a2e; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 96rem; padding: 0 1rem; }
table { border-collapse: collapse; table-layout: fixed; width: 100%; }
th, td { border: 1px solid var(--line); padding: .4rem .6rem; text-align: left; vertical-align: top; }
td { overflow-wrap: anywhere; white-space: pre-wrap; }
del { background: var(--old); } ins { background: var(--new); text-decoration: none; }
code { font-size: .9em; }
"""


def render(drifts: Sequence[PageDrift], language: str, say: Style) -> str:
    """The net changes of the pages as an HTML document that needs no network.

    Args:
        drifts: from `page_drifts` with `net`.
        language: code of the translation.
        say: the language of the document.
    """
    body = (line for drift in drifts for line in _page(drift, language, say))
    title = Text("Changes to translate ({language})").of(language=language)
    return document(say(title), _STYLE, body, say.language)


def _page(drift: PageDrift, language: str, say: Style) -> Iterator[str]:
    status = drift.status
    name, state = html.escape(status.target or status.key), html.escape(say(label(status)))
    yield f"<h2><code>{name}</code>: {state}</h2>"
    if not drift.steps:
        yield f"<p>{html.escape(say(status.reason or NOTHING_TO_TRANSLATE))}</p>"
    columns = (
        Text("source at the pin"),
        Text("source today"),
        Text("translation ({language})").of(language=language),
    )
    heads = "".join(f"<th>{html.escape(say(column))}</th>" for column in columns)
    for step in drift.steps:
        for (_, name), changes in groupby(step.changes, lambda one: (one.section, section_name(one))):
            yield f"<h3>{html.escape(name)}</h3>"
            yield f"<table><thead><tr>{heads}</tr></thead><tbody>"
            yield from (_row(change, say) for change in changes)
            yield "</tbody></table>"


def _row(located: LocatedChange, say: Style) -> str:
    change = located.change
    old = block_text(change.old) if change.old is not None else ""
    new = block_text(change.new) if change.new is not None else ""
    before, after = [], []
    for removed, added in word_changes(old, new):
        before.append(_marked("del", removed, added))
        after.append(_marked("ins", added, removed))
    lines = located.target.lines
    where = Text("lines {lines}").of(lines=str(lines)) if lines else LINES_UNKNOWN
    translation = f"<small>{say(where)}</small>\n{html.escape(located.translation)}"
    if located.known is not None:
        heading = html.escape(say(known_translation(located.known)))
        translation += f"\n<small>{heading}</small>\n{html.escape(located.known.text)}"
    cells = ("".join(before), "".join(after), translation)
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _marked(tag: str, text: str, other: str) -> str:
    """The text, marked where it differs from the other version."""
    escaped = html.escape(text)
    return f"<{tag}>{escaped}</{tag}>" if text and text != other else escaped
