"""The inputs of pages: a page with the same inputs need not be rendered again."""

from __future__ import annotations

import errno
import hashlib
import os
import sys
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from tooling.book.chapters import NOT_FOUND
from tooling.book.editions import Edition
from tooling.book.errors import BookError
from tooling.book.summary import read_summary
from tooling.platform.errors import Location
from tooling.platform.regular_files import TEXT_LIMIT, OutsideRoot, WrongSize, require_below
from tooling.project import TOOL, Project
from tooling.translations.settings import LANGUAGES

_RECORDINGS = ("h200/shown", "outputs", "traces")
_FOLDERS = ("problems", "solutions", "tests/mutants", *(f"tests/data/{name}" for name in _RECORDINGS))
_MEASURED = frozenset({"benchmarks.json", "defects.json"})  # in tests/data/h200, what figures show of it


class Inputs(Struct, frozen=True):
    """The files that any page may depend on, except the chapters.

    Attributes:
        digest: of their names and contents, and of the tool itself.
        files: their paths.
    """

    digest: str
    files: frozenset[str]

    def hold(self, paths: Iterable[str]) -> bool:
        """Whether the digest covers all these files."""
        return self.files.issuperset(paths)


def read_inputs(project: Project, every: Sequence[Edition]) -> Inputs:
    """Reads them all: a few megabytes, in a fraction of the time that rendering takes.

    Raises:
        BookError: one of them is not a regular file of the checkout.
    """
    chapters = {
        str(edition.page(path))
        for edition in every
        for path in (NOT_FOUND, *(entry.path for entry in read_summary(edition.source)))
    }
    files = sorted({*find_inputs(project, every), str(project.root / LANGUAGES)} - chapters)
    return Inputs(digest(_tool(), _digest_of(files)), frozenset(files))


def find_inputs(project: Project, every: Sequence[Edition]) -> list[str]:
    """The paths of all inputs, including the chapters.

    Raises:
        BookError: one of them is not a regular file of the checkout. Reading a pipe or a device might never
            end, and the target of a link out of the checkout would be published.
    """
    folders = [*(project.root / name for name in _FOLDERS), *(each.folder for each in every)]
    root = os.path.realpath(project.root)
    measured = _files(str(project.root / "tests/data/h200"), root, _MEASURED)
    return [*(path for folder in folders for path in _files(str(folder), root)), *measured]


@lru_cache
def _tool() -> str:
    """Identifies the running tool: its files at start, which correspond to the code in memory.

    Sizes and times are compared instead of contents, as Python does for compiled code.
    """
    rows = []
    for path in sorted(_files(str(TOOL), str(TOOL))):
        about = os.stat(path)  # noqa: PTH116 - hundreds of files in each build
        rows.append(f"{path}\0{about.st_size}\0{about.st_mtime_ns}")
    return digest(sys.version, *rows)


def _digest_of(files: Iterable[str]) -> str:
    whole = hashlib.sha256()
    for path in files:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123
            if os.fstat(file.fileno()).st_size > TEXT_LIMIT:
                raise WrongSize(errno.EFBIG, f"more than {TEXT_LIMIT} bytes", path)
            content = file.read()
        whole.update(f"\0{path}\0{len(content)}\0".encode())
        whole.update(content)
    return whole.hexdigest()


def _files(folder: str, root: str, names: Container[str] | None = None) -> Iterator[str]:
    """The files below a folder; linked folders are not entered, and dangling links are left out.

    Args:
        names: only these files and folders in it.

    Raises:
        BookError: an entry is neither a file nor a folder, or links out of `root`, a real path.
    """
    try:
        entries = list(os.scandir(folder))
    except FileNotFoundError:
        return
    for entry in entries:
        if names is not None and entry.name not in names:
            continue
        if entry.is_dir(follow_symlinks=False):
            if entry.name != "__pycache__":
                yield from _files(entry.path, root)
        elif entry.is_file(follow_symlinks=False) or _readable(entry, root):
            yield entry.path


def _readable(entry: os.DirEntry[str], root: str) -> bool:
    """Whether a link points to a file of the checkout. Raises as `_files`."""
    where = Location(Path(entry.path))
    if entry.is_symlink():
        real = os.path.realpath(entry.path)
        try:
            require_below(real, root)
        except OutsideRoot as error:
            raise BookError(
                "this symbolic link leads to a file that is not part of the book",
                where=where,
                why=f"it leads to {real}: {error.strerror}",
                hint="replace the link by a copy of the file, or remove it",
            ) from error
        if entry.is_file():
            return True
        if entry.is_dir() or not os.path.lexists(real):
            return False  # what remains is a link to itself
    raise BookError(
        "this is not a regular file",
        where=where,
        why="reading a pipe, a socket or a device might never end, and a link to itself leads nowhere",
        hint="remove it: the book is made from every file of its folders",
    )


def digest(*texts: str) -> str:
    """A digest of several texts, in their order."""
    whole = hashlib.sha256()
    for text in texts:
        content = text.encode()
        whole.update(b"%d\0" % len(content) + content)
    return whole.hexdigest()
