"""All puzzles, and the program and mode that a command line selects."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from tooling.catalog.manifest import load_puzzle
from tooling.catalog.model import Mode, Program, Puzzle
from tooling.platform.errors import Location, ToolingError
from tooling.platform.suggestions import did_you_mean, nearest, one_of, proposal
from tooling.project import Project
from tooling.text import Sentence, Text

_MOST_TITLED = 5
_TITLED = Text("`{puzzle}` ({title})")
_NUMBERED = re.compile(r"p?0*(\d+)((?:_.*)?)", re.ASCII | re.IGNORECASE)


class UnknownPuzzle(ToolingError):
    """No program has the requested name."""


class UnknownMode(ToolingError):
    """The program has no mode with these flags."""


class UnknownOption(ToolingError):
    """An argument is neither a flag of the program nor an option of the command."""


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
    """Every puzzle.yaml, in the order of the puzzles, also where it cannot be read: its reader reports it."""
    folders = sorted(project.problems.glob("p[0-9][0-9]*"))
    return tuple(path for folder in folders if _is_named(path := folder / "puzzle.yaml"))


def _is_named(manifest: Path) -> bool:
    """Whether this is the manifest of a puzzle, readable or not."""
    folder = manifest.parent
    return os.path.lexists(manifest) or (folder.is_symlink() and not folder.is_dir())


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


def program_name(text: str) -> str:
    """The name in its canonical form: `p05` for `p5`, `5`, `P05` and `problems/p05/p05.mojo`."""
    name = Path(text).stem.lower()
    match = _NUMBERED.fullmatch(name)
    return f"p{int(match[1]):02}{match[2]}" if match else name


def is_puzzle_name(text: str) -> bool:
    """Whether this has the form of a puzzle's name or number; the puzzle need not exist."""
    return _NUMBERED.fullmatch(Path(text).stem) is not None


def nearest_programs(name: str, known: Iterable[str]) -> Sentence:
    """A hint with the programs that are most likely meant.

    For a number that no puzzle has, these are the number with its digits reversed, and the nearest number.
    """
    names = sorted(set(known))
    numbers = {int(match[1]) for each in names if (match := _NUMBERED.fullmatch(each))}
    match = _NUMBERED.fullmatch(name)
    if match and numbers and int(match[1]) not in numbers:
        number = int(match[1])
        likely = [int(f"{number:02}"[::-1]), min(numbers, key=lambda each: (abs(each - number), each))]
        found = [
            next((each for each in (f"p{one:02}{match[2]}", f"p{one:02}") if each in names), "")
            for one in dict.fromkeys(likely)
        ]
        return proposal(filter(None, found))
    return did_you_mean(name, names)


def programs_named(puzzles: Sequence[Puzzle], names: Sequence[str]) -> tuple[Program, ...]:
    """The programs with these names, such as `p15` (all of the puzzle) or `p15_raw`; without names, all.

    Raises:
        UnknownPuzzle: no puzzle or program has one of the names.
    """
    known = {name for puzzle in puzzles for name in (puzzle.id, *(each.name for each in puzzle.programs))}
    wanted = known_names(names, known)
    return tuple(
        program
        for puzzle in puzzles
        for program in puzzle.programs
        if not wanted or puzzle.id in wanted or program.name in wanted
    )


def puzzles_matching(puzzles: Sequence[Puzzle], words: Sequence[str]) -> tuple[Puzzle, ...]:
    """The puzzles whose name, title, programs, flags or summary contain every word, in any language."""
    wanted = [(word.casefold(), program_name(word)) for word in words]
    return tuple(
        puzzle for puzzle in puzzles if all(any(_has_word(puzzle, each) for each in one) for one in wanted)
    )


def _has_word(puzzle: Puzzle, word: str) -> bool:
    texts = [puzzle.id, *(program.name for program in puzzle.programs)]
    texts += [flag for mode in puzzle.modes for flag in mode.flags]
    for text in (puzzle.title, puzzle.summary):
        texts += [version for _, version in text.versions] if text else []
    return any(word in text.casefold() for text in texts)


def known_names(names: Iterable[str], known: Iterable[str]) -> tuple[str, ...]:
    """The names of puzzles and programs in their canonical form.

    Raises:
        UnknownPuzzle: one of them is not among the known ones.
    """
    wanted = {program_name(name): name for name in names}
    for canonical, name in wanted.items():
        if canonical not in known:
            raise UnknownPuzzle(
                Text("there is no puzzle `{name}`").of(name=name), hint=nearest_programs(canonical, known)
            )
    return tuple(wanted)


def find_program(project: Project, name: str) -> tuple[Puzzle, Program]:
    """The puzzle and program with this name, such as `p15` or `p15_tile_tensor`.

    Reads only the manifest of this puzzle.

    Raises:
        UnknownPuzzle: there is no such program.
        ManifestError: the manifest is wrong.
    """
    wanted = program_name(name)
    identity = wanted.split("_", 1)[0]
    manifest = project.problems / identity / "puzzle.yaml"
    known: list[str] = []
    if _is_named(manifest):
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
            Text("there is no puzzle `{name}`").of(name=name),
            why=Text("{problems} contains no puzzles").of(problems=project.problems),
            hint=Text("change into your clone, or set PUZZLE_ROOT to it"),
        )
    if os.path.lexists(manifest.parent) and wanted in known:
        raise UnknownPuzzle(
            Text("the manifest of {puzzle} is missing").of(puzzle=identity),
            where=Location(manifest),
            hint=Text("`git restore` brings back a file of the checkout"),
        )
    titled = _titled(project, name)
    if titled:
        raise UnknownPuzzle(
            Text("there is no puzzle `{name}`").of(name=name),
            why=Text("puzzles are named p01, p02, …, and their variants for example p15_tile_tensor"),
            hint=proposal(titled),
        )
    raise UnknownPuzzle(
        Text("there is no puzzle `{name}`").of(name=name),
        why=Text("puzzles are named p01, p02, …, and their variants for example p15_tile_tensor"),
        hint=Text("{suggestion} (`tooling list` shows all)").of(suggestion=nearest_programs(wanted, known)),
    )


def _titled(project: Project, name: str) -> list[Sentence]:
    """The puzzles with this word in their title; of many, the first ones."""
    try:
        puzzles = load_catalogue(project)
    except ToolingError:
        return []  # the name is what is wrong first
    word = name.casefold()
    found = [
        puzzle for puzzle in puzzles if any(word in text.casefold() for _, text in puzzle.title.versions)
    ]
    return [_TITLED.of(puzzle=puzzle.id, title=puzzle.title) for puzzle in found[:_MOST_TITLED]]


def find_mode(puzzle: Puzzle, program: Program, flags: Sequence[str], options: Sequence[str] = ()) -> Mode:
    """The mode of `program` that these flags select.

    Args:
        options: the other options of the command line, for hints about misspellings.

    Raises:
        UnknownMode: an unknown flag, or no flag where the program has several modes.
        UnknownOption: a flag that is likely to be one of the options, misspelled.
    """
    modes = puzzle.modes_of(program.name)
    for mode in modes:
        if sorted(mode.flags) == sorted(flags):
            return mode
    known = [flag for mode in modes for flag in mode.flags]
    usage = Text("usage: tooling run {arguments}").of(
        arguments=program.name + (f" ({' | '.join(known)})" if known else "")
    )
    if not flags:
        raise UnknownMode(
            Text("`{name}` has {number} modes: say which").of(name=program.name, number=len(modes)),
            hint=one_of(known),
            why=usage,
        )
    unknown = next((flag for flag in flags if flag not in known), None)
    if unknown is None:
        raise UnknownMode(
            Text("these flags cannot be combined: {flags}").of(flags=" ".join(flags)), why=usage
        )
    near = nearest(unknown.partition("=")[0], [*known, *options])
    if near and near[0] not in known:
        raise UnknownOption(Text("there is no option `{unknown}`").of(unknown=unknown), hint=proposal(near))
    if not known:
        raise UnknownMode(
            Text("`{name}` takes no flags, but `{unknown}` was given").of(name=program.name, unknown=unknown),
            why=usage,
            hint=Text("remove it"),
        )
    raise UnknownMode(
        Text("`{name}` has no flag `{unknown}`").of(name=program.name, unknown=unknown),
        why=usage,
        hint=did_you_mean(unknown, known),
    )


def select(project: Project, name: str, flags: Sequence[str], options: Sequence[str] = ()) -> Selection:
    """The program and mode that a command line selects.

    Args:
        options: as for `find_mode`.

    Raises:
        UnknownPuzzle, UnknownMode, UnknownOption, ManifestError: as `find_program` and `find_mode`.
    """
    try:
        puzzle, program = find_program(project, name)
    except UnknownPuzzle:
        refuse_misspelled(flags, options)
        raise
    return Selection(puzzle, program, find_mode(puzzle, program, flags, options))


def refuse_misspelled(flags: Sequence[str], options: Sequence[str]) -> None:
    """For an unknown puzzle: in `--targt sim p15`, the value of the misspelled option is parsed as one.

    Raises:
        UnknownOption: one of the flags is likely to be one of the options.
    """
    for flag in flags:
        near = nearest(flag.partition("=")[0], options) if flag.startswith("--") else ()
        if near:
            raise UnknownOption(
                Text("there is no option `{flag}`").of(flag=flag), hint=proposal(near)
            ) from None
