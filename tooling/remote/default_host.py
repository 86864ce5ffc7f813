"""The machine that runs use when none is named; `tooling targets --on HOST --default` remembers it."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from tooling.platform.atomic_write import write_atomically
from tooling.platform.errors import Location, ToolingError
from tooling.platform.regular_files import read_regular
from tooling.text import Text

_LONGEST = 1024  # bytes
_NOT_KEPT = Text("the machine cannot be remembered")
_ANOTHER_FOLDER = Text("set PUZZLE_ON instead, or PUZZLE_STATE_DIR to a writable folder")


class NotRemembered(ToolingError):
    """The file with the machine cannot be written or removed."""


def default_host() -> str:
    """The machine, as `--on` names it; empty: this one."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return read_regular(_path(), limit=_LONGEST).decode("utf-8").strip()
    return ""


def remember_host(host: str) -> None:
    """Keeps a machine as the one that runs use; an empty name is this machine.

    Raises:
        NotRemembered: that is not possible.
    """
    path = _path()
    try:
        if host:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, f"{host}\n".encode())
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise NotRemembered(
            _NOT_KEPT, where=Location(path), why=error.strerror or str(error), hint=_ANOTHER_FOLDER
        ) from error


def _path() -> Path:
    named = os.environ.get("PUZZLE_STATE_DIR")
    if named:
        return Path(named) / ".default-host"
    base = os.environ.get("XDG_STATE_HOME")
    parent = Path(base) if base and Path(base).is_absolute() else Path("~/.local/state").expanduser()
    return parent / "gpu-puzzle-lab" / "default-host"
