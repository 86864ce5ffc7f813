"""Laws of the normal form: cosmetic edits do not change it, others change the class that they belong to."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.translations.book_fixture import ENGLISH
from tooling.translations.diff.changes import compare
from tooling.translations.model import ChangeClass

FORMAT = frozenset({ChangeClass.FORMAT})
WORD = st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=9)
SENTENCE = st.lists(WORD, min_size=3, max_size=30).map(" ".join)
CODE = st.lists(WORD, min_size=1, max_size=3).map(lambda words: f"`{'_'.join(words)}`")
LINK = st.tuples(WORD, WORD).map(lambda pair: f"[{pair[0]}]({pair[1]}.md)")
PIECE = st.one_of(WORD, WORD, WORD, CODE, LINK, WORD.map(lambda word: f"**{word}**"))
PARAGRAPH = st.lists(PIECE, min_size=2, max_size=20).map(" ".join)
LIST = st.lists(PARAGRAPH, min_size=1, max_size=4).map(lambda items: "\n".join(f"- {one}" for one in items))
HEADING = st.tuples(st.integers(1, 4), SENTENCE).map(lambda pair: f"{'#' * pair[0]} {pair[1]}")
FENCE = st.lists(WORD, min_size=1, max_size=4).map(lambda lines: "\n".join(["```mojo", *lines, "```"]))
QUOTE = PARAGRAPH.map(lambda text: f"> {text}")
TABLE = st.tuples(WORD, WORD, WORD).map(
    lambda cells: f"| {cells[0]} | b |\n|---|---|\n| {cells[1]} | {cells[2]} |"
)
BLOCK = st.one_of(PARAGRAPH, PARAGRAPH, LIST, HEADING, FENCE, QUOTE, TABLE)
PAGE = st.lists(BLOCK, min_size=1, max_size=8).map("\n\n".join)


def outside_fences(change: Callable[[str], str]) -> Callable[[str], str]:
    """The change applied to the text between fences."""

    def changed(page: str) -> str:
        parts = re.split(r"(?ms)(^```.*?^```$)", page)
        return "".join(part if index % 2 else change(part) for index, part in enumerate(parts))

    return changed


def _rewrap(text: str) -> str:
    paragraphs = re.split(r"(\n{2,})", text)
    return "".join(
        textwrap.fill(part, 40, break_on_hyphens=False, break_long_words=False)
        if part and part[0].isalpha() and "|" not in part
        else part
        for part in paragraphs
    )


COSMETIC: dict[str, Callable[[str], str]] = {
    "star bullets": outside_fences(lambda page: re.sub(r"(?m)^- ", "* ", page)),
    "plus bullets": outside_fences(lambda page: re.sub(r"(?m)^- ", "+ ", page)),
    "underscore emphasis": outside_fences(lambda page: re.sub(r"\*\*(\w+)\*\*", r"__\1__", page)),
    "weaker emphasis": outside_fences(lambda page: page.replace("**", "*")),
    "table padding": outside_fences(lambda page: re.sub(r" \| ", "    |  ", page)),
    "table delimiter": outside_fences(lambda page: page.replace("|---|---|", "| :--- | ----: |")),
    "closed headings": outside_fences(lambda page: re.sub(r"(?m)^(#+ .*)$", r"\1 ##", page)),
    "more blank lines": outside_fences(lambda page: page.replace("\n\n", "\n\n\n\n")),
    "trailing space": lambda page: re.sub(r"(?m)$", "  ", page),
    "CRLF": lambda page: page.replace("\n", "\r\n"),
    "byte order mark": lambda page: f"\ufeff{page}",
    "tilde fences": lambda page: re.sub(r"(?m)^```", "~~~", page),
    "longer fences": lambda page: re.sub(r"(?m)^```", "`````", page),
    "comment": lambda page: f"<!-- a note -->\n\n{page}\n\n<!-- of\nmany\nlines -->\n",
    "rewrapped": outside_fences(_rewrap),
    "one line feed more": lambda page: f"{page}\n",
    "angle brackets": outside_fences(lambda page: re.sub(r"\]\((\w+\.md)\)", r"](<\1>)", page)),
}


@pytest.mark.parametrize("name", COSMETIC)
@settings(max_examples=30)
@given(page=PAGE)
def test_cosmetic_edits_are_format_at_most(name: str, page: str) -> None:
    comparison = compare(page, COSMETIC[name](page))
    assert comparison.changes == ()
    assert comparison.classes <= FORMAT


@given(PAGE)
def test_a_page_does_not_differ_from_itself(page: str) -> None:
    assert compare(page, page).classes == frozenset()


@given(PAGE, PAGE)
def test_the_order_of_comparison_does_not_matter_for_whether_pages_differ(left: str, right: str) -> None:
    assert bool(compare(left, right).changes) == bool(compare(right, left).changes)


@given(PAGE, st.integers(0))
def test_a_new_word_is_always_noticed_as_prose(page: str, index: int) -> None:
    bare = re.sub(r"(?s)```.*?```", "", page)
    words = list(re.finditer(r"(?m)(?<![\w`(\[/.*])[a-z]{1,9}(?![\w`)\]/.*])", bare))
    if not words:
        return
    match = words[index % len(words)]
    changed = f"{bare[: match.start()]}NEW{bare[match.end() :]}"
    assert ChangeClass.PROSE in compare(bare, changed).classes


@pytest.mark.parametrize(
    ("old", "new", "classes"),
    [
        ("first item", "1st item", {"prose"}),
        ("`barrier()`", "`barrier(mask)`", {"code"}),
        ("(https://example.org/puzzle)", "(https://example.org/puzzle_2)", {"links"}),
        ("(https://example.org/puzzle)", "(https://example.org/puzzle#top)", {"links"}),
        ("a[i]", "b[i]", {"code"}),
        ("```mojo", "```python", {"code"}),
        ("## Code", "## Code {#the-code}", {"links"}),
        ("## Code", "### Code", {"prose"}),
        ("- second item\n", "", {"prose"}),
        ("- second item\n", "- second item\n- third item\n", {"prose"}),
        ("- first item\n- second item", "1. first item\n2. second item", {"prose"}),
        (
            "See [the puzzle](https://example.org/puzzle) for more.",
            "See <https://a.b> for more.",
            {"prose", "links"},
        ),
        ("# Barriers", "{{#include a.mojo}}\n\n# Barriers", {"code"}),
        ("first", "[first](a.md)", {"prose", "links"}),
        ("first", "`first`", {"prose", "code"}),
        ("first", "**first**", {"format"}),
        ("first item", "first\n  item", {"format"}),
        ("first item", "first &amp; item", {"prose"}),
        ("# Barriers", "Barriers\n========", {"format"}),
        ("# Barriers", "# Barriers\n<!-- todo -->", {"format"}),
        ("meet at", 'meet "at"', {"prose"}),
        ("## Code", "---\n\n## Code", {"format"}),
        ("[the puzzle](https://example.org/puzzle)", "[the puzzle][p]", {"links", "prose"}),
    ],
)
def test_each_edit_has_its_class(old: str, new: str, classes: set[str]) -> None:
    assert old in ENGLISH
    assert compare(ENGLISH, ENGLISH.replace(old, new)).classes == frozenset(map(ChangeClass, classes))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("See [it](x.md).", "See [it][ref].\n\n[ref]: x.md"),
        ('It\'s "so"...', "It’s “so”…"),
        ("a snake_case word", "a snake\\_case word"),
        ("*one* two", "_one_ two"),
        ("```\ncode\n```", "```text\ncode\n```"),
        ("> one\n>\n> two", "> one\n\n> two"),
        ("line\nbreak", "line\\\nbreak"),
        ("***", "---"),
        ("1. a\n1. b", "1) a\n2) b"),
        ('[a](b.md "t")', "[a](b.md 't')"),
        ("a&nbsp;b", "a b"),
    ],
)
def test_two_spellings_of_the_same_text(old: str, new: str) -> None:
    assert compare(old, new).classes == FORMAT


def test_blocks_that_only_moved_are_one_change_each() -> None:
    first, second = "## A\n\nAlpha text.\n\n", "## B\n\nBeta words.\n\n"
    edits = [
        str(change.edit) for change in compare(f"# T\n\n{first}{second}", f"# T\n\n{second}{first}").changes
    ]
    assert set(edits) == {"moved"}
