"""Where things of the repository lie."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

from tooling.errors import ToolingError

TOOL = Path(__file__).resolve().parent
"""The folder of the tool that is running, whichever checkout it works on."""

_SOURCES = (".git", ".github", "benchmarks", "book", "i18n", "problems", "solutions", "tests", "tooling")


class ProjectNotFound(ToolingError):
    """No folder upwards of the current one holds the puzzles."""


class Project(Struct, frozen=True):
    """The checkout: the folder that holds `problems/`, `solutions/` and `pyproject.toml`."""

    root: Path

    @property
    def problems(self) -> Path:
        return self.root / "problems"

    @property
    def solutions(self) -> Path:
        return self.root / "solutions"

    @property
    def mutants(self) -> Path:
        return self.root / "tests" / "mutants"

    @property
    def recordings(self) -> Path:
        return self.root / "tests" / "data"

    @property
    def sources(self) -> tuple[Path, ...]:
        """The folders that no command may replace as a whole: those of the checkout, and the tool's own."""
        return (*(self.root / name for name in _SOURCES), TOOL)


def find_project(start: Path | None = None) -> Project:
    """The project that `start` (default: PUZZLE_ROOT, then the working directory) lies in.

    Raises:
        ProjectNotFound: neither the folder nor any parent holds `problems/` and `pyproject.toml`.
    """
    named = os.environ.get("PUZZLE_ROOT")
    origin = (start or (Path(named) if named else Path.cwd())).resolve()
    for folder in (origin, *origin.parents):
        if (folder / "problems").is_dir() and (folder / "pyproject.toml").is_file():
            return Project(folder)
    if (TOOL.parent / "problems").is_dir():
        return Project(TOOL.parent)
    raise ProjectNotFound(
        f"no puzzles found in {origin} or above it",
        why="a checkout holds problems/ and pyproject.toml side by side",
        hint="change into your clone, or set PUZZLE_ROOT to it",
    )
