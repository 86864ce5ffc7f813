"""Korean particles behind numbers in digits: `4를`, `3을`. Another number was there if the form is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from tooling.text.particles import KOREAN, with_particles
from tooling.translations.writing_systems import WritingSystem

_BEHIND = re.compile(
    r"([0-9](?<![\w.,#`/−-].)[0-9]*(?:,[0-9]{3})*(?:\.[0-9]+)?)(은|는|이|가|을|를|과|와|으로|로)(?![가-힣])"
)
_PAIRS = {form: pair for pair in ("은(는)", "이(가)", "을(를)", "과(와)") for form in (pair[0], pair[2])}
_PAIRS |= dict.fromkeys(("으로", "로"), "(으)로")


class WrongParticle(Struct, frozen=True):
    """A number with a particle that does not fit.

    Attributes:
        written, expected: the number with its particle.
        offset: of its first character.
    """

    written: str
    expected: str
    offset: int


def wrong_particles(text: str, writing: WritingSystem) -> Iterator[WrongParticle]:
    """The numbers of a Korean text that are read with another final sound than their particles need."""
    if writing.code != KOREAN or _BEHIND.search(text) is None:
        return
    for match in _BEHIND.finditer(text):
        expected = with_particles(f"{match[1]}{_PAIRS[match[2]]}", KOREAN)
        if expected != match.group():
            yield WrongParticle(match.group(), expected, match.start())
