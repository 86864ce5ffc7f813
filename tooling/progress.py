"""Which puzzles were solved in this checkout: a file that `tooling run` keeps and `tooling book serve` shows.

    ~/.local/state/gpu-puzzle-lab/progress.json        (XDG_STATE_HOME, or PUZZLE_STATE_DIR, say otherwise)

    {"version": 1, "checkouts": {"/home/me/gpu-puzzle-lab": {"p23": {"tiled": "2026-11-21T07:00:00Z"}}}}

What it holds is worth keeping and nothing depends on it: where it cannot be read or written, the reader is
told and everything else goes on. A file that a newer version of this tool wrote stays as it is.
"""

from __future__ import annotations

import datetime
import fcntl
import json
import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from tooling.atomic_write import write_atomically
from tooling.catalog.model import ModeKind, Puzzle

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
    """What is known of a checkout; a damaged file is moved aside, and the note says where to."""
    everything, note = _load(progress_path())
    return Progress((everything or {}).get(str(checkout.resolve()), {}), note)


def record_solved(checkout: Path, puzzle: str, mode: str) -> str:
    """Keeps that a mode was solved.

    Returns:
        A note for the reader where that did not work out; empty where it did.
    """
    path = progress_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Two runs may end at the same moment; neither must lose the other's entry.
        with path.with_name(f"{_NAME}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            everything, note = _load(path)
            if everything is None:
                return note
            solved = everything.setdefault(str(checkout.resolve()), {}).setdefault(puzzle, {})
            if mode not in solved:
                solved[mode] = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
                _save(path, everything)
    except OSError as error:
        return f"your progress could not be kept in {path}: {error.strerror or error}"
    return note


_Everything = dict[str, dict[str, dict[str, str]]]


def _load(path: Path) -> tuple[_Everything | None, str]:
    """All checkouts, and a note where the file had to be put aside; None where it is not ours to change."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}, ""
    except (OSError, UnicodeDecodeError) as error:
        return {}, _put_aside(path, str(error))
    try:
        document = json.loads(text)
        version = document["version"]
        if isinstance(version, int) and version > VERSION:
            return None, (
                f"the progress in {path} was written by a newer version of this tool (format {version}; this "
                f"one knows {VERSION}) and left as it is; bring this checkout up to date (`git pull`)"
            )
        if version != VERSION:
            return {}, _put_aside(path, f"it is of version {version}, not {VERSION}")
        return (
            {
                str(checkout): {
                    str(puzzle): {str(mode): str(moment) for mode, moment in modes.items()}
                    for puzzle, modes in puzzles.items()
                }
                for checkout, puzzles in document["checkouts"].items()
            },
            "",
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return {}, _put_aside(path, f"{type(error).__name__}: {error}")


def _put_aside(path: Path, why: str) -> str:
    """Moves a damaged file out of the way without losing it; gives back what to tell the reader."""
    aside = path.with_name(f"{_NAME}.damaged")
    count = 1
    while aside.exists():
        count += 1
        aside = path.with_name(f"{_NAME}.damaged-{count}")
    try:
        path.replace(aside)
    except OSError as error:
        return f"the progress in {path} cannot be read ({why}), nor moved aside ({error.strerror or error})"
    return f"the progress in {path} could not be read ({why}); it lies in {aside} now, and a new one is begun"


def _save(path: Path, everything: _Everything) -> None:
    """Writes the whole file, or nothing."""
    text = json.dumps({"version": VERSION, "checkouts": everything}, ensure_ascii=False, indent=1)
    write_atomically(path, (text + "\n").encode())
