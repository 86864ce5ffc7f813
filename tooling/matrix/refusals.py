"""Caches what the compiler refused, so that a correct gate is not compiled again each time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct

from tooling.platform.atomic_write import write_atomically
from tooling.platform.state_file import encoded, read_cached
from tooling.toolchain import BuildCache
from tooling.toolchain.diagnostics import Diagnostic


class _Refusal(Struct):
    version: Literal[1]
    diagnostics: tuple[Diagnostic, ...]


def load_refusal(cache: BuildCache, key: str) -> tuple[Diagnostic, ...] | None:
    """The compiler's messages for a build that it refused; None where that is not known."""
    known = read_cached(_path(cache, key), _Refusal)
    return None if known is None else known.diagnostics  # None: the program is compiled again


def save_refusal(cache: BuildCache, key: str, diagnostics: Sequence[Diagnostic]) -> str:
    """Caches a refusal. One without a source position is not cached: the machine may have been at fault.

    Returns:
        A message where it could not be cached; empty otherwise.
    """
    if not cache.writable or not any(each.kind == "error" and each.location for each in diagnostics):
        return ""
    try:
        write_atomically(_path(cache, key), encoded(_Refusal(1, tuple(diagnostics))))
    except OSError as error:
        return f"a refusal could not be cached in {cache.root} for the next time: {error.strerror or error}"
    return ""


def _path(cache: BuildCache, key: str) -> Path:
    return cache.root / "refused" / f"{key}.json"
