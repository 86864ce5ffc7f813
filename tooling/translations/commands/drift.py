"""`diff`: what to translate on a page, commit by commit, with the lines of the translation."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from tooling.platform.regular_files import TEXT_LIMIT, read_regular
from tooling.text import Sentence, Text
from tooling.translations.commands.memory import KnownTranslation, name_of, read_memory
from tooling.translations.commands.source_history import read_source_history
from tooling.translations.diff.blocks import Block
from tooling.translations.diff.changes import Anchor, BlockChange, Edit, compare, origins
from tooling.translations.diff.sections import Counterpart, Locator
from tooling.translations.diff.text import PageText, split
from tooling.translations.freshness.pair import PagePair
from tooling.translations.freshness.survey import survey
from tooling.translations.git.history import Commit
from tooling.translations.git.pins import PinReader
from tooling.translations.model import Freshness, PageStatus
from tooling.translations.roots import Roots


class LocatedChange(Struct, frozen=True):
    """A block that changed, and its counterpart in the translation.

    Attributes:
        section: number and title of its section in the source before the change.
        translation: the text of its counterpart's lines.
        destination: of a moved block, the counterpart of the block that precedes it now; None for any other.
        known: a translation of the new block, where the tree has one; None for a moved block.
    """

    change: BlockChange
    section: tuple[int, str]
    target: Counterpart
    translation: str
    destination: Counterpart | None = None
    known: KnownTranslation | None = None


class CommitChanges(Struct, frozen=True):
    """The changes of one commit; without a commit, uncommitted edits, or all changes without history."""

    commit: Commit | None
    title: str | Sentence
    changes: tuple[LocatedChange, ...]


class PageDrift(Struct, frozen=True):
    """A page with the steps that led from its pin to today's source; none where it is current."""

    status: PageStatus
    steps: tuple[CommitChanges, ...]


def page_drifts(
    roots: Roots, keys: Collection[str], *, net: bool = False, fetch: bool = False
) -> tuple[PageDrift, ...]:
    """How the source of each page came to differ from its pinned text.

    Args:
        net: one step from the pinned text to today's, instead of one for each commit.
        fetch: as for `survey`.

    Raises:
        GitError: there is no repository, or git failed.
        HistoryNeededError: the clone is treeless.
    """
    statuses = survey(roots, only=keys, fetch=fetch).pages
    stale = [one for one in statuses if one.freshness is Freshness.STALE and one.pinned_blob is not None]
    steps: dict[str, tuple[CommitChanges, ...]] = {}
    if stale:
        history = read_source_history(roots, [one.key for one in stale], fetch=fetch)
        with PinReader(history.repository) as reader:
            for status in stale:
                pair = history.pairs[status.key]
                chain = (
                    history.log.pages[pair.path].chain(status.pinned_blob or "", pair.at_head)
                    if pair.at_head
                    else None
                )
                revisions = chain.revisions if chain is not None else ()
                texts = reader.texts([status.pinned_blob or "", *(one.new for one in revisions)])
                if (status.pinned_blob or "") not in texts:
                    continue
                versions: list[tuple[Commit | None, str]] = [(None, _decode(texts[status.pinned_blob or ""]))]
                if not net:
                    versions += [
                        (one.commit, _decode(texts[one.new])) for one in revisions if one.new in texts
                    ]
                today = _decode(read_regular(pair.source.path, limit=TEXT_LIMIT))
                if versions[-1][1] != today:
                    versions.append((None, today))
                steps[status.key] = _steps(pair, versions, with_history=chain is not None and not net)
            steps = _with_known_translations(steps, roots, reader)
    return tuple(PageDrift(status, steps.get(status.key, ())) for status in statuses)


def _with_known_translations(
    steps: dict[str, tuple[CommitChanges, ...]], roots: Roots, reader: PinReader
) -> dict[str, tuple[CommitChanges, ...]]:
    """The steps with the translations that other places of the tree have of new blocks."""
    if not any(_is_new(one) for page in steps.values() for step in page for one in step.changes):
        return steps
    memory = read_memory(roots, survey(roots).pages, reader)
    return {
        key: tuple(
            replace(
                step,
                changes=tuple(
                    replace(one, known=memory.get(name_of(one.change.new))) if _is_new(one) else one
                    for one in step.changes
                ),
            )
            for step in page
        )
        for key, page in steps.items()
    }


def _is_new(located: LocatedChange) -> bool:
    return located.change.edit in (Edit.ADDED, Edit.CHANGED) and bool(name_of(located.change.new))


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "replace").replace("\r\n", "\n")


def _steps(
    pair: PagePair, versions: Sequence[tuple[Commit | None, str]], *, with_history: bool
) -> tuple[CommitChanges, ...]:
    translation = _decode(read_regular(pair.target.page.path, limit=TEXT_LIMIT))
    target = split(translation)
    pinned = split(versions[0][1])
    locator = Locator(pinned, target)
    found: list[CommitChanges] = []
    for (_, before), (commit, after) in pairwise(versions):
        comparison = compare(before, after)
        back = origins(pinned, comparison.old)
        moved = any(change.edit is Edit.MOVED for change in comparison.changes)
        stayed = origins(comparison.old, comparison.new) if moved else {}
        changes = tuple(
            LocatedChange(
                change,
                _section(comparison.old, change.anchor),
                counterpart := locator.locate(_origin(change.anchor, back)),
                _lines(translation, counterpart),
                locator.locate(_origin(_origin(_anchor(comparison.new, change.new), stayed), back))
                if change.edit is Edit.MOVED
                else None,
            )
            for change in comparison.changes
        )
        title: str | Sentence = Text("uncommitted edits") if with_history else Text("since the pin")
        if commit:
            title = commit.subject
        found.append(CommitChanges(commit, title, changes))
    return tuple(found)


def _lines(text: str, counterpart: Counterpart) -> str:
    lines = counterpart.lines
    return "" if lines is None else "\n".join(text.split("\n")[lines.first - 1 : lines.last])


def _section(text: PageText, anchor: Anchor) -> tuple[int, str]:
    section = text.sections[anchor.section]
    return section.ordinal, section.title


def _anchor(text: PageText, block: Block | None) -> Anchor:
    """The position of a block in its page."""
    anchors = (Anchor(one.ordinal, index) for one in text.sections for index in range(len(one.blocks)))
    return next(anchor for anchor, found in zip(anchors, text.blocks, strict=True) if found is block)


def _origin(anchor: Anchor, back: dict[Anchor, Anchor]) -> Anchor:
    """The block of the pinned page that a block continues, or the nearest one before it that has any."""
    if anchor in back:
        return back[anchor]
    earlier = [one for one in back if (one.section, one.index) < (anchor.section, anchor.index)]
    if not earlier:
        return Anchor(0, -1)
    return back[max(earlier, key=lambda one: (one.section, one.index))]
