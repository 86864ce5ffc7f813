"""All puzzles, and the program and mode that a command line selects."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from tooling.catalog.manifest import load_puzzle
from tooling.catalog.model import Mode, Program, Puzzle
from tooling.catalog.nodes import did_you_mean
from tooling.errors import ToolingError
from tooling.project import Project


class UnknownPuzzle(ToolingError):
    """No program has the requested name."""


class UnknownMode(ToolingError):
    """The program has no mode with these flags."""


class Selection(Struct, frozen=True):
    """One mode of one program, to be run."""

    puzzle: Puzzle
    program: Program
    mode: Mode

    @property
    def command(self) -> str:
        """The arguments of `tooling run`."""
        return " ".join((self.program.name, *self.mode.flags))


def manifest_paths(project: Project) -> tuple[Path, ...]:
    """Every puzzle.yaml, in the order of the puzzles."""
    return tuple(sorted(project.problems.glob("p[0-9][0-9]*/puzzle.yaml")))


def load_catalogue(project: Project) -> tuple[Puzzle, ...]:
    """Every puzzle, in order.

    Raises:
        ManifestError: one of the manifests is wrong.
    """
    return tuple(load_puzzle(path, project) for path in manifest_paths(project))


def every_selection(puzzles: Sequence[Puzzle]) -> tuple[Selection, ...]:
    """Every mode of every program, in the order of the manifests."""
    return tuple(
        Selection(puzzle, puzzle.program(name), mode)
        for puzzle in puzzles
        for mode in puzzle.modes
        for name in mode.programs
    )


def programs_named(puzzles: Sequence[Puzzle], names: Sequence[str]) -> tuple[Program, ...]:
    """The programs with these names, such as `p15` (all of the puzzle) or `p15_raw`; without names, all.

    Raises:
        UnknownPuzzle: no puzzle or program has one of the names.
    """
    known = [name for puzzle in puzzles for name in (puzzle.id, *(each.name for each in puzzle.programs))]
    for name in names:
        if name not in known:
            raise UnknownPuzzle(f"unknown puzzle `{name}`", hint=did_you_mean(name, sorted(set(known))))
    return tuple(
        program
        for puzzle in puzzles
        for program in puzzle.programs
        if not names or puzzle.id in names or program.name in names
    )


def find_program(project: Project, name: str) -> tuple[Puzzle, Program]:
    """The puzzle and program with this name, such as `p15` or `p15_tile_tensor`.

    Reads only the manifest of this puzzle.

    Raises:
        UnknownPuzzle: there is no such program.
        ManifestError: the manifest is wrong.
    """
    wanted = Path(name).stem.lower()
    identity = wanted.split("_", 1)[0]
    manifest = project.problems / identity / "puzzle.yaml"
    known: list[str] = []
    if manifest.is_file():
        puzzle = load_puzzle(manifest, project)
        for program in puzzle.programs:
            if program.name == wanted:
                return puzzle, program
        known = [program.name for program in puzzle.programs]
    else:
        known = [path.parent.name for path in manifest_paths(project)]
        for path in project.problems.glob("p[0-9][0-9]*/p*.mojo"):
            known.append(path.stem)
    if not known:
        raise UnknownPuzzle(
            f"unknown puzzle `{name}`",
            why=f"{project.problems} contains no puzzles",
            hint="change into your clone, or set PUZZLE_ROOT to it",
        )
    raise UnknownPuzzle(
        f"unknown puzzle `{name}`",
        why="puzzles are named p01, p02, …, and their variants for example p15_tile_tensor",
        hint=f"{did_you_mean(wanted, sorted(known))}; `tooling list` shows all",
    )


def find_mode(puzzle: Puzzle, program: Program, flags: Sequence[str]) -> Mode:
    """The mode of `program` that these flags select.

    Raises:
        UnknownMode: an unknown flag, or no flag where the program has several modes.
    """
    modes = puzzle.modes_of(program.name)
    for mode in modes:
        if sorted(mode.flags) == sorted(flags):
            return mode
    known = [flag for mode in modes for flag in mode.flags]
    usage = f"usage: tooling run {program.name}" + (f" ({' | '.join(known)})" if known else "")
    if not flags:
        raise UnknownMode(
            f"`{program.name}` has {len(modes)} modes: say which",
            hint=f"one of {', '.join(known)}",
            why=usage,
        )
    unknown = next((flag for flag in flags if flag not in known), None)
    if unknown is None:
        raise UnknownMode(f"these flags cannot be combined: {' '.join(flags)}", why=usage)
    if not known:
        raise UnknownMode(
            f"`{program.name}` takes no flags, but `{unknown}` was given", why=usage, hint="remove it"
        )
    raise UnknownMode(
        f"`{program.name}` has no flag `{unknown}`", why=usage, hint=did_you_mean(unknown, known)
    )


def select(project: Project, name: str, flags: Sequence[str]) -> Selection:
    """The program and mode that a command line selects.

    Raises:
        UnknownPuzzle, UnknownMode, ManifestError: as `find_program` and `find_mode`.
    """
    puzzle, program = find_program(project, name)
    return Selection(puzzle, program, find_mode(puzzle, program, flags))
