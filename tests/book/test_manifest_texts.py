"""The check of the texts of the manifests: hints, and the reasons that cards show."""

from __future__ import annotations

import pytest

from tooling.book.checks import check
from tooling.book.checks.manifest_texts import mistakes
from tooling.project import Project

NAMES = frozenset({"a", "b", "i", "row", "col", "total", "offset", "TPB", "size", "kernel1"})


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Compare i with the size.", ["i"]),
        ("A row of b is read by all threads.", ["b"]),
        ("Allocate TPB elements, as in kernel1.", ["TPB", "kernel1"]),
        ("Each thread reads a[row, col] and calls barrier().", ["a[row, col]", "barrier()"]),
        ("Thread (row, col) takes one.", ["(row, col)"]),
        ("Put [0] after the index; the captures are {imm}.", ["[0]", "{imm}"]),
        ("Guard with i < size, then add total * 2.", ["i < size", "total * 2"]),
        ("Halve from TPB // 2 - 1 on.", ["TPB // 2 - 1"]),
        ("The sum of max(row - 1, 0) and thread_idx.x", ["max(row - 1, 0)", "thread_idx.x"]),
        ("warp.sum gives an Int32.", ["warp.sum", "Int32"]),
        ("Write op/softmax.mojo, then run --tiled.", ["op/softmax.mojo", "--tiled"]),
        ("With `offset` = `TPB` it ends.", ["` = `"]),
    ],
)
def test_code_outside_of_backticks_is_found(text: str, found: list[str]) -> None:
    shown = [text[each.start : each.end] for each in mistakes(text, NAMES, "en")]
    assert shown == found


def test_characters_of_code_in_place_of_signs_are_found() -> None:
    text = "A 3 x 3 tile of `TPB` x `TPB`; elements -1 and 8 - 1 do not exist."
    found = [(text[each.start : each.end], each.sign) for each in mistakes(text, NAMES, "en")]
    assert found == [("3 x 3", "×"), ("` x `", "×"), ("-1", "−"), (" - 1", "−")]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("`row` from y and `col` from x: a row, a total and the size of a block.", "en"),
        ("Use `a[row, col]` of the 3 × 3 tile; element −1 is `a[-1]`, and 1,024 / 8 − 1 = 127.", "en"),
        ("32 lanes (of a warp) take 16 KiB (GPU, CPU), e.g. puzzle 4-6 of 9.", "en"),
        ("`a`의 합(total)을 12(48 KiB)로 나눕니다. GPU의 y에서 구합니다.", "ko"),
    ],
)
def test_words_and_numbers_are_not_taken_for_code(text: str, language: str) -> None:
    assert mistakes(text, NAMES, language) == []


def test_a_word_of_english_is_code_in_a_korean_text() -> None:
    text = "a의 원소에 offset을 더합니다."
    assert [text[each.start : each.end] for each in mistakes(text, NAMES, "ko")] == ["a", "offset"]
    assert mistakes("Add the offset to an element of a row.", NAMES, "en") == []


def test_a_finding_names_the_line_and_column_of_a_folded_text(checkout: Project) -> None:
    manifest = checkout.root / "problems" / "p16" / "puzzle.yaml"
    text = manifest.read_text(encoding="utf-8")
    sound = "`async_copy_wait_all()`, then call"
    assert text.count(sound) == 1
    manifest.write_text(text.replace(sound, "async_copy_wait_all(), then call"), encoding="utf-8")
    (finding,) = check(checkout, build_pages=False, rules={"manifest-text"}).findings
    before = text[: text.index(sound)]
    assert (finding.line, finding.column) == (before.count("\n") + 1, len(before) - before.rfind("\n"))
    assert str(finding) == (
        f"problems/p16/puzzle.yaml:{finding.line}:{finding.column}: [manifest-text] `async_copy_wait_all()` "
        "(en) is code outside of backticks, and pages show it like a word\n  try: write it between backticks"
    )
