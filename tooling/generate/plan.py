"""Everything that is generated, compared with the files of the checkout."""

from __future__ import annotations

import difflib
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from tooling.catalog.catalogue import programs_named
from tooling.catalog.model import Puzzle
from tooling.catalog.needs import needs_text, record_path
from tooling.catalog.schema import SCHEMA_FILES, manifest_keys, manifest_schema
from tooling.generate.constraints import with_constraints
from tooling.generate.kept_files import keep_copy
from tooling.generate.matrix import matrix_text
from tooling.generate.skeletons import AnnotationError, make_skeleton
from tooling.generate.tasks import replace_generated, task_lines
from tooling.generate.workflows import WORKFLOWS, workflow_text
from tooling.platform.atomic_write import write_atomically
from tooling.platform.errors import Location, ToolingError
from tooling.platform.git_command import checkout_root, disabled_filters, git_command, git_environment
from tooling.platform.regular_files import read_text
from tooling.project import Project


class EditedFiles(ToolingError):
    """Generating would overwrite uncommitted work."""


class Generated(Struct, frozen=True):
    """One file that is generated, whole or in part."""

    path: Path
    wanted: str
    present: str | None  # None: the file does not exist

    @property
    def current(self) -> bool:
        return self.present == self.wanted

    def diff(self, root: Path) -> str:
        """A unified diff from the present text to the generated one."""
        name = self.path.relative_to(root).as_posix()
        return "".join(
            difflib.unified_diff(
                (self.present or "").splitlines(keepends=True),
                self.wanted.splitlines(keepends=True),
                f"{name} (in the checkout)" if self.present is not None else "/dev/null",
                f"{name} (as generated)",
            )
        )


def plan(project: Project, puzzles: Sequence[Puzzle], only: Sequence[str] = ()) -> tuple[Generated, ...]:
    """The generated text of each file, and its present text.

    Args:
        only: the puzzles or programs whose problem files are wanted; empty means all. What belongs to no
            single puzzle (tasks, CI matrix, workflows) is always included, and covers all puzzles.

    Raises:
        UnknownPuzzle: `only` names something that does not exist.
        AnnotationError: a solution's annotations are wrong, or an anchor of the manifest is missing.
        MarkError: pyproject.toml or pixi.toml lacks the marks around generated lines.
        ToolingError: a solution cannot be read.
    """
    wanted = set(programs_named(puzzles, only))
    files = _skeletons([puzzle for puzzle in puzzles if not wanted.isdisjoint(puzzle.programs)])
    for name in ("pyproject.toml", "pixi.toml"):
        path = project.root / name
        present = _read(path)
        text = replace_generated(present, task_lines(puzzles), path)
        constraints = project.root / "constraints.txt"
        if name == "pyproject.toml" and constraints.exists():
            text = with_constraints(text, _read(constraints), path)
        files.append(Generated(path, text, present))
    matrix = project.root / ".ci" / "matrix.json"
    text = matrix_text(puzzles, project.root / "pixi.toml")
    files.append(Generated(matrix, text, _read(matrix) if matrix.is_file() else None))
    needs = record_path(project)
    files.append(Generated(needs, needs_text(puzzles), _read(needs) if needs.is_file() else None))
    schema = json.dumps(manifest_schema(), indent=2, ensure_ascii=False) + "\n"
    for name, text in zip(SCHEMA_FILES, (schema, manifest_keys()), strict=True):
        path = project.problems / name
        files.append(Generated(path, text, _read(path) if path.is_file() else None))
    for name in WORKFLOWS:
        path = project.root / ".github" / "workflows" / name
        files.append(Generated(path, workflow_text(name), _read(path) if path.is_file() else None))
    return tuple(files)


def write(project: Project, files: Sequence[Generated], *, force: bool = False) -> tuple[Path, ...]:
    """Writes the files that are not current; returns their paths.

    Args:
        force: overwrite edited problem files, too; they are copied first.

    Raises:
        EditedFiles: a problem file was edited since the last commit, and `force` is not set.
        CopyFailed: a file cannot be copied; nothing is written.
    """
    stale = [file for file in files if not file.current]
    skeletons = [
        file.path for file in stale if file.path.suffix in (".mojo", ".py") and file.present is not None
    ]
    edited = _edited(project.root, skeletons) if skeletons else []
    if edited:
        if not force:
            raise EditedFiles(
                f"edits of {len(edited)} problem file(s) would be lost",
                where=Location(edited[0]),
                why="problem files are generated from the solutions; these have uncommitted changes",
                hint="`tooling generate --force` copies them first; "
                "`tooling generate p15` writes the problem files of one puzzle alone",
            )
        for path in edited:
            keep_copy(path)
    for file in stale:
        write_atomically(file.path, file.wanted.encode())
    return tuple(file.path for file in stale)


def _skeletons(puzzles: Sequence[Puzzle]) -> list[Generated]:
    """The problem files; one that belongs to several programs is generated once."""
    found: dict[Path, Generated] = {}
    for puzzle in puzzles:
        for program in puzzle.programs:
            anchors: list[str] = []
            for source in program.sources:
                skeleton = make_skeleton(_read(source.solution), source.solution)
                anchors += skeleton.anchors
                present = _read(source.problem) if source.problem.is_file() else None
                found.setdefault(source.problem, Generated(source.problem, skeleton.text, present))
            wanted = [anchor for mode in puzzle.modes for anchor in mode.anchors.get(program.name, ())]
            for anchor in dict.fromkeys(wanted):
                if anchor not in anchors:
                    raise AnnotationError(
                        f"the anchor `{anchor}_solution` of the manifest is not in the solution",
                        where=Location(program.solution),
                        why="its anchors are: " + (", ".join(anchors) or "none"),
                        hint=f"add `# ANCHOR: {anchor}_solution`, or correct `anchors` in puzzle.yaml",
                    )
    return list(found.values())


def _read(path: Path) -> str:
    try:
        return read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise ToolingError("a file cannot be read", where=Location(path), why=str(error)) from error


def _edited(root: Path, paths: Sequence[Path]) -> list[Path]:
    """The files that differ from the last commit; all of them without git."""
    top = checkout_root(root)
    if top is None:
        return list(paths)
    arguments = ["status", "--porcelain=v1", "-z", "--ignore-submodules=all", "--", *map(str, paths)]
    try:
        environment = git_environment(top, settings=disabled_filters(top))
        result = subprocess.run(
            git_command(top, arguments), env=environment, capture_output=True, text=True, check=False
        )
    except OSError:
        return list(paths)
    if result.returncode != 0:
        return list(paths)
    changed = {top / entry[3:] for entry in result.stdout.split("\0") if len(entry) > 3}
    return [path for path in paths if path.resolve() in changed]
