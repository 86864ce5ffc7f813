"""Formulas, code spans and numbers: equal in both pages, in any order."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from tooling.mdbook.markup import Active, Structure
from tooling.text import Text
from tooling.translations.parity import number_order, number_particles, numbers, units
from tooling.translations.parity.findings import quoted
from tooling.translations.parity.pair import Alignment, ComparedPages, Difference, Item, difference

_TEXT_IN_FORMULA = re.compile(r"\\(?:text|textrm|textbf|mbox)\s*\{[^{}]*\}")
# Markdown reads `\\Large` and `\Large` as the same.
_ESCAPED = re.compile(r"\\\\(?=[A-Za-z])")


class _Rule(Struct, frozen=True):
    """How the differences of one kind of item are reported."""

    kind: str
    missing: Text
    extra: Text
    hint: Text
    fatal: bool = False

    def report(self, found: Difference, pair: ComparedPages) -> None:
        add = pair.findings.error if self.fatal else pair.findings.warning
        for item in found.missing:
            lines = pair.alignment.at_source(item.line)
            message = self.missing.of(name=quoted(item.name))
            add(f"{self.kind}-missing", lines, message, hint=self.hint, subject=item.name)
        for item in found.extra:
            lines = pair.alignment.at_target(item.line)
            message = self.extra.of(name=quoted(item.name))
            add(f"{self.kind}-extra", lines, message, hint=self.hint, subject=item.name)


_FORMULA = _Rule(
    "formula",
    Text("the formula {name} of the source is missing"),
    Text("the formula {name} is not in the source"),
    Text("formulas are written between `\\\\(` and `\\\\)`, or `\\\\[` and `\\\\]`, and are not translated"),
    fatal=True,
)
_CODE = _Rule(
    "code-span",
    Text("the code {name} of the source is missing"),
    Text("the code {name} is not in the source"),
    Text("code in text stays as it is, and occurs as often as in the source"),
)
_NUMBER_RULE = _Rule(
    "number",
    Text("the number {name} of the source is missing"),
    Text("the number {name} is not in the source"),
    Text("give the numbers of the source"),
)
_ACTIVE = _Rule(
    "active-content",
    Text("the active content {name} of the source is missing"),
    Text("the active content {name} is not in the source"),
    Text(
        "scripts, styles, event handlers, embedded pages and `javascript:` addresses are those of the source"
    ),
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
    found = difference(ours, theirs, pair.alignment)
    plain = "\n".join(block.text for block in pair.target.structure.prose)
    _CODE.report(_without_mentions(found, ours, theirs, pair.alignment, plain), pair)


def _without_mentions(
    found: Difference, ours: Sequence[Item], theirs: Sequence[Item], alignment: Alignment, plain: str
) -> Difference:
    """The difference without names that the section mentions on both pages, only not as often.

    A name that is missing where another one is too many may have been replaced by it, and one that is in the
    text of the translation, `plain`, has lost its backticks.
    """
    source, target = alignment.source, alignment.target
    mentioned = {(item.name, bisect_right(source, item.line)) for item in ours}
    copied = {(item.name, bisect_right(target, item.line)) for item in theirs}
    missing = Counter(bisect_right(source, item.line) for item in found.missing)
    extra = Counter(bisect_right(target, item.line) for item in found.extra)
    return Difference(
        [
            item
            for item in found.missing
            if extra[section := bisect_right(source, item.line)]
            or (item.name, section) not in copied
            or item.name in plain
        ],
        [
            item
            for item in found.extra
            if missing[section := bisect_right(target, item.line)] or (item.name, section) not in mentioned
        ],
    )


def compare_numbers(pair: ComparedPages) -> None:
    """Compares the numbers in the text, and what they count, block by block."""
    aligned = numbers.align(pair)
    _compare_numbers(pair, aligned)
    blocks = list(numbers.paired_blocks(aligned))
    # Most blocks have nothing that these rules compare.
    words = pair.writing.any_number_word
    if words is not None:
        _compare_number_words(pair, [block for block in blocks if words.search(block.target)])
    _compare_number_order(pair, [block for block in blocks if numbers.DIGIT.search(block.target)])
    if units.has_units(pair.target.prose, pair.writing):
        _compare_units(pair, blocks)
    _check_particles(pair)


def _compare_numbers(pair: ComparedPages, aligned: numbers.AlignedBlocks) -> None:
    """Reports missing and additional numbers; `two` and `두` may be written for 2."""
    mismatches = list(numbers.mismatches(aligned, pair.writing))
    linked = _linked_numbers(pair) if mismatches else set()
    for found in mismatches:
        # A page that is linked once more is named once more, too.
        extra = [item for item in found.extra if (item.name, item.line) not in linked or found.missing]
        _NUMBER_RULE.report(Difference(found.missing, extra), pair)


def _linked_numbers(pair: ComparedPages) -> set[tuple[str, int]]:
    """The numbers in texts of links, with their lines, that the source has in a text of a link."""
    names = {detail.name for detail in pair.source.structure.details if detail.kind == "link"}
    known = {number for name in names for number in numbers.NUMBER.findall(name)}
    return {
        (number, detail.line)
        for detail in pair.target.structure.details
        if detail.kind == "link"
        for number in numbers.NUMBER.findall(detail.name)
        if number in known
    }


def _compare_number_words(pair: ComparedPages, blocks: Iterable[numbers.BlockPair]) -> None:
    """Reports a number word that contradicts the one of the source."""
    for block in blocks:
        found = numbers.exchanged_words(block.source, block.target, pair.writing)
        if found is not None:
            value, word = found
            line = block.lines[1] + block.target.count("\n", 0, word.offset)
            pair.findings.warning(
                "number-word",
                (block.lines[0], line),
                Text("{word} says {copied}; its source says {value}").of(
                    word=quoted(block.target[word.offset :][:12]), copied=word.values[0], value=value
                ),
                hint=Text("give the numbers of the source"),
                subject=f"{value} {word.values[0]}",
            )


def _compare_number_order(pair: ComparedPages, blocks: Iterable[numbers.BlockPair]) -> None:
    """Reports two numbers of a block that have changed places, where the grammar cannot have moved them."""
    for block in blocks:
        found = number_order.exchanged(block.source, block.target, pair.writing)
        if found is not None:
            first, second = found
            one, other = first.values[0], second.values[0]
            pair.findings.warning(
                "number-order",
                (block.lines[0], block.lines[1] + block.target.count("\n", 0, first.offset)),
                Text("the numbers {one} and {other} have changed places").of(one=one, other=other),
                hint=Text("give the numbers of the source"),
                subject=f"{one} {other}",
            )


def _compare_units(pair: ComparedPages, blocks: Iterable[numbers.BlockPair]) -> None:
    """Compares the units of numbers, and words such as half and double."""
    for block in blocks:
        for item, expected in units.wrong_units(block.source, block.target, pair.writing):
            pair.findings.warning(
                "unit",
                (block.lines[0], block.lines[1] + item.line),
                Text("{name} contradicts the source, which has {expected} here").of(
                    name=quoted(item.name), expected=quoted(expected)
                ),
                hint=Text("give the unit or the word of the source"),
                subject=f"{expected} {item.name}",
            )


def _check_particles(pair: ComparedPages) -> None:
    """Reports Korean particles that do not fit the number before them."""
    if not any(True for _ in number_particles.wrong_particles(pair.target.prose, pair.writing)):
        return
    for block in pair.target.structure.prose:
        for wrong in number_particles.wrong_particles(block.text, pair.writing):
            line = block.line + block.text.count("\n", 0, wrong.offset)
            pair.findings.warning(
                "number-particle",
                pair.alignment.at_target(line),
                Text("the particle of {written} does not fit; that of {expected} does").of(
                    written=quoted(wrong.written), expected=quoted(wrong.expected)
                ),
                hint=Text("give the number of the source, or change the particle"),
                subject=wrong.written,
            )
