"""Remembers what the compiler refused, so that a gate that holds is not compiled again each time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tooling.errors import Location
from tooling.toolchain import BuildCache
from tooling.toolchain.diagnostics import Diagnostic
from tooling.whole_files import write_whole

_VERSION = 1


def recall(cache: BuildCache, key: str) -> tuple[Diagnostic, ...] | None:
    """The compiler's messages for a build that it refused; None where that is not known."""
    try:
        state = json.loads(_path(cache, key).read_text("utf-8"))
        if state["version"] != _VERSION:
            return None
        return tuple(
            Diagnostic(
                kind, message, Location(Path(place[0]), place[1], place[2]) if place else None, text, width
            )
            for kind, message, place, text, width in state["diagnostics"]
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None  # then the compiler is asked again


def remember(cache: BuildCache, key: str, diagnostics: Sequence[Diagnostic]) -> str:
    """Notes a refusal. One without a place in a source is not noted: the machine may have been at fault.

    Returns:
        What the reader should know where it could not be noted; empty otherwise.
    """
    if not cache.writable or not any(each.kind == "error" and each.location for each in diagnostics):
        return ""
    records = [
        [
            each.kind,
            each.message,
            [str(each.location.path), each.location.line, each.location.column] if each.location else None,
            each.text,
            each.width,
        ]
        for each in diagnostics
    ]
    state = json.dumps({"version": _VERSION, "diagnostics": records}, ensure_ascii=False)
    try:
        write_whole(_path(cache, key), state.encode())
    except OSError as error:
        return f"a refusal could not be kept in {cache.root} for the next time: {error.strerror or error}"
    return ""


def _path(cache: BuildCache, key: str) -> Path:
    return cache.root / "refused" / f"{key}.json"
