"""Writes a page back atomically, and never over a concurrent edit."""

from __future__ import annotations

from pathlib import Path

from tooling.platform.atomic_write import write_temporary
from tooling.platform.errors import Location, ToolingError
from tooling.platform.regular_files import TEXT_LIMIT, read_regular
from tooling.text import Text


class ConcurrentEditError(ToolingError):
    """The file changed while it was being worked on."""


def replace_page(path: Path, before: bytes, after: bytes) -> None:
    """Replaces the bytes of a page, keeping its permissions; a link is followed.

    Raises:
        ConcurrentEditError: the file no longer holds `before`.
        OSError: the folder cannot be written.
    """
    real = path.resolve()
    fresh = write_temporary(real, after)
    try:
        fresh.chmod(real.stat().st_mode & 0o7777)
        # As late as possible: an editor may have saved since the page was read.
        if read_regular(real, limit=TEXT_LIMIT) != before:
            raise ConcurrentEditError(
                Text("the page changed while its marker was being written"),
                where=Location(path),
                why=Text("writing now would lose that edit"),
                hint=Text("run the command again"),
            )
        fresh.replace(real)
    finally:
        fresh.unlink(missing_ok=True)
