"""The registers that a machine instruction reads and writes, from the text of its operands.

NVIDIA publishes no list. The rules here are those of the listings: results come first, stores and branches
have none, `.64` and `.128` and 64-bit arithmetic name the first of several registers. Where a rule is
unknown, an operand counts as one register. They serve to find dependent instructions, not to execute them.
"""

from __future__ import annotations

import re

from msgspec import Struct

from tooling.simulator.nvidia.machine_code.disassembly import SassInstruction

_NAMED = re.compile(r"\b(UR|UP|R|P|B)(\d+)\b(\.64\b)?")
_PREDICATE = re.compile(r"[!~]?U?P(?:\d+|T)\b")

_NO_RESULT = frozenset(
    {
        *(
            "ST",
            "STG",
            "STS",
            "STL",
            "STSM",
            "RED",
            "REDG",
            "BAR",
            "BRA",
            "BRX",
            "JMP",
            "EXIT",
            "RET",
            "CALL",
        ),
        *("NOP", "MEMBAR", "ERRBAR", "CCTL", "CCTLL", "DEPBAR", "LDGDEPBAR", "LDGSTS", "WARPSYNC"),
        *("BSYNC", "BREAK", "YIELD", "NANOSLEEP", "KILL", "BPT", "PREEXIT", "ACQBULK", "UBLKCP", "UBLKPF"),
        *(
            "UTMALDG",
            "UTMASTG",
            "UTMAPF",
            "UTMACMDFLUSH",
            "UTMACCTL",
            "FENCE",
            "ARRIVES",
            "WARPGROUP",
            "ACQSHMINIT",
        ),
    }
)
_COMPARISONS = frozenset(
    {"ISETP", "FSETP", "DSETP", "HSETP2", "UISETP", "PSETP", "PLOP3", "UPLOP3", "UPSETP"}
)
_TWO_RESULTS = frozenset({"VOTE", "VOTEU"})
_PAIRS = frozenset({"DADD", "DMUL", "DFMA", "DMNMX", "DSETP"})
_FRAGMENTS: dict[str, tuple[int, int]] = {
    "16816": (4, 2), "1688": (2, 1), "16832": (4, 2), "1684": (2, 1), "16864": (4, 2), "884": (1, 1),
}  # fmt: skip
"""Registers of a thread for A and B of a tensor-core instruction, by the shape in its name."""


class Uses(Struct, frozen=True):
    """The registers and predicates that an instruction reads and writes, such as `R4`, `UR4` and `P0`."""

    reads: frozenset[str]
    writes: frozenset[str]


def uses_of(instruction: SassInstruction) -> Uses:
    """The registers of an instruction; RZ, PT and constants are none."""
    operands = _split(instruction.operands)
    results = _result_count(instruction, operands)
    writes: set[str] = set()
    reads = set(_names(instruction.predicate, 1)) if instruction.predicate else set()
    for position, operand in enumerate(operands):
        names = _names(operand, _width(instruction, position, results))
        (writes if position < results else reads).update(names)
    if instruction.predicate:
        reads |= writes  # without the predicate the old values stay
    return Uses(frozenset(reads), frozenset(writes))


def _split(operands: str) -> list[str]:
    return [operand.strip() for operand in operands.split(",")] if operands else []


def _result_count(instruction: SassInstruction, operands: list[str]) -> int:
    name = instruction.name
    if name in _NO_RESULT or not operands:
        return 0
    if name in _COMPARISONS or name in _TWO_RESULTS:
        return 2
    count = 1
    if _PREDICATE.fullmatch(operands[0]):
        return 2  # LOP3 P0, R4, …; SHFL PT, R4, …; ATOMG PT, R4, …
    # IADD3 R4, P0, P1, R5, …: carries follow the result.
    while count < len(operands) - 1 and _PREDICATE.fullmatch(operands[count]):
        count += 1
    return count


def _width(instruction: SassInstruction, position: int, results: int) -> int:
    """How many registers an operand stands for, if it names one without brackets."""
    name, opcode = instruction.name, instruction.opcode
    modifiers = opcode.split(".")[1:]
    if name in ("HMMA", "IMMA", "DMMA") and modifiers:
        first, second = _FRAGMENTS.get(modifiers[0], (4, 2))
        if "TF32" in modifiers:
            first, second = {"1684": (2, 1), "1688": (4, 2)}.get(modifiers[0], (first, second))
        wide = "F32" in modifiers or name != "HMMA"
        return (4 if wide else 2, first, second, 4 if wide else 2)[min(position, 3)]
    if name == "HGMMA" and position in (0, 2):
        columns = int(modifiers[0].split("x")[1])  # 64 rows, for 128 threads
        return columns // 2 if "F32" in modifiers else columns // 4
    if name in _PAIRS:
        return 2
    if name == "LDSM" and position == 0:
        return int(modifiers[-1]) if modifiers[-1].isdecimal() else 1
    if name == "CS2R" and position == 0:
        return 1 if "32" in modifiers else 2
    if "WIDE" in modifiers:
        return 2 if position < results or position == results + 2 else 1
    for modifier, registers in (("128", 4), ("64", 2)):
        if modifier in modifiers:
            return registers
    return 1


def _names(operand: str, width: int) -> set[str]:
    """The registers that an operand names; in an address each is one register, or two with `.64`."""
    found = set()
    for kind, number, pair in _NAMED.findall(operand):
        count = 1
        if pair or (kind == "UR" and operand.startswith("desc[")):
            count = 2  # a 64-bit address, and the descriptor of the memory
        elif kind in ("R", "UR") and "[" not in operand:
            count = width
        found |= {f"{kind}{int(number) + step}" for step in range(count)}
    return found
