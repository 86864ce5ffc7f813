"""The libraries of the toolchain that built programs load."""

from __future__ import annotations

import sys
from pathlib import Path

from tooling.platform.errors import Location, ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.text import Text
from tooling.toolchain.mojo import Toolchain

RUNTIME_LIBRARIES = (
    "KGENCompilerRTShared",
    "AsyncRTMojoBindings",
    "MSupportGlobals",
    "AsyncRTRuntimeGlobals",
)
_MISSING = Text("{library} is not part of the toolchain")
_SUFFIX = ".dylib" if sys.platform == "darwin" else ".so"


class RuntimeLibraryMissing(ToolingError):
    """The toolchain lacks a library that built programs load."""

    exit_code = ExitCode.NOT_POSSIBLE


def runtime_libraries(toolchain: Toolchain) -> tuple[Path, ...]:
    """Raises RuntimeLibraryMissing where one is not there."""
    found = tuple(toolchain.library_dir / f"lib{stem}{_SUFFIX}" for stem in RUNTIME_LIBRARIES)
    for library in found:
        if not library.is_file():
            raise RuntimeLibraryMissing(_MISSING.of(library=library.name), where=Location(library))
    return found
