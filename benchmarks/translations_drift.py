"""Measures how well changes of the source are detected: every family of edits, on every page pair.

    python benchmarks/translations_drift.py

Each family edits the English text after the pin. A breaking edit must be flagged as work for the translator,
with its class and its section; a cosmetic one must not be flagged. Printed: recall and precision per family.
"""

from __future__ import annotations

import random
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path

from tooling.translations.diff.blocks import Block, BlockKind
from tooling.translations.diff.text import split
from tooling.translations.freshness.description import describe_change
from tooling.translations.model import ChangeClass

ROOT = Path(__file__).resolve().parent.parent
_TREES = (ROOT, ROOT / "tests/translations/data/pairs")
PER_PAGE = 6  # mutants of one family on one page


@dataclass(frozen=True, slots=True)
class Sample:
    """A page and its translation."""

    name: str
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Mutant:
    """An edited source page, and the line of the original at which it was edited."""

    text: str
    line: int | None


@dataclass(frozen=True, slots=True)
class Family:
    """A kind of edit. `expected` is the class it must be given; None for a cosmetic one."""

    name: str
    expected: ChangeClass | None
    mutate: Callable[[str, random.Random], Iterator[Mutant]]


@dataclass(slots=True)
class Score:
    """The results for the mutants of one family."""

    family: Family
    mutants: int = 0
    flagged: int = 0
    right_class: int = 0
    right_section: int = 0
    misses: tuple[str, ...] = ()


def samples() -> tuple[Sample, ...]:
    """Every pair of the book, and the pairs written for the tests."""
    found: list[Sample] = []
    for base in _TREES:
        for source in sorted((base / "book/src").rglob("*.md")):
            name = source.relative_to(base / "book/src")
            target = base / "i18n/ko/book/src" / name
            if target.is_file() and name.name != "SUMMARY.md" and not name.parts[0].startswith("_"):
                found.append(Sample(str(name), source.read_text("utf-8"), target.read_text("utf-8")))
    return tuple(found)


# ---- breaking edits ----


def _blocks(page: str, *kinds: BlockKind) -> list[Block]:
    return [block for block in split(page).blocks if block.kind in kinds]


def _lines(page: str) -> list[str]:
    return page.split("\n")


def _replaced(page: str, block: Block, new: Sequence[str]) -> Mutant:
    lines = _lines(page)
    return Mutant("\n".join([*lines[: block.first - 1], *new, *lines[block.last :]]), block.first)


def _edit_lines(
    pattern: str, replacement: str, *kinds: BlockKind
) -> Callable[[str, random.Random], Iterator[Mutant]]:
    """Replaces the first match in each block of these kinds."""

    def mutate(page: str, rng: random.Random) -> Iterator[Mutant]:
        lines = _lines(page)
        for block in _shuffled(_blocks(page, *kinds), rng):
            old = "\n".join(lines[block.first - 1 : block.last])
            new = re.sub(pattern, replacement, old, count=1)
            if new != old:
                yield _replaced(page, block, new.split("\n"))

    return mutate


# Neither in a directive nor between backticks: a word there is code.
_NOT_IN_CODE = r"(?![^{}]*\}\})(?=(?:[^`]*`[^`]*`)*[^`]*\Z)"


def _shuffled(blocks: list[Block], rng: random.Random) -> list[Block]:
    return rng.sample(blocks, len(blocks))


def _rewrite(page: str, rng: random.Random) -> Iterator[Mutant]:
    for block in _shuffled(_blocks(page, BlockKind.PARAGRAPH), rng):
        prefix = "> " * block.quote
        yield _replaced(page, block, [f"{prefix}Something else is said here, in other words, since today."])


def _remove(*kinds: BlockKind) -> Callable[[str, random.Random], Iterator[Mutant]]:
    def mutate(page: str, rng: random.Random) -> Iterator[Mutant]:
        for block in _shuffled(_blocks(page, *kinds), rng):
            yield _replaced(page, block, [])

    return mutate


def _insert(*text: str) -> Callable[[str, random.Random], Iterator[Mutant]]:
    """Adds a block after each paragraph."""

    def mutate(page: str, rng: random.Random) -> Iterator[Mutant]:
        lines = _lines(page)
        for block in _shuffled(_blocks(page, BlockKind.PARAGRAPH), rng):
            if not block.quote:
                new = [*lines[block.first - 1 : block.last], "", *text, ""]
                yield _replaced(page, block, new)

    return mutate


def _code_parameter(page: str, rng: random.Random) -> Iterator[Mutant]:
    yield from _edit_lines(r"(?m)^(\s*[^`\s].*?)(\w+)(\W*)$", r"\1other\3", BlockKind.FENCE)(page, rng)


def _move_section(page: str, rng: random.Random) -> Iterator[Mutant]:
    sections = split(page).sections
    lines = _lines(page)
    for one, other in pairwise(sections[1:]):
        if one.level == other.level and rng.random() < 0.9:
            first, second, end = one.first - 1, other.first - 1, other.lines
            assert end is not None
            rest = lines[end.last :]
            moved = [*lines[second : end.last], "", *lines[first:second]]
            yield Mutant("\n".join([*lines[:first], *moved, *rest]), None)


_PROSE = (BlockKind.PARAGRAPH, BlockKind.ITEM)
BREAKING = (
    Family("paragraph rewritten", ChangeClass.PROSE, _rewrite),
    Family(
        "word replaced",
        ChangeClass.PROSE,
        _edit_lines(rf"(?<![\w`/(\[{{.#-])[a-z]{{4,}}(?![\w`/)\]}}.-]){_NOT_IN_CODE}", "otherwise", *_PROSE),
    ),
    Family(
        "number changed",
        ChangeClass.PROSE,
        _edit_lines(r"^([^`\n]*[a-z] )\d+(?= [a-z])", r"\g<1>4711", *_PROSE),
    ),
    Family("paragraph removed", ChangeClass.PROSE, _remove(BlockKind.PARAGRAPH)),
    Family("paragraph added", ChangeClass.PROSE, _insert("A paragraph that was not there before.")),
    Family("note added", ChangeClass.PROSE, _insert("> [!NOTE]", "> Mind the gap.")),
    Family("section added", ChangeClass.PROSE, _insert("## A new section", "", "With its text.")),
    Family("list item removed", ChangeClass.PROSE, _remove(BlockKind.ITEM)),
    Family("list added", ChangeClass.PROSE, _insert("- one more thing", "- and another")),
    Family("table row removed", ChangeClass.PROSE, _remove(BlockKind.ROW)),
    Family("table cell changed", ChangeClass.PROSE, _edit_lines(r"\| (?=\w)", "| not ", BlockKind.ROW)),
    Family("heading reworded", ChangeClass.PROSE, _edit_lines(r"(#+ )", r"\1On ", BlockKind.HEADING)),
    Family("heading level changed", ChangeClass.PROSE, _edit_lines(r"^(##+) ", r"\1# ", BlockKind.HEADING)),
    Family("sections swapped", ChangeClass.PROSE, _move_section),
    Family("code span changed", ChangeClass.CODE, _edit_lines(r"`([A-Za-z_]\w+)`", r"`\1_new`", *_PROSE)),
    Family("code parameter changed", ChangeClass.CODE, _code_parameter),
    Family("fence removed", ChangeClass.CODE, _remove(BlockKind.FENCE)),
    Family("fence added", ChangeClass.CODE, _insert("```mojo", "var x = 1", "```")),
    Family(
        "fence language changed", ChangeClass.CODE, _edit_lines(r"^```\w+", "```console", BlockKind.FENCE)
    ),
    Family(
        "include changed",
        ChangeClass.CODE,
        _edit_lines(r"(\{\{#include [^}:]+)(:\w+)?\}\}", r"\1:other}}", BlockKind.FENCE, BlockKind.DIRECTIVE),
    ),
    Family(
        "link target changed",
        ChangeClass.LINKS,
        _edit_lines(r"(?<![!\w])(\[[^\]]+\])\([^)]+\)", r"\1(elsewhere.md)", *_PROSE),
    ),
    Family(
        "picture replaced", ChangeClass.LINKS, _edit_lines(r'(src=")[^"]+', r"\1other.svg", BlockKind.HTML)
    ),
)


# ---- cosmetic edits ----


def _whole(change: Callable[[str], str]) -> Callable[[str, random.Random], Iterator[Mutant]]:
    def mutate(page: str, rng: random.Random) -> Iterator[Mutant]:
        del rng
        if (changed := change(page)) != page:
            yield Mutant(changed, None)

    return mutate


def _outside_code(pattern: str, replacement: str) -> Callable[[str], str]:
    def change(page: str) -> str:
        lines = _lines(page)
        verbatim = {
            number
            for block in _blocks(page, BlockKind.FENCE, BlockKind.CODE, BlockKind.MATH, BlockKind.DIRECTIVE)
            for number in range(block.first, block.last + 1)
        }
        return "\n".join(
            line if number in verbatim else re.sub(pattern, replacement, line)
            for number, line in enumerate(lines, start=1)
        )

    return change


def _rewrap(width: int) -> Callable[[str], str]:
    def change(page: str) -> str:
        lines = _lines(page)
        for block in reversed(_blocks(page, BlockKind.PARAGRAPH)):
            # Excluded: indented text, which belongs to a list, and breaks inside code, a link or a formula.
            if not block.quote and not lines[block.first - 1].startswith(" "):
                text = " ".join(block.lines)
                if not re.search(r"[`\[<$*\\]|  |^\d|[-+#>|=]", text):
                    lines[block.first - 1 : block.last] = textwrap.wrap(text, width)
        return "\n".join(lines)

    return change


COSMETIC = (
    Family("rewrapped at 50", None, _whole(_rewrap(50))),
    Family("rewrapped at 120", None, _whole(_rewrap(120))),
    Family("star bullets", None, _whole(_outside_code(r"^(\s*)- (?=\S)", r"\1* "))),
    Family("plus bullets", None, _whole(_outside_code(r"^(\s*)- (?=\S)", r"\1+ "))),
    Family("numbering", None, _whole(_outside_code(r"^(\s*)\d+\. ", r"\g<1>1. "))),
    Family(
        "underscore emphasis",
        None,
        _whole(_outside_code(r"(?<![\w*`])\*\*([A-Za-z ]+)\*\*(?![\w*`])", r"__\1__")),
    ),
    Family("table padding", None, _whole(_outside_code(r"^\|(.*)\|$", r"|  \1    |"))),
    Family("closed headings", None, _whole(_outside_code(r"^(#{1,6}) ([^#{]+)$", r"\1 \2 \1"))),
    Family("trailing spaces", None, _whole(lambda page: re.sub(r"(?m)$", "  ", page))),
    Family("more blank lines", None, _whole(_outside_code(r"^$", "\n"))),
    Family("CRLF", None, _whole(lambda page: page.replace("\n", "\r\n"))),
    Family("byte order mark", None, _whole(lambda page: f"\ufeff{page}")),
    Family(
        "tilde fences", None, _whole(lambda page: page if "~~~" in page else re.sub(r"(?m)^```", "~~~", page))
    ),
    Family("comments", None, _whole(lambda page: f"<!-- todo -->\n\n{page}\n<!-- end\nof page -->\n")),
    Family("quote-only lines", None, _whole(_outside_code(r"^(> \[!\w+\])$", r"\1\n>"))),
    Family("typographic quotes", None, _whole(_outside_code(r"(?<=[a-z])'(?=[a-z])", "’"))),
)
FAMILIES = (*BREAKING, *COSMETIC)


def score(family: Family, pairs: Sequence[Sample], per_page: int = PER_PAGE) -> Score:
    """Applies a family to all pairs, at most `per_page` times to each, and scores the reports."""
    result = Score(family)
    misses: list[str] = []
    for sample in pairs:
        rng = random.Random(f"{family.name} {sample.name}")
        for mutant in islice(family.mutate(sample.source, rng), per_page):
            difference = describe_change(sample.source, mutant.text, sample.target)
            flagged = bool(difference.classes - {ChangeClass.FORMAT})
            result.mutants += 1
            result.flagged += flagged
            result.right_class += family.expected in difference.classes
            wanted = _section_of(sample.source, mutant.line)
            found = {section.ordinal for section in difference.sections}
            result.right_section += wanted is None or bool({wanted, wanted - 1} & found)
            if flagged != (family.expected is not None):
                misses.append(f"{sample.name}:{mutant.line}")
    result.misses = tuple(misses)
    return result


def _section_of(page: str, line: int | None) -> int | None:
    if line is None:
        return None
    return max(section.ordinal for section in split(page).sections if section.first <= line)


def main() -> int:
    pairs = samples()
    scores = [score(family, pairs) for family in FAMILIES]
    write = sys.stdout.write
    write(f"{len(pairs)} page pairs\n\n{'family':26}{'mutants':>8}{'flagged':>9}{'class':>8}{'section':>9}\n")
    for one in scores:
        share = [
            f"{count / one.mutants:.3f}" if one.mutants and one.family.expected else ""
            for count in (one.right_class, one.right_section)
        ]
        write(f"{one.family.name:26}{one.mutants:8}{one.flagged:9}{share[0]:>8}{share[1]:>8}\n")
        for miss in one.misses[:3]:
            write(f"    missed: {miss}\n")
    breaking = [one for one in scores if one.family.expected is not None]
    found = sum(one.flagged for one in breaking)
    total = sum(one.mutants for one in breaking)
    wrong = sum(one.flagged for one in scores if one.family.expected is None)
    recall, precision = found / total, found / (found + wrong)
    write(f"\nrecall {recall:.4f} ({found} of {total}), ")
    write(f"precision {precision:.4f} ({wrong} cosmetic edits flagged)\n")
    right_class = sum(one.right_class for one in breaking) / total
    right_section = sum(one.right_section for one in breaking) / total
    write(f"class right {right_class:.4f}, section right {right_section:.4f}\n")
    return 0 if recall >= 0.98 and precision >= 0.98 and wrong == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
