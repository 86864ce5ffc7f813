"""problems/paths.yaml: orders of puzzles other than that of the book, by name."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from msgspec import Struct

from tooling.catalog.manifest import local_text
from tooling.catalog.model import Puzzle
from tooling.catalog.nodes import Errors, Value, read_document
from tooling.project import Project
from tooling.text import LocalText

PATHS_FILE = "paths.yaml"
"""In the folder of the puzzles; a project may do without it."""


class PuzzlePath(Struct, frozen=True):
    """An order of puzzles that a reader may choose.

    Attributes:
        name: as in `tooling start --path NAME`.
        title: what distinguishes it.
        puzzles: in its order.
    """

    name: str
    title: LocalText
    puzzles: tuple[Puzzle, ...]


def load_paths(project: Project, puzzles: Sequence[Puzzle]) -> tuple[PuzzlePath, ...]:
    """The paths of a project.

    Args:
        puzzles: all puzzles of the project.

    Raises:
        ManifestError: with line, column and key of each mistake, such as a number without a puzzle.
    """
    file = project.problems / PATHS_FILE
    if not os.path.lexists(file):
        return ()
    by_number = {puzzle.number: puzzle for puzzle in puzzles}
    errors = Errors()
    paths = errors.each(read_document(file).entries().values(), lambda value: _path(value, by_number))
    errors.raise_all()
    return paths


def _path(value: Value, by_number: Mapping[int, Puzzle]) -> PuzzlePath:
    errors = Errors()
    keys = value.mapping(("title", "puzzles"), (), errors)
    title = errors.attempt(lambda: local_text(keys["title"]), LocalText(()))
    puzzles = errors.attempt(lambda: _puzzles(keys["puzzles"], by_number), ())
    errors.raise_all()
    return PuzzlePath(value.key, title, puzzles)


def _puzzles(value: Value, by_number: Mapping[int, Puzzle]) -> tuple[Puzzle, ...]:
    errors = Errors()
    found: list[Puzzle] = []

    def add(item: Value) -> None:
        number = item.integer(1)
        if number not in by_number:
            raise item.error(f"there is no puzzle {number}")
        if by_number[number] in found:
            raise item.error(f"puzzle {number} is given twice")
        found.append(by_number[number])

    errors.each(value.items(), add)
    errors.raise_all()
    if not found:
        raise value.error("must name at least one puzzle")
    return tuple(found)
