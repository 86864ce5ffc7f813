"""The loads whose value a kernel stores unchanged, by data flow from register to register.

A value is followed through registers, lanes and the memory of a block or a thread, which counts as one
location. Functions that the kernel calls are not followed.
"""

from __future__ import annotations

from tooling.simulator.gpu.code_model import Function, Instruction, Operand, Register
from tooling.simulator.nvidia.analysis.followed_addresses import results_of, sources_of

_COPIES = frozenset({"mov", "selp", "shfl"})
_CONSTANTS = frozenset({"param", "const"})
_INSIDE = frozenset({"shared", "local"})


def loads_that_are_stored(function: Function) -> frozenset[int]:
    """PTX lines of loads from global memory whose value the function may store there unchanged."""
    body = [item for item in function.body if isinstance(item, Instruction)]
    flow = _Flow()
    size = -1
    while size != flow.size:
        size = flow.size
        for instruction in body:
            flow.follow(instruction)
    return frozenset(flow.stored)


class _Flow:
    """The loads, by line, that a register, a block's memory and the stores may have their values from."""

    def __init__(self) -> None:
        self.stored: set[int] = set()
        self._inside: set[int] = set()
        self._values: dict[str, set[int]] = {}

    @property
    def size(self) -> int:
        """Grows as long as something new is found."""
        return len(self.stored) + len(self._inside) + sum(map(len, self._values.values()))

    def follow(self, instruction: Instruction) -> None:
        """Take an instruction into account."""
        opcode, spaces = instruction.opcode, {each.partition("::")[0] for each in instruction.modifiers}
        if opcode == "ld" and not spaces & _CONSTANTS:
            found = set() if spaces & _INSIDE else {instruction.code_line}
            self._write(instruction, found if "global" in spaces else found | self._inside)
        elif opcode in _COPIES:
            self._write(instruction, self._read(instruction))
        elif opcode == "st":
            found = self._read(instruction)
            if not spaces & _INSIDE:
                self.stored |= found
            if "global" not in spaces:
                self._inside |= found
        elif opcode == "cp" and "global" in spaces and "bulk" not in spaces:
            self._inside.add(instruction.code_line)

    def _write(self, instruction: Instruction, found: set[int]) -> None:
        if found:
            for register in results_of(instruction):
                self._values.setdefault(register, set()).update(found)

    def _read(self, instruction: Instruction) -> set[int]:
        return set().union(*map(self._of, sources_of(instruction)))

    def _of(self, operand: Operand) -> set[int]:
        return self._values.get(operand.name, set()) if isinstance(operand, Register) else set()
