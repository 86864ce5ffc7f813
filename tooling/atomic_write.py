"""Files that are written whole or not at all: somebody may be reading them, or write them too."""

from __future__ import annotations

import os
import threading
from pathlib import Path


def write_atomically(path: Path, content: bytes, mode: int | None = None) -> None:
    """Writes a file of the tool's own, with the folders that it lies in; one that is there is replaced.

    Args:
        mode: its permissions; None: the usual ones.

    Raises:
        OSError: it cannot be written; nothing is left behind.
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
    """A new file with these bytes in the folder of `path`, so that renaming it is one step.

    Raises:
        OSError: it cannot be written; nothing is left behind.
    """
    # Of this thread's own name; `tempfile` would take longer to import than a small run to finish.
    fresh = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        fresh.write_bytes(content)
    except OSError:
        fresh.unlink(missing_ok=True)  # a full disk leaves a piece behind
        raise
    return fresh
