"""Reads untrusted files: only regular files, and optionally only below a folder.

A pipe would block the reader, a device may never end, and a link may point to a file that must not be
published.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

TEXT_LIMIT = 1 << 24
"""Bytes: no manifest, program, page or state of a checkout is nearly as long."""

_PIECE = 1 << 16  # bytes
_SHOWN = frozenset({".github"})  # hidden folders whose files may be shown


class UnusableFile(OSError):
    """The path names something that is not read: a subclass says why."""


class NotRegular(UnusableFile):
    """The path names a pipe, a socket or a device, or no file can have this name."""


class OutsideRoot(UnusableFile):
    """The path names a file outside the permitted folder."""


class WrongSize(UnusableFile):
    """The file is larger than the limit."""


def read_regular(path: str | Path, *, follow: bool = True, limit: int | None = None) -> bytes:
    """The bytes of a regular file.

    Args:
        follow: whether to follow a symbolic link; False: it is refused like any other irregular file.
        limit: bytes; a larger file is refused without being read.

    Raises:
        NotRegular: a pipe, a socket, a device, or a name with a null character.
        WrongSize: more than `limit` bytes.
        OSError: missing, a folder, not readable.
    """
    name = os.fspath(path)
    if "\0" in name:
        raise NotRegular(errno.EINVAL, "the name has a null character", name)
    _require_regular(os.stat(name, follow_symlinks=follow), name)  # noqa: PTH116 - some devices act when opened
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    descriptor = os.open(name, flags)
    try:
        about = os.fstat(descriptor)
        _require_regular(about, name)  # it may have been replaced since the first check
        pieces: list[bytes] = []
        length = 0
        at_once = about.st_size + 1 if about.st_size else _PIECE  # the size of some files is not known
        while limit is None or max(about.st_size, length) <= limit:
            piece = os.read(descriptor, at_once)
            if not piece:
                return b"".join(pieces)
            pieces.append(piece)
            length += len(piece)
        raise WrongSize(errno.EFBIG, f"more than {limit} bytes", name)
    finally:
        os.close(descriptor)


def names_file(path: str | Path) -> bool:
    """Whether a path from a document names a file; one that is too long or has a null character does not."""
    return os.path.isfile(path)  # noqa: PTH113 - `Path.is_file` raises OSError for a name that is too long


def names_something(path: str | Path) -> bool:
    """The same for files and folders."""
    return os.path.exists(path)  # noqa: PTH110 - as above


def read_text(path: str | Path, encoding: str = "utf-8", errors: str = "strict") -> str:
    """The text of a regular file of at most `TEXT_LIMIT` bytes; its lines end with `\n`.

    Raises:
        OSError: as `read_regular`.
        UnicodeDecodeError: not in this encoding.
    """
    text = read_regular(path, limit=TEXT_LIMIT).decode(encoding, errors)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _require_regular(about: os.stat_result, name: str) -> None:
    if stat.S_ISDIR(about.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    if not stat.S_ISREG(about.st_mode):
        raise NotRegular(errno.EINVAL, "not a regular file", name)


def require_below(path: str, root: str) -> None:
    """Checks that a path is below a folder, and not in a hidden folder such as `.git`.

    Args:
        path, root: real paths, that is without symbolic links.

    Raises:
        OutsideRoot: it is not.
    """
    if not path.startswith(f"{root.rstrip('/')}/"):
        raise OutsideRoot(errno.EACCES, f"it is outside {root}", path)
    hidden = [name for name in path[len(root) :].split("/") if name.startswith(".") and name not in _SHOWN]
    if hidden:
        raise OutsideRoot(errno.EACCES, f"`{hidden[0]}` is hidden, and hidden files are not shown", path)
