"""The layout of shared and local memory: the variables of a kernel and of the functions that it calls."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from tooling.simulator.gpu.code_model import Function, Module, Parameter, Variable
from tooling.simulator.gpu.shared_arrays import SharedArray


class Layout:
    """The offsets of all variables.

    Args:
        functions: the kernel and the functions that it calls; `framed`: the recursive ones.

    Attributes:
        shared: offset of each shared variable; `arrays`: its number, offset and size.
        local: by function and variable, the offset in a thread's local memory.
        shared_bytes: declared per block; the dynamic shared memory of a launch follows, aligned as its
            arrays are declared, as ptxas places it.
        local_bytes: per thread; `frame_start`, `frame_bytes`: the frame of the first call of a recursive
            function. Each deeper call has a frame of its own.
    """

    def __init__(self, module: Module, functions: Sequence[Function], framed: Container[str]) -> None:
        self.shared: dict[str, int] = {}
        self.arrays: dict[str, SharedArray] = {}
        self.local: dict[tuple[str, str], int] = {}
        self.shared_bytes = 0
        self.local_bytes = 0
        self._allocate_shared(module, functions)
        self._allocate_local([f for f in functions if f.name not in framed])
        self.frame_start = self.local_bytes
        in_frames = [f for f in functions if f.name in framed]
        self._allocate_local(in_frames)
        self.frame_bytes = max(self.local_bytes - self.frame_start, 16) if in_frames else 0

    def _allocate_shared(self, module: Module, functions: Iterable[Function]) -> None:
        variables = [*module.globals.values(), *(v for function in functions for v in function.variables)]
        dynamic: list[Variable] = []
        for variable in variables:
            if variable.space != "shared":
                continue
            if variable.external or not variable.size:
                dynamic.append(variable)
                continue
            self.shared_bytes += -self.shared_bytes % variable.align
            self._enter(variable.name, variable.size)
            self.shared_bytes += variable.size
        self.shared_bytes += -self.shared_bytes % max([16, *(v.align for v in dynamic)])
        for variable in dynamic:
            self._enter(variable.name, None)

    def _enter(self, name: str, size: int | None) -> None:
        self.shared[name] = self.shared_bytes
        self.arrays[name] = SharedArray(len(self.arrays) + 1, self.shared_bytes, size)

    def _allocate_local(self, functions: Iterable[Function]) -> None:
        """Give each local variable and call parameter an offset in a thread's local memory."""
        for function in functions:
            things: list[Variable | Parameter] = [
                v for v in function.variables if v.space in ("local", "param")
            ]
            if not function.is_entry:
                things += [*function.parameters, *function.results]
            for thing in things:
                self.local_bytes += -self.local_bytes % max(thing.align, 1)
                self.local[function.name, thing.name] = self.local_bytes
                self.local_bytes += thing.size
        self.local_bytes += -self.local_bytes % 16
