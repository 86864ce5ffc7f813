"""Records which trials failed in the last run, for `--failed`, and which it did not come to, for `--resume`.

How long each took decides the order of the next run.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct, field

from tooling.platform.errors import ToolingError
from tooling.platform.state_file import StateDamaged, StateError, StateFile, read_cached
from tooling.remote.connection import HostError
from tooling.reports.records import ReportRecord
from tooling.text import Text

_VERSION = 1
_PAUSE = 2.0  # seconds between two times that the file is written during a run
_AGAIN = "run `tooling verify` without --failed and --resume"


class NoRecordedRun(ToolingError):
    """There is no usable record of an earlier run."""


class _Record(Struct):
    version: int
    failed: list[str]
    seconds: dict[str, float] = field(default_factory=dict)
    untried: list[str] = field(default_factory=list)


def is_lost(record: ReportRecord) -> bool:
    """Whether a trial was not tried since its machine could not be reached."""
    error = (record.data or {}).get("error") or {}
    return error.get("type") == HostError.__name__


class RunRecord:
    """Keeps what a run has come to, while it runs: it may be killed.

    Args:
        wanted: the ids of all trials of the run.
    """

    def __init__(self, path: Path, wanted: Iterable[str]) -> None:
        self._path = path
        self._untried = set(wanted)
        self._records: list[ReportRecord] = []

    def kept(self, records: Iterable[ReportRecord]) -> Iterator[ReportRecord]:
        """Passes records on, and writes the file now, then every few seconds, and when that is left early."""
        self.save()
        last = time.monotonic()
        try:
            for record in records:
                self._records.append(record)
                if not is_lost(record):
                    self._untried.discard(record.name)
                if time.monotonic() - last > _PAUSE:
                    self.save()
                    last = time.monotonic()
                yield record
        except BaseException:
            self.save()
            raise

    def save(self) -> str:
        """Writes the file; returns a message as `save_run` does."""
        # What was skipped is what it was: a failure that could not be tried again stays one.
        tried = [record for record in self._records if record.status != "skipped" and not is_lost(record)]
        failed = [record.name for record in tried if record.status != "passed"]
        return save_run(self._path, {record.name: record.seconds for record in tried}, failed, self._untried)


def save_run(
    path: Path, seconds: Mapping[str, float], failed: Iterable[str], untried: Iterable[str] = ()
) -> str:
    """Updates the list of failures: trials that no longer fail are removed, others are kept.

    Args:
        seconds: of everything that was tried, by the trial's id.
        failed: the ids of those that failed.
        untried: the ids of those that were wanted and not tried yet.

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
        file.save(_Record(_VERSION, names, times, sorted(untried)))
    except OSError as error:
        return f"this run could not be recorded in {path}: {error.strerror or error}"
    return ""


def load_failures(path: Path) -> tuple[str, ...]:
    """The trials that failed. Raises as `_loaded`."""
    return tuple(_loaded(path).failed)


def load_untried(path: Path) -> tuple[str, ...]:
    """The trials that the last run was to try and did not. Raises as `_loaded`."""
    return tuple(_loaded(path).untried)


def _loaded(path: Path) -> _Record:
    """The record.

    Raises:
        NoRecordedRun: there is no record, or it cannot be used.
    """
    try:
        record = _file(path).load()
    except StateError as error:
        raise NoRecordedRun(error.what, where=error.where, why=error.why, hint=_AGAIN) from error
    if record is None:
        raise NoRecordedRun("there is no record of an earlier `tooling verify`", hint=_AGAIN)
    return record


def load_seconds(path: Path) -> dict[str, float]:
    """The seconds that each trial took in the last run; empty where there is no record."""
    record = read_cached(path, _Record)
    return record.seconds if record else {}  # only the order is affected


def _file(path: Path) -> StateFile[_Record]:
    return StateFile(path, _Record, _VERSION, Text("the record of the last run"))
