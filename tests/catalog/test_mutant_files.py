"""tests/mutants/pXX.yaml: edits apply exactly, or say why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tooling.catalog.mutants import DIAGNOSES, Edit, Mutant, MutantError
from tooling.errors import Location
from tooling.judging.diagnosis import PATTERNS
from tooling.judging.texts import EXPLANATIONS


def mutant(*edits: tuple[str, str, int]) -> Mutant:
    where = Location(Path("p01.yaml"), 1, 1)
    made = tuple(Edit(replace, with_, count, where) for replace, with_, count in edits)
    return Mutant("m", "p01", ("p01",), ("default",), "why", made, ("shifted",), where)


def test_edits_apply_in_order() -> None:
    assert mutant(("i < n", "i <= n", 1), ("<=", "<", 1)).apply_to({"": "if i < n:"}) == {"": "if i < n:"}
    assert mutant(("a", "b", 2)).apply_to({"": "a a"}) == {"": "b b"}


@pytest.mark.parametrize(("text", "times"), [("nothing", 0), ("x x", 2)])
def test_a_text_must_occur_as_often_as_promised(text: str, times: int) -> None:
    with pytest.raises(MutantError, match=f"occurs {times} times, not 1"):
        mutant(("x", "y", 1)).apply_to({"": text})


def test_every_diagnosis_has_a_sentence_and_a_name_for_mutants() -> None:
    assert set(DIAGNOSES) <= set(EXPLANATIONS)
    assert {pattern.__name__.replace("_", "-") for pattern in PATTERNS} <= set(DIAGNOSES)
