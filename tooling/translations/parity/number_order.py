"""Exchanged numbers: two of a block that have changed places although the grammar cannot have moved them.

Rules, each of which needs evidence in both languages:

Order. A sentence of another language may say first what English says last: 9개 중 6개 for 6 of 9. It does so
around prepositions, conjunctions and relative clauses. Numbers with none of these between them, such as those
of a list, of a range or of two main clauses, keep their order. `instead of` and `of` a whole have one order
in each language.

Nouns. What is counted or numbered is beside its number: 32 lanes, 레인 32개; puzzle 7, 퍼즐 7. Two numbers of
which each has the other's noun are exchanged.

Sequences. Numbers between which there are only signs, as in (0, 1), 16 × 8 × 8 or 3, 5, 9, stay together.

Ranges. They begin at the same end: 0 to 7, 0부터 7까지.

Signs. %, µs, KiB or the letter of 4t are written behind the same number.

Not seen are two numbers with such a word between them and the same noun, or none that is in the table:
whether block 7 has 3 threads or block 3 has 7, only the meaning tells.
`benchmarks/translations_mutations.py` counts them.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

from msgspec import Struct

from tooling.mdbook.markup import OBJECT
from tooling.translations.parity.numbers import MONTH_BEFORE, NUMBER, Number, english_numbers, numbers_of
from tooling.translations.writing_systems import WritingSystem

_SENTENCE_END = re.compile(r"(?<=[.?!])[\"'”’)*_]*\s+")
_MOVING = re.compile(
    r"\b(?:of|with|without|in|inside|for|at|on|onto|from|up|to|into|by|per|through|over|under|above|below|"
    r"beside|behind|between|among|against|about|before|after|until|as|than|instead|that|which|who|whose|"
    r"what|how|because|since|when|while|where|if|unless|although|though|but|not|so|here|there|are|take|read)"
    r"\b|\(",
    re.IGNORECASE,
)
_RANGE = re.compile(r"\W{0,3}(?:(?!up\b)[A-Za-zµ%]+\W{1,2})?to\W{1,3}")
_WORD = re.compile("[A-Za-z]+|[가-힣]+")


class _Turn(Struct, frozen=True):
    """English words between two numbers, and the other language's between the same two, reversed."""

    english: re.Pattern[str]
    other: re.Pattern[str]


_TURNS = {
    "ko": (
        _Turn(re.compile(r"[^.]*\binstead of\b[^.]*"), re.compile("대신|아니라|에서")),
        _Turn(re.compile(r"\W?(?:[a-z]+ )?of (?:the |its |their )?"), re.compile(r"중\s|가운데\s")),
    )
}

# What is counted or numbered: the English noun, and the words of the translation.
_NOUNS = {
    "ko": {
        "thread": "스레드", "block": "블록", "warp": "워프", "lane": "레인", "element": "원소",
        "row": "행|줄", "column": "열", "byte": "바이트", "bit": "비트", "word": "워드|단어", "bank": "뱅크",
        "sector": "섹터", "puzzle": "퍼즐", "instruction": "명령어", "request": "요청",
        "register": "레지스터", "wavefront": "웨이브프런트", "multiprocessor": "멀티프로세서",
        "tile": "타일", "step": "단계", "index": "인덱스", "offset": "오프셋",
        "line": "줄|행", "kernel": "커널", "argument": "인자",
        "buffer": "버퍼", "core": "코어", "value": "값", "number": "값|수", "mask": "마스크",
        "stride": "스트라이드", "round": "라운드", "bin": "구간", "token": "토큰", "width": "폭",
        "position": "위치", "place": "칸|위치|자리", "cell": "칸", "conflict": "충돌", "load": "읽기",
        "store": "쓰기|저장", "barrier": "배리어", "vector": "벡터", "matrix": "행렬", "addition": "덧셈",
        "operation": "연산", "call": "호출", "launch": "실행", "run": "실행", "layer": "층|레이어",
        "cluster": "클러스터", "level": "단계|수준", "warning": "경고", "error": "오류", "race": "경쟁",
        "time": "배|회|번",
    }
}  # fmt: skip
_SIGN = re.compile(
    r"[ \u00a0]?(%|[KMGT]?i?B(?:/s)?|kB(?:/s)?|[kMG]?Hz|[KMGT]?FLOP(?:S|/s)|[mnµu]s|SM)(?![A-Za-z])"
)
_AFTER = re.compile(r"[ \u00a0-]{1,2}(?:(?:more|other|idle|consecutive|different) )?([A-Za-z]+)")
_BEFORE = re.compile(r"([A-Za-z]+)(?: = | \(|[ \u00a0])$")
_LONGEST = 24  # of what may be beside a number


def exchanged(source: str, target: str, writing: WritingSystem) -> tuple[Number, Number] | None:
    """Two numbers of the translation that have changed places, or None.

    Args:
        source, target: a block of the source, and its translation.
    """
    if len(set(NUMBER.findall(target))) < 2:
        return None  # most blocks; what follows takes longer
    ours, theirs = english_numbers(source), numbers_of(target, writing)
    if min(len({number.values[0] for number in numbers}) for numbers in (ours, theirs)) < 2:
        return None
    found = _by_nouns(source, target, ours, theirs, writing)
    counts, copied = _counts(ours), _counts(theirs)
    if found or min(counts.total(), copied.total()) < 2:
        return found
    values = (
        _in_sequences(source, target, writing)
        or _in_ranges(source, target, writing)
        or _beside_signs(source, target)
    )
    if values and all(counts[value] and copied[value] for value in values):
        one, other = values
        return _first(theirs, one), _first(theirs, other)
    return _by_order(source, target, writing)


# ---- order ----


def _by_order(source: str, target: str, writing: WritingSystem) -> tuple[Number, Number] | None:
    ours, theirs = _SENTENCE_END.split(source), _SENTENCE_END.split(target)
    start = 0
    for sentence, copy in (
        zip(ours, theirs, strict=True) if _correspond(ours, theirs, writing) else [(source, target)]
    ):
        start = target.index(copy, start)
        if found := _in_order(sentence, copy, writing):
            first, second = found
            return _shifted(first, start), _shifted(second, start)
    return None


def _shifted(number: Number, start: int) -> Number:
    return Number(number.values, number.offset + start, number.spelled)


def _correspond(ours: Sequence[str], theirs: Sequence[str], writing: WritingSystem) -> bool:
    """Whether each sentence has the digits of one of the other page."""
    return len(ours) == len(theirs) and all(
        _counts(english_numbers(sentence)) == _counts(numbers_of(copy, writing))
        for sentence, copy in zip(ours, theirs, strict=True)
    )


def _counts(numbers: Iterable[Number]) -> Counter[str]:
    return Counter(number.values[0] for number in numbers if not number.spelled)


def _in_order(source: str, target: str, writing: WritingSystem) -> tuple[Number, Number] | None:
    ours, theirs = english_numbers(source), numbers_of(target, writing)
    counts, copied = _counts(ours), _counts(theirs)
    common = {value for value, count in counts.items() if count == copied[value] == 1}
    places = {one.values[0]: one for one in theirs if not one.spelled and one.values[0] in common}
    digits = [one for one in ours if not one.spelled]
    for one, other in pairwise(digits):
        if one.values[0] not in common or other.values[0] not in common:
            continue
        first, second = places[one.values[0]], places[other.values[0]]
        between = source[_end(source, one) : other.offset]
        if first.offset > second.offset:
            if not _may_move(between) and not MONTH_BEFORE.search(source[: one.offset]):
                return second, first
        elif _turned(between, target[_end(target, first) : second.offset], writing):
            return first, second
    return None


def _may_move(between: str) -> bool:
    """Whether the grammar of another language may exchange what is on both sides of this English text."""
    if _RANGE.fullmatch(between):
        return False
    return _MOVING.search(between) is not None or _SENTENCE_END.search(between) is not None


def _turned(between: str, copy: str, writing: WritingSystem) -> bool:
    """Whether the numbers are in the English order around words that need the other one."""
    if NUMBER.search(copy):
        return False
    turns = _TURNS.get(writing.code, ())
    return any(turn.english.fullmatch(between) and turn.other.search(copy) for turn in turns)


def _end(text: str, number: Number) -> int:
    match = (_WORD if number.spelled else NUMBER).match(text, number.offset)
    return match.end() if match else number.offset


# ---- nouns ----


def _by_nouns(
    source: str, target: str, ours: Sequence[Number], theirs: Sequence[Number], writing: WritingSystem
) -> tuple[Number, Number] | None:
    if writing.code not in _NOUNS:
        return None
    nouns, copies = _nouns_of(source, ours), _copied_nouns(target, theirs, writing.code)
    known = [value for value in nouns if value in copies]
    for index, one in enumerate(known):
        for other in known[index + 1 :]:
            if _have_each_others(nouns[one], nouns[other], copies[one], copies[other]):
                return _first(theirs, one), _first(theirs, other)
    return None


def _have_each_others(one: set[str], other: set[str], copied: set[str], copied_other: set[str]) -> bool:
    return bool(
        copied & other - one and copied_other & one - other and not copied & one and not copied_other & other
    )


def _first(numbers: Sequence[Number], value: str) -> Number:
    return next(number for number in numbers if value in number.values)


def _nouns_of(text: str, numbers: Iterable[Number]) -> dict[str, set[str]]:
    """The signs and nouns beside each value of an English text."""
    found: dict[str, set[str]] = defaultdict(set)
    for number in numbers:
        end = _end(text, number)
        sign, after = _SIGN.match(text, end), _AFTER.match(text, end)
        before = _BEFORE.search(text[max(0, number.offset - _LONGEST) : number.offset])
        beside = [match[1] for match in (after, before) if match]
        nouns = {_singular(word) for word in beside} | ({sign[1]} if sign else set())
        for value in number.values:
            found[value] |= nouns
    return found


def _singular(noun: str) -> str:
    word = noun.lower()
    return {"matrices": "matrix", "indices": "index"}.get(word, word.removesuffix("s"))


class _Words(Struct, frozen=True):
    """The words of a language for what is counted: beside a number, and their English nouns."""

    after: re.Pattern[str]
    before: re.Pattern[str]
    nouns: dict[str, set[str]]


@lru_cache
def _words_of(language: str) -> _Words:
    nouns: dict[str, set[str]] = defaultdict(set)
    for noun, words in _NOUNS[language].items():
        for word in words.split("|"):
            nouns[word].add(noun)
    every = "|".join(sorted(nouns, key=len, reverse=True))
    return _Words(
        re.compile(rf"(?:[개회번명쌍](?=[ 짜의씩]))?(?:짜리|의|씩)? ?({every})"),
        re.compile(rf"({every})(?:\(\w[^)]*\))?[이가은는을를의에로과와도]? ?(?:(?:최대|약|모두|각각) )?$"),
        dict(nouns),
    )


def _copied_nouns(text: str, numbers: Iterable[Number], language: str) -> dict[str, set[str]]:
    """The signs, and the English nouns of what is beside each value of a text in this language."""
    words = _words_of(language)
    found: dict[str, set[str]] = defaultdict(set)
    for number in numbers:
        end = _end(text, number)
        sign, after = _SIGN.match(text, end), words.after.match(text, end)
        before = words.before.search(text[max(0, number.offset - _LONGEST) : number.offset])
        nouns = {sign[1]} if sign else set()
        for match in (after, before):
            if match:
                nouns |= words.nouns[match[1]]
        for value in number.values:
            found[value] |= nouns
    return found


# ---- sequences, ranges and signs ----

_DIGITS = r"[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?"
_ATOM = rf"(?:{_DIGITS}|(?<![A-Za-z])[A-Za-z](?![A-Za-z])|{OBJECT})"
_JOINT = r"(?:\s?[·×+−*/=<>-]\s?|, | (?=[0-9]))"
_LONE = r"(?<![\w.,#])"
_LAST_JOINT = {"en": ",? (?:and|or) ", "ko": "(?:와|과|이나|나) "}
_RANGES = {
    "en": re.compile(
        rf"{_LONE}({_DIGITS})(?:,? (?:and so on |down |up )?to | through |–)(?:[a-z]+ )?({_DIGITS})"
    ),
    "ko": re.compile(
        rf"{_LONE}(?<!−)({_DIGITS})(?:[가-힣]{{0,3}}?(?:에서|부터) (?:[가-힣]+ )?"
        rf"({_DIGITS})[가-힣]{{0,3}}까지|~({_DIGITS}))"
    ),
}
_SUFFIX = re.compile(rf"{_LONE}({_DIGITS})(?:{_SIGN.pattern}|([a-z])(?![A-Za-z]))")


def _plain(number: str) -> str:
    return number.replace(",", "")


@lru_cache
def _sequence(language: str) -> re.Pattern[str]:
    last = _LAST_JOINT.get(language, "(?!)")
    return re.compile(rf"(?<![\w.,])[(\[]?{_ATOM}(?:{_JOINT}{_ATOM})*(?:{last}{_ATOM})?")


class _Sequence(Struct, frozen=True):
    """Numbers, letters and code in a row.

    Attributes:
        bracketed: the first one follows a bracket.
    """

    atoms: tuple[str, ...]
    bracketed: bool


def _sequences(text: str, language: str) -> Counter[_Sequence]:
    """The sequences with two numbers that differ."""
    found: Counter[_Sequence] = Counter()
    for match in _sequence(language).finditer(text):
        atoms = tuple(_plain(atom) for atom in re.findall(_ATOM, match.group()))
        if len({atom for atom in atoms if atom[0].isdigit()}) > 1:
            found[_Sequence(atoms, match.group()[0] in "([")] += 1
    return found


def _in_sequences(source: str, target: str, writing: WritingSystem) -> tuple[str, str] | None:
    """A number of a sequence that the source lacks, and what it has in its place."""
    ours, theirs = _sequences(source, "en"), _sequences(target, writing.code)
    for copy in theirs - ours:
        for sequence in ours - theirs:
            if len(copy.atoms) != len(sequence.atoms):
                continue
            pairs = zip(copy.atoms, sequence.atoms, strict=True)
            other = [(one, own) for one, own in pairs if one != own]
            permuted = len(other) == 2 and sorted(copy.atoms) == sorted(sequence.atoms)
            firm = len(copy.atoms) > 2 or (copy.bracketed and sequence.bracketed)
            if permuted or (firm and len(other) == 1):
                return other[0]
    return None


def _in_ranges(source: str, target: str, writing: WritingSystem) -> tuple[str, str] | None:
    """The ends of a range that decreases, and does not in the source."""
    if writing.code not in _RANGES:
        return None
    ours = {tuple(map(_plain, match.groups())) for match in _RANGES["en"].finditer(source)}
    for match in _RANGES[writing.code].finditer(target):
        first, last = (_plain(end) for end in match.groups() if end is not None)
        if float(first) > float(last) and (first, last) not in ours:
            return first, last
    return None


def _beside_signs(source: str, target: str) -> tuple[str, str] | None:
    """A number with a sign that the source has behind another number, and that number."""
    ours, theirs = _suffixes(source), _suffixes(target)
    for number, sign in theirs - ours:
        for own, same in ours - theirs:
            if sign == same and number != own:
                return number, own
    return None


def _suffixes(text: str) -> Counter[tuple[str, str]]:
    return Counter((_plain(match[1]), match[2] or match[3]) for match in _SUFFIX.finditer(text))
