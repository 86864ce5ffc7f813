"""PTX to machine code, with `ptxas`, and the resources that it gives each kernel."""

from __future__ import annotations

import re

from msgspec import Struct

from tooling.platform.processes import temporary_folder
from tooling.simulator.nvidia.machine_code.tools import Tools, call

_KERNEL = re.compile(r"^ptxas info +: Compiling entry function '([^']+)'", re.MULTILINE)
_FRAME = (
    r"Function properties for {}\n"
    r" +(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads"
)
_CALLS = re.compile(r"\b(\d+) bytes cumulative stack size")
_REGISTERS = re.compile(r"\bUsed (\d+) registers")
_SHARED = re.compile(r"\b(\d+) bytes smem")


class Resources(Struct, frozen=True):
    """What the assembler gives a thread or a block of a kernel.

    Attributes:
        registers: 32-bit registers of a thread; the GPU allocates them to a warp in units of 256.
        stack: bytes of a thread's stack in local memory, with those of the functions that it calls.
        spill_stores, spill_loads: bytes that the code stores to local memory and loads again since a thread
            has too few registers; each instruction is counted once.
        shared: bytes of static shared memory of a block.
    """

    registers: int
    stack: int = 0
    spill_stores: int = 0
    spill_loads: int = 0
    shared: int = 0


class Assembly(Struct, frozen=True):
    """The machine code of a module, and the resources of its kernels by their names in PTX."""

    cubin: bytes
    resources: dict[str, Resources]


def assemble(ptx: str, target: str, tools: Tools) -> Assembly:
    """The machine code of a PTX module, with line tables, which do not change the code.

    Args:
        target: the GPU, for example `sm_90a`.

    Raises:
        ToolFailed: ptxas refuses the PTX.
    """
    with temporary_folder("ptxas-") as folder:
        source, cubin = folder / "kernel.ptx", folder / "kernel.cubin"
        source.write_text(ptx, "utf-8")
        done = call([tools.ptxas, "-v", "-lineinfo", f"-arch={target}", source, "-o", cubin])
        return Assembly(cubin.read_bytes(), read_resources(done.stderr))


def read_resources(report: str) -> dict[str, Resources]:
    """The resources of each kernel, from what `ptxas -v` writes.

    Raises:
        ValueError: a kernel without its registers or its stack.
    """
    _, *pieces = _KERNEL.split(report)
    found = {}
    for name, text in zip(pieces[::2], pieces[1::2], strict=True):
        frame, registers = re.search(_FRAME.format(re.escape(name)), text), _REGISTERS.search(text)
        if frame is None or registers is None:
            raise ValueError(f"ptxas -v does not report the registers of {name}:\n{text}")
        own, stores, loads = map(int, frame.groups())
        calls, shared = _CALLS.search(text), _SHARED.search(text)
        found[name] = Resources(
            registers=int(registers[1]),
            stack=int(calls[1]) if calls else own,
            spill_stores=stores,
            spill_loads=loads,
            shared=int(shared[1]) if shared else 0,
        )
    return found
