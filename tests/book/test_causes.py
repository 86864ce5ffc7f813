"""Sentences that explain a time name the record that shows it."""

from __future__ import annotations

import pytest

from tooling.book.checks.causes import CAUSES, CauseError, check_causes, read_causes
from tooling.book.checks.context import CheckContext
from tooling.project import Project

PAGE = "puzzle_24/warp_extra.md"
FILE = f"book/src/{PAGE}"


def found(project: Project) -> list[str]:
    return [f"{one.path}: {one.message}" for one in check_causes(CheckContext(project, frozenset({PAGE})))]


def write(project: Project, sentence: str) -> None:
    page = project.root / FILE
    page.write_text(page.read_text("utf-8") + f"\n{sentence}\n", "utf-8")


def change_table(project: Project, old: str, new: str) -> None:
    table = project.root / CAUSES
    text = table.read_text("utf-8")
    assert old in text
    table.write_text(text.replace(old, new), "utf-8")


def test_every_cause_of_a_page_has_its_record(checkout: Project) -> None:
    assert found(checkout) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "It takes 43 µs because the occupancy is low.",
        "It is slower: the occupancy is low, so the warps wait.",
        "It takes 43 µs. The reason is the occupancy.",
        "It needs 43 µs and is limited by the occupancy.",
        "It takes 9% less because the occupancy is higher.",
        "The barrier costs nothing, and the occupancy decides.",
        "The sort takes twice as long as the copy: memory is not what limits it.",
    ],
)
def test_a_cause_without_a_record_is_refused(checkout: Project, sentence: str) -> None:
    write(checkout, sentence)
    (message,) = found(checkout)
    assert message.startswith(f"{FILE}: no record is named for the cause in “")


@pytest.mark.parametrize(
    "sentence",
    [
        "It takes 43 µs.",
        "The barrier is needed because another thread reads the element.",
        "It takes 43 µs, so far as is known.",
        "The order decides which of two equal elements is stored.",
    ],
)
def test_a_time_without_a_cause_and_a_cause_without_a_time_need_none(
    checkout: Project, sentence: str
) -> None:
    write(checkout, sentence)
    assert found(checkout) == []


def test_a_record_must_contain_what_the_entry_says(checkout: Project) -> None:
    change_table(checkout, '"82.71"', '"83.71"')
    assert found(checkout) == [
        f"{CAUSES}: the record h200/benchmarks.json / profiles / benchmarks/kernels/reductions.mojo "
        "does not have 83.71, for “The counter that explains”"
    ]


def test_a_record_must_exist(checkout: Project) -> None:
    change_table(
        checkout,
        'says = "The counter that explains"\nrecord = ["h200/',
        'says = "The counter that explains"\nrecord = ["h300/',
    )
    (message,) = found(checkout)
    assert message.startswith(f"{CAUSES}: there is no record h300/benchmarks.json / profiles / ")


def test_an_entry_whose_sentence_is_gone_is_reported(checkout: Project) -> None:
    change_table(checkout, 'says = "The counter that explains"', 'says = "The counter which explains"')
    assert [message.partition(": ")[2][:40] for message in found(checkout)] == [
        "no record is named for the cause in “The",
        f"{PAGE} has no sentence with a cause that"[:40],
    ]


def test_an_entry_needs_evidence_or_a_reason(checkout: Project) -> None:
    table = checkout.root / CAUSES
    table.write_text(f'[[cause]]\npage = "{PAGE}"\nsays = "It"\n', "utf-8")
    with pytest.raises(CauseError, match="names no evidence"):
        read_causes(checkout)
