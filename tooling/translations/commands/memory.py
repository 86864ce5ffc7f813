"""The translation memory: which text of the tree translates a block, by the source texts of all markers.

A block that moved to another page, was taken out and put back, or occurs on several pages has a translation
already. It is offered to the translator, not written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from tooling.platform.regular_files import TEXT_LIMIT, read_regular
from tooling.translations.diff.blocks import Block, BlockKind
from tooling.translations.diff.changes import Anchor
from tooling.translations.diff.sections import Locator
from tooling.translations.diff.text import split
from tooling.translations.git.pins import PinReader
from tooling.translations.model import Freshness, LineRange, PageStatus
from tooling.translations.roots import Roots

_TRANSLATED = frozenset((BlockKind.PARAGRAPH, BlockKind.ITEM, BlockKind.ROW, BlockKind.HEADING))


class KnownTranslation(Struct, frozen=True):
    """A text of the translation, and where it is."""

    text: str
    file: str
    lines: LineRange


Memory = Mapping[str, KnownTranslation]


def read_memory(roots: Roots, statuses: Iterable[PageStatus], reader: PinReader) -> Memory:
    """The translation of every block that the source of some page has or had when it was translated."""
    known = [
        status
        for status in statuses
        if status.freshness in (Freshness.CURRENT, Freshness.STALE) and (status.pinned_blob or status.today)
    ]
    blobs = {status.key: status.pinned_blob or status.today or "" for status in known}
    texts = reader.texts(blobs.values())
    memory: dict[str, KnownTranslation] = {}
    for status in known:
        data = texts.get(blobs[status.key])
        if data is None or status.target is None:
            continue
        translation = _decoded(read_regular(roots.base / status.target, limit=TEXT_LIMIT))
        lines = translation.split("\n")
        pinned, target = split(_decoded(data)), split(translation)
        locator = Locator(pinned, target)
        for section in pinned.sections:
            for index, block in enumerate(section.blocks):
                counterpart = locator.locate(Anchor(section.ordinal, index))
                where = counterpart.lines
                if where is not None and counterpart.precise and (name := name_of(block)):
                    text = "\n".join(lines[where.first - 1 : where.last])
                    memory.setdefault(name, KnownTranslation(text, status.target, where))
    return memory


def name_of(block: Block | None) -> str:
    """What a block is remembered by, whatever its line breaks; empty for one that is not translated."""
    if block is None or block.kind not in _TRANSLATED:
        return ""
    words = " ".join(block.lines).split()
    return (
        f"{block.kind} {' '.join(words)}" if any(character.isalpha() for character in "".join(words)) else ""
    )


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace").replace("\r\n", "\n")
