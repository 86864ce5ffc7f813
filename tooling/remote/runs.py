"""Runs a built program on another machine, and brings what it hands in into the lab folder of this one."""

from __future__ import annotations

import base64
import os
import re
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from tooling.execution.channel import VARIABLE, LabFolder
from tooling.execution.program import Ending, Transcript
from tooling.remote.connection import Connection, Content, HostError
from tooling.text import Text
from tooling.toolchain import Executable, find_toolchain
from tooling.toolchain.runtime import runtime_libraries

_DAMAGED = Text("`{host}` answers with something else than expected")
_LARGEST_BUFFER = 1 << 30  # bytes


class _Run(Struct, frozen=True):
    ending: Ending
    status: int
    seconds: float
    stdout: str
    stderr: str


class _Buffer(Struct, frozen=True):
    dtype: str
    bytes: int
    zlib: str | None


class _Result(Struct, frozen=True):
    run: _Run
    used: dict[str, _Buffer]
    out: dict[str, _Buffer]
    irregular: tuple[str, ...]


def run_on_host(
    host: Connection,
    executable: Executable,
    flags: Sequence[str],
    lab: LabFolder,
    *,
    environment: Mapping[str, str],
    time_limit: float,
    largest_buffer: int = _LARGEST_BUFFER,
    scripts: Mapping[str, Path] | None = None,
) -> Transcript:
    """Runs a program with the data that are staged in the lab folder, and writes what it hands in there.

    Args:
        scripts: of a program in Python, its files by their names there: the main one first, in the folder
            `program`, and those of the package `lab`, in the folder `problems`.
        environment: variables in addition to those of the account there.
        time_limit: seconds, of the program alone.
        largest_buffer: in bytes; of a larger one an empty file of its size is written.

    Raises:
        HostError: the connection was lost, or the program cannot be kept there.
        OSError: the lab folder cannot be written.
    """
    sent = {name: Content.of(path) for name, path in (scripts or {}).items()}
    libraries = {}
    if not sent:  # MAX has its own
        libraries = {path.name: Content.of(path) for path in runtime_libraries(find_toolchain())}
    staged = sorted((lab.root / "in").glob("*.bin"))
    inputs = {path.name.removesuffix(".bin"): Content.of(path.read_bytes()) for path in staged}
    return _run(
        host,
        lab,
        program=None if sent else Content.of(executable.path),
        inputs=inputs,
        scripts=sent,
        flags=list(flags),
        libraries=libraries,
        environment={name: value for name, value in environment.items() if name != VARIABLE},
        time_limit=time_limit,
        largest_buffer=largest_buffer,
    )


def run_script(
    host: Connection,
    script: Path,
    arguments: Sequence[str],
    data: bytes,
    lab: LabFolder,
    *,
    time_limit: float,
) -> Transcript:
    """Runs a script in Python with the input `work`; what it hands in is written to the lab folder.

    Args:
        data: that input.
        time_limit: seconds.

    Raises: as `run_on_host`.
    """
    return _run(
        host,
        lab,
        program=None,
        inputs={"work": Content.of(data)},
        scripts={f"program/{script.name}": Content.of(script)},
        flags=list(arguments),
        libraries={},
        environment={},
        time_limit=time_limit,
        largest_buffer=_LARGEST_BUFFER,
    )


def _run(
    host: Connection,
    lab: LabFolder,
    *,
    program: Content | None,
    inputs: Mapping[str, Content],
    scripts: Mapping[str, Content],
    libraries: Mapping[str, Content],
    **request: object,
) -> Transcript:
    """Sends the files of a run, has it done, and writes its buffers to the lab folder.

    Args:
        program: an executable; None: the first of the scripts.
    """
    programs = [] if program is None else [program]
    host.provide([*programs, *libraries.values(), *inputs.values(), *scripts.values()])
    result = host.ask(
        _Result,
        "run",
        program="" if program is None else program.name,
        inputs={name: content.name for name, content in inputs.items()},
        scripts={name: content.name for name, content in scripts.items()},
        script_path=["program", "problems"],
        main=next(iter(scripts), ""),
        libraries={name: content.name for name, content in libraries.items()},
        **request,
    )
    for folder, buffers in (("used", result.used), ("out", result.out)):
        for name, buffer in buffers.items():
            _write(_checked(lab.root, f"{folder}/{name}.{buffer.dtype}.bin", host), buffer, host)
    for name in result.irregular:
        _checked(lab.root, name, host).symlink_to(os.devnull)  # as little a regular file as there
    run = result.run
    return Transcript(run.stdout, run.stderr, run.ending, run.status, run.seconds)


class _Removed(Struct, frozen=True):
    folder: str
    bytes: int


def remove_everything(host: Connection) -> tuple[str, int]:
    """Removes the folder of what was sent to a host; its path there, and how many bytes it had.

    Raises:
        HostError: the connection was lost, or the folder cannot be removed.
    """
    removed = host.ask(_Removed, "clean")
    return removed.folder, removed.bytes


def _checked(lab: Path, name: str, host: Connection) -> Path:
    """The path of a buffer. Raises HostError where it would be somewhere else."""
    if not re.fullmatch(r"(used|out)/[^/\0]+\.bin", name):
        raise HostError(_DAMAGED.of(host=host.host))
    return lab / name


def _write(path: Path, buffer: _Buffer, host: Connection) -> None:
    with path.open("xb") as file:
        if buffer.zlib is None:
            file.truncate(buffer.bytes)  # a sparse file: too large for the judge, as it would be here
            return
        try:
            file.write(zlib.decompress(base64.b64decode(buffer.zlib, validate=True)))
        except (ValueError, zlib.error) as error:
            raise HostError(_DAMAGED.of(host=host.host), why=str(error)) from error
