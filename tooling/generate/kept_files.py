"""Copies of the reader's files, made before a command overwrites one."""

from __future__ import annotations

import datetime
from pathlib import Path

from tooling.platform.errors import Location, ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.platform.regular_files import read_regular
from tooling.text import Text


class CopyFailed(ToolingError):
    """A file could not be copied, so it is not overwritten."""

    exit_code = ExitCode.NOT_POSSIBLE


def keep_copy(path: Path) -> Path:
    """Copies a file to `NAME.2026-11-22-143000` in the same folder; an earlier copy is never overwritten.

    The suffix hides the copy from the compiler, which reads every `.mojo` file of a package.

    Raises:
        CopyFailed: it cannot be read or written.
    """
    moment = datetime.datetime.now().astimezone().strftime("%Y-%m-%d-%H%M%S")
    for count in range(1, 100):
        copy = path.with_name(f"{path.name}.{moment}{f'-{count}' if count > 1 else ''}")
        try:
            content = read_regular(path)
            with copy.open("xb") as file:
                file.write(content)
        except FileExistsError:
            continue
        except OSError as error:
            copy.unlink(missing_ok=True)
            raise CopyFailed(
                Text("the file is left as it is, because it cannot be copied"),
                where=Location(path),
                why=f"{copy.name}: {error.strerror or error}",
                hint=Text("free space there, or copy the file yourself"),
            ) from error
        return copy
    raise CopyFailed(
        Text("there are too many copies of this second"), where=Location(path), hint=Text("run it again")
    )
