"""Writing a page back: whole or not at all, and never over somebody else's edit."""

from __future__ import annotations

import os
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
    fresh = _write_beside(real, after)
    try:
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
    """Writes a file of the tool's own whole or not at all: somebody may be reading it.

    Raises:
        OSError: the folder cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = _write_beside(path, text.encode())
    try:
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def _write_beside(path: Path, data: bytes) -> Path:
    """A new file with these bytes in the same folder, so that renaming it is one step."""
    # Of the process's own name; `tempfile` would take longer to import than a small run to finish.
    fresh = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        fresh.write_bytes(data)
    except OSError:
        fresh.unlink(missing_ok=True)  # a full disk leaves a piece behind
        raise
    return fresh
