"""Finds the Mojo compiler and checks that it is the pinned version."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

from msgspec import Struct

from tooling.platform.errors import Location, ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.platform.pins import MOJO_VERSION
from tooling.platform.processes import run_captured
from tooling.text import Text

_INSTALL_HINT = Text("run `uv sync` (or `pixi install`) in the checkout: it installs the pinned compiler")
_METADATA = re.compile(r"mojo[_-]compiler-(\d[\w.+!]*?)(?:\.dist-info|-[^-]+\.json)$")
_VERSION_LINE = re.compile(r"\bmojo\s+(\d+(?:\.\w+)+)", re.IGNORECASE)


class MojoNotFound(ToolingError):
    """No Mojo compiler was found."""

    exit_code = ExitCode.NOT_POSSIBLE


class MojoVersionMismatch(ToolingError):
    """The Mojo compiler is not the pinned version."""

    exit_code = ExitCode.NOT_POSSIBLE

    def __init__(self, mojo: Path, found: str, wanted: str) -> None:
        super().__init__(
            Text("Mojo {found} found, but the puzzles are written for Mojo {wanted}").of(
                found=found, wanted=wanted
            ),
            where=Location(mojo),
            why=Text(
                "each Mojo release changes the language, so another version may reject correct programs"
            ),
            hint=_INSTALL_HINT,
        )
        self.found = found
        self.wanted = wanted


class Toolchain(Struct, frozen=True):
    """An installed Mojo compiler."""

    mojo: Path  # the command
    version: str
    library_dir: Path  # of libKGENCompilerRTShared.so and the other libraries that built programs load
    lld: Path | None  # the linker of the package, for machines without a C compiler

    @property
    def files(self) -> tuple[Path, ...]:
        """What the compiler consists of, except for the Python that its command may be written in."""
        package = self.library_dir.parent
        files = (self.mojo, package, package.parent / "mojo")
        return tuple(path for path in files if path.exists())


def find_toolchain(wanted: str = MOJO_VERSION) -> Toolchain:
    """The Mojo compiler of this environment: PUZZLE_MOJO, then the Python environment, then PATH.

    The version is read from the package's metadata, or from `mojo --version` if there is none.

    Raises:
        MojoNotFound: none of these names a `mojo` command.
        MojoVersionMismatch: it is not version `wanted`.
    """
    mojo = _find_command()
    package = _package_root(mojo)
    version = _metadata_version(mojo, package) or _reported_version(mojo)
    if version != wanted:
        raise MojoVersionMismatch(mojo, version, wanted)
    lld = package / "bin" / "lld"
    return Toolchain(mojo, version, package / "lib", lld if lld.is_file() else None)


def _find_command() -> Path:
    named = os.environ.get("PUZZLE_MOJO")
    if named:
        if os.access(named, os.X_OK):
            return Path(named)
        raise MojoNotFound(
            Text("PUZZLE_MOJO names {named}, which is not an executable file").of(named=named),
            hint=Text("unset PUZZLE_MOJO, or set it to the path of a `mojo` command"),
        )
    in_environment = Path(sys.prefix) / "bin" / "mojo"
    if os.access(in_environment, os.X_OK):
        return in_environment
    on_path = shutil.which("mojo")
    if on_path:
        return Path(on_path)
    raise MojoNotFound(
        Text("the Mojo compiler is not installed"),
        why=Text("there is no `mojo` in {parent} or on PATH").of(parent=in_environment.parent),
        hint=_INSTALL_HINT,
    )


def _package_root(mojo: Path) -> Path:
    """The folder with `bin/` and `lib/`: site-packages/modular of a wheel, or the prefix of a conda one."""
    prefix = mojo.parent.parent
    wheels = sorted(prefix.glob("lib/python3*/site-packages/modular"))
    return wheels[-1] if wheels else prefix


def _metadata_version(mojo: Path, package: Path) -> str | None:
    for folder in (package.parent, mojo.parent.parent / "conda-meta"):
        if not folder.is_dir():
            continue
        for path in folder.iterdir():
            found = _METADATA.match(path.name)
            if found:
                return found.group(1)
    return None


def _reported_version(mojo: Path) -> str:
    try:
        answer = run_captured([mojo, "--version"], time_limit=60)
    except OSError as error:
        raise MojoNotFound(
            Text("{mojo} cannot be started").of(mojo=mojo),
            where=Location(mojo),
            why=str(error),
            hint=_INSTALL_HINT,
        ) from error
    found = _VERSION_LINE.search(answer.stdout) or _VERSION_LINE.search(answer.stderr)
    if answer.status != 0 or found is None:
        raise MojoNotFound(
            Text("{mojo} does not report its version").of(mojo=mojo),
            where=Location(mojo),
            why=(answer.stderr or answer.stdout).strip()[:300] or f"exit status {answer.status}",
            hint=_INSTALL_HINT,
        )
    return found.group(1)
