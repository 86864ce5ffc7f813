"""NVIDIA's assembler and disassembler: of the extra `sass`, or of a CUDA toolkit on PATH."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from tooling.platform.errors import ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.platform.processes import Completed, run_captured
from tooling.text import Text

_TIME_LIMIT = 120.0  # seconds; a kernel of the book takes less than one
_VERSION = re.compile(r"^Cuda compilation tools, release [\d.]+, V([\d.]+)$", re.MULTILINE)
_FOLDER = "nvidia/cu13/bin"
_DISTRIBUTIONS = {"ptxas": "nvidia-cuda-nvcc", "nvdisasm": "nvidia-cuda-nvdisasm"}

_MISSING = Text("machine code needs NVIDIA's `{name}`, which this environment does not have")
_OPTIONAL = Text(
    "the assembler and the disassembler are 52 MB under NVIDIA's own licence, and no verdict needs them; so "
    "they are the extra `sass`"
)
_INSTALL = Text("`{command}`, or put the programs of a CUDA toolkit on PATH")
_FAILED = Text("`{name}` failed")
_TOO_LONG = Text("it took longer than {seconds} seconds")
_NO_VERSION = Text("`{name} --version` does not print the version of a CUDA toolkit")
_CHECK_PATH = Text("it is {path}: remove it from PATH, or install the extra `sass`")


class ToolsMissing(ToolingError):
    """There is no assembler or no disassembler."""

    exit_code = ExitCode.NOT_POSSIBLE


class ToolFailed(ToolingError):
    """The assembler or the disassembler failed."""

    exit_code = ExitCode.NOT_POSSIBLE


class Tools(Struct, frozen=True):
    """The assembler and the disassembler.

    Attributes:
        version: of the assembler, for example `13.5.37`. It decides the machine code.
    """

    ptxas: Path
    nvdisasm: Path
    version: str


def find_tools(command: str = "uv run --extra sass tooling") -> Tools:
    """The tools of this environment, first those of the extra `sass`.

    Args:
        command: that installs the extra, for the message.

    Raises:
        ToolsMissing: one is missing.
        ToolFailed: `ptxas --version` fails.
    """
    ptxas, nvdisasm = (_find(name, command) for name in _DISTRIBUTIONS)
    return Tools(ptxas, nvdisasm, _version(ptxas))


def has_tools() -> bool:
    """Whether both are there."""
    return all(_located(name) for name in _DISTRIBUTIONS)


def call(arguments: Sequence[str | Path]) -> Completed:
    """Runs a tool.

    Raises:
        ToolFailed: it cannot be started, ends with a failure, or takes longer than two minutes.
    """
    name = Path(arguments[0]).name
    try:
        done = run_captured(arguments, time_limit=_TIME_LIMIT)
    except OSError as error:
        raise ToolFailed(_FAILED.of(name=name), why=error.strerror) from error
    if done.timed_out:
        raise ToolFailed(_FAILED.of(name=name), why=_TOO_LONG.of(seconds=int(_TIME_LIMIT)))
    if done.status:
        raise ToolFailed(_FAILED.of(name=name), why=(done.stderr or done.stdout).strip() or None)
    return done


def _find(name: str, command: str) -> Path:
    found = _located(name)
    if found is None:
        raise ToolsMissing(_MISSING.of(name=name), why=_OPTIONAL, hint=_INSTALL.of(command=command))
    return found


def _located(name: str) -> Path | None:
    try:
        installed = importlib.metadata.distribution(_DISTRIBUTIONS[name])
    except importlib.metadata.PackageNotFoundError:
        pass
    else:
        path = Path(str(installed.locate_file(f"{_FOLDER}/{name}")))
        if os.access(path, os.X_OK):
            return path
    on_path = shutil.which(name)
    return Path(on_path) if on_path else None


@lru_cache(maxsize=4)
def _version(ptxas: Path) -> str:
    found = _VERSION.search(call([ptxas, "--version"]).stdout)
    if found is None:
        raise ToolFailed(_NO_VERSION.of(name=ptxas.name), hint=_CHECK_PATH.of(path=ptxas))
    return found[1]
