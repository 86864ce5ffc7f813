"""Work of several devices that is enqueued and not yet done, and what orders it: launches, copies, fills.

With one device a request is carried out when it arrives. With several it waits here until the host waits for
it, since kernels of two devices may wait for each other: then all work that nothing orders runs together
(`engine.together`). Launches of one device run one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator

import numpy as np
from msgspec import Struct, field

from tooling.simulator.engine.together import Pace, Turn, Turns
from tooling.simulator.gpu.streams import DEVICE_SHIFT, NON_BLOCKING, explicit_stream, legacy_stream


class Work(Struct, eq=False):
    """Enqueued work.

    Attributes:
        device: that performs it.
        begin: performs it, in turns.
        after: what must be done before it begins.
        pace: of a launch: it shares its device with no other launch.
        frees: it frees memory.
    """

    device: int
    begin: Callable[[], Iterator[Turn]]
    after: list[Work] = field(default_factory=list)
    pace: Pace | None = None
    frees: bool = False
    done: bool = False
    turns: Iterator[Turn] | None = None
    idle: bool = False
    changes: int = 0

    @property
    def ready(self) -> bool:
        """Whether everything before it is done."""
        self.after = [work for work in self.after if not work.done]
        return not self.after


class WorkQueue:
    """The work of one program.

    Args:
        schedule: the order of launches that run together.
    """

    def __init__(self, schedule: str) -> None:
        self._work: list[Work] = []
        self._last: dict[int, list[Work]] = {}  # by stream: what its next work must wait for
        self._events: dict[int, list[Work]] = {}
        self._devices: dict[int, int] = {}
        self._non_blocking: set[int] = set()
        self._turns: Turns[Work] = Turns(schedule)

    # -- what is enqueued, and in which order --------------------------------------------------------

    def create_stream(self, stream: int, flags: int) -> None:
        """A stream of a device: `flags` as in `protocol.OrderAction`."""
        self._devices[stream] = flags >> 32
        self._last[stream] = []
        if flags & NON_BLOCKING:
            self._non_blocking.add(stream)

    def device_of(self, stream: int) -> int:
        """The device of a stream."""
        return self._devices.get(stream, stream >> DEVICE_SHIFT)

    def add(self, stream: int, begin: Callable[[], Iterator[Turn]], pace: Pace | None = None) -> None:
        """Enqueue work in a stream."""
        stream = explicit_stream(stream)
        work = Work(self.device_of(stream), begin, self._before(stream), pace)
        self._last[stream] = [work]
        self._work.append(work)

    def add_free(self, device: int, begin: Callable[[], Iterator[Turn]]) -> None:
        """Enqueue the freeing of memory: it follows what its device has been given, and is in no stream."""
        before = [work for work in self._work if work.device == device]
        self._work.append(Work(device, begin, before, frees=True))

    def record_event(self, stream: int, event: int) -> None:
        """The event stands for all work of the stream so far."""
        self._events[event] = self._before(explicit_stream(stream))

    def stream_waits(self, stream: int, event: int) -> None:
        """The next work of the stream follows what the event stands for."""
        stream = explicit_stream(stream)
        self._last[stream] = [*self._pending(stream), *_undone(self._events.get(event, ()))]

    # -- waiting -------------------------------------------------------------------------------------

    def of_stream(self, stream: int) -> list[Work]:
        """The work that a host waits for that waits for the stream."""
        return self._before(explicit_stream(stream))

    def of_event(self, event: int) -> list[Work]:
        """The work that a host waits for that waits for the event."""
        return list(_undone(self._events.get(event, ())))

    def everything(self) -> list[Work]:
        """All work."""
        return list(self._work)

    def wait(self, wanted: list[Work]) -> bool:
        """Run work until all that is wanted is done.

        Returns:
            False if it cannot be done: all running launches poll memory that nothing changes any more.

        Raises: what the work raises.
        """
        with np.errstate(all="ignore"):
            while not all(work.done for work in wanted):
                running = self._running()
                if not running or all(work.idle for work in running):
                    return False
                self._step(self._turns.choose([work for work in running if not work.idle]))
        return True

    def finish(self, wanted: list[Work]) -> None:
        """Run work until all that is wanted is done; launches that wait in vain are stopped, and report
        where.

        Raises: what the work raises.
        """
        if not self.wait(wanted):
            self._stop_idle()

    def _stop_idle(self) -> None:
        with np.errstate(all="ignore"):
            for work in self._running():
                if work.pace is not None:
                    work.pace.ends = True
                    while not work.done:
                        self._step(work)

    def close(self) -> None:
        """The program ended: what it has freed is freed, and all other work dropped."""
        for work in self._work:
            if work.frees:
                next(work.begin(), None)
            elif isinstance(work.turns, Generator):
                work.turns.close()
        self._work.clear()

    def _running(self) -> list[Work]:
        """The work that can run, in the order of devices: at most one launch of each."""
        busy = {work.device for work in self._work if work.pace and work.turns is not None}
        running = []
        for work in self._work:
            if work.turns is None:
                if not work.ready or (work.pace and work.device in busy):
                    continue
                if work.pace:
                    busy.add(work.device)
                work.turns = work.begin()
            running.append(work)
        return sorted(running, key=lambda work: work.device)

    def _step(self, work: Work) -> None:
        assert work.turns is not None
        turn = next(work.turns, None)
        if turn is None:
            work.done = True
            self._work.remove(work)
            self._wake()
            return
        if turn.changes != work.changes:
            work.changes = turn.changes
            self._wake()
        work.idle = turn.idle

    def _wake(self) -> None:
        for work in self._work:
            work.idle = False

    # -- streams -------------------------------------------------------------------------------------

    def _pending(self, stream: int) -> list[Work]:
        return list(_undone(self._last.get(stream, ())))

    def _before(self, stream: int) -> list[Work]:
        """What the next work of a stream must wait for."""
        device = self.device_of(stream)
        legacy = legacy_stream(device)
        found = self._pending(stream)
        if stream == legacy:
            for other in self._last:
                if other not in self._non_blocking and self.device_of(other) == device:
                    found += self._pending(other)
        elif stream not in self._non_blocking:
            found += self._pending(legacy)
        return found


def _undone(works: Iterable[Work]) -> Iterator[Work]:
    return (work for work in works if not work.done)
