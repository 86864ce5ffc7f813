"""The analyses of one kernel, each computed when it is first asked for and kept for all launches."""

from __future__ import annotations

from functools import cached_property

from tooling.simulator.gpu.code_model import Function, Module
from tooling.simulator.gpu.device_memory import Allocation
from tooling.simulator.gpu.hooks import LaunchContext
from tooling.simulator.nvidia.analysis.accesses import accesses_of
from tooling.simulator.nvidia.analysis.copied_values import loads_that_are_stored
from tooling.simulator.nvidia.analysis.register_reads import registers_read
from tooling.simulator.nvidia.analysis.written_buffers import meant_pointers, pointers_of, written_pointers
from tooling.simulator.program.backend import Accesses
from tooling.simulator.program.module_cache import ModuleCache


class KernelAnalysis:
    """What the text of a kernel, and of the functions of its module, says about every launch."""

    def __init__(self, module: Module, kernel: Function) -> None:
        self._module = module
        self._kernel = kernel
        self._functions = (kernel, *module.functions.values())
        self._written: dict[frozenset[str], frozenset[str] | None] = {}
        self._meant: dict[frozenset[str], dict[tuple[int, int], str]] = {}

    @cached_property
    def registers_read(self) -> frozenset[str]:
        """Names of the registers that an instruction reads."""
        return registers_read(self._functions)

    @cached_property
    def accesses(self) -> Accesses:
        """Widths and order of the memory accesses."""
        return accesses_of(self._functions, self.registers_read)

    @cached_property
    def copied_loads(self) -> frozenset[int]:
        """PTX lines of loads from global memory whose value may be stored there unchanged."""
        return loads_that_are_stored(self._kernel)

    def written_allocations(self, context: LaunchContext) -> frozenset[int] | None:
        """Serial numbers of the allocations that a launch may write; None if it may write any."""
        pointers = pointers_of(context)
        if pointers is None:
            return None
        names = frozenset(pointers)
        if names not in self._written:
            self._written[names] = written_pointers(self._kernel, set(self._module.globals), names)
        written = self._written[names]
        return None if written is None else frozenset(pointers[name].serial for name in written)

    def meant_allocations(self, context: LaunchContext) -> dict[tuple[int, int], Allocation]:
        """By `Instruction.code_position` of an access to global memory, the allocation of the one argument
        from which its address was computed."""
        pointers = pointers_of(context) or {}
        names = frozenset(pointers)
        if names not in self._meant:
            self._meant[names] = meant_pointers(self._kernel, names)
        return {position: pointers[name] for position, name in self._meant[names].items()}


_ANALYSES: ModuleCache[KernelAnalysis] = ModuleCache()


def analysis_of(context: LaunchContext) -> KernelAnalysis:
    """The analysis of a launch's kernel; one for each module text and kernel."""
    module, kernel = context.module, context.launch.function
    return _ANALYSES.get((module.digest, kernel.name), lambda: KernelAnalysis(module, kernel))
