"""The requests that report what the host does to the check of its order, and where in the program."""

from __future__ import annotations

import struct
from collections.abc import Callable

from msgspec.structs import replace

from tooling.simulator.checks.findings import Finding
from tooling.simulator.checks.host_order import HostOrderCheck
from tooling.simulator.gpu.device_memory import DeviceMemory
from tooling.simulator.gpu.driver_results import INVALID, OK, DriverResult, Reply
from tooling.simulator.server.host_code import UNKNOWN, HostCode, caller_position
from tooling.simulator.server.protocol import DriverRequest, Opcode, OrderAction


class HostOrder:
    """Passes a program's calls on to the check.

    Attributes:
        answers: the handler of each request.
    """

    def __init__(self, check: HostOrderCheck) -> None:
        self._check = check
        self._code: HostCode | None = None
        self._memory: DeviceMemory | None = None
        self._callers: tuple[int, ...] = ()
        self._launches: list[tuple[int, ...]] = []
        self.answers: dict[Opcode, Callable[[DriverRequest], Reply]] = {
            Opcode.CALL: self._call,
            Opcode.ORDER: self._order,
            Opcode.TOUCH: self._touch,
        }
        self._actions: dict[int, Callable[[int, int], None]] = {
            OrderAction.CREATE_STREAM: check.create_stream,
            OrderAction.RECORD_EVENT: check.record_event,
            OrderAction.STREAM_WAITS: check.stream_waits,
            OrderAction.WAIT_FOR_STREAM: check.wait_for_stream,
            OrderAction.WAIT_FOR_EVENT: check.wait_for_event,
        }

    def start(self, code: HostCode, memory: DeviceMemory) -> None:
        """Begin with the code of a Mojo program.

        The runtime of Mojo asks whether events are complete only to reuse memory. Other programs may wait for
        an event by asking, which cannot be distinguished from that.
        """
        self._memory = memory
        self._code = code

    def launched(self) -> None:
        """A launch begins."""
        self._launches.append(self._callers)

    def with_launch(self, finding: Finding) -> Finding:
        """The finding with the host's line of its launch, if that is known."""
        callers = self._launches[finding.launch - 1] if 0 < finding.launch <= len(self._launches) else ()
        if self._code is None or not finding.parties or not any(callers):
            return finding
        position = self._code.position(callers)
        return replace(finding, launched=position if position != UNKNOWN else None)

    def in_use(self) -> bytes:
        """The pinned memory that the latest launch uses and the host must wait for, as a reply tells it."""
        used = self._check.used_by_kernel()
        return b"".join(struct.pack("<QQI", one.address, one.size, not one.written) for one in used)

    def _call(self, request: DriverRequest) -> Reply:
        stream, waits, host_address, *callers = request.fields
        self._callers = tuple(callers)
        self._check.call(stream, bool(waits), host_address, caller_position(self._code, callers))
        return self._finished()

    def _order(self, request: DriverRequest) -> Reply:
        action, stream, event = request.fields
        if action not in self._actions:
            return INVALID
        self._actions[action](stream, event)
        return self._finished()

    def _touch(self, request: DriverRequest) -> Reply:
        assert self._memory is not None
        address, *callers = request.fields
        self._check.touch(self._memory, address, caller_position(self._code, callers))
        return OK

    def _finished(self) -> Reply:
        return DriverResult.SUCCESS, b"".join(struct.pack("<QQ", *one) for one in self._check.finished())
