"""The two trees of a run, and how reports name their files."""

from __future__ import annotations

import os
import shlex
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from tooling.translations.settings import LanguagePolicy, Profile

SOURCE = "book/src"
TRANSLATION = "i18n/{lang}/book/src"
IGNORES = "i18n/{lang}/ignore.toml"
GLOSSARY = "i18n/{lang}/glossary.yaml"


_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0))}


def visible(name: str) -> str:
    """A file name as it is shown: control characters are written as escapes, such as `a\\x0ab.md`."""
    return name if name.isprintable() else name.translate(_CONTROLS)


@lru_cache(maxsize=64)
def _relative(path: Path, base: Path) -> str:
    return Path(os.path.relpath(path, base)).as_posix()


class Roots(Struct, frozen=True):
    """The folders of the pages.

    Attributes:
        base: the folder that reports name files from (the checkout's top where there is one).
        source: the folder of the source pages.
        target: the folder of the translated pages.
        language: the translation's code, such as `ko`.
        policy: what is expected of the translation.
        profile: what the pages are written for.
        marker: the key of the front matter that holds the commit; None: a comment (see `marker`).
        options: what the reader typed to select these trees; commands in hints repeat it.
    """

    base: Path
    source: Path
    target: Path
    language: str
    policy: LanguagePolicy = LanguagePolicy.COMPLETE
    profile: Profile = Profile.MDBOOK
    marker: str | None = None
    options: tuple[str, ...] = ()

    @classmethod
    def under(
        cls,
        base: Path,
        language: str,
        source: str = SOURCE,
        target: str = TRANSLATION,
        *,
        policy: LanguagePolicy = LanguagePolicy.COMPLETE,
        profile: Profile = Profile.MDBOOK,
        marker: str | None = None,
        options: tuple[str, ...] = (),
    ) -> Roots:
        """The roots below `base`; `{lang}` in a path is replaced by the language."""
        return cls(
            base,
            base / source.replace("{lang}", language),
            base / target.replace("{lang}", language),
            language,
            policy,
            profile,
            marker,
            options,
        )

    def name(self, path: Path) -> str:
        """A file as reports show it: from `base`, with forward slashes."""
        return _relative(path, self.base)

    def source_name(self, key: str) -> str:
        return f"{self.name(self.source)}/{visible(key)}"

    def target_name(self, key: str) -> str:
        return f"{self.name(self.target)}/{visible(key)}"

    @property
    def growing(self) -> bool:
        """Whether pages without a translation are expected."""
        return self.policy is LanguagePolicy.GROWING

    def command(self, action: str, *arguments: str) -> str:
        """A command of `check-translations` on these trees, as it is typed.

        Args:
            arguments: words that need no quotes, or are quoted already, such as `target_argument`.
        """
        quoted = (shlex.quote(option) for option in self.options)
        return " ".join(("tooling", "check-translations", action, *quoted, *arguments))

    def target_argument(self, key: str) -> str:
        """The translated page as an argument of a shell command, for hints."""
        return shlex.quote(self.target_name(key))
