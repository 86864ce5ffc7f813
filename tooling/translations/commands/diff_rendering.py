"""Drift for a terminal: per page and commit the blocks to translate, old and new."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby

from tooling.text import Sentence, Text
from tooling.text.sentences import joined
from tooling.translations.commands.drift import CommitChanges, LocatedChange, PageDrift
from tooling.translations.commands.memory import KnownTranslation
from tooling.translations.diff.blocks import Block, BlockKind
from tooling.translations.diff.changes import Edit
from tooling.translations.diff.sections import Counterpart
from tooling.translations.model import ChangeClass, Freshness
from tooling.translations.report.display import Style
from tooling.translations.roots import Roots
from tooling.translations.words import (
    CLASSES,
    LINES_UNKNOWN,
    NOTE,
    NOTHING_TO_TRANSLATE,
    ONLY_REFORMATTED,
    TRY,
    label,
)

_EDITS = {
    Edit.CHANGED: Text("  {section}: block changed ({kinds}) → {where}"),
    Edit.ADDED: Text("  {section}: block added ({kinds}) → {where}"),
    Edit.REMOVED: Text("  {section}: block removed ({kinds}) → {where}"),
    Edit.MOVED: Text("  {section}: block moved ({kinds}) → {where}"),
}
_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")


def render(drift: PageDrift, roots: Roots, style: Style, *, words: bool = False) -> str:
    """The drift of one page.

    Args:
        words: mark changed words as `[-old-]{+new+}` instead of showing old and new blocks.
    """
    status = drift.status
    name = status.target or status.key
    lines = [style(joined((name, label(status)), ": "), "bold")]
    if status.freshness is Freshness.CURRENT:
        return "\n".join([*lines, "  " + style(NOTHING_TO_TRANSLATE)])
    if not drift.steps:
        lines += ["  " + style(status.reason)] if status.reason else []
        lines += [style(NOTE.of(note=note)) for note in status.notes]
        lines += [style(TRY.of(hint=status.hint), "cyan")] if status.hint else []
        return "\n".join(lines)
    for step in drift.steps:
        lines += ["", style(_heading(step), "yellow")]
        if not step.changes:
            lines.append("  " + style(ONLY_REFORMATTED))
        for destination, group in groupby(step.changes, lambda one: (one.section, one.destination)):
            if destination[1] is not None:
                lines += _moved(list(group), name, style)
            else:
                lines += [line for one in group for line in _change(one, name, style, words=words)]
    if status.needs_translation:
        lines.append("")
        if not words and any(one.change.edit is Edit.CHANGED for step in drift.steps for one in step.changes):
            lines.append(style(Text("with --words: the words that changed inside each block"), "dim"))
        stamp = roots.command("stamp", roots.target_argument(status.key))
        lines.append(style(Text("when done: {command}").of(command=stamp), "cyan"))
    return "\n".join(lines)


def _heading(step: CommitChanges) -> str | Sentence:
    if step.commit is None:
        return step.title
    day = datetime.datetime.fromtimestamp(step.commit.time, datetime.UTC).date()
    return Text("commit {commit} ({day}) {title}").of(
        commit=step.commit.id[:12], day=str(day), title=step.title
    )


def _change(located: LocatedChange, name: str, style: Style, *, words: bool) -> Iterator[str]:
    change = located.change
    kinds = joined([CLASSES[kind] for kind in ChangeClass if kind in change.classes], ", ")
    yield style(
        _EDITS[change.edit].of(section=section_name(located), kinds=kinds, where=_describe(located, name)),
        "cyan",
    )
    if words and change.old is not None and change.new is not None and change.edit is Edit.CHANGED:
        for line in _word_diff(block_text(change.old), block_text(change.new), style).split("\n"):
            yield f"    {line}"
        return
    if change.old is not None:
        yield from (style(f"    - {line}", "red") for line in block_text(change.old).split("\n"))
    if change.new is not None:
        yield from (style(f"    + {line}", "green") for line in block_text(change.new).split("\n"))
    if located.known is not None:
        yield style(joined(("    ", known_translation(located.known)), ""), "cyan")
        yield from (f"    = {line}" for line in located.known.text.split("\n"))


def _moved(group: Sequence[LocatedChange], name: str, style: Style) -> Iterator[str]:
    """Blocks of one section that were moved without being changed."""
    first = group[0]
    lines, destination = first.target.lines, first.destination
    for one in group[1:]:
        lines = lines.joined(one.target.lines) if lines and one.target.lines else lines or one.target.lines
    target = Counterpart(lines, first.target.ordinal, first.target.precise, first.target.approximate)
    moved = Text(
        "  {section}: block moved, unchanged → {where}",
        "  {section}: {count} blocks moved, unchanged → {where}",
    ).of(count=len(group), section=section_name(first), where=_where(target, name))
    if destination is not None and destination.lines is not None:
        moved = Text("{moved}, to after line {line}").of(moved=moved, line=destination.lines.last)
    yield style(moved, "cyan")
    for one in group:
        if one.change.old is not None:
            yield from (style(f"    {line}", "dim") for line in block_text(one.change.old).split("\n"))


def known_translation(known: KnownTranslation) -> Text:
    """The heading above a translation from another place."""
    return Text("the same text is translated at {location}").of(location=f"{known.file}:{known.lines}")


def section_name(located: LocatedChange) -> str:
    """The section of the source before the change, such as `§2 "Shared memory"`."""
    ordinal, title = located.section
    return f'§{ordinal} "{title}"' if title else f"§{ordinal}"


def _describe(located: LocatedChange, name: str) -> Sentence:
    target = located.target
    if target.lines is not None and located.change.edit is Edit.ADDED and target.precise:
        location = _about(f"{name}:{target.lines.last}", target)
        return Text("{location}, after this line").of(location=location)
    return _where(target, name)


def _where(target: Counterpart, name: str) -> Sentence:
    if target.lines is None:
        return LINES_UNKNOWN
    location = _about(f"{name}:{target.lines}", target)
    if target.precise:
        return location
    return Text("{location} (somewhere in this section)").of(location=location)


def _about(location: str, target: Counterpart) -> Sentence:
    return Text("about {location}").of(location=location) if target.approximate else joined((location,))


def block_text(block: Block) -> str:
    """A block as Markdown."""
    body = "\n".join(block.lines)
    if block.kind is BlockKind.HEADING:
        return f"{'#' * block.level} {body}"
    if block.kind is BlockKind.FENCE:
        return f"```{block.info}\n{body}\n```"
    if block.kind is BlockKind.ITEM:
        return f"{'  ' * (block.level - 1)}{block.info or '-'} {body}"
    return body


def word_changes(old: str, new: str) -> Iterator[tuple[str, str]]:
    """Pairs of corresponding pieces of two texts, word by word; both are equal where nothing changed."""
    before, after = _TOKEN.findall(old), _TOKEN.findall(new)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for _, i, i_end, j, j_end in matcher.get_opcodes():
        yield "".join(before[i:i_end]), "".join(after[j:j_end])


def _word_diff(old: str, new: str, style: Style) -> str:
    pieces: list[str] = []
    for removed, added in word_changes(old, new):
        if removed == added:
            pieces.append(added)
            continue
        if removed:
            pieces.append(style(f"[-{removed}-]", "red"))
        if added:
            pieces.append(style(f"{{+{added}+}}", "green"))
    return "".join(pieces)
