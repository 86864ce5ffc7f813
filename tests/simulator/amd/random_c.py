"""Random C functions, compiled by clang for a simulated GPU and for this machine: both compute the same.

Arithmetic wraps around, shifts are masked, and conversions of floats are limited, so that C defines every
result. Unsigned division is left out: LLVM 19 replaces it by a wrong multiplication for some operands.
"""

from __future__ import annotations

import ctypes
import random
import shutil
import subprocess
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.amd.architectures import ARCHITECTURES
from tooling.simulator.amd.code_object.reader import read_code_object
from tooling.simulator.backends import backend_for
from tooling.simulator.engine import engine
from tooling.simulator.gpu.device_memory import DeviceMemory
from tooling.simulator.gpu.launch import Dim3, Launch

CLANG = shutil.which("clang-19")
THREADS = 64
VALUES = 8
"""Numbers that each thread reads, and that it writes."""

_INTEGERS = ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong")
_FLOATS = ("half", "float", "double")
_BITS = {"char": 8, "uchar": 8, "short": 16, "ushort": 16, "int": 32, "uint": 32, "long": 64, "ulong": 64}
_OPERATIONS = ("+", "-", "*", "&", "|", "^", "<<", ">>", "?", "cast", "min", "max", "/", "float", "~",
               "clamp", "sub")  # fmt: skip
_HEAD = {
    "gpu": """
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define ENTRY(name) __kernel void name(__global ulong *out, __global const ulong *in)
#define THREAD int t = __builtin_amdgcn_workitem_id_x();
#define GLOBAL __global
""",
    "host": """
typedef unsigned char uchar; typedef unsigned short ushort; typedef unsigned int uint;
typedef unsigned long ulong; typedef _Float16 half;
#define ENTRY(name) void name(ulong *out, const ulong *in)
#define THREAD for (int t = 0; t < 64; t++)
#define GLOBAL
""",
}
_FLAGS = ("-O3", "-fwrapv", "-ffp-contract=off", "-w", "-mcode-object-version=5")


class _Function:
    """The text of one function."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.variables: dict[str, str] = {}
        self.lines: list[str] = []
        self.depth = 1
        self.loops = 0

    def text(self, name: str) -> str:
        """The function, whose name is given."""
        chance = self.chance
        for number in range(VALUES):
            kind = chance.choice(_INTEGERS + _FLOATS)
            self.variables[f"v{number}"] = kind
            source = f"in[t * {VALUES} + {number}]"
            value = f"({kind})(int)({source} % 2000 - 1000)" if kind in _FLOATS else f"({kind}){source}"
            self.line(f"{kind} v{number} = {value};")
        self.line("int a[8]; for (int i = 0; i < 8; i++) a[i] = (int)in[t * 8 + i] * i;")
        for _ in range(chance.randint(4, 10)):
            self.statement(0)
        for number in range(VALUES):
            self.line(f"out[t * {VALUES} + {number}] = {self.bits(f'v{number}')};")
        self.line("for (int i = 0; i < 8; i++) out[t * 8] += (ulong)a[i] * (i + 3);")
        body = "\n".join(self.lines)
        return f"ENTRY({name}) {{\n THREAD {{\n{body}\n }}\n}}\n"

    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def bits(self, name: str) -> str:
        """What a variable contributes to the result: of NaN no bits."""
        kind = self.variables[name]
        if kind in _FLOATS:
            number = f"(ulong)(long)((double){name} * 16)"
            return f"({name} != {name} ? 77 : {name} > 1e9 || {name} < -1e9 ? 78 : {number})"
        return f"(ulong){name}"

    def statement(self, level: int) -> None:
        kind = self.chance.choice(("set", "set", "set", "if", "loop", "switch", "array"))
        if kind in ("set", "array") or level > 2:
            if kind == "array":
                self.line(f"a[(uint)({self.integer(1)}) & 7] ^= (int)({self.integer(2)});")
                return
            name = self.chance.choice(list(self.variables))
            self.line(f"{name} = {self.converted(name)};")
        elif kind == "if":
            self.block(f"if ({self.condition()})", level)
            if self.chance.random() < 0.5:
                self.block("else", level)
        elif kind == "loop":
            self.loops += 1
            counter = f"i{self.loops}"
            limit = self.chance.choice(("3", "5", f"(t & {self.chance.choice((3, 7))})"))
            self.block(f"for (int {counter} = 0; {counter} < {limit}; {counter}++)", level)
        else:
            self.line(f"switch ({self.integer(1)} & 3) {{")
            for case in range(self.chance.randint(2, 4)):
                self.block(f"case {case}:", level)
                self.line("break;")
            self.line("}")

    def block(self, head: str, level: int) -> None:
        self.line(f"{head} {{")
        self.depth += 1
        for _ in range(self.chance.randint(1, 3)):
            self.statement(level + 1)
        self.depth -= 1
        self.line("}")

    def converted(self, name: str) -> str:
        kind = self.variables[name]
        if kind in _FLOATS:
            return f"({kind})({self.float(3, kind)})"
        return f"({kind})({self.integer(3)})"

    def condition(self) -> str:
        if self.chance.random() < 0.3:
            kind = self.chance.choice(_FLOATS)
            return (
                f"{self.float(1, kind)} {self.chance.choice(('<', '>=', '==', '!='))} {self.float(1, kind)}"
            )
        return f"{self.integer(2)} {self.chance.choice(('<', '>', '<=', '==', '!='))} {self.integer(2)}"

    def named(self, kinds: tuple[str, ...]) -> str | None:
        found = [name for name, kind in self.variables.items() if kind in kinds]
        return self.chance.choice(found) if found else None

    def integer(self, depth: int) -> str:
        """An expression of an integer type."""
        chance = self.chance
        if depth == 0 or chance.random() < 0.2:
            name = self.named(_INTEGERS)
            pick = chance.random()
            if name and pick < 0.7:
                return name
            if pick < 0.8:
                return f"a[{self.chance.randrange(8)}]"
            return f"({chance.choice(_INTEGERS)}){chance.choice((0, 1, 3, 7, 100, 255, 0x7FFF, -1, -5))}"
        kind = chance.choice(_OPERATIONS)
        a, b = self.integer(depth - 1), self.integer(depth - 1)
        if kind in ("<<", ">>"):
            type_ = chance.choice(("int", "uint", "long", "ulong"))
            return f"(({type_})({a}) {kind} (({b}) & {_BITS[type_] - 1}))"
        if kind == "?":
            return f"(({self.condition()}) ? ({a}) : ({b}))"
        if kind == "cast":
            return f"({chance.choice(_INTEGERS)})({a})"
        if kind in ("min", "max"):
            type_ = chance.choice(_INTEGERS)
            x, y = f"({type_})({a})", f"({type_})({b})"
            return f"({x} {'<' if kind == 'min' else '>'} {y} ? {x} : {y})"
        if kind == "clamp":
            type_ = chance.choice(("short", "int", "char"))
            x = f"({type_})({a})"
            return f"({x} < -20 ? ({type_})-20 : {x} > 20 ? ({type_})20 : {x})"
        if kind == "sub":
            type_ = chance.choice(("uint", "ushort"))
            x, y = f"({type_})({a})", f"({type_})({b})"
            return f"({x} > {y} ? {x} - {y} : 0)"
        if kind == "/":
            operator = chance.choice("/%")
            return f"((int)(short)({a}) {operator} ((int)(short)({b}) | 1))"
        if kind == "float":
            x = self.float(depth - 1, chance.choice(_FLOATS))
            return f"(({x}) > -1e4 && ({x}) < 1e4 ? (int)({x}) : 5)"
        if kind == "~":
            return f"(~({a}))"
        return f"(({a}) {kind} ({b}))"

    def float(self, depth: int, kind: str) -> str:
        """An expression of a floating-point type."""
        chance = self.chance
        if depth == 0 or chance.random() < 0.2:
            name = self.named((kind,))
            if name and chance.random() < 0.7:
                return name
            return f"({kind}){chance.choice(('0.5', '1.0', '-3.25', '7.0', '100.0'))}"
        how = chance.choice(("+", "-", "*", "/", "?", "cast", "int", "neg"))
        a, b = self.float(depth - 1, kind), self.float(depth - 1, kind)
        if how == "?":
            return f"(({self.condition()}) ? ({a}) : ({b}))"
        if how == "cast":
            return f"({kind})({self.float(depth - 1, chance.choice(_FLOATS))})"
        if how == "int":
            return f"({kind})(short)({self.integer(depth - 1)})"
        if how == "neg":
            return f"(-({a}))"
        return f"({kind})(({a}) {how} ({b}))"


def functions(seeds: range) -> str:
    """The text of a function for each seed."""
    return "\n".join(_Function(seed).text(f"f{seed}") for seed in seeds)


def inputs(seed: int) -> NDArray[np.uint64]:
    """The numbers that the threads of a function read."""
    chance = np.random.default_rng(seed)
    whole = chance.integers(0, 2**64, THREADS * VALUES, np.uint64)
    return np.asarray(whole >> chance.integers(0, 64, THREADS * VALUES, np.uint64), np.uint64)


def compile_for(architecture: str, text: str, folder: Path) -> Path:
    """A code object, or the shared library for `host`.

    Raises:
        RuntimeError: clang is not installed.
    """
    if CLANG is None:
        raise RuntimeError("clang-19 is not installed (Debian: clang-19 and lld-19)")
    host = architecture == "host"
    source = folder / f"{architecture}.{'c' if host else 'cl'}"
    source.write_text(_HEAD["host" if host else "gpu"] + text)
    target = folder / f"{architecture}.elf"
    how = (
        ("-shared", "-fPIC", "-march=x86-64-v2")
        if host
        else (
            "-x", "cl", "-cl-std=CL2.0", "-nogpulib", "-target", "amdgcn-amd-amdhsa", f"-mcpu={architecture}",
            "-cl-fp32-correctly-rounded-divide-sqrt", "-Xclang", "-finclude-default-header",
        )
    )  # fmt: skip
    flags = [flag for flag in _FLAGS if not (host and "code-object" in flag)]
    subprocess.run([CLANG, *how, *flags, str(source), "-o", str(target)], check=True)
    return target


def on_host(library: Path, seed: int) -> NDArray[np.uint64]:
    """What a function of a shared library writes."""
    given, found = inputs(seed), np.zeros(THREADS * VALUES, np.uint64)
    function = getattr(ctypes.CDLL(str(library)), f"f{seed}")
    function(found.ctypes.data_as(ctypes.c_void_p), given.ctypes.data_as(ctypes.c_void_p))
    return found


def on_gpu(architecture: str, image: bytes, seed: int) -> NDArray[np.uint64]:
    """What a function of a code object writes.

    Raises:
        UnknownInstruction: it reaches an instruction that is not supported.
    """
    module = read_code_object(image, ARCHITECTURES[architecture])
    kernel = module.kernels[f"f{seed}"]
    backend_for(architecture).decode(module, kernel)
    memory = DeviceMemory(np.zeros(1 << 22, np.uint8), 0x10000)
    given = inputs(seed)
    addresses = [memory.allocate(given.nbytes) for _ in range(2)]
    memory.view(addresses[0], given.nbytes)[:] = 0
    memory.view(addresses[1], given.nbytes)[:] = given.view(np.uint8)
    parameters = b"".join(address.to_bytes(8, "little") for address in addresses)
    launch = Launch(
        kernel, Dim3(1), Dim3(THREADS), Dim3(1), 0, parameters.ljust(kernel.parameter_bytes, b"\0")
    )
    result = engine.run(launch, module, memory)
    assert result.error is None, result.error
    return memory.view(addresses[0], given.nbytes).view(np.uint64).copy()
