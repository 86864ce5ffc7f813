"""Which puzzles a reader has solved in a folder: a file there, which `tooling run` keeps.

    .progress.json in the folder of the project        (PUZZLE_STATE_DIR names another folder)

    {"version": 3, "solved": {"p23": {"tiled": {"at": "2026-11-21T07:00:00Z", "device": "NVIDIA H200",
        "seconds": 8.5, "passes": {"p23": ["NVIDIA H200"]}}}}, "shown": ["p24"], "path": "gpu"}

Versions 1 and 2 were one file for all folders, `~/.local/state/gpu-puzzle-lab/progress.json`;
`tooling progress --import` brings its entries into a folder. Where the file cannot be read or written, a note
says so and everything else goes on.
"""

from __future__ import annotations

import datetime
import fcntl
import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from msgspec import Struct, field

from tooling.catalog.model import ModeKind, Puzzle
from tooling.platform.errors import Location, ToolingError
from tooling.platform.regular_files import TEXT_LIMIT, read_regular
from tooling.platform.state_file import StateDamaged, StateError, StateFile, decoded, encoded
from tooling.project import Project
from tooling.text import Sentence, Text, joined

VERSION = 3
_NAME = ".progress.json"
_EARLIER_NAME = "progress.json"
_RECORD = Text("the record of your progress")
_NEW_FILE = Text("a new file is begun")
_NOT_KEPT = Text("your progress could not be kept in {path}: {why} (PUZZLE_STATE_DIR names another folder)")
_NO_RECORD = Text("there is no record of progress")
_NAME_ANOTHER = Text("name a folder of puzzles, or a file that `tooling progress --export FILE` wrote")
_NOT_A_RECORD = Text("this file is not a record of progress")


class Solved(Struct, frozen=True, omit_defaults=True):
    """The first success with one mode, and what has passed since.

    Attributes:
        at: the moment, ISO 8601 in UTC.
        device: the name of the GPU; empty if it was not recorded (version 1).
        seconds: what the run took, without the build.
        passes: by program, the names of the GPUs on which it has passed; empty before version 3.
    """

    at: str
    device: str = ""
    seconds: float = 0.0
    passes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def devices(self) -> tuple[str, ...]:
        """The names of all GPUs on which a program of the mode has passed, the first one first."""
        names = (self.device, *(name for names in self.passes.values() for name in names))
        return tuple(dict.fromkeys(filter(None, names)))


class Progress(Struct, frozen=True):
    """What was solved in one folder.

    Attributes:
        solved: by puzzle and mode.
        note: what was wrong with the file, for the reader; None where nothing was.
        shown: the puzzles whose solution the reader has asked for.
        path: the name of the path that the reader has chosen; empty: the order of the book.
    """

    solved: Mapping[str, Mapping[str, Solved]]
    note: Sentence | None = None
    shown: frozenset[str] = frozenset()
    path: str = ""

    def is_solved(self, puzzle: Puzzle) -> bool:
        """Whether every mode of a puzzle that asks for something has been solved."""
        wanted = {mode.name for mode in puzzle.modes if mode.kind is ModeKind.PUZZLE}
        return bool(wanted) and wanted <= self.solved.get(puzzle.id, {}).keys()


def progress_path(root: Path) -> Path:
    """The file of a project's folder, which need not exist."""
    return Path(os.environ.get("PUZZLE_STATE_DIR") or root) / _NAME


def earlier_path() -> Path:
    """Where earlier versions kept one file for all folders."""
    base = os.environ.get("XDG_STATE_HOME")
    parent = Path(base) if base and Path(base).is_absolute() else Path("~/.local/state").expanduser()
    return parent / "gpu-puzzle-lab" / _EARLIER_NAME


def read_progress(root: Path) -> Progress:
    """What is known of the project in a folder, with a note where the file cannot be used."""
    try:
        saved = _file(root).load()
    except StateError as error:
        return Progress({}, error.as_note())
    return Progress(saved.solved, None, frozenset(saved.shown), saved.path) if saved else Progress({})


def earlier_record(root: Path) -> Path | None:
    """The file of an earlier version with successes of this project, if the folder has no file of its own."""
    path = earlier_path()
    if progress_path(root).exists() or not path.exists():
        return None
    try:
        return path if _read_record(root, path).solved else None
    except ToolingError:
        return None


def record_solved(
    root: Path, puzzle: str, mode: str, *, program: str = "", device: str = "", seconds: float = 0.0
) -> Sentence | None:
    """Keeps that a program has passed in a mode; moment and time are those of the first success.

    Returns:
        A note for the reader where that did not work out; None where it did.
    """
    moment = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    new = Solved(moment, device, round(seconds, 1), {program: (device,)} if program and device else {})
    return _changed(root, lambda record: _add(record, puzzle, mode, new))


def record_shown(root: Path, puzzle: str) -> Sentence | None:
    """Keeps that the reader has asked for a solution; returns a note as `record_solved` does."""

    def change(record: _Record) -> bool:
        if puzzle in record.shown:
            return False
        record.shown.append(puzzle)
        return True

    return _changed(root, change)


def record_path(root: Path, path: str) -> Sentence | None:
    """Keeps which path the reader follows (empty: none); returns a note as `record_solved` does."""

    def change(record: _Record) -> bool:
        before, record.path = record.path, path
        return before != path

    return _changed(root, change)


def forget_program(root: Path, puzzle: str, program: str) -> Sentence | None:
    """Removes the successes of a program; a mode that no other program has solved counts as unsolved."""

    def change(record: _Record) -> bool:
        modes = record.solved.get(puzzle, {})
        before = dict(modes)
        for mode, solved in before.items():
            others = {name: devices for name, devices in solved.passes.items() if name != program}
            if others:
                modes[mode] = Solved(solved.at, solved.device, solved.seconds, others)
            elif program in solved.passes or not solved.passes:
                del modes[mode]
        if not modes:
            record.solved.pop(puzzle, None)
        return modes != before

    return _changed(root, change)


def forget_all(root: Path) -> Sentence | None:
    """Removes every success and every solution that was shown."""

    def change(record: _Record) -> bool:
        before = bool(record.solved or record.shown)
        record.solved, record.shown = {}, []
        return before

    return _changed(root, change)


def import_progress(root: Path, source: Path) -> tuple[int, Sentence | None]:
    """Adds the successes of another folder or of an exported file; the earlier success of a mode counts.

    Returns:
        The number of modes that are solved now and were not before, and a note as `record_solved` does.

    Raises:
        ToolingError: there is no record, or it cannot be read.
    """
    theirs = _read_record(root, source / _NAME if source.is_dir() else source)
    added = 0

    def change(record: _Record) -> bool:
        nonlocal added
        before = encoded(record)
        for puzzle, modes in theirs.solved.items():
            for mode, solved in modes.items():
                added += mode not in record.solved.get(puzzle, {})
                _add(record, puzzle, mode, solved)
        record.shown.extend(name for name in theirs.shown if name not in record.shown)
        return encoded(record) != before

    note = _changed(root, change)
    return added, note


def export_progress(root: Path) -> str:
    """The record as a file for `import_progress`.

    Raises:
        StateError: the record cannot be read.
    """
    return encoded(_file(root).load() or _Record(), indent=1).decode()


class _Record(Struct):
    version: int = VERSION
    solved: dict[str, dict[str, Solved]] = field(default_factory=dict)
    shown: list[str] = field(default_factory=list)
    path: str = ""


def _add(record: _Record, puzzle: str, mode: str, new: Solved) -> bool:
    modes = record.solved.setdefault(puzzle, {})
    old = modes.get(mode)
    if old is None:
        modes[mode] = new
        return True
    first, later = (old, new) if old.at <= new.at else (new, old)
    passes = {
        program: tuple(dict.fromkeys((*first.passes.get(program, ()), *later.passes.get(program, ()))))
        for program in dict.fromkeys((*first.passes, *later.passes))
    }
    modes[mode] = Solved(first.at, first.device, first.seconds, passes)
    return modes[mode] != old


class _Project(Struct):
    """Of version 2: what was solved in all clones of one project."""

    solved: dict[str, dict[str, Solved]] = field(default_factory=dict)
    shown: list[str] = field(default_factory=list)


class _Version2(Struct):
    projects: dict[str, _Project] = field(default_factory=dict)


class _Version1(Struct):
    """For each clone, puzzle and mode the moment of its first success."""

    checkouts: dict[str, dict[str, dict[str, str]]]


def _from_version_1(data: bytes) -> _Record:
    merged = _Record()
    for puzzles in decoded(data, _Version1).checkouts.values():
        for puzzle, modes in puzzles.items():
            for mode, moment in modes.items():
                _add(merged, puzzle, mode, Solved(moment))
    return merged


def _from_version_2(identity: str, data: bytes) -> _Record:
    project = decoded(data, _Version2).projects.get(identity, _Project())
    return _Record(VERSION, project.solved, project.shown)


def _changed(root: Path, change: Callable[[_Record], bool]) -> Sentence | None:
    file = _file(root)
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
            saved = saved or _Record()
            if change(saved):
                file.save(saved)
    except StateError as error:
        return error.as_note()
    except OSError as error:
        return _NOT_KEPT.of(path=file.path, why=error.strerror or str(error))
    return note


def _read_record(root: Path, path: Path) -> _Record:
    """A record that is only read: a damaged file stays where it is."""
    where = Location(path)
    try:
        return _file(root).content(read_regular(path, limit=TEXT_LIMIT))
    except FileNotFoundError as error:
        raise ToolingError(_NO_RECORD, where=where, hint=_NAME_ANOTHER) from error
    except OSError as error:
        raise ToolingError(_NOT_A_RECORD, where=where, why=error.strerror, hint=_NAME_ANOTHER) from error
    except ValueError as error:
        raise ToolingError(_NOT_A_RECORD, where=where, why=str(error), hint=_NAME_ANOTHER) from error


def _file(root: Path) -> StateFile[_Record]:
    older: dict[int, Callable[[bytes], _Record]] = {
        1: _from_version_1,
        2: partial(_from_version_2, Project(root).identity),
    }
    return StateFile(progress_path(root), _Record, VERSION, _RECORD, older=older)
