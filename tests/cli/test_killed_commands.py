"""Commands that are killed at any moment leave no process behind, and the next one works."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.book.book_copy import copy_book, leave_out_chapters
from tests.cli.conftest import HERE, REPOSITORY
from tooling.project import Project

if TYPE_CHECKING:
    from tests.cli.conftest import Workbench

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")]
MOMENTS = 20


def processes_with(variable: str) -> set[int]:
    """The processes that have this variable in their environment, and are no zombies."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if variable.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.add(int(folder.name))
        except OSError:
            continue
    return found - {os.getpid()}


def assert_nothing_is_left(variable: str) -> None:
    for _ in range(200):
        if not (left := processes_with(variable)):
            return
        time.sleep(0.05)
    raise AssertionError([Path(f"/proc/{pid}/cmdline").read_bytes() for pid in left])


def kill_at(command: list[str], folder: Path, environment: dict[str, str], seconds: float) -> bool:
    """Whether the command was still running after these seconds; it is killed then."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return True
    return False


@pytest.mark.parametrize(
    "words",
    [
        "verify --jobs 2 --only solution --only skeleton",
        "run p01",
        "matrix build --jobs 2 --accelerator sm_90a",
        "generate",
    ],
)
def test_a_command_that_is_killed_leaves_no_process(workbench: Workbench, words: str) -> None:
    workbench.add_p34()
    kill_often([str(HERE / "launcher.py"), *words.split()], workbench.root, workbench.environment)


@pytest.mark.parametrize("words", ["book build --output out", "book check"])
def test_a_command_of_the_book_that_is_killed_leaves_neither_process_nor_folder(
    tmp_path: Path, words: str
) -> None:
    root, temporary = tmp_path / "checkout", tmp_path / "tmp"
    temporary.mkdir()
    copy_book(root)
    leave_out_chapters(Project(root))
    environment = {
        **os.environ,
        "PUZZLE_CACHE_DIR": str(tmp_path / "cache"),
        "TMPDIR": str(temporary),
        "PYTHONPATH": str(REPOSITORY),
    }
    kill_often(["-m", "tooling", *words.split()], root, environment)
    assert list(temporary.iterdir()) == []
    assert [path for path in root.glob(".*.tmp") if any(path.iterdir())] == []


def kill_often(arguments: list[str], folder: Path, environment: dict[str, str]) -> None:
    """Kills a command at moments that are spread over its time; the last run must be as the first one."""
    cache = environment["PUZZLE_CACHE_DIR"]
    variable = f"PUZZLE_CACHE_DIR={cache}"
    command = [sys.executable, *arguments]
    started = time.monotonic()
    first = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    whole = time.monotonic() - started
    hit = 0
    for moment in range(MOMENTS):
        for kept in (Path(cache), folder / "build"):  # so that it has everything to do each time
            shutil.rmtree(kept, ignore_errors=True)
        hit += kill_at(command, folder, environment, whole * moment / MOMENTS)
        assert_nothing_is_left(variable)
    assert hit > MOMENTS // 4
    last = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert (last.returncode, "Traceback" in last.stderr) == (first.returncode, False), last.stderr
