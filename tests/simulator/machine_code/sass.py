"""Machine code for tests, written down or recorded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tooling.simulator.nvidia.machine_code.control import Control
from tooling.simulator.nvidia.machine_code.disassembly import SassInstruction, read_listing

DATA = Path(__file__).parent / "data"
KERNEL = "p15_axis_sum_LayoutTensor_Tru6A6AoA6A6AcB_28c1a1428b4adcc8"
"""The kernel of puzzle 15, recorded: the PTX, and what ptxas 13.5.37 and nvdisasm printed for it."""


def recorded() -> tuple[SassInstruction, ...]:
    """The recorded machine code."""
    return read_listing((DATA / "axis_sum.sass").read_text("utf-8"))[KERNEL]


def code(
    *lines: str, write: dict[int, int] | None = None, waits: dict[int, Sequence[int]] | None = None
) -> tuple[SassInstruction, ...]:
    """Instructions as nvdisasm prints them; a jump names the index of its target: `BRA 3`.

    Args:
        write: by index, the scoreboard that an instruction sets; waits: those that it waits for.
    """
    made = []
    for index, line in enumerate(lines):
        predicate, text = "", line
        if line.startswith("@"):
            predicate, _, text = line[1:].partition(" ")
        opcode, _, operands = text.partition(" ")
        target = operands.split(", ")[-1]
        jumps = opcode.split(".")[0] in ("BRA", "CALL") and target.isdecimal()
        control = Control(1, False, (write or {}).get(index), None, tuple((waits or {}).get(index, ())), 0)
        targets = (16 * int(target),) if jumps else ()
        made.append(SassInstruction(16 * index, predicate, opcode, operands, control, None, targets))
    return tuple(made)
