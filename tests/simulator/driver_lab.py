"""Helpers of the driver tests: the built driver libraries, a client in Python, programs in subprocesses."""

from __future__ import annotations

import functools
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.simulator.helpers import encode_request
from tooling.simulator.server.libraries import Libraries, find_libraries
from tooling.simulator.server.protocol import (
    ARENA_BASE,
    MAGIC,
    REPLY_HEADER,
    VERSION,
    Opcode,
    receive_exactly,
)
from tooling.simulator.server.session import Simulation
from tooling.toolchain import BuildRequest, build, find_toolchain, open_cache

HERE = Path(__file__).parent
CASES = HERE / "driver_cases.py"
NO_LIBRARIES = Libraries(Path("/nowhere"), Path("/nowhere"))


@functools.cache
def stand_ins() -> Libraries:
    """The stand-in libraries, built once and cached across runs of the tests."""
    return find_libraries(find_toolchain(), open_cache())


@functools.cache
def program(name: str = "driver_program") -> Path:
    """`programs/<name>.mojo`, built for the simulated GPU."""
    request = BuildRequest(HERE / "programs" / f"{name}.mojo", accelerator="sm_90a")
    return build(request, find_toolchain(), open_cache()).path


def environment(simulation: Simulation) -> dict[str, str]:
    """The environment of a program of this simulation."""
    return os.environ | simulation.environment


def run(simulation: Simulation, *command: str | Path, limit: float = 120) -> subprocess.CompletedProcess[str]:
    """Run a program in a simulation to its end."""
    return subprocess.run(
        [str(part) for part in command],
        env=environment(simulation),
        capture_output=True,
        text=True,
        timeout=limit,
        check=False,
    )


def run_python(simulation: Simulation, code: str) -> subprocess.CompletedProcess[str]:
    """Run Python code with the `Driver` of driver_cases in a subprocess."""
    head = f"import sys; sys.path.insert(0, {str(HERE)!r}); from driver_cases import *\n"
    return run(simulation, sys.executable, "-c", head + code)


class Client:
    """A client of the protocol in Python, which needs no Mojo."""

    def __init__(self, simulation: Simulation) -> None:
        self.socket = connect(simulation)

    def __del__(self) -> None:
        self.socket.close()  # when the test drops its last reference

    def ask(self, opcode: Opcode, *fields: int, tail: bytes = b"") -> tuple[int, bytes, bytes]:
        """Status, answer and kernel output of one request."""
        self.send(opcode, *fields, tail=tail)
        return self.reply()

    def send(self, opcode: Opcode, *fields: int, tail: bytes = b"") -> None:
        """Send a request; `reply` waits for the result."""
        self.socket.sendall(encode_request(opcode, *fields, tail=tail))

    def reply(self) -> tuple[int, bytes, bytes]:
        """The next reply."""
        status, answer, output = REPLY_HEADER.unpack(receive_exactly(self.socket, REPLY_HEADER.size))
        return status, receive_exactly(self.socket, answer), receive_exactly(self.socket, output)

    def hello(self) -> Client:
        """Send a valid HELLO request."""
        assert self.ask(Opcode.HELLO, MAGIC, VERSION, os.getpid(), ARENA_BASE)[0] == 0
        return self

    def hung_up(self) -> bool:
        """Whether the simulator has closed the connection (waits for it)."""
        try:
            return self.socket.recv(1) == b""
        except ConnectionError:
            return True


def connect(simulation: Simulation) -> socket.socket:
    """A connection without a HELLO request."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(30)
    connection.connect(b"\0" + simulation.environment["GPU_SIM_SOCKET"].encode())
    return connection


def symbols() -> Sequence[str]:
    """Every name that Mojo 1.2 looks up when it starts a GPU."""
    return (HERE / "data" / "driver_symbols.txt").read_text().split()
