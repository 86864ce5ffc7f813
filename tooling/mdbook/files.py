"""Reads the files that directives and links name, each once in a run.

What was read can be recorded as facts: `text PATH` with a digest, `exists PATH`, `folder PATH` and
`real PATH`, each with its answer. A result that depends on nothing else is valid as long as its facts are.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from tooling.mdbook import anchors
from tooling.mdbook.anchors import Region
from tooling.platform.regular_files import TEXT_LIMIT, read_regular, require_below


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
        self._folders: dict[str, bool] = {}
        self._facts: dict[str, str] = {}
        self._recorded: dict[str, str] | None = None

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
            special = name in ("", ".", "..") or os.path.islink(known)  # noqa: PTH114
            if special and "\0" not in known:
                known = os.path.realpath(known)
            self._real[joined] = known
        if self._recorded is not None:
            self._recorded[f"real {joined}"] = known
        return known

    def exists(self, path: str) -> bool:
        """Whether a file or folder of this path exists."""
        known = self._exists.get(path)
        if known is None:
            known = self._exists[path] = os.path.exists(path)  # noqa: PTH110
        if self._recorded is not None:
            self._recorded[f"exists {path}"] = str(known)
        return known

    def is_folder(self, path: str) -> bool:
        """Whether a folder of this path exists."""
        known = self._folders.get(path)
        if known is None:
            known = self._folders[path] = os.path.isdir(path)  # noqa: PTH112
        if self._recorded is not None:
            self._recorded[f"folder {path}"] = str(known)
        return known

    def text(self, path: str) -> str:
        """The text of a file, its line endings untouched.

        Raises:
            OSError: missing, a folder, not a regular file, not below the root, not readable.
            UnicodeDecodeError: not UTF-8.
        """
        known = self._texts.get(path)
        if known is None:
            known = self._texts[path] = self._read(path)
        elif self._recorded is not None:
            self._recorded[f"text {path}"] = self._facts[f"text {path}"]
        if isinstance(known, str):
            return known
        raise known

    def text_once(self, path: str) -> str:
        """The same for a file that is not read again: its text is not kept.

        Raises: as `text`.
        """
        known = self._read(path)
        if isinstance(known, str):
            return known
        raise known

    def _read(self, path: str) -> str | OSError | UnicodeDecodeError:
        text: str | OSError | UnicodeDecodeError
        try:
            if self._root is not None and "\0" not in path:
                require_below(os.path.realpath(path), self._root)
            data = read_regular(path, limit=TEXT_LIMIT)
            answer = hashlib.sha1(data, usedforsecurity=False).hexdigest()
            text = data.decode("utf-8")
        except OSError as error:
            answer, text = str(error), error
        except UnicodeDecodeError as error:
            text = error
        name = f"text {path}"
        self._facts[name] = answer
        if self._recorded is not None:
            self._recorded[name] = answer
        return text

    def regions(self, path: str) -> dict[str, tuple[Region, ...]]:
        """The anchors of a file. Raises as `text` does."""
        known = self._regions.get(path)
        if known is None:
            known = self._regions[path] = anchors.regions(self.text(path))
        return known

    @contextlib.contextmanager
    def recording(self) -> Iterator[dict[str, str]]:
        """Records the facts that are asked for inside the block, whether they were known before or not."""
        outer, self._recorded = self._recorded, {}
        try:
            yield self._recorded
        finally:
            if outer is not None:
                outer |= self._recorded
            self._recorded = outer

    def record(self, facts: Mapping[str, str]) -> None:
        """Adds facts of an earlier recording, for a result that is used again."""
        if self._recorded is not None:
            self._recorded |= facts

    def confirms(self, facts: Mapping[str, str]) -> bool:
        """Whether these facts are still true."""
        return all(self._fact(name) == answer for name, answer in facts.items())

    def _fact(self, name: str) -> str:
        known = self._facts.get(name)
        if known is None:
            kind, _, path = name.partition(" ")
            if kind == "text":
                self._read(path)
                return self._facts[name]
            if kind == "real":
                folder, _, rest = path.rpartition("/")
                known = self.real(folder, rest)
            else:
                known = str(self.exists(path) if kind == "exists" else self.is_folder(path))
            self._facts[name] = known
        return known
