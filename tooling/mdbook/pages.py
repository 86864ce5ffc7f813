"""One chapter of one book, read once for all checks."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

from tooling.mdbook.structure import Structure, scan
from tooling.platform.regular_files import TEXT_LIMIT, read_regular


class Page(Struct, frozen=True):
    """A chapter's text and its structure.

    Attributes:
        path: the chapter file, absolute; includes and links are resolved from its folder. A text taken from
            history keeps the path that the file has (or had) in the working tree.
        root: the `src` folder of its book.
        text: the Markdown as written, before any preprocessor.
        structure: what `scan` found in the text.
        folder: the folder of the file, as text: every link and include is resolved from it.
        prose: the texts of the structure's prose, joined by line ends: one search answers for all of them.
    """

    path: Path
    root: Path
    text: str
    structure: Structure
    folder: str
    prose: str

    @classmethod
    def of(cls, path: Path, root: Path, text: str) -> Page:
        """The page of this text; the file itself is not opened."""
        structure = scan(text)
        folder = os.path.dirname(path) or "."  # noqa: PTH120 - pathlib takes several times as long
        prose = "\n".join([block.text for block in structure.prose])
        return cls(path, root, text, structure, folder, prose)

    @classmethod
    def read(cls, path: Path, root: Path) -> Page:
        """The page in the working tree.

        Raises:
            OSError, UnicodeDecodeError: the file cannot be read as UTF-8 text.
        """
        return cls.of(path, root, read_regular(path, limit=TEXT_LIMIT).decode("utf-8"))
