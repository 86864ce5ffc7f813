"""Numbers: those of a block of the source are in the same block of the translation, in digits or in words.

Blocks correspond as the structure of the two pages does: the n-th paragraph, heading or row of a section to
the n-th, and the n-th cell of a row to the n-th. Sections with other blocks are compared as a whole, and so
are those whose blocks are in another order, as in a glossary that is sorted by the words of its language.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from msgspec import Struct

from tooling.mdbook.markup import Prose
from tooling.translations.parity.pair import NO_DIFFERENCE, ComparedPages, Difference, Item
from tooling.translations.writing_systems import WritingSystem, writing_of

NUMBER = re.compile(r"[0-9](?<![A-Za-z0-9_#.].)[0-9]*(?:(?:,[0-9]{3})+(?:\.[0-9]+)?|(?:\.[0-9]+)*)")
"""A number in digits. Digits in names are none: float32, p15, SM90, #12."""
DIGIT = re.compile("[0-9]")
_DATE = re.compile(r"(?<![0-9])([0-9]{4})-([0-9]{2})-([0-9]{2})(?![0-9-])")
_CELL = " | "
_BARE = re.compile(r"[0-9.,%×·+*/() -]*")
"""What has no letters, which a language may read in another way."""

# ---- English ----

_WORDS = {
    "0": ("zero", "zeros", "zeroes", "nonzero", "nonzeros"),
    "1": ("one", "ones", "once", "first", "single"),
    "2": ("two", "twice", "second", "both", "pair", "pairs", "double", "doubles", "doubled", "doubling"),
    "3": ("three", "third", "thirds", "triple", "thrice"),
    "4": ("four", "fourth", "fourths"),
    "5": ("five", "fifth", "fifths"),
    "6": ("six", "sixth"),
    "7": ("seven", "seventh"),
    "8": ("eight", "eighth", "eighths"),
    "9": ("nine", "ninth"),
    "10": ("ten", "tenth", "tenths"),
    "11": ("eleven",),
    "12": ("twelve",),
    "13": ("thirteen",),
    "14": ("fourteen",),
    "15": ("fifteen",),
    "16": ("sixteen",),
    "20": ("twenty",),
    "30": ("thirty",),
    "100": ("hundred",),
    "1000": ("thousand",),
    "1000000": ("million",),
}
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_VALUES: dict[str, tuple[str, ...]] = {word: (value,) for value, words in _WORDS.items() for word in words}
_VALUES |= dict.fromkeys(("half", "halves", "halve", "halved", "halving"), ("2", "50", "0.5"))
_VALUES |= dict.fromkeys(("quarter", "quarters"), ("4", "25"))
_WORD = re.compile("[a-z]+")
_MONTH = re.compile(rf"\b({'|'.join(_MONTHS)})\b(?=[ ,]+[0-9])|(?<=[0-9] )({'|'.join(_MONTHS)})\b")
MONTH_BEFORE = re.compile(rf"(?:{'|'.join(_MONTHS)}) $")
"""What precedes the day of a date: it may be after the year in another language."""
_AFTERNOON = re.compile(r"\b([0-9]{1,2})(?::[0-9]{2})? ?[Pp]\.?[Mm]\b")
_LARGE = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_SCALED = re.compile(rf"([0-9][0-9,.]*) ({'|'.join(_LARGE)})\b")
_SCALED_START = re.compile(rf"([0-9][0-9,.]*)(?= ?(?:to|or|[-–]) ?[0-9][0-9,.]* ({'|'.join(_LARGE)})\b)")
"""The first number of `12 to 17 million`."""
_SPELLED = re.compile(
    rf"\b([a-z]+)(?: (hundred))? ({'|'.join(_LARGE)}|hundred)(?=s?\b)(?! of )", re.IGNORECASE
)
"""`a hundred thousand`, `two million`; not an indefinite number of them, as in `hundreds of thousands of`."""
_SCALES = {"hundred": 100, **_LARGE}
_FACTORS = {"a": 1} | {
    word: int(value) for value, words in _WORDS.items() for word in words if int(value) < 100
}
_TELLING = frozenset(
    {
        *_VALUES,
        *_SCALES,
        *(f"{word}s" for word in _SCALES),
        *(month.lower() for month in _MONTHS),
        *("p", "pm", "part", "parts", "volume", "volumes", "chapter", "chapters", "appendix"),
    }
)
"""A text without any of these words has no numbers but those in digits."""
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_PART = re.compile(r"\b(?:[Pp]arts?|[Vv]olumes?|[Cc]hapters?|[Aa]ppendix) ([IVXLC]+)\b")
# Where English has one of these, another language may give the number: a second, 1초.
_MEANS_ONE = re.compile(r"\b(?:an?|each|per|every|one|ones|once|single)\b", re.IGNORECASE)


class Number(Struct, frozen=True):
    """A number of a text.

    Attributes:
        values: what it may be in the other language, without commas; a number in digits has one value.
        offset: of its first character.
        spelled: whether it is written as a word.
    """

    values: tuple[str, ...]
    offset: int
    spelled: bool = False


_KEPT = 4096  # texts: as many as a long page has, since one rule after the other asks for them


@lru_cache(_KEPT)
def english_numbers(text: str) -> Sequence[Number]:
    """The numbers of an English text: in digits, in words, and the Roman ones of parts."""
    if _TELLING.isdisjoint(_WORD.findall(text.lower())):
        return _digits(text, {})
    scaled = [match for pattern in (_SCALED, _SCALED_START) for match in pattern.finditer(text)]
    found = _digits(text, {match.start(): _scaled(match, _LARGE) for match in scaled})
    for match in _AFTERNOON.finditer(text):
        values = (match[1], str(int(match[1]) % 12 + 12))
        found = [number for number in found if number.offset != match.start()]
        found.append(Number(values, match.start(), spelled=True))
    spelled = [match for match in _SPELLED.finditer(text) if match[1].lower() in _FACTORS]
    found += [Number((_product(match),), match.start(), spelled=True) for match in spelled]
    found += [
        Number(_VALUES[match.group()], match.start(), spelled=True)
        for match in _WORD.finditer(text.lower())
        if match.group() in _VALUES and not any(one.start() <= match.start() < one.end() for one in spelled)
    ]
    for match in _MONTH.finditer(text):
        month = _MONTHS.index(match[1] or match[2]) + 1
        found.append(Number((str(month), f"{month:02}"), match.start(), spelled=True))
    found += [
        Number((str(_roman(match[1])),), match.start(1), spelled=True) for match in _PART.finditer(text)
    ]
    return sorted(found, key=lambda number: number.offset)


def numbers_of(text: str, writing: WritingSystem) -> Sequence[Number]:
    """The numbers of a text in the language of the translation."""
    return _numbers_of(text, writing.code)


@lru_cache(_KEPT)
def _numbers_of(text: str, code: str) -> Sequence[Number]:
    writing = writing_of(code)
    scaled = _sums(text, writing.scaled, writing.large_numbers) if writing.scaled else {}
    found = _digits(text, scaled)
    if writing.any_number_word is None or writing.any_number_word.search(text) is None:
        return found
    spans = [
        (match.span(), value) for value, word in writing.number_words.items() for match in word.finditer(text)
    ]
    for (start, end), value in spans:
        if any(
            other <= start and end <= stop and (other, stop) != (start, end) for (other, stop), _ in spans
        ):
            continue  # a part of another word, as in 1.5: 한 배 반
        values = ("2", "50", "0.5") if value == "2" else (value,)
        found.append(Number(values, start, spelled=True))
    return sorted(found, key=lambda number: number.offset)


def _digits(text: str, scaled: dict[int, str]) -> list[Number]:
    """The numbers in digits; `scaled` gives by offset the value of one that a word multiplies."""
    if DIGIT.search(text) is None:
        return []
    dates = {
        match.start(index): match[index].lstrip("0") for match in _DATE.finditer(text) for index in (2, 3)
    }
    return [
        Number((scaled.get(start) or dates.get(start) or match.group().replace(",", ""),), start)
        for match in NUMBER.finditer(text)
        if scaled.get(start := match.start()) != ""
    ]


def _product(match: re.Match[str]) -> str:
    """The value of a number of several words."""
    hundred = 100 if match[2] else 1
    return str(_FACTORS[match[1].lower()] * hundred * _SCALES[match[3].lower()])


def _scaled(match: re.Match[str], scales: dict[str, int]) -> str:
    return _plain(float(match[1].replace(",", "").rstrip(".")) * scales[match[2]])


def _sums(text: str, pattern: re.Pattern[str], scales: dict[str, int]) -> dict[int, str]:
    """By offset, the value of `1억 2,000만`, and an empty string for its further numbers."""
    values: dict[int, str] = {}
    total, first, end = 0.0, -1, -1
    for match in pattern.finditer(text):
        value = float(match[1].replace(",", "").rstrip(".")) * scales[match[2]]
        if first >= 0 and text[end : match.start()].strip() == "" and match.start() - end <= 1:
            total += value
            values[match.start()] = ""
        else:
            total, first = value, match.start()
        values[first] = _plain(total)
        end = match.end()
    return values


def _plain(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)


def _roman(numeral: str) -> int:
    """The value of a Roman numeral: 4 for `IV`."""
    values = [_ROMAN[letter] for letter in numeral]
    return sum(-a if a < b else a for a, b in zip(values, [*values[1:], 0], strict=True))


# ---- comparison ----


class _Block(Struct, frozen=True):
    """A paragraph, a heading, or a row of a table, or several of them that are compared together."""

    texts: tuple[str, ...]
    lines: tuple[int, ...]

    def items(self, wanted: Counter[str], numbers: Sequence[Sequence[Number]]) -> list[Item]:
        """The wanted numbers in digits, with their lines: of a value that repeats, the last ones."""
        items: list[Item] = []
        for text, line, found in reversed(list(zip(self.texts, self.lines, numbers, strict=True))):
            for number in reversed(found):
                value = number.values[0]
                if not number.spelled and wanted[value] > 0:
                    wanted[value] -= 1
                    items.append(Item(value, line + text.count("\n", 0, number.offset)))
        return items[::-1]


_Blocks = dict[tuple[int, str], _Block]
"""Blocks by their position in the section, and kind."""

_REORDERED = 3
"""More differing blocks than this in a section of as many blocks are taken to be in another order."""


class AlignedBlocks(Struct, frozen=True):
    """The blocks of two pages.

    Attributes:
        sections: those of each section that has the same blocks in both pages.
        others: all blocks of the other sections.
    """

    sections: list[tuple[_Blocks, _Blocks]]
    others: tuple[list[_Block], list[_Block]]


def align(pair: ComparedPages) -> AlignedBlocks:
    """The blocks of both pages, section by section."""
    ours = _sections(pair.source.structure.prose, pair.alignment.source)
    theirs = _sections(pair.target.structure.prose, pair.alignment.target)
    aligned = AlignedBlocks([], ([], []))
    for section in sorted({*ours, *theirs}):
        blocks, copies = _blocks(ours.get(section, [])), _blocks(theirs.get(section, []))
        if list(blocks) == list(copies):
            aligned.sections.append((blocks, copies))
        else:
            aligned.others[0].extend(blocks.values())
            aligned.others[1].extend(copies.values())
    return aligned


def mismatches(aligned: AlignedBlocks, writing: WritingSystem) -> Iterator[Difference]:
    """The numbers in digits that one page has and the other lacks, block by block.

    A number may be a word on one of the pages. Words that translate each other are not counted twice: what
    is a word on both pages excuses no digit.
    """
    for blocks, copies in aligned.sections:
        yield from _compare_section(blocks, copies, writing)
    ours, theirs = aligned.others
    if mismatch := _compare(_joined(ours), _joined(theirs), writing):
        yield mismatch


def exchanged_words(source: str, target: str, writing: WritingSystem) -> tuple[str, Number] | None:
    """A number word of the translation that contradicts one of the source: `두 번` for three times.

    Each of them lacks a partner, in digits or words, in the other text, and the translation counts with its
    word. Returns the value that the source has, and the word of the translation.
    """
    theirs = numbers_of(target, writing)
    if not any(number.spelled for number in theirs):
        return None
    ours = english_numbers(source)
    if len(ours) > _MOST_WORDS:
        return None
    said = {value for number in ours for value in number.values}
    copied = {value for number in theirs for value in number.values}
    lost = [one for one in ours if one.spelled and not copied & set(one.values) and _counts(one, source)]
    new = [one for one in theirs if one.spelled and not said & set(one.values)]
    new = [one for one in new if one.values[0] != "1" and _COUNTED.match(target, one.offset)]
    if not lost and len(new) == 1 and _ORDINAL.match(target, new[0].offset):
        lost = [
            one
            for one in ours
            if one.values == ("1",) and _FIRST.match(source, one.offset) and "1" not in copied
        ]
    return (lost[0].values[0], new[0]) if len(lost) == 1 and len(new) == 1 else None


_MOST_WORDS = 12
_COUNTING = re.compile(r"two|three|four|five|six|seven|eight|nine|ten|second|third|fourth|fifth|twice")
_FIRST = re.compile(r"first\b", re.IGNORECASE)
_ORDINAL = re.compile("[둘셋넷]째|[가-힣]+ 번째")
_COUNTED = re.compile("[둘셋]째|[가-힣]+ (?:번|개|가지|명|배|곳|단계|차례)")


def _counts(number: Number, text: str) -> bool:
    """Whether an English number word counts or orders; `single`, `pair` and `half` are said otherwise."""
    return _COUNTING.match(text.lower(), number.offset) is not None


class BlockPair(Struct, frozen=True):
    """A paragraph, heading or cell of the source with its translation, and the lines at which they begin."""

    source: str
    target: str
    lines: tuple[int, int]


def paired_blocks(aligned: AlignedBlocks) -> Iterator[BlockPair]:
    """The blocks of the sections that have the same blocks in both pages; rows of tables by their cells."""
    for blocks, copies in aligned.sections:
        for (_, kind), block, copy in zip(blocks, blocks.values(), copies.values(), strict=True):
            lines = block.lines[0], copy.lines[0]
            cells, copied = (one.texts[0].split(_CELL) if kind == "row" else [] for one in (block, copy))
            if len(cells) == len(copied) > 0:
                for cell, other in zip(cells, copied, strict=True):
                    yield BlockPair(cell, other, lines)
            else:
                yield BlockPair(block.texts[0], copy.texts[0], lines)


def _sections(prose: Iterable[Prose], starts: Sequence[int]) -> dict[int, list[Prose]]:
    sections: dict[int, list[Prose]] = {}
    for block in prose:
        sections.setdefault(bisect_right(starts, block.line), []).append(block)
    return sections


def _compare_section(blocks: _Blocks, copies: _Blocks, writing: WritingSystem) -> Iterator[Difference]:
    found = {
        key: list(_compare_block(block, copies[key], key[1], writing))
        for key, block in blocks.items()
        if DIGIT.search(block.texts[0]) or DIGIT.search(copies[key].texts[0])  # most blocks have no digits
    }
    differing = [key for key, mismatches in found.items() if mismatches]
    if len(differing) <= _REORDERED:
        for key in differing:
            yield from found[key]
        return
    ours, theirs = _without_pairs(
        {key: blocks[key] for key in differing}, {key: copies[key] for key in differing}
    )
    if mismatch := _compare(_joined(ours.values()), _joined(theirs.values()), writing):
        yield mismatch


def _compare_block(block: _Block, copy: _Block, kind: str, writing: WritingSystem) -> Iterator[Difference]:
    if mismatch := _compare(block, copy, writing):
        yield mismatch
    elif kind == "row":
        cells, copied = block.texts[0].split(_CELL), copy.texts[0].split(_CELL)
        if len(cells) == len(copied):
            for cell, other in zip(cells, copied, strict=True):
                if cell == other and _BARE.fullmatch(cell):
                    continue  # the same in both languages
                if mismatch := _compare(_Block((cell,), block.lines), _Block((other,), copy.lines), writing):
                    yield mismatch


def _without_pairs(blocks: _Blocks, copies: _Blocks) -> tuple[_Blocks, _Blocks]:
    """The blocks that no block of the other page has the digits of, and those without digits."""
    blocks, copies = dict(blocks), dict(copies)
    for key, block in list(blocks.items()):
        digits = _digits_of(block)
        same = next((other for other, copy in copies.items() if digits and digits == _digits_of(copy)), None)
        if same is not None:
            del blocks[key], copies[same]
    return blocks, copies


def _digits_of(block: _Block) -> list[str]:
    return sorted(match.replace(",", "") for text in block.texts for match in NUMBER.findall(text))


def _blocks(prose: Iterable[Prose]) -> _Blocks:
    """The blocks of a section by their position and kind."""
    found: list[tuple[str, str, int]] = []
    for block in prose:
        kind, text, line = block.kind, block.text, block.line
        if kind == "html" and found and found[-1][::2] == (kind, line):
            # Pieces of HTML in one line are one text, whose order depends on the language.
            text = f"{found.pop()[1]}\n{text}"
        found.append((kind, text, line))
    return {(index, kind): _Block((text,), (line,)) for index, (kind, text, line) in enumerate(found)}


def _joined(blocks: Iterable[_Block]) -> _Block:
    every = list(blocks)
    return _Block(
        tuple(text for block in every for text in block.texts),
        tuple(line for block in every for line in block.lines),
    )


def _compare(block: _Block, copy: _Block, writing: WritingSystem) -> Difference:
    ours = [english_numbers(text) for text in block.texts]
    theirs = [numbers_of(text, writing) for text in copy.texts]
    digits, copies = sorted(_in_digits(ours)), sorted(_in_digits(theirs))
    if digits == copies:
        return NO_DIFFERENCE
    balance = Counter(digits)
    balance.subtract(copies)
    missing, extra = +balance, -balance
    words, copied = _in_words(ours), _in_words(theirs)
    if len(block.texts) == 1:  # in several blocks too many words have no partner
        _cancel(words, copied)
    _excuse(missing, copied)
    _excuse(extra, words)
    if extra["1"] and ("0",) not in words and any(_MEANS_ONE.search(text) for text in block.texts):
        del extra["1"]
    return Difference(block.items(missing, ours), copy.items(extra, theirs))


def _in_digits(numbers: Iterable[Iterable[Number]]) -> list[str]:
    return [number.values[0] for found in numbers for number in found if not number.spelled]


def _in_words(numbers: Iterable[Iterable[Number]]) -> list[tuple[str, ...]]:
    return [number.values for found in numbers for number in found if number.spelled]


def _cancel(words: list[tuple[str, ...]], copied: list[tuple[str, ...]]) -> None:
    """Removes the words of the two lists that translate each other."""
    for values in list(words):
        same = next((other for other in copied if set(values) & set(other)), None)
        if same is not None:
            words.remove(values)
            copied.remove(same)


def _excuse(counts: Counter[str], words: list[tuple[str, ...]]) -> None:
    """Reduces the counts of the numbers that are among the words."""
    for values in words:
        value = next((value for value in values if counts[value] > 0), None)
        if value is not None:
            counts[value] -= 1
