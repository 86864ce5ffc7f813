"""The protocol between the stand-in driver in a program's process and the simulator in the tool's.

A stream socket carries requests and, for each, one reply, all little-endian. A request is its opcode, a
length and that many bytes; a reply is a CUresult, two lengths, the bytes of the answer and the bytes that
kernels printed since the last delivery. The layout of each is in `REQUESTS`. This is the only description of
the protocol: `nvidia/driver/protocol.mojo` is generated from it by
`python -m tooling.simulator.server.protocol`, and a test compares the two.
"""

from __future__ import annotations

import socket
import struct
from enum import IntEnum
from pathlib import Path

from msgspec import Struct

from tooling.simulator.gpu.streams import DEVICE_SHIFT, NON_BLOCKING, OF_GRAPH

VERSION = 7
"""Incremented with every change of this module, since the two sides may be from different builds."""

MAGIC = int.from_bytes(b"PUZZLGPU", "little")

MAX_PAYLOAD = 64 << 20
"""The longest request or reply in bytes; the largest is a module's PTX text."""

ARENA_BYTES = 64 << 30
"""Address space for a program's device and pinned memory, large enough that addresses need not be reused."""

ARENA_BASE = 0x2000_0000_0000
"""The preferred address of the arena: far from programs, stacks and libraries."""

MAX_DEVICES = 8
"""The most GPUs of a simulation, as in the servers that are common."""

GRANULARITY = 2 << 20
"""Granularity of created memory and reserved addresses, in bytes, as on an H200."""

MOJO_TABLE = Path(__file__).parents[1] / "nvidia" / "driver" / "protocol.mojo"


class Opcode(IntEnum):
    """The kind of a request."""

    HELLO = 1
    ALLOCATE = 2
    FREE = 3
    RANGE = 4
    WRITE = 5
    READ = 6
    COPY = 7
    LOAD_MODULE = 8
    UNLOAD_MODULE = 9
    FUNCTION = 10
    GLOBAL = 11
    SET_ATTRIBUTE = 12
    LAUNCH = 13
    SYNCHRONISE = 14
    OCCUPANCY = 15
    MEMORY_INFO = 16
    RESERVE = 17
    UNRESERVE = 18
    CREATE = 19
    RELEASE = 20
    RETAIN = 21
    MAP = 22
    UNMAP = 23
    SET_ACCESS = 24
    ACCESS = 25
    CALL = 26
    ORDER = 27
    TOUCH = 28
    DEVICE_ACCESS = 29
    SELECT_DEVICE = 30
    ENABLE_PEER = 31
    UPLOAD = 32
    FILL = 33
    MOVE = 34


class Shape(Struct, frozen=True):
    """One request: the struct formats of its fixed part and of its answer; `tail` describes what follows."""

    request: struct.Struct
    reply: struct.Struct
    tail: str = ""
    fields: str = ""


def _shape(request: str, reply: str, fields: str, tail: str = "") -> Shape:
    return Shape(struct.Struct("<" + request), struct.Struct("<" + reply), tail, fields)


REQUESTS: dict[Opcode, Shape] = {
    Opcode.HELLO: _shape(
        "QIIQ",
        "IIIIQQQII",
        "magic, version, process, arena base -> version, process, descriptor, attributes, memory, code of the"
        " program from, to, whether the order of host and GPU is checked, devices",
        "reply: (attribute u32, value i32) pairs, then the device's name",
    ),
    Opcode.ALLOCATE: _shape("QI", "Q", "bytes, MemoryKind -> address"),
    Opcode.FREE: _shape("QI", "", "address, MemoryKind ->"),
    Opcode.RANGE: _shape("Q", "QQQII", "address -> base, bytes, serial, MemoryKind, device"),
    Opcode.WRITE: _shape("QQQQ", "", "address, bytes of a row, rows, bytes from row to row ->"),
    Opcode.READ: _shape("QQ", "", "address, bytes ->"),
    Opcode.COPY: _shape("QQQ", "", "destination, source, bytes ->"),
    Opcode.LOAD_MODULE: _shape("", "Q", "-> module", "PTX text; a failed load replies the log's text"),
    Opcode.UNLOAD_MODULE: _shape("Q", "", "module ->"),
    Opcode.FUNCTION: _shape(
        "Q",
        "QI16i",
        "module -> function, parameters, CUfunction_attribute 0 to 15",
        "kernel's name; reply: (offset u32, bytes u32) of each parameter",
    ),
    Opcode.GLOBAL: _shape("Q", "QQ", "module -> address, bytes", "variable's name"),
    Opcode.SET_ATTRIBUTE: _shape("QIi", "", "function, CUfunction_attribute, value ->"),
    Opcode.LAUNCH: _shape(
        "Q3I3I3IIIQ",
        "",
        "function, grid, block, cluster, cluster given, dynamic shared bytes, stream ->",
        "parameter bytes; a refused launch replies the reason, others (address u64, bytes u64, access u32) of"
        " the pinned memory that the host must wait for",
    ),
    Opcode.SYNCHRONISE: _shape("", "", "->"),
    Opcode.OCCUPANCY: _shape("QiQ", "i", "function, threads of a block, dynamic shared bytes -> blocks"),
    Opcode.MEMORY_INFO: _shape("", "QQ", "-> free bytes, all bytes"),
    Opcode.RESERVE: _shape("QQ", "Q", "bytes, alignment -> address"),
    Opcode.UNRESERVE: _shape("QQ", "", "address, bytes ->"),
    Opcode.CREATE: _shape("Q", "Q", "bytes -> memory"),
    Opcode.RELEASE: _shape("Q", "", "memory ->"),
    Opcode.RETAIN: _shape("Q", "Q", "address -> memory"),
    Opcode.MAP: _shape("QQQ", "Q", "address, bytes, memory -> offset in the arena's file"),
    Opcode.UNMAP: _shape("QQ", "", "address, bytes ->"),
    Opcode.SET_ACCESS: _shape("QQI", "", "address, bytes, MemoryAccess ->"),
    Opcode.ACCESS: _shape("Q", "I", "address -> MemoryAccess"),
    Opcode.CALL: _shape(
        "QIQ4Q", "", "stream, the call waits, host address or 0, callers: of the next request ->"
    ),
    Opcode.ORDER: _shape(
        "IQQ",
        "",
        "OrderAction, stream, event ->",
        "reply: (address u64, bytes u64) of finished copies' memory",
    ),
    Opcode.TOUCH: _shape("Q4Q", "", "address, callers: the host accessed memory that enqueued work uses ->"),
    Opcode.DEVICE_ACCESS: _shape("QI4Q", "", "address, written, callers: the host accessed device memory ->"),
    Opcode.SELECT_DEVICE: _shape("I", "", "device: of the modules and memory of the next requests ->"),
    Opcode.ENABLE_PEER: _shape("I", "", "peer: kernels of the selected device may access its memory ->"),
    # With several devices the simulator moves the bytes, when their turn comes.
    Opcode.UPLOAD: _shape("Q", "", "address ->", "the bytes to write there"),
    Opcode.FILL: _shape(
        "QQIQQQ", "", "address, value, bytes of an element, elements of a row, rows, bytes from row to row ->"
    ),
    Opcode.MOVE: _shape("QQQI", "", "destination, source, bytes, CopyKind ->"),
}

REQUEST_HEADER = struct.Struct("<II")
"""Opcode, bytes that follow."""

REPLY_HEADER = struct.Struct("<iII")
"""CUresult, bytes of answer, bytes of kernel output after it."""


_WITH_TAIL = (Opcode.LOAD_MODULE, Opcode.FUNCTION, Opcode.GLOBAL, Opcode.LAUNCH, Opcode.UPLOAD)


class MemoryKind(IntEnum):
    """The kind of memory of an allocation."""

    DEVICE = 0
    PINNED = 1


class MemoryAccess(IntEnum):
    """The device's access to mapped memory: the driver's CUmemAccess_flags."""

    NONE = 0
    READ = 1
    READ_AND_WRITE = 3


class OrderAction(IntEnum):
    """What orders the work of streams and the host.

    `CREATE_STREAM` has as event the stream's flags (see `gpu.streams`) and, times 2**32, its device.
    """

    CREATE_STREAM = 0
    RECORD_EVENT = 1
    STREAM_WAITS = 2
    WAIT_FOR_STREAM = 3
    WAIT_FOR_EVENT = 4
    QUERY_EVENT = 5


class CopyKind(IntEnum):
    """Which way a copy inside the arena goes; the host's side is pinned memory."""

    TO_DEVICE = 0
    TO_HOST = 1
    ON_DEVICE = 2


class ProtocolError(Exception):
    """The peer violated the protocol."""


class PeerGone(Exception):
    """The peer closed the connection, or ended."""


class DriverRequest(Struct, frozen=True):
    """A received request: the fields of its fixed part, and the bytes after it."""

    opcode: Opcode
    fields: tuple[int, ...]
    tail: bytes


def decode_request(opcode: int, body: bytes) -> DriverRequest:
    """A request from its opcode and the bytes after the header.

    Raises:
        ProtocolError: unknown opcode, or the wrong number of bytes.
    """
    try:
        known = Opcode(opcode)
    except ValueError:
        raise ProtocolError(f"unknown request {opcode}") from None
    shape = REQUESTS[known].request
    takes_tail = known in _WITH_TAIL
    if len(body) < shape.size or (len(body) > shape.size and not takes_tail):
        raise ProtocolError(f"{known.name} takes {shape.size} bytes, not {len(body)}")
    return DriverRequest(known, shape.unpack_from(body), bytes(body[shape.size :]))


def encode_reply(status: int, body: bytes = b"", output: bytes = b"") -> bytes:
    """The bytes of a reply: a CUresult, the answer, and what kernels printed."""
    return REPLY_HEADER.pack(status, len(body), len(output)) + body + output


def receive_exactly(connection: socket.socket, size: int) -> bytes:
    """The next `size` bytes.

    Raises:
        PeerGone: the stream ended first.
    """
    received = bytearray()
    while len(received) < size:
        try:
            chunk = connection.recv(min(size - len(received), 1 << 20))
        except ConnectionError as error:
            raise PeerGone(str(error)) from error
        if not chunk:
            raise PeerGone("the stream ended")
        received += chunk
    return bytes(received)


def receive_request(connection: socket.socket) -> DriverRequest:
    """The next request of a connection.

    Raises:
        PeerGone: the program ended.
        ProtocolError: not a valid request.
    """
    opcode, length = REQUEST_HEADER.unpack(receive_exactly(connection, REQUEST_HEADER.size))
    if length > MAX_PAYLOAD:
        raise ProtocolError(f"a request of {length} bytes; at most {MAX_PAYLOAD} are allowed")
    return decode_request(opcode, receive_exactly(connection, length))


def mojo_table() -> str:
    """The constants of this module as Mojo source: the content of `driver/protocol.mojo`."""
    lines = [
        '"""Protocol numbers. Written by `python -m tooling.simulator.server.protocol`; do not edit."""',
        "",
        f"comptime VERSION = UInt32({VERSION})",
        f"comptime MAGIC = UInt64(0x{MAGIC:X})",
        f"comptime MAX_PAYLOAD = {MAX_PAYLOAD}",
        f"comptime ARENA_BYTES = UInt64(0x{ARENA_BYTES:X})",
        f"comptime ARENA_BASE = UInt64(0x{ARENA_BASE:X})",
        f"comptime GRANULARITY = UInt64(0x{GRANULARITY:X})",
        f"comptime DEVICE_SHIFT = UInt64({DEVICE_SHIFT})",
        f"comptime NON_BLOCKING = UInt32({NON_BLOCKING})",
        f"comptime OF_GRAPH = UInt32({OF_GRAPH})",
        f"comptime REQUEST_HEADER_BYTES = {REQUEST_HEADER.size}",
        f"comptime REPLY_HEADER_BYTES = {REPLY_HEADER.size}",
    ]
    lines += [
        f"comptime {kind.name} = UInt32({kind.value})" for kind in (*MemoryKind, *OrderAction, *CopyKind)
    ]
    for opcode, shape in REQUESTS.items():
        lines += [
            "",
            f"# {shape.fields}" + (f" ({shape.tail})" if shape.tail else ""),
            f"comptime {opcode.name} = UInt32({opcode.value})",
            f"comptime {opcode.name}_REQUEST_BYTES = {shape.request.size}",
            f"comptime {opcode.name}_REPLY_BYTES = {shape.reply.size}",
        ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    MOJO_TABLE.write_text(mojo_table(), encoding="utf-8")
