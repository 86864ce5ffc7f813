"""Cutting pages into blocks."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooling.translations.diff.blocks import BlockKind
from tooling.translations.diff.text import split

# Lines that affect the structure; any order of them is a page.
LINES = st.sampled_from(
    [
        "",
        "",
        "",
        "text",
        "more text",
        "# One",
        "## Two {#id}",
        "### Three ###",
        "#hash",
        "    # four spaces",
        "```",
        "```mojo",
        "~~~",
        "````",
        "    ```",
        "```a`b",
        "> quote",
        ">",
        "> # quoted",
        "> ```",
        "> - item",
        "- item",
        "  - nested",
        "* star",
        "1. one",
        "2) two",
        "+ plus",
        "  continued",
        "    indented code",
        "| a | b |",
        "|---|---|",
        "| 1 | 2 |",
        "a | b",
        "--- | ---",
        "---",
        "===",
        "***",
        "- - -",
        "<!-- one line -->",
        "<!-- open",
        "still -->",
        "$$",
        "$$ x $$",
        "\\\\[",
        "\\\\]",
        "[label]: target",
        "[^1]: a footnote",
        "{{#include a.mojo:b}}",
        "<div>",
        "</div>",
        "> [!NOTE]",
        "# ",
        "\tTab",
        "한글 문단",
    ]
)
PAGES = st.lists(LINES, max_size=25).map("\n".join)


@given(PAGES)
def test_blocks_keep_their_order_and_do_not_overlap(page: str) -> None:
    blocks = split(page).blocks
    count = page.count("\n") + 1
    assert all(1 <= block.first <= block.last <= count for block in blocks)
    assert all(left.last <= right.first for left, right in pairwise(blocks))


@given(PAGES)
def test_the_sections_of_a_page_are_its_whole_text(page: str) -> None:
    sections = split(page).sections
    if len(sections) > 1 and sections[1].first == 1:
        assert sections[0].raw == ""
        sections = sections[1:]
    assert "\n".join(section.raw for section in sections) == page


@given(PAGES)
def test_line_ends_and_a_byte_order_mark_make_no_difference(page: str) -> None:
    assert split("\ufeff" + page.replace("\n", "\r\n")).blocks == split(page).blocks


@pytest.mark.parametrize(
    ("page", "kinds"),
    [
        ("# Title\ntext", ["heading", "paragraph"]),
        ("Title\n=====\ntext", ["heading", "paragraph"]),
        ("one\ntwo\n\nthree", ["paragraph", "paragraph"]),
        ("- a\n- b\n  more\n\n  - c", ["item", "item", "item"]),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n\nx", ["row", "row", "paragraph"]),
        ("```mojo\n# no heading\n\n- no item\n```\nx", ["fence", "paragraph"]),
        ("```\nnever closed", ["fence"]),
        ("> one\n>\n> two", ["paragraph", "paragraph"]),
        ("> [!NOTE]\n> text", ["alert", "paragraph"]),
        ("<!-- gone -->\ntext", ["paragraph"]),
        ("<!-- gone\nfor long\n-->\ntext", ["paragraph"]),
        ("$$\na = b\n- c\n$$\ntext", ["math", "paragraph"]),
        ("    code\n    more", ["code"]),
        ("{{#include a.mojo:b}}", ["directive"]),
        ("<div class='x'>\n\ntext\n\n</div>", ["html", "paragraph", "html"]),
        ("text\n\n---\n\ntext", ["paragraph", "rule", "paragraph"]),
        ("a | b without a table", ["paragraph"]),
    ],
)
def test_a_page_is_cut_where_text_can_be_translated_apart(page: str, kinds: list[str]) -> None:
    assert [str(block.kind) for block in split(page).blocks] == kinds


def test_blocks_have_their_lines() -> None:
    page = "# Title\n\nOne\ntwo.\n\n```mojo\nx = 1\n```\n\n- item\n"
    found = [(block.kind, block.first, block.last) for block in split(page).blocks]
    assert found == [
        (BlockKind.HEADING, 1, 1),
        (BlockKind.PARAGRAPH, 3, 4),
        (BlockKind.FENCE, 6, 8),
        (BlockKind.ITEM, 10, 10),
    ]
