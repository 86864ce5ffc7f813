"""Kernel output: `vprintf(format, arguments)` as Mojo's `print` and `_printf` use it.

The argument buffer holds the values after C's default promotions, each aligned to its own size (CUDA C++
Programming Guide, "Formatted output"). Strings are device addresses.
"""

from __future__ import annotations

import struct

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.gpu.address_spaces import Spaces
from tooling.simulator.gpu.code_model import Arguments, Instruction, Symbol
from tooling.simulator.gpu.generic_addresses import LOCAL_WINDOW, SHARED_WINDOW
from tooling.simulator.gpu.hooks import Space
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.nvidia.lowering.decoder import Decoder
from tooling.simulator.nvidia.lowering.predicates import guard, guarded_lanes
from tooling.simulator.program.c_format import format_text
from tooling.simulator.program.program import Batch

_MAX_STRING = 1 << 20


def bind_vprintf(
    decoder: Decoder, instruction: Instruction, arguments: Arguments, results: Arguments
) -> None:
    """Bind a call of vprintf: two 64-bit parameters and a 32-bit result."""
    offsets = []
    for argument in (*arguments.elements, *results.elements):
        offset = (
            decoder.local_offset(decoder.function.name, argument.name)
            if isinstance(argument, Symbol)
            else None
        )
        if offset is None:
            raise decoder.unknown(instruction)
        offsets.append(offset)
    if len(offsets) != 3:
        raise decoder.unknown(instruction)
    frame = decoder.frame() if decoder.function.name in decoder.framed else None
    if frame is not None:
        decoder.block.reads(frame)
    guarding = guard(decoder, instruction)

    def step(group: Group, batch: Batch) -> None:
        allowed = True if guarding is None else guarded_lanes(group, guarding)
        if allowed is False:
            return
        lanes = group.indices(batch.size)
        if allowed is not True:
            lanes = lanes[allowed]
        shift = 0 if frame is None else int(group.get(frame)[0])
        template, values, count = (offset + shift for offset in offsets)
        rows = batch.spaces.view(Space.LOCAL, 8).reshape(batch.size, -1)
        for lane in lanes:
            text = _string(batch.spaces, int(lane), int(rows[lane, template // 8]))
            passed = _Arguments(batch.spaces, int(lane), int(rows[lane, values // 8]))
            batch.stdout(format_text(text, passed))
        counts = batch.spaces.view(Space.LOCAL, 4).reshape(batch.size, -1)
        counts[lanes, count // 4] = np.uint32(1)

    decoder.block.steps.append(step)


def _bytes_at(spaces: Spaces, lane: int, address: int) -> tuple[NDArray[np.uint8], int]:
    """The memory that a generic address of a lane points into, as bytes, and the offset in it."""
    if address >> 32 == LOCAL_WINDOW >> 32:
        start = lane * spaces.local_stride
        return spaces.local_bytes[start : start + spaces.local_stride], address - LOCAL_WINDOW
    if address >> 32 == SHARED_WINDOW >> 32:
        start = int(spaces.block_of_lane[lane]) * spaces.shared_stride
        return spaces.shared_bytes[start : start + spaces.shared_stride], address - SHARED_WINDOW
    return spaces.global_bytes, address - int(spaces.base)


def _read(spaces: Spaces, lane: int, address: int, size: int) -> bytes:
    memory, offset = _bytes_at(spaces, lane, address)
    if offset < 0 or offset + size > len(memory):
        return bytes(size)
    return memory[offset : offset + size].tobytes()


def _string(spaces: Spaces, lane: int, address: int) -> bytes:
    if not address:
        return b"(null)"
    memory, offset = _bytes_at(spaces, lane, address)
    if offset < 0 or offset >= len(memory):
        return b"(bad address)"
    content = memory[offset : offset + _MAX_STRING].tobytes()
    return content.split(b"\0", 1)[0]


class _Arguments:
    """The arguments that one lane passes, in the memory of its batch."""

    def __init__(self, spaces: Spaces, lane: int, address: int) -> None:
        self._spaces = spaces
        self._lane = lane
        self._address = address
        self._position = 0

    def take(self, size: int) -> bytes:
        """See `Arguments.take`."""
        self._position += -self._position % size
        content = _read(self._spaces, self._lane, self._address + self._position, size)
        self._position += size
        return content

    def string(self) -> bytes:
        """See `Arguments.string`."""
        return _string(self._spaces, self._lane, struct.unpack("<Q", self.take(8))[0])
