"""The glossary: which Korean word stands for which English term, and whether a page keeps to it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tooling.errors import ToolingError
from tooling.mdbook.pages import Page
from tooling.translations.parity_findings import ParityFinding


class GlossaryError(ToolingError):
    """The glossary file is missing, empty or wrong; a check without it must not pass."""


@dataclass(frozen=True, slots=True)
class Term:
    """One row: an English term, the accepted Korean forms (the first is the main one) and forms to avoid."""

    english: str
    korean: tuple[str, ...]
    rivals: tuple[str, ...] = ()
    note: str = ""
    part: str = ""  # noun, verb, … where it matters


@dataclass(frozen=True, slots=True)
class Glossary:
    """All terms, prepared for searching."""

    path: Path
    terms: tuple[Term, ...]


def load(path: Path) -> Glossary:
    """The glossary of `i18n/ko/glossary.yaml`.

    Raises:
        GlossaryError: no such file, no terms, an unknown key, a form that is both accepted and a rival.
    """
    raise NotImplementedError


def check(source: Page, target: Page, glossary: Glossary) -> list[ParityFinding]:
    """Where the translation leaves the glossary: no accepted form, a rival form, no first-use form.

    Kinds: `glossary-missing` (warning), `glossary-rival` (error), `glossary-first-use` (warning).
    """
    raise NotImplementedError
