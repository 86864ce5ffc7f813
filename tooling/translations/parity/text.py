"""Formulas, code spans and numbers: equal in both pages, in any order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from tooling.mdbook.markup import Active, Prose, Structure
from tooling.translations.parity.findings import quoted
from tooling.translations.parity.pair import ComparedPages, Difference, Item, difference

_TEXT_IN_FORMULA = re.compile(r"\\(?:text|textrm|textbf|mbox)\s*\{[^{}]*\}")
# Markdown reads `\\Large` and `\Large` as the same.
_ESCAPED = re.compile(r"\\\\(?=[A-Za-z])")
# Digits in names are not numbers: float32, p15, SM90, #12.
_NUMBER = re.compile(r"[0-9](?<![A-Za-z0-9_#.].)[0-9]*(?:(?:,[0-9]{3})+(?:\.[0-9]+)?|(?:\.[0-9]+)*)")

_ENGLISH_WORDS = {
    "0": ("zero", "zeros"),
    "1": ("one", "once", "first", "single"),
    "2": ("two", "twice", "second", "both", "pair", "double"),
    "3": ("three", "third", "triple"),
    "4": ("four", "fourth"),
    "5": ("five", "fifth"),
    "6": ("six", "sixth"),
    "7": ("seven", "seventh"),
    "8": ("eight", "eighth"),
    "9": ("nine", "ninth"),
    "10": ("ten", "tenth"),
    "11": ("eleven",),
    "12": ("twelve",),
}
_ENGLISH_VALUES = {word: value for value, words in _ENGLISH_WORDS.items() for word in words}
_WORD = re.compile("[a-z]+")

_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_PART = re.compile(r"\b(?:[Pp]arts?|[Vv]olumes?|[Cc]hapters?|[Aa]ppendix) ([IVXLC]+)\b")


class _Rule(Struct, frozen=True):
    """How the differences of one kind of item are reported."""

    kind: str
    noun: str
    hint: str
    fatal: bool = False

    def report(self, found: Difference, pair: ComparedPages) -> None:
        add = pair.findings.error if self.fatal else pair.findings.warning
        for item in found.missing:
            lines = pair.alignment.at_source(item.line)
            message = f"the {self.noun} {quoted(item.name)} of the source is missing"
            add(f"{self.kind}-missing", lines, message, hint=self.hint, subject=item.name)
        for item in found.extra:
            lines = pair.alignment.at_target(item.line)
            message = f"the {self.noun} {quoted(item.name)} is not in the source"
            add(f"{self.kind}-extra", lines, message, hint=self.hint, subject=item.name)


_FORMULA = _Rule(
    "formula",
    "formula",
    r"formulas are written between `\\(` and `\\)`, or `\\[` and `\\]`, and are not translated",
    fatal=True,
)
_CODE = _Rule("code-span", "code", "code in text stays as it is, and occurs as often as in the source")
_NUMBER_RULE = _Rule("number", "number", "give the numbers of the source")
_ACTIVE = _Rule(
    "active-content",
    "active content",
    "scripts, styles, event handlers, embedded pages and `javascript:` addresses are those of the source",
    fatal=True,
)
_UP = re.compile(r"(?:\.\./)+")


def compare_active_content(pair: ComparedPages) -> None:
    """Compares what a browser runs, loads or applies; both pages must have the same."""
    ours, theirs = pair.source.structure.active, pair.target.structure.active
    if ours or theirs:
        _ACTIVE.report(difference(_active(ours), _active(theirs), pair.alignment), pair)


def _active(found: Iterable[Active]) -> list[Item]:
    # The translation is at another folder depth, so `../` differs.
    return [Item(_UP.sub("../", one.text), one.line) for one in found]


def compare_formulas(pair: ComparedPages) -> None:
    """Compares the formulas, without the words in them; a lost delimiter is reported as a lost formula."""
    ours, theirs = pair.source.structure, pair.target.structure
    if ours.formulas or theirs.formulas:
        _FORMULA.report(difference(_formulas(ours), _formulas(theirs), pair.alignment), pair)


def _formulas(structure: Structure) -> list[Item]:
    return [
        Item(
            _ESCAPED.sub(r"\\", _TEXT_IN_FORMULA.sub(r"\\text", formula.text)).replace(" ", ""), formula.line
        )
        for formula in structure.formulas
    ]


def compare_codes(pair: ComparedPages) -> None:
    """Compares the code spans: names, flags and values that readers type or look for."""
    codes, copied = pair.source.structure.codes, pair.target.structure.codes
    if sorted([code.text for code in codes]) == sorted([code.text for code in copied]):
        return
    ours = [Item(code.text, code.line) for code in codes]
    theirs = [Item(code.text, code.line) for code in copied]
    _CODE.report(difference(ours, theirs, pair.alignment), pair)


def compare_numbers(pair: ComparedPages) -> None:
    """Compares the numbers in the text; `two` and `두` may be written for 2."""
    ours, theirs = pair.source.structure.prose, pair.target.structure.prose
    text, copied = (
        "\n".join([block.text for block in ours]),
        "\n".join([block.text for block in theirs]),
    )
    balance = Counter(_values(text))
    balance.subtract(_values(copied))
    missing, extra = +balance, -balance
    if missing:
        words = pair.writing.number_words.items()
        missing -= Counter({value: len(word.findall(copied)) for value, word in words})
    if extra:
        extra -= _english_numbers(text)
    if missing or extra:
        found = difference(_numbers(ours), _numbers(theirs), pair.alignment)
        _NUMBER_RULE.report(Difference(_at_most(missing, found.missing), _at_most(extra, found.extra)), pair)


def _values(text: str) -> list[str]:
    return [value.replace(",", "") for value in _NUMBER.findall(text)]


def _at_most(counts: Counter[str], items: list[Item]) -> list[Item]:
    """At most the counted number of items of each name: the others are spelled out on the other page."""
    kept: list[Item] = []
    for item in items:
        if counts[item.name] > 0:
            counts[item.name] -= 1
            kept.append(item)
    return kept


def _numbers(prose: Iterable[Prose]) -> list[Item]:
    items: list[Item] = []
    for block in prose:
        text = block.text
        for match in _NUMBER.finditer(text):
            value = match.group().replace(",", "")
            items.append(Item(value, block.line + text.count("\n", 0, match.start())))
    return items


def _english_numbers(text: str) -> Counter[str]:
    """Numbers that English spells out: `two`, and `Part XI`, which Korean writes as 11."""
    words = (_ENGLISH_VALUES[word] for word in _WORD.findall(text.lower()) if word in _ENGLISH_VALUES)
    return Counter(words) + Counter(str(_roman(numeral)) for numeral in _PART.findall(text))


def _roman(numeral: str) -> int:
    """The value of a Roman numeral: 4 for `IV`."""
    values = [_ROMAN[letter] for letter in numeral]
    return sum(-a if a < b else a for a, b in zip(values, [*values[1:], 0], strict=True))
