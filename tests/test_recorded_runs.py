"""The simulated GPU prints and computes, byte for byte, what an H200 printed and computed.

tests/data/h200/runs.json.xz is a results file of `tooling bundle`: every mode's solution, skeleton and
mutants, built for sm_90a and run on that machine; small-runs.json.xz holds those that work on fewer elements
on the simulated GPU, run there at that size (see tests/data/h200/README.md for how both were made).
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.machine import needs_simulated_gpu
from tests.results_files import RUNS, SMALL_RUNS, recorded_results
from tooling.catalog.catalogue import load_catalogue
from tooling.catalog.model import ModeKind, ProgramLanguage, Puzzle
from tooling.execution.channel import VARIABLE, LabFolder
from tooling.judging.reference import load_reference
from tooling.project import find_project
from tooling.target_run import RunOptions, run_on_target
from tooling.targets.model import Target, TargetKind
from tooling.targets.probing import probe
from tooling.toolchain import find_toolchain, open_cache
from tooling.toolchain.cache import usable_cache
from tooling.trials import build_program
from tooling.verify.plan import Filter, PlannedTrial, Subject, make_plan

pytestmark = [pytest.mark.mojo, needs_simulated_gpu]

PROJECT = find_project(Path(__file__).parent)
RECORDINGS = PROJECT.recordings / "h200"

UNDEFINED = {"races", "memory", "initialisation", "synchronisation"}
"""A mutant whose fault is one of these may print anything on hardware: nothing to compare."""

NOT_RECORDED: set[str] = set()
"""Mutants that are newer than the recordings."""


@dataclass(frozen=True, slots=True)
class Case:
    """One run: a trial with its source, on one data set."""

    trial: PlannedTrial
    source: Path
    dataset: str

    def __str__(self) -> str:
        return f"{self.trial.id}-{self.dataset}"


@functools.cache
def catalogue() -> tuple[Puzzle, ...]:
    return load_catalogue(PROJECT)


@functools.cache
def recorded(file: str = RUNS) -> dict[tuple[str, str], dict[str, Any]]:
    report = recorded_results(file)
    assert "H200" in report["device"]
    return {(result["id"], result["dataset"]): result for result in report["results"]}


def cases(puzzles: Collection[str], *subjects: Subject, scaled: bool = False) -> list[Case]:
    """Those of modes that work on as many elements on the simulated GPU; or (`scaled`) on fewer."""
    if not puzzles:
        return []
    wanted = Filter(puzzles=tuple(puzzles), subjects=subjects)
    plan = make_plan(PROJECT, catalogue(), wanted, usable_cache())
    return [
        Case(trial, task.source, dataset)
        for task in plan
        for trial in task.trials
        if trial.selection.program.language
        is ProgramLanguage.MOJO  # graphs are held to their references alone
        and trial.selection.mode.kind is ModeKind.PUZZLE
        and trial.selection.mode.scaled is scaled
        for dataset in trial.selection.mode.datasets
    ]


def simulate(case: Case, folder: Path) -> dict[str, Any]:
    """Run the case here; the parts of the results file that must be the same."""
    target = probe(TargetKind.SIM)
    assert isinstance(target, Target), target
    selection = case.trial.selection
    executable = build_program(
        selection.program, case.source, target.accelerator, PROJECT, find_toolchain(), open_cache()
    )
    lab = LabFolder(folder / "lab")
    lab.create()
    mode = target.sized(selection.mode)
    if case.dataset != "book":
        lab.stage(load_reference(selection.puzzle).case(mode, case.dataset, simulated=True).inputs)
    command = [str(executable.path), *mode.flags]
    sizes = {output.name: math.prod(output.shape) for output in mode.outputs}
    options = RunOptions(environment={VARIABLE: str(lab.root)}, time_limit=120.0, gpus=mode.gpus)
    run = run_on_target(command, target, options)
    return comparable(
        case,
        {
            "stdout": run.transcript.stdout,
            "ending": run.transcript.ending.value,
            "status": run.transcript.status,
            "out": {
                name: (each.dtype, hashlib.sha256(each.content).hexdigest())
                for name, each in lab.submitted(sizes).items()
            },
        },
    )


def on_hardware(case: Case, file: str = RUNS) -> dict[str, Any]:
    """The same parts, as recorded."""
    if case.trial.id in NOT_RECORDED:
        pytest.skip(f"not recorded on an H200 yet: {case.trial.id} (tests/data/h200/README.md)")
    result = recorded(file)[case.trial.id, case.dataset]
    return comparable(
        case,
        {
            "stdout": result["stdout"],
            "ending": result["ending"],
            "status": result["status"],
            "out": {name: (each["dtype"], each["sha256"]) for name, each in result["out"].items()},
        },
    )


def comparable(case: Case, run: dict[str, Any]) -> dict[str, Any]:
    """Without what follows from an approximation: an H200's ex2.approx errs in a last bit, ours does not."""
    if case.trial.selection.program.name == "p18_test":
        return {**run, "stdout": None, "out": {"out_cpu": run["out"].get("out_cpu")}}
    return run


SMALLER = ("p30", "p31", "p33")
"""Puzzles that work on fewer elements on the simulated GPU."""

SEEDED = ("p09", "p10")
"""Puzzles whose skeletons are to be debugged: what a fault does on hardware is undefined."""

ALL = sorted({name[:3] for name, _ in recorded()})
DEFINED = [case for case in cases(ALL, Subject.MUTANT) if not UNDEFINED & set(case.trial.expect)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [
        *cases(ALL, Subject.SOLUTION),
        *cases([puzzle for puzzle in ALL if puzzle not in SEEDED], Subject.SKELETON),
    ],
    ids=str,
)
def test_solutions_and_skeletons_do_what_they_did_on_an_h200(case: Case, tmp_path: Path) -> None:
    assert simulate(case, tmp_path) == on_hardware(case)


@pytest.mark.slow
@pytest.mark.parametrize("case", DEFINED, ids=str)
def test_mutants_do_what_they_did_on_an_h200(case: Case, tmp_path: Path) -> None:
    assert simulate(case, tmp_path) == on_hardware(case)


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [
        case
        for case in cases(SMALLER, Subject.SOLUTION, Subject.SKELETON, Subject.MUTANT, scaled=True)
        if not UNDEFINED & set(case.trial.expect)
    ],
    ids=str,
)
def test_smaller_runs_do_what_they_did_on_an_h200_at_that_size(case: Case, tmp_path: Path) -> None:
    assert simulate(case, tmp_path) == on_hardware(case, SMALL_RUNS)


def test_only_mutants_that_have_no_recording_are_skipped() -> None:
    assert not NOT_RECORDED & {name for file in (RUNS, SMALL_RUNS) for name, _ in recorded(file)}


LARGEST = 1 << 20
"""Elements of a mode's outputs; the inputs of larger ones are not made again."""


@pytest.mark.parametrize("puzzle", catalogue(), ids=lambda puzzle: puzzle.id)
def test_recorded_runs_worked_on_the_data_of_today(puzzle: Puzzle) -> None:
    """Else the simulated GPU would be compared with what an H200 computed from other data."""
    reference = load_reference(puzzle)
    for mode in puzzle.modes:
        if mode.kind is not ModeKind.PUZZLE or any(math.prod(each.shape) > LARGEST for each in mode.outputs):
            continue
        ids = {" ".join((name, *mode.flags, "solution")) for name in mode.programs}
        for (name, dataset), result in recorded().items():
            if name in ids:
                inputs = reference.case(mode, dataset).inputs
                made = {key: hashlib.sha256(array.tobytes()).hexdigest() for key, array in inputs.items()}
                used = {key: buffer["sha256"] for key, buffer in result["used"].items()}
                assert used == made, (name, dataset)


@pytest.mark.parametrize("tool", ["memcheck", "racecheck", "synccheck", "initcheck"])
def test_compute_sanitizer_had_nothing_to_say_about_any_solution(tool: str) -> None:
    """It was started on a machine with one GPU, so not on the puzzles of several."""
    runs = json.loads((RECORDINGS / "sanitizer.json").read_text("utf-8"))[tool]["runs"]
    several = {puzzle.id for puzzle in catalogue() if any(mode.gpus > 1 for mode in puzzle.modes)}
    solutions = {run for run in recorded() if run[0].endswith(" solution") and run[0][:3] not in several}
    assert {(run["id"], run["dataset"]) for run in runs} == solutions
    unclean = [
        run["id"]
        for run in runs
        if run["status"] or not any(" 0 errors" in line or "(0 errors" in line for line in run["summary"])
    ]
    assert not unclean
