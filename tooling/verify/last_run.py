"""Records which trials failed in the last run, for `--failed`, and how long each took, for the order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct, field

from tooling.platform.errors import ToolingError
from tooling.platform.state_file import StateDamaged, StateError, StateFile, read_cached
from tooling.text import Text

_VERSION = 1
_AGAIN = "run `tooling verify` without --failed"


class NoRecordedRun(ToolingError):
    """There is no usable record of an earlier run."""


class _Record(Struct):
    version: int
    failed: list[str]
    seconds: dict[str, float] = field(default_factory=dict)


def save_run(path: Path, seconds: Mapping[str, float], failed: Iterable[str]) -> str:
    """Updates the list of failures: trials that no longer fail are removed, others are kept.

    Args:
        seconds: of everything that was tried, by the trial's id.
        failed: the ids of those that failed.

    Returns:
        A message where the record could not be written; empty otherwise.
    """
    file = _file(path)
    try:
        before = file.load()
    except StateDamaged:
        before = None
    except StateError as error:
        return f"this run could not be recorded: {error}"
    before = before or _Record(_VERSION, [])
    names = sorted((set(before.failed) - seconds.keys()) | set(failed))
    times = {name: round(value, 3) for name, value in {**before.seconds, **seconds}.items()}
    try:
        file.save(_Record(_VERSION, names, times))
    except OSError as error:
        return f"this run could not be recorded in {path}: {error.strerror or error}"
    return ""


def load_failures(path: Path) -> tuple[str, ...]:
    """The trials that failed.

    Raises:
        NoRecordedRun: there is no record, or it cannot be used.
    """
    try:
        record = _file(path).load()
    except StateError as error:
        raise NoRecordedRun(error.what, where=error.where, why=error.why, hint=_AGAIN) from error
    if record is None:
        raise NoRecordedRun("there is no record of an earlier `tooling verify`", hint=_AGAIN)
    return tuple(record.failed)


def load_seconds(path: Path) -> dict[str, float]:
    """The seconds that each trial took in the last run; empty where there is no record."""
    record = read_cached(path, _Record)
    return record.seconds if record else {}  # only the order is affected


def _file(path: Path) -> StateFile[_Record]:
    return StateFile(path, _Record, _VERSION, Text("the record of the last run"))
