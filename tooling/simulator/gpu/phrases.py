"""Sentences in both languages of the book."""

from __future__ import annotations

from msgspec import Struct


class Phrase(Struct, frozen=True):
    """A sentence in both languages, mostly with places for figures (`{name}`)."""

    en: str
    ko: str

    def in_language(self, language: str) -> str:
        """The sentence in a language (`en` or `ko`), as it is."""
        return self.ko if language == "ko" else self.en

    def say(self, language: str, **figures: object) -> str:
        """The sentence in a language with its figures; one that is a phrase is said in that language too."""
        told = {
            name: figure.in_language(language) if isinstance(figure, Phrase) else figure
            for name, figure in figures.items()
        }
        return self.in_language(language).format(**told)

    def filled(self, **figures: object) -> Phrase:
        """The sentence with its figures, in both languages."""
        return Phrase(self.say("en", **figures), self.say("ko", **figures))
