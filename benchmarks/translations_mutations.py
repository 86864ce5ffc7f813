"""Measures how many seeded translation errors are found, and how many findings are wrong.

Each family introduces one kind of error into a correct Korean page, at every possible position. Recall is the
share of these pages with a finding of the right kind; precision is the share of the new findings that are
about the error. Harmless edits, which a translator may make at any time, must cause no finding at all.

The rules for numbers are measured on the whole Korean book: each number plus one, and the first two numbers
of each line exchanged.

    python -m benchmarks.translations_mutations [--misses]
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice, pairwise
from pathlib import Path
from typing import cast

from msgspec import structs

from tooling.mdbook.books import Library
from tooling.mdbook.files import Files
from tooling.mdbook.markup import Prose
from tooling.mdbook.pages import Page
from tooling.text import ENGLISH, in_language
from tooling.translations.parity import (
    blocks,
    comparison,
    glossary,
    number_order,
    number_particles,
    numbers,
    units,
)
from tooling.translations.parity.findings import Findings, ParityFinding
from tooling.translations.parity.names import Names
from tooling.translations.parity.pair import ComparedPages, Difference
from tooling.translations.writing_systems import writing_of

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "tests/translations/data/pairs"
PAGES = ("puzzle_15/puzzle_15.md", "puzzle_12/layout_tensor.md")
MOST_PER_PAGE = 16  # of one family

Mutation = Callable[["Sample"], Iterator[str]]


@dataclass(frozen=True, slots=True)
class Sample:
    """A page and its correct translation."""

    source: Page
    target: Page

    @property
    def text(self) -> str:
        return self.target.text


@dataclass(frozen=True, slots=True)
class Family:
    """One kind of error.

    Attributes:
        name: what is broken.
        kinds: the kinds of findings of which at least one must appear.
        mutate: all broken variants of a page's text.
        consequences: kinds that may also appear, because they are true too.
    """

    name: str
    kinds: frozenset[str]
    mutate: Mutation
    consequences: frozenset[str] = frozenset()


@dataclass(slots=True)
class Score:
    """The findings for one family."""

    family: Family
    broken: int = 0
    found: int = 0
    findings: int = 0
    right: int = 0
    missing: int = 0  # findings of something that is missing
    placed: int = 0  # those whose line is at most one from that of the error
    misses: list[str] = field(default_factory=list)


# ---- ways to break a page ----


def replacing(pattern: str, replacement: str | Callable[[re.Match[str]], str], flags: int = re.M) -> Mutation:
    """Replaces one match after the other."""

    def mutate(sample: Sample) -> Iterator[str]:
        for match in re.finditer(pattern, sample.text, flags):
            new = match.expand(replacement) if isinstance(replacement, str) else replacement(match)
            if new != match.group():
                yield sample.text[: match.start()] + new + sample.text[match.end() :]

    return mutate


def outside_fences(mutation: Mutation) -> Mutation:
    """Only variants whose code blocks are those of the correct page."""

    def mutate(sample: Sample) -> Iterator[str]:
        fences = re.findall(r"^```.*?^```", sample.text, re.M | re.S)
        for text in mutation(sample):
            if re.findall(r"^```.*?^```", text, re.M | re.S) == fences:
                yield text

    return mutate


def code_lines(sample: Sample) -> Iterator[str]:
    """Changes one line of code, not a comment and not an include."""
    inside = False
    lines = sample.text.split("\n")
    for number, line in enumerate(lines):
        if line.startswith("```"):
            inside = not inside
        elif inside and line.strip() and not line.lstrip().startswith(("#", "{{")):
            yield "\n".join([*lines[:number], f"x{line}", *lines[number + 1 :]])


def removing_fence(sample: Sample) -> Iterator[str]:
    for match in re.finditer(r"^```\w+\n.*?^```\n", sample.text, re.M | re.S):
        yield sample.text[: match.start()] + sample.text[match.end() :]


def other_section(sample: Sample) -> Iterator[str]:
    """Lets a fragment lead to another heading of the same page."""
    for match in re.finditer(r"\]\(([^)#\s]+)#([^)]+)\)", sample.text):
        path = (sample.target.path.parent / match[1]).resolve()
        page = Page.read(path, sample.target.root)
        for heading in page.structure.headings:
            if heading.id != match[2]:
                yield f"{sample.text[: match.start(2)]}{heading.id}{sample.text[match.end(2) :]}"


def untranslated(sample: Sample) -> Iterator[str]:
    """Replaces the Korean paragraph by the English one."""
    ours = [b for b in sample.source.structure.prose if b.kind == "paragraph"]
    theirs = [b for b in sample.target.structure.prose if b.kind == "paragraph"]
    source, lines = sample.source.text.split("\n"), sample.text.split("\n")
    assert len(ours) == len(theirs), "the sample has paragraphs that do not correspond"
    for block, copy in zip(ours, theirs, strict=True):
        count, copied = block.text.count("\n") + 1, copy.text.count("\n") + 1
        if len(re.findall(r"[A-Za-z]{2,}", block.text)) < 5:
            continue
        new = source[block.line - 1 : block.line - 1 + count]
        yield "\n".join([*lines[: copy.line - 1], *new, *lines[copy.line - 1 + copied :]])


def untranslated_heading(sample: Sample) -> Iterator[str]:
    ours = sample.source.structure.headings
    theirs = sample.target.structure.headings
    lines = sample.text.split("\n")
    for heading, copy in zip(ours, theirs, strict=True):
        if len(re.findall(r"[A-Za-z]{2,}", heading.text)) >= 2:
            name = f" {{#{copy.id}}}" if copy.explicit else ""
            new = f"{'#' * copy.level} {heading.text}{name}"
            yield "\n".join([*lines[: copy.line - 1], new, *lines[copy.line :]])


def removing_paragraph(sample: Sample) -> Iterator[str]:
    """Takes out a paragraph or list item."""
    lines = sample.text.split("\n")
    for block in sample.target.structure.prose:
        text = lines[block.line - 1]
        if block.kind == "paragraph" and not text.startswith((">", "<")) and "<a " not in text:
            count = block.text.count("\n") + 1
            yield "\n".join([*lines[: block.line - 1], *lines[block.line - 1 + count :]])


def with_rival(sample: Sample) -> Iterator[str]:
    for term in GLOSSARY.terms:
        if term.rivals and re.search(rf"\b{re.escape(term.english)}", sample.source.text, re.I):
            for form in term.accepted:
                for match in re.finditer(rf"(?<![가-힣]){re.escape(form)}", sample.text):
                    yield sample.text[: match.start()] + term.rivals[0] + sample.text[match.end() :]


def without_term(sample: Sample) -> Iterator[str]:
    """Replaces a term by another word everywhere."""
    named = r"\*{0,2}\([a-z\s-]+\)"
    for form in (
        "공유 메모리",
        "경쟁 상태",
        "뱅크 충돌",
        "스트라이드",
        "트리 리덕션",
        "내적",
        "부분합",
        "원자적 연산",
        "그리드",
    ):
        if form in sample.text:
            yield re.sub(rf"{form}(?:{named})?", "이것", sample.text)


def without_first_use(sample: Sample) -> Iterator[str]:
    for term in GLOSSARY.terms:
        if term.first_use and re.search(rf"[가-힣*]\({term.english}", sample.text, re.I):
            named = rf"(?<=[가-힣*])\((?:[a-z]+ )*{term.english}(?:s|es|ed)?\)"
            text = re.sub(named, "", sample.text, flags=re.I)
            if text != sample.text:
                yield text


def swapping(pattern: str) -> Mutation:
    """Exchanges each match with the next."""

    def mutate(sample: Sample) -> Iterator[str]:
        text, found = sample.text, list(re.finditer(pattern, sample.text, re.M))
        for one, other in pairwise(found):
            between = text[one.end() : other.start()]
            yield f"{text[: one.start()]}{other[0]}{between}{one[0]}{text[other.end() :]}"

    return mutate


def doubled(pattern: str) -> Mutation:
    return replacing(pattern, lambda match: f"{match.group()}\n{match.group()}")


def family(name: str, kinds: str, mutate: Mutation, consequences: str = "") -> Family:
    return Family(name, frozenset(kinds.split()), mutate, frozenset(consequences.split()))


GLOSSARY = glossary.load(ROOT / "i18n/ko/glossary.yaml")

# Findings that follow from removing text.
_LOST = "directive number-missing code-span-missing link-missing formula-missing"
_LOST += " glossary-missing glossary-first-use"

FAMILIES = (
    family(
        "heading added",
        "heading-extra",
        replacing(r"^## .*$", r"\g<0>\n\n## 덧붙인 제목"),
        "link-section block-count",
    ),
    family(
        "heading removed",
        "heading-missing",
        outside_fences(replacing(r"^#{1,3} .*\n", "")),
        f"block-count link-missing-fragment link-section {_LOST}",
    ),
    family("heading deeper", "heading-level", outside_fences(replacing(r"^#{1,3}(?= )", r"\g<0>#"))),
    family("heading higher", "heading-level", replacing(r"^#(#{1,2})(?= )", r"\1")),
    family("heading id lost", "heading-id", replacing(r" \{#\S+\}$", "")),
    family("heading id changed", "heading-id", replacing(r"\{#(\S+)\}$", r"{#\1-2}")),
    family(
        "heading not translated",
        "untranslated",
        untranslated_heading,
        "link-missing-fragment glossary-first-use glossary-missing",
    ),
    family("fence language changed", "fence-language", replacing(r"^```(mojo|bash|txt)$", "```python")),
    family("fence language lost", "fence-language", replacing(r"^```(mojo|bash)$", "```")),
    family("code changed", "fence-code", code_lines),
    family(
        "code line removed",
        "fence-code",
        replacing(r"^(?:pixi run -e \w+ p12\S*|expected: .*|barrier\(\).*|out: .*)\n", ""),
    ),
    family("fence removed", "fence-missing", removing_fence, "include"),
    family("fence added", "fence-extra", doubled(r"^```bash\n[^`]*```$")),
    family(
        "include path changed",
        "include",
        replacing(r"(#include [^}\s]+?)/(p1[25]\w*)\.mojo", r"\1/\2_raw.mojo"),
        "include-missing-file",
    ),
    family(
        "include of the other tree",
        "include",
        replacing(r"(#include [^}\s]+)/problems/", r"\1/solutions/"),
        "include-missing-anchor",
    ),
    family(
        "include anchor changed",
        "include",
        replacing(r"(#include \S+?)_solution\}\}", r"\1}}"),
        "include-missing-anchor",
    ),
    family(
        "include anchor misspelt",
        "include",
        replacing(r"(#include \S+:\w+)\}\}", r"\1x}}"),
        "include-missing-anchor",
    ),
    family(
        "include misspelt",
        "include",
        replacing(r"#include ", "#inculde "),
        "directive include-misspelt url-missing url-extra",
    ),
    family("include removed", "include", replacing(r"^\{\{#include.*\}\}\n", "")),
    family(
        "include one level short",
        "include",
        replacing(r"#include \.\./\.\./(?=\.\./)", "#include ../"),
        "include-missing-file",
    ),
    family(
        "image missing",
        "link-missing-image",
        replacing(r"src=\"/(\S+)\.svg\"", r'src="/\1-old.svg"'),
        "image-changed",
    ),
    family("image removed", "image-missing", replacing(r"^<img .*>\n", ""), "tag-missing"),
    family(
        "image of the other mode",
        "image-changed image-place image-missing",
        replacing(r"15-b\.svg", "15-w.svg"),
        "image-extra",
    ),
    family(
        "link target wrong",
        "link-missing",
        replacing(r"\]\(\.\./(puzzle_\d\d)/(\w+)\.md", r"](../\1/\2_other.md"),
        "link-extra link-missing-page",
    ),
    family(
        "link to another page",
        "link-missing",
        replacing(r"\.\./puzzle_08/layout_tensor\.md(?=\))", "../puzzle_11/layout_tensor.md"),
        "link-extra",
    ),
    family("link lost", "link-missing", replacing(r"\[([^\]\n]+)\]\(\.\./[^)]+\)", r"\1")),
    family(
        "fragment missing", "link-missing-fragment", replacing(r"(\]\([^)#\s]+#)[^)]+\)", r"\1없는-제목)")
    ),
    family("fragment of another section", "link-section", other_section),
    family(
        "fragment in English",
        "link-missing-fragment",
        replacing(r"(\]\([^)#\s]+#)[^)]+\)", r"\1reading-and-writing)"),
    ),
    family("fragment lost", "link-missing", replacing(r"(\]\([^)#\s]+)#[^)]+\)", r"\1)"), "link-extra"),
    family(
        "address changed",
        "url-missing",
        replacing(r"https://docs\.\w+\.com", "https://example.org"),
        "url-extra",
    ),
    family(
        "repository link changed",
        "url-missing",
        replacing(r"/blob/main/problems/", "/blob/main/solutions/"),
        "url-extra",
    ),
    family(
        "table column lost",
        "table-columns",
        replacing(
            r"^\|.*\|\n\|[-:|]+\|\n(?:\|.*\|\n)+", lambda m: re.sub(r"\|[^|\n]*\|\n", "|\n", m.group())
        ),
        _LOST,
    ),
    family(
        "table cell lost",
        "table-columns table-missing",
        replacing(r"^(\|[^|\n]*\|)[^|\n]*\|(?=\n|[^\n]*\|\n)(?=[^\n]*\n\|[^-:])", r"\1"),
        f"block-count {_LOST}",
    ),
    family("table row lost", "table-rows", replacing(r"^\| (?!이름|매개|단계)[^|\n]*\|.*\n", ""), _LOST),
    family("table split", "table-rows", replacing(r"^(\| [`13].*\n)(?=\|)", r"\1\n"), f"block-count {_LOST}"),
    family("tab label missing", "tab", replacing(r"^    <button.*\n", "")),
    family(
        "tab panel missing",
        "tab",
        replacing(r"^  <div class=\"tab-content\">\n.*?^  </div>\n", "", re.M | re.S),
        "fence-missing",
    ),
    family("tab class changed", "tab", replacing(r"class=\"(tab-\w+|code-tabs)\"", r'class="\1x"')),
    family("details removed", "tag-missing", replacing(r"^<details.*\n", "")),
    family("class changed", "tag-changed", replacing(r"class=\"(solution-\w+)\"", r'class="\1-ko"')),
    family("closing tag lost", "tag-missing", replacing(r"^</(?:div|details)>\n", "")),
    family("formula delimiter lost", "formula-missing", replacing(r"\\\\(?=\()", r"\\"), "number-extra"),
    family(
        "formula end lost",
        "formula-missing",
        replacing(r"\\\\(?=\))", r"\\"),
        "formula-extra number-extra number-missing code-span-missing glossary-missing glossary-first-use",
    ),
    family(
        "formula changed",
        "formula-missing",
        replacing(r"(\\\\[\(\[].*?)i(.*?\\\\[\)\]])", r"\1k\2"),
        "formula-extra",
    ),
    family(
        "code span changed",
        "code-span-missing",
        outside_fences(replacing(r"(?<!`)`([^`\n{]+)`(?!`)", r"`\1_x`")),
        "code-span-extra",
    ),
    family(
        "code span without ticks",
        "code-span-missing",
        outside_fences(replacing(r"(?<!`)`([A-Za-z_.]+)`(?!`)", r"\1")),
    ),
    family(
        "code span translated",
        "code-span-missing",
        outside_fences(replacing(r"`(?:barrier\(\)|output|TPB|SIZE)`", "`배리어`")),
        "code-span-extra",
    ),
    family(
        "number changed",
        "number-missing number-extra",
        outside_fences(
            replacing(
                r"(?<![\w.#`/{:-])(\d[\d,]*)(?=[개단바이 |로에부까]|$)(?![^<\n]*>)(?!\. )",
                lambda m: str(int(m[1].replace(",", "")) + 37),
            )
        ),
    ),
    family(
        "number lost", "number-missing", replacing(r"(?<=최대 )1,024개|140(?=이)|32(?=바이트)|64개", "여러")
    ),
    family("alert translated", "alert-type", replacing(r"\[!NOTE\]|\[!WARNING\]", "[!참고]")),
    family("alert of another type", "alert-type", replacing(r"\[!NOTE\]|\[!WARNING\]", "[!TIP]")),
    family("alert removed", "alert-missing", replacing(r"^> \[!\w+\]\n", "")),
    family(
        "paragraph not translated",
        "untranslated",
        untranslated,
        "glossary-missing glossary-first-use link-missing-fragment link-section",
    ),
    family(
        "sentence not translated",
        "untranslated-sentence",
        replacing(
            r"(?<=[가-힣]다\.)(?= \S)",
            " This step waits until all threads of the block have written their values.",
        ),
        "glossary-first-use",
    ),
    family("paragraph removed", "block-count", removing_paragraph, f"url-missing {_LOST}"),
    family(
        "Han slipped in",
        "foreign-script",
        outside_fences(replacing(r"(?<![`\w])(행|값|스레드|블록|메모리)(?=[을를은는이가의 ])", "線程")),
        "glossary-missing glossary-first-use",
    ),
    family(
        "kana slipped in",
        "foreign-script",
        replacing(r"(?<![`\w])(커널|퍼즐|배리어)(?!barrier)", "カーネル"),
        "glossary-missing glossary-first-use",
    ),
    family("Chinese full stop", "foreign-sign", replacing(r"(?<=[가-힣]다)\.(?=$| )", "。")),
    family("broken syllable", "broken-letters", outside_fences(replacing(r"(?<= )모든", "모드ㄴ"))),
    family(
        "glossary rival",
        "glossary-rival",
        outside_fences(with_rival),
        "glossary-missing glossary-first-use link-missing-fragment",
    ),
    family(
        "glossary term missing", "glossary-missing", without_term, "glossary-first-use link-missing-fragment"
    ),
    family("first use without English", "glossary-first-use", without_first_use, "link-missing-fragment"),
    family("directive added", "include", replacing(r"^(\{\{#include .*\}\})$", r"\1\n\1")),
    family("includes swapped", "include-place", swapping(r"^\{\{#include .*\}\}$")),
    family("code blocks swapped", "fence-place fence-code", swapping(r"^```bash\n[^`]*```$")),
    family("list item removed", "block-count", replacing(r"^(?:- |\d\. ).*\n", ""), f"url-missing {_LOST}"),
    family(
        "alternative text not translated",
        "untranslated",
        replacing(r"alt=\"[^\"]*\"", 'alt="Four rows, each summed by its own block"'),
    ),
)

# Edits that are allowed in a translation.
HARMLESS: tuple[tuple[str, Mutation], ...] = (
    ("comment in code reworded", replacing(r"# 모든 스레드가 먼저 읽습니다", "# 먼저 모두 읽기")),
    ("comment in shell reworded", replacing(r"# NVIDIA가 기본 환경입니다", "# 기본값은 NVIDIA")),
    ("lines wrapped otherwise", replacing(r"^((?![#|]).*?[가-힣,]) (?=[가-힣]{2})", r"\1\n")),
    ("table padded", replacing(r"^\| (\S+) \|", r"|  \1   |")),
    ("emphasis added", replacing(r"(?<= )모두(?= )", "**모두**")),
    ("polite ending changed", replacing(r"해 보세요\.", "해 봅시다.")),
    ("alternative text changed", replacing(r"alt=\"[^\"]*\"", 'alt="행을 더하는 그림"')),
    ("comment added", replacing(r"^## .*$", r"<!-- 번역 메모 -->\n\n\g<0>")),
    ("other bullet", replacing(r"^- ", "* ")),
    ("number spelt", replacing(r"스레드 두 개는", "스레드 2개는")),
    ("accepted form of a term", replacing(r"원소 `TPB`개", "요소(element) `TPB`개")),
    ("particle changed", replacing(r"(?<=스레드)가(?= 모두)", "들이")),
    ("empty line added", replacing(r"\n\n(?=#)", "\n\n\n")),
    ("link text changed", replacing(r"\[퍼즐 8\]", "[8번 퍼즐]")),
    ("order in a sentence", replacing(r"`a`와 `b`", "`b`와 `a`")),
    ("digits grouped otherwise", replacing(r"1,024개", "1024개")),
    ("fence without language is text", replacing(r"^```txt$", "```text")),
)


def samples() -> list[Sample]:
    source_root, target_root = SAMPLES / "book/src", SAMPLES / "i18n/ko/book/src"
    return [
        Sample(Page.read(source_root / name, source_root), Page.read(target_root / name, target_root))
        for name in PAGES
    ]


def findings(sample: Sample, text: str, library: Library) -> list[ParityFinding]:
    """The findings of both checks on a variant of the translated page."""
    target = Page.of(sample.target.path, sample.target.root, text)
    return [
        *comparison.compare(sample.source, target, library),
        *glossary.check(sample.source, target, GLOSSARY),
    ]


def new_findings(sample: Sample, text: str, library: Library) -> list[ParityFinding]:
    known = {finding.key for finding in findings(sample, sample.text, library)}
    return [finding for finding in findings(sample, text, library) if finding.key not in known]


def score(family: Family, pages: list[Sample], library: Library) -> Score:
    """Applies the family to every page and counts the findings."""
    result = Score(family)
    allowed = family.kinds | family.consequences
    for sample in pages:
        for text in islice(family.mutate(sample), MOST_PER_PAGE):
            found = new_findings(sample, text, library)
            result.broken += 1
            result.findings += len(found)
            result.right += sum(finding.kind in allowed for finding in found)
            lines = [finding.line_target for finding in found if "missing" in finding.kind]
            result.missing += len(lines)
            broken = _first_difference(sample.text, text)
            result.placed += sum(line is not None and abs(line - broken) <= 1 for line in lines)
            if any(finding.kind in family.kinds for finding in found):
                result.found += 1
            else:
                result.misses.append(_difference(sample.text, text))
            result.misses += [f"wrong: {_shown(f)}" for f in found if f.kind not in allowed]
    return result


def harmless_findings(
    mutate: Mutation, pages: list[Sample], library: Library
) -> tuple[int, list[ParityFinding]]:
    """The number of variants of a harmless edit, and their false positives."""
    variants = [(sample, text) for sample in pages for text in islice(mutate(sample), MOST_PER_PAGE)]
    return len(variants), [
        finding for sample, text in variants for finding in new_findings(sample, text, library)
    ]


@dataclass(slots=True)
class NumberScore:
    """How many changed numbers of the book's prose no rule for numbers notices.

    Attributes:
        alarms: findings on the book as it is.
        changed: by kind of change, the number of changes.
        silent: by kind of change, the changes without a new finding, as shown by `--misses`.
    """

    alarms: int = 0
    changed: Counter[str] = field(default_factory=Counter)
    silent: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))


def number_score(book: Path, translation: Path) -> NumberScore:
    """Changes every number of the prose of the translation, one at a time, and asks the rule for numbers."""
    score = NumberScore()
    for path in sorted(translation.rglob("*.md")):
        name = path.relative_to(translation)
        if (book / name).is_file():
            _score_numbers(Page.read(book / name, book), Page.read(path, translation), score)
    return score


def _score_numbers(source: Page, target: Page, score: NumberScore) -> None:
    writing, findings = writing_of("ko"), Findings()
    names = Names.of(source, target, Files())
    alignment = blocks.compare(source, target, names, findings, writing)

    known: dict[numbers.BlockPair, list[object]] = {}

    def of_block(block: numbers.BlockPair) -> list[object]:
        if block not in known:
            rules = (number_order.exchanged, numbers.exchanged_words, units.wrong_units)
            results = (rule(block.source, block.target, writing) for rule in rules)
            known[block] = [list(result) if isinstance(result, Iterator) else result for result in results]
            known[block].append(list(number_particles.wrong_particles(block.target, writing)))
        return known[block]

    def found(prose: tuple[Prose, ...]) -> list[object]:
        page = structs.replace(target, structure=structs.replace(target.structure, prose=prose))
        pair = ComparedPages(source, page, names, alignment, None, findings, writing)
        aligned = numbers.align(pair)
        return [*numbers.mismatches(aligned, writing), *map(of_block, numbers.paired_blocks(aligned))]

    prose = target.structure.prose
    before = found(prose)
    score.alarms += sum(isinstance(one, Difference) or any(cast("list[object]", one)) for one in before)
    for index, block in enumerate(prose):
        for kind, text in changed_numbers(block.text):
            score.changed[kind] += 1
            changed = structs.replace(block, text=text)
            if found((*prose[:index], changed, *prose[index + 1 :])) == before:
                score.silent[kind].append(f"{target.path.name}:{block.line}: {text}")


def changed_numbers(text: str) -> Iterator[tuple[str, str]]:
    """Every number of a text plus one, and the first two different numbers of each line exchanged."""
    for match in numbers.NUMBER.finditer(text):
        digits = match.group().replace(",", "")
        whole, _, fraction = digits.rpartition(".")
        more = f"{whole}.{(int(fraction) + 1):0{len(fraction)}}" if whole else str(int(digits) + 1)
        kind = "1 to 4" if digits in ("1", "2", "3", "4") else "5 and more"
        yield f"plus one, {kind}", text[: match.start()] + more + text[match.end() :]
    for line in re.finditer("[^\n]+", text):
        found = list(islice(numbers.NUMBER.finditer(text, line.start(), line.end()), 2))
        if len(found) == 2 and found[0].group() != found[1].group():
            one, two = found
            between = text[one.end() : two.start()]
            exchanged = text[: one.start()] + two.group() + between + one.group() + text[two.end() :]
            yield "two exchanged", exchanged


def _shown(finding: ParityFinding) -> str:
    return f"{finding.key} {in_language(finding.message, ENGLISH)}"


def _first_difference(before: str, after: str) -> int:
    old, new = before.split("\n"), after.split("\n")
    pairs = enumerate(zip(old, new, strict=False), 1)
    return next((line for line, (one, other) in pairs if one != other), min(len(old), len(new)) + 1)


def _difference(before: str, after: str) -> str:
    old, new = before.split("\n"), after.split("\n")
    changed = next((pair for pair in zip(old, new, strict=False) if pair[0] != pair[1]), ("", ""))
    return f"missed: {changed[0]!r} -> {changed[1]!r}"


def library() -> Library:
    return Library([SAMPLES / "book/src"])


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--misses", action="store_true", help="list missed errors and false positives")
    options = parser.parse_args()
    pages, files = samples(), library()
    scores = [score(family, pages, files) for family in FAMILIES]
    out = sys.stdout
    for entry in scores:
        name = entry.family.name
        out.write(f"{name:32} {entry.found:4}/{entry.broken:<4} right {entry.right:4}/{entry.findings:<4}\n")
        if options.misses:
            out.writelines(f"    {miss}\n" for miss in entry.misses)
    wrong = 0
    for name, mutate in HARMLESS:
        count, found = harmless_findings(mutate, pages, files)
        wrong += len(found)
        out.write(f"harmless: {name:32} {count:4} variants, {len(found)} findings\n")
        if options.misses:
            out.writelines(f"    {_shown(finding)}\n" for finding in found)
    broken, detected = sum(entry.broken for entry in scores), sum(entry.found for entry in scores)
    all_findings, right = (
        sum(entry.findings for entry in scores) + wrong,
        sum(entry.right for entry in scores),
    )
    out.write(f"recall    {detected}/{broken} = {detected / broken:.4f}\n")
    out.write(f"precision {right}/{all_findings} = {right / all_findings:.4f}\n")
    missing, placed = sum(entry.missing for entry in scores), sum(entry.placed for entry in scores)
    out.write(f"places    {placed}/{missing} = {placed / missing:.4f} of what is missing, within a line\n")
    score_of_numbers = number_score(ROOT / "book/src", ROOT / "i18n/ko/book/src")
    for kind, count in score_of_numbers.changed.items():
        silent = score_of_numbers.silent[kind]
        out.write(f"numbers: {kind:24} {len(silent):4} of {count} silent = {len(silent) / count:.4f}\n")
        if options.misses:
            out.writelines(f"    {miss}\n" for miss in silent)
    out.write(f"numbers: {score_of_numbers.alarms} findings on the book as it is\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
