"""Where the reader is: the modes to solve in order, and the next one."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from tooling.catalog.catalogue import Selection, load_catalogue
from tooling.catalog.model import ModeKind, ProgramLanguage, Puzzle
from tooling.catalog.paths import PuzzlePath, load_paths
from tooling.platform.errors import ToolingError
from tooling.platform.regular_files import read_text
from tooling.progress import Progress, read_progress
from tooling.project import Project
from tooling.text import Text


class Journey(Struct, frozen=True):
    """All puzzles, and what is solved of them.

    Attributes:
        puzzles: in the order of the book.
        path: the path that the reader has chosen, until all its puzzles are solved.
    """

    project: Project
    puzzles: tuple[Puzzle, ...]
    progress: Progress
    path: PuzzlePath | None = None

    @property
    def steps(self) -> tuple[Selection, ...]:
        """Every mode that asks for an answer, in the order of the book, in its first program."""
        return tuple(step for puzzle in self.puzzles for step in steps_of(puzzle))

    def is_solved(self, step: Selection) -> bool:
        return step.mode.name in self.progress.solved.get(step.puzzle.id, {})

    @property
    def solved_puzzles(self) -> int:
        return sum(self.progress.is_solved(puzzle) for puzzle in self.puzzles)

    @property
    def ordered(self) -> tuple[Puzzle, ...]:
        """All puzzles in the reader's order: those of the path, and then the others."""
        first = self.path.puzzles if self.path else ()
        names = {puzzle.id for puzzle in first}
        return (*first, *(puzzle for puzzle in self.puzzles if puzzle.id not in names))

    def is_on_path(self, puzzle: Puzzle) -> bool:
        return self.path is not None and any(each.id == puzzle.id for each in self.path.puzzles)

    @property
    def way(self) -> tuple[Selection, ...]:
        """The steps in the reader's order."""
        return tuple(step for puzzle in self.ordered for step in steps_of(puzzle))

    @property
    def next_step(self) -> Selection | None:
        """The first unsolved step of the way; None: there are no more."""
        return next((step for step in self.way if not self.is_solved(step)), None)

    def part(self, name: str) -> tuple[Puzzle, ...]:
        return tuple(puzzle for puzzle in self.puzzles if puzzle.part == name)

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(puzzle.part for puzzle in self.puzzles))


def open_journey(project: Project, puzzles: tuple[Puzzle, ...] | None = None) -> Journey:
    """The state of a project.

    Args:
        puzzles: its catalogue, if it has been loaded.

    Raises:
        ManifestError: one of the manifests, or the file of the paths, is wrong.
        ToolingError: there are no puzzles.
    """
    puzzles = load_catalogue(project) if puzzles is None else puzzles
    if not puzzles:
        raise ToolingError(
            Text("{problems} contains no puzzles").of(problems=project.problems),
            hint=Text("change into your clone, or set PUZZLE_ROOT to it"),
        )
    progress = read_progress(project.root)
    return Journey(project, puzzles, progress, _path_to_follow(project, puzzles, progress))


def _path_to_follow(project: Project, puzzles: tuple[Puzzle, ...], progress: Progress) -> PuzzlePath | None:
    """The chosen path, unless it is finished or no longer exists."""
    paths = load_paths(project, puzzles) if progress.path else ()
    chosen = next((path for path in paths if path.name == progress.path), None)
    return chosen if chosen and not all(map(progress.is_solved, chosen.puzzles)) else None


def steps_of(puzzle: Puzzle) -> Iterator[Selection]:
    """The modes of a puzzle that ask for an answer, each in the first program that has it."""
    for mode in puzzle.modes:
        if mode.kind is ModeKind.PUZZLE:
            yield Selection(puzzle, puzzle.program(mode.programs[0]), mode)


def extra_of(step: Selection) -> str:
    """The extra of pyproject.toml that the program needs; empty: none."""
    return step.program.extra.value if step.program.language is ProgramLanguage.PYTHON else ""


def learner_file(step: Selection) -> str:
    """The file to edit below the puzzle's folder: the first one whose solution has an anchor of the mode."""
    wanted = step.mode.anchors.get(step.program.name, ())
    for source in step.program.sources:
        try:
            text = read_text(source.solution)
        except OSError:
            continue
        if any(f"# ANCHOR: {name}_solution" in text for name in wanted):
            return source.name
    return step.program.sources[0].name
