"""Checks this machine for what the puzzles need, and says what to do about what is missing."""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import TextIO

from msgspec import Struct

from tooling.learning.editors import find_server
from tooling.learning.updating import require_git
from tooling.platform.errors import ToolingError
from tooling.platform.git_command import checkout_root
from tooling.platform.temporary_space import require_space, temporary_root
from tooling.progress import progress_path, read_progress
from tooling.project import Project
from tooling.targets.model import Absence, Target, TargetKind
from tooling.targets.probing import probe
from tooling.text import Sentence, Text, joined
from tooling.toolchain import find_toolchain, open_cache
from tooling.toolchain.cache import usable_cache
from tooling.toolchain.linker import linker_path

_PYTHON = ((3, 11), (3, 15))  # from, below: `requires-python` of pyproject.toml
_LEAST_DRIVER = 580
_LITTLE_TEMPORARY = 1e8  # bytes; a run takes less than 50 MB
_LITTLE_DISK, _LEAST_DISK = 2e9, 2e7  # bytes; a build takes about 2 MB, and the cache up to 8 GB
_LEAST_COLUMNS = 80

_PYTHON_FOUND = Text("Python {version}")
_OTHER_PYTHON = Text("use Python {first} to {last}: `uv run --python {last} tooling doctor`")
_LINKER_CC = Text("linker: {path}")
_LINKER_OWN = Text("linker: that of the Mojo package")
_GPU = Text("{device} ({accelerator})")
_GPUS = Text("{device} ({accelerator}), {count} GPUs")
_DRIVER = Text("driver {version}")
_OLD_DRIVER = Text("update the NVIDIA driver to {least} or later")
_SIMULATED = Text("no GPU: puzzles run on the simulated one ({reasons})")
_CACHE = Text("build cache {path}: {count} builds, {size:.0f} MB")
_CACHE_ELSEWHERE = Text("build cache {path}: cannot be written; {used} is used instead")
_TEMPORARY = Text("temporary folder {path}: {free:.1f} GB free")
_TEMPORARY_ELSEWHERE = Text("temporary folder {path}: cannot be written; {used} is used instead")
_FREE_TEMPORARY = Text("free space there, or name another folder: `export TMPDIR=FOLDER`")
_GIT = Text("git uses the checkout {path}")
_CLOSED = Text("the problem files cannot be written by this user: {path}")
_OPEN = Text("work in a clone of your own, or give the files to your user: `sudo chown -R $USER {path}`")
_SET_CACHE = Text("set PUZZLE_CACHE_DIR to a folder of your own")
_DISK = Text("{free:.1f} GB free for the cache")
_FREE_DISK = Text("free space there; `tooling cache empty` removes earlier builds")
_PROGRESS = Text("progress is kept in {path}")
_PROGRESS_NOT_KEPT = Text("progress cannot be kept in {path}")
_FIX_PROGRESS = Text("make the folder writable, or set PUZZLE_STATE_DIR")
_TERMINAL = Text("terminal: {columns} columns, {encoding}")
_NO_TERMINAL = Text("terminal: none, the output goes elsewhere")
_WIDER = Text("make the terminal at least {columns} columns wide")
_USE_UTF_8 = Text("set LANG to a UTF-8 locale, such as C.UTF-8; ✅ is shown as [passed] without one")
_EDITOR = Text("language server {path}")
_WRITE_SETTINGS = Text("`tooling editor vscode` writes settings; also neovim, zed, helix")
_NO_EDITOR = Text("language server: not installed, and only your editor needs it")
_INSTALL_SERVER = Text("`uv run --group editor tooling editor vscode`")
_PUZZLES = Text("puzzles in {path}")
_MISSING = Text(
    "{count} problem file is missing: {names}", plural="{count} problem files are missing: {names}"
)
_RESET = Text("`tooling reset {name}` writes one again")


class CheckState(Enum):
    """The result of a check; only `BAD` keeps a puzzle from running."""

    GOOD = "good"
    NOTE = "note"
    BAD = "bad"


class MachineCheck(Struct, frozen=True):
    """One thing that was looked at, and what to do about it if it is not good."""

    name: str
    state: CheckState
    found: Sentence | str
    advice: Sentence | str | None = None


def examine(project: Project, stdout: TextIO) -> Iterator[MachineCheck]:
    """All checks, in the order in which they are shown."""
    checks: tuple[Callable[[], Iterator[MachineCheck]], ...] = (
        _python,
        _mojo,
        _gpu,
        _cache,
        _temporary_folder,
        lambda: _progress(project),
        lambda: _puzzles(project),
        lambda: _git(project),
        lambda: _terminal(stdout),
        _editor,
    )
    for check in checks:
        yield from check()


def _python() -> Iterator[MachineCheck]:
    first, below = _PYTHON
    good = first <= sys.version_info[:2] < below
    found = _PYTHON_FOUND.of(version=sys.version.split()[0])
    advice = _OTHER_PYTHON.of(first="3.11", last="3.14")
    yield MachineCheck("python", CheckState.GOOD if good else CheckState.BAD, found, None if good else advice)


def _mojo() -> Iterator[MachineCheck]:
    try:
        toolchain = find_toolchain()
    except ToolingError as error:
        yield MachineCheck("mojo", CheckState.BAD, error.what, error.hint)
        return
    yield MachineCheck("mojo", CheckState.GOOD, f"Mojo {toolchain.version} ({toolchain.mojo})")
    search_path = os.environ.get("PATH", os.defpath)
    try:
        linker_path(toolchain, usable_cache().root, search_path)
    except ToolingError as error:
        yield MachineCheck("linker", CheckState.BAD, error.what, error.hint)
        return
    except OSError as error:
        yield MachineCheck("linker", CheckState.BAD, f"{error.filename}: {error.strerror}", _SET_CACHE)
        return
    compiler = shutil.which("cc", path=search_path)
    yield MachineCheck("linker", CheckState.GOOD, _LINKER_CC.of(path=compiler) if compiler else _LINKER_OWN)


def _gpu() -> Iterator[MachineCheck]:
    found = {kind: probe(kind) for kind in TargetKind}
    real = [each for each in found.values() if isinstance(each, Target) and not each.simulated]
    for target in real:
        text = _GPUS if target.gpus > 1 else _GPU
        yield MachineCheck(
            "gpu",
            CheckState.GOOD,
            text.of(device=target.device, accelerator=target.accelerator, count=target.gpus),
        )
        if target.kind is TargetKind.NVIDIA and (version := _driver_version()):
            new = int(version.split(".")[0]) >= _LEAST_DRIVER
            advice = None if new else _OLD_DRIVER.of(least=_LEAST_DRIVER)
            yield MachineCheck(
                "driver", CheckState.GOOD if new else CheckState.BAD, _DRIVER.of(version=version), advice
            )
    if real:
        return
    simulated = found[TargetKind.SIM]
    if isinstance(simulated, Absence):
        yield MachineCheck("gpu", CheckState.BAD, simulated.reason, simulated.hint)
    else:
        reasons = joined(each.reason for each in found.values() if isinstance(each, Absence))
        yield MachineCheck("gpu", CheckState.GOOD, _SIMULATED.of(reasons=reasons))


def _driver_version() -> str:
    try:
        library = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return ""
    text = ctypes.create_string_buffer(80)
    if library.nvmlInit_v2() != 0:
        return ""
    try:
        good = library.nvmlSystemGetDriverVersion(text, ctypes.c_uint(len(text))) == 0
    finally:
        library.nvmlShutdown()
    version = text.value.decode("ascii", "replace")
    return version if good and version.split(".")[0].isdecimal() else ""


def _cache() -> Iterator[MachineCheck]:
    wanted = open_cache()
    try:
        cache = usable_cache()
    except ToolingError as error:
        what, _, hint = error.sentences
        yield MachineCheck("cache", CheckState.BAD, what, hint)
        return
    if cache.root != wanted.root:
        used = _CACHE_ELSEWHERE.of(path=wanted.root, used=cache.root)
        yield MachineCheck("cache", CheckState.NOTE, used, _SET_CACHE)
    else:
        count, size = cache.usage()
        found = _CACHE.of(path=cache.root, count=count, size=size / 1e6)
        yield MachineCheck("cache", CheckState.GOOD, found)
    free = shutil.disk_usage(cache.root).free
    low = CheckState.NOTE if free >= _LEAST_DISK else CheckState.BAD
    state = CheckState.GOOD if free >= _LITTLE_DISK else low
    advice = None if state is CheckState.GOOD else _FREE_DISK
    yield MachineCheck("disk", state, _DISK.of(free=free / 1e9), advice)


def _temporary_folder() -> Iterator[MachineCheck]:
    root = temporary_root()
    try:
        require_space(root)
    except ToolingError as error:
        what, why, hint = error.sentences
        yield MachineCheck("temporary", CheckState.BAD, joined((what, why or ""), ": "), hint)
        return
    named = os.environ.get("TMPDIR")
    if named and Path(named).absolute() != root.absolute():
        found = _TEMPORARY_ELSEWHERE.of(path=named, used=root)
        yield MachineCheck("temporary", CheckState.NOTE, found, _FREE_TEMPORARY)
        return
    free = shutil.disk_usage(root).free
    little = free < _LITTLE_TEMPORARY
    found = _TEMPORARY.of(path=root, free=free / 1e9)
    state = CheckState.NOTE if little else CheckState.GOOD
    yield MachineCheck("temporary", state, found, _FREE_TEMPORARY if little else None)


def _git(project: Project) -> Iterator[MachineCheck]:
    """Only a clone is brought up to date with git."""
    top = checkout_root(project.root)
    if top is None:
        return
    try:
        require_git(top)
    except ToolingError as error:
        what, why, hint = error.sentences
        yield MachineCheck("git", CheckState.NOTE, joined((what, why or ""), ": "), hint)
    else:
        yield MachineCheck("git", CheckState.GOOD, _GIT.of(path=top))


def _progress(project: Project) -> Iterator[MachineCheck]:
    path = progress_path(project.root)
    note = read_progress(project.root).note
    folder = next(each for each in path.parents if each.exists())
    if note:
        yield MachineCheck("progress", CheckState.NOTE, note, _FIX_PROGRESS)
    elif not os.access(folder, os.W_OK | os.X_OK):
        yield MachineCheck("progress", CheckState.NOTE, _PROGRESS_NOT_KEPT.of(path=path), _FIX_PROGRESS)
    else:
        yield MachineCheck("progress", CheckState.GOOD, _PROGRESS.of(path=path))


def _puzzles(project: Project) -> Iterator[MachineCheck]:
    from tooling.catalog.catalogue import load_catalogue  # noqa: PLC0415 - reads every manifest

    try:
        programs = [program for puzzle in load_catalogue(project) for program in puzzle.programs]
    except ToolingError as error:
        yield MachineCheck("puzzles", CheckState.BAD, str(error.what), error.hint)
        return
    missing = [
        program.name for program in programs if not all(file.problem.is_file() for file in program.sources)
    ]
    if missing:
        found = _MISSING.of(count=len(missing), names=", ".join(missing))
        yield MachineCheck("puzzles", CheckState.NOTE, found, _RESET.of(name=missing[0]))
        return
    files = (file.problem for program in programs for file in program.sources)
    closed = next((path for path in files if not os.access(path, os.W_OK)), None)
    if closed:
        advice = _OPEN.of(path=project.root)
        yield MachineCheck("puzzles", CheckState.NOTE, _CLOSED.of(path=closed), advice)
    else:
        yield MachineCheck("puzzles", CheckState.GOOD, _PUZZLES.of(path=project.problems))


def _terminal(stdout: TextIO) -> Iterator[MachineCheck]:
    if not stdout.isatty():
        yield MachineCheck("terminal", CheckState.GOOD, _NO_TERMINAL)
        return
    columns = os.get_terminal_size(stdout.fileno()).columns
    encoding = getattr(stdout, "encoding", "") or "?"
    advice = None
    if columns < _LEAST_COLUMNS:
        advice = _WIDER.of(columns=_LEAST_COLUMNS)
    elif "utf" not in encoding.lower():
        advice = _USE_UTF_8
    found = _TERMINAL.of(columns=columns, encoding=encoding)
    yield MachineCheck("terminal", CheckState.NOTE if advice else CheckState.GOOD, found, advice)


def _editor() -> Iterator[MachineCheck]:
    try:
        server = find_server()
    except ToolingError:
        yield MachineCheck("editor", CheckState.GOOD, _NO_EDITOR, _INSTALL_SERVER)
    else:
        yield MachineCheck("editor", CheckState.GOOD, _EDITOR.of(path=server), _WRITE_SETTINGS)
