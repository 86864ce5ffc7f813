"""Where in a translation something of the source belongs: lines of both pages that correspond.

What both pages have is an anchor: the marks that were paired, and the blocks of text, which correspond by
their order in a section, or by what they share where a section of one page has more of them. What lies
between two anchors and is missing belongs on the blank line before the second one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import groupby

from msgspec import Struct

from tooling.mdbook.markup import Fence, Mark, Prose, Table
from tooling.mdbook.pages import Page
from tooling.translations.diff.similarity import fingerprint, similarity

_MOST = 10_000  # pairs of blocks of a section that are compared with each other
_SAME_KIND = 0.1  # the worth of a pair that shares nothing else


class _Span(Struct, frozen=True, order=True):
    """The first and the last line of a mark or block."""

    first: int
    last: int


class _Anchor(Struct, frozen=True, order=True):
    source: _Span
    target: _Span


class Places(Struct):
    """The places of one translation.

    Attributes:
        source, target: the page and its translation.
        marks: the paired marks, in the order of both pages.
        sections: the lines at which corresponding sections begin, see `Alignment`.
    """

    source: Page
    target: Page
    marks: Sequence[tuple[Mark, Mark]]
    sections: tuple[tuple[int, ...], tuple[int, ...]]
    _anchors: list[_Anchor] | None = None

    def at(self, line: int) -> int:
        """The line of the translation at which the text of a line of the source is, or should be."""
        if self._anchors is None:  # most pages have no finding
            self._anchors = _increasing(sorted([*self._of_marks(), *self._of_blocks()]))
        index = bisect_right(self._anchors, line, key=lambda anchor: anchor.source.first)
        if index:
            anchor = self._anchors[index - 1]
            if line <= anchor.source.last:
                return min(anchor.target.first + line - anchor.source.first, anchor.target.last)
        lines = self.target.text.splitlines()
        after = self._anchors[index].target.first if index < len(self._anchors) else len(lines) + 1
        while after > 2 and not lines[after - 2].strip():
            after -= 1
        return min(after, len(lines)) or 1

    def _of_marks(self) -> Iterable[_Anchor]:
        return [_Anchor(_span(mark), _span(copy)) for mark, copy in self.marks]

    def _of_blocks(self) -> list[_Anchor]:
        ours, theirs = self.sections
        blocks, copies = _by_section(self.source, ours), _by_section(self.target, theirs)
        of_block, of_copy = _fingerprints(self.source), _fingerprints(self.target)

        def shared(block: Prose, copy: Prose) -> float:
            """How much two blocks share that no translator changes, 0 to 1."""
            one, other = of_block(_span(block)), of_copy(_span(copy))
            return similarity(one, other) if one or other else 0.5

        return [
            _Anchor(_span(block), _span(copy))
            for section in blocks.keys() & copies.keys()
            for block, copy in _paired(blocks[section], copies[section], shared)
        ]


def _span(item: Mark | Prose) -> _Span:
    rows = 0
    if isinstance(item, Prose):
        rows = item.text.count("\n")
    elif isinstance(item, Fence):
        rows = item.code.count("\n") + 2 * item.fenced
    elif isinstance(item, Table):
        rows = len(item.cells)
    return _Span(item.line, item.line + rows)


def _fingerprints(page: Page) -> Callable[[_Span], Counter[str]]:
    """The fingerprint of lines of a page; each is computed once."""
    lines = page.text.splitlines()

    @cache
    def fingerprint_of(span: _Span) -> Counter[str]:
        return fingerprint("\n".join(lines[span.first - 1 : span.last]))

    return fingerprint_of


def _by_section(page: Page, starts: Sequence[int]) -> dict[int, list[Prose]]:
    groups = groupby(page.structure.prose, key=lambda block: bisect_right(starts, block.line))
    found: dict[int, list[Prose]] = {}
    for section, blocks in groups:
        found.setdefault(section, []).extend(blocks)
    return found


def _paired(
    blocks: Sequence[Prose], copies: Sequence[Prose], shared: Callable[[Prose, Prose], float]
) -> Iterable[tuple[Prose, Prose]]:
    """The blocks of a section that belong together, in order."""
    rows, columns = len(blocks), len(copies)
    if [block.kind for block in blocks] == [copy.kind for copy in copies] or rows * columns > _MOST:
        return zip(blocks, copies, strict=False)
    worth = [
        [_SAME_KIND + shared(block, copy) if block.kind == copy.kind else 0.0 for copy in copies]
        for block in blocks
    ]
    gain = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for row in reversed(range(rows)):
        for column in reversed(range(columns)):
            gain[row][column] = max(
                gain[row + 1][column],
                gain[row][column + 1],
                worth[row][column] + gain[row + 1][column + 1],
            )
    pairs: list[tuple[Prose, Prose]] = []
    row = column = 0
    while row < rows and column < columns:
        if worth[row][column] and gain[row][column] == worth[row][column] + gain[row + 1][column + 1]:
            pairs.append((blocks[row], copies[column]))
            row, column = row + 1, column + 1
        elif gain[row][column] == gain[row + 1][column]:
            row += 1
        else:
            column += 1
    return pairs


def _increasing(anchors: Iterable[_Anchor]) -> list[_Anchor]:
    """The anchors without those that are before an earlier one in the translation."""
    kept: list[_Anchor] = []
    for anchor in anchors:
        if kept and anchor.source.first == kept[-1].source.first:
            if anchor.source.last > kept[-1].source.last:
                kept[-1] = anchor
        elif not kept or anchor.target.first > kept[-1].target.first:
            kept.append(anchor)
    return kept
