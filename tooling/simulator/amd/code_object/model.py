"""A loaded code object, as the rest of the back end sees it."""

from __future__ import annotations

import numpy as np
from msgspec import Struct, field

from tooling.simulator.gpu.code_model import Function, Loader, Module, SourceLocation

CODE = "%code"
"""Symbol for the device address at which a code object is loaded."""


class HiddenArgument(Struct, frozen=True):
    """An argument that the runtime adds (LLVM AMDGPU User Guide, "Kernel Argument Metadata")."""

    kind: str
    offset: int
    size: int


class Descriptor(Struct, frozen=True):
    """A kernel descriptor (LLVM AMDGPU User Guide, "Kernel Descriptor").

    Attributes:
        shared_bytes: static shared memory of a block; local_bytes: local memory of a thread.
        entry: offset of the first instruction in the code.
        resource1, resource2, properties: COMPUTE_PGM_RSRC1, COMPUTE_PGM_RSRC2, KERNEL_CODE_PROPERTIES.
    """

    shared_bytes: int
    local_bytes: int
    kernarg_bytes: int
    entry: int
    resource1: int
    resource2: int
    properties: int

    @property
    def float_mode(self) -> int:
        """FLOAT_MODE, 2 bits each: rounding of 32 and of 16/64 bits, denormals of 32 and of 16/64 bits."""
        return self.resource1 >> 12 & 0xFF


class KernelFunction(Function, frozen=True, kw_only=True):
    """A kernel of a code object.

    Attributes:
        descriptor: its kernel descriptor; hidden: the arguments that the runtime adds.
        max_block: the most threads of a block it was compiled for.
        required_block: the block it was compiled for, or None.
        uses_dynamic_stack: it has calls whose stack is not known.
    """

    descriptor: Descriptor
    hidden: tuple[HiddenArgument, ...] = ()
    max_block: int = 1024
    required_block: tuple[int, int, int] | None = None
    uses_dynamic_stack: bool = False


class Segment(Struct, frozen=True):
    """Bytes to load: `address` counts from the start of the loaded image; `size` may exceed the content."""

    address: int
    content: bytes
    size: int


class CodeObject(Module, frozen=True, kw_only=True):
    """A module of machine code.

    Attributes:
        code: bytes of `.text`; code_address: their address in the image.
        segments: what is loaded; image_bytes: their extent.
        relocations: (address, addend): the image's base plus the addend goes there, 8 bytes.
        variable_addresses: addresses of the variables in the image, by name.
        function_offsets: offsets of functions in the code, kernels included.
        line_offsets, line_positions: source positions from each code offset on, ascending.
    """

    code: bytes
    code_address: int
    segments: tuple[Segment, ...] = ()
    image_bytes: int = 0
    relocations: tuple[tuple[int, int], ...] = ()
    variable_addresses: dict[str, int] = field(default_factory=dict)
    function_offsets: tuple[int, ...] = ()
    line_offsets: list[int] = field(default_factory=list)
    line_positions: list[SourceLocation | None] = field(default_factory=list)

    def load(self, memory: Loader) -> dict[str, int]:
        """Load the segments; returns the addresses of the image (`CODE`) and of the variables."""
        base = memory.allocate(self.image_bytes, "code object", poison=False, internal=True)
        view = memory.view(base, self.image_bytes)
        view[:] = 0
        for segment in self.segments:
            end = segment.address + len(segment.content)
            view[segment.address : end] = np.frombuffer(segment.content, np.uint8)
        for address, addend in self.relocations:
            view[address : address + 8] = np.frombuffer((base + addend).to_bytes(8, "little"), np.uint8)
        return {CODE: base} | {name: base + at for name, at in self.variable_addresses.items()}
