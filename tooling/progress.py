"""Which puzzles were solved in this checkout: a file that `tooling run` keeps and `tooling book serve` shows.

    ~/.local/state/gpu-puzzle-lab/progress.json        (XDG_STATE_HOME, or PUZZLE_STATE_DIR, say otherwise)

    {"version": 1, "checkouts": {"/home/me/gpu-puzzle-lab": {"p23": {"tiled": "2026-11-21T07:00:00Z"}}}}

What it holds is worth keeping and nothing depends on it: where it cannot be read or written, a note says so
and everything else goes on.
"""

from __future__ import annotations

import datetime
import fcntl
import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field

from tooling.catalog.model import ModeKind, Puzzle
from tooling.state_file import StateDamaged, StateError, StateFile

VERSION = 1
_NAME = "progress.json"


class Progress(Struct, frozen=True):
    """What was solved in one checkout.

    Attributes:
        solved: by puzzle and mode, the moment of its first success (ISO 8601, UTC).
        note: what was wrong with the file, for the reader; empty where nothing was.
    """

    solved: Mapping[str, Mapping[str, str]]
    note: str = ""

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


def read_progress(checkout: Path) -> Progress:
    """What is known of a checkout, with a note where the file cannot be used."""
    try:
        saved = _file().load()
    except StateError as error:
        return Progress({}, str(error))
    return Progress(saved.checkouts.get(str(checkout.resolve()), {}) if saved else {})


def record_solved(checkout: Path, puzzle: str, mode: str) -> str:
    """Keeps that a mode was solved.

    Returns:
        A note for the reader where that did not work out; empty where it did.
    """
    file, note = _file(), ""
    try:
        file.path.parent.mkdir(parents=True, exist_ok=True)
        # Two runs may end at the same moment; neither must lose the other's entry.
        with file.path.with_name(f"{_NAME}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            try:
                saved = file.load()
            except StateDamaged as error:
                saved, note = None, f"{error}\n  a new file is begun"
            saved = saved or _Saved()
            solved = saved.checkouts.setdefault(str(checkout.resolve()), {}).setdefault(puzzle, {})
            if mode not in solved:
                solved[mode] = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
                file.save(saved)
    except StateError as error:
        return str(error)
    except OSError as error:
        return f"your progress could not be kept in {file.path}: {error.strerror or error}"
    return note


class _Saved(Struct):
    """The file: for each checkout, puzzle and mode the moment of its first success."""

    version: int = VERSION
    checkouts: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)


def _file() -> StateFile[_Saved]:
    return StateFile(progress_path(), _Saved, VERSION, "the record of your progress")
