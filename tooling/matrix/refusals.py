"""Caches what the compiler refused, so that a correct gate is not compiled again each time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tooling.atomic_write import write_atomically
from tooling.toolchain import BuildCache
from tooling.toolchain.diagnostics import Diagnostic

_VERSION = 1


def load_refusal(cache: BuildCache, key: str) -> tuple[Diagnostic, ...] | None:
    """The compiler's messages for a build that it refused; None where that is not known."""
    try:
        state = json.loads(_path(cache, key).read_text("utf-8"))
        if state["version"] != _VERSION:
            return None
        return tuple(map(Diagnostic.from_json, state["diagnostics"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None  # then the program is compiled again


def save_refusal(cache: BuildCache, key: str, diagnostics: Sequence[Diagnostic]) -> str:
    """Caches a refusal. One without a source position is not cached: the machine may have been at fault.

    Returns:
        A message where it could not be cached; empty otherwise.
    """
    if not cache.writable or not any(each.kind == "error" and each.location for each in diagnostics):
        return ""
    state = {"version": _VERSION, "diagnostics": [each.to_json() for each in diagnostics]}
    try:
        write_atomically(_path(cache, key), json.dumps(state, ensure_ascii=False).encode())
    except OSError as error:
        return f"a refusal could not be cached in {cache.root} for the next time: {error.strerror or error}"
    return ""


def _path(cache: BuildCache, key: str) -> Path:
    return cache.root / "refused" / f"{key}.json"
