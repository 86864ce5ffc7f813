"""A run on a simulated GPU of which one side is killed: the tool, or the program inside a kernel."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import Struct

from tests.cli.conftest import REPOSITORY
from tests.machine import is_alive, needs_simulated_gpu
from tests.simulator.amd.code_objects import program
from tooling.simulator.server.session import Simulation, SimulationOptions

pytestmark = [pytest.mark.mojo, needs_simulated_gpu]

EACH_GPU = pytest.mark.parametrize(
    ("accelerator", "gpu"), [pytest.param("sm_90a", "nvidia", marks=pytest.mark.slow), ("gfx942", "gfx942")]
)
"""What the program is built for, and the simulated GPU: the stand-in libraries of both vendors."""


class Run(Struct, frozen=True):
    """`tooling simulate` while its program is inside a kernel that does not end.

    Attributes:
        started: the programs and helpers that the tool has started.
        program: the one that launched the kernel.
        socket: the name of the simulated GPU's socket.
    """

    tool: subprocess.Popen[str]
    started: tuple[int, ...]
    program: int
    socket: str


@contextlib.contextmanager
def running(accelerator: str, gpu: str, temporary: Path) -> Iterator[Run]:
    """A run whose temporary files are in the folder `temporary`."""
    executable = program("defects", accelerator)
    with Simulation(SimulationOptions(instruction_set="ptx" if gpu == "nvidia" else gpu)):
        pass  # the stand-in libraries are built
    options = ["--gpu", gpu, "--lang", "en"]
    command = [sys.executable, "-m", "tooling", "simulate", *options, "--", str(executable), "endless"]
    environment = os.environ | {"TMPDIR": str(temporary)}
    with subprocess.Popen(
        command, cwd=REPOSITORY, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as tool:
        try:
            yield wait_for_the_kernel(tool, executable)
        finally:
            tool.kill()


def wait_for_the_kernel(tool: subprocess.Popen[str], executable: Path) -> Run:
    for _ in range(600):
        time.sleep(0.1)
        assert tool.poll() is None
        started = children(tool.pid)
        for pid in started:
            with contextlib.suppress(OSError):
                if Path(f"/proc/{pid}/exe").readlink() == executable.resolve():
                    name = socket_of(pid)
                    if sockets().count(name) > 1:  # the program has connected
                        time.sleep(1)
                        return Run(tool, started, pid, name)
    raise AssertionError("the program has not connected to the simulated GPU")


def children(pid: int) -> tuple[int, ...]:
    return tuple(
        int(child)
        for path in Path(f"/proc/{pid}/task").glob("*/children")
        for child in path.read_text().split()
    )


def socket_of(pid: int) -> str:
    """The socket that a program was given."""
    variables = Path(f"/proc/{pid}/environ").read_text().split("\0")
    return next(each.partition("=")[2] for each in variables if each.startswith("GPU_SIM_SOCKET="))


def sockets() -> list[str]:
    """The names of all sockets of the machine in the abstract namespace, once for each end that has it."""
    return [line.rpartition(" @")[2] for line in Path("/proc/net/unix").read_text().splitlines()]


def assert_nothing_is_left(run: Run, temporary: Path) -> None:
    assert not [pid for pid in (run.tool.pid, *run.started) if is_alive(pid)]
    assert run.socket not in sockets()
    assert list(temporary.iterdir()) == []


def files_in_shared_memory(*pids: int) -> list[str]:
    """The mapped files that would outlive the processes."""
    maps = [line for pid in pids for line in Path(f"/proc/{pid}/maps").read_text().splitlines()]
    return [line for line in maps if "/dev/shm/" in line]


@EACH_GPU
def test_a_tool_that_is_killed_leaves_nothing(accelerator: str, gpu: str, tmp_path: Path) -> None:
    with running(accelerator, gpu, tmp_path) as run:
        assert len(run.started) > 1  # the program, and what ends it
        assert files_in_shared_memory(run.tool.pid, run.program) == []
        run.tool.kill()
        run.tool.wait(30)
        assert_nothing_is_left(run, tmp_path)


@EACH_GPU
def test_a_program_that_is_killed_leaves_nothing(accelerator: str, gpu: str, tmp_path: Path) -> None:
    with running(accelerator, gpu, tmp_path) as run:
        os.kill(run.program, signal.SIGKILL)
        output, _ = run.tool.communicate(timeout=60)
        assert output.splitlines()[-1] == "1 launch, 0 findings; the program was ended by SIGKILL"
        assert run.tool.returncode == 1
        assert_nothing_is_left(run, tmp_path)
