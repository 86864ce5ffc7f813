"""The lines of the translation for a change of the source."""

from __future__ import annotations

import pytest

from tests.translations.book_fixture import ENGLISH, KOREAN
from tooling.translations.diff.changes import compare
from tooling.translations.diff.sections import changed_sections
from tooling.translations.diff.text import split
from tooling.translations.model import SectionChange


def sections(old: str, new: str, target: str = KOREAN) -> tuple[SectionChange, ...]:
    return changed_sections(compare(old, new), split(target))


@pytest.mark.parametrize(
    ("old", "new", "ordinal", "lines"),
    [
        ("Threads of", "All threads of", 1, "3"),
        ("first item", "1st item", 2, "10"),
        ("- second item\n", "", 2, "11"),
        ("barrier()\n```", "barrier(x)\n```", 3, "15-18"),
        ("## Code", "## The code", 3, "13"),
        ("- second item\n", "- second item\n- third\n", 2, "11"),
    ],
)
def test_a_change_is_traced_to_the_lines_of_its_block(old: str, new: str, ordinal: int, lines: str) -> None:
    (found,) = sections(ENGLISH, ENGLISH.replace(old, new))
    assert (found.ordinal, str(found.target)) == (ordinal, lines)
    assert found.precise and not found.approximate


def test_lines_count_the_marker() -> None:
    marker = f"<!-- i18n-source-commit: {'a' * 40} -->\n<!-- i18n-source-blob: {'a' * 40} -->\n"
    (found,) = sections(ENGLISH, ENGLISH.replace("first item", "1st item"), marker + KOREAN)
    assert str(found.target) == "12"


def test_where_blocks_disagree_the_whole_section_is_named() -> None:
    (found,) = sections(ENGLISH, ENGLISH.replace("first item", "1st"), KOREAN.replace("- 둘째 항목\n", ""))
    assert str(found.target) == "5-10"
    assert not found.precise


def test_where_headings_disagree_the_lines_are_approximate() -> None:
    (found,) = sections(
        ENGLISH, ENGLISH.replace("Write to", "Store to"), KOREAN.replace("# 배리어", "# 배리어\n\n### 더\n")
    )
    assert found.approximate


def test_several_sections_are_reported_each() -> None:
    new = ENGLISH.replace("Threads of", "All threads of").replace("a[i]", "b[i]")
    assert [(one.ordinal, one.title) for one in sections(ENGLISH, new)] == [(1, "Barriers"), (3, "Code")]


def test_a_new_section_follows_the_one_before_it() -> None:
    (found,) = sections(ENGLISH, ENGLISH.replace("## Code", "## New\n\nText.\n\n## Code"))
    assert (found.ordinal, found.blocks, str(found.target)) == (2, 2, "11")


def test_a_page_without_headings_has_one_section() -> None:
    (found,) = sections("one\n\ntwo\n", "one\n\n2\n", "하나\n\n둘\n")
    assert (found.ordinal, str(found.target)) == (0, "3")
