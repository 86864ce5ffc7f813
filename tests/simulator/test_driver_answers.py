"""The simulated driver through its C interface: its results are those recorded from an H200's driver."""

from __future__ import annotations

import ctypes
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.machine import needs_simulated_gpu
from tests.simulator.driver_cases import GROUPS, PTX
from tests.simulator.driver_lab import (
    CASES,
    HERE,
    environment,
    run,
    run_python,
    stand_ins,
    symbols,
)
from tests.simulator.helpers import RecordOnly
from tests.simulator.instructions import tensor_cases
from tests.simulator.test_tensors_on_h200 import packed
from tooling.simulator.backends import default_backend
from tooling.simulator.engine.executor import Engine
from tooling.simulator.gpu.launch import FaultKind
from tooling.simulator.server.libraries import Libraries
from tooling.simulator.server.protocol import ARENA_BASE, ARENA_BYTES
from tooling.simulator.server.session import Simulation, SimulationOptions

pytestmark = [pytest.mark.mojo, needs_simulated_gpu]

LIBRARIES = default_backend().stand_ins.names

RECORDED = json.loads((HERE / "data" / "driver_answers.json").read_text(encoding="utf-8"))

NOT_HERE = (
    *(83, 89, 91, 103, 107, 110, 112, 113, 114, 115, 116, 117, 118, 119, 121, 122, 123, 124, 125),
    *(128, 141, 142, 144, 145),
)
"""Device attributes of H200 features that the simulated GPU does not support (see `device.ATTRIBUTES`)."""

DIFFERENCES = {f"cuDeviceGetAttribute {number}" for number in NOT_HERE} | {
    f"cuFuncGetAttribute 4 {kernel}"  # registers: the simulator allocates none
    for kernel in ("store", "fixed_shared", "bounded", "required", "clustered")
}


def simulation(*, record_only: bool = False) -> Simulation:
    options = SimulationOptions(checks=frozenset())
    return Simulation(options, libraries=stand_ins(), executor=RecordOnly() if record_only else None)


@pytest.mark.parametrize("group", GROUPS)
def test_answers_are_those_of_an_h200(group: str) -> None:
    with simulation() as gpu:
        done = run(gpu, sys.executable, CASES, group)
    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout)
    recorded = RECORDED[group]
    assert answers.keys() == recorded.keys()
    different = {question for question in recorded if answers[question] != recorded[question]}
    assert different == DIFFERENCES & recorded.keys()


@pytest.mark.parametrize(
    ("shape", "why"),
    [
        ("block=(2048, 1, 1)", "block (2048, 1, 1) is larger than (1024, 1024, 64)"),
        ("block=(64, 32, 1)", "a block of 2048 threads; at most 1024 are possible"),
        ("grid=(0, 1, 1)", "grid (0, 1, 1) and block (1, 1, 1) must be at least 1"),
        ("shared=50000", "50000 bytes of dynamic shared memory besides 0 of the kernel's own; at most 49152"),
        ("grid=(3, 1, 1), cluster=(2, 1, 1)", "grid (3, 1, 1) is not a multiple of the cluster (2, 1, 1)"),
    ],
)
def test_a_rejected_launch_has_a_reason(shape: str, why: str) -> None:
    code = f"d = Driver().start()\nprint(d.launch(d.function('store'), {shape}) > 0)"
    with simulation(record_only=True) as gpu:
        done = run_python(gpu, code)
    assert done.stdout == "True\n"
    assert done.stderr.startswith(f"simulated GPU: store cannot be launched: {why}")


def test_the_limit_is_reported_for_a_kernel_that_declares_too_much_shared_memory() -> None:
    code = """
text = PTX.replace(b"{", b"{ .shared .align 4 .b8 cells[65536];", 1)
d = Driver().start()
assert d("cuModuleLoadDataEx", ctypes.byref(d.module), text, 0, None, None) == 0
print(d.launch(d.function("store")) > 0)
"""
    with simulation(record_only=True) as gpu:
        done = run_python(gpu, code)
    assert done.stdout == "True\n"
    assert "the kernel reserves 65536 bytes of shared memory; a block has 49152" in done.stderr


def test_the_reason_is_reported_for_more_dynamic_shared_memory_than_a_block_has() -> None:
    code = 'd = Driver().start(); print(d("cuFuncSetAttribute", d.function("store"), 8, 233472))'
    with simulation(record_only=True) as gpu:
        done = run_python(gpu, code)
    assert done.stdout == "1\n"
    assert done.stderr.startswith(
        "simulated GPU: store: MAX_DYNAMIC_SHARED_SIZE_BYTES cannot be 233472: a block has at most 232448 "
    )


def test_memory_mapped_at_two_addresses_has_the_same_content() -> None:
    code = """
import driver_work_cases as work
d = Driver().start()
properties, allowed = work.Properties(1, 0, work.Location(1, 0)), work.Access(work.Location(1, 0), 3)
size, address, handle, again, flags = ctypes.c_size_t(2 << 20), U64(), U64(), U64(), U64(9)
assert d("cuMemCreate", ctypes.byref(handle), size, ctypes.byref(properties), U64(0)) == 0
assert d("cuMemAddressReserve", ctypes.byref(address), ctypes.c_size_t(4 << 20), size, U64(0), U64(0)) == 0
one, two = U64(address.value), U64(address.value + (2 << 20))
for mapped in (one, two):
    assert d("cuMemMap", mapped, size, ctypes.c_size_t(0), handle, U64(0)) == 0
print(d("cuMemcpyHtoD_v2", one, b"abcdefgh", ctypes.c_size_t(8)), "before it is allowed")
print(d("cuMemSetAccess", one, ctypes.c_size_t(4 << 20), ctypes.byref(allowed), ctypes.c_size_t(1)))
print(d("cuMemGetAccess", ctypes.byref(flags), ctypes.byref(work.Location(1, 0)), two), flags.value)
print(d("cuMemRetainAllocationHandle", ctypes.byref(again), two), again.value == handle.value)
d("cuMemcpyHtoD_v2", one, b"abcdefgh", ctypes.c_size_t(8))
d.launch(d.function("store"), arguments=(two, U32(0x21212121)))
seen = ctypes.create_string_buffer(9)
for mapped in (one, two):
    d("cuMemcpyDtoH_v2", seen, mapped, ctypes.c_size_t(8))
    print(seen.value)
print(d("cuMemUnmap", one, size), d("cuMemcpyDtoH_v2", seen, one, ctypes.c_size_t(8)))
print(d("cuMemRelease", handle), d("cuMemRelease", handle), d("cuMemRelease", handle))
d("cuMemcpyDtoH_v2", seen, two, ctypes.c_size_t(8))
print(seen.value, d("cuMemAddressFree", one, ctypes.c_size_t(4 << 20)))
"""
    with simulation() as gpu:
        done = run_python(gpu, code)
    assert done.stdout.splitlines() == [
        "1 before it is allowed", "0", "0 3", "0 True", "b'!!!!efgh'", "b'!!!!efgh'", "0 1", "0 0 1",
        "b'!!!!efgh' 1",
    ], done.stderr  # fmt: skip


def test_an_im2col_map_is_encoded_as_in_the_recorded_cases() -> None:
    code = """
from tests.simulator.instructions import record_tensors, tensor_cases
from tests.simulator.instructions.record import Driver
from tests.simulator.simulate import BASE
import ctypes, json
driver, address = Driver(), ctypes.c_uint64(BASE)
cases = [case for case in tensor_cases.cases() if not case.map.box]
print(json.dumps([bytes(record_tensors.encode(driver, case, address)).hex() for case in cases]))
"""
    cases = [case for case in tensor_cases.cases() if not case.map.box]
    with simulation(record_only=True) as gpu:
        done = run_python(gpu, code)
    assert json.loads(done.stdout) == [packed(case.map).hex() for case in cases], done.stderr


def test_every_name_that_mojo_looks_up_is_exported() -> None:
    code = """
import json
found = {}
for library in ("libcuda.so.1", "libnvidia-ml.so.1", "libNVPTX.so"):
    handle = ctypes.CDLL(library)
    found[library] = [name for name in NAMES if hasattr(handle, name)]
print(json.dumps(found))
"""
    compiler = ("Create", "Destroy", "Compile", "GetCompiledProgramSize", "GetCompiledProgram", "GetVersion")
    logs = ("GetErrorLogSize", "GetErrorLog", "GetInfoLogSize", "GetInfoLog")
    names = [*symbols(), *(f"nvPTXCompiler{name}" for name in (*compiler, *logs))]
    with simulation(record_only=True) as gpu:
        done = run_python(gpu, code.replace("NAMES", repr(names)))
    found = json.loads(done.stdout)
    assert {library: sorted(found[library]) for library in found} == {
        library: sorted(names) for library in LIBRARIES
    }


def test_an_unsupported_function_reports_its_name() -> None:
    source = (Path(__file__).parents[2] / "tooling/simulator/nvidia/driver/unsupported.mojo").read_text()
    names = [line.split('"')[1] for line in source.splitlines() if line.startswith("@export")]
    assert len(names) > 10
    with simulation(record_only=True) as gpu:
        done = run_python(gpu, f"d = Driver().start()\nprint([d(n) for n in {names!r}])")
    assert json.loads(done.stdout) == [801] * len(names)
    assert done.stderr.splitlines() == [f"simulated GPU: {name} is not supported" for name in names]


def test_an_elapsed_time_is_an_hour_and_announced_once() -> None:
    code = """
d = Driver().start()
one, two, time = PTR(), PTR(), ctypes.c_float(-1)
for event in (one, two):
    d("cuEventCreate", ctypes.byref(event), 0), d("cuEventRecord", event, None)
for _ in range(2):
    print(d("cuEventElapsedTime", ctypes.byref(time), one, two), time.value)
"""
    with simulation(record_only=True) as gpu:
        done = run_python(gpu, code)
    assert done.stdout == "0 3600000.0\n" * 2
    assert done.stderr.count("asks for times") == 1


def test_the_ptx_compiler_returns_the_text() -> None:
    code = """
c = ctypes.CDLL("libNVPTX.so")
handle, size, text = PTR(), ctypes.c_size_t(), b".version 8.5"
print(c.nvPTXCompilerCreate(ctypes.byref(handle), ctypes.c_size_t(len(text)), text))
print(c.nvPTXCompilerCompile(handle, 0, None))
print(c.nvPTXCompilerGetCompiledProgramSize(handle, ctypes.byref(size)), size.value)
program = ctypes.create_string_buffer(size.value)
print(c.nvPTXCompilerGetCompiledProgram(handle, program), program.raw)
print(c.nvPTXCompilerDestroy(ctypes.byref(handle)), handle.value)
"""
    with simulation(record_only=True) as gpu:
        done = run_python(gpu, code)
    assert done.stdout.splitlines() == ["0", "0", "0 13", r"0 b'.version 8.5\x00'", "0 None"]


def test_nvml_reports_the_same_device_as_the_driver() -> None:
    code = """
n, d = ctypes.CDLL("libnvidia-ml.so.1"), Driver()
print(n.nvmlInit_v2())
count, device, major, minor = U32(), PTR(), I32(), I32()
n.nvmlDeviceGetCount_v2(ctypes.byref(count)), n.nvmlDeviceGetHandleByIndex(0, ctypes.byref(device))
n.nvmlDeviceGetCudaComputeCapability(device, ctypes.byref(major), ctypes.byref(minor))
name, name2, memory = ctypes.create_string_buffer(96), ctypes.create_string_buffer(96), (U64 * 3)()
n.nvmlDeviceGetName(device, name, 96), n.nvmlDeviceGetMemoryInfo(device, memory)
d.start()("cuDeviceGetName", name2, 96, 0)
free, total = ctypes.c_size_t(), ctypes.c_size_t()
d("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
print(count.value, major.value, minor.value, name.value == name2.value, memory[0] == total.value, memory[2])
"""
    with simulation(record_only=True) as gpu:
        done = run_python(gpu, code)
    assert done.stdout.splitlines() == ["0", "1 9 0 True True 0"]
    assert len(gpu.gpu.contexts) == 1, "driver and NVML share one connection"


def test_the_parameters_of_a_launch_arrive() -> None:
    code = """
d = Driver().start()
values = (ctypes.c_uint8(7), (ctypes.c_uint8 * 24)(*range(24)), U32(9), ctypes.c_double(1.5))
mixed = d.function("mixed")
print(d.launch(mixed, arguments=values), d.launch(mixed, arguments=values, old=True))
"""
    with simulation(record_only=True) as gpu:
        done = run_python(gpu, code)
    assert done.stdout == "0 0\n"
    block = bytes([7, *[0] * 7, *range(24), 9, *[0] * 7]) + bytes(ctypes.c_double(1.5))
    assert [record.launch.parameters for record in gpu.records] == [block, block]


def test_a_path_with_spaces_and_hangul(tmp_path: Path) -> None:
    folder = tmp_path / "모의 GPU"
    folder.mkdir()
    for name in LIBRARIES:
        (folder / name).symlink_to((stand_ins().folder / name).resolve())
    libraries = Libraries(folder, stand_ins().runtime)
    with Simulation(libraries=libraries, executor=RecordOnly()) as gpu:
        done = run_python(gpu, "print(Driver().start().allocate(4) > 0)")
    assert done.stdout == "True\n", done.stderr


def test_a_program_works_if_the_address_of_the_arena_is_in_use() -> None:
    code = f"""
libc = ctypes.CDLL(None)
libc.mmap.restype = PTR
there = libc.mmap(PTR({ARENA_BASE + 4096:#x}), ctypes.c_size_t(4096), 3, 0x100022, -1, ctypes.c_long(0))
d = Driver().start()
address, word = d.allocate(4), U32()
d.launch(d.function("store"), arguments=(U64(address), U32(5)))
d("cuMemcpyDtoH_v2", ctypes.byref(word), U64(address), ctypes.c_size_t(4))
print(there == {ARENA_BASE + 4096:#x}, address > {ARENA_BASE + ARENA_BYTES:#x}, word.value)
"""
    with simulation() as gpu:
        done = run_python(gpu, code)
    assert done.stdout == "True True 5\n", done.stderr


def test_memory_that_is_not_used_costs_nothing() -> None:
    code = """
d, pinned = Driver().start(), PTR()
print(d("cuMemAllocHost_v2", ctypes.byref(pinned), ctypes.c_size_t(12 << 30)), d.allocate(12 << 30) > 0)
"""
    before = resident()
    with simulation(record_only=True) as gpu:
        done = run_python(gpu, code)
        grown = resident() - before
    assert done.stdout == "0 True\n"
    assert grown < 1 << 30


def resident() -> int:
    """The bytes of this process, which is the simulated GPU, that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def test_without_a_simulation_the_library_explains_itself() -> None:
    with simulation(record_only=True) as gpu:
        variables = environment(gpu)
    del variables["GPU_SIM_SOCKET"]
    code = "import ctypes; print(ctypes.CDLL('libcuda.so.1').cuInit(0))"
    done = subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "100\n"
    assert "start the program through `tooling run`" in done.stderr


def test_after_the_simulation_the_library_explains_itself() -> None:
    with simulation(record_only=True) as gpu:
        pass
    done = run_python(gpu, "print(Driver()('cuInit', 0))")
    assert done.stdout == "100\n"
    assert (
        "the simulator is not running: cannot connect to the socket that GPU_SIM_SOCKET names" in done.stderr
    )


def test_a_program_reports_that_the_simulator_has_closed_the_connection() -> None:
    code = """
d = Driver().start()
print("ready", flush=True)
sys.stdin.readline()
a = U64()
print(d("cuMemAlloc_v2", ctypes.byref(a), ctypes.c_size_t(4)), d("cuStreamSynchronize", None))
"""
    head = f"import sys; sys.path.insert(0, {str(HERE)!r}); from driver_cases import *\n"
    with simulation(record_only=True) as gpu:
        program = subprocess.Popen(
            [sys.executable, "-c", head + code],
            env=environment(gpu),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        with program:
            assert program.stdout is not None
            assert program.stdout.readline() == "ready\n"
            gpu.__exit__(None, None, None)
            output, errors = program.communicate("\n", timeout=30)
    assert output == "46 46\n"
    assert errors.count("the connection to the simulator was closed") == 1


def test_a_program_that_dies_in_a_kernel_stops_the_kernel() -> None:
    endless = PTX.replace(b"{\n    ret;\n}", b"{\nAGAIN:\n    bra AGAIN;\n}", 1)
    code = f"""
import driver_cases
driver_cases.PTX = {endless!r}
d = Driver().start()
print("ready", flush=True)
d.launch(d.function("mixed"), arguments=(ctypes.c_uint8(), (ctypes.c_uint8 * 24)(), U32(), ctypes.c_double()))
"""
    head = f"import sys; sys.path.insert(0, {str(HERE)!r}); from driver_cases import *\n"
    options = SimulationOptions(checks=frozenset())
    with Simulation(options, libraries=stand_ins(), executor=Engine("lockstep", 60)) as gpu:
        program = subprocess.Popen(
            [sys.executable, "-c", head + code], env=environment(gpu), stdout=subprocess.PIPE, text=True
        )
        with program:
            assert program.stdout is not None
            assert program.stdout.readline() == "ready\n"
            time.sleep(0.3)
            program.send_signal(signal.SIGKILL)
        limit = time.monotonic() + 30
        while not gpu.launches and time.monotonic() < limit:
            time.sleep(0.01)
    (result,) = gpu.launches
    assert result.error is not None
    assert result.error.kind is FaultKind.TIME_LIMIT
    assert result.seconds < 30


def test_a_kernel_that_does_not_end_is_stopped() -> None:
    endless = PTX.replace(b"{\n    ret;\n}", b"{\nAGAIN:\n    bra AGAIN;\n}", 1)
    code = f"""
import driver_cases
driver_cases.PTX = {endless!r}
d = Driver().start()
values = (ctypes.c_uint8(), (ctypes.c_uint8 * 24)(), U32(), ctypes.c_double())
print(d.launch(d.function("mixed"), arguments=values), d("cuStreamSynchronize", None))
"""
    options = SimulationOptions(checks=frozenset(), time_limit=0.2)
    with Simulation(options, libraries=stand_ins()) as gpu:
        done = run_python(gpu, code)
    assert done.stdout == "0 702\n"


def test_a_protocol_of_another_version_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tooling.simulator.server.context.VERSION", 99)
    with simulation(record_only=True) as gpu:
        done = run_python(gpu, "print(Driver()('cuInit', 0))")
    assert done.stdout == "100\n"
    assert "the simulator uses protocol version 99, but this driver version" in done.stderr


def test_several_programs_at_once() -> None:
    code = """
d = Driver().start()
for _ in range(50):
    assert d.launch(d.function("store")) == 0
print(d("cuStreamSynchronize", None))
"""
    head = f"import sys; sys.path.insert(0, {str(HERE)!r}); from driver_cases import *\n"
    with simulation(record_only=True) as gpu:
        programs = [
            subprocess.Popen(
                [sys.executable, "-c", head + code], env=environment(gpu), stdout=subprocess.PIPE
            )
            for _ in range(4)
        ]
        outputs = [program.communicate(timeout=60)[0] for program in programs]
    assert outputs == [b"0\n"] * 4
    assert len(gpu.launches) == 200


def test_a_limit_on_address_space_is_explained() -> None:
    code = "import ctypes; print(ctypes.CDLL('libcuda.so.1').cuInit(0))"
    with simulation(record_only=True) as gpu:
        done = run(gpu, "/bin/sh", "-c", 'ulimit -v 4000000; exec "$0" -c "$1"', sys.executable, code)
    assert done.stdout == "100\n"
    assert "ulimit -v" in done.stderr
