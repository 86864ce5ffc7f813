"""Reading lines of Markdown into blocks.

This is not a Markdown renderer: it cuts where text can be translated apart, keeps the lines each block came
from, and leaves the meaning of inline marks to `normal`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from tooling.translations.blocks import Block, BlockKind

_QUOTE = re.compile(r"(?:[ ]{0,3}>[ ]?)+")
_FENCE = re.compile(r"([ \t]*)(`{3,}|~{3,})[ \t]*(.*?)[ \t]*$")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*$")
_SETEXT = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")
_ITEM = re.compile(r"([ \t]*)(?:[-*+]|(\d{1,9}[.)]))(?:[ \t]+(.*)|$)")
_DELIMITER_ROW = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_DEFINITION = re.compile(r" {0,3}\[(?!\^)([^\]]+)\]:[ \t]*(<[^>]*>|\S+)(?:[ \t]+[\"'(].*)?[ \t]*$")
_DIRECTIVE = re.compile(r"[ \t]*\{\{\s*#[^}]*\}\}[ \t]*$")
_TAGS = re.compile(r"[ \t]*(?:</?[A-Za-z][^<>]*>[ \t]*)+$")
_ALERT = re.compile(r"\[![^\]]+\][ \t]*$")
_COMMENT = re.compile(r"<!--.*?-->")
# The first characters of lines that may begin something other than a paragraph.
_SPECIAL = frozenset("#>`~-*+_=|<[{$\\\t :")


def read_blocks(lines: Sequence[str], offset: int = 0) -> tuple[tuple[Block, ...], dict[str, str]]:
    """The blocks of these lines, and the link definitions among them by folded label.

    HTML comments vanish, and so do blank lines and the delimiter rows of tables.

    Args:
        offset: how many lines of the page stand before these.
    """
    reader = _Reader(lines, offset)
    return reader.run(), reader.definitions


def heading(line: str) -> tuple[int, str] | None:
    """Level and text of a heading written with hashes; None for any other line."""
    match = _HEADING.match(line)
    return None if match is None else (len(match[1]), (match[2] or "").strip())


def fold_label(label: str) -> str:
    """Link labels match without regard to case and runs of space."""
    return " ".join(label.split()).casefold()


@dataclass(slots=True)
class _Open:
    """The paragraph-like block being read."""

    kind: BlockKind
    first: int
    last: int
    lines: list[str]
    level: int
    quote: int
    info: str = ""


@dataclass(slots=True)
class _Reader:
    """Reads line by line; what a paragraph or an item takes in stays open until something else begins."""

    lines: Sequence[str]
    offset: int  # lines of the page before the first of these
    blocks: list[Block] = field(default_factory=list)
    definitions: dict[str, str] = field(default_factory=dict)
    open: _Open | None = None
    indents: list[int] = field(default_factory=list)  # of the list items around the current line
    in_table: bool = False

    def run(self) -> tuple[Block, ...]:
        index = 0
        while index < len(self.lines):
            index = self._line(self.lines, index)
        self._close()
        return tuple(self.blocks)

    def _line(self, lines: Sequence[str], index: int) -> int:
        """Reads the block part at `index`; the next line to read."""
        line = lines[index]
        quote = 0
        if ">" in line and (mark := _QUOTE.match(line)) is not None:
            quote = mark[0].count(">")
            line = line[mark.end() :]
        if "<!--" in line and line.lstrip().startswith("<!--"):
            line, index = self._comment(lines, index, line)
        stripped = line.strip()
        if not stripped:
            self._close()
            self.in_table = False
            return index + 1
        indented = line[0] in " \t"
        if self.indents and not indented and not quote and self.open is None and not _ITEM.match(line):
            self.indents.clear()  # text at the margin after a blank line ends a list
        if stripped[0] in _SPECIAL or indented or stripped[0].isdigit() or self.in_table or "|" in stripped:
            after = self._special(lines, index, line, quote)
            if after is not None:
                return after
        self._text(index, stripped, quote)
        return index + 1

    def _special(self, lines: Sequence[str], index: int, line: str, quote: int) -> int | None:
        """The next line when `line` is more than a piece of a paragraph."""
        number = self.offset + index + 1
        stripped = line.strip()
        begin = stripped[0]  # every construct has its first characters: most patterns need not be tried
        if begin in "`~" and (match := _FENCE.match(line)) and not ("`" in match[2] and "`" in match[3]):
            return self._fence(lines, index, match, quote)
        if begin in "$\\" and (end := _math_end(stripped)) is not None:
            return self._math(lines, index, end, quote)
        if self._is_indented_code(line):
            return self._indented(lines, index, quote)
        if begin == "#" and (found := heading(line)) is not None:
            self._close()
            self.indents.clear()
            self.in_table = False
            level, title = found
            self.blocks.append(Block(BlockKind.HEADING, (title,), number, number, level, quote))
            return index + 1
        if begin in "=-" and self._is_setext(line, quote):
            assert self.open is not None
            level = 1 if "=" in stripped else 2
            title = " ".join(self.open.lines)
            first, self.open = self.open.first, None
            self.indents.clear()
            self.blocks.append(Block(BlockKind.HEADING, (title,), first, number, level, quote))
            return index + 1
        if begin in "-*_" and _RULE.match(line):
            self._close()
            self.blocks.append(Block(BlockKind.RULE, (), number, number, 0, quote))
            return index + 1
        if (
            (begin in "-*+" or begin.isdigit())
            and (match := _ITEM.match(line)) is not None
            and self._may_begin_item(match)
        ):
            self._item(number, match, quote)
            return index + 1
        if ("|" in stripped or self.in_table) and self._row(lines, index, stripped, quote):
            return index + 1
        if begin == "[" and self.open is None and (match := _DEFINITION.match(line)) is not None:
            self.definitions.setdefault(fold_label(match[1]), match[2].strip("<>"))
            return index + 1
        for mark, kind, pattern in (("{", BlockKind.DIRECTIVE, _DIRECTIVE), ("<", BlockKind.HTML, _TAGS)):
            if begin == mark and pattern.match(line):
                self._close()
                self.blocks.append(Block(kind, (stripped,), number, number, 0, quote))
                return index + 1
        if quote and begin == "[" and self.open is None and _ALERT.match(stripped):
            self.blocks.append(Block(BlockKind.ALERT, (stripped,), number, number, 0, quote))
            return index + 1
        return None

    def _close(self) -> None:
        block, self.open = self.open, None
        if block is not None:
            lines = tuple(block.lines)
            self.blocks.append(
                Block(block.kind, lines, block.first, block.last, block.level, block.quote, block.info)
            )

    def _text(self, index: int, stripped: str, quote: int) -> None:
        block = self.open
        # A paragraph may go on behind fewer quote marks than it began with, never behind more.
        if block is not None and quote <= block.quote:
            block.lines.append(stripped)
            block.last = self.offset + index + 1
            return
        self._close()
        number = self.offset + index + 1
        self.open = _Open(BlockKind.PARAGRAPH, number, number, [stripped], 0, quote)

    def _comment(self, lines: Sequence[str], index: int, line: str) -> tuple[str, int]:
        """What a line that begins with a comment leaves, and the line on which the comment ends."""
        line = _COMMENT.sub("", line)
        if "<!--" not in line:
            return line, index
        for end in range(index + 1, len(lines)):
            if "-->" in lines[end]:
                return lines[end].partition("-->")[2], end
        return "", len(lines) - 1

    def _fence(self, lines: Sequence[str], index: int, match: re.Match[str], quote: int) -> int:
        self._close()
        indent, mark = len(match[1]), match[2]
        code: list[str] = []
        end = index + 1
        while end < len(lines):
            line = lines[end]
            if quote:
                prefix = _QUOTE.match(line)
                if prefix is None:
                    break  # a fence ends with the quote around it
                line = line[prefix.end() :]
            if _ends_fence(line, mark):
                end += 1
                break
            lead = len(line) - len(line.lstrip(" \t")) if indent else 0
            code.append(line[min(lead, indent) :].rstrip())
            end += 1
        while code and not code[-1]:
            code.pop()
        self.blocks.append(
            Block(
                BlockKind.FENCE, tuple(code), self.offset + index + 1, self.offset + end, 0, quote, match[3]
            )
        )
        return end

    def _math(self, lines: Sequence[str], index: int, end_mark: str, quote: int) -> int:
        self._close()
        end = index + 1
        while end < len(lines) and end_mark not in lines[end]:
            end += 1
        end = min(end + 1, len(lines))
        self.blocks.append(
            Block(
                BlockKind.MATH,
                tuple(line.strip("> \t") for line in lines[index:end]),
                self.offset + index + 1,
                self.offset + end,
                0,
                quote,
            )
        )
        return end

    def _is_indented_code(self, line: str) -> bool:
        return self.open is None and not self.indents and line.expandtabs(4).startswith("    ")

    def _indented(self, lines: Sequence[str], index: int, quote: int) -> int:
        end = index
        while end < len(lines) and lines[end].expandtabs(4).startswith("    "):
            if _FENCE.match(lines[end]):
                break  # a fence is a fence at any depth: lists are not followed closely enough to tell
            end += 1
        code = tuple(line.expandtabs(4)[4:].rstrip() for line in lines[index:end])
        self.blocks.append(Block(BlockKind.CODE, code, self.offset + index + 1, self.offset + end, 0, quote))
        return end

    def _is_setext(self, line: str, quote: int) -> bool:
        block = self.open
        return (
            block is not None
            and block.kind is BlockKind.PARAGRAPH
            and block.quote == quote
            and _SETEXT.match(line) is not None
        )

    def _may_begin_item(self, match: re.Match[str]) -> bool:
        """Inside a paragraph an empty item, or a number other than 1, is only the start of a wrapped line."""
        if self.open is None:
            return True
        number = match[2]
        return bool(match[3]) and (
            number is None or self.open.kind is BlockKind.ITEM or number.rstrip(".)") == "1"
        )

    def _item(self, number: int, match: re.Match[str], quote: int) -> None:
        self._close()
        indent = len(match[1].expandtabs(4))
        while self.indents and indent <= self.indents[-1]:
            self.indents.pop()
        self.indents.append(indent)
        text = [match[3].strip()] if match[3] else []
        info = "1." if match[2] else ""
        self.open = _Open(BlockKind.ITEM, number, number, text, len(self.indents), quote, info)

    def _row(self, lines: Sequence[str], index: int, stripped: str, quote: int) -> bool:
        if not self.in_table:
            below = lines[index + 1] if index + 1 < len(lines) else ""
            below = below[mark.end() :] if quote and (mark := _QUOTE.match(below)) else below
            if "|" not in below or not _DELIMITER_ROW.match(below):
                return False
            self.in_table = True
        elif _DELIMITER_ROW.match(stripped):
            return True
        self._close()
        number = self.offset + index + 1
        self.blocks.append(Block(BlockKind.ROW, (stripped,), number, number, 0, quote))
        return True


def _ends_fence(line: str, mark: str) -> bool:
    text = line.strip(" \t")
    return len(text) >= len(mark) and not text.strip(mark[0])


def _math_end(stripped: str) -> str | None:
    """The mark that ends the display formula which this line opens without ending it."""
    for begin, end in (("$$", "$$"), ("\\\\[", "\\\\]"), ("\\[", "\\]")):
        if stripped.startswith(begin) and end not in stripped[len(begin) :]:
            return end
    return None
