"""Each rule of parity: what is reported, where, and what is not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.translations.book_fixture import english
from tooling.mdbook.books import Library
from tooling.mdbook.pages import Page
from tooling.translations.parity import comparison
from tooling.translations.parity.findings import ParityFinding, ParitySeverity

SOURCE_ROOT, TARGET_ROOT = Path("/book/src"), Path("/i18n/ko/book/src")


def compare(source: str, target: str) -> list[ParityFinding]:
    """Compares two texts as the pages p/x.md of two books that need not exist."""
    return comparison.compare(
        Page.of(SOURCE_ROOT / "p/x.md", SOURCE_ROOT, source),
        Page.of(TARGET_ROOT / "p/x.md", TARGET_ROOT, target),
    )


@dataclass(frozen=True, slots=True)
class Case:
    source: str
    target: str
    kinds: tuple[str, ...] = ()
    lines: tuple[int | None, int | None] | None = None


EQUAL = {
    "comment of the marker": Case("# A\n", "<!-- i18n-source-commit: 0 -->\n\n# 가\n"),
    "extra explicit id in the translation": Case("# A\n", "# 가 {#a}\n"),
    "comment in Mojo code": Case("```mojo\nx = 1  # one\n```\n", "```mojo\nx = 1  # 하나\n```\n"),
    "comment line left out": Case("```mojo\n# one\nx = 1\n```\n", "```mojo\nx = 1\n```\n"),
    "comment in C": Case("```cpp\nf(); // x\n/* y\n z */\n```\n", "```cpp\nf(); // 가\n```\n"),
    "label of a drawing in Hangul": Case("```text\ndone -> 3\n```\n", "```text\n완료 -> 3\n```\n"),
    "sign of a comment in a string": Case(
        '```mojo\nprint("# a")\n```\n', '```mojo\nprint("# a")  # 가\n```\n'
    ),
    "heading that is a name with digits": Case("# aarch64-apple-ios\n", "# aarch64-apple-ios\n"),
    "no language is text": Case("```\nx\n```\n", "```text\nx\n```\n"),
    "include by real path": Case(
        "```mojo\n{{#include ../../../problems/p.mojo:a}}\n```\n",
        "```mojo\n{{#include ../../../../../problems/p.mojo:a}}\n```\n",
    ),
    "include of the book's own file": Case(
        "{{#include ../_includes/u.md}}\n", "{{#include ../_includes/u.md}}\n"
    ),
    "title is translated": Case("{{#title A}}\n", "{{#title 가}}\n"),
    "words in a formula": Case("\\\\(x_{\\text{in}}\\\\)\n", "\\\\(x_{\\text{입력}}\\\\)입니다\n"),
    "number in letters": Case("Two values of 3.\n", "3 가운데 값 2개입니다.\n"),
    "number in Korean letters": Case("The 2 values.\n", "두 값입니다.\n"),
    "number that the source does not give": Case("The bytes in a second.\n", "1초에 옮기는 바이트입니다.\n"),
    "large numbers": Case(
        "30,000 blocks, 1,200,000 threads, 120,000,000 elements.\n",
        "블록 3만 개, 스레드 120만 개, 원소 1억 2,000만 개입니다.\n",
    ),
    "a range of large numbers": Case("They have 12 to 17 million.\n", "1200만~1700만 개입니다.\n"),
    "nonzero": Case("The nonzero values.\n", "0이 아닌 값입니다.\n"),
    "English words for large numbers": Case("About 1.2 million threads.\n", "스레드는 약 120만 개입니다.\n"),
    "particle that looks like ten thousand": Case(
        "Only Python 3.11 and 3.\n", "Python 3.11만, 그리고 3만큼입니다.\n"
    ),
    "date": Case("On January 5, 2024.\n", "2024년 1월 5일입니다.\n"),
    "date in digits": Case("On January 5, 2024.\n", "2024-01-05입니다.\n"),
    "clock": Case("At 3:30 PM.\n", "15시 30분입니다.\n"),
    "half and quarter": Case("Half of it, a quarter.\n", "50%, 4분의 1입니다.\n"),
    "half in words": Case("50% of the threads.\n", "스레드의 절반입니다.\n"),
    "one and a half": Case("1.5 times.\n", "한 배 반입니다.\n"),
    "offset is no number": Case("Two tests, three offsets.\n", "검사 2개, 오프셋 3개입니다.\n"),
    "entries in the order of the language": Case(
        "- a 1\n\n- b 2\n\n- c 3\n\n- d 4\n", "- 라 4\n\n- 가 1\n\n- 나 2\n\n- 다 3\n"
    ),
    "HTML pieces of one line": Case(
        "<p>the function <b>of puzzle 1</b></p>\n", "<p>퍼즐 1의 <b>함수</b></p>\n"
    ),
    "Roman number of a part": Case("# Part I: a\n\n# Part XIV: b\n", "# 1부: 가\n\n# 14부: 나\n"),
    "escaped command in a formula": Case("\\\\(\\Large x\\\\)\n", "\\\\(\\\\Large x\\\\)입니다\n"),
    "code that is indented otherwise": Case(
        "```py\nif x:\n    y()\n```\n", "```py\n    if x:\n        y()\n```\n"
    ),
    "thousands": Case("1,024 and 2048.\n", "1024와 2,048입니다.\n"),
    "digits of names": Case("float32 on SM90, p15.\n", "SM100에서는 float64, p16입니다.\n"),
    "other edition of an address": Case(
        "[x](https://en.wikipedia.org/wiki/X)\n", "[엑스](https://ko.wikipedia.org/wiki/X)\n"
    ),
    "Korean picture": Case("![a](m/x.svg)\n", "![가](m/x.ko.svg)\n"),
    "name left in English": Case(
        "# LayoutTensor\n\n## NVIDIA Nsight Compute\n", "# LayoutTensor\n\n## NVIDIA Nsight Compute\n"
    ),
    "order of inline parts": Case("`a` then `b`\n", "`b` 다음 `a`\n"),
    "Han of the source": Case("The sign 行 means row.\n", "기호 行은 행을 뜻합니다.\n"),
    "attributes that are read": Case('<div class="a" title="x">\n', '<div class="a" title="가">\n'),
}


@pytest.mark.parametrize("name", EQUAL)
def test_these_are_equal(name: str) -> None:
    assert compare(EQUAL[name].source, EQUAL[name].target) == []


DIFFERENT = {
    "heading missing": Case("# A\n\n## B\n", "# 가\n", ("heading-missing",), (3, 1)),
    "heading level": Case("# A\n\n## B\n", "# 가\n\n### 나\n", ("heading-level",), (3, 3)),
    "explicit id": Case("# A {#x}\n", "# 가\n", ("heading-id",), (1, 1)),
    "code": Case("```mojo\nx = 1\ny = 2\n```\n", "```mojo\nx = 1\ny = 3\n```\n", ("fence-code",), (3, 3)),
    "indentation of one line": Case(
        "```py\nif x:\n    y()\n```\n", "```py\nif x:\ny()\n```\n", ("fence-code",), (3, 3)
    ),
    "code line lost": Case("```sh\na\nb\n```\n", "```sh\nb\n```\n", ("fence-code",), (2, 2)),
    "language": Case("```mojo\n```\n", "```python\n```\n", ("fence-language",), (1, 1)),
    "hash is not a comment in text": Case("```text\n# a\n```\n", "```text\n# b\n```\n", ("fence-code",)),
    "include, level": Case(
        "```mojo\n{{#include ../../../problems/p.mojo:a}}\n```\n",
        "```mojo\n{{#include ../../../problems/p.mojo:a}}\n```\n",
        ("include",),
        (2, 2),
    ),
    "include, anchor": Case("{{#include ../x.md:a}}\n", "{{#include ../x.md:b}}\n", ("include",), (1, 1)),
    "includes exchanged": Case(
        "```a\n{{#include ../x.md:a}}\n```\n\n```a\n{{#include ../x.md:b}}\n```\n",
        "```a\n{{#include ../x.md:b}}\n```\n\n```a\n{{#include ../x.md:a}}\n```\n",
        ("include-place",),
        (2, 2),
    ),
    "reference to a figure": Case(
        "As in {{#figure_ref p15}}.\n", "{{#figure_ref p16}}에서와 같습니다.\n", ("directive",), (1, 1)
    ),
    "reference to a figure left out": Case(
        "As in {{#figure_ref p15}}.\n", "그림에서와 같습니다.\n", ("directive",), (1, 1)
    ),
    "own directive": Case("{{#run p15}}\n", "{{#run p16}}\n", ("directive",), (1, 1)),
    "table column": Case("|a|b|\n|-|-|\n|c|d|\n", "|가|\n|-|\n|다|\n", ("table-columns",), (1, 1)),
    "table row": Case("|a|b|\n|-|-|\n|c|d|\n", "|가|나|\n|-|-|\n", ("table-rows",), (1, 1)),
    "table cell": Case("|a|b|\n|-|-|\n|c|d|\n", "|가|나|\n|-|-|\n|다|\n", ("table-columns",), (1, 1)),
    "tab": Case(
        '<div class="code-tabs">\n<button class="tab-button">a</button>\n</div>\n',
        '<div class="code-tabs">\n</div>\n',
        ("tab",),
        (2, 2),
    ),
    "class": Case('<div class="a">\n', '<div class="b">\n', ("tag-changed",), (1, 1)),
    "alert": Case("> [!NOTE]\n> x\n", "> [!참고]\n> 가\n", ("alert-type",), (1, 1)),
    "picture": Case("![a](m/x.svg)\n", "![가](m/y.svg)\n", ("image-changed",), (1, 1)),
    "link": Case("[a](../q/y.md)\n", "[가](../q/z.md)\n", ("link-missing", "link-extra"), (1, 1)),
    "fragment lost": Case("[a](y.md#b)\n", "[가](y.md)\n", ("link-missing", "link-extra")),
    "fragment to another section": Case(
        "# A\n\n# B\n\n[x](#b)\n", "# 가\n\n# 나\n\n[엑스](#가)\n", ("link-section",), (5, 5)
    ),
    "address": Case("<https://a.org/x>\n", "<https://a.org/y>입니다\n", ("url-missing", "url-extra")),
    "formula": Case("\\\\(x\\\\)\n", "\\\\(y\\\\)입니다\n", ("formula-missing", "formula-extra")),
    "formula without its delimiter": Case("a \\\\(x\\\\)\n", "가 \\(x\\)\n", ("formula-missing",)),
    "code span": Case("`a`\n", "`b`입니다\n", ("code-span-missing", "code-span-extra")),
    "number": Case("It has 8.\n", "9입니다.\n", ("number-missing", "number-extra")),
    "number excused by a word of another paragraph": Case(
        "Two threads.\n\nThe 1 block.\n",
        "스레드 두 개입니다.\n\n블록 2개입니다.\n",
        ("number-missing", "number-extra"),
        (3, 3),
    ),
    "number excused by a word that is translated": Case(
        "Two threads, 1 block.\n", "스레드 두 개, 블록 2개입니다.\n", ("number-missing", "number-extra")
    ),
    "numbers of two cells": Case(
        "|a|b|\n|-|-|\n|32|16|\n", "|가|나|\n|-|-|\n|16|32|\n", ("number-missing", "number-extra")
    ),
    "zero in a word": Case("Zeros, a 5.\n", "1과 5입니다.\n", ("number-extra",)),
    "paragraph": Case("Wait for all of them.\n", "Wait for all of them.\n", ("untranslated",), (1, 1)),
    "heading": Case("# Key concepts\n", "# Key concepts\n", ("untranslated",), (1, 1)),
    "heading with capitals": Case(
        "# Axis Sum\n\nThe sum.\n", "# Axis Sum\n\n합입니다.\n", ("untranslated",), (1, 1)
    ),
    "cell": Case(
        "|a|\n|-|\n|number of rows in it|\n", "|가|\n|-|\n|number of rows in it|\n", ("untranslated",), (3, 3)
    ),
    "sentence": Case(
        "A. B.\n",
        "가입니다. This step waits until all the threads are done. 나입니다.\n",
        ("untranslated-sentence",),
    ),
    "Han": Case("a\n", "이 行을 봅니다\n", ("foreign-script",), (1, 1)),
    "Japanese": Case("a\n", "가\n카ーネル을 봅니다\n", ("foreign-script",), (1, 2)),
    "decomposed": Case("a\n", "\u1112\u1161\u11ab가\n", ("broken-letters",)),
    "paragraph lost": Case("# H\n\na\n\nb\n", "# 가\n\n나\n", ("block-count",), (1, 1)),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_these_differ(name: str) -> None:
    case = DIFFERENT[name]
    found = compare(case.source, case.target)
    assert tuple(sorted({finding.kind for finding in found})) == tuple(sorted(case.kinds))
    if case.lines is not None:
        assert (found[0].line_source, found[0].line_target) == case.lines
    assert all(finding.message and finding.hint for finding in found)


WARNINGS = {
    "number-missing",
    "number-extra",
    "code-span-missing",
    "code-span-extra",
    "url-missing",
    "url-extra",
}
WARNINGS |= {"untranslated-sentence", "block-count"}


def test_only_these_are_warnings() -> None:
    for case in DIFFERENT.values():
        for finding in compare(case.source, case.target):
            wanted = ParitySeverity.WARNING if finding.kind in WARNINGS else ParitySeverity.ERROR
            assert finding.severity is wanted, finding


@pytest.mark.parametrize("name", DIFFERENT)
def test_keys_survive_unrelated_edits(name: str) -> None:
    """Another paragraph at the top of both pages moves every line and changes no key."""
    case = DIFFERENT[name]
    before = compare(case.source, case.target)
    after = compare("New text.\n\n" + case.source, "새 글입니다.\n\n" + case.target)
    assert sorted(finding.key for finding in after) == sorted(finding.key for finding in before)


def test_keys_are_unique() -> None:
    found = compare("`a` `a` `b`\n\n`a`\n", "가\n\n나\n")
    keys = [finding.key for finding in found]
    assert len(keys) == len(set(keys)) == 4


PLACES = {
    "a paragraph before it, too, is missing": (
        "One `a`.\n\nTwo.\n\nThree `x` 8.\n",
        "하나 `a`.\n\n셋 8.\n",
        3,
    ),
    "the last paragraph": ("One.\n\nTwo `x`.\n", "하나입니다.\n", 1),
    "a line of a paragraph": ("One\ntwo\n`x`.\n", "하나\n둘\n셋.\n", 3),
    "an item of a list": ("- `a`\n- `b`\n- `c`\n", "- `a`\n- `c`\n", 2),
    "a code block between paragraphs": ("One.\n\n```mojo\nx\n```\n\nTwo.\n", "하나.\n\n둘.\n", 2),
    "a heading before a paragraph": ("One `a`.\n\n# H\n\nTwo `b`.\n", "하나 `a`.\n\n둘 `b`.\n", 2),
}


@pytest.mark.parametrize("name", PLACES)
def test_what_is_missing_is_reported_where_it_belongs(name: str) -> None:
    source, target, line = PLACES[name]
    missing = [finding for finding in compare(source, target) if finding.kind.endswith("-missing")]
    assert [finding.line_target for finding in missing] == [line]


def test_repeated_items_are_missed_where_they_are_missing() -> None:
    source = "# A\n\n`x`\n\n# B\n\n`x`\n\n# C\n\n`x`\n"
    target = "# 가\n\n`x`입니다\n\n# 나\n\n없음\n\n# 다\n\n`x`입니다\n"
    (finding,) = compare(source, target)
    assert (finding.kind, finding.line_source, finding.line_target) == ("code-span-missing", 7, 7)


korean_lines = st.sampled_from(
    [
        "",
        "",
        "# 가",
        "## 나",
        "글 `a`입니다",
        "- 항목 1",
        "```mojo",
        "x = 1",
        "```",
        "| 가 | 나 |",
        "|---|---|",
        "<div>",
        "</div>",
    ]
)


@given(st.lists(korean_lines, max_size=20))
def test_a_page_equals_itself(lines: list[str]) -> None:
    text = "\n".join(lines)
    assert compare(text, text) == []


# Without Hangul, which exempts a line of code in the translation alone.
latin_lines = st.sampled_from(
    [
        "",
        "",
        "# A",
        "## B",
        "x `a`",
        "- b 1",
        "```mojo",
        "x = 1",
        "```",
        "| a | b |",
        "|---|---|",
        "<div>",
        "</div>",
    ]
)


@given(st.lists(latin_lines, max_size=12), st.lists(latin_lines, max_size=12))
def test_differences_have_two_sides(ours: list[str], theirs: list[str]) -> None:
    """If one direction reports an error of structure, so does the other."""
    forth = compare("\n".join(ours), "\n".join(theirs))
    back = compare("\n".join(theirs), "\n".join(ours))
    assert bool(forth) == bool(back)


def test_dead_ends_of_the_translation(tmp_path: Path) -> None:
    root, other = tmp_path / "i18n/ko/book/src", tmp_path / "book/src"
    for folder in (root, other):
        (folder / "p").mkdir(parents=True)
    (root / "p/y.md").write_text("# 나\n")
    (other / "p/y.md").write_text("# B\n")
    (other / "p/a.svg").write_text("")
    (tmp_path / "code.mojo").write_text("# ANCHOR: a\n# ANCHOR: b\n# ANCHOR_END: b\n")
    source = "[a](y.md#b) [b](z.md) ![c](/p/a.svg) ![d](e.svg)\n\n{{#include ../../../code.mojo:a}}\n"
    target = (
        "[가](y.md#b) [나](z.md) ![다](/p/a.svg) ![라](e.svg)\n\n{{#include ../../../../../code.mojo:a}}\n"
    )
    library = Library([other])
    found = comparison.compare(
        Page.of(other / "p/x.md", other, source), Page.of(root / "p/x.md", root, target), library
    )
    assert {(finding.kind, finding.line_target) for finding in found} == {
        ("link-missing-fragment", 1),
        ("link-missing-page", 1),
        ("link-missing-image", 1),
        ("include-unclosed-anchor", 3),
    }
    ours = comparison.inspect_source(Page.of(other / "p/x.md", other, source), library)
    assert {finding.kind for finding in ours} == {
        "link-missing-page",
        "link-missing-image",
        "include-unclosed-anchor",
    }


def test_a_link_to_an_untranslated_page_is_not_an_error_of_the_page(tmp_path: Path) -> None:
    root, other = tmp_path / "i18n/ko/book/src", tmp_path / "book/src"
    for folder in (root, other):
        (folder / "p").mkdir(parents=True)
    (other / "p/y.md").write_text("# B\n")
    pages = (
        Page.of(other / "p/x.md", other, "[a](y.md#b) [b](../p/y.md) [c](z.md)\n"),
        Page.of(root / "p/x.md", root, "[가](y.md#b) [나](../p/y.md) [다](z.md)\n"),
    )
    found = comparison.compare(*pages, Library([other]))
    assert sorted((finding.kind, finding.severity.value) for finding in found) == [
        ("link-missing-page", "error"),
        ("link-untranslated-page", "warning"),
        ("link-untranslated-page", "warning"),
    ]


def test_shared_folders_count_as_one(tmp_path: Path) -> None:
    """The translation's `_includes` may be a symbolic link to the source's."""
    root, other = tmp_path / "i18n/ko/book/src", tmp_path / "book/src"
    (root / "p").mkdir(parents=True)
    (other / "_includes").mkdir(parents=True)
    (other / "p").mkdir()
    (other / "_includes/u.md").write_text("here")
    (root / "_includes").symlink_to(other / "_includes")
    text = "{{#include ../_includes/u.md}}\n"
    pages = Page.of(other / "p/x.md", other, text), Page.of(root / "p/x.md", root, text)
    assert comparison.compare(*pages, Library()) == []


ACTIVE = {
    "script": ("<script>alert(1)</script>\n\n가\n", "<script>alert(1)</script>"),
    "script inside text": ("가 <script>alert(1)</script>\n", "<script>"),
    "script by address": ('<script src="https://e.org/x.js"></script>\n\n가\n', None),
    "script after a short comment": (
        "<!--><script>alert(1)</script>-->\n\n가\n",
        "<script>alert(1)</script>",
    ),
    "style": ("<style>body { display: none }</style>\n\n가\n", "<style>body { display: none }</style>"),
    "handler": ("가 <b onclick='f()'>나</b>\n", "onclick='f()'"),
    "handler in a tag that is not well formed": (
        "<div>\n<img alt=it's onerror=alert(1)>\n</div>\n\n가\n",
        "onerror=alert(1)",
    ),
    "handler after a slash": ("<div>\n<svg/onload=alert(1)>\n</div>\n\n가\n", "onload=alert(1)"),
    "address": ("[가](javascript:alert%281%29)\n", "javascript:alert%281%29"),
    "address in capitals": ("<JavaScript:alert(1)>가\n", "JavaScript:alert(1)"),
    "address with entities": ('<a href="java&#115;cript:f()">가</a>\n', "javascript:f()"),
    "address with a tab": ('<a href="java&#9;script:f()">가</a>\n', "javascript:f()"),
    "address of a document": ("[가](data:text/html,x)\n", "data:text/html,x"),
    "embedded page": ('가 <iframe src="https://e.org"></iframe>\n', '<iframe src="https://e.org">'),
    "refresh": ('<meta http-equiv="refresh" content="0;url=//e.org">\n\n가\n', None),
}


@pytest.mark.parametrize("name", ACTIVE)
def test_active_content_of_the_translation_alone_is_an_error(name: str) -> None:
    target, shown = ACTIVE[name]
    found = [one for one in compare("a\n", target) if one.kind == "active-content-extra"]
    assert [one.severity for one in found] == [ParitySeverity.ERROR]
    if shown is not None:
        assert english(found[0].message) == f"the active content `{shown}` is not in the source"
    assert [one.kind for one in compare(target, "가\n") if "active" in one.kind] == ["active-content-missing"]


@pytest.mark.parametrize("name", ACTIVE)
def test_active_content_of_the_source_may_stay(name: str) -> None:
    target, _ = ACTIVE[name]
    assert [one for one in compare(target, target) if "active" in one.kind] == []
    code = f"```html\n{target}```\n"
    assert [one for one in compare("```html\n```\n", code) if "active" in one.kind] == []


@pytest.mark.parametrize(("own", "kinds"), [(True, []), (False, ["include"])])
def test_a_translated_book_may_have_its_own_copies_of_what_it_shows(
    tmp_path: Path, own: bool, kinds: list[str]
) -> None:
    text = "```rust\n{{#include ../listings/1.rs}}\n```\n"
    books = (tmp_path, tmp_path / "i18n/ja")
    for book in books:
        (book / "src").mkdir(parents=True)
        (book / "src/x.md").write_text(text)
        (book / "listings").mkdir()
        (book / "listings/1.rs").write_text("fn main() {}\n")
    if not own:  # the source shows another file than the one at the same place
        (books[0] / "listings/1.rs").rename(books[0] / "listings/2.rs")
        (books[0] / "src/x.md").write_text(text.replace("1.rs", "2.rs"))
    source, target = (
        Page.of(book / "src/x.md", book / "src", (book / "src/x.md").read_text()) for book in books
    )
    assert [found.kind for found in comparison.compare(source, target)] == kinds
