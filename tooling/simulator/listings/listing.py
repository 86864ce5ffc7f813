"""The machine code of a profiled kernel, with the PTX and the Mojo line of each instruction."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from functools import cached_property

from msgspec import Struct

from tooling.simulator.checks.base import source_position
from tooling.simulator.counters.profile import ELSEWHERE, KernelProfile, Line
from tooling.simulator.gpu.code_model import Function, Instruction, Module
from tooling.simulator.nvidia.machine_code.code import MachineCode, machine_code_of
from tooling.simulator.nvidia.machine_code.disassembly import SassInstruction
from tooling.simulator.nvidia.machine_code.tools import Tools


class Wait(Struct, frozen=True):
    """A scoreboard that an instruction waits for, and the instructions that set it, by index.

    Without setters it is already released on every path.
    """

    scoreboard: int
    setters: tuple[int, ...]


class Listing:
    """The machine code of a kernel and what it comes from.

    Attributes:
        kernel: its profile; code: its machine code.
    """

    def __init__(self, kernel: KernelProfile, module: Module, code: MachineCode) -> None:
        self.kernel = kernel
        self.code = code
        self._module = module

    @property
    def instructions(self) -> tuple[SassInstruction, ...]:
        """The machine instructions, in the order of their addresses."""
        return self.code.instructions

    @cached_property
    def ptx(self) -> Mapping[int, str]:
        """The lines of the PTX of this kernel, by number; without line tables and empty lines."""
        lines = self._module.text.split("\n")
        first = self._module.kernels[self.kernel.symbol].line
        functions = [*self._module.kernels.values(), *self._module.functions.values()]
        after = [function.line for function in functions if function.line > first]
        end = min(after, default=len(lines) + 1)
        called = {number for number in self.sources if not first <= number < end}
        numbers = [*range(first, end), *sorted(called)]
        return {
            number: text
            for number in numbers
            if (text := lines[number - 1].split("//")[0].rstrip())
            and not text.lstrip().startswith((".loc", ".file"))
        }

    def line_of_ptx(self, number: int) -> Line:
        """The author's line of a line of PTX; of one without an instruction, that of the next instruction."""
        numbers = self._numbers
        index = bisect_left(numbers, number)
        if index == len(numbers):
            return ELSEWHERE
        return self.sources[numbers[index]]

    def line_of(self, index: int) -> Line:
        """The author's line of a machine instruction."""
        number = self.instructions[index].ptx_line
        return ELSEWHERE if number is None else self.line_of_ptx(number)

    def waits_of(self, index: int) -> tuple[Wait, ...]:
        """What a machine instruction waits for."""
        waits = self.code.waits.get(index, {})
        return tuple(Wait(scoreboard, setters) for scoreboard, setters in sorted(waits.items()))

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """The lines of the author that have machine code, in order; first the file of most of it."""
        found = [line for index in range(len(self.instructions)) if (line := self.line_of(index)).number]
        files = Counter(line.file for line in found)
        return tuple(sorted({*found}, key=lambda line: (-files[line.file], line.file, line.number)))

    @cached_property
    def sources(self) -> dict[int, Line]:
        """The author's line of each line of PTX with an instruction, with those of the module's functions."""
        found = {}
        for function in (self._module.kernels[self.kernel.symbol], *self._module.functions.values()):
            found.update(_sources_of(function))
        return dict(sorted(found.items()))

    @cached_property
    def _numbers(self) -> list[int]:
        return list(self.sources)


def _sources_of(function: Function) -> dict[int, Line]:
    found = {}
    for statement in function.body:
        if isinstance(statement, Instruction):
            position = source_position(statement)
            found[statement.code_line] = Line(position.file, position.line) if position.line else ELSEWHERE
    return found


def listing_of(kernel: KernelProfile, tools: Tools) -> Listing:
    """The listing of a profiled kernel.

    Raises:
        ToolFailed, ValueError: as `machine_code_of`; ValueError also for a kernel without its module.
    """
    if kernel.module is None:
        raise ValueError(f"{kernel.name}: the profile has no code")
    return Listing(kernel, kernel.module, machine_code_of(kernel.module, tools)[kernel.symbol])
