"""How long a program's copies between the host and the GPU take, in a model that knows their order alone.

Each direction copies one operation at a time, as the copy engines of a GPU do, a byte in a unit of time; a
launch, a fill and a copy on the device take none. An operation begins when what it follows is complete: the
work before it in its stream, what its stream waits for, what the host had waited for before it called, and
the dependencies of a node. Copies that nothing orders run side by side, and a wait that is not needed delays
what comes after it.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class CopyTimes(Struct, frozen=True):
    """The copies of a program.

    Attributes:
        to_gpu, to_host: bytes that were copied in each direction.
        elapsed: when the last copy ends, in bytes.
        streams: whether the program has several, so that copies may overlap.
    """

    to_gpu: int
    to_host: int
    elapsed: int
    streams: bool = False

    @property
    def relative(self) -> float:
        """The time of all copies, relative to that of the longer direction: 1 if the other one costs nothing,
        2 if equally long directions take turns; 1 without copies."""
        longer = max(self.to_gpu, self.to_host)
        return self.elapsed / longer if longer else 1.0


class CopyClock:
    """When the operations of a program end. They are entered in the order of the host's calls."""

    def __init__(self) -> None:
        self._ends: dict[int, list[int]] = {}  # by stream: of each of its operations
        self._free: dict[tuple[int, bool], int] = {}  # by device and direction: when its last copy ends
        self._copied = {True: 0, False: 0}

    def begin(self, stream: int, before: Mapping[int, int]) -> None:
        """The next operation of a stream.

        Args:
            before: by stream, how many of its operations are complete when this one begins.
        """
        starts = [self._ends[other][number - 1] for other, number in before.items() if number]
        self._ends.setdefault(stream, []).append(max(starts, default=0))

    def copy(self, stream: int, number: int, device: int, size: int, *, to_gpu: bool) -> None:
        """The operation of a stream, from 1, copies bytes, perhaps more than it has copied so far."""
        start = max(self._ends[stream][number - 1], self._free.get((device, to_gpu), 0))
        self._ends[stream][number - 1] = self._free[device, to_gpu] = start + size
        self._copied[to_gpu] += size

    def times(self, *, streams: bool) -> CopyTimes:
        """What the copies so far take."""
        return CopyTimes(
            self._copied[True], self._copied[False], max(self._free.values(), default=0), streams
        )
