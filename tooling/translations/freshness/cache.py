"""What was found about a pair of texts, remembered by their ids, so that a second run only looks at the rest.

An entry is a pure function of three texts and of the code that compares them; the file's name carries the
code's version. A broken file counts as empty.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from tooling.atomic_write import write_atomically
from tooling.translations.model import ChangeClass, LineRange, SectionChange

FOLDER = ".cache/translations"
# The modules and packages that make an entry, below `tooling`: a change to one of them outdates every entry.
_COMPARING = (
    "translations/diff",
    "translations/freshness/description.py",
    "mdbook/includes.py",
    "mdbook/markdown.py",
)


class Difference(Struct, frozen=True):
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
    _old: dict[str, Any] = field(default_factory=dict)
    _used: dict[str, Any] = field(default_factory=dict)
    _fresh: bool = False

    @classmethod
    def load(cls, base: Path, language: str) -> Cache:
        """The cache of a checkout; an unreadable one is as good as none: everything can be found again."""
        path = base / FOLDER / f"{language}.{_version()}.json"
        with contextlib.suppress(OSError, ValueError):
            entries = json.loads(path.read_bytes())
            if isinstance(entries, dict):
                return cls(path, _old=entries)
        return cls(path)

    def get(self, old: str, new: str, target: str) -> Difference | None:
        key = f"{old} {new} {target}"
        row = self._old.get(key)
        if row is None:
            return None
        try:
            difference = _decode(row)
        except (TypeError, ValueError, IndexError):
            return None
        self._used[key] = row
        self.hits += 1
        return difference

    def put(self, old: str, new: str, target: str, difference: Difference) -> None:
        self._used[f"{old} {new} {target}"] = _encode(difference)
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
            text = json.dumps(entries, ensure_ascii=False, separators=(",", ":"))
            write_atomically(self.path, text.encode())


def _encode(difference: Difference) -> list[Any]:
    rows = [
        [
            one.ordinal,
            one.title,
            sorted(one.classes),
            one.blocks,
            _encode_range(one.source),
            _encode_range(one.target),
            one.target_ordinal,
            one.precise,
            one.approximate,
            one.moved,
        ]
        for one in difference.sections
    ]
    return [sorted(difference.classes), rows, difference.pin_may_be_old]


def _decode(row: list[Any]) -> Difference:
    classes, rows, pin_may_be_old = row
    return Difference(
        frozenset(ChangeClass(name) for name in classes),
        tuple(
            SectionChange(
                ordinal,
                title,
                frozenset(ChangeClass(name) for name in kinds),
                blocks_,
                _decode_range(source),
                _decode_range(target),
                *rest,
            )
            for ordinal, title, kinds, blocks_, source, target, *rest in rows
        ),
        pin_may_be_old,
    )


def _encode_range(lines: LineRange | None) -> list[int] | None:
    return None if lines is None else [lines.first, lines.last]


def _decode_range(row: list[int] | None) -> LineRange | None:
    return None if row is None else LineRange(*row)
