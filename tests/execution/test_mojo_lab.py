"""The package `lab` of the Mojo programs: `stage` and `submit` pass whole buffers through files."""

from __future__ import annotations

import os
import struct
import subprocess
from pathlib import Path

import pytest

from tooling.execution.channel import VARIABLE, LabFolder
from tooling.project import Project
from tooling.toolchain import BuildCache, BuildRequest, build, find_toolchain

pytestmark = [
    pytest.mark.mojo,
    pytest.mark.slow,
]  # every judged program of the first tier uses the package, too
ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """\
from max.gpu.host import DeviceContext
from std.os import getenv, listdir, makedirs, remove
from std.os.path import exists
from lab import stage, submit


def use_files(folder: String) raises:
    # This declares C functions, which `lab` must not declare in another way.
    makedirs(folder, exist_ok=True)
    with open(folder + "/log.txt", "w") as log:
        log.write("launched")
    with open(folder + "/log.txt", "r") as log:
        print(log.read(), len(listdir(folder)))
    remove(folder + "/log.txt")


def main() raises:
    if getenv("LOG_FOLDER"):
        use_files(getenv("LOG_FOLDER"))
        print(input())
    with DeviceContext(api="cpu") as ctx:
        var values = ctx.enqueue_create_host_buffer[DType.int32](4)
        for i in range(4):
            values[i] = Int32(i)
        stage("values", values)
        stage("twice", values)
        for i in range(4):
            print(values[i], end=" ")
            values[i] += 1
        submit("values", values)
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that stages four numbers, adds one to each and submits them; it builds without a warning."""
    folder = tmp_path_factory.mktemp("lab")
    source = folder / "program.mojo"
    source.write_text(PROGRAM)
    request = BuildRequest(source, includes=(Project(ROOT).problems,))
    executable = build(request, find_toolchain(), BuildCache(folder / "cache"))
    assert executable.diagnostics == ()
    return executable.path


def run(program: Path, folder: Path | None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    if folder:
        if folder.is_dir():
            LabFolder(folder).create()
        environment[VARIABLE] = str(folder)
    return subprocess.run([program], env=environment, capture_output=True, text=True, check=False)


def test_whole_buffers_pass_through_files(program: Path, tmp_path: Path) -> None:
    assert run(program, tmp_path).stdout == "0 1 2 3 "
    assert (tmp_path / "used" / "values.int32.bin").read_bytes() == struct.pack("<4i", 0, 1, 2, 3)
    assert (tmp_path / "used" / "twice.int32.bin").read_bytes() == struct.pack("<4i", 0, 1, 2, 3)
    assert (tmp_path / "out" / "values.int32.bin").read_bytes() == struct.pack("<4i", 1, 2, 3, 4)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "values.bin").write_bytes(struct.pack("<4i", 10, 20, 30, 40))
    assert run(program, tmp_path).stdout == "10 20 30 40 "
    assert (tmp_path / "used" / "values.int32.bin").read_bytes() == struct.pack("<4i", 10, 20, 30, 40)
    assert (tmp_path / "out" / "values.int32.bin").read_bytes() == struct.pack("<4i", 11, 21, 31, 41)


def test_a_program_may_use_files_of_its_own(program: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "LOG_FOLDER": str(tmp_path / "logs")}
    environment.pop(VARIABLE, None)
    result = subprocess.run(
        [program], env=environment, input="typed\n", capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stdout) == (0, "launched 1\ntyped\n0 1 2 3 ")


def test_without_a_judge_nothing_is_written(program: Path, tmp_path: Path) -> None:
    result = run(program, None)
    assert (result.returncode, result.stdout) == (0, "0 1 2 3 ")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("size", [0, 15, 17])
def test_a_staged_file_of_another_size_is_refused(program: Path, tmp_path: Path, size: int) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "values.bin").write_bytes(bytes(size))
    result = run(program, tmp_path)
    assert result.returncode != 0
    assert f"lab: {tmp_path}/in/values.bin cannot be read, or does not have the size" in result.stderr
    assert "16 bytes of int32" in result.stderr


def test_a_folder_that_cannot_be_written_is_named(program: Path, tmp_path: Path) -> None:
    result = run(program, tmp_path / "missing")
    assert result.returncode != 0
    assert f"lab: {tmp_path}/missing/used/values.int32.bin cannot be written" in result.stderr
