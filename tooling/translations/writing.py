"""Writing a page back: whole or not at all, and never over somebody else's edit."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from tooling.errors import Location, ToolingError


class ConcurrentEditError(ToolingError):
    """The file changed while it was being worked on."""


def replace_page(path: Path, before: bytes, after: bytes) -> None:
    """Replaces the bytes of a page, keeping its permissions; a link is followed.

    Raises:
        ConcurrentEditError: the file no longer holds `before`.
        OSError: the folder cannot be written.
    """
    real = path.resolve()
    handle, name = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}.", suffix=".tmp")
    fresh = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(after)
        fresh.chmod(real.stat().st_mode & 0o7777)
        # As late as can be: an editor may have saved since the page was read.
        if real.read_bytes() != before:
            raise ConcurrentEditError(
                "the page changed while its marker was being written",
                where=Location(path),
                why="writing now would lose that edit",
                hint="run the command again",
            )
        fresh.replace(real)
    finally:
        fresh.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Writes a report whole or not at all: the book may be reading it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    fresh = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        fresh.chmod(0o644)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
