"""Sentences that know their facts and not yet their language."""

from __future__ import annotations

from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from tooling.text.catalogues import ENGLISH, translated

COUNT = "count"
"""The fact that decides between singular and plural."""


class Text(Struct, frozen=True):
    """An English sentence of the tool, translated by the catalogues.

    Attributes:
        english: the sentence; braces name facts (`{kernel}`), with a format where one is needed (`{n:,}`).
        plural: the sentence for another `count` than one; empty where the count does not matter.
        context: tells two sentences apart that are alike in English and differ in another language.
        facts: what `of` filled in, by name; a fact may be a sentence itself.
    """

    english: str
    plural: str = ""
    context: str = ""
    facts: tuple[tuple[str, Any], ...] = ()

    def of(self, **facts: object) -> Text:
        """The sentence with these facts, besides those that it has."""
        return replace(self, facts=(*self.facts, *facts.items()))

    def render(self, language: str) -> str:
        """The sentence in a language; in English where it is not translated.

        A sentence without facts is shown as it is, braces and all.

        Raises:
            KeyError: there is no such language, or a fact that the sentence names is missing.
        """
        facts = {name: in_language(fact, language) for name, fact in self.facts}
        count = facts.get(COUNT, 1)
        sentence = translated(language, self.english, self.plural, count, self.context)
        return sentence.format_map(facts) if facts else sentence


class LocalText(Struct, frozen=True):
    """A text that its author wrote in several languages, for example the title of a puzzle.

    Attributes:
        versions: language and text, English first.
    """

    versions: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, **versions: str) -> LocalText:
        """The text by language: `LocalText.of(en="Map", ko="맵")`."""
        return cls(tuple(versions.items()))

    def render(self, language: str) -> str:
        """The text in a language; in English where its author wrote none."""
        versions = dict(self.versions)
        return versions.get(language, versions[ENGLISH])


Sentence: TypeAlias = Text | LocalText


def in_language(fact: Any, language: str) -> Any:
    """A fact as it is shown: a sentence rendered in the language, anything else unchanged."""
    return fact.render(language) if isinstance(fact, Text | LocalText) else fact
