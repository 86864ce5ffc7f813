"""A folder with the puzzles alone, without a clone: made by `tooling init`, brought up to date by `update`.

The installed package has the puzzles in `tooling/content`; in a clone they are those of the clone. The folder
gets `problems/`, and `.puzzles/` keeps every file as it was written, so that an update can distinguish the
reader's changes from those of a new version. Solutions and references stay in the package.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from string import Template

from tooling.catalog.catalogue import load_catalogue
from tooling.catalog.paths import PATHS_FILE
from tooling.catalog.schema import SCHEMA_FILES
from tooling.generate.kept_files import keep_copy
from tooling.generate.skeletons import make_skeleton
from tooling.learning.updating import BOTH_CHANGED, Carried, Update, carried_over
from tooling.platform.atomic_write import write_atomically
from tooling.platform.errors import Location, ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.platform.pins import MAX_VERSION, MOJO_VERSION, PYTHON_VERSIONS, TOOL_VERSION
from tooling.project import BASE_FOLDER, Project, content_root
from tooling.text import Text

_TEMPLATES = Path(__file__).parent / "templates"
_NAMES = {"gitignore": ".gitignore"}


class FolderInUse(ToolingError):
    """The folder for the puzzles exists and is not empty."""


class FolderNotMade(ToolingError):
    """The folder for the puzzles cannot be written."""

    exit_code = ExitCode.NOT_POSSIBLE


def is_own_folder(project: Project) -> bool:
    """Whether `tooling init` has made this project."""
    return (project.root / BASE_FOLDER).is_dir()


def create(folder: Path) -> Project:
    """Makes a folder with all puzzles.

    Raises:
        FolderInUse: it exists and is not empty; nothing is written.
        FolderNotMade: it cannot be written; nothing is left of it.
    """
    root = folder.absolute()
    if root.is_file() or (root.is_dir() and any(root.iterdir())):
        raise FolderInUse(
            Text("the folder for the puzzles is not empty"),
            where=Location(root),
            why=Text("nothing is overwritten"),
            hint=Text("name a folder that does not exist; in a folder of puzzles, run `tooling update`"),
        )
    fresh = root.with_name(f".{root.name}.{os.getpid()}.new")  # of this process alone
    try:
        versions = {
            "version": TOOL_VERSION,
            "mojo": MOJO_VERSION,
            "max": MAX_VERSION,
            "python": PYTHON_VERSIONS,
        }
        for template in sorted(_TEMPLATES.iterdir()):
            text = Template(template.read_text("utf-8")).substitute(versions)
            name = template.name.removesuffix(".in")
            write_atomically(fresh / _NAMES.get(name, name), text.encode())
        for name, content in _contents():
            write_atomically(fresh / name, content)
            write_atomically(fresh / BASE_FOLDER / name, content)
        if root.is_dir():
            root.rmdir()
        fresh.replace(root)
    except OSError as error:
        raise FolderNotMade(
            Text("the folder cannot be made"), where=Location(root), why=error.strerror or str(error)
        ) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return Project(root)


def refresh(project: Project) -> Update:
    """Writes the puzzles of the installed version, and carries the reader's answers over.

    Returns:
        The files that the reader had changed, and those that were missing.

    Raises:
        CopyFailed: a file cannot be copied; it is unchanged.
        OSError: a file cannot be written.
    """
    carried, restored = [], []
    for name, new in _contents():
        path, base_path = project.root / name, project.root / BASE_FOLDER / name
        base = base_path.read_bytes() if base_path.is_file() else None
        if base == new and path.is_file():
            continue
        mine = path.read_bytes() if path.is_file() else None
        if mine is None or mine in (base, new):
            write_atomically(path, new)
            if mine is None and base is not None:
                restored.append(path)
        else:
            copy = keep_copy(path)
            merged = carried_over(base, mine, new) if base is not None else None
            write_atomically(path, new if merged is None else merged)
            carried.append(Carried(path, copy, BOTH_CHANGED if merged is None else None))
        write_atomically(base_path, new)
    return Update(tuple(carried), tuple(restored))


def _contents() -> Iterator[tuple[str, bytes]]:
    """The files of `problems/` as they are before anybody edits them, by name below the folder."""
    source = Project(content_root())
    for path in sorted((source.problems / "lab").iterdir()):
        if path.suffix in (".mojo", ".py"):
            yield f"problems/lab/{path.name}", path.read_bytes()
    for name in (*SCHEMA_FILES, PATHS_FILE):
        yield f"problems/{name}", (source.problems / name).read_bytes()
    for puzzle in load_catalogue(source):
        yield f"problems/{puzzle.id}/puzzle.yaml", puzzle.manifest.read_bytes()
        files = {file.name: file for program in puzzle.programs for file in program.sources}
        for name, file in files.items():
            text = make_skeleton(file.solution.read_text("utf-8"), file.solution).text
            yield f"problems/{puzzle.id}/{name}", text.encode()
