"""Atomic writes: concurrent readers and writers never see an incomplete file."""

from __future__ import annotations

import os
import threading
from pathlib import Path


def write_atomically(path: Path, content: bytes, mode: int | None = None) -> None:
    """Writes a file, creating its parent folders; an existing file is replaced.

    Args:
        mode: its permissions; None: the default ones.

    Raises:
        OSError: it cannot be written; no temporary file remains.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = write_temporary(path, content)
    try:
        if mode is not None:
            fresh.chmod(mode)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def write_temporary(path: Path, content: bytes) -> Path:
    """A temporary file with these bytes in the folder of `path`, so that renaming it is atomic.

    It is a new file, also where another user has put a link of its name into a shared folder.

    Raises:
        OSError: it cannot be written; no temporary file remains.
    """
    # A name unique to this thread: importing `tempfile` would take longer than a small run.
    fresh = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    fresh.unlink(missing_ok=True)
    try:
        with fresh.open("xb") as file:
            file.write(content)
    except OSError:
        fresh.unlink(missing_ok=True)  # on a full disk it is incomplete
        raise
    return fresh
