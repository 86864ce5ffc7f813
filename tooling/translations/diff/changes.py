"""What changed between two versions of a source page, block by block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import groupby, zip_longest

from msgspec import Struct
from msgspec.structs import replace

from tooling.translations.diff.blocks import VERBATIM, Block, BlockKind
from tooling.translations.diff.normal import NormalForm, normalise
from tooling.translations.diff.similarity import similarity
from tooling.translations.diff.text import PageText, split
from tooling.translations.model import ChangeClass

_ALIGN_LIMIT = 10_000  # cells of the alignment table; larger regions are paired by position


class Edit(StrEnum):
    """What happened to a block."""

    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"
    MOVED = "moved"


class Anchor(Struct, frozen=True):
    """A block of the old page by the number of its section and its index there (-1: before its first)."""

    section: int
    index: int


class BlockChange(Struct, frozen=True):
    """One block that changed.

    Attributes:
        edit: what happened.
        classes: what differs.
        old, new: the block before and after; None where it was added or removed.
        anchor: the old block, or the old one that an added block follows.
    """

    edit: Edit
    classes: frozenset[ChangeClass]
    old: Block | None
    new: Block | None
    anchor: Anchor


class Region(Struct, frozen=True):
    """A run of sections of the old page, and the run of the new page that replaces it."""

    old: slice
    new: slice


class Comparison(Struct, frozen=True):
    """The difference between two versions of a page.

    Attributes:
        old, new: both versions in blocks.
        changes: every block with another normal form, in the order of the old page.
        identical: the texts are the same, character by character.
        regions: the sections that differ; all others are identical.
    """

    old: PageText
    new: PageText
    changes: tuple[BlockChange, ...]
    identical: bool
    regions: tuple[Region, ...]

    def raw(self, text: PageText) -> str:
        """The blocks of the differing sections of a page with the same headings as the old one."""
        sections = [section for region in self.regions for section in text.sections[region.old]]
        return "\n".join(section.raw for section in sections if section.raw)

    @property
    def classes(self) -> frozenset[ChangeClass]:
        """Everything that differs; texts that differ in no block differ in format alone."""
        if self.identical:
            return frozenset()
        found = frozenset(kind for change in self.changes for kind in change.classes)
        return found or frozenset((ChangeClass.FORMAT,))


class _Pairing(Struct, frozen=True):
    """Indices of two blocks that belong together; None where one has no counterpart."""

    old: int | None
    new: int | None
    anchor: int


def compare(old_text: str, new_text: str) -> Comparison:
    """The blocks that differ between two versions of a page."""
    old, new = split(old_text), split(new_text)
    regions = _differing(old, new)
    changes = [change for region in regions for change in _compare_region(old, new, region)]
    return Comparison(old, new, _join_moves(changes, old, new), old_text == new_text, tuple(regions))


def _compare_region(old: PageText, new: PageText, region: Region) -> Iterator[BlockChange]:
    before, after = old.sections[region.old], new.sections[region.new]
    anchors = [Anchor(section.ordinal, index) for section in before for index in range(len(section.blocks))]
    old_blocks = [block for section in before for block in section.blocks]
    new_blocks = [block for section in after for block in section.blocks]
    lead: Anchor | None = None  # the block that the first of those compared follows
    same_definitions = old.definitions == new.definitions
    if same_definitions:
        same = _common_start(old_blocks, new_blocks)
        lead = anchors[same - 1] if same else None
        old_blocks, new_blocks, anchors = old_blocks[same:], new_blocks[same:], anchors[same:]
        same = _common_start(old_blocks[::-1], new_blocks[::-1])
        old_blocks, new_blocks = old_blocks[: len(old_blocks) - same], new_blocks[: len(new_blocks) - same]
    left_forms = [normalise(block, old.definitions) for block in old_blocks]
    raw = (block.raw for block in old_blocks)
    known = dict(zip(raw, left_forms, strict=True)) if same_definitions else {}
    right_forms = [known.get(block.raw) or normalise(block, new.definitions) for block in new_blocks]
    for pairing in _pairings(left_forms, right_forms):
        left = None if pairing.old is None else left_forms[pairing.old]
        right = None if pairing.new is None else right_forms[pairing.new]
        if left != right:
            yield BlockChange(
                _edit(left, right),
                _classes(left, right),
                None if pairing.old is None else old_blocks[pairing.old],
                None if pairing.new is None else new_blocks[pairing.new],
                anchors[pairing.anchor] if pairing.anchor >= 0 else lead or _last_before(region, old),
            )


def _last_before(region: Region, text: PageText) -> Anchor:
    """The last block before a region: blocks added at the region's start follow it."""
    start = region.old.start
    return Anchor(start - 1, len(text.sections[start - 1].blocks) - 1) if start else Anchor(0, -1)


def origins(old: PageText, new: PageText) -> dict[Anchor, Anchor]:
    """For each block of the new page that continues a block of the old page, that block."""
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


def _differing(old: PageText, new: PageText) -> list[Region]:
    """The sections that differ, as runs; outside them both pages have the same text.

    Most edits touch one paragraph of a long page, so most sections need not be read block by block.
    """
    ours, theirs = old.sections, new.sections
    if old.definitions != new.definitions:
        return [Region(slice(0, len(ours)), slice(0, len(theirs)))]
    if len(ours) == len(theirs):
        return _differing_by_number(old, new)
    shorter = min(len(ours), len(theirs))
    start = 0
    while start < shorter and ours[start].same_as(theirs[start]):
        start += 1
    end = 0
    while end < shorter - start and ours[-1 - end].same_as(theirs[-1 - end]):
        end += 1
    return [Region(slice(start, len(ours) - end), slice(start, len(theirs) - end))]


def _differing_by_number(old: PageText, new: PageText) -> list[Region]:
    """The runs of sections that differ from the section of the same number."""
    different = [not ours.same_as(theirs) for ours, theirs in zip(old.sections, new.sections, strict=True)]
    runs: list[Region] = []
    position = 0
    for differs, group in groupby(different):
        length = sum(1 for _ in group)
        if differs:
            run = slice(position, position + length)
            runs.append(Region(run, run))
        position += length
    return runs


def _pairings(before: Sequence[NormalForm], after: Sequence[NormalForm]) -> list[_Pairing]:
    pairings: list[_Pairing] = []
    anchor = -1
    # Equal forms get equal numbers: the matcher hashes its items often.
    numbers: dict[NormalForm, int] = {}
    left, right = ([numbers.setdefault(form, len(numbers)) for form in forms] for forms in (before, after))
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    for tag, i, i_end, j, j_end in matcher.get_opcodes():
        rows: Sequence[tuple[int | None, int | None]]
        if tag == "equal":
            rows = list(zip(range(i, i_end), range(j, j_end), strict=True))
        else:
            rows = [
                (None if old is None else i + old, None if new is None else j + new)
                for old, new in _align(before[i:i_end], after[j:j_end])
            ]
        for old, new in rows:
            anchor = anchor if old is None else old
            pairings.append(_Pairing(old, new, anchor))
    return pairings


def _align(before: Sequence[NormalForm], after: Sequence[NormalForm]) -> list[tuple[int | None, int | None]]:
    """Pairs the blocks of a rewritten region in order, most similar ones together."""
    rows, columns = len(before), len(after)
    if not rows or not columns or rows * columns > _ALIGN_LIMIT:
        return list(zip_longest(range(rows), range(columns)))
    if rows == columns == 1:  # most edits touch one block
        return [(0, 0)] if _kind(before[0]) == _kind(after[0]) else [(0, None), (None, 0)]
    words = [Counter(_tokens(form)) for form in before], [Counter(_tokens(form)) for form in after]
    gain = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    worth = [[0.0] * columns for _ in range(rows)]
    for i in reversed(range(rows)):
        for j in reversed(range(columns)):
            if _kind(before[i]) == _kind(after[j]):
                worth[i][j] = 0.1 + similarity(words[0][i], words[1][j])
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


def _join_moves(changes: list[BlockChange], old: PageText, new: PageText) -> tuple[BlockChange, ...]:
    """Replaces a removal and an addition of the same block by one move."""
    arrivals: dict[NormalForm, list[int]] = {}
    for index, change in enumerate(changes):
        if change.edit is Edit.ADDED and change.new is not None:
            arrivals.setdefault(normalise(change.new, new.definitions), []).append(index)
    gone: set[int] = set()
    joined = list(changes)
    for index, change in enumerate(changes):
        if change.edit is Edit.REMOVED and change.old is not None:
            candidates = arrivals.get(normalise(change.old, old.definitions))
            if candidates:
                arrival = candidates.pop(0)
                joined[index] = replace(change, edit=Edit.MOVED, new=changes[arrival].new)
                gone.add(arrival)
    return tuple(change for index, change in enumerate(joined) if index not in gone)
