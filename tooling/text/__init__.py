"""Sentences and their languages: English in the code, every other language in a catalogue.

A `Text` is an English sentence with facts. It is passed on unrendered; the code that writes it to a screen,
a page or a file renders it in a language. Translations are GNU gettext catalogues, one file for each language
(`ko.po`), which any gettext editor can edit. A sentence that a catalogue lacks is shown in English, and
`tooling check` reports it.

Modules, in the order in which they may import one another: `width`, `colours`, `catalogues`,
`particles`, `sentences`, `plain`, `extraction`. Imports nothing else of `tooling`.
"""

from __future__ import annotations

from tooling.text.catalogues import ENGLISH, known_language, languages
from tooling.text.sentences import (
    Code,
    JoinedText,
    LocalText,
    Sentence,
    Text,
    as_sentence,
    in_language,
    joined,
)

__all__ = [
    "ENGLISH",
    "Code",
    "JoinedText",
    "LocalText",
    "Sentence",
    "Text",
    "as_sentence",
    "in_language",
    "joined",
    "known_language",
    "languages",
]
