"""Everything that pages are made from: what was set from the same inputs need not be set again."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from tooling.book.chapters import NOT_FOUND
from tooling.book.editions import LANGUAGES, Edition
from tooling.book.summary import read_summary
from tooling.project import TOOL, Project
from tooling.record import Record

_FOLDERS = ("problems", "solutions", "tests/data/outputs", "tests/mutants")


class Inputs(Record):
    """The files that any page may depend on; the chapters are not among them.

    Attributes:
        digest: of their names and contents, and of the tool itself.
        files: their paths.
    """

    digest: str
    files: frozenset[str]

    def hold(self, paths: Iterable[str]) -> bool:
        """Does the digest speak for all these files?"""
        return self.files.issuperset(paths)


def read_inputs(project: Project, every: Sequence[Edition]) -> Inputs:
    """Reads them all: a few megabytes, in a fraction of the time that setting the pages takes."""
    chapters = {
        str(edition.page(path))
        for edition in every
        for path in (NOT_FOUND, *(entry.path for entry in read_summary(edition.source)))
    }
    folders = [*(project.root / name for name in _FOLDERS), *(each.folder for each in every)]
    found = [path for folder in folders for path in _files(folder)]
    files = sorted({*found, str(project.root / LANGUAGES)} - chapters)
    return Inputs(digest(_tool(), _digest_of(files)), frozenset(files))


@lru_cache
def _tool() -> str:
    """Identifies the tool that is running: its files as they were when it started, like the code in memory.

    Sizes and times stand for the contents, as they do for Python itself when it looks for compiled code.
    """
    rows = []
    for path in sorted(_files(TOOL)):
        about = os.stat(path)  # noqa: PTH116 - hundreds of files in each build
        rows.append(f"{path}\0{about.st_size}\0{about.st_mtime_ns}")
    return digest(sys.version, *rows)


def _digest_of(files: Iterable[str]) -> str:
    whole = hashlib.sha256()
    for path in files:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123
            content = file.read()
        whole.update(f"\0{path}\0{len(content)}\0".encode())
        whole.update(content)
    return whole.hexdigest()


def _files(folder: Path) -> Iterator[str]:
    for parent, folders, names in os.walk(folder):
        if "__pycache__" in folders:
            folders.remove("__pycache__")
        yield from (f"{parent}/{name}" for name in names)


def digest(*parts: str) -> str:
    """A digest of several texts, in their order."""
    whole = hashlib.sha256()
    for part in parts:
        content = part.encode()
        whole.update(b"%d\0" % len(content) + content)
    return whole.hexdigest()
