"""Calls of the host by kernels: `print`, and the messages of assertions.

A wavefront takes a packet from a list of free ones, fills in its header and one payload per lane, puts it on
a list of ready ones and sends a message; it waits until the host clears the packet's flag. The layout is that
of AMD's device libraries (ockl: `hostcall_impl.cl`, `services.cl`), as in Mojo's `sys/_amdgpu.mojo`.
"""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.gpu.device_memory import DeviceMemory
from tooling.simulator.program.c_format import format_text

HOST_CALLS = "hidden_hostcall_buffer"
"""The kind of the kernel argument that holds the buffer's address."""

_PACKETS = 1024  # as many as wavefronts of 64 lanes are executed together; a power of two
_HEADER = np.dtype([("next", "<u8"), ("lanes", "<u8"), ("service", "<u4"), ("control", "<u4")])
_PAYLOAD = np.dtype([("slots", "<u8", (64, 8))])
_BUFFER = np.dtype([
    ("headers", "<u8"), ("payloads", "<u8"), ("signal", "<u8"), ("free", "<u8"), ("ready", "<u8"),
    ("index_mask", "<u8"), ("unused", "<u8", 2),
    # The signal, and the word that a message of it writes to.
    ("kind", "<i8"), ("value", "<u8"), ("mailbox", "<u8"), ("event", "<u8"), ("times", "<u8", 4),
    ("word", "<u8"),
])  # fmt: skip
_PRINTF = 2  # of the services
_BEGIN, _END = 1, 2  # flags of a message


class UnknownService(Exception):
    """A kernel asks the host for a service other than printing."""


class _Arguments:
    """The arguments of a format string, each in as many 8-byte words as it needs."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def take(self, size: int) -> bytes:
        """See `Arguments.take`."""
        taken, self._content = self._content[:size].ljust(size, b"\0"), self._content[8:]
        return taken

    def string(self) -> bytes:
        """See `Arguments.string`."""
        found = self._content.partition(b"\0")[0]
        self._content = self._content[len(found) + 8 - len(found) % 8 :]
        return found


class HostCalls:
    """The buffer of a device memory, with the messages that are not complete."""

    def __init__(self, memory: DeviceMemory) -> None:
        sizes = (_BUFFER.itemsize, _PACKETS * _HEADER.itemsize, _PACKETS * _PAYLOAD.itemsize)
        self.address = memory.allocate(sum(sizes), "calls of the host", poison=False, internal=True)
        allocation = memory.containing(self.address)
        assert allocation is not None
        allocation.of_runtime = True
        content = memory.view(self.address, sum(sizes))
        content[:] = 0
        first, second = sizes[0], sizes[0] + sizes[1]
        self._buffer = content[:first].view(_BUFFER)
        self._headers = content[first:second].view(_HEADER)
        self._payloads = content[second:].view(_PAYLOAD)
        self._messages: dict[int, bytes] = {}
        self._last = 0
        buffer = self._buffer[0]
        buffer["headers"] = self.address + first
        buffer["payloads"] = self.address + second
        buffer["signal"] = self.address + _BUFFER.fields["kind"][1]  # type: ignore[index]
        buffer["mailbox"] = self.address + _BUFFER.fields["word"][1]  # type: ignore[index]
        buffer["index_mask"] = _PACKETS - 1
        # A packet's name is its index with a counter above it, so that no name of a packet is 0.
        self._headers["next"][:-1] = np.arange(1, _PACKETS) | _PACKETS
        buffer["free"] = _PACKETS

    def serve(self, write: Callable[[bytes], None]) -> None:
        """Answer the packets that are ready, the first one first.

        Raises:
            UnknownService: a packet asks for something else than printing.
        """
        names: list[int] = []
        name = int(self._buffer["ready"][0])
        while name and len(names) < _PACKETS:
            names.append(name & _PACKETS - 1)
            name = int(self._headers["next"][names[-1]])
        self._buffer["ready"] = 0
        for number in reversed(names):
            header = self._headers[number]
            if int(header["service"]) != _PRINTF:
                raise UnknownService(int(header["service"]))
            lanes = int(header["lanes"])
            for lane in range(64):
                if lanes >> lane & 1:
                    self._answer(self._payloads["slots"][number, lane], write)
            header["control"] &= ~np.uint32(1)

    def _answer(self, slots: NDArray[np.uint64], write: Callable[[bytes], None]) -> None:
        """One lane's chunk of a message; the answer is its number, or at its end the length of the text."""
        flags = int(slots[0]) & 0xFF
        number = int(slots[0]) >> 8
        if flags & _BEGIN:
            self._last += 1
            number = self._last
            self._messages[number] = b""
        self._messages[number] += slots[1 : 1 + (flags >> 5)].tobytes()
        slots[0] = number << 8
        if flags & _END:
            template, _, _ = self._messages[number][8:].partition(b"\0")  # a word of flags comes first
            arguments = _Arguments(self._messages.pop(number)[16 + len(template) - len(template) % 8 :])
            text = format_text(template, arguments)
            write(text)
            slots[0] = len(text)


_OF_MEMORY: WeakKeyDictionary[DeviceMemory, HostCalls] = WeakKeyDictionary()


def host_calls(memory: DeviceMemory) -> HostCalls:
    """The buffer of a device memory; allocated when the first kernel calls the host."""
    found = _OF_MEMORY.get(memory)
    if found is None:
        found = _OF_MEMORY[memory] = HostCalls(memory)
    return found
