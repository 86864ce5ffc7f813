"""Mojo packages for MAX graphs: built once, where MAX would build them for every graph of every run.

A program names its package by folder. For each graph MAX starts `mojo precompile FOLDER -o PATH`, two seconds
every time, which is most of a short run. The command that it starts is MODULAR_MOJO_MAX_DRIVER_PATH's: a
script there hands out the package from the build cache, and leaves all else to the compiler.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Sequence
from pathlib import Path

from tooling.atomic_write import write_atomically
from tooling.errors import Location
from tooling.toolchain.cache import BuildCache, CacheUnusable, fallback_cache
from tooling.toolchain.mojo import Toolchain

DRIVER_VARIABLE = "MODULAR_MOJO_MAX_DRIVER_PATH"

_SCRIPT = """\
#!/bin/sh
# Written by `tooling`: what MAX wants to precompile is built already.
case "$1 $3 ${4##*/}" in
@CASES@
esac
unset @VARIABLE@
exec @MOJO@ "$@"
"""
_CASE = """    "precompile -o @NAME@") cp @BUILT@ "$4" && exit ;;"""


def package_stem(folder: Path) -> str:
    """What MAX 26.7 calls the package that it makes of a folder; the file's name is the module's, too."""
    digest = hashlib.md5(str(folder.absolute()).encode(), usedforsecurity=False)
    return f"mojo_pkg_{digest.hexdigest()}"


def make_driver(packages: Sequence[Path], toolchain: Toolchain, cache: BuildCache) -> Path:
    """The script that MAX is to start instead of `mojo` for a program with these built packages.

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
                "the script that hands out built packages cannot be written",
                where=Location(path),
                why=error.strerror,
                hint="make room there, or set PUZZLE_CACHE_DIR to a folder that you can write",
            ) from error
    return path
