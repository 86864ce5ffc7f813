"""What was found about a pair of texts, cached by their ids, so that a second run only compares the rest.

A difference is a pure function of three texts and of the code that compares them.
"""

from __future__ import annotations

from msgspec import Struct

from tooling.translations.cache import Cache, load_cache
from tooling.translations.model import ChangeClass, SectionChange
from tooling.translations.roots import Roots

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


def load_differences(roots: Roots) -> Cache[Difference]:
    """The differences by `OLD NEW TARGET`, the ids of old source, new source and translation."""
    return load_cache(roots.base, roots.language, Difference, _COMPARING)
