"""The units of translation: headings, paragraphs, items, rows, fences."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class BlockKind(StrEnum):
    """The type of a block."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "item"
    ROW = "row"  # one row of a table
    FENCE = "fence"
    CODE = "code"  # indented code
    MATH = "math"  # a display formula
    HTML = "html"  # a line of tags alone
    ALERT = "alert"  # `[!NOTE]`
    DIRECTIVE = "directive"  # `{{#include …}}` on a line of its own
    RULE = "rule"


VERBATIM = frozenset((BlockKind.FENCE, BlockKind.CODE, BlockKind.MATH, BlockKind.DIRECTIVE))


class Block(Struct, frozen=True):
    """One block.

    Attributes:
        kind: its type.
        lines: its text without quote marks; for a fence the code alone, for a heading without marks.
        first, last: its lines in the page, from 1.
        level: of a heading 1-6; of an item its depth from 1; otherwise 0.
        quote: the number of `>` before it.
        info: the info string of a fence; `1.` for an item of a numbered list.
    """

    kind: BlockKind
    lines: tuple[str, ...]
    first: int
    last: int
    level: int = 0
    quote: int = 0
    info: str = ""

    @property
    def raw(self) -> tuple[object, ...]:
        """Everything that an edit can change except its position."""
        return (self.kind, self.level, self.quote, self.info, self.lines)
