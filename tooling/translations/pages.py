"""Walking the two trees of pages."""

from __future__ import annotations

import hashlib
import os
import unicodedata
from pathlib import Path

from msgspec import Struct

from tooling.errors import Location, ToolingError
from tooling.translations.marker import Marker, read_marker
from tooling.translations.model import TreePage


class RootNotFound(ToolingError):
    """A root given or implied is no folder."""


class TranslatedPage(Struct, frozen=True):
    """A page of the translation with its marker."""

    page: TreePage
    marker: Marker


def blob_id(data: bytes, object_format: str = "sha1") -> str:
    """The id git gives to these bytes."""
    digest = hashlib.new(object_format, b"blob %d\0" % len(data), usedforsecurity=False)
    digest.update(data)
    return digest.hexdigest()


def blob_ids(data: bytes, object_format: str = "sha1") -> tuple[str, ...]:
    """Ids of the bytes as they lie there and, where they hold CRLF, with LF line ends.

    A checkout with `autocrlf` or `eol=crlf` holds other bytes than git stores; the text is the same.
    """
    if b"\r\n" not in data:
        return (blob_id(data, object_format),)
    unified = data.replace(b"\r\n", b"\n")
    return blob_id(data, object_format), blob_id(unified, object_format)


def key_of(path: str) -> str:
    """The name under which a page is paired: macOS hands out decomposed names, others composed ones."""
    return path if path.isascii() else unicodedata.normalize("NFC", path)


def find_pages(root: Path, what: str) -> dict[str, Path]:
    """Markdown files below `root` by key, sorted.

    What is hidden, what lies behind a linked folder, and snippets (names that begin with `_`, such as
    `_includes`) are no pages.

    Raises:
        RootNotFound: `root` is no folder; `what` names the option that sets it.
    """
    if not root.is_dir():
        raise RootNotFound(
            f"{what}: no such folder",
            where=Location(root),
            why="pages are compared tree against tree",
            hint=f"name the folder of its Markdown files with {what}",
        )
    found: dict[str, Path] = {}
    pending = [(os.fspath(root), "")]
    while pending:
        folder, prefix = pending.pop()
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if name.startswith((".", "_")):
                    continue
                if name.endswith(".md") and entry.is_file():
                    found[key_of(prefix + name)] = Path(entry.path)
                elif entry.is_dir(follow_symlinks=False):
                    pending.append((entry.path, f"{prefix}{name}/"))
    return dict(sorted(found.items()))


def read_source(key: str, path: Path, object_format: str) -> TreePage:
    """A page of the source with the ids of its text."""
    return TreePage(key, path, blob_ids(path.read_bytes(), object_format))


def read_translated(key: str, path: Path, object_format: str) -> TranslatedPage:
    """A page of the translation with its id and marker."""
    data = path.read_bytes()
    return TranslatedPage(TreePage(key, path, (blob_id(data, object_format),)), read_marker(data))
