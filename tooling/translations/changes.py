"""What changed between two versions of a source page, block by block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import zip_longest

from tooling.translations.blocks import VERBATIM, Block, BlockKind, Text, split
from tooling.translations.model import ChangeClass
from tooling.translations.normal import NormalForm, normalise

_ALIGN_LIMIT = 10_000  # cells of the alignment table; larger regions are paired by position


class Edit(StrEnum):
    """What happened to a block."""

    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"
    MOVED = "moved"


@dataclass(frozen=True, slots=True)
class Anchor:
    """A block of the old page by the number of its section and its index there (-1: before its first)."""

    section: int
    index: int


@dataclass(frozen=True, slots=True)
class BlockChange:
    """One block that changed.

    Attributes:
        edit: what happened.
        classes: what of it differs.
        old, new: the block before and after; None where it was added or removed.
        anchor: the old block, or the old one that an added block follows.
    """

    edit: Edit
    classes: frozenset[ChangeClass]
    old: Block | None
    new: Block | None
    anchor: Anchor


@dataclass(frozen=True, slots=True)
class Region:
    """How many sections at the start and at the end of a page are of no concern."""

    lead: int
    tail: int

    def of(self, text: Text) -> str:
        """The raw text of the sections in between; empty where it is not at hand."""
        sections = text.sections[self.lead : len(text.sections) - self.tail]
        return "".join(section.raw or "" for section in sections)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The difference between two versions of a page.

    Attributes:
        old, new: both versions in blocks.
        changes: every block with another normal form, in the order of the old page.
        identical: the texts are the same, character by character.
        region: the sections outside which they are.
    """

    old: Text
    new: Text
    changes: tuple[BlockChange, ...]
    identical: bool
    region: Region

    @property
    def classes(self) -> frozenset[ChangeClass]:
        """Everything that differs; texts that differ in no block differ in format alone."""
        if self.identical:
            return frozenset()
        found = frozenset(kind for change in self.changes for kind in change.classes)
        return found or frozenset((ChangeClass.FORMAT,))


@dataclass(frozen=True, slots=True)
class _Pairing:
    """Indices of two blocks that belong together; None where one has no counterpart."""

    old: int | None
    new: int | None
    anchor: int


def compare(old_text: str, new_text: str) -> Comparison:
    """The blocks that differ between two versions of a page."""
    old, new = split(old_text), split(new_text)
    start, old_end, new_end = _differing(old, new)
    places = [Anchor(one.ordinal, i) for one in old.sections[start:old_end] for i in range(len(one.blocks))]
    old_blocks = [block for section in old.sections[start:old_end] for block in section.blocks]
    new_blocks = [block for section in new.sections[start:new_end] for block in section.blocks]
    # What is added at the start of the region follows the last block before it.
    lead = Anchor(start - 1, len(old.sections[start - 1].blocks) - 1) if start else Anchor(0, -1)
    if old.definitions == new.definitions:
        same = _common_start(old_blocks, new_blocks)
        lead = places[same - 1] if same else lead
        old_blocks, new_blocks, places = old_blocks[same:], new_blocks[same:], places[same:]
        same = _common_start(old_blocks[::-1], new_blocks[::-1])
        old_blocks, new_blocks = old_blocks[: len(old_blocks) - same], new_blocks[: len(new_blocks) - same]
    before = [normalise(block, old.definitions) for block in old_blocks]
    after = [normalise(block, new.definitions) for block in new_blocks]
    changes: list[BlockChange] = []
    for pairing in _pairings(before, after):
        left = None if pairing.old is None else before[pairing.old]
        right = None if pairing.new is None else after[pairing.new]
        if left != right:
            changes.append(
                BlockChange(
                    _edit(left, right),
                    _classes(left, right),
                    None if pairing.old is None else old_blocks[pairing.old],
                    None if pairing.new is None else new_blocks[pairing.new],
                    places[pairing.anchor] if pairing.anchor >= 0 else lead,
                )
            )
    region = Region(start, len(old.sections) - old_end)
    return Comparison(old, new, _join_moves(changes, old, new), old_text == new_text, region)


def origins(old: Text, new: Text) -> dict[Anchor, Anchor]:
    """For the blocks of the new page that continue one of the old page, which one that is."""
    before = [(Anchor(one.ordinal, i), block) for one in old.sections for i, block in enumerate(one.blocks)]
    after = [(Anchor(one.ordinal, i), block) for one in new.sections for i, block in enumerate(one.blocks)]
    pairings = _pairings(
        [normalise(block, old.definitions) for _, block in before],
        [normalise(block, new.definitions) for _, block in after],
    )
    return {
        after[pairing.new][0]: before[pairing.old][0]
        for pairing in pairings
        if pairing.new is not None and pairing.old is not None
    }


def _common_start(left: Sequence[Block], right: Sequence[Block]) -> int:
    count = 0
    while count < min(len(left), len(right)) and left[count].raw == right[count].raw:
        count += 1
    return count


def _differing(old: Text, new: Text) -> tuple[int, int, int]:
    """The sections outside which both pages have the same text: start, end in old, end in new.

    Most edits touch one paragraph of a long page, so most sections need not be read block by block.
    """
    ours, theirs = old.sections, new.sections
    if old.definitions != new.definitions:
        return 0, len(ours), len(theirs)
    shorter = min(len(ours), len(theirs))
    start = 0
    while start < shorter and ours[start].same_as(theirs[start]):
        start += 1
    end = 0
    while end < shorter - start and ours[-1 - end].same_as(theirs[-1 - end]):
        end += 1
    return start, len(ours) - end, len(theirs) - end


def _pairings(before: Sequence[NormalForm], after: Sequence[NormalForm]) -> list[_Pairing]:
    pairings: list[_Pairing] = []
    anchor = -1
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for tag, i, i_end, j, j_end in matcher.get_opcodes():
        rows: Sequence[tuple[int | None, int | None]]
        if tag == "equal":
            rows = list(zip(range(i, i_end), range(j, j_end), strict=True))
        else:
            rows = [
                (None if left is None else i + left, None if right is None else j + right)
                for left, right in _align(before[i:i_end], after[j:j_end])
            ]
        for left, right in rows:
            anchor = anchor if left is None else left
            pairings.append(_Pairing(left, right, anchor))
    return pairings


def _align(before: Sequence[NormalForm], after: Sequence[NormalForm]) -> list[tuple[int | None, int | None]]:
    """Pairs the blocks of a rewritten region in order, most similar ones together."""
    rows, columns = len(before), len(after)
    if not rows or not columns or rows * columns > _ALIGN_LIMIT:
        return list(zip_longest(range(rows), range(columns)))
    words = [Counter(_tokens(form)) for form in before], [Counter(_tokens(form)) for form in after]
    gain = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    worth = [[0.0] * columns for _ in range(rows)]
    for i in reversed(range(rows)):
        for j in reversed(range(columns)):
            if _kind(before[i]) == _kind(after[j]):
                worth[i][j] = 0.1 + _resemblance(words[0][i], words[1][j])
            gain[i][j] = max(gain[i + 1][j], gain[i][j + 1], worth[i][j] + gain[i + 1][j + 1])
    pairs: list[tuple[int | None, int | None]] = []
    i = j = 0
    while i < rows and j < columns:
        if worth[i][j] and gain[i][j] == worth[i][j] + gain[i + 1][j + 1]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif gain[i][j] == gain[i + 1][j]:
            pairs.append((i, None))
            i += 1
        else:
            pairs.append((None, j))
            j += 1
    pairs.extend((left, None) for left in range(i, rows))
    pairs.extend((None, right) for right in range(j, columns))
    return pairs


def _kind(form: NormalForm) -> str:
    return form.shape.rstrip(">0123456789.")


def _tokens(form: NormalForm) -> list[str]:
    return [*form.prose.split(), *(word for code in form.code for word in code.split()), *form.links]


def _resemblance(left: Counter[str], right: Counter[str]) -> float:
    """Dice's coefficient of two bags of words, 0 to 1."""
    total = left.total() + right.total()
    return 2 * (left & right).total() / total if total else 1.0


def _edit(left: NormalForm | None, right: NormalForm | None) -> Edit:
    if left is None:
        return Edit.ADDED
    return Edit.REMOVED if right is None else Edit.CHANGED


def _classes(left: NormalForm | None, right: NormalForm | None) -> frozenset[ChangeClass]:
    if left is None or right is None:
        form = left or right
        assert form is not None
        kind = _kind(form)
        if kind == BlockKind.RULE:
            return frozenset((ChangeClass.FORMAT,))
        return frozenset((ChangeClass.CODE if kind in VERBATIM else ChangeClass.PROSE,))
    found: set[ChangeClass] = set()
    if (left.shape, left.prose) != (right.shape, right.prose):
        found.add(ChangeClass.PROSE)
    if left.code != right.code:
        found.add(ChangeClass.CODE)
    if left.links != right.links:
        found.add(ChangeClass.LINKS)
    return frozenset(found)


def _join_moves(changes: list[BlockChange], old: Text, new: Text) -> tuple[BlockChange, ...]:
    """A block that left one place and appeared unchanged in another was moved: one change, not two."""
    arrivals: dict[NormalForm, list[int]] = {}
    for index, change in enumerate(changes):
        if change.edit is Edit.ADDED and change.new is not None:
            arrivals.setdefault(normalise(change.new, new.definitions), []).append(index)
    gone: set[int] = set()
    joined = list(changes)
    for index, change in enumerate(changes):
        if change.edit is Edit.REMOVED and change.old is not None:
            places = arrivals.get(normalise(change.old, old.definitions))
            if places:
                arrival = places.pop(0)
                joined[index] = replace(change, edit=Edit.MOVED, new=changes[arrival].new)
                gone.add(arrival)
    return tuple(change for index, change in enumerate(joined) if index not in gone)
