"""Systems other than Linux: everything that needs no Linux works, and the rest says what to do.

The tool runs in a process that looks like one of another system: `sys.platform` is changed, and modules and
functions that the system lacks are taken away before anything is imported.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import Result
from tests.cli.test_learner_commands import RIGHT, course
from tooling.platform.exit_codes import ExitCode

if TYPE_CHECKING:
    from tests.cli.conftest import Workbench

__all__ = ["course"]
REPOSITORY = Path(__file__).resolve().parents[2]
_START = """\
import os, platform, signal, sys
system, machine, *arguments = sys.argv[1:]
import subprocess, shutil, socket, selectors, asyncio  # of the standard library, for the real system
sys.platform, platform.machine = system, lambda: machine
for name in ("memfd_create", "sched_getaffinity"):
    delattr(os, name)
if system == "win32":
    sys.modules.update(dict.fromkeys(("fcntl", "termios", "tty", "pwd", "grp", "resource")))
    del signal.SIGHUP
sys.argv = ["tooling", *arguments]
from tooling.cli import main
sys.exit(main(arguments))
"""

_IMPORT_ALL = """\
import os, pathlib, platform, select, signal, socket, sys
import asyncio, concurrent.futures.process, http.server, mmap, multiprocessing.pool, subprocess, numpy
linux = {
    os: ("memfd_create", "sched_getaffinity", "pidfd_open", "eventfd", "splice", "copy_file_range",
         "posix_fadvise", "posix_fallocate", "getxattr", "getrandom", "O_TMPFILE", "O_DIRECT", "O_PATH",
         "MFD_CLOEXEC", "MFD_ALLOW_SEALING"),
    select: ("epoll",),
    socket: ("SO_PEERCRED", "SOCK_CLOEXEC", "SOCK_NONBLOCK"),
    signal: ("SIGRTMIN", "SIGPWR", "SIGPOLL", "sigtimedwait", "sigwaitinfo"),
    mmap: ("MADV_REMOVE", "MAP_POPULATE"),
}
for module, names in linux.items():
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
sys.platform, platform.machine = "darwin", lambda: "arm64"
import importlib
for path in sorted(pathlib.Path(sys.argv[1], "tooling").rglob("*.py")):
    if path.name not in ("__main__.py", "run_bundle.py") and "templates" not in path.parts:
        name = ".".join(path.relative_to(sys.argv[1]).with_suffix("").parts)
        importlib.import_module(name.removesuffix(".__init__"))
"""


def run_on(workbench: Workbench, system: str, machine: str, *arguments: str, language: str = "en") -> Result:
    environment = {**workbench.environment, "PUZZLE_LANG": language}
    done = subprocess.run(
        [sys.executable, "-c", _START, system, machine, *arguments],
        cwd=workbench.root,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("words", [["start"], ["run", "p01"], [], ["--help"]])
def test_windows_is_told_about_wsl2(course: Workbench, words: list[str]) -> None:
    result = run_on(course, "win32", "AMD64", *words)
    assert result.status == ExitCode.NOT_POSSIBLE, result.stderr
    assert result.stdout == ""
    assert "error: the puzzles do not run on Windows itself\n" in result.stderr
    assert "install WSL2 (`wsl --install`" in result.stderr
    assert "Traceback" not in result.stderr
    assert "WSL2를 설치하고" in run_on(course, "win32", "AMD64", *words, language="ko").stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["start"], "next: puzzle 1, Map"),
        (["hint", "p01"], "hint 1 of 3"),
        (["progress"], "0 of 2 puzzles solved"),
        (["reset", "p01"], "is the skeleton already"),
        (["solution", "p01", "--yes"], "out[i] = a[i] + 10"),
        (["diff", "p01", "--yes"], "out[i] = a[i] + 10"),
        (["list"], "p01"),
        (["cache"], "cache"),
        (["init", "mine"], "mine has"),
    ],
)
def test_a_mac_has_every_command_that_needs_no_gpu(course: Workbench, words: list[str], says: str) -> None:
    result = run_on(course, "darwin", "x86_64", *words)
    assert result.status == ExitCode.PASSED, result.stderr
    assert says in result.stdout
    assert result.stderr == ""


@pytest.mark.parametrize(
    ("system", "machine", "why"),
    [
        ("darwin", "x86_64", "the simulated GPU runs on Linux only"),
        ("linux", "aarch64", "the simulated GPU runs on x86-64 only, not on aarch64"),
    ],
)
def test_the_simulated_gpu_says_that_it_needs_linux(
    course: Workbench, system: str, machine: str, why: str
) -> None:
    course.answer(RIGHT)
    named = run_on(course, system, machine, "run", "p01", "--target", "sim")
    assert named.status == ExitCode.NOT_POSSIBLE
    assert named.stderr.startswith("error: the target `sim` is not on this machine\n")
    assert f"  why: {why}\n" in named.stderr
    assert "use a Linux machine with an x86-64 processor" in named.stderr
    chosen = run_on(course, system, machine, "run", "p01")
    assert chosen.status == ExitCode.NOT_POSSIBLE
    assert "nothing on this machine can run the program" in chosen.stderr
    assert f"sim: {why}" in chosen.stderr
    assert "/sys/class" not in chosen.stderr or system == "linux"
    assert run_on(course, system, machine, "targets").status == ExitCode.NOT_POSSIBLE
    nvidia = run_on(course, system, machine, "run", "p01", "--target", "nvidia")
    assert "`--target sim`" not in nvidia.stderr
    assert "the simulated GPU needs Linux on x86-64" in nvidia.stderr


def test_no_module_needs_linux_to_be_imported() -> None:
    command = [sys.executable, "-c", _IMPORT_ALL, str(REPOSITORY)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
