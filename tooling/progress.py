"""Which puzzles a reader has solved: a file that `tooling run` keeps.

    ~/.local/state/gpu-puzzle-lab/progress.json        (XDG_STATE_HOME, or PUZZLE_STATE_DIR, say otherwise)

    {"version": 2, "projects": {"gpu-puzzle-lab": {"solved": {"p23": {"tiled":
        {"at": "2026-11-21T07:00:00Z", "device": "NVIDIA H200", "seconds": 8.5}}}, "shown": ["p24"]}}}

Clones of one project share an entry, so progress survives a moved or renewed clone. Version 1 had an entry
for each clone; its entries are merged. Where the file cannot be read or written, a note says so and
everything else goes on.
"""

from __future__ import annotations

import datetime
import fcntl
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct, field

from tooling.catalog.model import ModeKind, Puzzle
from tooling.platform.state_file import StateDamaged, StateError, StateFile, decoded
from tooling.project import Project
from tooling.text import Sentence, Text, joined

VERSION = 2
_NAME = "progress.json"
_PROJECT_OF_VERSION_1 = "gpu-puzzle-lab"
_NEW_FILE = Text("a new file is begun")
_NOT_KEPT = Text("your progress could not be kept in {path}: {why}")


class Solved(Struct, frozen=True, omit_defaults=True):
    """The first success with one mode.

    Attributes:
        at: the moment, ISO 8601 in UTC.
        device: the name of the GPU; empty if it was not recorded (version 1).
        seconds: what the run took, without the build.
    """

    at: str
    device: str = ""
    seconds: float = 0.0


class Progress(Struct, frozen=True):
    """What was solved in one project.

    Attributes:
        solved: by puzzle and mode.
        note: what was wrong with the file, for the reader; None where nothing was.
        shown: the puzzles whose solution the reader has asked for.
    """

    solved: Mapping[str, Mapping[str, Solved]]
    note: Sentence | None = None
    shown: frozenset[str] = frozenset()

    def is_solved(self, puzzle: Puzzle) -> bool:
        """Whether every mode of a puzzle that asks for something has been solved."""
        wanted = {mode.name for mode in puzzle.modes if mode.kind is ModeKind.PUZZLE}
        return bool(wanted) and wanted <= self.solved.get(puzzle.id, {}).keys()


def progress_path() -> Path:
    """The file, which need not exist."""
    named = os.environ.get("PUZZLE_STATE_DIR")
    if named:
        return Path(named) / _NAME
    base = os.environ.get("XDG_STATE_HOME")
    home = Path(base) if base and Path(base).is_absolute() else Path("~/.local/state").expanduser()
    return home / "gpu-puzzle-lab" / _NAME


def read_progress(root: Path) -> Progress:
    """What is known of the project in a folder, with a note where the file cannot be used."""
    try:
        saved = _file().load()
    except StateError as error:
        return Progress({}, error.as_note())
    project = saved.projects.get(Project(root).identity) if saved else None
    return Progress(project.solved, None, frozenset(project.shown)) if project else Progress({})


def record_solved(
    root: Path, puzzle: str, mode: str, *, device: str = "", seconds: float = 0.0
) -> Sentence | None:
    """Keeps that a mode was solved; the first success counts.

    Returns:
        A note for the reader where that did not work out; None where it did.
    """
    moment = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def change(project: _Project) -> bool:
        modes = project.solved.setdefault(puzzle, {})
        return modes.setdefault(mode, new := Solved(moment, device, round(seconds, 1))) is new

    return _changed(root, change)


def record_shown(root: Path, puzzle: str) -> Sentence | None:
    """Keeps that the reader has asked for a solution; returns a note as `record_solved` does."""

    def change(project: _Project) -> bool:
        if puzzle in project.shown:
            return False
        project.shown.append(puzzle)
        return True

    return _changed(root, change)


class _Project(Struct):
    solved: dict[str, dict[str, Solved]] = field(default_factory=dict)
    shown: list[str] = field(default_factory=list)


class _Saved(Struct):
    version: int = VERSION
    projects: dict[str, _Project] = field(default_factory=dict)


class _Version1(Struct):
    """For each clone, puzzle and mode the moment of its first success."""

    checkouts: dict[str, dict[str, dict[str, str]]]


def _from_version_1(data: bytes) -> _Saved:
    merged = _Project()
    for puzzles in decoded(data, _Version1).checkouts.values():
        for puzzle, modes in puzzles.items():
            kept = merged.solved.setdefault(puzzle, {})
            for mode, moment in modes.items():
                if mode not in kept or moment < kept[mode].at:
                    kept[mode] = Solved(moment)
    return _Saved(projects={_PROJECT_OF_VERSION_1: merged})


def _changed(root: Path, change: Callable[[_Project], bool]) -> Sentence | None:
    file = _file()
    note: Sentence | None = None
    try:
        file.path.parent.mkdir(parents=True, exist_ok=True)
        # Two runs may end at the same moment; neither must lose the other's entry.
        with file.path.with_name(f"{_NAME}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            try:
                saved = file.load()
            except StateDamaged as error:
                saved, note = None, joined((error.as_note(), _NEW_FILE), "\n  ")
            saved = saved or _Saved()
            if change(saved.projects.setdefault(Project(root).identity, _Project())):
                file.save(saved)
    except StateError as error:
        return error.as_note()
    except OSError as error:
        return _NOT_KEPT.of(path=file.path, why=error.strerror or str(error))
    return note


def _file() -> StateFile[_Saved]:
    return StateFile(
        progress_path(), _Saved, VERSION, Text("the record of your progress"), older={1: _from_version_1}
    )
