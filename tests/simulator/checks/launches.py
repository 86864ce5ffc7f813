"""A launch driven by a test: accesses and barriers are passed to the checks directly, without the engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from tooling.simulator.checks.base import CheckHook
from tooling.simulator.gpu.code_model import Function, Instruction, Module, Parameter, SourceLocation
from tooling.simulator.gpu.device_memory import Allocation, DeviceMemory
from tooling.simulator.gpu.hooks import Access, AccessKind, LaunchContext, Rows, Space
from tooling.simulator.gpu.launch import Dim3, Launch

BASE = 1 << 32

STORE_LINE, LOAD_LINE = 10, 20

ONE = Dim3(1)
WARPS = Dim3(64)

_FORMS = {AccessKind.LOAD: "ld.b32", AccessKind.STORE: "st.b32", AccessKind.ATOMIC: "atom.add.u32"}


def instruction(line: int, form: str = "ld.shared.b32") -> Instruction:
    """An instruction at this Mojo line (column 5) and PTX line 100 + line."""
    opcode, *modifiers = form.split(".")
    return Instruction(opcode, tuple(modifiers), None, (), 100 + line, SourceLocation("kernel.mojo", line, 5))


class HandLaunch:
    """Tells checks of a launch: `store`, `load`, `barrier`, … in the order in which the test calls them."""

    def __init__(
        self,
        checks: Sequence[CheckHook],
        *,
        grid: Dim3 = ONE,
        block: Dim3 = WARPS,
        cluster: Dim3 = ONE,
        shared: int = 256,
        arguments: Sequence[int] = (),
        arena: int = 1 << 16,
        body: Sequence[Instruction] = (),
        memory: DeviceMemory | None = None,
    ) -> None:
        self.checks = checks
        self.memory = memory or DeviceMemory(np.zeros(arena, np.uint8), BASE)
        parameters = tuple(Parameter(f"p{i}", 8 * i, 8, 8) for i in range(len(arguments)))
        function = Function("kernel", True, parameters, (), {}, (), (), tuple(body))
        files, digest = {1: "kernel.mojo"}, repr(function)
        module = Module((8, 5), ("sm_90a",), 64, {"kernel": function}, {}, (), {}, files, digest)
        bits = b"".join(value.to_bytes(8, "little") for value in arguments)
        launch = Launch(function, grid, block, cluster, parameters=bits)
        self.context = LaunchContext(
            launch, module, self.memory, block.count, grid.count, cluster.count, shared, 64
        )

    def buffer(self, size: int, *, written: bool = True) -> Allocation:
        """Allocate device memory, by default filled by the host."""
        allocation = self.memory.containing(self.memory.allocate(size))
        assert allocation is not None
        for check in self.checks:
            check.allocate(allocation)
            if written:
                check.host_write(self.memory, allocation.base, size)
        return allocation

    def begin(self) -> HandLaunch:
        """The launch starts; all its blocks run in one batch."""
        for check in self.checks:
            check.launch_begin(self.context)
            check.batch_begin(0, self.context.blocks)
        return self

    def store(
        self,
        threads: Sequence[int],
        offsets: Sequence[int],
        line: int = STORE_LINE,
        *,
        values: NDArray[Any] | None = None,
        width: int = 4,
        space: Space = Space.SHARED,
    ) -> Access:
        """These threads write, each its own number unless `values` are given."""
        values = np.array(threads, np.uint32) if values is None else values
        return self.access(AccessKind.STORE, threads, offsets, line, values=values, width=width, space=space)

    def load(
        self,
        threads: Sequence[int],
        offsets: Sequence[int],
        line: int = LOAD_LINE,
        *,
        blocks: NDArray[np.int64] | None = None,
        width: int = 4,
        space: Space = Space.SHARED,
    ) -> Access:
        """These threads read; `blocks` whose shared memory is read (by default their own)."""
        return self.access(AccessKind.LOAD, threads, offsets, line, blocks=blocks, width=width, space=space)

    def access(
        self,
        kind: AccessKind,
        threads: Sequence[int],
        offsets: Sequence[int],
        line: int,
        *,
        values: NDArray[Any] | None = None,
        blocks: NDArray[np.int64] | None = None,
        width: int = 4,
        space: Space = Space.SHARED,
        asynchronous: bool = False,
        form: str = "",
    ) -> Access:
        """An access; `offsets` are addresses for global memory and offsets in the window else.

        `form` is the mnemonic; by default the usual one of `kind`.
        """
        lanes, addresses = np.array(threads, np.int64), np.array(offsets, np.int64)
        if space is Space.SHARED and blocks is None:
            blocks = lanes // self.context.threads_per_block
        own = blocks is not None and (blocks == lanes // self.context.threads_per_block).all()
        neighbours = bool((addresses == addresses[0] + width * np.arange(len(lanes))).all())
        access = Access(
            space,
            kind,
            instruction(line, form or _FORMS[kind]),
            width,
            min(4, width),
            addresses,
            lanes,
            blocks=blocks,
            contiguous=space is Space.GLOBAL and neighbours,
            uniform=len(set(offsets)) == 1,
            rows=self._rows(threads, offsets, width) if own else None,
            values=values,
            asynchronous=asynchronous,
        )
        for check in self.checks:
            check.access(access)
        return access

    def _rows(self, threads: Sequence[int], offsets: Sequence[int], width: int) -> Rows | None:
        """The access as rows, if it is."""
        by_block: dict[int, list[tuple[int, int]]] = {}
        for thread, offset in zip(threads, offsets, strict=True):
            block, inside = divmod(thread, self.context.threads_per_block)
            by_block.setdefault(block, []).append((inside, offset))
        blocks, each = list(by_block), list(by_block.values())
        first, low, lanes = each[0][0][0], each[0][0][1], len(each[0])
        there = list(range(low, low + lanes * width, width))
        if blocks != list(range(blocks[0], blocks[0] + len(blocks))) or low % width:
            return None
        if any([offset for _, offset in one] != there for one in each):
            return None
        numbers = [number for one in each for number, _ in one]
        consecutive = numbers == list(range(first, first + lanes)) * len(each)
        rows = Rows(blocks[0], blocks[-1] + 1, lanes, low, low + lanes * width, None)
        return replace(rows, thread=first) if consecutive else rows

    def copy(self, thread: int, offset: int) -> Access:
        """The thread starts an asynchronous copy into shared memory."""
        return self.access(
            AccessKind.STORE,
            [thread],
            [offset],
            STORE_LINE,
            values=np.array([1], np.uint32),
            asynchronous=True,
        )

    def barrier(self, *blocks: int) -> None:
        """All threads of these blocks (by default all blocks) pass a barrier."""
        for check in self.checks:
            check.block_barrier(np.array(blocks or range(self.context.blocks)), instruction(30, "bar.sync"))

    def syncwarp(self, threads: Sequence[int], mask: int = 0xFFFFFFFF) -> None:
        """These threads of one warp synchronise."""
        for check in self.checks:
            meeting = instruction(30, "bar.warp.sync")
            check.warp_sync(np.array(threads), np.full(len(threads), mask, np.uint32), meeting)
