"""A page in sections; a section is cut into blocks on first use."""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct, field

from tooling.translations.diff.block_reader import RawSection, read_sections
from tooling.translations.diff.blocks import Block
from tooling.translations.model import LineRange


class Section(Struct):
    """A heading with all that follows it up to the next heading; number 0 is what precedes the first one.

    A heading in a quote or a list begins no section.

    Attributes:
        ordinal: which heading of the page it is, from 1.
        raw: its text.
    """

    ordinal: int
    raw: str
    _raw_section: RawSection
    _blocks: tuple[Block, ...] | None = field(default=None)

    @property
    def level(self) -> int:
        """The level of the heading; 0 for what precedes the first one."""
        return self._raw_section.level

    @property
    def first(self) -> int:
        """Its first line in the page."""
        return self._raw_section.first

    @property
    def title(self) -> str:
        """The heading's Markdown; empty for what precedes the first one."""
        return self.blocks[0].lines[0] if self.level else ""

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Its blocks, the heading included; read on first use."""
        if self._blocks is None:
            self._blocks = self._raw_section.blocks()
        return self._blocks

    @property
    def lines(self) -> LineRange | None:
        """From its first to its last block; None for an empty one."""
        return LineRange(self.blocks[0].first, self.blocks[-1].last) if self.blocks else None

    def same_as(self, other: Section) -> bool:
        """Whether both hold the same text."""
        return self.raw.rstrip() == other.raw.rstrip()


class PageText(Struct, frozen=True):
    """A page in sections, with its link definitions (`[label]: target`) by folded label."""

    sections: tuple[Section, ...]
    definitions: dict[str, str]

    @property
    def blocks(self) -> tuple[Block, ...]:
        return tuple(block for section in self.sections for block in section.blocks)

    @property
    def levels(self) -> list[int]:
        """A 0 for what precedes the first heading, then the levels of the headings in order."""
        return [section.level for section in self.sections]


@lru_cache(maxsize=32)  # a page is compared with its older text, and with each of its translations
def split(text: str) -> PageText:
    """A page in sections and blocks; any line endings."""
    page = read_sections(text)
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    ends = [*(section.first - 1 for section in page.sections[1:]), len(lines)]
    return PageText(
        tuple(
            Section(ordinal, "\n".join(lines[section.first - 1 : end]), section)
            for ordinal, (section, end) in enumerate(zip(page.sections, ends, strict=True))
        ),
        page.definitions,
    )
