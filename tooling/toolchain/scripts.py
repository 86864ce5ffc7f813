"""Python programs of the puzzles, and the Mojo packages that they load into MAX graphs."""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

from tooling.platform.errors import Location
from tooling.text import Sentence, Text
from tooling.toolchain.build import BuildFailed, Executable, build
from tooling.toolchain.cache import BuildCache
from tooling.toolchain.cache_key import BuildRequest, SourceNotFound
from tooling.toolchain.diagnostics import Diagnostic
from tooling.toolchain.mojo import Toolchain
from tooling.toolchain.packages import make_driver


def prepare_script(
    source: Path,
    packages: Sequence[Path],
    includes: Sequence[Path],
    toolchain: Toolchain,
    cache: BuildCache,
) -> Executable:
    """Checks a Python program without running it, and builds its Mojo packages.

    The program loads its packages by folder, and MAX compiles the graph. Precompiling the packages reports
    their errors before the program starts, and MAX uses the builds. Errors that depend on a graph, such as a
    wrong launch, are only found when that graph is compiled.

    Args:
        packages: the folders of its Mojo packages.
        includes: folders of modules for the program; a package has none, since MAX passes none.

    Raises:
        BuildFailed: the Python file has a syntax error, or the compiler rejects a package.
        SourceNotFound and the other errors of `build`.
        CacheUnusable: the script for MAX cannot be written.
    """
    source = source.absolute()
    _check_syntax(source)
    diagnostics: list[Diagnostic] = []
    notes: list[Sentence] = []
    ready: list[Path] = []
    for package in packages:
        request = BuildRequest(package / "__init__.mojo", emit="package")
        built = build(request, toolchain, cache)
        diagnostics += built.diagnostics
        notes += [built.note] if built.note else []
        ready.append(built.path)
    request = BuildRequest(source, emit="script", includes=tuple(includes))
    return Executable(
        source,
        request,
        key="",
        diagnostics=tuple(diagnostics),
        note=notes[0] if notes else None,
        interpreter=sys.executable,
        package_driver=make_driver(ready, toolchain, cache) if ready else None,
    )


def _check_syntax(source: Path) -> None:
    try:
        text = source.read_bytes()
    except OSError as error:
        raise SourceNotFound(
            Text("a program to run cannot be read"), where=Location(source), why=error.strerror
        ) from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the interpreter shows them when the program runs
            ast.parse(text, str(source))
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        column = getattr(error, "offset", None)
        diagnostic = Diagnostic(
            "error",
            getattr(error, "msg", None) or str(error),
            Location(source, line, column),
            (getattr(error, "text", None) or "").rstrip("\n"),
        )
        raise BuildFailed(source, (diagnostic,), "") from error
