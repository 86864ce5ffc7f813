"""Finds and reads the pages of the two trees."""

from __future__ import annotations

import hashlib
import os
import unicodedata
from pathlib import Path

from msgspec import Struct

from tooling.mdbook.pages import Page
from tooling.platform.errors import Location, ToolingError
from tooling.platform.regular_files import TEXT_LIMIT, read_regular
from tooling.translations.marker import Marker, read_marker, without_key
from tooling.translations.model import TreePage


class RootNotFound(ToolingError):
    """A root, given or by default, is not a folder."""


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
    """Ids of the bytes as they are and, where they contain CRLF, with LF line endings.

    With `autocrlf` or `eol=crlf` a checkout holds other bytes than git stores; the text is the same.
    """
    if b"\r\n" not in data:
        return (blob_id(data, object_format),)
    unified = data.replace(b"\r\n", b"\n")
    return blob_id(data, object_format), blob_id(unified, object_format)


def key_of(path: str) -> str:
    """The name by which pages are paired: NFC, since macOS returns decomposed names."""
    return path if path.isascii() else unicodedata.normalize("NFC", path)


def find_pages(root: Path, what: str) -> dict[str, Path]:
    """Markdown files below `root` by key, sorted.

    Hidden files, files below a linked folder, and snippets (names that begin with `_`, such as `_includes`)
    are not pages.

    Raises:
        RootNotFound: `root` is not a folder; `what` names the option that sets it.
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


def snippets(root: Path) -> list[str]:
    """Markdown files below `root` that are not pages because of a name that begins with `_`, sorted."""
    files = (path.relative_to(root) for path in root.rglob("*.md"))
    return sorted(path.as_posix() for path in files if any(part.startswith("_") for part in path.parts))


def read_source(key: str, path: Path, object_format: str) -> TreePage:
    """A page of the source with the ids of its text."""
    return TreePage(key, path, blob_ids(read_regular(path, limit=TEXT_LIMIT), object_format))


def read_translated(key: str, path: Path, object_format: str) -> TranslatedPage:
    """A page of the translation with its id and marker."""
    data = read_regular(path, limit=TEXT_LIMIT)
    return TranslatedPage(TreePage(key, path, (blob_id(data, object_format),)), read_marker(data))


def read_translation(path: Path, root: Path) -> Page:
    """A translated page as it is compared with its source: without the commit in its front matter.

    Raises:
        OSError, UnicodeDecodeError: the file cannot be read as UTF-8 text.
    """
    return Page.of(path, root, without_key(read_regular(path, limit=TEXT_LIMIT).decode("utf-8")))
