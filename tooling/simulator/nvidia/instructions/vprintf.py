"""Kernel output: `vprintf(format, arguments)` as Mojo's `print` and `_printf` use it.

The argument buffer holds the values after C's default promotions, each aligned to its own size (CUDA C++
Programming Guide, "Formatted output"). Strings are device addresses.
"""

from __future__ import annotations

import re
import struct
from typing import Any

import numpy as np

from tooling.simulator.gpu.code_model import Arguments, Instruction, Symbol
from tooling.simulator.gpu.generic_addresses import LOCAL_WINDOW, SHARED_WINDOW
from tooling.simulator.gpu.hooks import Space
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.nvidia.lowering.decoder import Decoder
from tooling.simulator.nvidia.lowering.predicates import guard, guarded_lanes
from tooling.simulator.program.program import Batch

_CONVERSION = re.compile(rb"%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+))?(hh|h|ll|l|j|z|t|L|q)?([diouxXcsfFeEgGaAp%])")
_MAX_STRING = 1 << 20
_NARROW = {b"hh": "b", b"h": "h"}
"""`struct` format characters of signed numbers with these length modifiers."""


def bind_vprintf(
    decoder: Decoder, instruction: Instruction, arguments: Arguments, results: Arguments
) -> None:
    """Bind a call of vprintf: two 64-bit parameters and a 32-bit result."""
    offsets = []
    for argument in (*arguments.elements, *results.elements):
        offset = (
            decoder.local_place(decoder.function.name, argument.name)
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
            text = format_text(
                batch.spaces, int(lane), int(rows[lane, template // 8]), int(rows[lane, values // 8])
            )
            batch.stdout(text)
        counts = batch.spaces.view(Space.LOCAL, 4).reshape(batch.size, -1)
        counts[lanes, count // 4] = np.uint32(1)

    decoder.block.steps.append(step)


def _bytes_at(spaces: Any, lane: int, address: int) -> tuple[memoryview, int]:
    """The memory that a generic address of a lane points into, and the offset in it."""
    if address >> 32 == LOCAL_WINDOW >> 32:
        start = lane * spaces.local_stride
        return memoryview(spaces.local_bytes[start : start + spaces.local_stride]), address - LOCAL_WINDOW
    if address >> 32 == SHARED_WINDOW >> 32:
        start = int(spaces.block_of_lane[lane]) * spaces.shared_stride
        return memoryview(spaces.shared_bytes[start : start + spaces.shared_stride]), address - SHARED_WINDOW
    return memoryview(spaces.global_bytes), address - int(spaces.base)


def _read(spaces: Any, lane: int, address: int, size: int) -> bytes:
    memory, offset = _bytes_at(spaces, lane, address)
    if offset < 0 or offset + size > len(memory):
        return bytes(size)
    return bytes(memory[offset : offset + size])


def _string(spaces: Any, lane: int, address: int) -> bytes:
    if not address:
        return b"(null)"
    memory, offset = _bytes_at(spaces, lane, address)
    if offset < 0 or offset >= len(memory):
        return b"(bad address)"
    content = bytes(memory[offset : offset + _MAX_STRING])
    return content.split(b"\0", 1)[0]


def _c_format(conversion: bytes, value: float | int | str) -> bytes:
    """One number formatted as in C; Python's `%` has the same rules."""
    text: str = conversion.decode() % value
    return text.encode()


def _hexadecimal(value: float) -> str:
    """A number formatted as by C's `%a`, which omits the trailing zeros that Python prints."""
    digits, power, exponent = value.hex().partition("p")
    return (digits.rstrip("0").rstrip(".") if "." in digits else digits) + power + exponent


def format_text(spaces: Any, lane: int, template_address: int, arguments: int) -> bytes:
    """The text that one lane prints.

    Args:
        spaces: the memory of the lane's batch.
        template_address: generic address of the C format string.
        arguments: generic address of the argument buffer.
    """
    template = _string(spaces, lane, template_address)
    position = 0

    def take(size: int) -> bytes:
        nonlocal position
        position += -position % size
        content = _read(spaces, lane, arguments + position, size)
        position += size
        return content

    def convert(found: re.Match[bytes]) -> bytes:
        flags, width, precision, length, kind = found.groups()
        if kind == b"%":
            return b"%"
        if width == b"*":
            width = b"%d" % struct.unpack("<i", take(4))[0]
        if precision == b"*":
            precision = b"%d" % struct.unpack("<i", take(4))[0]
        head = b"%" + flags + (width or b"") + (b"." + precision if precision is not None else b"")
        if kind == b"s":
            string: bytes = (head + b"s") % _string(spaces, lane, struct.unpack("<Q", take(8))[0])
            return string
        if kind == b"c":
            return bytes([struct.unpack("<i", take(4))[0] & 0xFF]).rjust(int(width or 0))
        if kind == b"p":
            return b"0x%x" % struct.unpack("<Q", take(8))[0]
        if kind in b"fFeEgGaA":
            number = struct.unpack("<d", take(8))[0]
            if kind in b"aA":
                text = _c_format(
                    b"%" + flags.replace(b"0", b"") + (width or b"") + b"s", _hexadecimal(number)
                )
                return text.upper() if kind == b"A" else text
            return _c_format(head + kind, number)
        wide = length in (b"l", b"ll", b"j", b"z", b"t", b"q")
        code = ("q" if wide else "i") if kind in b"di" else ("Q" if wide else "I")
        content = take(8 if wide else 4)
        if length in _NARROW:  # promoted to 32 bits by the call
            code = _NARROW[length] if kind in b"di" else _NARROW[length].upper()
            content = content[: struct.calcsize(code)]
        value = struct.unpack("<" + code, content)[0]
        if kind == b"u":
            kind = b"d"
        return _c_format(head + kind, value)

    return _CONVERSION.sub(convert, template)
