"""A trial: findings that are irrelevant after the ending of a run, and the run with other sizes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tooling import trials
from tooling.catalog.catalogue import select
from tooling.execution.program import Ending, Transcript
from tooling.judging.verdict import CaseVerdict, Outcome, Problem, Verdict
from tooling.project import find_project
from tooling.simulator.checks.findings import Check, Finding, Kind, Severity
from tooling.target_run import relevant_findings
from tooling.targets.model import Choice
from tooling.targets.probing import SIMULATED
from tooling.toolchain import BuildCache, BuildRequest, Executable, Toolchain
from tooling.toolchain.build import BuildFailed
from tooling.trials import Trial, with_other_sizes

FOUND = [
    Finding(Check.MEMORY, Kind.LEAK, Severity.WARNING, ""),
    Finding(Check.INITIALISATION, Kind.UNWRITTEN_LIBRARY_READ, Severity.WARNING, "scan"),
    Finding(Check.INITIALISATION, Kind.UNWRITTEN_READ, Severity.ERROR, "scan"),
]


@pytest.mark.parametrize(
    ("ending", "status", "kinds"),
    [
        (Ending.EXITED, 0, [Kind.LEAK, Kind.UNWRITTEN_READ]),
        (Ending.EXITED, 1, [Kind.UNWRITTEN_LIBRARY_READ, Kind.UNWRITTEN_READ]),
        (Ending.SIGNALLED, 6, [Kind.UNWRITTEN_LIBRARY_READ, Kind.UNWRITTEN_READ]),
        (Ending.TIME_LIMIT, 9, [Kind.UNWRITTEN_LIBRARY_READ, Kind.UNWRITTEN_READ]),
    ],
)
def test_only_relevant_findings_remain(ending: Ending, status: int, kinds: list[Kind]) -> None:
    relevant = relevant_findings(FOUND, Transcript("", "", ending, status, 0.1))
    assert [finding.kind for finding in relevant] == kinds


PROJECT = find_project(Path(__file__).parent)
ENDED = Transcript("", "", Ending.EXITED, 0, 0.5)
SIZES = "SIZE = 21, BLOCKS_PER_GRID = (6, 1)"
BOTH = (CaseVerdict("book", ENDED, ()), CaseVerdict("probe", ENDED, ()))


class Builder:
    """Stands for the compiler and the run: keeps what is built, and judges it as told."""

    def __init__(self, problems: tuple[Problem, ...] = (), *, compiles: bool = True) -> None:
        self.problems = problems
        self.compiles = compiles
        self.sources: list[str] = []
        self.shapes: list[tuple[int, ...]] = []

    def build(self, project: object, trial: Trial, toolchain: object, cache: object) -> Executable:
        self.sources.append(trial.source.read_text("utf-8"))
        if not self.compiles:
            raise BuildFailed(trial.source, (), "")
        return Executable(trial.source, BuildRequest(trial.source), "key")

    def run(self, trial: Trial, executable: Executable, *, datasets: tuple[str, ...]) -> Verdict:
        self.shapes += [output.shape for output in trial.selection.mode.outputs]
        cases = tuple(CaseVerdict(dataset, ENDED, self.problems) for dataset in datasets)
        outcome = Outcome.WRONG if self.problems else Outcome.PASSED
        return Verdict(trial.selection, trial.choice, trial.solution, cases, outcome, 1.0)


def judged(
    builder: Builder,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    puzzle: str = "p06",
    outcome: Outcome = Outcome.PASSED,
    size: str = "comptime SIZE = 9",
) -> Verdict:
    """The verdict on the solution after `outcome` with both data sets.

    Args:
        size: how the program defines its size.
    """
    monkeypatch.setattr(trials, "build_trial", builder.build)
    monkeypatch.setattr(trials, "run_trial", builder.run)
    selection = select(PROJECT, puzzle, (), ())
    source = folder / f"{puzzle}.mojo"
    text = selection.program.solution.read_text("utf-8")
    source.write_text(text.replace("comptime SIZE = 9", size), "utf-8")
    trial = Trial(selection, Choice(SIMULATED, "a test"), source)
    verdict = Verdict(selection, trial.choice, solution=False, cases=BOTH, outcome=outcome, seconds=2.0)
    toolchain = Toolchain(folder / "mojo", "1", folder, None)
    return with_other_sizes(trial, verdict, PROJECT, toolchain, BuildCache(folder / "cache"))


def test_an_answer_that_passes_is_run_with_other_sizes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builder = Builder()
    verdict = judged(builder, tmp_path, monkeypatch)
    (source,) = builder.sources
    assert "comptime SIZE = 21\ncomptime BLOCKS_PER_GRID = (6, 1)\n" in source
    assert "comptime THREADS_PER_BLOCK = (4, 1)\n" in source
    assert builder.shapes == [(21,), (21,)]
    assert [case.dataset for case in verdict.cases] == ["book", "probe", SIZES]
    assert (verdict.outcome, verdict.seconds, verdict.notes) == (Outcome.PASSED, 2.5, ())


def test_a_mistake_that_only_other_sizes_show_makes_the_answer_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builder = Builder((Problem("mismatch", "mismatch", output="out"),))
    verdict = judged(builder, tmp_path, monkeypatch)
    assert verdict.outcome is Outcome.WRONG
    assert [case.right for case in verdict.cases] == [True, True, False]


@pytest.mark.parametrize(("puzzle", "outcome"), [("p06", Outcome.WRONG), ("p02", Outcome.PASSED)])
def test_a_wrong_answer_and_a_mode_without_other_sizes_are_not_run_again(
    puzzle: str, outcome: Outcome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builder = Builder()
    verdict = judged(builder, tmp_path, monkeypatch, puzzle=puzzle, outcome=outcome)
    assert (verdict.cases, verdict.outcome, builder.sources) == (BOTH, outcome, [])


@pytest.mark.parametrize("size", ["comptime SIZE: Int = 9", "comptime SIZE = 10", ""])
def test_a_program_with_another_constant_is_not_run_again_and_a_note_says_so(
    size: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builder = Builder()
    verdict = judged(builder, tmp_path, monkeypatch, size=size)
    why = "the program does not define `SIZE` as the problem file does"
    assert [each.render("en") for each in verdict.notes] == [f"not tried with {SIZES}: {why}"]
    assert (verdict.cases, verdict.outcome, builder.sources) == (BOTH, Outcome.PASSED, [])


def test_a_program_that_does_not_compile_with_other_sizes_is_not_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verdict = judged(Builder(compiles=False), tmp_path, monkeypatch)
    why = "the program does not compile with these sizes"
    assert [each.render("en") for each in verdict.notes] == [f"not tried with {SIZES}: {why}"]
    assert (verdict.cases, verdict.outcome) == (BOTH, Outcome.PASSED)
