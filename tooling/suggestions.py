"""The right name for a misspelled one."""

from __future__ import annotations

from collections.abc import Iterable

_LEAST = 0.6  # of difflib's ratio: 1 for equal names, 0 for names without a common letter
_BEGINNING = 0.9  # what a name counts that begins with what was typed
_SPREAD = 0.1  # names this much farther off than the nearest one are still proposed
_MOST = 3


def nearest(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """The known names that are meant most likely, the likeliest first; empty where none is near.

    Leading dashes, case, and `_` instead of `-` do not count as differences.
    """
    import difflib  # noqa: PLC0415 - only for who mistypes

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


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint that names the nearest known names, or all of them where none is near."""
    choices = list(dict.fromkeys(known))
    near = nearest(name, choices)
    if near:
        return proposal(near)
    return "known are " + ", ".join(choices) if choices else "there are none"


def proposal(names: Iterable[str]) -> str:
    """The question that proposes these names."""
    return "did you mean " + " or ".join(f"`{name}`" for name in names) + "?"


def _plain(name: str) -> str:
    return name.lstrip("-").lower().replace("_", "-")
