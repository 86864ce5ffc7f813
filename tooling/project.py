"""Paths of the repository."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

from tooling.platform.errors import ToolingError
from tooling.platform.regular_files import read_text
from tooling.text import Text

TOOL = Path(__file__).resolve().parent
"""The folder of the running tool, which may belong to another checkout than the project."""

_CONTENT = TOOL / "content"
"""The puzzles and solutions of an installed package; a clone does not have this folder."""

BASE_FOLDER = ".puzzles"
"""In a folder of puzzles alone: every file as it was written. Solutions stay in the package."""

_SOURCES = (".git", ".github", "benchmarks", "book", "i18n", "problems", "solutions", "tests", "tooling")


class ProjectNotFound(ToolingError):
    """Neither the current folder nor one of its parents contains the puzzles."""


class ProjectOfAnotherUser(ProjectNotFound):
    """A project that another user may have put above the working directory, to have its Python code run."""


class Project(Struct, frozen=True):
    """The checkout: the folder with `problems/`, `solutions/` and `pyproject.toml`."""

    root: Path

    @property
    def identity(self) -> str:
        """The name of the project, the same in every clone.

        In pyproject.toml, `book` of `[tool.puzzles]` or `name` of `[project]`; without them, the path.
        """
        import tomllib  # noqa: PLC0415 - only where progress is read or kept

        try:
            content = tomllib.loads(read_text(self.root / "pyproject.toml"))
        except (OSError, ValueError):
            content = {}
        named = content.get("tool", {}).get("puzzles", {}).get("book") or content.get("project", {}).get(
            "name"
        )
        return str(named or self.root.resolve())

    @property
    def problems(self) -> Path:
        return self.root / "problems"

    @property
    def solutions(self) -> Path:
        """Those of the checkout, or of the running tool for a folder of puzzles alone."""
        return self._own_or_shipped("solutions")

    @property
    def mutants(self) -> Path:
        return self._own_or_shipped("tests/mutants")

    @property
    def recordings(self) -> Path:
        return self.root / "tests" / "data"

    def _own_or_shipped(self, name: str) -> Path:
        own = self.root / name
        shipped = _CONTENT.is_dir() or (self.root / BASE_FOLDER).is_dir()
        return content_root() / name if shipped and not own.is_dir() else own

    @property
    def sources(self) -> tuple[Path, ...]:
        """The folders that no command may replace: those of the checkout, and the tool's own."""
        return (*(self.root / name for name in _SOURCES), TOOL)


def content_root() -> Path:
    """The folder with the puzzles that belong to the running tool: in the package, or its checkout."""
    return _CONTENT if _CONTENT.is_dir() else TOOL.parent


def find_project(start: Path | None = None) -> Project:
    """The project around `start` (default: PUZZLE_ROOT, then the working directory).

    Raises:
        ProjectNotFound: neither the folder nor one of its parents contains `problems/` and `pyproject.toml`.
        ProjectOfAnotherUser: it belongs neither to this user nor to root nor to the owner of the working
            directory, and PUZZLE_ROOT does not name it.
    """
    named = os.environ.get("PUZZLE_ROOT")
    origin = (start or (Path(named) if named else Path.cwd())).resolve()
    for folder in (origin, *origin.parents):
        settings = folder / "pyproject.toml"
        if not (folder / "problems").is_dir() or not os.path.lexists(settings):
            continue
        if not settings.is_file():
            raise ProjectNotFound(
                Text("{path} is not a regular file").of(path=settings),
                why=Text("a checkout contains problems/ and pyproject.toml"),
                hint=Text("`git checkout pyproject.toml` restores it"),
            )
        if start is None and not named:
            _require_trusted(folder)
        return Project(folder)
    if (TOOL.parent / "problems").is_dir():
        return Project(TOOL.parent)
    raise ProjectNotFound(
        Text("no puzzles found in {origin} or above it").of(origin=origin),
        why=Text("a checkout contains problems/ and pyproject.toml"),
        hint=Text(
            "change into your clone, or set PUZZLE_ROOT to it; `tooling init my-puzzles` makes a folder "
            "with the puzzles"
        ),
    )


def _require_trusted(folder: Path) -> None:
    """Refuses a project that somebody else may have planted: `solutions/` contains Python code to run."""
    trusted = {os.getuid(), 0, Path.cwd().stat().st_uid}
    for path in (folder / "problems", folder / "pyproject.toml"):
        if path.stat().st_uid not in trusted:
            raise ProjectOfAnotherUser(
                Text("{folder} belongs to another user").of(folder=folder),
                why=Text("commands run the Python code of a project, which may be theirs"),
                hint=Text("if you trust it: PUZZLE_ROOT={folder}").of(folder=folder),
            )
