"""The letters that a language is written in, which distinguish a translation from its English source."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from msgspec import Struct

from tooling.text import Text

# Letters as the inside of a regular expression's brackets. Greek occurs in formulas of every language.
_SCRIPTS = {
    "Hangul": "\uac00-\ud7a3",
    "kana": "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9d",
    "Han": "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff",
    "Cyrillic": "\u0400-\u052f",
    "Greek": "\u0370-\u03ff",
    "Arabic": "\u0620-\u064a\u066e-\u06d3\u0750-\u077f",
    "Hebrew": "\u05d0-\u05ea",
    "Thai": "\u0e01-\u0e4e",
    "Devanagari": "\u0900-\u0963\u0970-\u097f",
}
_JAMO = "\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff\u3131-\u318e"
# Scripts that are reported in a language that does not use them, and the message.
_REPORTED = (
    (("kana", "Han"), Text("{text} is Chinese or Japanese")),
    (("Hangul",), Text("{text} is Korean")),
    (("Cyrillic",), Text("{text} is Cyrillic")),
    (("Arabic",), Text("{text} is Arabic script")),
    (("Hebrew",), Text("{text} is Hebrew script")),
    (("Thai",), Text("{text} is Thai")),
    (("Devanagari",), Text("{text} is Devanagari")),
)
_NAMES = {
    "ar": Text("Arabic"),
    "bg": Text("Bulgarian"),
    "de": Text("German"),
    "el": Text("Greek"),
    "es": Text("Spanish"),
    "fa": Text("Persian"),
    "fr": Text("French"),
    "he": Text("Hebrew"),
    "hi": Text("Hindi"),
    "id": Text("Indonesian"),
    "it": Text("Italian"),
    "ja": Text("Japanese"),
    "ko": Text("Korean"),
    "nl": Text("Dutch"),
    "pl": Text("Polish"),
    "pt": Text("Portuguese"),
    "ru": Text("Russian"),
    "th": Text("Thai"),
    "tr": Text("Turkish"),
    "uk": Text("Ukrainian"),
    "vi": Text("Vietnamese"),
    "zh": Text("Chinese"),
}
_OWN = {
    "ar": ("Arabic",),
    "be": ("Cyrillic",),
    "bg": ("Cyrillic",),
    "el": ("Greek",),
    "fa": ("Arabic",),
    "he": ("Hebrew",),
    "hi": ("Devanagari",),
    "ja": ("kana", "Han"),
    "kk": ("Cyrillic",),
    "ko": ("Hangul",),
    "mk": ("Cyrillic",),
    "mr": ("Devanagari",),
    "ne": ("Devanagari",),
    "ru": ("Cyrillic",),
    "sr": ("Cyrillic",),
    "th": ("Thai",),
    "uk": ("Cyrillic",),
    "ur": ("Arabic",),
    "zh": ("Han",),
}
_UNSPACED = frozenset({"ja", "th", "zh"})
# By language, how a number is written in words, where that is known.
_NUMBER_WORDS: dict[str, dict[str, re.Pattern[str]]] = {
    # A determiner such as `두` counts only as a word of its own: `필요한 값` has no number in it. What must
    # not precede a word is asked after its first letter: a search skips texts without these letters.
    "ko": {
        "1": re.compile("하나|첫|한(?<![가-힣]한)(?= )|일차원"),
        "1.5": re.compile("한(?<![가-힣]한) ?배 ?반|1배 ?반"),
        "2": re.compile("둘|두(?<![가-힣]두)(?= )|이차원|양쪽|절반"),
        "3": re.compile("셋(?<!오프셋)|세(?<![가-힣]세)(?= )|삼차원"),
        "4": re.compile("넷|네(?<![가-힣]네)(?= )"),
        "5": re.compile("다섯"),
        "6": re.compile("여섯"),
        "7": re.compile("일곱"),
        "8": re.compile("여덟"),
        "9": re.compile("아홉"),
        "10": re.compile("열(?<![가-힣]열)(?= )"),
    },
}

# By language, the signs that multiply the number before them: 3만 is 30,000. In `3만` for "only 3" nothing is
# counted, so that a sign needs a counter, or another sign, after it.
_LARGE_NUMBERS: dict[str, dict[str, int]] = {"ko": {"천": 10**3, "만": 10**4, "억": 10**8, "조": 10**12}}
_COUNTERS = {
    "ko": "(?= ?(?:[0-9~–]|[개명번회배원줄행열쪽년초건대장억조여]|만(?= ?[개명])"
    "|분의|가지|바이트|비트|스레드|블록|원소|단어))"
}


class Foreign(Struct, frozen=True):
    """Letters or signs that do not belong in a text of the language.

    Attributes:
        kind: of the finding.
        letters: all of them, as the inside of a regular expression's brackets.
        pattern: a run of them.
        what: what they are; follows the quoted run in the message.
        hint: what to do.
    """

    kind: str
    letters: str
    pattern: re.Pattern[str]
    what: Text
    hint: Text


class WritingSystem(Struct, frozen=True):
    """How a language is written.

    Attributes:
        code: the language's primary code, such as `ko` or `pt`.
        name: its English name, or the code where none is known.
        script: what it is written in, for messages.
        letters: a letter that English does not have; for languages in Latin letters, one with a diacritic.
        own_script: whether every sentence of the language has such a letter.
        spaced: whether words are separated by spaces.
        foreign: what does not belong in its text.
        any_foreign: one sign of that.
        number_words: by number, the words for it; empty where they are not known.
        any_number_word: one of these words, or more than that; None without any.
        large_numbers: by sign, what it multiplies the number before it with.
        scaled: a number with such a sign; None where the language has none.
    """

    code: str
    name: str | Text
    script: str | Text
    letters: re.Pattern[str]
    own_script: bool
    spaced: bool
    foreign: tuple[Foreign, ...]
    any_foreign: re.Pattern[str]
    number_words: Mapping[str, re.Pattern[str]]
    any_number_word: re.Pattern[str] | None
    large_numbers: dict[str, int]
    scaled: re.Pattern[str] | None


@lru_cache
def writing_of(language: str) -> WritingSystem:
    """The writing system of a language.

    Args:
        language: a BCP 47 code: `ja`, `pt-BR`. An unknown one is taken to be written in Latin letters.
    """
    code = language.partition("-")[0].lower()
    own = _OWN.get(code, ())
    letters = "".join(_SCRIPTS[script] for script in own)
    script = " and ".join(own) or Text("Latin letters")
    words, large = _NUMBER_WORDS.get(code, {}), _LARGE_NUMBERS.get(code, {})
    foreign = tuple(_foreign(code, own, Text("write it in {script}").of(script=script)))
    return WritingSystem(
        code,
        _NAMES.get(code, code),
        script,
        re.compile(f"[{letters}]" if letters else "[\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff]"),
        bool(own),
        code not in _UNSPACED,
        foreign,
        re.compile(f"[{''.join(one.letters for one in foreign)}]"),
        words,
        re.compile("|".join(word.pattern for word in words.values())) if words else None,
        large,
        re.compile(rf"([0-9][0-9,.]*) ?([{''.join(large)}]){_COUNTERS[code]}") if large else None,
    )


def _foreign(code: str, own: tuple[str, ...], hint: Text) -> list[Foreign]:
    found: list[Foreign] = []
    for scripts, what in _REPORTED:
        letters = "".join(_SCRIPTS[script] for script in scripts if script not in own)
        if scripts == ("Hangul",):
            letters += _JAMO if "Hangul" not in own else ""
        if letters:
            found.append(Foreign("foreign-script", letters, re.compile(f"[{letters}]+"), what, hint))
    if code not in ("ja", "zh"):
        signs = "\u3001\u3002\uff0c\uff1b\uff1a\uff01\uff1f"
        found.append(
            Foreign(
                "foreign-sign",
                signs,
                re.compile(f"[{signs}]"),
                Text("{text} is a Chinese or Japanese sign"),
                Text("use `,` `.` `:` `?` `!`"),
            )
        )
    broken, what, form = (
        (f"\ufffd{_JAMO}", Text("{text} is not composed of whole syllables"), Text("in form NFC"))
        if code == "ko"
        else ("\ufffd", Text("{text} replaces letters that were lost"), Text("as UTF-8"))
    )
    hint = Text("type it again; save the file {form}").of(form=form)
    found.append(Foreign("broken-letters", broken, re.compile(f"[{broken}]+"), what, hint))
    return found
