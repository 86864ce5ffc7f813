"""The verdict as the console shows it."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator

from tooling.judging.verdict import SourceLine, Verdict
from tooling.reports.invocation import as_typed
from tooling.reports.parts import (
    PRINTED,
    Found,
    Input,
    Labelled,
    MoreFound,
    Note,
    Part,
    Printed,
    Statement,
    Table,
    Title,
    parts_of,
)
from tooling.reports.terminal import Terminal
from tooling.reports.verdict_record import VerdictRecord, record_of
from tooling.simulator.checks.findings import render
from tooling.targets.model import Choice
from tooling.text import ENGLISH, Text, as_sentence, in_language
from tooling.text.width import columns

_HEADLINE = Text("{command} on {device} ({reason})")
_CHECKS = Text("checks: {checks}")
_NONE = Text("none")


def headline(command: str, choice: Choice, checks: frozenset[str] | None, language: str = ENGLISH) -> str:
    """The line before a run: command, target, reason, and the enabled checks if not all are enabled."""
    line = _HEADLINE.of(command=command, device=choice.target.named, reason=choice.reason).render(language)
    if checks is None:
        return line
    return line + ", " + _CHECKS.of(checks=", ".join(sorted(checks)) or _NONE).render(language)


def show_verdict(verdict: Verdict, terminal: Terminal, language: str = ENGLISH) -> None:
    """Writes the verdict: one line if it is right; what, where, why and what to try if it is not."""
    for note in verdict.notes:
        terminal.note(note, language)
    show_record(record_of(verdict), terminal, language, lambda text: as_typed(text, os.environ))


def verdict_lines(record: VerdictRecord, language: str) -> list[str]:
    """The lines of a verdict, neither coloured nor wrapped."""
    said = io.StringIO()
    show_record(record, Terminal(said, colour=False, width=None), language)
    return said.getvalue().splitlines()


def show_record(
    record: VerdictRecord,
    terminal: Terminal,
    language: str = ENGLISH,
    typed: Callable[[str], str] = str,
) -> None:
    """Writes a verdict from its record; `typed` gives commands the form in which the reader types them."""
    for part in parts_of(record):
        _show(part, terminal, language, typed)


def _show(part: Part, terminal: Terminal, language: str, typed: Callable[[str], str]) -> None:
    match part:
        case Title(sign, style, sentence, None):
            terminal.line(terminal.paint(sign + sentence.render(language), style))
        case Title(sign, style, sentence, circumstances):
            aside = f"  ({in_language(circumstances, language)})"
            terminal.headed(sign + sentence.render(language), aside, style)
        case Note(sentence):
            terminal.note(sentence, language)
        case Statement(sentence, dataset):
            aside = f" ({dataset.render(language)})" if dataset else ""
            terminal.wrapped(f"  {sentence.render(language)}{aside}", "bold")
        case Table():
            for line in _table(part, language):
                terminal.line(f"    {line}")
        case Labelled(label, text, complete, style):
            said = str(text) if isinstance(text, SourceLine) else typed(in_language(text, language))
            terminal.labelled(label.render(language), as_sentence(said) if complete else said, style)
        case Input(name, elements):
            terminal.wrapped(f"    {name}: {elements}")
        case Found(finding, warning):
            for line in typed(render(finding, language)).splitlines():
                terminal.wrapped(f"  {line}" if warning else f"    {line}", "yellow" if warning else None)
        case MoreFound():
            terminal.line("    " + part.sentence.render(language))
        case Printed(lines):
            terminal.line("  " + terminal.paint(f"{PRINTED.render(language)}:", "dim"))
            for line in lines:
                terminal.line(f"    {line}")


def _table(table: Table, language: str) -> Iterator[str]:
    """The number of elements that differ, and a table of the first ones: index, got, expected."""
    cells = [tuple(name.render(language) for name in table.head), *table.rows]
    widths = [max(columns(row[column]) for row in cells) for column in range(3)]
    yield table.title.render(language)
    for row in cells:
        padded = (" " * (width - columns(text)) + text for text, width in zip(row, widths, strict=True))
        yield "  " + "  ".join(padded)
    if table.rest:
        yield "  " + table.rest.render(language)
