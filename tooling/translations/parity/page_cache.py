"""What comparing a page with its source found, cached with the facts about files that it depends on."""

from __future__ import annotations

import hashlib

from msgspec import Struct, field

from tooling.mdbook.files import Files
from tooling.platform.state_file import encoded
from tooling.translations.cache import Cache, load_cache
from tooling.translations.findings import TranslationFinding
from tooling.translations.freshness.include_drift import IncludeUse
from tooling.translations.model import PageStatus
from tooling.translations.roots import Roots

_COMPARING = (
    "platform/errors.py",
    "platform/regular_files.py",
    "mdbook",
    "translations",
    "translations/parity",
)


class PageResult(Struct, frozen=True):
    """The findings and includes of one page, and the facts that they follow from; see `Files`."""

    key: str
    findings: tuple[TranslationFinding, ...]
    uses: tuple[IncludeUse, ...]
    facts: dict[str, str]


class CachedResult(Struct, frozen=True):
    """A result with digests of the glossary, None without one, and of what else it was computed from."""

    glossary: str | None
    inputs: str
    result: PageResult


def load_results(roots: Roots) -> Cache[CachedResult]:
    """The results of earlier runs by page key."""
    return load_cache(roots.base, f"{roots.language}-parity", CachedResult, _COMPARING)


class ResultFinder(Struct):
    """Finds the results that are still valid.

    Attributes:
        glossary: the digest of the glossary's text; None: pages are not compared with one.
    """

    cache: Cache[CachedResult]
    roots: Roots
    glossary: str | None
    files: Files = field(default_factory=Files)

    @property
    def knows_glossary(self) -> bool:
        """Whether an earlier run could use the same glossary."""
        return self.glossary is not None and any(
            entry.glossary == self.glossary for entry in self.cache.entries()
        )

    def find(self, status: PageStatus, pinned: str | None) -> PageResult | None:
        """The result for a page, if all that it depends on is as it was.

        Args:
            pinned: the id of the text that the page is compared with instead of today's.
        """
        known = self.cache.get(status.key)
        if known is None or known.glossary != self.glossary or known.inputs != self._inputs(status, pinned):
            return None
        if not self.files.confirms(known.result.facts):
            return None
        self.cache.use(status.key, known)
        return known.result

    def keep(self, status: PageStatus, pinned: str | None, result: PageResult) -> None:
        """Adds a new result to the cache."""
        entry = CachedResult(self.glossary, self._inputs(status, pinned), result)
        self.cache.put(status.key, entry)

    def _inputs(self, status: PageStatus, pinned: str | None) -> str:
        page = (status.key, status.freshness, status.source, status.target, status.pin, status.canonical)
        return digest_of(encoded((self.roots, page, pinned)))


def digest_of(data: bytes) -> str:
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()
