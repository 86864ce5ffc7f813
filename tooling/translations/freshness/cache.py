"""What was found about a pair of texts, remembered by their ids, so that a second run only looks at the rest.

An entry is a pure function of three texts and of the code that compares them; the file's name carries the
code's version. A broken file counts as empty.
"""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path

from msgspec import Struct, field

from tooling.atomic_write import write_atomically
from tooling.state_file import encoded, read_cached
from tooling.translations.model import ChangeClass, SectionChange

FOLDER = ".cache/translations"
# The modules and packages that make an entry, below `tooling`: a change to one of them outdates every entry.
_COMPARING = (
    "translations/diff",
    "translations/freshness/description.py",
    "mdbook/includes.py",
    "mdbook/markdown.py",
)


class Difference(Struct, frozen=True, array_like=True):
    """What comparing the pinned and today's source with the translation found."""

    classes: frozenset[ChangeClass]
    sections: tuple[SectionChange, ...]
    pin_may_be_old: bool


def _version() -> str:
    digest = hashlib.sha1(usedforsecurity=False)
    package = Path(__file__).parents[2]
    for name in _COMPARING:
        path = package / name
        for module in sorted(path.glob("*.py")) if path.is_dir() else [path]:
            digest.update(module.read_bytes())
    return digest.hexdigest()[:12]


class Cache(Struct):
    """Findings by the ids of old source, new source and translation.

    Attributes:
        path: its file, None to remember nothing beyond the run.
        hits: how many differences came from it.
    """

    path: Path | None
    hits: int = 0
    _old: dict[str, Difference] = field(default_factory=dict)
    _used: dict[str, Difference] = field(default_factory=dict)
    _fresh: bool = False

    @classmethod
    def load(cls, base: Path, language: str) -> Cache:
        """The cache of a checkout; an unreadable one is as good as none: everything can be found again."""
        path = base / FOLDER / f"{language}.{_version()}.json"
        return cls(path, _old=read_cached(path, dict[str, Difference]) or {})

    def get(self, old: str, new: str, target: str) -> Difference | None:
        key = f"{old} {new} {target}"
        difference = self._old.get(key)
        if difference is not None:
            self._used[key] = difference
            self.hits += 1
        return difference

    def put(self, old: str, new: str, target: str, difference: Difference) -> None:
        self._used[f"{old} {new} {target}"] = difference
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
