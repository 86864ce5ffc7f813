"""Formulas, code spans and numbers: equal in both pages, in any order."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from tooling.mdbook.markup import Active, Structure
from tooling.translations.parity import numbers
from tooling.translations.parity.findings import quoted
from tooling.translations.parity.pair import ComparedPages, Difference, Item, difference

_TEXT_IN_FORMULA = re.compile(r"\\(?:text|textrm|textbf|mbox)\s*\{[^{}]*\}")
# Markdown reads `\\Large` and `\Large` as the same.
_ESCAPED = re.compile(r"\\\\(?=[A-Za-z])")


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
    """Compares the numbers in the text, block by block; `two` and `두` may be written for 2."""
    for found in numbers.mismatches(pair):
        _NUMBER_RULE.report(found, pair)
