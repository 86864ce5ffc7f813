"""The listings of a build: what it knows of a block of code in addition to the block's text.

A fence carries an identifier alone, as in `mojo,listing-5f0c9d21e7b3`, which mdBook makes a class of the
block. What the identifier stands for stays in a table of the build: directives add to it when a page is
rendered, and `tooling.book.site.typography.highlight` reads it when it sets the block.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import PurePath

import msgspec
from msgspec import Struct

_PREFIX = "listing-"
_DIGITS = 12
LANGUAGES = {".mojo": "mojo", ".py": "python"}


class Listing(Struct, frozen=True, omit_defaults=True):
    """One block of code, or the output of a program. Its rows are counted from 0.

    Attributes:
        file: where the lines are, relative to the checkout; of a wrong answer its name alone; empty for an
            output.
        lines: the number of each row in the file; 0 stands for lines that are left out there, None for a line
            that the file does not have.
        written: ranges of rows (start, stop) that the learner had to write, or that a wrong answer has wrong.
        removed: rows of the solution that a wrong answer lacks.
        named: rows that the verdict names.
        api: the tensor API of the program, where the caption names it.
        changed: an excerpt of a wrong answer, which is in no file of the repository.
        simulated: an output that a real GPU does not print.
    """

    file: str = ""
    lines: tuple[int | None, ...] = ()
    written: tuple[tuple[int, int], ...] = ()
    removed: tuple[int, ...] = ()
    named: tuple[int, ...] = ()
    api: str = ""
    changed: bool = False
    simulated: bool = False


Listings = dict[str, Listing]
"""The table of a page or of an edition, by identifier."""


def opening_fence(listing: Listing, table: Listings, language: str = "") -> str:
    """The first line of the block of a listing, which is added to the table.

    Args:
        language: of the block; by default that of the file.
    """
    name = _PREFIX + hashlib.sha256(msgspec.json.encode(listing)).hexdigest()[:_DIGITS]
    table[name] = listing
    return f"```{language or LANGUAGES[PurePath(listing.file).suffix]},{name}"


def identifier(classes: Iterable[str]) -> str | None:
    """The identifier among the classes of a block; None where it has no listing."""
    return next((name for name in classes if name.startswith(_PREFIX)), None)


def runs(rows: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Rising numbers of rows as ranges (start, stop)."""
    found: list[tuple[int, int]] = []
    for row in rows:
        if found and found[-1][1] == row:
            found[-1] = (found[-1][0], row + 1)
        else:
            found.append((row, row + 1))
    return tuple(found)
