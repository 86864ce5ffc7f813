"""Results of earlier runs, kept in files below `.cache/translations`.

A file holds entries of one type by key. Its name carries a digest of the modules that make the entries, so a
change to one of them outdates every entry. An unreadable file counts as empty: everything can be found again.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Generic, TypeVar

from msgspec import Struct, field

from tooling.platform.atomic_write import write_atomically
from tooling.platform.state_file import encoded, read_cached

FOLDER = ".cache/translations"

Entry = TypeVar("Entry")


class Cache(Struct, Generic[Entry]):
    """Entries by key.

    Attributes:
        path: its file, None to remember nothing beyond the run.
        hits: how many entries were used.
    """

    path: Path | None
    hits: int = 0
    _old: dict[str, Entry] = field(default_factory=dict)
    _used: dict[str, Entry] = field(default_factory=dict)
    _fresh: bool = False

    def get(self, key: str) -> Entry | None:
        """The entry of an earlier run; `use` counts it as used."""
        return self._old.get(key)

    def entries(self) -> Iterable[Entry]:
        """The entries of earlier runs."""
        return self._old.values()

    def use(self, key: str, entry: Entry) -> None:
        """Keeps an entry of an earlier run for the next one."""
        self._used[key] = entry
        self.hits += 1

    def put(self, key: str, entry: Entry) -> None:
        self._used[key] = entry
        self._fresh = True

    def save(self, *, whole: bool) -> None:
        """Writes what was found; a folder that cannot be written costs speed, nothing else.

        Args:
            whole: the run saw every page, so that what it did not use can be forgotten.
        """
        if self.path is None or not self._fresh:
            return
        entries = self._used if whole else self._old | self._used
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            (self.path.parent / ".gitignore").write_text("*\n", "ascii")
            for outdated in self.path.parent.glob(f"{self.path.name.partition('.')[0]}.*.json"):
                if outdated != self.path:
                    outdated.unlink(missing_ok=True)
            write_atomically(self.path, encoded(entries))


def load_cache(base: Path, name: str, entry: type[Entry], modules: Iterable[str]) -> Cache[Entry]:
    """The cache of a checkout.

    Args:
        base: the checkout's top folder.
        name: the file's name up to the first period.
        modules: the modules and packages that make an entry, as paths below `tooling`.
    """
    path = base / FOLDER / f"{name}.{_version(modules)}.json"
    return Cache(path, _old=read_cached(path, dict[str, entry]) or {})  # type: ignore[valid-type]


def _version(modules: Iterable[str]) -> str:
    digest = hashlib.sha1(usedforsecurity=False)
    package = Path(__file__).parents[1]
    for name in modules:
        path = package / name
        for module in sorted(path.glob("*.py")) if path.is_dir() else [path]:
            digest.update(module.read_bytes())
    return digest.hexdigest()[:12]
