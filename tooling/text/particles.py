"""Korean particles that follow a fact: their form depends on how the fact is read.

A translation writes both forms, `을(를)`, and gets the one that fits: after a final consonant the first one
(`p35`를, `vim`을, (0, 0, 3)이). Digits are read as Korean numbers and abbreviations letter by letter.
"""

from __future__ import annotations

import re

KOREAN = "ko"
_PAIR = re.compile(r"(이|을|은|과)\((가|를|는|와)\)|\(으\)로")
# Quotes, brackets and signs at the end of a fact are not read.
_UNREAD = "`'\"”’)]}>.,:;…%"
_DIGITS = dict(
    zip("0123456789", "영일이삼사오육칠팔구", strict=True)
)  # 10, 100 and 1,000 end in a consonant, too
_FINAL_L = 8  # index of ㄹ among the final consonants of Unicode's Hangul syllables
# Letters with which a word or the name of a letter ends in a consonant in Korean: 엘, 엠, 엔, 알; 깃, 빔.
_NAMES = {"L": "엘", "M": "엠", "N": "엔", "R": "알"}
_WORD_ENDS = {"l": "엘", "m": "엠", "n": "엔"} | dict.fromkeys("bcgkpt", "악")


def with_particles(text: str, language: str, before: str = "") -> str:
    """The text with the fitting form of each particle; unchanged in other languages than Korean.

    Args:
        text: a rendered sentence, or a piece of one.
        before: what precedes the piece.
    """
    if language != KOREAN or "(" not in text:
        return text

    def fitting(match: re.Match[str]) -> str:
        final = _final_consonant(before + text[: match.start()])
        if match[1] is None:
            return "로" if final in (0, _FINAL_L) else "으로"
        return match[1] if final else match[2]

    return _PAIR.sub(fitting, text)


def _final_consonant(text: str) -> int:
    """The index of the final consonant with which the text is read: 0 for none."""
    read = text.rstrip(_UNREAD + " ")
    last, previous = read[-1:], read[-2:-1]
    if last in _DIGITS:
        syllable = _DIGITS[last]
    elif last.isascii() and last.isalpha():
        is_letter_name = last.isupper() or not previous.isalpha()
        syllable = (_NAMES if is_letter_name else _WORD_ENDS).get(
            last.upper() if is_letter_name else last, ""
        )
    else:
        syllable = last
    return (ord(syllable) - ord("가")) % 28 if "가" <= syllable <= "힣" else 0
