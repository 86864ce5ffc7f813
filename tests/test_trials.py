"""A trial: findings that are irrelevant after the ending of a run, and the runs after one that passes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from tooling import trials
from tooling.catalog.catalogue import select
from tooling.execution.program import Ending, Transcript
from tooling.judging.comparison import compare
from tooling.judging.verdict import CaseVerdict, Outcome, Problem, Verdict
from tooling.project import find_project
from tooling.reports.console import verdict_lines
from tooling.reports.verdict_record import record_of
from tooling.simulator.checks.findings import Check, Finding, Kind, Severity
from tooling.target_run import relevant_findings
from tooling.targets.model import Choice, Target, TargetKind
from tooling.targets.probing import SIMULATED
from tooling.toolchain import BuildCache, BuildRequest, Executable, Toolchain
from tooling.toolchain.build import BuildFailed
from tooling.trials import Trial, judge_trial, with_other_sizes

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


# -- other orders of threads ---------------------------------------------------------------------------

WRONG_VALUES = Problem(
    "shifted",
    "shifted",
    {"distance": 1},
    "out",
    compare(np.array([1, 3], np.float32), np.array([1, 2], np.float32)),
)
OUT_OF_BOUNDS = Finding(Check.MEMORY, Kind.PAST_THE_END, Severity.ERROR, "scan")


class Runner:
    """Stands for the runs: right with the data sets, and as given in another order."""

    def __init__(self, *, problems: tuple[Problem, ...] = (), findings: tuple[Finding, ...] = ()) -> None:
        self.problems = problems
        self.findings = findings
        self.runs: list[tuple[str, str]] = []

    def run(
        self,
        trial: object,
        executable: object,
        runs: Sequence[tuple[str, str]],
        stream: object = None,
        meanwhile: object = None,
    ) -> list[CaseVerdict]:
        self.runs += runs
        return [
            CaseVerdict(dataset, ENDED, self.problems, self.findings, schedule=schedule)
            if schedule in ("random:1", "adversarial:4")
            else CaseVerdict(dataset, ENDED, (), schedule=schedule)
            for dataset, schedule in runs
        ]


def judged_in_orders(
    runner: Runner,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    target: Target = SIMULATED,
    resident_blocks: int | None = None,
) -> Verdict:
    """The verdict of `tooling run p02`, which remembers what has passed."""
    monkeypatch.setattr(trials, "_run_cases", runner.run)
    selection = select(PROJECT, "p02", (), ())
    selection = replace(selection, mode=replace(selection.mode, resident_blocks=resident_blocks))
    trial = Trial(selection, Choice(target, "a test"), selection.program.solution)
    executable = Executable(folder / "p02", BuildRequest(trial.source), "0" * 40)
    cache = BuildCache(folder / "cache")
    cache.entry(executable.key).mkdir(parents=True, exist_ok=True)
    toolchain = Toolchain(folder / "mojo", "1", folder, None)
    return judge_trial(trial, executable, PROJECT, toolchain, cache, remember=True)


BY_DATA = [("book", ""), ("probe", "")]
BY_ORDER = [("probe", "adversarial"), ("probe", "random:1")]


def test_an_answer_that_passes_is_run_in_other_orders_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = Runner()
    for runs in (BY_DATA + BY_ORDER, BY_DATA):
        verdict = judged_in_orders(runner, tmp_path, monkeypatch)
        assert runner.runs == runs
        assert [(case.dataset, case.schedule) for case in verdict.cases] == BY_DATA
        assert verdict.outcome is Outcome.PASSED
        runner.runs = []


def test_a_real_gpu_has_the_order_that_it_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runner = Runner()
    gpu = replace(SIMULATED, kind=TargetKind.NVIDIA)
    verdict = judged_in_orders(runner, tmp_path, monkeypatch, target=gpu)
    assert (runner.runs, verdict.outcome) == (BY_DATA, Outcome.PASSED)


def test_an_answer_that_is_wrong_in_another_order_says_so_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = Runner(problems=(WRONG_VALUES,))
    for _ in range(2):
        verdict = judged_in_orders(runner, tmp_path, monkeypatch)
        assert verdict.outcome is Outcome.WRONG
        assert verdict.names == {"order-dependent", "shifted"}
    lines = verdict_lines(record_of(verdict), "en")
    assert lines[:5] == [
        "❌ p02 is not right yet",
        "  `out` depends on the order in which the threads run (with other data, threads in a random order)",
        "    1 of 2 elements differ:",
        "      index  got  expected",
        "        [1]  3.0       2.0",
    ]
    assert not [line for line in lines if "replay" in line]
    korean = verdict_lines(record_of(verdict), "ko")
    order = "(다른 데이터, 스레드가 무작위 순서로 실행될 때)"
    assert korean[1] == f"  `out`의 값이 스레드가 실행되는 순서에 따라 달라집니다 {order}"


def test_a_mode_may_give_the_simulated_gpu_room_for_few_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = Runner(problems=(WRONG_VALUES,))
    verdict = judged_in_orders(runner, tmp_path, monkeypatch, resident_blocks=4)
    assert runner.runs == [*BY_DATA, ("probe", "adversarial:4"), ("probe", "random:1")]
    where = {
        "en": "(with other data, the last threads first, with room for 4 blocks)",
        "ko": "(다른 데이터, 뒤 번호의 스레드가 먼저 실행되고 블록은 한 번에 4개만 실행될 때)",
    }
    for language, order in where.items():
        assert verdict_lines(record_of(verdict), language)[1].endswith(order)


def test_what_the_checks_find_in_another_order_explains_wrong_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verdict = judged_in_orders(
        Runner(problems=(WRONG_VALUES,), findings=(OUT_OF_BOUNDS,)), tmp_path, monkeypatch
    )
    assert [problem.message for problem in verdict.cases[-1].problems] == ["after-findings"]
    assert verdict.names == {"mismatch", "shifted", "memory"}
