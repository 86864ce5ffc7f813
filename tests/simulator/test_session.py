"""A simulation from the tool's side: what programs ask and get, and that nothing is left of it."""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.machine import needs_simulated_gpu
from tests.simulator.driver_cases import PTX
from tests.simulator.driver_lab import NO_LIBRARIES, Client
from tests.simulator.helpers import RecordOnly
from tooling.simulator.engine.executor import Job
from tooling.simulator.gpu.driver_results import DriverResult
from tooling.simulator.gpu.launch import Dim3, FaultKind, KernelFault, LaunchResult
from tooling.simulator.nvidia.ptx.errors import PtxError
from tooling.simulator.server.protocol import (
    ARENA_BASE,
    MAGIC,
    REQUEST_HEADER,
    REQUESTS,
    VERSION,
    MemoryKind,
    Opcode,
)
from tooling.simulator.server.session import Simulation, SimulationOptions
from tooling.text import Text

pytestmark = needs_simulated_gpu  # its server and its arena are Linux's

_U64 = struct.Struct("<Q")
_ONE = (1, 1, 1)
_PYTHON_FOR_ALL = shutil.which("python3", path="/usr/bin:/bin")


class Scripted(RecordOnly):
    """An executor that a test controls: print, fault or fail."""

    def __init__(self, *, output: bytes = b"", raises: Exception | None = None) -> None:
        self._output = output
        self._raises = raises

    def run(self, job: Job) -> LaunchResult:
        job.stdout(self._output)
        if isinstance(self._raises, KernelFault):
            return LaunchResult(1, 1, 0, error=self._raises)
        if self._raises is not None:
            raise self._raises
        return LaunchResult(1, 32, 1)


def simulation(executor: RecordOnly | None = None) -> Simulation:
    return Simulation(libraries=NO_LIBRARIES, executor=executor or RecordOnly())


def allocate(client: Client, size: int, kind: MemoryKind = MemoryKind.DEVICE) -> int:
    status, answer, _ = client.ask(Opcode.ALLOCATE, size, kind)
    assert status == 0
    return int(_U64.unpack(answer)[0])


def load(client: Client, kernel: str = "store") -> int:
    """The handle of a kernel of the test module."""
    status, answer, _ = client.ask(Opcode.LOAD_MODULE, tail=PTX.rstrip(b"\0"))
    assert status == 0, answer
    status, answer, _ = client.ask(Opcode.FUNCTION, *_U64.unpack(answer), tail=kernel.encode())
    assert status == 0
    return int(_U64.unpack_from(answer)[0])


def launch(client: Client, function: int, parameters: bytes = bytes(12)) -> tuple[int, bytes, bytes]:
    return client.ask(Opcode.LAUNCH, function, *(2, 1, 1), *(32, 1, 1), *_ONE, 0, 0, 0, tail=parameters)


def test_a_launch_is_recorded_with_its_shape() -> None:
    with simulation() as gpu:
        client = Client(gpu).hello()
        assert launch(client, load(client))[0] == 0
    (record,) = gpu.records
    assert record.launch.function.name == "store"
    assert (record.launch.grid, record.launch.block) == (Dim3(2, 1, 1), Dim3(32, 1, 1))
    assert gpu.launches == [record.result]


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        pytest.param(lambda a: (Opcode.WRITE, a, 64, 1, 64), 0, id="write-all"),
        pytest.param(lambda a: (Opcode.WRITE, a + 60, 4, 1, 4), 0, id="write-the-end"),
        pytest.param(lambda a: (Opcode.WRITE, a, 65, 1, 65), 1, id="write-past-the-end"),
        pytest.param(lambda a: (Opcode.WRITE, a - 1, 4, 1, 4), 1, id="write-before-the-start"),
        pytest.param(lambda a: (Opcode.WRITE, a, 8, 4, 16), 0, id="write-rows"),
        pytest.param(lambda a: (Opcode.WRITE, a, 8, 5, 16), 1, id="write-a-row-too-many"),
        pytest.param(lambda a: (Opcode.WRITE, a, 2**64 - 1, 2, 2**64 - 1), 1, id="write-absurdly-much"),
        pytest.param(lambda a: (Opcode.READ, a, 64), 0, id="read-all"),
        pytest.param(lambda a: (Opcode.READ, a + 1, 64), 1, id="read-past-the-end"),
        pytest.param(lambda a: (Opcode.READ, 0, 4), 1, id="read-nowhere"),
        pytest.param(lambda a: (Opcode.COPY, a, a + 32, 32), 0, id="copy-inside"),
        pytest.param(lambda a: (Opcode.COPY, a, a + 32, 33), 1, id="copy-past-the-end"),
        pytest.param(lambda a: (Opcode.FREE, a, MemoryKind.PINNED), 1, id="free-as-pinned"),
        pytest.param(lambda a: (Opcode.FREE, a + 4, MemoryKind.DEVICE), 1, id="free-inside"),
        pytest.param(lambda a: (Opcode.FREE, a, MemoryKind.DEVICE), 0, id="free"),
        pytest.param(lambda a: (Opcode.ALLOCATE, 0, MemoryKind.DEVICE), 1, id="allocate-nothing"),
        pytest.param(lambda a: (Opcode.ALLOCATE, 1 << 40, MemoryKind.DEVICE), 2, id="allocate-too-much"),
        pytest.param(lambda a: (Opcode.ALLOCATE, 1 << 50, MemoryKind.PINNED), 2, id="pin-too-much"),
    ],
)
def test_ranges_are_held_against_the_allocations(
    request_: Callable[[int], tuple[Opcode, *tuple[int, ...]]], expected: int
) -> None:
    with simulation() as gpu:
        client = Client(gpu).hello()
        opcode, *fields = request_(allocate(client, 64))
        assert client.ask(opcode, *fields)[0] == expected


def test_a_copy_to_a_freed_buffer_is_refused() -> None:
    with simulation() as gpu:
        client = Client(gpu).hello()
        address = allocate(client, 64)
        assert client.ask(Opcode.FREE, address, MemoryKind.DEVICE)[0] == 0
        assert client.ask(Opcode.WRITE, address, 4, 1, 4)[0] == 1
        assert client.ask(Opcode.RANGE, address)[0] == 500


def test_free_memory_does_not_include_pinned_memory() -> None:
    with simulation() as gpu:
        client = Client(gpu).hello()
        allocate(client, 1 << 20)
        allocate(client, 1 << 30, MemoryKind.PINNED)
        free, total = struct.unpack("<QQ", client.ask(Opcode.MEMORY_INFO)[1])
        assert total - free == 1 << 20


def test_kernel_output_comes_with_the_next_launch_and_with_synchronising() -> None:
    with simulation(Scripted(output=b"hello\n")) as gpu:
        client = Client(gpu).hello()
        function = load(client)
        assert launch(client, function)[2] == b""
        assert launch(client, function)[2] == b"hello\n"
        assert client.ask(Opcode.MEMORY_INFO)[2] == b""
        assert client.ask(Opcode.SYNCHRONISE)[2] == b"hello\n"
        assert client.ask(Opcode.SYNCHRONISE)[2] == b""


class Talkative(RecordOnly):
    """An executor whose kernels print 100 times 100,000 bytes."""

    def run(self, job: Job) -> LaunchResult:
        for number in range(100):
            job.stdout(b"%2d" % number + bytes(99_997) + b"\n")
        return LaunchResult(1, 32, 1)


@pytest.mark.parametrize(
    ("language", "message"),
    [
        ("en", "[14 earlier prints are lost: a GPU keeps the last 8650752 bytes that kernels print"),
        ("ko", "[앞서 출력한 14건은 사라졌습니다."),
    ],
)
def test_the_last_output_of_kernels_is_kept_as_on_hardware(language: str, message: str) -> None:
    options = SimulationOptions(language=language)
    with Simulation(options, libraries=NO_LIBRARIES, executor=Talkative()) as gpu:
        client = Client(gpu).hello()
        launch(client, load(client))
        head, *prints, end = client.ask(Opcode.SYNCHRONISE)[2].split(b"\n")
        assert head.decode().startswith(message)
        assert [int(text[:2]) for text in prints] == list(range(14, 100))
        assert end == b""
        assert client.ask(Opcode.SYNCHRONISE)[2] == b""


def test_a_fault_stays_and_its_output_is_still_shown() -> None:
    fault = KernelFault(FaultKind.ILLEGAL_ADDRESS, Text("a wild store", "엉뚱한 저장"))
    with simulation(Scripted(output=b"last words\n", raises=fault)) as gpu:
        client = Client(gpu).hello()
        assert launch(client, load(client))[0] == 0
        assert client.ask(Opcode.SYNCHRONISE) == (700, b"", b"last words\n")
        assert client.ask(Opcode.ALLOCATE, 4, MemoryKind.DEVICE)[0] == 700
        assert Client(gpu).hello().ask(Opcode.SYNCHRONISE)[0] == 0, "another program is not concerned"
    assert gpu.launches[0].error is fault


def test_what_cannot_be_simulated_is_kept_for_the_report() -> None:
    error = PtxError("no such thing", line=3)
    with simulation(Scripted(raises=error)) as gpu:
        client = Client(gpu).hello()
        assert launch(client, load(client))[0] == DriverResult.NOT_SIMULATED
        assert client.ask(Opcode.SYNCHRONISE)[0] == 719
        assert client.ask(Opcode.LOAD_MODULE, tail=PTX)[0] == 719
    assert gpu.errors == [error]


def test_a_module_that_cannot_be_read_is_refused_with_the_reason() -> None:
    with simulation() as gpu:
        client = Client(gpu).hello()
        status, log, _ = client.ask(Opcode.LOAD_MODULE, tail=b".version 8.5\n.target sm_90a\n.nonsense\n")
        assert status == 218
        assert b"PTX line 3" in log
    assert [str(error).encode() for error in gpu.errors] == [log]


def test_a_defect_of_the_simulator_is_raised_when_the_simulation_ends() -> None:
    with pytest.raises(ZeroDivisionError), simulation(Scripted(raises=ZeroDivisionError())) as gpu:
        client = Client(gpu).hello()
        assert launch(client, load(client))[0] == 999


def test_unfreed_memory_is_found_when_the_program_ends() -> None:
    with simulation() as gpu:
        client = Client(gpu).hello()
        allocate(client, 64)
        client.socket.close()
    assert [finding.kind.value for finding in gpu.findings] == ["leak"]


def test_reading_back_what_a_launch_left_unwritten_is_found() -> None:
    with simulation() as gpu:
        client = Client(gpu).hello()
        address = allocate(client, 64)
        assert client.ask(Opcode.READ, address, 64)[0] == 0, "mapping a fresh buffer to fill it is no mistake"
        assert gpu.findings == []
        launch(client, load(client))
        assert client.ask(Opcode.READ, address, 64)[0] == 0
        assert client.ask(Opcode.FREE, address, MemoryKind.DEVICE)[0] == 0
    assert [finding.kind.value for finding in gpu.findings] == ["unwritten-copy"]


def test_copies_of_unwritten_memory_are_unwritten() -> None:
    with simulation() as gpu:
        client = Client(gpu).hello()
        origin, target = allocate(client, 64), allocate(client, 64)
        assert client.ask(Opcode.WRITE, origin, 16, 1, 16)[0] == 0
        assert client.ask(Opcode.WRITE, target, 64, 1, 64)[0] == 0
        assert client.ask(Opcode.COPY, target, origin, 32)[0] == 0
        launch(client, load(client))
        assert client.ask(Opcode.READ, target, 64)[0] == 0
        for address in (origin, target):
            assert client.ask(Opcode.FREE, address, MemoryKind.DEVICE)[0] == 0
    (finding,) = gpu.findings
    assert (finding.kind.value, finding.offset, finding.size) == ("unwritten-copy", 16, 16)


def test_without_checks_there_are_no_findings() -> None:
    options = SimulationOptions(checks=frozenset())
    with Simulation(options, libraries=NO_LIBRARIES, executor=RecordOnly()) as gpu:
        allocate(Client(gpu).hello(), 64)
    assert gpu.findings == []


def test_nothing_is_left() -> None:
    gc.collect()
    before = set(os.listdir("/proc/self/fd"))  # noqa: PTH208 - names of descriptors, not of files
    threads = threading.active_count()
    with simulation() as gpu:
        clients = [Client(gpu).hello() for _ in range(3)]
        allocate(clients[0], 1 << 20)
    assert all(client.hung_up() for client in clients)
    del gpu, clients
    gc.collect()
    assert set(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
    assert threading.active_count() == threads


def test_simulations_do_not_see_each_other() -> None:
    with simulation() as one, simulation() as two:
        assert one.environment["GPU_SIM_SOCKET"] != two.environment["GPU_SIM_SOCKET"]
        first, second = Client(one).hello(), Client(two).hello()
        address = allocate(first, 64)
        assert second.ask(Opcode.READ, address, 64)[0] == 1
        function = load(first)
        launch(first, function)
    assert (len(one.records), len(two.records)) == (1, 0)


def test_programs_of_one_simulation_do_not_share_memory() -> None:
    with simulation() as gpu:
        first, second = Client(gpu).hello(), Client(gpu).hello()
        address = allocate(first, 64)
        assert second.ask(Opcode.WRITE, address, 64, 1, 64)[0] == 1


def test_the_environment_keeps_the_callers_library_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/한글 lib")
    with simulation() as gpu:
        assert gpu.environment["LD_LIBRARY_PATH"] == "/nowhere:/nowhere:/opt/한글 lib"


def test_only_pytorchs_warning_about_cuda_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONWARNINGS", "error:mine")
    code = """
import warnings
for text in ("CUDA initialization: Unexpected error from cudaGetDeviceCount().", "CUDA is old", "mine"):
    try:
        warnings.warn(text)
    except UserWarning as raised:
        print("raised:", raised)
"""
    with simulation() as gpu:
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, **gpu.environment, "LD_LIBRARY_PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        )
    assert done.stdout == "raised: mine\n"
    assert [line for line in done.stderr.splitlines() if "Warning" in line] == [
        "<string>:5: UserWarning: CUDA is old"
    ]


def test_graphs_get_a_cache_of_their_own(tmp_path: Path) -> None:
    options = SimulationOptions(graph_cache=tmp_path)
    with Simulation(options, libraries=NO_LIBRARIES, executor=RecordOnly()) as gpu:
        assert gpu.environment["MODULAR_CACHE_DIR"] == str(tmp_path)


@pytest.mark.skipif(
    os.getuid() != 0 or _PYTHON_FOR_ALL is None, reason="only root can start a process of another user"
)
def test_another_user_is_not_let_in() -> None:
    code = (
        "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(b'\\0' + sys.argv[1].encode())\n"
        "sys.exit(0 if s.recv(1) == b'' else 1)"
    )
    with simulation() as gpu:
        name = gpu.environment["GPU_SIM_SOCKET"]
        done = subprocess.run([str(_PYTHON_FOR_ALL), "-c", code, name], user=65534, timeout=30, check=False)
    assert done.returncode == 0


@pytest.mark.parametrize("foreign", [True, False])
def test_a_program_is_judged_by_its_user_and_not_by_the_name_that_it_knows(
    monkeypatch: pytest.MonkeyPatch, foreign: bool
) -> None:
    """Without a second user: the simulator takes itself for another one."""
    with simulation() as gpu:
        own = os.getuid()
        monkeypatch.setattr(os, "getuid", lambda: own + foreign)
        with socket.socket(socket.AF_UNIX) as program:
            program.settimeout(30)
            program.connect(b"\0" + gpu.environment["GPU_SIM_SOCKET"].encode())
            shape = REQUESTS[Opcode.HELLO].request
            body = shape.pack(MAGIC, VERSION, os.getpid(), ARENA_BASE)
            with contextlib.suppress(OSError):  # it may have been closed already
                program.sendall(REQUEST_HEADER.pack(Opcode.HELLO, len(body)) + body)
            try:
                answer = program.recv(1 << 16)
            except ConnectionError:
                answer = b""
    assert (answer == b"") == foreign
