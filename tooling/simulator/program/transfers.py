"""Bulk copies in progress: from the instruction that starts one until its completion may be observed.

PTX does not specify when a copy completes (PTX ISA 9.7.9.25.1). Here it completes at a wait for its group, or
after the first test of its mbarrier. A random schedule completes some copies where they start. Checks are
notified of a copy's accesses where it starts.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.gpu.address_spaces import Spaces
from tooling.simulator.gpu.code_model import Instruction
from tooling.simulator.gpu.hooks import Transfer
from tooling.simulator.gpu.listeners import Listeners

Ints = NDArray[np.int64]
Finish = Callable[[], None]


class Transfers:
    """The bulk copies of a batch, and the groups of each thread.

    Args:
        spaces: the memory of the batch; hooks: those of the launch.
        postpones: whether a copy that starts completes later (`Schedule.postpones`).
    """

    def __init__(self, spaces: Spaces, hooks: Listeners, postpones: Callable[[], bool]) -> None:
        self._spaces = spaces
        self._hooks = hooks
        self._postpones = postpones
        self._unfinished: list[tuple[Transfer, Finish]] = []
        self._committed: dict[int, int] = {}

    def of(self, lane: int, instruction: Instruction, barrier: tuple[int, int] | None) -> Transfer:
        """The copy that a lane starts now.

        Args:
            barrier: the mbarrier that counts its bytes (block, offset in its shared memory); None: the copy
                belongs to a group.
        """
        thread = int(self._spaces.threads[lane])
        if barrier is None:
            return Transfer(thread, instruction, group=self._committed.get(thread, 0))
        return Transfer(thread, instruction, barrier)

    def begin(self, transfer: Transfer, write: Finish | None, count: Finish | None = None) -> None:
        """A copy starts; it may complete at once.

        Args:
            write: performs its writes; None if there are none.
            count: makes its mbarrier count its bytes then; None if it belongs to a group.
        """

        def finish() -> None:
            if write is not None:
                write()
            if count is not None:
                for hook in self._hooks.transfer_counted:
                    hook.transfer_counted(transfer)
                count()

        if self._postpones():
            self._unfinished.append((transfer, finish))
        else:
            finish()

    def commit(self, threads: Ints) -> None:
        """Each of these threads commits the copies that it started since the last group."""
        for thread in threads.tolist():
            self._committed[thread] = self._committed.get(thread, 0) + 1

    def wait(self, threads: Ints, pending: int, instruction: Instruction) -> None:
        """Each of these threads waits until at most `pending` of its latest groups are unfinished."""
        groups = np.array([self._committed.get(thread, 0) - pending for thread in threads.tolist()], np.int64)
        over = dict(zip(threads.tolist(), groups.tolist(), strict=True))
        self._end(lambda copy: copy.barrier is None and copy.group < over.get(copy.thread, 0))
        for hook in self._hooks.bulk_wait:
            hook.bulk_wait(threads, groups, instruction)

    def asked(self, blocks: Ints, offsets: Ints) -> None:
        """These mbarriers were tested: the copies that they count complete after that."""
        if self._unfinished:
            barriers = set(zip(blocks.tolist(), offsets.tolist(), strict=True))
            self._end(lambda copy: copy.barrier in barriers)

    def end_all(self) -> bool:
        """Complete every copy; returns whether there was one."""
        return self._end(lambda _copy: True)

    def _end(self, selected: Callable[[Transfer], bool]) -> bool:
        ending = [finish for copy, finish in self._unfinished if selected(copy)]
        self._unfinished = [entry for entry in self._unfinished if not selected(entry[0])]
        for finish in ending:
            finish()
        return bool(ending)
