"""What an instruction costs: the unit that executes it, and the registers that it waits for.

For PTX the unit is a guess from the mnemonic, and the number of machine instructions an average; machine code
names its unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from msgspec import Struct

from tooling.simulator.gpu.code_model import (
    Instruction,
)
from tooling.simulator.nvidia.analysis.register_reads import registers_in, results_and_sources
from tooling.simulator.nvidia.machine_code.disassembly import SassInstruction
from tooling.simulator.nvidia.machine_code.mix import Kind, kind_of

FLOAT32, MULTIPLY, INTEGER, FLOAT64 = "float32", "multiply", "integer", "float64"
SPECIAL, SHUFFLE, TF32, FLOAT16, NONE = "special", "shuffle", "tf32", "float16", ""

_FREE = frozenset({"cvta", "mov", "pragma"})
_CONTROL = frozenset({"bra", "brx", "ret", "exit", "bar", "barrier", "membar", "fence", "nanosleep"})
_MEMORY = frozenset({"ld", "st", "atom", "red", "cp", "prefetch", "ldmatrix", "stmatrix"})
_APPROXIMATE = frozenset({"ex2", "lg2", "sin", "cos", "rcp", "rsqrt", "tanh"})
_WORDS = frozenset({"f32", "b32", "s32", "u32"})
_LONG: dict[str, int] = {"div": 20, "rem": 22, "sqrt": 9, "rcp": 8}
"""Machine instructions of an operation that has no machine instruction of its own."""


class Cost(Struct, frozen=True):
    """Of one instruction of PTX.

    Attributes:
        units: machine instructions by unit that one execution issues.
        result: the unit whose latency its result has.
        reads, writes: registers.
    """

    units: dict[str, float]
    result: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]

    @property
    def issued(self) -> float:
        """Machine instructions in all."""
        return sum(self.units.values())


def unit_of(instruction: Instruction) -> str:
    """The unit that executes an instruction of PTX; empty: none of those with a latency of their own."""
    opcode, modifiers = instruction.opcode, instruction.modifiers
    if opcode in _MEMORY or opcode in _CONTROL:
        return NONE
    if opcode in ("shfl", "redux"):
        return SHUFFLE
    if opcode in ("mma", "wmma"):
        return TF32 if "tf32" in modifiers else FLOAT16
    if "f64" in modifiers:
        return FLOAT64
    if opcode in _APPROXIMATE or (opcode in ("sqrt", "div") and "f32" in modifiers):
        return SPECIAL
    if opcode == "cvt" and any(kind in modifiers for kind in ("f32", "f16", "bf16")):
        return SPECIAL
    if opcode in ("fma", "add", "sub", "mul") and not {"f32", "f16", "f16x2", "bf16"}.isdisjoint(modifiers):
        return FLOAT32
    return MULTIPLY if opcode in ("mad", "mul") else INTEGER


def cost_of(instruction: Instruction) -> Cost:
    """The cost of an instruction of PTX, whose machine code is unknown."""
    unit = unit_of(instruction)
    count = 1.0
    if instruction.opcode in _FREE or is_parameter(instruction):
        count = 0.3
    elif instruction.opcode in _LONG and "approx" not in instruction.modifiers:
        count = _LONG[instruction.opcode]
        count *= 3 if "64" in str(instruction.modifiers[-1:]) else 1
    elif unit == INTEGER and instruction.modifiers[-1:] and instruction.modifiers[-1][1:] == "64":
        count = 1.0
    elif unit == INTEGER:
        count = 0.8
    return Cost({unit: count}, unit, *registers_of(instruction))


def is_parameter(instruction: Instruction) -> bool:
    """Whether it loads a parameter of the kernel or a constant."""
    space = instruction.modifiers[:1]
    return instruction.opcode == "ld" and bool(space) and space[0].partition("::")[0] in ("param", "const")


def registers_of(instruction: Instruction) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The registers that it reads and those that it writes; special registers such as %tid.x are neither."""
    results, sources = results_and_sources(instruction)
    reads, writes = (
        [name for name in registers_in(operands) if name.startswith("%") and "." not in name]
        for operands in (sources, results)
    )
    if instruction.predicate is not None:
        reads += [instruction.predicate.register, *writes]
    return tuple(reads), tuple(writes)


def sass_unit(instruction: SassInstruction) -> str:
    """The unit that executes a machine instruction; empty: it is issued, and costs nothing else here."""
    kind = kind_of(instruction)
    if instruction.name in ("FSEL", "FSETP", "FMNMX", "FSET"):
        return INTEGER
    if instruction.name == "IMAD":
        return MULTIPLY
    if instruction.name == "SHFL":
        return SHUFFLE
    known = {
        Kind.FLOAT32: FLOAT32,
        Kind.FLOAT16: FLOAT32,
        Kind.FLOAT64: FLOAT64,
        Kind.SPECIAL: SPECIAL,
        Kind.INTEGER: INTEGER,
    }
    return known.get(kind, NONE)


class BlockCode(Struct, frozen=True):
    """What the assembler made of a basic block of PTX.

    Attributes:
        units: machine instructions by unit for one execution of the block.
        unrolled: executions that the machine code performs together.
    """

    units: dict[str, float]
    unrolled: int = 1


def _is_one(instruction: Instruction) -> bool:
    """Whether the assembler makes one machine instruction of it, so that several are copies."""
    if instruction.opcode in _LONG or instruction.opcode in ("mov", "cvt", "cvta"):
        return False
    if instruction.opcode in ("bar", "shfl", "mma") or instruction.opcode in _MEMORY:
        return not is_parameter(instruction)
    return bool(instruction.modifiers) and instruction.modifiers[-1] in _WORDS


def block_code(
    block: Sequence[Instruction], code: tuple[SassInstruction, ...], block_of: dict[int, int]
) -> BlockCode:
    """The machine code of a basic block, by the lines of its instructions.

    The assembler copies the instructions of an unrolled loop: several machine instructions have one line.

    Args:
        block_of: basic block of the machine code by index of the instruction.
    """
    lines = {each.code_line: _is_one(each) for each in block}
    units: dict[str, float] = {}
    copies: dict[int, int] = {}
    together: dict[int, dict[int, int]] = {}
    for index, instruction in enumerate(code):
        line = instruction.ptx_line
        if line is None or line not in lines:
            continue
        unit = sass_unit(instruction)
        units[unit] = units.get(unit, 0.0) + 1
        if not lines[line]:
            continue
        copies[line] = copies.get(line, 0) + 1
        within = together.setdefault(line, {})
        within[block_of[index]] = within.get(block_of[index], 0) + 1
    if not copies:
        return BlockCode(units)
    number = max(1.0, median(copies.values()))
    unrolled = int(median(max(within.values()) for within in together.values()))
    return BlockCode({unit: count / number for unit, count in units.items()}, max(1, unrolled))
