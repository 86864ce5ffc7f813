"""The simulator's engine, in NumPy, beside an interpreter in Mojo: the same launches, compared bit by bit.

usage: python benchmarks/mojo_engine.py

`kernels/warp_interpreter.mojo` knows the instructions of `kernels/throughput.mojo` and looks at each access
as the checks do, but tells no findings. Figures are lane instructions per second of processor time, the best
of some launches, of all blocks and of one block alone.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.record import replace
from tooling.simulator.executor import Engine, Job
from tooling.simulator.hooks import LaunchContext
from tooling.simulator.launch import SINGLE, Launch, LaunchResult
from tooling.simulator.ptx_model import (
    Address,
    Float,
    Instruction,
    Integer,
    Label,
    Operand,
    Register,
    Symbol,
)
from tooling.simulator.session import Simulation
from tooling.simulator.written import written_allocations
from tooling.toolchain import BuildRequest, build, find_toolchain, open_cache

KERNELS = Path(__file__).parent / "kernels"
LAUNCHES = ("elementwise", "reduction", "divergent")
REPEATS = 6
ROW = 256
"""Bytes of a register of 32 lanes."""

OPERATIONS = {
    "mov.b32": 0, "mov.u32": 0, "mov.b64": 1, "cvta.to.global.u64": 1, "cvt.u64.u32": 2, "cvt.u32.u64": 3,
    "mul.wide.u32": 4, "add.s64": 5, "add.s32": 6, "sub.s32": 7, "shl.b64": 8, "shl.b32": 9, "shr.u64": 10,
    "shr.s32": 11, "shr.u32": 12, "and.b32": 13, "mad.lo.s32": 14, "fma.rn.f32": 15, "add.f32": 16,
    "setp.ge.s64": 20, "setp.ne.b32": 21, "setp.eq.b32": 22, "setp.ne.b64": 23, "setp.le.u64": 24,
    "selp.b32": 40, "ld.global.b32": 50, "st.global.b32": 51, "ld.shared.b32": 52, "st.shared.b32": 53,
    "bra": 60, "bra.uni": 60, "bar.sync": 63, "ret": 64,
}  # fmt: skip
PARAMETER, JUMP_IF, JUMP_UNLESS = 1, 61, 62
WIDE = {1: "a", 3: "a", 5: "ab", 8: "a", 10: "a", 20: "ab", 23: "ab", 24: "ab", 50: "a", 51: "a"}
"""Which operands of an operation have 64 bits."""

STEP = ("operation", "target", "a", "b", "c", "jump", "home")
ALLOCATION = (
    "base", "end", "written_low", "written_high", "written", "tracked", "write_low", "write_high",
    "write_thread", "read_low", "read_high", "read_thread", "shadow", "words", "entered",
)  # fmt: skip
STATE = (
    "steps", "registers", "register_bytes", "threads", "block_x", "grid_x", "shared", "shared_bytes",
    "shadow", "allocations", "allocation_count", "host", "checked", "tid_x", "tid_y", "ctaid_x", "ctaid_y",
    "stamp", "lane_instructions", "place",
)  # fmt: skip


class State(ctypes.Structure):
    """As in the Mojo file."""

    _fields_ = [(name, ctypes.c_int64) for name in STATE]


class Decoded:
    """A kernel's steps, and its registers: named ones, and one for each constant."""

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.slots: dict[str, int] = {}
        self.constants: dict[tuple[int, bool], int] = {}
        self.labels: dict[str, int] = {}
        function = launch.function
        body: list[Instruction] = []
        for statement in function.body:
            if isinstance(statement, Label):
                self.labels[statement.name] = len(body)
            else:
                body.append(statement)
        self.shared = {v.name: 0 for v in function.variables if v.space == "shared"}  # one array at most
        self.shared_bytes = sum(v.size for v in function.variables if v.space == "shared")
        self.steps = np.array([self._step(instruction) for instruction in body], np.int32)
        for name in ("%tid.x", "%tid.y", "%ctaid.x", "%ctaid.y"):
            self.slot(name)

    def slot(self, name: str) -> int:
        return self.slots.setdefault(name, len(self.slots) + len(self.constants)) * ROW

    def constant(self, value: int, *, wide: bool) -> int:
        key = (value % (1 << 64), wide)
        return self.constants.setdefault(key, len(self.slots) + len(self.constants)) * ROW

    def registers(self) -> NDArray[Any]:
        """(registers, bytes of a row) of one warp, constants filled in."""
        rows = np.zeros((len(self.slots) + len(self.constants), ROW), np.uint8)
        for (value, wide), number in self.constants.items():
            lanes = np.full(32, value, np.uint64)
            rows[number, : ROW if wide else ROW // 2] = (lanes if wide else lanes.astype(np.uint32)).view(
                np.uint8
            )
        return rows

    def _operand(self, operand: Operand, *, wide: bool) -> int:
        match operand:
            case Register(name) if name.startswith("%ntid."):
                return self.constant(getattr(self.launch.block, name[-1]), wide=wide)
            case Register(name):
                return self.slot(name)
            case Integer(value):
                return self.constant(value, wide=wide)
            case Float(bits):
                return self.constant(bits, wide=wide)
            case Symbol(name, offset):
                return self.constant(self.shared[name] + offset, wide=wide)
        raise ValueError(f"{operand} is no operand that the interpreter knows")

    def _step(self, instruction: Instruction) -> tuple[int, ...]:
        """A row of STEP."""
        form = ".".join((instruction.opcode, *instruction.modifiers))
        operands = instruction.operands
        if instruction.opcode == "ld" and "param" in form:
            assert isinstance(operands[1], Address)
            name = operands[1].base.name  # type: ignore[union-attr]
            place = next(p for p in self.launch.function.parameters if p.name == name)
            raw = self.launch.parameters[place.offset : place.offset + place.size]
            value = int.from_bytes(raw, "little", signed=instruction.modifiers[-1] == "s32")
            target = self._operand(operands[0], wide=True)
            return (PARAMETER, target, self.constant(value, wide=True), 0, 0, 0, 0)
        number = OPERATIONS[form]
        if instruction.opcode in ("ld", "st"):
            address, other = operands if instruction.opcode == "st" else operands[::-1]
            assert isinstance(address, Address) and not address.offset
            base = address.base if isinstance(address.base, Register) else Symbol(address.base.name, 0)  # type: ignore[union-attr]
            at = self._operand(base, wide="a" in WIDE.get(number, ""))
            value = self._operand(other, wide=False)
            return (number, *((value, at, 0) if instruction.opcode == "ld" else (0, at, value)), 0, 0, 0)
        if instruction.opcode == "bra":
            (label,) = operands
            assert isinstance(label, Symbol)
            guard = instruction.predicate
            if guard is None:
                return (number, 0, 0, 0, 0, self.labels[label.name], 0)
            kind = JUMP_UNLESS if guard.negated else JUMP_IF
            return (kind, 0, self.slot(guard.register), 0, 0, self.labels[label.name], 0)
        if instruction.opcode in ("bar", "ret"):
            return (number, 0, 0, 0, 0, 0, 0)
        target, *sources = (
            self._operand(operand, wide="-abc"[place] in WIDE.get(number, ""))
            for place, operand in enumerate(operands)
        )
        return (number, target, *sources, *(0,) * (5 - len(sources)))


class Interpreter:
    """The Mojo interpreter on one launch.

    Buffers that the kernel does not write count as written by the host, the others as fresh.
    """

    def __init__(self, library: ctypes.CDLL, job: Job, checked: bool) -> None:
        self._run = library.run_blocks
        self._run.restype, self._run.argtypes = ctypes.c_int64, [ctypes.c_int64] * 2
        launch, memory = job.launch, job.memory
        self.blocks = launch.blocks
        decoded = self._decoded = Decoded(launch)
        warps = -(-launch.threads_per_block // 32)
        rows = decoded.registers()
        file = np.concatenate([*[rows.ravel()] * warps, np.zeros(warps * (1024 + 64), np.uint8)])
        buffers = list(memory)
        threads, shared = launch.threads_per_block, decoded.shared_bytes
        context = LaunchContext(launch, job.module, memory, threads, launch.blocks, 1, shared, 0)
        written = written_allocations(context)
        assert written is not None
        table = np.zeros((len(buffers), len(ALLOCATION)), np.int64)
        self._kept = [file, table, decoded.steps]
        for row, buffer in zip(table, buffers, strict=True):
            tracked = buffer.serial in written
            known = 0 if tracked else buffer.size
            flags, words = self._array(buffer.size // 8 + 1), -(-buffer.size // 4)
            shadow = self._array(3 * words if checked and tracked else 1)
            row[:6] = (buffer.base, buffer.end, 0, known, flags.ctypes.data, tracked)
            row[12:14] = (shadow.ctypes.data, words)
        self._table = table
        window = self._array(shared // 8 + 32)
        shadow = self._array(3 * shared // 4 + 1)
        self.state = State(
            steps=decoded.steps.ctypes.data,
            registers=file.ctypes.data,
            register_bytes=rows.size,
            threads=launch.threads_per_block,
            block_x=launch.block.x,
            grid_x=launch.grid.x,
            shared=window.ctypes.data,
            shared_bytes=shared,
            shadow=shadow.ctypes.data,
            allocations=table.ctypes.data,
            allocation_count=len(table),
            host=memory.bytes.ctypes.data - memory.base,
            checked=checked,
            **{n: decoded.slot("%" + n.replace("_", ".")) for n in ("tid_x", "tid_y", "ctaid_x", "ctaid_y")},
            stamp=1,
        )

    def _array(self, words: int) -> NDArray[Any]:
        self._kept.append(np.zeros(words, np.int64))
        return self._kept[-1]

    def run(self) -> tuple[int, float]:
        """(lane instructions, seconds of processor time) of the whole launch.

        Raises:
            RuntimeError: it stopped.
        """
        self._table[:, 6:12] = 0
        self._table[:, 14] = 0
        self.state.lane_instructions = 0
        start = time.thread_time()
        result = self._run(ctypes.addressof(self.state), self.blocks)
        seconds = time.thread_time() - start
        if result:
            raise RuntimeError(f"stopped with {result} at {self._decoded.steps[self.state.place]}")
        return int(self.state.lane_instructions), seconds


class Both(Engine):
    """Runs each launch by both engines, and a launch of its first block alone too.

    Attributes:
        rates: most lane instructions per second, by engine, whether of one block, and whether checked.
    """

    def __init__(self, library: ctypes.CDLL) -> None:
        super().__init__("lockstep", None)
        self.library = library
        self.rates: dict[tuple[str, bool, bool], float] = {}

    def run(self, job: Job) -> LaunchResult:
        for small in (True, False):
            for checked in (True, False):
                launch = replace(job.launch, grid=SINGLE) if small else job.launch
                result = self._compare(replace(job, launch=launch, hooks=job.hooks if checked else ()), small)
        return result

    def _compare(self, job: Job, small: bool) -> LaunchResult:
        memory, checked = job.memory, bool(job.hooks)
        used = memory.bytes[: memory.used]
        before = used.copy()
        for _ in range(REPEATS):
            used[:] = before
            result = super().run(job)
            self._note("NumPy", small, checked, result.lane_instructions / result.processor_seconds)
        wanted = used.copy()
        interpreter = Interpreter(self.library, job, checked)
        for _ in range(REPEATS):
            used[:] = before
            count, seconds = interpreter.run()
            self._note("Mojo", small, checked, count / seconds)
            assert count == result.lane_instructions and np.array_equal(used, wanted), "the engines differ"
        return result

    def _note(self, engine: str, small: bool, checked: bool, rate: float) -> None:
        key = (engine, small, checked)
        self.rates[key] = max(rate, self.rates.get(key, 0))


def main() -> int:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter).parse_args()
    toolchain, cache = find_toolchain(), open_cache()
    source = KERNELS / "warp_interpreter.mojo"
    request = BuildRequest(source, emit="shared-lib", line_tables=False)
    library = ctypes.CDLL(str(build(request, toolchain, cache).path))
    program = build(BuildRequest(KERNELS / "throughput.mojo", accelerator="sm_90a"), toolchain, cache).path
    print(f"{'launch':14}{'blocks':>8}{'checks':>8}{'NumPy, G/s':>14}{'Mojo, G/s':>12}{'ratio':>8}")
    for name in LAUNCHES:
        engine = Both(library)
        with Simulation(executor=engine) as simulation:
            subprocess.run([program, name], env=os.environ | simulation.environment, check=True)
        assert not simulation.findings, simulation.findings
        for small in (False, True):
            for checked in (True, False):
                ours, theirs = (engine.rates[kind, small, checked] / 1e9 for kind in ("NumPy", "Mojo"))
                row = f"{name:14}{'one' if small else 'all':>8}{'all' if checked else 'none':>8}"
                print(f"{row}{ours:14.3f}{theirs:12.3f}{theirs / ours:8.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
