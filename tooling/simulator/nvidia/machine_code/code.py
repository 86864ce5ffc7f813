"""The machine code of a module's kernels with what is known about it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from tooling.simulator.gpu.code_model import Module
from tooling.simulator.nvidia.machine_code.assembler import Resources, assemble
from tooling.simulator.nvidia.machine_code.chains import Chains, chains_of
from tooling.simulator.nvidia.machine_code.disassembly import SassInstruction, disassemble
from tooling.simulator.nvidia.machine_code.flow import Block, Loop, basic_blocks, loops
from tooling.simulator.nvidia.machine_code.tools import Tools
from tooling.simulator.nvidia.machine_code.waits import waited_for
from tooling.simulator.program.module_cache import ModuleCache


class MachineCode:
    """The machine code of a kernel.

    Args:
        target: the GPU that it is for; assembler: the version of ptxas.

    Attributes:
        padding: instructions after the last one that can be executed, which fill the memory.
    """

    def __init__(
        self,
        instructions: tuple[SassInstruction, ...],
        resources: Resources,
        target: str = "",
        assembler: str = "",
    ) -> None:
        end = len(instructions)
        while end and instructions[end - 1].name == "NOP":
            end -= 1
        self.instructions = instructions[:end]
        self.padding = len(instructions) - end
        self.resources = resources
        self.target = target
        self.assembler = assembler

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Its basic blocks."""
        return basic_blocks(self.instructions)

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """Its loops, by their first instruction."""
        return loops(self.blocks)

    @cached_property
    def waits(self) -> Mapping[int, Mapping[int, tuple[int, ...]]]:
        """See `waited_for`."""
        return waited_for(self.instructions, self.blocks)

    def chains(self, loop: Loop) -> Chains:
        """See `chains_of`."""
        return chains_of(self.instructions, loop.instructions)


_CODE: ModuleCache[dict[str, MachineCode]] = ModuleCache()
_RESOURCES: ModuleCache[dict[str, Resources]] = ModuleCache()


def machine_code_of(module: Module, tools: Tools) -> dict[str, MachineCode]:
    """The machine code of the kernels of a PTX module, by their names in it.

    Raises:
        ToolFailed: ptxas refuses the PTX, or nvdisasm the machine code.
        ValueError: the output of a tool cannot be read.
    """

    def find() -> dict[str, MachineCode]:
        target = module.target[0]
        assembly = assemble(module.text, target, tools)
        code = disassemble(assembly.cubin, tools)
        return {
            name: MachineCode(code[name], resources, target, tools.version)
            for name, resources in assembly.resources.items()
        }

    return _CODE.get((module.digest, tools), find)


def resources_of(module: Module, tools: Tools) -> dict[str, Resources]:
    """The registers, spills, stack and shared memory of the kernels of a PTX module, by their names in it.

    Raises: as `machine_code_of`.
    """

    def find() -> dict[str, Resources]:
        return assemble(module.text, module.target[0], tools).resources

    return _RESOURCES.get((module.digest, tools), find)
