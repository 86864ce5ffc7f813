"""A page in sections: what stands under one heading, cut into blocks when somebody asks for them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tooling.translations.block_reader import heading, read_blocks
from tooling.translations.blocks import Block, BlockKind
from tooling.translations.model import LineRange


@dataclass(slots=True)
class Section:
    """A heading with all that follows it up to the next heading; number 0 is what precedes the first one.

    Attributes:
        ordinal: which heading of the page it is, from 1.
        level, title: of the heading; 0 and empty for what precedes the first one.
        first: its first line in the page.
        raw: its text, None where the page could not be cut before it was read block by block.
    """

    ordinal: int
    level: int
    title: str
    first: int
    raw: str | None
    _blocks: tuple[Block, ...] | None = None

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Its blocks, the heading included; read when they are first asked for."""
        if self._blocks is None:
            self._blocks, _ = read_blocks((self.raw or "").split("\n"), self.first - 1)
        return self._blocks

    @property
    def lines(self) -> LineRange | None:
        """From its first to its last block; None for an empty one."""
        return LineRange(self.blocks[0].first, self.blocks[-1].last) if self.blocks else None

    def same_as(self, other: Section) -> bool:
        """Whether both hold the same raw text, wherever it stands."""
        if self.raw is not None and other.raw is not None:
            return self.raw.rstrip() == other.raw.rstrip()
        return [block.raw for block in self.blocks] == [block.raw for block in other.blocks]


@dataclass(frozen=True, slots=True)
class Text:
    """A page in sections, with its link definitions (`[label]: target`) by folded label."""

    sections: tuple[Section, ...]
    definitions: dict[str, str]

    @property
    def blocks(self) -> tuple[Block, ...]:
        return tuple(block for section in self.sections for block in section.blocks)

    @property
    def levels(self) -> list[int]:
        """Levels of the headings in order, behind a 0 for what precedes them."""
        return [section.level for section in self.sections]


def split(text: str) -> Text:
    """A page in sections and blocks.

    HTML comments vanish, and so do blank lines and the delimiter rows of tables. Most pages can be cut at
    their headings by a glance; the others (headings underlined, long comments, display formulas, quoted
    fences, link definitions) are read line by line at once. Both ways give the same blocks.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    return _cut_at_headings(text) or split_line_by_line(text)


def split_line_by_line(text: str) -> Text:
    """As `split`, without the glance."""
    blocks, definitions = read_blocks(text.split("\n"))
    starts = [index for index, block in enumerate(blocks) if block.kind is BlockKind.HEADING]
    bounds = [*starts, len(blocks)]
    sections = [Section(0, 0, "", 1, None, blocks[: bounds[0]])]
    for ordinal, start in enumerate(starts, start=1):
        first, part = blocks[start], blocks[start : bounds[ordinal]]
        sections.append(Section(ordinal, first.level, first.lines[0], first.first, None, part))
    return Text(tuple(sections), definitions)


# Lines that decide where sections begin, and lines that a glance cannot judge.
_OUTLINE = re.compile(
    r"[ \t]*(?P<fence>`{3,}|~{3,})(?P<info>.*)"
    r"|(?P<heading> {0,3}#{1,6}(?:[ \t].*)?)$"
    r"|(?P<hard>[ ]{0,3}>[ >]*(?:`{3}|~{3}|\#|<!--|\$\$|\\)"
    r"|[ \t]*(?:\$\$|\\\\?\[)"
    r"|[ \t]*<!--(?!.*-->)"
    r"|[ ]{0,3}\[[^\]]+\]:)"
    r"|(?P<underline> {0,3}(?:=+|-+)[ \t]*$)"
)
_OUTLINE_STARTS = frozenset("`~#>$\\<[=-")


def _cut_at_headings(text: str) -> Text | None:
    """The page cut at its headings, or None where only a line-by-line reading can tell."""
    lines = text.split("\n")
    cuts: list[tuple[int, int, str]] = [(0, 0, "")]  # index of the line, level, title
    fence = ""
    for index, line in enumerate(lines):
        if line.lstrip(" \t")[:1] not in _OUTLINE_STARTS or (match := _OUTLINE.match(line)) is None:
            continue
        mark = match["fence"]
        if fence:
            if mark and mark[0] == fence[0] and len(mark) >= len(fence) and not match["info"].strip():
                fence = ""
        elif mark:
            if not ("`" in mark and "`" in match["info"]):
                fence = mark
        elif match["heading"] is not None:
            level, title = heading(line) or (0, "")
            cuts.append((index, level, title))
        elif match["hard"] is not None or (index and lines[index - 1]):
            return None
    ends = [start for start, _, _ in cuts[1:]]
    sections = [
        Section(ordinal, level, title, start + 1, "\n".join(lines[start:end]))
        for ordinal, ((start, level, title), end) in enumerate(zip(cuts, [*ends, len(lines)], strict=True))
    ]
    return Text(tuple(sections), {})
