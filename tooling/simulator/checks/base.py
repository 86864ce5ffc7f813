"""The base class of the checks: collects findings, and describes threads and buffers for them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from copy import copy
from pathlib import PurePath
from typing import ClassVar

import numpy as np
from msgspec import UNSET
from msgspec.structs import replace

from tooling.simulator.checks.findings import Action, Buffer, Check, Finding, Memory, Party, SourcePosition
from tooling.simulator.gpu.code_model import Instruction, SourceLocation
from tooling.simulator.gpu.device_memory import Allocation, DeviceMemory
from tooling.simulator.gpu.hooks import Access, AccessKind, Hook, Ints, LaunchContext, Space
from tooling.simulator.gpu.kernel_names import readable_kernel
from tooling.simulator.gpu.shared_arrays import SharedArray

WARP = 32

_ACTIONS = {
    AccessKind.LOAD: Action.READ,
    AccessKind.STORE: Action.WRITE,
    AccessKind.ATOMIC: Action.ATOMIC,
}
_MEMORIES = {Space.GLOBAL: Memory.GLOBAL, Space.SHARED: Memory.SHARED, Space.LOCAL: Memory.LOCAL}


class CheckHook(Hook):
    """A check: a hook that collects findings, each distinct one once, with a count."""

    check: ClassVar[Check]
    recording = True
    """Whether findings are recorded: not those of launches that the user has not selected."""

    def __init__(self) -> None:
        self._findings: dict[Hashable, Finding] = {}
        self._launches = 0
        self._context: LaunchContext | None = None

    @property
    def findings(self) -> list[Finding]:
        """Everything found so far, in the order of the first occurrence."""
        return list(self._findings.values())

    @property
    def context(self) -> LaunchContext:
        """The current launch, or the last one."""
        if self._context is None:
            raise RuntimeError("no launch has begun")
        return self._context

    def launch_begin(self, context: LaunchContext) -> None:
        self._launches += 1
        self._context = context

    def for_launch(self, twins: Mapping[int, Hook]) -> CheckHook:
        """A twin with the number of the next launch, which shares the findings."""
        twin = copy(self)
        self._launches += 1
        return twin

    def launch_repeated(self) -> None:
        """A launch was not simulated, since it repeats an earlier one without findings."""
        self._launches += 1

    def note(self, key: Hashable, finding: Finding) -> None:
        """Record a finding; one with a known key only adds to the count of the first."""
        if not self.again(key, finding.count):
            self._findings[key] = replace(finding, launch=self._launches)

    def again(self, key: Hashable, count: int) -> bool:
        """Count a finding once more if it is known; False (and nothing done) if it is not."""
        if not self.recording:
            return True
        known = self._findings.get(key)
        if known is None:
            return False
        self._findings[key] = replace(known, count=known.count + count)
        return True

    def kernel(self) -> str:
        """The current (or last) kernel's name as in the source; empty before the first launch."""
        if self._context is None:
            return ""
        context = self._context
        return readable_kernel(context.launch.function.name, context.module.files.values())

    def party(self, thread: int, action: Action, instruction: Instruction | None, count: int = 1) -> Party:
        """The thread with this linear number in the launch, at an instruction."""
        return party_in(self.context, thread, action, instruction, count)

    def buffer(self, allocation: Allocation, element: int, memory: DeviceMemory | None = None) -> Buffer:
        """An allocation described by number, size and kernel argument.

        `memory` is needed only if no launch may have begun.
        """
        return Buffer(
            Memory.GLOBAL,
            allocation.size,
            number=0 if allocation.internal else allocation_number(memory or self.context.memory, allocation),
            label=allocation.label,
            argument=self._argument_of(allocation),
            element=element,
        )

    def window(self, space: Space, element: int, array: SharedArray | None = None) -> Buffer:
        """A block's shared memory, or one array in it, or a thread's local memory.

        An array has its number only if the kernel has several.
        """
        if array is not None:
            size = array.size if array.size is not None else self.context.shared_bytes - array.offset
            several = any(other.number > 1 for other in self.context.arrays_meant().values())
            return Buffer(Memory.SHARED, size, number=array.number if several else 0, element=element)
        size = self.context.shared_bytes if space is Space.SHARED else self.context.local_bytes
        return Buffer(_MEMORIES[space], size, element=element)

    def is_argument(self, allocation: Allocation) -> bool:
        """Whether the current kernel has a pointer argument into this memory."""
        return self._argument_of(allocation) is not None

    def _argument_of(self, allocation: Allocation) -> int | None:
        if self._context is None:
            return None
        launch = self._context.launch
        for number, parameter in enumerate(launch.function.parameters, start=1):
            last = parameter.offset + parameter.size - 8
            for offset in range(parameter.offset, last + 1, 8):
                value = int.from_bytes(launch.parameters[offset : offset + 8], "little")
                if allocation.base <= value < allocation.base + max(1, allocation.size):
                    return number
        return None


def party_in(
    context: LaunchContext, thread: int, action: Action, instruction: Instruction | None, count: int = 1
) -> Party:
    """The thread with this linear number in a launch, at an instruction."""
    block, index = context.launch.position(thread)
    inside = thread % context.threads_per_block
    return Party(
        action,
        (index.x, index.y, index.z),
        (block.x, block.y, block.z),
        inside // context.warp_size,
        inside % context.warp_size,
        source_position(instruction),
        count,
        callers_of(instruction) or UNSET,
        context.launch.device if context.several_devices else UNSET,
    )


def action_of(access: Access) -> Action:
    """What the threads of an access do."""
    if access.instruction.opcode == "wgmma" and access.transfer is not None:
        return Action.PRODUCT
    return Action.ASYNC_COPY if access.asynchronous or access.transfer is not None else _ACTIONS[access.kind]


def by_block(threads: Ints, size: int) -> Iterator[tuple[int, Ints]]:
    """(block, thread numbers in the block) for blocks of `size` threads."""
    blocks = threads // size
    order = np.argsort(blocks, kind="stable")
    found, firsts = np.unique(blocks[order], return_index=True)
    return zip(found.tolist(), np.split(threads[order] % size, firsts)[1:], strict=True)


def source_position(instruction: Instruction | None) -> SourcePosition:
    """The author's line of an instruction; line 0 if the PTX has no line table."""
    if instruction is None:
        return SourcePosition("", 0, 0, 0)
    source = instruction.source
    if source is None:
        return SourcePosition("", 0, 0, instruction.code_line)
    source = _authors_own(source)
    return SourcePosition(source.file, source.line, source.column, instruction.code_line)


def callers_of(instruction: Instruction | None) -> tuple[SourcePosition, ...]:
    """The author's calls by which the function at the instruction's position was inlined, innermost first."""
    if instruction is None or instruction.source is None:
        return ()
    found = []
    call = _authors_own(instruction.source).inlined_at
    while call is not None:
        if not is_packaged(call.file):
            found.append(SourcePosition(call.file, call.line, call.column, instruction.code_line))
        call = call.inlined_at
    return tuple(found)


def _authors_own(source: SourceLocation) -> SourceLocation:
    """The innermost position in the kernel's own file: library code inlined there is not the author's.

    In a kernel of a library, such as that of `elementwise`, the author's code is what it inlines from a file
    outside the packages.
    """
    chain = [source]
    while chain[-1].inlined_at is not None:
        chain.append(chain[-1].inlined_at)
    own = chain[-1].file
    if is_packaged(own):
        own = next((one.file for one in chain if PurePath(one.file).is_absolute()), own)
    return next(one for one in chain if one.file == own)


def is_in_library(instruction: Instruction) -> bool:
    """Whether the instruction is of one of Mojo's packages, and not inlined directly into the author's code.

    Packages were compiled on another machine: their line tables have relative paths, such as
    `max/mojo/max/gpu/primitives/block.mojo` or `Mojo/stdlib/std/os/os.mojo`.
    """
    inner = instruction.source
    outer = inner.inlined_at if inner else None
    positions = [one for one in (inner, outer) if one is not None]
    return bool(positions) and all(is_packaged(one.file) for one in positions)


def is_packaged(file: str) -> bool:
    """Whether it is a file of one of Mojo's packages."""
    path = PurePath(file)
    return not path.is_absolute() and not {"mojo", "Mojo"}.isdisjoint(path.parts[:-1])


def allocation_number(memory: DeviceMemory, allocation: Allocation) -> int:
    """The number of the allocation, from 1; device memory and pinned host memory are counted separately."""
    return 1 + sum(
        other.host == allocation.host and other.serial < allocation.serial and not other.internal
        for other in memory
    )


def survivors(access: Access) -> Access:
    """The access without the lanes that another check has suppressed."""
    if access.suppressed is None:
        return access
    kept = np.flatnonzero(~access.suppressed)
    return lanes_of(access, kept)


def lanes_of(access: Access, lanes: np.ndarray) -> Access:
    """The access restricted to some of its lanes."""
    return Access(
        access.space,
        access.kind,
        access.instruction,
        access.bytes,
        access.element_bytes,
        access.addresses[lanes],
        access.threads[lanes],
        blocks=None if access.blocks is None else access.blocks[lanes],
        uniform=access.uniform,
        values=None if access.values is None else access.values[..., lanes],
        asynchronous=access.asynchronous,
        transfer=access.transfer,
        value=access.value,
    )
