"""Random kernels that choose, exchange and move their pointers get no finding on the simulated AMD GPUs.

Addresses are followed to the arguments of a kernel (`lowering/followed_addresses.py`): a pointer that may be
one of two must not be taken for one of them. clang compiles the kernels at several levels (LLVM 19: Debian's
packages `clang-19` and `lld-19`).
"""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.simulator.amd.random_c import CLANG
from tooling.simulator.amd.architectures import ARCHITECTURES
from tooling.simulator.amd.code_object.model import KernelFunction
from tooling.simulator.amd.code_object.reader import read_code_object
from tooling.simulator.amd.lowering.followed_addresses import meant_arguments
from tooling.simulator.backends import backend_for
from tooling.simulator.checks.findings import Check, Finding, Kind
from tooling.simulator.checks.suite import make_checks
from tooling.simulator.engine import engine
from tooling.simulator.gpu.code_model import Module
from tooling.simulator.gpu.device_memory import DeviceMemory
from tooling.simulator.gpu.launch import Dim3, Launch

THREADS = 64
KERNELS = 60
_ARGUMENTS = ("a", "b", "c")
_POINTERS = ("p", "q", "r")
_INDICES = ("t", "63 - t", "(t * 7) & 63", "x & 63", "(uint)(x * 3 + t) & 63", "63 - (t & 31)")
_CONDITIONS = ("t & 1", "x & 2", "t < 20", "n & 2")


class _Kernel:
    """The text of one kernel, in OpenCL C: every index is inside its buffer of 64 elements."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._chance = random.Random(seed)

    def text(self) -> str:
        body = "\n ".join(self._statement(2) for _ in range(self._chance.randrange(3, 9)))
        return (
            f"__kernel void f{self.seed}(__global uint *a, __global uint *b, __global uint *c, int n) {{\n"
            " uint t = __builtin_amdgcn_workitem_id_x(), x = t;\n"
            f" __global uint *p = a, *q = b, *r = c;\n {body}\n a[t] = x;\n}}\n"
        )

    def _statement(self, depth: int) -> str:
        choose = self._chance.choice
        one, other = choose(_ARGUMENTS + _POINTERS), choose(_ARGUMENTS + _POINTERS)
        target, index, condition = choose(_POINTERS), choose(_INDICES), choose(_CONDITIONS)
        simple = {
            "load": f"x += {one}[{index}];",
            "store": f"{one}[{index}] = x + 3;",
            "select": f"{target} = ({condition}) ? {one} : {other};",
            "assign": f"{target} = {one};",
            "exchange": "{ __global uint *s = p; p = q; q = s; }",
            "move": f"{{ __global uint *s = {one} + 9; x += s[t & 31]; s += t & 15; x ^= s[7]; }}",
            "table": f"{{ __global uint *s[2] = {{{one}, {other}}}; x += s[({condition}) != 0][{index}]; }}",
        }
        kind = choose((*simple, *(("if", "loop") if depth else ())))
        if kind in simple:
            return simple[kind]
        inner = [self._statement(depth - 1) for _ in range(self._chance.randrange(1, 4))]
        if kind == "if":
            return f"if ({condition}) {{ {' '.join(inner[1:])} }} else {{ {inner[0]} }}"
        bound = choose(("3", "(t & 3)", "n"))
        return f"for (int i{depth} = 0; i{depth} < {bound}; i{depth}++) {{ {' '.join(inner)} }}"


def compiled(architecture: str, level: str, seeds: range, folder: Path) -> Module:
    source, target = folder / "kernels.cl", folder / "kernels.elf"
    source.write_text("".join(_Kernel(seed).text() for seed in seeds))
    subprocess.run(
        [
            str(CLANG), "-x", "cl", "-cl-std=CL2.0", "-nogpulib", "-target", "amdgcn-amd-amdhsa", "-w",
            f"-mcpu={architecture}", "-mcode-object-version=5", level, str(source), "-o", str(target),
        ],
        check=True,
    )  # fmt: skip
    return read_code_object(target.read_bytes(), ARCHITECTURES[architecture])


def findings(module: Module, kernel: KernelFunction) -> list[Finding]:
    memory = DeviceMemory(np.zeros(1 << 20, np.uint8), 0x10000)
    (check,) = make_checks([Check.MEMORY])
    addresses = [memory.allocate(4 * THREADS) for _ in _ARGUMENTS]
    packed = b"".join(address.to_bytes(8, "little") for address in addresses) + (3).to_bytes(4, "little")
    parameters = packed.ljust(kernel.parameter_bytes, b"\0")
    launch = Launch(kernel, Dim3(1), Dim3(THREADS), Dim3(1), 0, parameters)
    assert engine.run(launch, module, memory, [check]).error is None
    return [finding for finding in check.findings if finding.kind is not Kind.LEAK]


@pytest.mark.slow
@pytest.mark.skipif(CLANG is None, reason="clang-19 is not installed")
@pytest.mark.parametrize("level", ["-O1", "-O2", "-O3"])
@pytest.mark.parametrize("architecture", list(ARCHITECTURES))
def test_pointers_that_may_be_one_of_two_are_not_mistaken(
    architecture: str, level: str, tmp_path: Path
) -> None:
    module = compiled(architecture, level, range(KERNELS), tmp_path)
    followed = 0
    for kernel in module.kernels.values():
        assert isinstance(kernel, KernelFunction)
        program = backend_for(architecture).decode(module, kernel)
        followed += len(meant_arguments(program, kernel, {0, 8, 16}))
        assert findings(module, kernel) == [], kernel.name
    assert followed > KERNELS
