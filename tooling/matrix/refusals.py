"""Remembers what the compiler refused, so that a gate that holds is not compiled again each time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tooling.atomic_write import write_atomically
from tooling.toolchain import BuildCache
from tooling.toolchain.diagnostics import Diagnostic

_VERSION = 1


def recall(cache: BuildCache, key: str) -> tuple[Diagnostic, ...] | None:
    """The compiler's messages for a build that it refused; None where that is not known."""
    try:
        state = json.loads(_path(cache, key).read_text("utf-8"))
        if state["version"] != _VERSION:
            return None
        return tuple(map(Diagnostic.from_json, state["diagnostics"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None  # then the compiler is asked again


def remember(cache: BuildCache, key: str, diagnostics: Sequence[Diagnostic]) -> str:
    """Notes a refusal. One without a place in a source is not noted: the machine may have been at fault.

    Returns:
        What the reader should know where it could not be noted; empty otherwise.
    """
    if not cache.writable or not any(each.kind == "error" and each.location for each in diagnostics):
        return ""
    state = {"version": _VERSION, "diagnostics": [each.to_json() for each in diagnostics]}
    try:
        write_atomically(_path(cache, key), json.dumps(state, ensure_ascii=False).encode())
    except OSError as error:
        return f"a refusal could not be kept in {cache.root} for the next time: {error.strerror or error}"
    return ""


def _path(cache: BuildCache, key: str) -> Path:
    return cache.root / "refused" / f"{key}.json"
