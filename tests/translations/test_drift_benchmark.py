"""The measured quality of change detection, on the book's pages and those written for the tests.

The first tier makes one edit of a family on each page, the second all that the benchmark makes.
"""

from __future__ import annotations

import pytest

from benchmarks import translations_drift as drift

SAMPLES = drift.samples()
_EDITS_PER_PAGE = [1, pytest.param(drift.PER_PAGE, marks=pytest.mark.slow)]


@pytest.mark.parametrize("per_page", _EDITS_PER_PAGE)
@pytest.mark.parametrize("family", drift.BREAKING, ids=lambda family: family.name)
def test_a_breaking_edit_is_flagged_with_class_and_section(family: drift.Family, per_page: int) -> None:
    score = drift.score(family, SAMPLES, per_page)
    assert score.mutants > 0, "the family's pattern no longer matches any page"
    assert score.flagged / score.mutants >= 0.98, score.misses
    assert score.right_class / score.mutants >= 0.98
    assert score.right_section / score.mutants >= 0.98


@pytest.mark.parametrize("per_page", _EDITS_PER_PAGE)
@pytest.mark.parametrize("family", drift.COSMETIC, ids=lambda family: family.name)
def test_a_cosmetic_edit_is_never_flagged(family: drift.Family, per_page: int) -> None:
    score = drift.score(family, SAMPLES, per_page)
    assert score.mutants > 0, "the family's pattern no longer matches any page"
    assert score.flagged == 0, score.misses
