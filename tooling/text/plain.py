"""Facts of sentences as JSON has them: a sentence by its message in the catalogues, not in a language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tooling.text.catalogues import ENGLISH, every_sentence
from tooling.text.sentences import LocalText, Text


def plain_facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a message as JSON has them: a sentence by its message, or by its author's English."""
    return {name: plain_fact(fact) for name, fact in facts.items()}


def plain_fact(fact: Any) -> Any:
    """One fact, or a sentence, as JSON has it."""
    if isinstance(fact, LocalText):
        return {"authored": fact.render(ENGLISH)}
    if isinstance(fact, Text):
        said = {"text": fact.english, "plural": fact.plural, "context": fact.context}
        return {
            **{key: value for key, value in said.items() if value},
            "facts": plain_facts(dict(fact.facts)),
        }
    return fact


def _no_author(english: str) -> LocalText:
    raise LookupError(english)


def read_facts(facts: Mapping[str, Any], authored: Callable[[str], LocalText]) -> dict[str, Any]:
    """The facts of a message from JSON.

    Args:
        authored: the text of the puzzle's author with an English version; LookupError if there is none.

    Raises:
        LookupError: a sentence does not exist any more; the argument is its English version.
    """
    return {name: read_fact(fact, authored) for name, fact in facts.items()}


def read_fact(fact: Any, authored: Callable[[str], LocalText] = _no_author) -> Any:
    """One fact, or a sentence, from JSON; arguments and errors as of `read_facts`."""
    match fact:
        case {"authored": str(english)}:
            return authored(english)
        case {"text": str(english), "facts": dict() as facts}:
            if english not in every_sentence(ENGLISH):
                raise LookupError(english)
            text = Text(english, fact.get("plural", ""), fact.get("context", ""))
            return text.of(**read_facts(facts, authored))
    return fact
