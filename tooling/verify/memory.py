"""Remembers which trials failed last time, for `--failed`, and how long each took, for the order."""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from tooling.errors import Location, ToolingError

_VERSION = 1


class NothingRemembered(ToolingError):
    """There is no usable record of an earlier run."""


def remember(path: Path, seconds: Mapping[str, float], failed: Iterable[str]) -> None:
    """Updates the list of failures: what was tried and did not fail is taken off, the rest of it stays.

    Args:
        seconds: of everything that was tried, by the trial's id.
        failed: the ids of those that failed.
    """
    try:
        before = set(recall_failures(path))
    except NothingRemembered:
        before = set()
    names = sorted((before - seconds.keys()) | set(failed))
    times = {name: round(value, 3) for name, value in {**recall_seconds(path), **seconds}.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as partial:
        json.dump({"version": _VERSION, "failed": names, "seconds": times}, partial, ensure_ascii=False)
    os.replace(partial.name, path)  # noqa: PTH105 - the temporary file has a name, not a Path


def recall_failures(path: Path) -> tuple[str, ...]:
    """The trials that failed.

    Raises:
        NothingRemembered: no earlier run is known, or its record is damaged (it is moved aside).
    """
    try:
        state = json.loads(path.read_text("utf-8"))
        if state["version"] != _VERSION:
            raise ValueError(f"version {state['version']}")
        return tuple(map(str, state["failed"]))
    except FileNotFoundError:
        raise NothingRemembered(
            "no earlier `tooling verify` is known", hint="run it without --failed"
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        aside = path.with_suffix(".damaged")
        path.replace(aside)
        raise NothingRemembered(
            "the record of the last run is damaged",
            where=Location(aside),
            why=str(error),
            hint="it was moved aside; run `tooling verify` without --failed",
        ) from error


def recall_seconds(path: Path) -> dict[str, float]:
    """How long each trial took when it was last tried; empty where nothing is known."""
    try:
        known = json.loads(path.read_text("utf-8"))["seconds"]
        return {str(name): float(value) for name, value in known.items() if math.isfinite(float(value))}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}  # only the order suffers
