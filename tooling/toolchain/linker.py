"""A substitute for the C compiler that `mojo build` links with.

Mojo runs a command named `cc`, only to link. If there is none, a small script of that name passes its
arguments to the `lld` of the Mojo package, together with the paths of the C library and, for executables,
with our own start object.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shlex
import shutil
import sys
from pathlib import Path

from tooling.platform.atomic_write import write_atomically
from tooling.platform.errors import ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.text import Text
from tooling.toolchain.mojo import Toolchain
from tooling.toolchain.start_object import start_object

_SCRIPT = """#!/bin/sh
# Written by `tooling`: links for `mojo build` without a C compiler.
set -u
shared=no
seen=0
total=$#
while [ "$seen" -lt "$total" ]; do
    argument=$1
    shift
    seen=$((seen + 1))
    case $argument in
        -shared) shared=yes; set -- "$@" -shared ;;
        -Xlinker) set -- "$@" "$1"; shift; seen=$((seen + 1)) ;;
        -Wl,*)
            rest=${argument#-Wl,}
            while [ -n "$rest" ]; do
                word=${rest%%,*}
                set -- "$@" "$word"
                case $rest in *,*) rest=${rest#*,} ;; *) rest= ;; esac
            done ;;
        -lm|-lc|-lpthread|-ldl|-lrt) ;;
        *) set -- "$@" "$argument" ;;
    esac
done
if [ "$shared" = no ]; then
    set -- -pie --dynamic-linker @LOADER@ @START@ "$@"
fi
exec @LLD@ -flavor gnu --eh-frame-hdr "$@" @LIBRARIES@
"""


class NoLinker(ToolingError):
    """This machine has no linker."""

    exit_code = ExitCode.NOT_POSSIBLE


def linker_path(toolchain: Toolchain, cache_root: Path, search_path: str) -> str:
    """The PATH to build with: unchanged if it has a `cc`, or else with the substitute first.

    Raises:
        NoLinker: there is no `cc`, and the substitute does not work on this machine.
    """
    if shutil.which("cc", path=search_path):
        return search_path
    return f"{write_substitute(toolchain, cache_root)}{os.pathsep}{search_path}"


def write_substitute(toolchain: Toolchain, cache_root: Path) -> Path:
    """Writes the substitute `cc` and its start object; returns their folder."""
    if sys.platform == "darwin":
        raise NoLinker(
            Text("no C compiler named `cc` for linking"),
            why=Text("Mojo links programs with `cc`"),
            hint=Text("run `xcode-select --install`"),
        )
    machine = platform.machine()
    if sys.platform != "linux" or machine != "x86_64" or toolchain.lld is None:
        raise NoLinker(
            Text("no C compiler named `cc` for linking"),
            why=Text(
                "the linker of the Mojo package can replace it on x86-64 Linux only, not on {machine}"
            ).of(machine=machine),
            hint=Text("install a C compiler, e.g. `sudo apt install gcc`"),
        )
    loader, libraries = _c_library()
    text = (
        _SCRIPT.replace("@LLD@", shlex.quote(str(toolchain.lld)))
        .replace("@LOADER@", shlex.quote(str(loader)))
        .replace("@LIBRARIES@", " ".join(shlex.quote(str(library)) for library in libraries))
    )
    start = start_object()
    digest = hashlib.sha256(text.encode() + start).hexdigest()[:16]
    folder = cache_root / "linker" / digest
    text = text.replace("@START@", shlex.quote(str(folder / "start.o")))
    _write_changed(folder / "start.o", start, 0o644)
    _write_changed(folder / "cc", text.encode(), 0o755)
    return folder


def _c_library() -> tuple[Path, list[Path]]:
    """The dynamic loader and the C libraries that this process has mapped."""
    mapped = {line.split(maxsplit=5)[5].strip() for line in _mappings() if line.count("/")}
    c_library = next((Path(path) for path in mapped if re.search(r"/libc(-[\d.]+)?\.so", path)), None)
    loader = next(
        (Path(path) for path in mapped if re.search(r"/ld-linux[^/]*\.so|/ld-\d[^/]*\.so", path)), None
    )
    if c_library is None or loader is None:
        raise NoLinker(
            Text("no C compiler named `cc` for linking, and the GNU C library was not found either"),
            hint=Text("install a C compiler, e.g. `sudo apt install gcc`"),
        )
    standard_loader = Path("/lib64/ld-linux-x86-64.so.2")
    libraries = [c_library.with_name(name) for name in ("libc.so.6", "libm.so.6")]
    return (
        standard_loader if standard_loader.exists() else loader,
        [library for library in libraries if library.exists()],
    )


def _mappings() -> list[str]:
    return Path("/proc/self/maps").read_text().splitlines()


def _write_changed(path: Path, content: bytes, mode: int) -> None:
    if path.is_file() and path.read_bytes() == content:
        return
    write_atomically(path, content, mode)
