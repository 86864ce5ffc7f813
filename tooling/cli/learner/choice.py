"""The puzzle and mode that a reader names, or the next one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from tooling.commandline.parser import option_names
from tooling.platform.errors import ToolingError
from tooling.text import Text

if TYPE_CHECKING:
    from tooling.catalog.catalogue import Selection
    from tooling.project import Project


def one_puzzle_at_a_time(names: Sequence[str]) -> ToolingError:
    """The error of a command that takes one puzzle and was given several."""
    return ToolingError(
        Text("one puzzle at a time, not {names}").of(names=", ".join(names)),
        hint=Text("`{name}` alone").of(name=names[0]),
    )


def chosen_step(project: Project, words: Sequence[str], options: type[Struct]) -> Selection:
    """The mode that these words name.

    Without a name it is the reader's next step; without a flag, the first unsolved mode of the program.

    Raises:
        UnknownPuzzle, UnknownMode, UnknownOption, ManifestError: as `select`.
        ToolingError: all puzzles are solved, and none is named.
    """
    from tooling.catalog.catalogue import Selection, find_program, select
    from tooling.catalog.model import ModeKind
    from tooling.learning.journey import open_journey
    from tooling.progress import read_progress

    names = [word for word in words if not word.startswith("-")]
    flags = [word for word in words if word.startswith("-")]
    if not names and not flags:
        step = open_journey(project).next_step
        if step is None:
            raise ToolingError(Text("all puzzles are solved"), hint=Text("name one of them, such as p15"))
        return step
    if len(names) > 1:
        raise one_puzzle_at_a_time(names)
    if not names:
        step = open_journey(project).next_step
        names = [step.program.name] if step else ["p01"]
    if flags:
        return select(project, names[0], flags, option_names(options))
    puzzle, program = find_program(project, names[0])
    modes = [mode for mode in puzzle.modes_of(program.name) if mode.kind is ModeKind.PUZZLE]
    solved = read_progress(project.root).solved.get(puzzle.id, {})
    mode = next((mode for mode in modes if mode.name not in solved), (modes or puzzle.modes)[0])
    return Selection(puzzle, program, mode)
