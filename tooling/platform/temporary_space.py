"""Whether the temporary folder takes files: a full one must not be blamed on a program that runs there."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from pathlib import Path

from tooling.platform.errors import ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.text import Text

MACHINE_ERRORS = frozenset((
    *(errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM),
    *(errno.EFBIG, errno.EMFILE, errno.ENFILE, errno.ENOMEM),
))  # fmt: skip
"""Errors of the system that no program and no defect of the tool causes."""

_PROBE = 1 << 16  # bytes: more than the pages that a full file system may still have
_NOT_WRITTEN = Text("the temporary folder {path} cannot be written")
_FREE = Text("free space there, or name another folder: `export TMPDIR=FOLDER`")


class NoTemporarySpace(ToolingError):
    """The temporary folder is full, or cannot be written."""

    exit_code = ExitCode.NOT_POSSIBLE


def temporary_root() -> Path:
    """The folder for temporary files, also where none can be written."""
    try:
        return Path(tempfile.gettempdir())
    except FileNotFoundError:  # Python has tried all of them
        return Path(os.environ.get("TMPDIR") or "/tmp")


def no_space(error: OSError) -> NoTemporarySpace:
    """The error of a temporary file that could not be written."""
    root = temporary_root()
    why = error.strerror or str(error)
    return NoTemporarySpace(_NOT_WRITTEN.of(path=root), why=why, hint=_FREE)


def require_space(folder: Path) -> None:
    """Writes a small file into a temporary folder, and removes it.

    Raises:
        NoTemporarySpace: that does not work.
    """
    probe = folder / f".space-{os.getpid()}"
    try:
        probe.write_bytes(bytes(_PROBE))
    except OSError as error:
        raise no_space(error) from error
    finally:
        with contextlib.suppress(OSError):
            probe.unlink()
