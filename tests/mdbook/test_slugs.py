"""Ids of headings by the rule; test_structure compares them with the binary's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooling.mdbook import rust, slugs

SLUGS = {
    "Key concepts": "key-concepts",
    "Über Straße": "über-straße",
    "공유 메모리(shared memory)란?": "공유-메모리shared-memory란",
    "a  b": "a--b",
    " trimmed ": "trimmed",
    "100% — done": "100--done",
    "snake_case-name": "snake_case-name",
    "①²½": "①²½",
    "": "",
}


@pytest.mark.parametrize("text", SLUGS)
def test_slug(text: str) -> None:
    assert slugs.slug(text) == SLUGS[text]


def test_ids_are_made_unique() -> None:
    taken: set[str] = set()
    assert [slugs.unique(name, taken) for name in ("a", "a", "a-1", "a")] == ["a", "a-1", "a-1-1", "a-2"]


@given(st.lists(st.sampled_from(["a", "a-1", "b", ""])))
def test_unique_ids_never_repeat(names: list[str]) -> None:
    taken: set[str] = set()
    ids = [slugs.unique(name, taken) for name in names]
    assert len(set(ids)) == len(ids)


@given(st.text(max_size=20))
def test_a_slug_has_no_spaces(text: str) -> None:
    assert not any(character in rust.SPACES for character in slugs.slug(text))
