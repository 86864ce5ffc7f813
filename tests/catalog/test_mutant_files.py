"""tests/mutants/pXX.yaml: edits apply exactly, or say why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import MANIFEST
from tooling.catalog.manifest import load_puzzle
from tooling.catalog.mutants import DIAGNOSES, Edit, Mutant, MutantError, load_mutants
from tooling.catalog.nodes import ManifestError
from tooling.judging.comparison import compare
from tooling.judging.diagnosis import PATTERNS
from tooling.judging.formula_model import OTHER_FORMULA
from tooling.judging.reference import load_reference
from tooling.judging.texts import EXPLANATIONS
from tooling.platform.errors import Location
from tooling.project import Project
from tooling.text import LocalText


def mutant(*edits: tuple[str, str, int]) -> Mutant:
    where = Location(Path("p01.yaml"), 1, 1)
    made = tuple(Edit(replace, with_, count, where) for replace, with_, count in edits)
    because = LocalText.of(en="why")
    return Mutant("m", "p01", ("p01",), ("default",), because, made, ("shifted",), where)


def test_edits_apply_in_order() -> None:
    assert mutant(("i < n", "i <= n", 1), ("<=", "<", 1)).apply_to({"": "if i < n:"}) == {"": "if i < n:"}
    assert mutant(("a", "b", 2)).apply_to({"": "a a"}) == {"": "b b"}


@pytest.mark.parametrize(("text", "times"), [("nothing", 0), ("x x", 2)])
def test_a_text_must_occur_the_expected_number_of_times(text: str, times: int) -> None:
    with pytest.raises(MutantError, match=f"occurs {times} times, not 1"):
        mutant(("x", "y", 1)).apply_to({"": text})


def test_every_diagnosis_has_a_sentence_and_a_name_for_mutants() -> None:
    assert set(DIAGNOSES) - {OTHER_FORMULA} <= set(EXPLANATIONS)
    assert {OTHER_FORMULA, "partial-sum"} <= set(DIAGNOSES)
    assert {pattern.__name__.replace("_", "-") for pattern in PATTERNS} <= set(DIAGNOSES)


def test_a_mutant_without_modes_runs_in_all_judged_modes(tmp_path: Path) -> None:
    manifest = tmp_path / "problems" / "p01" / "puzzle.yaml"
    manifest.parent.mkdir(parents=True)
    manifest.write_text(MANIFEST + "  - {name: times, kind: benchmark, flags: [--benchmark], hints: []}\n")
    mutants = tmp_path / "tests" / "mutants" / "p01.yaml"
    mutants.parent.mkdir(parents=True)
    mutants.write_text(
        "- {name: m, because: why, edits: [{replace: a, with: b}], expect: [shifted]}\n"
        "- {name: t, because: why, modes: [times], edits: [{replace: a, with: b}], expect: [crash]}\n"
    )
    puzzle = load_puzzle(manifest, Project(tmp_path))
    found = load_mutants(Project(tmp_path), puzzle)
    assert [mutant.modes for mutant in found] == [(puzzle.modes[0].name,), ("times",)]


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ("{amd: {expect: [races]}}", r"\[0\].targets.amd: the key `because` is missing"),
        ("{amd: {hidden: one warp, expect: [races]}}", r"\[0\].targets.amd.expect: unknown key"),
        ("{amd: {lanes: 16, hidden: one warp}}", r"\[0\].targets.amd.lanes: must be 32 or 64"),
        ("{intel: {hidden: one warp}}", r"\[0\].targets.intel: unknown key"),
    ],
)
def test_a_verdict_of_a_vendor_has_a_reason(tmp_path: Path, targets: str, message: str) -> None:
    manifest = tmp_path / "problems" / "p01" / "puzzle.yaml"
    manifest.parent.mkdir(parents=True)
    manifest.write_text(MANIFEST)
    mutants = tmp_path / "tests" / "mutants" / "p01.yaml"
    mutants.parent.mkdir(parents=True)
    entry = "{name: m, because: why, edits: [{replace: a, with: b}], expect: [shifted], targets: TARGETS}"
    mutants.write_text(f"- {entry.replace('TARGETS', targets)}\n")
    with pytest.raises(ManifestError, match=message):
        load_mutants(Project(tmp_path), load_puzzle(manifest, Project(tmp_path)))


@pytest.mark.parametrize("lanes", [32, 64])
def test_the_result_of_every_known_mistake_can_be_computed_and_is_wrong(lanes: int) -> None:
    project = Project(Path(__file__).parents[2])
    for path in sorted(project.mutants.glob("*.yaml")):
        puzzle = load_puzzle(project.problems / path.stem / "puzzle.yaml", project)
        modes = {mode.name: mode.sized(simulated=True, lanes=lanes) for mode in puzzle.modes}
        mutants = [mutant for mutant in load_mutants(project, puzzle) if mutant.results]
        if not mutants:
            continue
        reference = load_reference(puzzle)
        cases_of = {
            name: [reference.case(mode, each, simulated=True, lanes=lanes) for each in mode.datasets]
            for name, mode in modes.items()
            if any(name in mutant.results for mutant in mutants)
        }
        for mutant in mutants:
            for name, result in mutant.results.items():
                mode, cases = modes[name], cases_of[name]
                shown = [
                    compare(wrong.astype(right.dtype), right.ravel(), output.rtol, output.atol)
                    for case in cases
                    if case.evaluate
                    for wrong in [case.evaluate(result, mutant.where).ravel()]
                    for output in mode.outputs
                    for right in [case.expected[output.name]]
                    if right.size == wrong.size
                ]
                assert shown, f"{mutant.where}: {mutant.name} in {name}"
                assert not all(each.equal for each in shown), f"{mutant.where}: {mutant.name} in {name}"
