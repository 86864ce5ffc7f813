"""Accesses to the shared memory of another block of the cluster that may outlive that block.

A block may exit only after all accesses of other blocks to its shared memory. They are ordered before its
exit by a cluster barrier, or by an arrival or a copy at one of its mbarriers whose phase it sees complete;
strong accesses to one address order as well. An arrival is assumed to release the accesses of its whole
block, and a completed phase to be acquired by the whole block. Order through a third block is not tracked.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tooling.simulator.checks.base import action_of
from tooling.simulator.checks.findings import Action
from tooling.simulator.gpu.code_model import Instruction
from tooling.simulator.gpu.hooks import Access, Ints, MBarrierOperation


class RemoteAccess(NamedTuple):
    """The latest access by a block: by which thread, and its number in the batch."""

    thread: int
    action: Action
    instruction: Instruction
    number: int


class RemoteAccesses:
    """The remote accesses of a batch.

    Args:
        threads: of a block.
    """

    def __init__(self, threads: int) -> None:
        self._size = threads
        self._count = 0
        self._accesses: dict[int, dict[int, RemoteAccess]] = {}
        self._arrived: dict[tuple[int, int], dict[int, int]] = {}
        self._complete: dict[tuple[int, int], dict[int, int]] = {}

    def __bool__(self) -> bool:
        return bool(self._accesses)

    def add(self, access: Access, hosts: Ints, lanes: Ints) -> Ints:
        """These lanes of an access use the shared memory of other blocks, `hosts` (n,).

        Returns:
            the distinct hosts.
        """
        users = access.threads[lanes] // self._size
        pairs, firsts = np.unique(np.stack([hosts[lanes], users]), axis=1, return_index=True)
        for host, user, first in zip(*pairs.tolist(), lanes[firsts].tolist(), strict=True):
            latest = RemoteAccess(
                int(access.threads[first]), action_of(access), access.instruction, self._count
            )
            accesses = self._accesses.setdefault(host, {})
            accesses.pop(user, None)
            accesses[user] = latest
        self._count += 1
        if access.instruction.is_strong:
            addresses = hosts[lanes].tolist(), access.addresses[lanes].tolist()
            for host, offset, user in set(zip(*addresses, users.tolist(), strict=True)):
                self._complete.setdefault((host, offset), {})[user] = self._count
        return np.unique(pairs[0])

    def acquire(self, access: Access, hosts: Ints) -> None:
        """Strong accesses of threads to their own block's shared memory acquire what was released there."""
        if self._accesses and access.instruction.is_strong:
            own = np.flatnonzero(hosts == access.threads // self._size)
            for address in set(zip(hosts[own].tolist(), access.addresses[own].tolist(), strict=True)):
                self._acquire(address)

    def latest(self, host: int) -> RemoteAccess | None:
        """The latest access that is not ordered before the block."""
        return next(reversed(self._accesses.get(host, {}).values()), None)

    def mbarrier(self, operation: MBarrierOperation) -> None:
        """Blocks arrive at mbarriers of others, or test their own."""
        if not self._accesses:
            return
        addresses = operation.blocks.tolist(), operation.offsets.tolist()
        if operation.action in ("arrive", "arrive_drop", "complete"):
            users = (operation.threads // self._size).tolist()
            for host, offset, user in set(zip(*addresses, users, strict=True)):
                self._arrived.setdefault((host, offset), {})[user] = self._count
        elif operation.action == "passed":
            for address in set(zip(*addresses, strict=True)):
                self._acquire(address)

    def _acquire(self, address: tuple[int, int]) -> None:
        accesses = self._accesses.get(address[0], {})
        for user, count in self._complete.get(address, {}).items():
            if user in accesses and accesses[user].number < count:
                del accesses[user]

    def complete(self, hosts: Ints, offsets: Ints) -> None:
        """A phase of each of these mbarriers is complete."""
        for address in zip(hosts.tolist(), offsets.tolist(), strict=True):
            self._complete.setdefault(address, {}).update(self._arrived.pop(address, {}))

    def cluster_barrier(self, hosts: Ints) -> None:
        """The clusters of these blocks passed a barrier."""
        for host in hosts.tolist() if self._accesses else ():
            self._accesses.pop(host, None)
