"""The requests of a program with several GPUs: what it enqueues waits until the host waits for it.

With one GPU the driver moves the bytes of copies, at once. Here the simulator moves them when their turn
comes. A request that the host waits for runs the work that it follows; what cannot end, since kernels wait
for one another, is a deadlock (`WorkQueue.wait`). A host that polls memory which a kernel writes, without any
call of the driver, waits for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from tooling.simulator.checks.host_order import HostOrderCheck
from tooling.simulator.engine.executor import Job
from tooling.simulator.engine.together import Pace, Turn
from tooling.simulator.gpu.device_memory import DeviceMemory
from tooling.simulator.gpu.driver_results import INVALID, OK, DriverResult, Reply
from tooling.simulator.server.buffers import Buffers
from tooling.simulator.server.protocol import CopyKind, DriverRequest, Opcode, OrderAction
from tooling.simulator.server.work_queue import WorkQueue

_AT_ONCE = (Opcode.MAP, Opcode.UNMAP, Opcode.SET_ACCESS, Opcode.RELEASE, Opcode.UNRESERVE)
"""Requests that change mappings: they follow all work."""

_PATIENCE = 2
"""How often in a row a host may ask for an event before the work that it stands for runs."""


class Deferral:
    """Answers the requests of one program that enqueue work, order it, or wait for it.

    Args:
        schedule: the order of launches that run together.
        check: of the order of streams and the host, if it is enabled.
        answers: the handlers of one device, which perform what is due.

    Attributes:
        answers: the handler of each request.
    """

    def __init__(
        self,
        schedule: str,
        memory: DeviceMemory,
        buffers: Buffers,
        check: HostOrderCheck | None,
        answers: dict[Opcode, Callable[[DriverRequest], Reply]],
    ) -> None:
        self._queue = WorkQueue(schedule)
        self._memory = memory
        self._buffers = buffers
        self._check = check
        if check is not None:
            check.deferred = True
        self._now = answers
        self._stream, self._waits = 0, False
        self._queries = 0
        self._freed: set[int] = set()  # and the work before it is not done
        self.answers: dict[Opcode, Callable[[DriverRequest], Reply]] = {
            Opcode.CALL: self._call,
            Opcode.ORDER: self._order,
            Opcode.UPLOAD: self._upload,
            Opcode.FILL: self._fill,
            Opcode.MOVE: self._move,
            Opcode.READ: self._read,
            Opcode.FREE: self._free,
            **({Opcode.TOUCH: self._touch} if Opcode.TOUCH in answers else {}),
            **dict.fromkeys(_AT_ONCE, self._after_everything),
        }

    def launch(self, job: Job, run: Callable[[Pace], Iterator[Turn]]) -> None:
        """Enqueue a launch."""
        pace = Pace()
        self._queue.add(job.launch.stream, lambda: run(pace), pace)

    def close(self) -> None:
        """The program ended."""
        self._queue.close()

    # -- waiting -------------------------------------------------------------------------------------

    def _call(self, request: DriverRequest) -> Reply:
        self._stream, waits = request.fields[:2]
        self._waits = bool(waits)
        return self._pass_on(request)

    def _order(self, request: DriverRequest) -> Reply:
        action, stream, event = request.fields
        queue = self._queue
        if action == OrderAction.QUERY_EVENT:
            return self._query(event)
        self._queries = 0
        if action == OrderAction.CREATE_STREAM:
            queue.create_stream(stream, event)
        elif action == OrderAction.RECORD_EVENT:
            queue.record_event(stream, event)
        elif action == OrderAction.STREAM_WAITS:
            queue.stream_waits(stream, event)
        elif action == OrderAction.WAIT_FOR_STREAM:
            queue.finish(queue.of_stream(stream))
        elif action == OrderAction.WAIT_FOR_EVENT:
            queue.finish(queue.of_event(event))
        else:
            return INVALID
        return self._pass_on(request)

    def _query(self, event: int) -> Reply:
        """Whether the event has happened; a host that keeps asking waits for it."""
        self._queries += 1
        if self._queries > _PATIENCE:
            self._queue.wait(self._queue.of_event(event))
        return (DriverResult.NOT_READY, b"") if self._queue.of_event(event) else OK

    def _pass_on(self, request: DriverRequest) -> Reply:
        known = self._now.get(request.opcode)
        return known(request) if known else OK

    def _touch(self, request: DriverRequest) -> Reply:
        """The host accesses memory that work uses: the check compares it with what that work has done."""
        self._queue.wait(self._queue.everything())
        return self._pass_on(request)

    def _after_everything(self, request: DriverRequest) -> Reply:
        self._queue.finish(self._queue.everything())
        return self._pass_on(request)

    # -- work ----------------------------------------------------------------------------------------

    def _enqueue(self, perform: Callable[[], None]) -> Reply:
        """Enqueue a copy or a fill in the stream of the latest call."""
        call = self._check.current_call() if self._check else None

        def begin() -> Iterator[Turn]:
            if self._check and call:
                self._check.resume_call(call)
            perform()
            yield from ()

        self._queue.add(self._stream, begin)
        if self._waits:
            self._queue.finish(self._queue.of_stream(self._stream))
        return OK

    def _upload(self, request: DriverRequest) -> Reply:
        (address,) = request.fields
        content = np.frombuffer(request.tail, np.uint8)
        write = DriverRequest(Opcode.WRITE, (address, len(content), 1, len(content)), b"")
        if not self._buffers.holds(address, len(content), written=True):
            return INVALID

        def perform() -> None:
            self._now[Opcode.WRITE](write)
            self._memory.view(address, len(content))[:] = content

        return self._enqueue(perform)

    def _fill(self, request: DriverRequest) -> Reply:
        address, value, element, width, rows, pitch = request.fields
        size = width * element
        if not self._buffers.can_write(address, size, rows, pitch):
            return INVALID
        write = DriverRequest(Opcode.WRITE, (address, size, rows, pitch), b"")
        pattern = np.frombuffer(value.to_bytes(8, "little")[:element], f"u{element}")

        def perform() -> None:
            self._now[Opcode.WRITE](write)
            for row in range(rows):
                self._memory.view(address + row * pitch, size).view(f"u{element}")[:] = pattern

        return self._enqueue(perform)

    def _move(self, request: DriverRequest) -> Reply:
        destination, source, size, kind = request.fields
        if not self._buffers.holds(destination, size, written=True) or not self._buffers.holds(source, size):
            return INVALID
        due = {
            CopyKind.TO_DEVICE: DriverRequest(Opcode.WRITE, (destination, size, 1, size), b""),
            CopyKind.TO_HOST: DriverRequest(Opcode.READ, (source, size), b""),
            CopyKind.ON_DEVICE: DriverRequest(Opcode.COPY, (destination, source, size), b""),
        }[CopyKind(kind)]

        def perform() -> None:
            self._now[due.opcode](due)
            self._memory.view(destination, size)[:] = self._memory.view(source, size)

        return self._enqueue(perform)

    def _read(self, request: DriverRequest) -> Reply:
        """A copy to memory of the host that is not pinned: the host waits for it, and the driver copies."""
        call = self._check.current_call() if self._check else None
        self._queue.finish(self._queue.of_stream(self._stream))
        if self._check and call:
            self._check.resume_call(call)
        return self._pass_on(request)

    def _free(self, request: DriverRequest) -> Reply:
        """Memory is freed when what its device has been given before is done, and not what a peer has."""
        address = request.fields[0]
        allocation, busy = self._memory.containing(address), self._queue.everything()
        if allocation is None or address in self._freed or not self._buffers.may_free(*request.fields):
            return INVALID
        clock = self._check.before_free(allocation.device) if self._check else {}

        def begin() -> Iterator[Turn]:
            if self._check:
                self._check.freeing = clock
            self._freed.remove(address)
            self._pass_on(request)
            yield from ()

        self._freed.add(address)
        if not busy:
            next(begin(), None)
            return OK

        self._queue.add_free(allocation.device, begin)
        return OK
