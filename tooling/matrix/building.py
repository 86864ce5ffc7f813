"""Builds every program for every accelerator, several at a time: one build serves all modes of a program."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed
from enum import Enum
from pathlib import Path

from msgspec import Struct

from tooling.catalog.model import Program
from tooling.matrix.accelerators import Accelerator, build_scope
from tooling.matrix.refusals import load_refusal, save_refusal
from tooling.platform.errors import ToolingError
from tooling.platform.workers import program_pool
from tooling.project import Project
from tooling.text import ENGLISH, in_language
from tooling.toolchain import BuildCache, BuildFailed, BuildRequest, Toolchain, build
from tooling.toolchain.cache_key import build_key
from tooling.toolchain.diagnostics import Diagnostic
from tooling.trials import includes_of

_FOREIGN_TOOLS = re.compile(
    r"xcrun|metallib compilation failed|posix_spawn failed|unable to find suitable c compiler", re.IGNORECASE
)
"""Messages of Mojo about a missing external tool, which are not about the program."""


class BuildResult(Enum):
    """The result of one build."""

    BUILT = "built"
    REFUSED = "refused"  # by the compiler
    UNCHECKED = "unchecked"  # not known


class MatrixCell(Struct, frozen=True):
    """One program for one accelerator."""

    program: Program
    accelerator: Accelerator
    result: BuildResult
    diagnostics: tuple[Diagnostic, ...] = ()  # of a refusal
    reason: str = ""  # why it could not be checked
    note: str = ""  # for the user, about the build


def build_cells(
    programs: Sequence[Program],
    accelerators: Sequence[Accelerator],
    *,
    project: Project,
    toolchain: Toolchain,
    cache: BuildCache,
    jobs: int,
) -> Iterator[MatrixCell]:
    """Builds each program for each accelerator; yields the cells as they are ready.

    Args:
        jobs: how many builds at a time.
    """
    with program_pool(jobs) as pool:
        waiting = [
            pool.submit(_build_cell, program, accelerator, project, toolchain, cache)
            for program in programs
            for accelerator in accelerators
        ]
        for done in as_completed(waiting):
            yield done.result()


def _build_cell(
    program: Program, accelerator: Accelerator, project: Project, toolchain: Toolchain, cache: BuildCache
) -> MatrixCell:
    request = BuildRequest(
        Path(program.solution).absolute(),
        accelerator=accelerator.name,
        emit=build_scope(accelerator.vendor).emit,
        includes=includes_of(program, program.solution, project),
    )
    try:
        key = build_key(request, toolchain)
        known = load_refusal(cache, key)
        if known is not None:
            return MatrixCell(program, accelerator, BuildResult.REFUSED, known)
        built = build(request, toolchain, cache)
    except BuildFailed as error:
        missing = missing_tool(error)
        if missing:
            return MatrixCell(program, accelerator, BuildResult.UNCHECKED, reason=missing)
        note = save_refusal(cache, key, error.diagnostics)
        return MatrixCell(program, accelerator, BuildResult.REFUSED, error.diagnostics, note=note)
    except ToolingError as error:
        return MatrixCell(
            program, accelerator, BuildResult.UNCHECKED, reason=f"{error.what}: {error.why or error.hint}"
        )
    return MatrixCell(program, accelerator, BuildResult.BUILT, note=in_language(built.note, ENGLISH) or "")


def missing_tool(error: BuildFailed) -> str:
    """The compiler's message about a tool that this machine lacks; empty where it is about the program."""
    messages = [each.message for each in error.diagnostics if each.kind == "error"]
    named = next((message for message in messages if _FOREIGN_TOOLS.search(message)), "")
    if named:
        return named
    # Ended by a signal, or out of memory: the compiler reported nothing about the program.
    return "" if messages else f"the compiler gave no reason: {error.why}"
