"""Reads the files that directives and links name, each once in a run."""

from __future__ import annotations

import os
from pathlib import Path

from tooling.mdbook import anchors
from tooling.mdbook.anchors import Region
from tooling.regular_files import read_regular, require_below


class Files:
    """Caches texts, real paths and anchors of files; one object is used for a whole run.

    Symbolic links are followed by the system, never by rewriting `..` in the text of a path: a translated
    book may share a folder with its source through a link.

    Args:
        root: only regular files below this folder that are not hidden are read; None: regular files anywhere.
    """

    def __init__(self, root: Path | None = None) -> None:
        self._root = None if root is None else os.path.realpath(root)
        self._real: dict[str, str] = {}
        self._real_folders: dict[str, str] = {}
        self._texts: dict[str, str | OSError | UnicodeDecodeError] = {}
        self._regions: dict[str, dict[str, tuple[Region, ...]]] = {}
        self._exists: dict[str, bool] = {}

    def real(self, folder: Path | str, path: str) -> str:
        """The real path of `path` as seen from a folder; it need not exist."""
        # Called often, and `..` must stay: neither os.path.join nor pathlib.
        joined = path if path.startswith("/") else f"{folder}/{path}"
        known = self._real.get(joined)
        if known is None:
            # Folders repeat from page to page; resolving each of them once saves most of the system calls.
            parent, name = os.path.split(joined)
            real_parent = self._real_folders.get(parent)
            if real_parent is None:
                # `missing/..` is not a folder, whatever realpath returns: such a path stays as written.
                real_parent = os.path.realpath(parent) if os.path.isdir(parent) else parent  # noqa: PTH112
                self._real_folders[parent] = real_parent
            known = os.path.join(real_parent, name)  # noqa: PTH118
            if name in ("", ".", "..") or os.path.islink(known):  # noqa: PTH114
                known = os.path.realpath(known)
            self._real[joined] = known
        return known

    def exists(self, path: str) -> bool:
        """Whether a file or folder of this path exists."""
        known = self._exists.get(path)
        if known is None:
            known = self._exists[path] = os.path.exists(path)  # noqa: PTH110
        return known

    def text(self, path: str) -> str:
        """The text of a file, its line endings untouched.

        Raises:
            OSError: missing, a folder, not a regular file, not below the root, not readable.
            UnicodeDecodeError: not UTF-8.
        """
        known = self._texts.get(path)
        if known is None:
            try:
                if self._root is not None:
                    require_below(os.path.realpath(path), self._root)
                known = read_regular(path).decode("utf-8")
            except (OSError, UnicodeDecodeError) as error:
                known = error
            self._texts[path] = known
        if isinstance(known, str):
            return known
        raise known

    def regions(self, path: str) -> dict[str, tuple[Region, ...]]:
        """The anchors of a file. Raises as `text` does."""
        known = self._regions.get(path)
        if known is None:
            known = self._regions[path] = anchors.regions(self.text(path))
        return known
