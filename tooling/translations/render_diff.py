"""Drift for a terminal: per page and commit the blocks to translate, old and new."""

from __future__ import annotations

import datetime
import re
import shlex
from collections.abc import Iterator
from difflib import SequenceMatcher

from tooling.translations.blocks import Block, BlockKind
from tooling.translations.changes import Edit
from tooling.translations.display import Style
from tooling.translations.drift import LocatedChange, PageDrift, Step
from tooling.translations.model import ChangeClass, Freshness

_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")


def render(drift: PageDrift, style: Style, *, words: bool = False) -> str:
    """The drift of one page.

    Args:
        words: mark changed words as `[-old-]{+new+}` instead of showing old and new blocks.
    """
    status = drift.status
    name = status.target or status.key
    lines = [style(f"{name}: {status.label}", "bold")]
    if status.freshness is Freshness.CURRENT:
        return "\n".join([*lines, "  nothing to translate"])
    if not drift.steps:
        lines += [f"  {status.reason}"] if status.reason else []
        lines += [f"  note: {note}" for note in status.notes]
        lines += [style(f"  try: {status.hint}", "cyan")] if status.hint else []
        return "\n".join(lines)
    for step in drift.steps:
        lines += ["", style(_heading(step), "yellow")]
        if not step.changes:
            lines.append("  only reformatted; nothing to translate")
        for change in step.changes:
            lines += _change(change, name, style, words=words)
    if status.needs_translation:
        lines += ["", style(f"when done: tooling check-translations stamp {shlex.quote(name)}", "cyan")]
    return "\n".join(lines)


def _heading(step: Step) -> str:
    if step.commit is None:
        return step.title
    day = datetime.datetime.fromtimestamp(step.commit.time, datetime.UTC).date()
    return f"commit {step.commit.id[:12]} ({day}) {step.title}"


def _change(located: LocatedChange, name: str, style: Style, *, words: bool) -> Iterator[str]:
    change, (ordinal, title) = located.change, located.section
    kinds = ", ".join(kind for kind in ChangeClass if kind in change.classes)
    section = f'§{ordinal} "{title}"' if title else f"§{ordinal}"
    yield style(f"  {section}: block {change.edit} ({kinds}) → {_place(located, name)}", "cyan")
    if words and change.old is not None and change.new is not None and change.edit is Edit.CHANGED:
        for line in _word_diff(_text(change.old), _text(change.new), style).split("\n"):
            yield f"    {line}"
        return
    if change.edit is Edit.MOVED and change.new is not None:
        yield style(f"    moved to line {change.new.first} of the source, unchanged:", "dim")
    if change.old is not None:
        colour = "dim" if change.edit is Edit.MOVED else "red"
        yield from (style(f"    - {line}", colour) for line in _text(change.old).split("\n"))
    if change.new is not None and change.edit is not Edit.MOVED:
        yield from (style(f"    + {line}", "green") for line in _text(change.new).split("\n"))


def _place(located: LocatedChange, name: str) -> str:
    place = located.place
    if place.lines is None:
        return "place unknown: the headings differ"
    about = "about " if place.approximate else ""
    if located.change.edit is Edit.ADDED and place.precise:
        return f"{about}{name}:{place.lines.last}, after this line"
    within = "" if place.precise else " (somewhere in this section)"
    return f"{about}{name}:{place.lines}{within}"


def _text(block: Block) -> str:
    body = "\n".join(block.lines)
    if block.kind is BlockKind.HEADING:
        return f"{'#' * block.level} {body}"
    if block.kind is BlockKind.FENCE:
        return f"```{block.info}\n{body}\n```"
    if block.kind is BlockKind.ITEM:
        return f"{'  ' * (block.level - 1)}{block.info or '-'} {body}"
    return body


def _word_diff(old: str, new: str, style: Style) -> str:
    before, after = _TOKEN.findall(old), _TOKEN.findall(new)
    pieces: list[str] = []
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for tag, i, i_end, j, j_end in matcher.get_opcodes():
        if tag == "equal":
            pieces.append("".join(before[i:i_end]))
            continue
        if i < i_end:
            pieces.append(style(f"[-{''.join(before[i:i_end])}-]", "red"))
        if j < j_end:
            pieces.append(style(f"{{+{''.join(after[j:j_end])}+}}", "green"))
    return "".join(pieces)
