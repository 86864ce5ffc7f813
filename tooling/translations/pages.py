"""Finds and reads the pages of the two trees."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from tooling.mdbook.pages import Page
from tooling.platform.errors import Location, ToolingError
from tooling.platform.regular_files import TEXT_LIMIT, read_regular
from tooling.text import Text
from tooling.translations.marker import Marker, read_marker, without_front_matter, without_key
from tooling.translations.model import TreePage
from tooling.translations.roots import Roots
from tooling.translations.settings import Profile


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


class TreeFiles(Struct, frozen=True):
    """The pages of both trees by key, sorted."""

    sources: Mapping[str, Path]
    targets: Mapping[str, Path]


def find_files(roots: Roots) -> TreeFiles:
    """Walks both trees.

    A snippet (its name, or that of a folder around it, begins with `_`, such as `_includes` or `_index.md`)
    is a page where its translation has a marker.

    Raises:
        RootNotFound: a root is not a folder.
    """
    sources, targets = _walk(roots.source, "--source"), _walk(roots.target, "--translation")
    marked = {key for key, path in targets.items() if _is_snippet(key) and _has_marker(path, roots.marker)}

    def pages(found: Mapping[str, Path]) -> dict[str, Path]:
        return {key: path for key, path in found.items() if key in marked or not _is_snippet(key)}

    return TreeFiles(pages(sources), pages(targets))


def find_pages(root: Path, what: str) -> dict[str, Path]:
    """The Markdown files below `root` by key, sorted, without snippets.

    Raises:
        RootNotFound: `root` is not a folder; `what` names the option that sets it.
    """
    return {key: path for key, path in _walk(root, what).items() if not _is_snippet(key)}


def _is_snippet(key: str) -> bool:
    return key.startswith("_") or "/_" in key


def _has_marker(path: Path, key: str | None) -> bool:
    try:
        return read_marker(read_regular(path, limit=TEXT_LIMIT), key).line is not None
    except OSError:
        return False


def _walk(root: Path, what: str) -> dict[str, Path]:
    """All Markdown files below `root`, except hidden ones and those below a linked folder."""
    if not root.is_dir():
        raise RootNotFound(
            Text("{what}: no such folder").of(what=what),
            where=Location(root),
            why=Text("pages are compared tree against tree"),
            hint=Text("name the folder of its Markdown files with {what}").of(what=what),
        )
    found: dict[str, Path] = {}
    pending = [(os.fspath(root), "")]
    while pending:
        folder, prefix = pending.pop()
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if name.startswith("."):
                    continue
                if name.endswith(".md") and entry.is_file():
                    found[key_of(prefix + name)] = Path(entry.path)
                elif entry.is_dir(follow_symlinks=False):
                    pending.append((entry.path, f"{prefix}{name}/"))
    return dict(sorted(found.items()))


def snippets(root: Path) -> list[str]:
    """Markdown files below `root` that are not pages because of a name that begins with `_`, sorted."""
    return [key for key in _walk(root, "--source") if _is_snippet(key)]


def read_source(key: str, path: Path, object_format: str) -> TreePage:
    """A page of the source with the ids of its text."""
    return TreePage(key, path, blob_ids(read_regular(path, limit=TEXT_LIMIT), object_format))


def read_translated(key: str, path: Path, object_format: str, marker: str | None = None) -> TranslatedPage:
    """A page of the translation with its id and marker, which may be the key `marker` of its front matter."""
    data = read_regular(path, limit=TEXT_LIMIT)
    return TranslatedPage(TreePage(key, path, (blob_id(data, object_format),)), read_marker(data, marker))


def read_translation(path: Path, roots: Roots) -> Page:
    """A translated page as it is compared with its source.

    Raises:
        OSError, UnicodeDecodeError: the file cannot be read as UTF-8 text.
    """
    text = read_regular(path, limit=TEXT_LIMIT).decode("utf-8")
    return Page.of(path, roots.target, comparable(text, roots))


_SHORTCODE = re.compile(
    r"\{\{[<%].*?[>%]\}\}|<\?code-excerpt.*?\?>|<!--\s*prettier-ignore[^>]*-->", re.DOTALL
)


def comparable(text: str, roots: Roots) -> str:
    """A page's text without what its profile does not show as text; lines keep their numbers."""
    text = without_key(text, roots.marker)
    if roots.profile is Profile.MDBOOK:
        return text
    text = without_front_matter(text)
    if roots.profile is Profile.HUGO:
        text = _SHORTCODE.sub(lambda match: "\n" * match.group().count("\n"), text)
    return text
