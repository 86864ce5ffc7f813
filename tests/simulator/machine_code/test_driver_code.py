"""The assembler's machine code of every kernel of the book against what a GPU's driver made of the same PTX.

`tests/data/h100/machine_code.json` has the registers, local and shared memory that the driver reported for
the modules as a program loads them (`cuModuleLoadData`), and a digest of the opcodes of that code.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import tarfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tooling.simulator.nvidia.machine_code.assembler import Resources
from tooling.simulator.nvidia.machine_code.code import MachineCode, machine_code_of
from tooling.simulator.nvidia.machine_code.flow import basic_blocks
from tooling.simulator.nvidia.machine_code.mix import Kind, kind_of
from tooling.simulator.nvidia.machine_code.tools import find_tools
from tooling.simulator.nvidia.machine_code.waits import scoreboards_set, scoreboards_waited_for
from tooling.simulator.nvidia.ptx.reader import parse_module

FOLDER = Path(__file__).parents[2] / "data" / "h100"
RECORDED: dict[str, dict[str, Any]] = json.loads((FOLDER / "machine_code.json").read_text("utf-8"))["kernels"]
DIFFERENT = {
    # The driver's ptxas (13.0) needs 78 registers and spills nothing.
    "p23.19": Resources(64, stack=2232, spill_stores=16, spill_loads=16),
}
"""What ptxas 13.5.37 gives kernels to which the driver gives other registers."""

OTHER_OPCODES = {
    *("p23.19", "p23_tile_tensor.19"),
    *("p33.0", "p33.2", "p33_tile_tensor.0", "p33_tile_tensor.2"),
}
"""Modules whose kernel has other opcodes: those of tensor cores one more, and two large ones of puzzle 23."""

FIXED_LATENCY = {Kind.FLOAT32, Kind.INTEGER}


@cache
def modules() -> dict[str, str]:
    """The PTX of the modules of every solution, by program and number."""
    with lzma.open(FOLDER / "machine_code_ptx.tar.xz") as file, tarfile.open(fileobj=file) as archive:
        members = [(member.name, archive.extractfile(member)) for member in archive.getmembers()]
        return {name.removesuffix(".ptx"): text.read().decode() for name, text in members if text}


def machine_code(module: str) -> dict[str, MachineCode]:
    return machine_code_of(parse_module(modules()[module]), find_tools())


def opcodes(code: MachineCode) -> list[str]:
    return [instruction.opcode for instruction in code.instructions if instruction.name != "NOP"]


def test_every_module_is_recorded() -> None:
    assert modules().keys() == RECORDED.keys()
    assert sum(map(len, RECORDED.values())) == len(modules()) == 167


@pytest.mark.slow  # the assembler and the disassembler run for every kernel of the book
@pytest.mark.parametrize("module", RECORDED)
def test_the_assembler_makes_the_drivers_code(module: str) -> None:
    for name, code in machine_code(module).items():
        recorded = RECORDED[module][name]
        resources = code.resources
        if module in DIFFERENT:
            assert resources == DIFFERENT[module]
            assert resources.registers != recorded["registers"]
            continue
        found = {"registers": resources.registers, "local": resources.stack, "shared": resources.shared}
        assert found == {kind: recorded[kind] for kind in found}
        digest = hashlib.sha256("\n".join(opcodes(code)).encode()).hexdigest()
        assert (digest[:16] == recorded["opcodes"]) == (module not in OTHER_OPCODES)
        assert abs(len(opcodes(code)) - recorded["instructions"]) <= (4 if module in OTHER_OPCODES else 0)


@pytest.mark.slow
@pytest.mark.parametrize("module", RECORDED)
def test_what_must_hold_if_the_control_bits_are_decoded_right(module: str) -> None:
    for code in machine_code(module).values():
        known = {number for instruction in code.instructions for number in scoreboards_set(instruction)}
        waited = {
            number for instruction in code.instructions for number in scoreboards_waited_for(instruction)
        }
        assert waited <= known
        assert not [
            instruction.text
            for instruction in code.instructions
            if kind_of(instruction) in FIXED_LATENCY and instruction.control.write_barrier is not None
        ]
        assert sum(block.end - block.first for block in basic_blocks(code.instructions)) == len(
            code.instructions
        )
        assert all(index in loop.instructions for loop in code.loops for index in code.chains(loop).longest)
