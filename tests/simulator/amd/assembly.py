"""Kernels written in LLVM's assembly, one instruction a line, and what they leave in each lane's registers.

The machine code of each line is recorded in `data/*_assembly.txt`, so that no test needs an assembler:
`GPU_LAB_RECORD=1 pytest …` adds the lines that are missing (LLVM 19: Debian's package `llvm-19`).
"""

from __future__ import annotations

import functools
import os
import struct
import subprocess
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tests.simulator.amd.llvm_sample import ASSEMBLER, DATA
from tooling.simulator.amd.architectures import ARCHITECTURES
from tooling.simulator.amd.code_object.model import CodeObject, Descriptor, KernelFunction, Segment
from tooling.simulator.backends import backend_for
from tooling.simulator.engine import engine
from tooling.simulator.gpu.code_model import Parameter
from tooling.simulator.gpu.device_memory import DeviceMemory
from tooling.simulator.gpu.hooks import Hook
from tooling.simulator.gpu.launch import Dim3, Launch

_BEGIN = {
    "gfx942": ("s_load_dwordx2 s[0:1], s[0:1], 0x0", "v_mov_b32_e32 v99, v0"),
    "gfx1100": ("s_load_b64 s[0:1], s[0:1], 0x0", "v_mov_b32_e32 v99, v0"),
}
_STORE = {
    "gfx942": ("s_mov_b64 exec, -1", "v_lshlrev_b32_e32 v100, 2, v99", "global_store_dword v100, {}, s[0:1]"),
    "gfx1100": (
        "s_mov_b32 exec_lo, -1",
        "v_lshlrev_b32_e32 v100, 2, v99",
        "global_store_b32 v100, {}, s[0:1]",
    ),
}


@functools.cache
def _recorded(architecture: str) -> dict[str, bytes]:
    path = DATA / f"{architecture}_assembly.txt"
    rows = (line.split(" ", 1) for line in path.read_text().splitlines()) if path.exists() else ()
    return {text: bytes.fromhex(words) for words, text in rows}


def assemble(architecture: str, lines: Sequence[str]) -> bytes:
    """The machine code of instructions.

    Raises:
        KeyError: one that is not recorded.
    """
    known = _recorded(architecture)
    missing = [line for line in lines if line not in known]
    if missing and "GPU_LAB_RECORD" in os.environ and ASSEMBLER is not None:
        for line in missing:
            command = [ASSEMBLER, "-arch=amdgcn", f"-mcpu={architecture}", "-show-encoding"]
            done = subprocess.run(command, input=line, capture_output=True, text=True, check=True)
            octets = done.stdout.partition("encoding: [")[2].partition("]")[0]
            known[line] = bytes(int(octet, 16) for octet in octets.split(","))
        rows = sorted(f"{words.hex()} {text}\n" for text, words in known.items())
        (DATA / f"{architecture}_assembly.txt").write_text("".join(rows))
    return b"".join(known[line] for line in lines)


def code_object(architecture: str, code: bytes, *, shared: int = 0, local: int = 0) -> CodeObject:
    """A code object with one kernel, whose parameter is the address of a buffer in s[0:1]."""
    descriptor = Descriptor(shared, local, 8, 0, 0xF0 << 12, 2 << 1, 1 << 3)
    kernel = KernelFunction(
        "kernel", True, (Parameter("buffer", 0, 8, 1),), (), {}, (), (), (), descriptor=descriptor
    )
    digest = f"{architecture} {shared} {code.hex()}"
    return CodeObject(
        (0, 0), (architecture,), 64, {"kernel": kernel}, {}, (), {}, {}, digest, "", architecture, code=code,
        code_address=0, segments=(Segment(0, code, len(code)),), image_bytes=len(code), function_offsets=(0,),
    )  # fmt: skip


def run(
    architecture: str,
    lines: Sequence[str],
    *,
    buffer: NDArray[np.uint32],
    threads: int = 0,
    shared: int = 0,
    checks: Sequence[Hook] = (),
) -> NDArray[np.uint32]:
    """The buffer after a kernel whose s[0:1] is the buffer's address and whose v0 is the thread's number.

    Raises:
        UnknownInstruction: it reaches an instruction that is not supported.
    """
    begin, end = _BEGIN[architecture], "s_endpgm"
    module = code_object(architecture, assemble(architecture, (*begin, *lines, end)), shared=shared)
    memory = DeviceMemory(np.zeros(1 << 20, np.uint8), 0x10000)
    address = memory.allocate(buffer.nbytes)
    memory.view(address, buffer.nbytes)[:] = buffer.view(np.uint8)
    kernel = module.kernels["kernel"]
    backend = backend_for(architecture)
    backend.decode(module, kernel)
    block = threads or ARCHITECTURES[architecture].lanes
    launch = Launch(kernel, Dim3(1), Dim3(block), Dim3(1), 0, struct.pack("<Q", address))
    result = engine.run(launch, module, memory, checks)
    assert result.error is None, result.error
    return memory.view(address, buffer.nbytes).view(np.uint32).copy()


def lanes_of(architecture: str, lines: Sequence[str], result: str = "v1", *, shared: int = 0) -> list[int]:
    """What instructions leave in a register of each lane of a wavefront."""
    lanes = ARCHITECTURES[architecture].lanes
    store = [line.format(result) for line in _STORE[architecture]]
    found = run(architecture, (*lines, *store), buffer=np.zeros(lanes, np.uint32), shared=shared)
    return [int(value) for value in found]
