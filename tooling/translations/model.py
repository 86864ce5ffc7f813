"""The data model: a page's freshness and fidelity, its pin, and what changed since."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from pathlib import Path

from msgspec import Struct

from tooling.text import Sentence


class Freshness(StrEnum):
    """Whether a translation is based on today's source text; `UNKNOWN` is never `CURRENT`."""

    CURRENT = "current"
    STALE = "stale"
    MISSING = "missing"  # the source page has no translation
    ORPHANED = "orphaned"  # the translation's source page is gone
    UNTRACKED = "untracked"  # the translation carries no marker
    BAD_PIN = "bad-pin"  # the marker names something that cannot be the source text
    UNKNOWN = "unknown"  # could not be determined here


class Fidelity(StrEnum):
    """Whether a translation says what its source said at the pin."""

    NOT_CHECKED = "not-checked"
    FAITHFUL = "faithful"
    WARNINGS = "warnings"
    MISMATCH = "mismatch"
    UNKNOWN = "unknown"


class ChangeClass(StrEnum):
    """What kind of text changed, most important first. `UNCLASSIFIED`: the old text is not available."""

    UNCLASSIFIED = "unclassified"
    PROSE = "prose"
    CODE = "code"
    LINKS = "links"
    FORMAT = "format"


class FreshnessSeverity(IntEnum):
    """The severity of a finding; comparable."""

    INFO = 0
    WARNING = 1
    ERROR = 2

    @property
    def word(self) -> str:
        return self.name.lower()


def heaviest(classes: frozenset[ChangeClass]) -> ChangeClass | None:
    """The most important class of a change: the first of `ChangeClass` that is present."""
    return next((kind for kind in ChangeClass if kind in classes), None)


class LineRange(Struct, frozen=True, array_like=True):
    """Lines of a file, both ends included, counted from 1."""

    first: int
    last: int

    def __str__(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"

    def joined(self, other: LineRange) -> LineRange:
        return LineRange(min(self.first, other.first), max(self.last, other.last))


class Pin(Struct, frozen=True):
    """The content of a marker: the source text that this page was translated from.

    The blob is authoritative, the commit is for people; old markers have the commit alone.
    """

    commit: str | None
    blob: str | None


class SectionChange(Struct, frozen=True, array_like=True):
    """One section of the source that changed, and the lines of its translation.

    Attributes:
        ordinal: number of the heading in the source at the pin (0: text before the first heading).
        title: that heading's text, without its hashes.
        classes: the classes of its changed blocks.
        blocks: how many blocks were changed, added, removed or moved.
        moved: how many of them were only moved.
        source: the lines of the change in today's source (None where text was only removed).
        target: the lines of the translation to look at (None where they are unknown).
        target_ordinal: the heading of the translation that the section belongs to.
        precise: `target` covers the changed blocks, not the whole section.
        approximate: headings disagree, so `target` was found by similarity.
    """

    ordinal: int
    title: str
    classes: frozenset[ChangeClass]
    blocks: int
    source: LineRange | None
    target: LineRange | None
    target_ordinal: int | None
    precise: bool
    approximate: bool
    moved: int = 0


class TreePage(Struct, frozen=True):
    """A page of either tree.

    Attributes:
        key: its NFC path below the root, the same in both trees.
        path: the file.
        blobs: the id of its bytes as they are and, where they contain CRLF, with LF line endings.
    """

    key: str
    path: Path
    blobs: tuple[str, ...]


class PageStatus(Struct, frozen=True):
    """Everything known about one page pair.

    Attributes:
        key: path below the roots, NFC, with forward slashes.
        source, target: the files, relative to the base folder of the report; None: absent.
        reason, hint: why the state is not `current`, and what to do about it.
        pinned_blob: blob id of the source text at the pin, where it is known.
        today: blob id of the source text compared with (as git would store it).
        behind: commits between the pinned text and the one at HEAD; None: not in the history.
        outdated_since: time (epoch seconds) of the first of them.
        canonical: the commit of today's history that introduced the pinned text.
        dirty: the source page has changes that are not committed.
        moved: the source page had another path when it was pinned (or this is where it went).
        skipped: every commit between the two texts asks to be skipped.
    """

    key: str
    freshness: Freshness
    source: str | None = None
    target: str | None = None
    pin: Pin | None = None
    pinned_blob: str | None = None
    today: str | None = None
    reason: str | Sentence | None = None
    hint: str | Sentence | None = None
    classes: frozenset[ChangeClass] = frozenset()
    sections: tuple[SectionChange, ...] = ()
    behind: int | None = None
    outdated_since: int | None = None
    canonical: str | None = None
    dirty: bool = False
    moved: str | None = None
    skipped: bool = False
    notes: tuple[Sentence, ...] = ()

    @property
    def weight(self) -> ChangeClass | None:
        return heaviest(self.classes)

    @property
    def needs_translation(self) -> bool:
        """Whether a reader should be warned that the page is older than its source."""
        return (
            self.freshness is Freshness.STALE and not self.skipped and self.weight is not ChangeClass.FORMAT
        )

    @property
    def changed_blocks(self) -> int:
        return sum(section.blocks for section in self.sections)


class Problem(Struct, frozen=True):
    """Something that could not be done, so that the result is incomplete: exit status 2."""

    what: str | Sentence
    why: str | Sentence
    hint: str | Sentence
