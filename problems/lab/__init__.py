"""The channel to the judge for puzzles that are Python programs; channel.mojo is its counterpart in Mojo.

    from lab import choose_mode, stage, submit

Time measurement is in timing.py.

The environment variable PUZZLE_LAB_DIR names a folder that the judge has created:

    in/<name>.bin            read by `stage`, if present: replaces the content of the array
    used/<name>.<dtype>.bin  written by `stage`: the input that the program uses
    out/<name>.<dtype>.bin   written by `submit`: the result

All files hold the raw little-endian bytes of the whole array. Without the variable both functions do nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FOLDER_VARIABLE = "PUZZLE_LAB_DIR"
USAGE_STATUS = 2

Array = NDArray[Any]


def stage(name: str, array: Array) -> None:
    """Passes an array to the judge, which may replace its content, before the graph runs.

    Args:
        name: the array's name in puzzle.yaml and reference.py.
        array: an input; changed in place.

    Raises:
        ValueError: the size of the staged file is not that of the array.
        OSError: a file cannot be read or written.
    """
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        return
    staged = Path(folder, "in", f"{name}.bin")
    if staged.is_file():
        content = staged.read_bytes()
        if len(content) != array.nbytes:
            raise ValueError(
                f"lab: {staged} holds {len(content)} bytes, but the array '{name}' has {array.nbytes} "
                f"({array.size} elements of {array.dtype}): stage a file of exactly that size"
            )
        array[...] = np.frombuffer(content, array.dtype.newbyteorder("<")).reshape(array.shape)
    _write(Path(folder, "used"), name, array)


def submit(name: str, array: Array) -> None:
    """Passes a result to the judge. Call it before the program's own comparison, which may raise.

    Args:
        name: the output's name in puzzle.yaml.
        array: the whole output, copied back from its device.

    Raises:
        OSError: the file cannot be written.
    """
    folder = os.environ.get(FOLDER_VARIABLE)
    if folder:
        _write(Path(folder, "out"), name, array)


def choose_mode(program: str, flags: Sequence[str], *, without: bool = False) -> str:
    """The flag that the program was called with.

    `--help` prints the usage line and exits with status 0. An unknown flag or several flags exit with status
    2, and so does a missing flag unless `without` is true.

    Args:
        program: the program's name as the reader types it, such as p22.
        flags: the flags of its modes, such as --fused.
        without: whether the program has a mode without a flag, for which this returns an empty string.
    """
    usage = (
        f"usage: {program} [{' | '.join(flags)}]" if without else f"usage: {program} ({' | '.join(flags)})"
    )
    arguments = sys.argv[1:]
    _answer_help(arguments, usage)
    if without and not arguments:
        return ""
    if len(arguments) != 1:
        _refuse("one mode at a time" if arguments else "no mode given", usage)
    if arguments[0] not in flags:
        _refuse(f"unknown mode {arguments[0]}", usage)
    return arguments[0]


def expect_no_flags(program: str) -> None:
    """Accepts only an empty command line, for programs with a single mode.

    `--help` prints the usage line and exits with status 0; any other argument exits with status 2.

    Args:
        program: the program's name as the reader types it, such as p17.
    """
    usage = f"usage: {program} (it has one mode and takes no flag)"
    _answer_help(sys.argv[1:], usage)
    if sys.argv[1:]:
        _refuse(f"unknown argument {sys.argv[1]}", usage)


def _write(folder: Path, name: str, array: Array) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    little_endian = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    (folder / f"{name}.{array.dtype.name}.bin").write_bytes(little_endian.tobytes())


def _answer_help(arguments: Sequence[str], usage: str) -> None:
    if "--help" in arguments or "-h" in arguments:
        print(usage)
        sys.exit(0)


def _refuse(reason: str, usage: str) -> None:
    print(reason, file=sys.stderr)
    print(usage, file=sys.stderr)
    sys.exit(USAGE_STATUS)
