"""Remembers what the compiler refused, so that a gate that holds is not compiled again each time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct

from tooling.atomic_write import write_atomically
from tooling.state_file import encoded, read_cached
from tooling.toolchain import BuildCache
from tooling.toolchain.diagnostics import Diagnostic


class _Refusal(Struct):
    version: Literal[1]
    diagnostics: tuple[Diagnostic, ...]


def recall(cache: BuildCache, key: str) -> tuple[Diagnostic, ...] | None:
    """The compiler's messages for a build that it refused; None where that is not known."""
    known = read_cached(_path(cache, key), _Refusal)
    return None if known is None else known.diagnostics  # None: the compiler is asked again


def remember(cache: BuildCache, key: str, diagnostics: Sequence[Diagnostic]) -> str:
    """Notes a refusal. One without a place in a source is not noted: the machine may have been at fault.

    Returns:
        What the reader should know where it could not be noted; empty otherwise.
    """
    if not cache.writable or not any(each.kind == "error" and each.location for each in diagnostics):
        return ""
    try:
        write_atomically(_path(cache, key), encoded(_Refusal(1, tuple(diagnostics))))
    except OSError as error:
        return f"a refusal could not be kept in {cache.root} for the next time: {error.strerror or error}"
    return ""


def _path(cache: BuildCache, key: str) -> Path:
    return cache.root / "refused" / f"{key}.json"
