"""Remembers which trials failed last time, for `--failed`."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tooling.errors import Location, ToolingError

_VERSION = 1


class NothingRemembered(ToolingError):
    """There is no usable record of an earlier run."""


def remember_failures(path: Path, tried: Iterable[str], failed: Iterable[str]) -> None:
    """Updates the list: what was tried and did not fail is taken off, the rest of it stays."""
    try:
        before = set(recall_failures(path))
    except NothingRemembered:
        before = set()
    names = sorted((before - set(tried)) | set(failed))
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as partial:
        json.dump({"version": _VERSION, "failed": names}, partial, ensure_ascii=False)
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
