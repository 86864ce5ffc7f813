"""Remembers which trials failed last time, for `--failed`, and how long each took, for the order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct, field

from tooling.errors import ToolingError
from tooling.state_file import StateDamaged, StateError, StateFile, read_cached

_VERSION = 1
_AGAIN = "run `tooling verify` without --failed"


class NothingRemembered(ToolingError):
    """There is no usable record of an earlier run."""


class _Record(Struct):
    version: int
    failed: list[str]
    seconds: dict[str, float] = field(default_factory=dict)


def remember(path: Path, seconds: Mapping[str, float], failed: Iterable[str]) -> str:
    """Updates the list of failures: what was tried and did not fail is taken off, the rest of it stays.

    Args:
        seconds: of everything that was tried, by the trial's id.
        failed: the ids of those that failed.

    Returns:
        A note for the reader where that did not work out; empty where it did.
    """
    file = _file(path)
    try:
        before = file.load()
    except StateDamaged:
        before = None
    except StateError as error:
        return f"this run could not be remembered: {error}"
    before = before or _Record(_VERSION, [])
    names = sorted((set(before.failed) - seconds.keys()) | set(failed))
    times = {name: round(value, 3) for name, value in {**before.seconds, **seconds}.items()}
    try:
        file.save(_Record(_VERSION, names, times))
    except OSError as error:
        return f"this run could not be remembered in {path}: {error.strerror or error}"
    return ""


def recall_failures(path: Path) -> tuple[str, ...]:
    """The trials that failed.

    Raises:
        NothingRemembered: no earlier run is known, or its record cannot be used.
    """
    try:
        record = _file(path).load()
    except StateError as error:
        raise NothingRemembered(error.what, where=error.where, why=error.why, hint=_AGAIN) from error
    if record is None:
        raise NothingRemembered("no earlier `tooling verify` is known", hint=_AGAIN)
    return tuple(record.failed)


def recall_seconds(path: Path) -> dict[str, float]:
    """How long each trial took when it was last tried; empty where nothing is known."""
    record = read_cached(path, _Record)
    return record.seconds if record else {}  # only the order suffers


def _file(path: Path) -> StateFile[_Record]:
    return StateFile(path, _Record, _VERSION, "the record of the last run")
