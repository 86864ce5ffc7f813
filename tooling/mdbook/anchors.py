"""`ANCHOR: name` and `ANCHOR_END: name`: the named regions of an included file."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from tooling.mdbook import rust

_OPENING = "ANCHOR:"
_CLOSING = "ANCHOR_END:"


class Region(Struct, frozen=True):
    """One region of a file, as mdBook would cut it.

    Attributes:
        name: what a directive asks for.
        opening: the line of `ANCHOR: name`, counted from 1.
        closing: the line of its `ANCHOR_END: name`; None where the region runs to the end of the file.
    """

    name: str
    opening: int
    closing: int | None


def _name_after(mark: str, line: str) -> str | None:
    """The name after the first `mark` of the line that has one, like an unanchored regex search."""
    position = line.find(mark)
    while position >= 0:
        rest = line[position + len(mark) :]
        name = rust.leading_name(rest.lstrip(rust.SPACES))
        if name:
            return name
        position = line.find(mark, position + 1)
    return None


def opened(line: str) -> str | None:
    """The anchor that a line opens: `ANCHOR:\\s*([\\w_-]+)`, found anywhere in the line."""
    return _name_after(_OPENING, line) if _OPENING in line else None


def closed(line: str) -> str | None:
    """The anchor that a line closes: `ANCHOR_END:\\s*([\\w_-]+)`, found anywhere in the line."""
    return _name_after(_CLOSING, line) if _CLOSING in line else None


def marks(text: str) -> Iterator[tuple[int, str | None, str | None]]:
    """Line number, opened and closed anchor of each line that opens or closes one."""
    if "ANCHOR" not in text:
        return
    for number, line in enumerate(rust.lines(text), 1):
        if "ANCHOR" in line:
            opening, closing = opened(line), closed(line)
            if opening is not None or closing is not None:
                yield number, opening, closing


def regions(text: str) -> dict[str, tuple[Region, ...]]:
    """All regions of a file by name; more than one for a name that is opened more than once.

    A second opening inside a region of the same name counts as a region of its own: mdBook drops that line
    silently, which its author cannot have intended.
    """
    found: dict[str, list[Region]] = {}
    for number, opening, closing in marks(text):
        if closing is not None:
            for index, region in enumerate(found.get(closing, ())):
                if region.closing is None:
                    found[closing][index] = Region(closing, region.opening, number)
        if opening is not None:
            found.setdefault(opening, []).append(Region(opening, number, None))
    return {name: tuple(entries) for name, entries in found.items()}
