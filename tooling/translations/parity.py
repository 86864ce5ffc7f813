"""Does a translated page say what its source says, in the same shape?"""

from __future__ import annotations

from tooling.mdbook.books import Library
from tooling.mdbook.pages import Page
from tooling.translations.parity_findings import ParityFinding, Severity

__all__ = ["ParityFinding", "Severity", "compare"]


def compare(source: Page, target: Page, library: Library | None = None) -> list[ParityFinding]:
    """The differences between a page and its translation, in the order of the translated page's lines.

    Compare with the source **at the commit that the translation names**: a difference there is a mistake of
    the translation, while a later change of the source is drift.

    Args:
        source: the source page (its text may come from history).
        target: the translated page.
        library: the files of both books; with it, links, fragments and images of the translated page are
            followed. Make one per run and pass it to every call: it remembers what it read.
    """
    raise NotImplementedError
