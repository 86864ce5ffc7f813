"""Suggestions for misspelled names."""

from __future__ import annotations

from collections.abc import Iterable

from tooling.text import Sentence, Text, joined

_LEAST = 0.6  # minimum of difflib's ratio: 1 for equal names, 0 for names without a common letter
_BEGINNING = 0.9  # ratio of a name that begins with the typed text
_SPREAD = 0.1  # names with a ratio up to this much below the best one are also suggested
_MOST = 3

_DID_YOU_MEAN = Text("did you mean {names}?")
_OR = Text(" or ")
_ONE_OF = Text("one of {names}")
_NONE = Text("there are none")


def nearest(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """The known names that are most similar, the best first; empty if none is similar enough.

    Leading dashes, case, and `_` instead of `-` do not count as differences.
    """
    import difflib  # noqa: PLC0415 - only needed for errors

    wanted = _plain(name)
    matcher = difflib.SequenceMatcher(b=wanted, autojunk=False)
    ratios: dict[str, float] = {}
    for choice in known:
        plain = _plain(choice)
        matcher.set_seq1(plain)
        ratio = matcher.ratio()
        if len(wanted) > 1 and plain.startswith(wanted):
            ratio = max(ratio, _BEGINNING)
        if ratio >= _LEAST:
            ratios[choice] = ratio
    found = sorted(ratios, key=lambda choice: -ratios[choice])[:_MOST]
    return tuple(choice for choice in found if ratios[choice] >= ratios[found[0]] - _SPREAD)


def did_you_mean(name: str, known: Iterable[str]) -> Sentence:
    """A hint with the most similar known names, or all of them if none is similar."""
    choices = list(dict.fromkeys(known))
    near = nearest(name, choices)
    if near:
        return proposal(near)
    return one_of(choices) if choices else _NONE


def proposal(names: Iterable[str | Sentence]) -> Sentence:
    """A question that suggests these names; sentences have their own quotation marks."""
    quoted = (f"`{name}`" if isinstance(name, str) else name for name in names)
    return _DID_YOU_MEAN.of(names=alternatives(quoted))


def alternatives(names: Iterable[str | Sentence]) -> Sentence:
    """The names, with the word for "or" between them."""
    return joined(names, _OR)


def one_of(names: Iterable[str]) -> Sentence:
    """A hint with all names that there are."""
    return _ONE_OF.of(names=", ".join(names))


def _plain(name: str) -> str:
    return name.lstrip("-").lower().replace("_", "-")
