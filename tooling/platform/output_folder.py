"""Folders that a command writes as a whole: `tooling book build --output DIR`, `tooling bundle DIR`.

The new folder is written next to the former one and then replaces it. The former one is deleted, so it must
be absent, empty, or contain only files that the same command wrote: `MARKER` lists those files.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from tooling.platform.errors import Location, ToolingError
from tooling.platform.state_file import encoded, read_cached

MARKER = ".tooling-output.json"
_LOCK = "lock"
_NEW = "new"
_OLD = "old"


class OutputFolderRefused(ToolingError):
    """The folder contains files that the command did not write, or it cannot be replaced."""


class _Marker(Struct, frozen=True):
    """MARKER: the command that wrote the folder, and its files."""

    command: str
    files: frozenset[str]


class OutputFolder(Struct, frozen=True):
    """A folder that a command may replace, as checked by `claim`.

    Attributes:
        path: the folder, symbolic links resolved; it need not exist.
        command: the command that writes it, such as `tooling bundle`.
    """

    path: Path
    command: str

    @classmethod
    def claim(cls, folder: Path, command: str, sources: Sequence[Path]) -> OutputFolder:
        """Checks that replacing the folder deletes only former output of the command.

        Args:
            sources: folders that the folder must neither contain nor be inside.

        Raises:
            OutputFolderRefused: replacing it would delete other files.
        """
        try:
            path = folder.resolve()
        except (OSError, RuntimeError) as error:  # a cycle of symbolic links: RuntimeError before Python 3.13
            raise _unusable(folder, str(error)) from error
        hint = "use a folder that neither contains a source folder nor is inside one"
        for source in sources:
            real = source.resolve()
            if _is_inside(path, real):
                raise OutputFolderRefused(
                    f"the output of `{command}` cannot be written to this folder",
                    where=Location(folder),
                    why=f"it is part of {real}, which the command reads",
                    hint=hint,
                )
            if _is_inside(real, path):
                raise OutputFolderRefused(
                    f"the output of `{command}` cannot replace this folder",
                    where=Location(folder),
                    why=f"it contains {real}, which the command reads",
                    hint=hint,
                )
        claimed = cls(path, command)
        claimed._check(path)
        return claimed

    @contextlib.contextmanager
    def replaced(self) -> Iterator[Path]:
        """A new folder that replaces this one when the block ends.

        If the block raises an exception (also KeyboardInterrupt), this folder is unchanged, and no temporary
        folder remains. The next call removes the temporary folders of a killed process, and moves a folder
        back that it had moved.

        Raises:
            OutputFolderRefused: meanwhile a file was added that the command did not write, or the system
                refuses to write or rename the folder.
        """
        with contextlib.ExitStack() as stack:
            try:
                self._clear_abandoned()
                staging = stack.enter_context(self._staging())
                (staging / _NEW).mkdir()
            except OSError as error:
                raise _unusable(self.path, str(error)) from error
            yield staging / _NEW
            try:
                self._mark(staging / _NEW)
                self._exchange(staging)
            except OSError as error:
                raise _unusable(self.path, str(error)) from error

    def _check(self, folder: Path) -> None:
        """Checks that a folder is absent, empty or written by this command.

        Raises:
            OutputFolderRefused: it is not; the message names a file that would be deleted.
        """
        hint = "use a new or an empty folder"
        try:
            found = sorted(_files(folder))
        except FileNotFoundError:
            return
        except OSError as error:
            raise OutputFolderRefused(
                "this is not a folder that can be replaced",
                where=Location(self.path),
                why=error.strerror,
                hint=hint,
            ) from error
        if not found:
            return
        listed = self._listed(folder)
        foreign = [name for name in found if listed is None or name not in listed]
        if listed is None:
            raise OutputFolderRefused(
                f"this folder was not written by `{self.command}`",
                where=Location(self.path),
                why=f"the command replaces its output folder, and `{foreign[0]}` would be deleted",
                hint=f"{hint}; if an earlier version wrote this one, delete it first",
            )
        if foreign:
            raise OutputFolderRefused(
                f"this file was not written by `{self.command}`",
                where=Location(self.path / foreign[0]),
                why="the command replaces its output folder, and the file would be deleted",
                hint=f"move it out of {self.path}, or {hint}",
            )

    def _listed(self, folder: Path) -> frozenset[str] | None:
        """The files of a folder that this command wrote; None if it has no marker of the command."""
        marker = folder / MARKER
        if marker.is_symlink() or not marker.is_file():
            return None
        content = read_cached(marker, _Marker)
        if content is None or content.command != self.command:
            return None
        return content.files | {MARKER}

    def _mark(self, folder: Path) -> None:
        (folder / MARKER).write_bytes(encoded(_Marker(self.command, frozenset(_files(folder))), indent=1))

    def _exchange(self, staging: Path) -> None:
        self._check(self.path)  # the new folder may have taken minutes to write
        if self.path.exists():
            self.path.rename(staging / _OLD)
            self._check(staging / _OLD)  # after the rename, no other program finds it by its name
        (staging / _NEW).rename(self.path)

    @contextlib.contextmanager
    def _staging(self) -> Iterator[Path]:
        """A temporary folder next to this one, locked while it is in use."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        staging = self.path.with_name(f".{self.path.name}.{os.getpid()}-{threading.get_ident()}.tmp")
        staging.mkdir(mode=0o700)
        with (staging / _LOCK).open("w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            lock.write(self.command)
            lock.flush()
            try:
                yield staging
            finally:
                self._clear(staging)

    def _clear_abandoned(self) -> None:
        """Clears the staging folders of processes that were killed."""
        named = re.compile(rf"\.{re.escape(self.path.name)}\.\d+-\d+\.tmp")
        if not self.path.parent.is_dir():
            return
        for staging in [path for path in self.path.parent.iterdir() if named.fullmatch(path.name)]:
            if staging.is_symlink() or staging.lstat().st_uid != os.getuid():
                continue  # in a shared folder, another user may have made it
            if not {path.name for path in staging.iterdir()} <= {_LOCK, _NEW, _OLD}:
                continue
            with contextlib.suppress(OSError), (staging / _LOCK).open("r+", encoding="utf-8") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # refused while its process is alive
                if lock.read() == self.command:
                    self._clear(staging)

    def _clear(self, staging: Path) -> None:
        """Removes a staging folder; a former folder in it is moved back if it was not replaced."""
        old = staging / _OLD
        if old.exists() and not self.path.exists():
            old.rename(self.path)
        shutil.rmtree(staging / _NEW, ignore_errors=True)
        if old.exists():
            try:
                self._check(old)
            except OutputFolderRefused:
                return  # it contains a file that the command did not write: the staging folder stays
            shutil.rmtree(old, ignore_errors=True)
        (staging / _LOCK).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            staging.rmdir()


def _files(folder: Path) -> Iterator[str]:
    """All files and symbolic links below a folder, relative to it, with forward slashes.

    Files that Python and macOS create automatically are omitted.

    Raises:
        OSError: the folder, or one below it, cannot be read.
    """
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from (f"{entry.name}/{name}" for name in _files(Path(entry.path)))
            elif entry.name != ".DS_Store" and not (
                folder.name == "__pycache__" and entry.name.endswith(".pyc")
            ):
                yield entry.name


def _is_inside(path: Path, folder: Path) -> bool:
    """Whether a path is the folder or below it; paths that differ in case may name the same folder."""
    return any(each == folder or _same(each, folder) for each in (path, *path.parents))


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _unusable(folder: Path, why: str) -> OutputFolderRefused:
    return OutputFolderRefused(
        "the output folder cannot be written", where=Location(folder), why=why, hint="use another folder"
    )
