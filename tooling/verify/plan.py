"""Plans what to verify: one task for each program text, with all the modes that it is run in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from tooling.catalog.catalogue import Selection, known_names
from tooling.catalog.model import ModeKind, Program, Puzzle, Vendor
from tooling.catalog.mutants import Deviation, Mutant, MutantError, load_mutants, mutants_path
from tooling.platform.errors import Location, ToolingError
from tooling.platform.suggestions import nearest, proposal
from tooling.project import Project
from tooling.toolchain import BuildCache, Executable


class NothingSelected(ToolingError):
    """No puzzle, mode or part matches."""


class Subject(Enum):
    """The kind of program text that is verified."""

    SOLUTION = "solution"
    SKELETON = "skeleton"
    MUTANT = "mutant"


class PlannedTrial(Struct, frozen=True):
    """One program text in one mode, with the expected outcome."""

    subject: Subject
    selection: Selection
    mutant: str = ""
    expect: tuple[str, ...] = ()  # of a mutant: the verdict must name one of these
    deviations: Mapping[Vendor, Deviation] = {}  # of a mutant
    hidden: str = ""  # of a mutant: why its mistake does not show on this target

    @property
    def id(self) -> str:
        """A name that stays the same from run to run."""
        suffix = f" {self.mutant}" if self.mutant else ""
        return f"{self.selection.command} {self.subject.value}{suffix}"

    @property
    def must_pass(self) -> bool:
        given = self.selection.mode.kind is not ModeKind.PUZZLE
        if self.subject is Subject.MUTANT:
            return bool(self.hidden)
        return self.subject is Subject.SOLUTION or given

    def on(self, vendor: Vendor, lanes: int) -> PlannedTrial:
        """The trial with the outcome that is expected on a vendor's GPUs whose warps have this many lanes."""
        deviation = self.deviations.get(vendor)
        if deviation is None or (deviation.modes and self.selection.mode.name not in deviation.modes):
            return self
        if deviation.lanes not in (0, lanes):
            return self
        return replace(self, expect=deviation.expect, hidden="" if deviation.expect else deviation.because)


class Task(Struct, frozen=True):
    """One program text: built once, run in each of its modes."""

    source: Path
    trials: tuple[PlannedTrial, ...]
    error: MutantError | None = None  # why the text could not be made
    executable: Executable | None = None  # if it is built already


class Filter(Struct, frozen=True):
    """Selects what to verify; empty means all."""

    puzzles: tuple[str, ...] = ()  # p15, or a program such as p15_tile_tensor
    modes: tuple[str, ...] = ()  # names or flags
    parts: tuple[str, ...] = ()
    subjects: tuple[Subject, ...] = tuple(Subject)
    ids: frozenset[str] | None = None  # of trials; None: all

    def program_wanted(self, puzzle: Puzzle, program: str) -> bool:
        if self.parts and puzzle.part not in self.parts:
            return False
        return not self.puzzles or puzzle.id in self.puzzles or program in self.puzzles

    def mode_wanted(self, selection: Selection) -> bool:
        mode = selection.mode
        return not self.modes or mode.name in self.modes or any(flag in self.modes for flag in mode.flags)


def make_plan(
    project: Project, puzzles: Sequence[Puzzle], wanted: Filter, cache: BuildCache
) -> tuple[Task, ...]:
    """Everything that the filter selects, in the order of the book.

    Raises:
        NothingSelected: the filter names something that does not exist, or nothing is left.
        ManifestError, MutantError: a manifest or a file of mutants is invalid.
    """
    known = {name for puzzle in puzzles for name in (puzzle.id, *(each.name for each in puzzle.programs))}
    wanted = replace(wanted, puzzles=known_names(wanted.puzzles, known))
    _refuse_unknown("part", wanted.parts, [puzzle.part for puzzle in puzzles])
    modes = [name for puzzle in puzzles for mode in puzzle.modes for name in (mode.name, *mode.flags)]
    _refuse_unknown("mode", wanted.modes, modes)
    tasks = [
        task
        for puzzle in puzzles
        for task in _puzzle_tasks(project, puzzle, wanted, cache)
        if task.trials or task.error
    ]
    if not tasks:
        raise NothingSelected("nothing matches this selection", hint="`tooling list` shows all puzzles")
    return tuple(tasks)


def _refuse_unknown(noun: str, names: Sequence[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            near = nearest(name, known)
            hint = proposal(near) if near else "`tooling list` shows what there is"
            raise NothingSelected(f"there is no {noun} `{name}`", hint=hint)


def _puzzle_tasks(project: Project, puzzle: Puzzle, wanted: Filter, cache: BuildCache) -> list[Task]:
    tasks = []
    mutants = load_mutants(project, puzzle) if Subject.MUTANT in wanted.subjects else ()
    if Subject.MUTANT in wanted.subjects and not mutants:
        tasks += _no_mutants(project, puzzle, wanted)
    for program in puzzle.programs:
        if not wanted.program_wanted(puzzle, program.name):
            continue
        selections = [
            selection
            for mode in puzzle.modes_of(program.name)
            if wanted.mode_wanted(selection := Selection(puzzle, program, mode))
        ]
        for subject, source in (
            (Subject.SOLUTION, program.solution),
            (Subject.SKELETON, program.problem),
        ):
            if subject in wanted.subjects:
                trials = [
                    PlannedTrial(subject, each) for each in selections if _says_something(subject, each)
                ]
                tasks.append(Task(source, _wanted(wanted, trials)))
        for mutant in mutants:
            if program.name in mutant.programs:
                trials = [
                    PlannedTrial(Subject.MUTANT, each, mutant.name, mutant.expect, mutant.deviations)
                    for each in selections
                    if each.mode.name in mutant.modes
                ]
                if kept := _wanted(wanted, trials):
                    tasks.append(_mutant_task(mutant, program, kept, cache))
    return tasks


def _no_mutants(project: Project, puzzle: Puzzle, wanted: Filter) -> list[Task]:
    """The failure of a puzzle without mutants: nothing shows that wrong answers are rejected."""
    for program in puzzle.programs:
        for mode in puzzle.modes_of(program.name):
            selection = Selection(puzzle, program, mode)
            if mode.kind is not ModeKind.PUZZLE or not wanted.program_wanted(puzzle, program.name):
                continue
            if not wanted.mode_wanted(selection):
                continue
            error = MutantError(
                f"{puzzle.id} has no mutants",
                where=Location(mutants_path(project, puzzle)),
                why="mutants, programs with a learner's mistake, show that wrong answers are rejected",
                hint="write the file, as tests/mutants/p01.yaml shows, or verify with `--only solution`",
            )
            return [Task(program.solution, _wanted(wanted, [PlannedTrial(Subject.MUTANT, selection)]), error)]
    return []


def _says_something(subject: Subject, selection: Selection) -> bool:
    """Whether a mode has an outcome to verify: an unsolved program's benchmark may fail or succeed."""
    return subject is Subject.SOLUTION or selection.mode.kind in (ModeKind.PUZZLE, ModeKind.GIVEN)


def _wanted(wanted: Filter, trials: list[PlannedTrial]) -> tuple[PlannedTrial, ...]:
    return tuple(trial for trial in trials if wanted.ids is None or trial.id in wanted.ids)


def _mutant_task(
    mutant: Mutant, program: Program, trials: tuple[PlannedTrial, ...], cache: BuildCache
) -> Task:
    try:
        return Task(cache.store_program(program.solution, mutant.sources(program)), trials)
    except MutantError as error:
        return Task(program.solution, trials, error)
