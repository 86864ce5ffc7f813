"""Records which trials failed in the last run, for `--failed`, and how long each took, for the order."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path

from tooling.atomic_write import write_atomically
from tooling.errors import Location, ToolingError

_VERSION = 1


class NoRecordedRun(ToolingError):
    """There is no usable record of an earlier run."""


class NewerRecord(NoRecordedRun):
    """The record was written by a newer version of this tool."""


def save_run(path: Path, seconds: Mapping[str, float], failed: Iterable[str]) -> str:
    """Updates the list of failures: trials that no longer fail are removed, others are kept.

    Args:
        seconds: of everything that was tried, by the trial's id.
        failed: the ids of those that failed.

    Returns:
        A message where the record could not be written; empty otherwise.
    """
    try:
        before = set(load_failures(path))
    except NewerRecord as error:
        return str(error)
    except NoRecordedRun:
        before = set()
    names = sorted((before - seconds.keys()) | set(failed))
    times = {name: round(value, 3) for name, value in {**load_seconds(path), **seconds}.items()}
    state = {"version": _VERSION, "failed": names, "seconds": times}
    try:
        write_atomically(path, json.dumps(state, ensure_ascii=False).encode())
    except OSError as error:
        return f"this run could not be recorded in {path}: {error.strerror or error}"
    return ""


def load_failures(path: Path) -> tuple[str, ...]:
    """The trials that failed.

    Raises:
        NoRecordedRun: there is no record, it cannot be read, or it is damaged (then it is moved aside).
        NewerRecord: a newer version of this tool wrote it.
    """
    again = "run `tooling verify` without --failed"
    try:
        state = json.loads(path.read_text("utf-8"))
        version = state["version"]
        if isinstance(version, int) and version > _VERSION:
            raise NewerRecord(
                "the record of the last run was written by a newer version of this tool, and left unchanged",
                where=Location(path),
                hint=again,
            )
        if version != _VERSION:
            raise ValueError(f"version {version}")
        return tuple(map(str, state["failed"]))
    except FileNotFoundError:
        raise NoRecordedRun("there is no record of an earlier `tooling verify`", hint=again) from None
    except OSError as error:
        raise NoRecordedRun(
            "the record of the last run cannot be read", where=Location(path), why=error.strerror, hint=again
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        aside = path.with_suffix(".damaged")
        with contextlib.suppress(OSError):  # in a read-only folder it stays where it is
            path.replace(aside)
        raise NoRecordedRun(
            "the record of the last run is damaged",
            where=Location(aside if aside.exists() else path),
            why=str(error),
            hint=again,
        ) from error


def load_seconds(path: Path) -> dict[str, float]:
    """The seconds that each trial took in the last run; empty where there is no record."""
    try:
        known = json.loads(path.read_text("utf-8"))["seconds"]
        return {str(name): float(value) for name, value in known.items() if math.isfinite(float(value))}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}  # only the order is affected
