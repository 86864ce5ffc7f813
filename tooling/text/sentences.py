"""Sentences with their facts, independent of the language."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from tooling.text.catalogues import ENGLISH, translated
from tooling.text.particles import with_particles

COUNT = "count"
"""The fact that selects singular or plural."""


class Code(str):
    """A fact that is code, such as a name, an address or a position in a file: a page shows it as such."""

    __slots__ = ()


class Text(Struct, frozen=True, tag=True):
    """An English sentence of the tool, translated by the catalogues.

    Attributes:
        english: the sentence; names in braces are facts (`{kernel}`), with an optional format (`{n:,}`).
        plural: the sentence for a `count` other than one; empty if there is no plural.
        context: distinguishes sentences that are equal in English and differ in another language.
        facts: names and values, as set by `of`; a value may itself be a sentence. In a sentence that a
            file keeps they are of the types of `Fact` only.
    """

    english: str
    plural: str = ""
    context: str = ""
    facts: tuple[tuple[str, Fact], ...] = ()

    def of(self, **facts: object) -> Text:
        """The sentence with these facts in addition to its own."""
        return replace(self, facts=(*self.facts, *facts.items()))

    def render(self, language: str) -> str:
        """The sentence in a language, or in English if it has no translation with the same facts.

        Without facts, the sentence is not formatted: braces remain.

        Raises:
            KeyError: the language is unknown, or a fact of the sentence is missing.
        """
        facts = {name: in_language(fact, language) for name, fact in self.facts}
        template = self.template(language)
        if not facts:
            return template
        try:
            return with_particles(template.format_map(facts), language)
        except (LookupError, ValueError, AttributeError, TypeError):
            if language == ENGLISH:
                raise
            return self.render(ENGLISH)

    def template(self, language: str) -> str:
        """The sentence in a language as `render` formats it: names in braces are facts."""
        count = dict(self.facts).get(COUNT, 1)
        number = count if isinstance(count, int) else 1
        return translated(language, self.english, self.plural, number, self.context)


class LocalText(Struct, frozen=True, tag=True):
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
        """The text in a language, or in English if there is no version in that language."""
        versions = dict(self.versions)
        return versions.get(language, versions[ENGLISH])


class JoinedText(Struct, frozen=True, tag=True):
    """Texts one after the other, as made by `joined`.

    Attributes:
        parts: sentences of the tool, and strings that are the same in every language.
        separator: stands between two of them.
    """

    parts: tuple[str | Sentence, ...]
    separator: str | Sentence

    def render(self, language: str) -> str:
        """The texts in a language; only its catalogue is loaded."""
        separator: str = in_language(self.separator, language)
        return separator.join(in_language(part, language) for part in self.parts)


Sentence: TypeAlias = Text | LocalText | JoinedText
Fact: TypeAlias = str | int | float | bool | Sentence | None


def joined(parts: Iterable[str | Sentence], separator: str | Sentence = "; ") -> JoinedText:
    """Texts one after the other, in every language."""
    return JoinedText(tuple(parts), separator)


def as_sentence(text: str) -> str:
    """The text with a capital letter and a full stop."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", ":")) else ".")


def in_language(fact: Any, language: str) -> Any:
    """A fact for display: a sentence is rendered in the language, anything else is unchanged."""
    return fact.render(language) if isinstance(fact, Text | LocalText | JoinedText) else fact
