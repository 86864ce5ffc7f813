"""Mojo packages for MAX graphs, built once instead of for every graph of every run.

A program names its package by folder. For each graph MAX runs `mojo precompile FOLDER -o PATH`, which takes
two seconds, most of a short run. MODULAR_MOJO_MAX_DRIVER_PATH replaces this command: a script there copies
the package from the build cache, and passes everything else to the compiler.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Sequence
from pathlib import Path

from tooling.platform.atomic_write import write_atomically
from tooling.platform.errors import Location
from tooling.text import Text
from tooling.toolchain.cache import BuildCache, CacheUnusable, fallback_cache
from tooling.toolchain.mojo import Toolchain

DRIVER_VARIABLE = "MODULAR_MOJO_MAX_DRIVER_PATH"

_SCRIPT = """\
#!/bin/sh
# Written by `tooling`: the packages that MAX precompiles are already built.
case "$1 $3 ${4##*/}" in
@CASES@
esac
unset @VARIABLE@
exec @MOJO@ "$@"
"""
_CASE = """    "precompile -o @NAME@") cp @BUILT@ "$4" && exit ;;"""


def package_stem(folder: Path) -> str:
    """The name that MAX 26.7 gives to the package of a folder; it is also the module's name."""
    digest = hashlib.md5(str(folder.absolute()).encode(), usedforsecurity=False)
    return f"mojo_pkg_{digest.hexdigest()}"


def make_driver(packages: Sequence[Path], toolchain: Toolchain, cache: BuildCache) -> Path:
    """The script that MAX runs instead of `mojo` for a program with these built packages.

    Raises:
        CacheUnusable: it cannot be written.
    """
    cases = [
        _CASE.replace("@NAME@", built.name).replace("@BUILT@", shlex.quote(str(built))) for built in packages
    ]
    text = (
        _SCRIPT.replace("@CASES@", "\n".join(cases))
        .replace("@VARIABLE@", DRIVER_VARIABLE)
        .replace("@MOJO@", shlex.quote(str(toolchain.mojo)))
    )
    content = text.encode()
    root = (cache if cache.writable else fallback_cache()).root
    path = root / "packages" / hashlib.sha256(content).hexdigest()[:32] / "mojo"
    if not path.is_file():
        try:
            write_atomically(path, content, 0o755)
        except OSError as error:
            raise CacheUnusable(
                Text("the script that provides built packages cannot be written"),
                where=Location(path),
                why=error.strerror,
                hint=Text("free space there, or set PUZZLE_CACHE_DIR to a writable folder"),
            ) from error
    return path
