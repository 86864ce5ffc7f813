"""Asks NVIDIA's compute-sanitizer about every kernel of the defect suite, on the GPU of this machine.

usage: python3 record.py OUTPUT.json            every kernel, entry and tool (two minutes); `compared`, where
                                             OUTPUT has it already, stays as it is
       python3 record.py --one NAME ENTRY SETTING   one launch, for the tools

Needs compute-sanitizer on the PATH, libcuda.so.1, NumPy and pytest (for the table). Each launch is a process
of its own, on the kernel's PTX as it stands: the driver's assembler runs without optimisation.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
FOLDER = Path(__file__).parent / "defects"
TOOLS = ("none", "memcheck", "racecheck", "synccheck", "initcheck")
SECONDS = 15
"""A launch that lasts longer waits for ever."""

_OPTIMISATION, _LINES = 7, 13  # CU_JIT_OPTIMIZATION_LEVEL, CU_JIT_GENERATE_LINE_INFO
_ADDRESS = re.compile(r"0x[0-9a-f]+")
_POSITION = re.compile(r"\w+\.mojo:\d+")
_TELLING = ("Invalid", "Potential", "Error", "Warning", "Uninit", "Barrier error", "Misaligned", "Unknown")


class Failed(Exception):
    """A call of the driver that did not return CUDA_SUCCESS."""


class _Attribute(ctypes.Structure):
    """CUlaunchAttribute, for a cluster dimension (4)."""

    _fields_ = (("id", ctypes.c_int), ("pad", ctypes.c_int), ("value", ctypes.c_uint * 16))


class _Config(ctypes.Structure):
    """CUlaunchConfig."""

    _fields_ = (
        ("dims", ctypes.c_uint * 6),
        ("shared", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(_Attribute)),
        ("count", ctypes.c_uint),
    )


def one(name: str, entry: str, setting: dict[str, Any]) -> int:
    """Launch one kernel as `defect_runs.run` does; the exit status is the driver's error, 0 without."""
    cuda = ctypes.CDLL("libcuda.so.1")

    def call(function: str, *arguments: object) -> None:
        code = getattr(cuda, function)(*arguments)
        if code:
            raise Failed(f"{function} returned {code}")

    call("cuInit", 0)
    context, module, function = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    call("cuCtxSetCurrent", context)
    keys = (ctypes.c_int * 2)(_OPTIMISATION, _LINES)
    values = (ctypes.c_void_p * 2)(ctypes.c_void_p(0), ctypes.c_void_p(1))
    text = (FOLDER / f"{name}.ptx").read_bytes() + b"\0"
    call("cuModuleLoadDataEx", ctypes.byref(module), text, 2, keys, values)
    call("cuModuleGetFunction", ctypes.byref(function), module, entry.encode())
    size = 4 * setting["elements"]
    a, out = ctypes.c_uint64(), ctypes.c_uint64()
    for buffer, written in ((a, True), (out, not setting["unwritten"])):
        call("cuMemAlloc_v2", ctypes.byref(buffer), ctypes.c_size_t(size))
        if written:
            call("cuMemsetD8_v2", buffer, ctypes.c_ubyte(0), ctypes.c_size_t(size))
    freed = setting["freed"] and entry == "wrong"
    if freed:
        call("cuMemFree_v2", a)
    cluster = _Attribute(4, 0, (ctypes.c_uint * 16)(setting["cluster"], 1, 1))
    clustered = int(setting["cluster"] > 1)
    dims = (ctypes.c_uint * 6)(setting["blocks"], 1, 1, setting["threads"], 1, 1)
    config = _Config(dims, 0, None, ctypes.pointer(cluster), clustered)
    pointers = (ctypes.c_void_p * 2)(*(ctypes.cast(ctypes.byref(b), ctypes.c_void_p) for b in (a, out)))
    call("cuLaunchKernelEx", ctypes.byref(config), function, pointers, None)
    call("cuStreamSynchronize", None)
    if setting["read_back"]:
        host = ctypes.create_string_buffer(size)
        call("cuMemcpyDtoH_v2", host, out, ctypes.c_size_t(size))
    for buffer in (out,) if freed else (a, out):
        call("cuMemFree_v2", buffer)
    return 0


def judged(name: str, entry: str, setting: dict[str, Any], tool: str) -> dict[str, Any]:
    """What a tool said about one launch: how the program ended, its distinct messages, their number."""
    command = [sys.executable, __file__, "--one", name, entry, json.dumps(setting)]
    if tool != "none":
        command = ["compute-sanitizer", "--tool", tool, "--print-limit", "1000", *command]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    try:
        text, _ = process.communicate(timeout=SECONDS)
        ended = f"status {process.returncode}"
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        text, _ = process.communicate()
        ended = "does not end"
    failure = re.findall(r"Failed: (\w+ returned \d+)", text)
    messages = messages_in(text)
    result = {"ended": ended} | ({"messages": messages} if messages else {})
    return result | ({"failure": failure[0]} if failure else {}) | {"raw": text}


def messages_in(text: str) -> dict[str, int]:
    """The distinct messages of a tool, each with the Mojo lines it names, and how often each came."""
    messages: dict[str, int] = {}
    lines = [line[9:].strip() for line in text.splitlines() if line.startswith("=========")]
    for index, line in enumerate(lines):
        if line.startswith(_TELLING):
            following = lines[index : index + 4]
            following = following[: following.index("")] if "" in following else following
            positions = [position for after in following for position in _POSITION.findall(after)]
            plain = " ".join([_ADDRESS.sub("…", line.split(" at wrong+")[0]), *dict.fromkeys(positions)])
            messages[plain] = messages.get(plain, 0) + 1
    return messages


def main(output: str) -> None:
    sys.path.insert(0, str(ROOT))
    from tests.simulator.checks.test_defects import DEFECTS

    jobs = [(d.name, e, asdict(d.setting), t) for d in DEFECTS for e in ("wrong", "right") for t in TOOLS]
    with ThreadPoolExecutor(12) as pool:
        results = list(pool.map(lambda job: judged(*job), jobs))
    kernels: dict[str, Any] = {}
    with Path(output).with_suffix(".log").open("w") as log:
        for (name, entry, _, tool), result in zip(jobs, results, strict=True):
            log.write(f"#### {name} {entry} {tool}\n{result.pop('raw')}\n")
            kernels.setdefault(name, {}).setdefault(entry, {})[tool] = result
    version = subprocess.run(["compute-sanitizer", "--version"], capture_output=True, text=True, check=True)
    device = subprocess.run(
        ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
        capture_output=True,
        text=True,
        check=True,
    )
    known = json.loads(Path(output).read_text()) if Path(output).exists() else {}
    document = {
        "device": device.stdout.strip(),
        "compute-sanitizer": version.stdout.strip().splitlines()[-1],
        "kernels": kernels,
        "compared": known.get("compared", {}),
    }
    Path(output).write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    if sys.argv[1] == "--one":
        sys.exit(one(sys.argv[2], sys.argv[3], json.loads(sys.argv[4])))
    main(sys.argv[1])
