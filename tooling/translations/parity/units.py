"""Units and opposites: what is counted in a block of the source is counted in the translation.

A finding needs evidence on both sides: the translation gives a number another unit than the source, which the
source gives no such number, and does not give it the source's unit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from tooling.translations.parity.pair import Item
from tooling.translations.writing_systems import WritingSystem

# What precedes a number is asked after its first digit: a search skips texts without digits.
_NUMBER = r"([0-9](?<![\w.,#].)[0-9,.]*)(?:th|nd|rd|st)?[ \u00a0-]?"
_PREFIXED = r"[KMGT]i?B|[kMG]?Hz|[KMGT]?FLOPS|[munµ]s"
_ENGLISH = re.compile(
    rf"{_NUMBER}({_PREFIXED}|bytes?|bits?|cycles?|seconds?|minutes?|hours?|days?|rows|columns)\b"
)


class _Opposites(Struct, frozen=True):
    """Words of the source that must not become the words of the opposite."""

    words: re.Pattern[str]
    others: re.Pattern[str]
    copy: re.Pattern[str]
    wrong: re.Pattern[str]
    names: tuple[str, str]


_HALF, _DOUBLE = (
    re.compile(r"\b[Hh]al(?:f|ves|ved|ving)\b"),
    re.compile(r"\b(?:[Dd]oubl\w*|[Tt]wice|two|2)\b"),
)
_AFTERNOON, _MORNING = re.compile(r"[0-9] ?[Pp]\.?[Mm]\b"), re.compile(r"[0-9] ?[Aa]\.?[Mm]\b")
_KOREAN_HALF, _KOREAN_DOUBLE = re.compile("절반|반(?=[으이을의])|0\\.5|50%"), re.compile("두 ?배|2 ?배|갑절")
_BY_LANGUAGE = {
    "ko": (
        re.compile(
            rf"{_NUMBER}({_PREFIXED}|바이트|비트|사이클|초|분(?!의)|시간|일(?=[^가-힣]|간|이|에|의|을)|행|열)"
        ),
        {
            "바이트": "byte", "비트": "bit", "사이클": "cycle", "초": "second", "분": "minute",
            "시간": "hour", "일": "day", "행": "row", "열": "column",
        },
        (
            _Opposites(_HALF, _DOUBLE, _KOREAN_HALF, _KOREAN_DOUBLE, ("half", "double")),
            _Opposites(_DOUBLE, _HALF, _KOREAN_DOUBLE, re.compile("절반"), ("double", "half")),
            _Opposites(_AFTERNOON, _MORNING, re.compile("오후"), re.compile("오전"), ("p.m.", "a.m.")),
            _Opposites(_MORNING, _AFTERNOON, re.compile("오전"), re.compile("오후"), ("a.m.", "p.m.")),
        ),
    ),
}  # fmt: skip
_CONTRARY = {
    code: re.compile("|".join(one.wrong.pattern for one in opposites))
    for code, (_, _, opposites) in _BY_LANGUAGE.items()
}


def has_units(text: str, writing: WritingSystem) -> bool:
    """Whether a text of the translation has what `wrong_units` compares."""
    if writing.code not in _BY_LANGUAGE:
        return False
    return (
        _BY_LANGUAGE[writing.code][0].search(text) is not None
        or _CONTRARY[writing.code].search(text) is not None
    )


def wrong_units(source: str, target: str, writing: WritingSystem) -> Iterator[tuple[Item, str]]:
    """The units of a block of the translation that contradict those of its source.

    Returns: what is written, with the offset of its line in the block, and what the source has.
    """
    if writing.code not in _BY_LANGUAGE:
        return
    pattern, names, opposites = _BY_LANGUAGE[writing.code]
    theirs = [(_plain(match[1]), names.get(match[2], match[2]), match) for match in pattern.finditer(target)]
    if not theirs and _CONTRARY[writing.code].search(target) is None:
        return
    ours = {(_plain(match[1]), _singular(match[2])) for match in _ENGLISH.finditer(source)}
    written = {(number, unit) for number, unit, _ in theirs}
    for number, unit, match in theirs:
        wanted = sorted(other for value, other in ours if value == number)
        if not wanted or (number, unit) in ours or all((number, other) in written for other in wanted):
            continue
        yield Item(match.group(), target.count("\n", 0, match.start())), f"{number} {wanted[0]}"
    for one in opposites:
        wrong = one.wrong.search(target)
        if wrong is None or one.copy.search(target) or one.others.search(source):
            continue
        if one.words.search(source):
            yield Item(wrong.group(), target.count("\n", 0, wrong.start())), one.names[0]


def _singular(unit: str) -> str:
    return unit.removesuffix("s") if unit.isalpha() and unit.islower() and len(unit) > 2 else unit


def _plain(number: str) -> str:
    return number.rstrip(".,").replace(",", "")
