"""The build cache: content-addressed folders, created atomically.

Layout under the root: `builds/KEY/` (finished; `cache_key` computes the keys), `partial/` (being written),
`locks/KEY` (one builder per key), `linker/` (the substitute for a missing C compiler), `sources/` (programs
that the tool wrote), `packages/` (scripts that provide built Mojo packages), `graphs/` (MAX's compiled graphs
for the simulated GPU, in MAX's format).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from tooling.platform.atomic_write import write_atomically
from tooling.platform.errors import Location, ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.text import ENGLISH, Sentence, Text

_ABANDONED_AFTER = 3600.0  # seconds; a build takes seconds, so an older partial folder is abandoned
_MOST_ENTRIES = 4000
_KEY = re.compile(r"[0-9a-f]{40}")  # see `tooling.toolchain.cache_key`
_PARTIAL = "build-"
_CONTENTS = ("builds", "graphs", "linker", "packages", "refused", "simulator", "sources")


_WAITS = Text("note: waiting for another process that builds the same program ({path})")
_OPEN_TO_OTHERS = Text("other users can change the build cache {path}; {used} is used instead")


class CacheUnusable(ToolingError):
    """No folder for builds is writable, not even a temporary one."""

    exit_code = ExitCode.NOT_POSSIBLE


class BuildCache(Struct, frozen=True):
    """A folder of finished builds, addressed by the hash of their inputs.

    Attributes:
        note: why it is not the folder that was asked for.
        language: the language in which it says that it waits for another process.
    """

    root: Path
    writable: bool = True
    note: Sentence | None = None
    language: str = ENGLISH

    def entry(self, key: str) -> Path:
        return self.root / "builds" / key

    def find(self, key: str) -> Path | None:
        """The finished build with this key, if there is one."""
        entry = self.entry(key)
        return entry if (entry / "complete").is_file() else None

    @contextlib.contextmanager
    def locked(self, key: str) -> Iterator[None]:
        """Locks the key against other processes; the system releases the lock when its process ends."""
        import fcntl  # noqa: PLC0415 - not on every system; only building needs it

        path = self.root / "locks" / key
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                sys.stderr.write(_WAITS.of(path=path).render(self.language) + "\n")
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    @contextlib.contextmanager
    def partial(self) -> Iterator[Path]:
        """An empty folder to build in; removed unless `publish` has moved it."""
        folder = Path(tempfile.mkdtemp(prefix=_PARTIAL, dir=self._partial_folder()))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def publish(self, folder: Path, key: str) -> Path:
        """Moves a built folder to its key atomically, so that no reader sees an incomplete one."""
        (folder / "complete").write_bytes(b"")
        entry = self.entry(key)
        entry.parent.mkdir(parents=True, exist_ok=True)
        if entry.exists():  # damaged: `find` would have returned a finished one
            shutil.rmtree(entry, ignore_errors=True)
        folder.replace(entry)
        return entry

    def has_passed(self, key: str, name: str) -> bool:
        """Whether `note_pass` was called for this build and name."""
        return (self.entry(key) / "passed" / name).is_file()

    def note_pass(self, key: str, name: str) -> None:
        """Records that a built program has passed, together with the build; not in a cache that is full."""
        with contextlib.suppress(OSError):
            folder = self.entry(key) / "passed"
            folder.mkdir(exist_ok=True)
            (folder / name).write_bytes(b"")

    def sweep(self) -> None:
        """Removes the folders of killed builds, and the oldest entries if there are too many.

        PUZZLE_CACHE_DIR may name a folder with other contents: only folders with names of the cache are
        removed.
        """
        now = time.time()
        with contextlib.suppress(OSError):
            for folder in (self.root / "partial").glob(f"{_PARTIAL}*"):
                with contextlib.suppress(OSError):  # another process may remove it at the same time
                    if now - folder.stat().st_mtime > _ABANDONED_AFTER:
                        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            entries = [path for path in (self.root / "builds").iterdir() if _KEY.fullmatch(path.name)]
            if len(entries) > _MOST_ENTRIES:
                entries.sort(key=_age_mark)
                for entry in entries[: len(entries) // 4]:
                    shutil.rmtree(entry, ignore_errors=True)

    def usage(self) -> tuple[int, int]:
        """The number of finished builds, and the bytes of everything that `empty` removes."""
        entries = [path for path in (self.root / "builds").glob("*") if _KEY.fullmatch(path.name)]
        size = 0
        for name in _CONTENTS:
            for folder, _, files in os.walk(self.root / name):
                for file in files:
                    with contextlib.suppress(OSError):
                        size += os.lstat(f"{folder}/{file}").st_size
        return len(entries), size

    def empty(self) -> None:
        """Removes all finished builds; one that is being built is not disturbed.

        Raises:
            OSError: something cannot be removed.
        """
        for name in _CONTENTS:
            folder = self.root / name
            # Renamed first, so that no program finds half of it.
            if folder.is_dir() and not folder.is_symlink():
                doomed = Path(tempfile.mkdtemp(prefix=_PARTIAL, dir=self._partial_folder()))
                shutil.rmtree(folder.replace(doomed / name).parent)

    def _partial_folder(self) -> Path:
        folder = self.root / "partial"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def discard(self, entry: Path) -> None:
        """Removes a damaged entry."""
        shutil.rmtree(entry, ignore_errors=True)

    def store_program(self, origin: Path, texts: Mapping[str, str]) -> Path:
        """Writes a generated program (a mutant) to a stable path, so that its build is found again.

        Args:
            origin: the main file of the program that it was generated from.
            texts: its files by name below the program's folder, such as p15.mojo or op/conv1d.mojo, the main
                one first.

        Returns:
            The path of its main file.
        """
        contents = {name: text.encode() for name, text in texts.items()}
        digest = hashlib.sha256(str(origin).encode() + b"\0" + b"\0".join(contents.values())).hexdigest()
        folder = self.root / "sources" / digest[:32]
        for name, content in contents.items():
            path = folder / name
            if path.is_symlink() or not path.is_file() or path.read_bytes() != content:
                write_atomically(folder / name, content)
        return folder / next(iter(contents))


def _age_mark(entry: Path) -> float:
    try:
        return entry.stat().st_mtime
    except OSError:
        return 0.0


def default_cache_root() -> Path:
    """PUZZLE_CACHE_DIR, or else `gpu-puzzle-lab` in the user's cache folder."""
    named = os.environ.get("PUZZLE_CACHE_DIR")
    if named:
        return Path(named).absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    parent = Path(base) if base and Path(base).is_absolute() else Path("~/.cache").expanduser()
    return parent / "gpu-puzzle-lab"


def open_cache(root: Path | None = None, *, language: str = ENGLISH) -> BuildCache:
    """The cache at `root` (default: the user's). A read-only one still provides finished builds.

    A folder that another user can change is not used: what is found there would be executed.
    """
    root = root or default_cache_root()
    writable = _can_write(root)
    if not _is_safe(root):
        fallback = fallback_cache()
        note = _OPEN_TO_OTHERS.of(path=root, used=fallback.root)
        return BuildCache(fallback.root, note=note, language=language)
    return BuildCache(root, writable=writable, language=language)


def _is_safe(root: Path) -> bool:
    """Whether only this user or root can change a folder and has done so; one of this user is made so."""
    try:
        status = root.stat()
    except OSError:  # it does not exist, and cannot be created
        return True
    open_to_others = bool(status.st_mode & (stat.S_IWGRP | stat.S_IWOTH))
    if status.st_uid == os.getuid():
        if open_to_others:
            if _holds_files_of_others(root):
                return False
            with contextlib.suppress(OSError):
                root.chmod(status.st_mode & ~(stat.S_IWGRP | stat.S_IWOTH))
        return True
    return status.st_uid == 0 and not open_to_others


def _holds_files_of_others(root: Path) -> bool:
    """Whether other users have put something into a folder that they could change."""
    own = (os.getuid(), 0)
    try:
        return any(
            Path(folder, name).lstat().st_uid not in own
            for folder, folders, files in os.walk(root)
            for name in (*folders, *files)
        )
    except OSError:  # it changes just now
        return True


def usable_cache(*, language: str = ENGLISH) -> BuildCache:
    """The user's cache, or the temporary one if that is not writable.

    Raises:
        CacheUnusable: as `fallback_cache`.
    """
    cache = open_cache(language=language)
    return cache if cache.writable else fallback_cache(language=language)


def fallback_cache(*, language: str = ENGLISH) -> BuildCache:
    """A cache of this user in the temporary folder, if the default one is not writable.

    Raises:
        CacheUnusable: the temporary folder is not writable either, or the cache belongs to another user.
    """
    root = Path(tempfile.gettempdir()) / f"gpu-puzzle-lab-{os.getuid()}"
    try:
        root.mkdir(mode=0o700, exist_ok=True)
        owner = root.lstat().st_uid
    except OSError as error:
        raise CacheUnusable(
            Text("no folder for the build cache is writable"),
            where=Location(root),
            why=str(error),
            hint=Text("set PUZZLE_CACHE_DIR to a writable folder"),
        ) from error
    if owner != os.getuid() or root.is_symlink():
        raise CacheUnusable(
            Text("the temporary build cache belongs to another user"),
            where=Location(root),
            hint=Text("set PUZZLE_CACHE_DIR to a folder of your own"),
        )
    return BuildCache(root, language=language)


def _can_write(root: Path) -> bool:
    try:
        if not root.is_dir():
            root.parent.mkdir(parents=True, exist_ok=True)
            root.mkdir(mode=0o700, exist_ok=True)
        return os.access(root, os.W_OK | os.X_OK)
    except OSError:
        return False
