"""The measured quality of the checks, on the pages of tests/translations/data/pairs."""

from __future__ import annotations

import pytest

from benchmarks import translations_mutations as mutations
from tooling.mdbook.books import Library

SAMPLES = mutations.samples()


@pytest.fixture(scope="module")
def library() -> Library:
    return mutations.library()


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.target.path.stem)
def test_good_translations_are_clean(sample: mutations.Sample, library: Library) -> None:
    assert mutations.findings(sample, sample.text, library) == []


@pytest.mark.parametrize("family", mutations.FAMILIES, ids=lambda family: family.name)
def test_family_is_found(family: mutations.Family, library: Library) -> None:
    score = mutations.score(family, SAMPLES, library)
    assert score.broken > 0, "the family breaks nothing: its pattern no longer matches the samples"
    assert score.found / score.broken >= 0.98, score.misses
    assert score.right / score.findings >= 0.98, score.misses


@pytest.mark.parametrize("name, mutate", mutations.HARMLESS, ids=[name for name, _ in mutations.HARMLESS])
def test_harmless_edits_cause_no_finding(name: str, mutate: mutations.Mutation, library: Library) -> None:
    count, found = mutations.harmless_findings(mutate, SAMPLES, library)
    assert count > 0, "the edit no longer matches the samples"
    assert found == [], name


def test_a_changed_number_is_found_wherever_it_is() -> None:
    score = mutations.number_score(mutations.SAMPLES / "book/src", mutations.SAMPLES / "i18n/ko/book/src")
    assert score.alarms == 0
    kinds = ("plus one, 1 to 4", "plus one, 5 and more")
    assert sum(score.changed[kind] for kind in kinds) > 40
    assert [silent for kind in kinds for silent in score.silent[kind]] == []
