"""The happens-before relation between the blocks of a launch, through strong accesses to global memory.

A store or atomic operation that releases, or that follows a fence of its block, releases at its address what
its block did before. A load, or an atomic operation whose result is used, acquires what was released there:
at once if it acquires, otherwise when a thread of its block executes a fence. Both count only if their scope
includes other blocks. Each address has a log of releases, and a
block's clock is a position in each log that it has read. Nothing is kept for pairs of blocks, so that their
number is not limited. Blocks are tracked as a whole, which may miss a race but reports no false one.

Model: vector clocks (FastTrack, Flanagan and Freund 2009), computed only for the pairs that are queried.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.gpu.hooks import Ints
from tooling.simulator.program.backend import Order

MAX_PAIRS = 1024
"""An access with more pairs of an address and a block is tracked without its addresses."""

MAX_LOGS = 1 << 16
"""With more addresses than this, addresses are no longer distinguished."""

_ANYWHERE = -1
"""The log of releases whose address was not tracked: an acquire from any log includes this one."""

_EVERYTHING = -2
"""The key for all logs in a block's clock; its position is a clock."""

_DIRECT = -3
"""The logs of direct releases between blocks are numbered downwards from here."""

Knowledge: TypeAlias = Mapping[int, int]
"""Position by log: the block has acquired what was released there before."""

_NOTHING: Knowledge = {}

_BOTH = Order()
"""An access that itself acquires and releases."""


class _Log:
    """Releases at one address, in order.

    If there are many, the old ones are folded together: a position among them then means all of them, so
    that a block may be assumed to have acquired a little more than it has.
    """

    __slots__ = ("_blocks", "_clocks", "_count", "_folded", "_knowledge", "start")

    def __init__(self) -> None:
        self.start = 0  # position of the first release that is not folded
        self._count = 0
        self._blocks = np.empty(4, np.int64)
        self._clocks = np.empty(4, np.int64)
        self._knowledge: list[tuple[int, Knowledge]] = []
        self._folded: tuple[Ints, Ints, Knowledge] | None = None

    @property
    def end(self) -> int:
        """Position after the last release."""
        return self.start + self._count

    @property
    def last_clock(self) -> int:
        """The clock of the last release, 0 if there is none."""
        if self._count:
            return int(self._clocks[self._count - 1])
        return 0 if self._folded is None else int(self._folded[1].max())

    def add(self, blocks: Ints, clock: int) -> None:
        """These blocks release what they did before `clock`, one after the other."""
        count = self._count + len(blocks)
        if count > len(self._blocks):
            room = max(count, 2 * len(self._blocks))
            self._blocks = np.concatenate([self._blocks, np.empty(room - len(self._blocks), np.int64)])
            self._clocks = np.concatenate([self._clocks, np.empty(room - len(self._clocks), np.int64)])
        self._blocks[self._count : count] = blocks
        self._clocks[self._count : count] = clock
        self._count = count

    def add_knowledge(self, position: int, knowledge: Knowledge) -> None:
        """The release at this position includes what its block had acquired."""
        self._knowledge.append((position, knowledge))

    def fold(self) -> None:
        """Fold all releases together."""
        blocks, clocks, knowledge = self.between(0, self.end)
        latest: dict[int, int] = dict(zip(blocks.tolist(), clocks.tolist(), strict=True))
        merged: dict[int, int] = {}
        for known in knowledge:
            _merge(merged, known)
        self._folded = np.array(list(latest)), np.array(list(latest.values())), merged
        self.start, self._count = self.end, 0
        self._blocks, self._clocks, self._knowledge = np.empty(4, np.int64), np.empty(4, np.int64), []

    def position_at(self, clock: int) -> int:
        """Position after the last release whose clock is at most `clock`."""
        return self.start + int(np.searchsorted(self._clocks[: self._count], clock, side="right"))

    def between(self, low: int, high: int) -> tuple[Ints, Ints, list[Knowledge]]:
        """Blocks, clocks (ascending for each block) and knowledge of the releases at these positions."""
        first, last = max(low - self.start, 0), max(high - self.start, 0)
        blocks, clocks = self._blocks[first:last], self._clocks[first:last]
        begin = bisect_right(self._knowledge, first + self.start - 1, key=lambda entry: entry[0])
        end = bisect_right(self._knowledge, last + self.start - 1, key=lambda entry: entry[0])
        knowledge = [known for _, known in self._knowledge[begin:end]]
        if self._folded is not None and low < self.start:
            blocks = np.concatenate([self._folded[0], blocks])
            clocks = np.concatenate([self._folded[1], clocks])
            knowledge.insert(0, self._folded[2])
        return blocks, clocks, knowledge


class BlockOrder:
    """The clocks of the blocks of one launch.

    Args:
        blocks: of the launch.
        launch: the clock of its first access.
    """

    def __init__(self, blocks: int, launch: int) -> None:
        self._blocks = blocks
        self._launch = launch
        self._logs: dict[int, _Log] = {}
        self._names: Ints = np.empty(0, np.int64)
        self._known: dict[int, Knowledge] = {}
        self._observed: dict[int, Knowledge] = {}
        self._into = self._known
        self._fenced = np.zeros(blocks, np.bool_)
        self._rows: dict[int, tuple[Knowledge, Ints]] = {}  # of `reached`, and of which knowledge

    def grow(self, blocks: int) -> None:
        """There are this many blocks now."""
        self._fenced = np.concatenate([self._fenced, np.zeros(blocks - self._blocks, np.bool_)])
        self._blocks = blocks

    def inherit(self, earlier: Iterable[int], later: Iterable[int]) -> None:
        """The later blocks have acquired what the earlier ones have."""
        merged: dict[int, int] = {}
        for block in earlier:
            _merge(merged, self._known.get(block, _NOTHING))
        for block in later if merged else ():
            known = dict(self._known.get(block, _NOTHING))
            _merge(known, merged)
            self._known[block] = known

    def reached(self, block: int) -> Ints:
        """(blocks,) the clock before which the accesses of each block happen before those of this one.

        0 if nothing of a block does.
        """
        known = self._known.get(block, _NOTHING)
        cached = self._rows.get(block)
        if cached is not None and cached[0] is known and len(cached[1]) == self._blocks:
            return cached[1]
        row = np.full(self._blocks, self._launch, np.int64)
        if known:
            self._read_logs(block, row)
        self._rows[block] = known, row
        return row

    def fence(self, blocks: Ints, *, acquires: bool = True, releases: bool = True) -> None:
        """Threads of these blocks executed a fence whose scope includes other blocks."""
        if releases:
            self._fenced[blocks] = True
        for block in blocks.tolist() if acquires and self._observed else ():
            for name, position in self._observed.pop(block, _NOTHING).items():
                self._acquire(block, name, position)

    def access(
        self,
        blocks: Ints,
        addresses: Ints,
        clock: int,
        *,
        acquires: bool,
        releases: bool,
        order: Order = _BOTH,
    ) -> None:
        """Lanes of these blocks perform a strong access, in this order.

        Args:
            blocks: (n,) block of each lane; `addresses`: (n,) of what it accesses.
            clock: what happened before it is released, the access included.
            acquires: the lanes use the values they read; `releases`: they change them.
            order: whether the access itself acquires and releases, or needs fences.
        """
        self._into = self._known if order.acquires else self._observed
        if releases and not order.releases:
            fenced = self._fenced[blocks]
            if fenced.any():
                self._write(blocks[fenced], addresses[fenced], clock, acquires=acquires)
            if acquires and not fenced.all():
                self._read(blocks[~fenced], addresses[~fenced], clock)
        elif releases:
            self._write(blocks, addresses, clock, acquires=acquires)
        else:
            self._read(blocks, addresses, clock)
        self._into = self._known

    def _write(self, blocks: Ints, addresses: Ints, clock: int, *, acquires: bool) -> None:
        """Blocks release at addresses, and with `acquires` also acquire what was released there."""
        for address, here in self._by_address(blocks, addresses):
            if address is None:
                if acquires:
                    for block in here.tolist():
                        self._acquire(block, _EVERYTHING, clock)
                self._release(_ANYWHERE, here, clock)
            elif acquires:
                self._update(address, here, clock)
            else:
                self._release(address, here, clock)

    def acquire_from(self, block: int, other: int, clock: int) -> None:
        """What another block did before `clock` happens before what this one does from now on."""
        name = _DIRECT - other
        log = self._logs.setdefault(name, _Log())
        if log.last_clock < clock:
            self._release(name, np.array([other]), clock)
        self._acquire(block, name, log.position_at(clock - 1) + 1)

    def batch_ends(self) -> None:
        """The blocks that ran have ended: their clocks are dropped, what they released is kept."""
        self._known.clear()
        self._observed.clear()

    def join(self, blocks: Ints) -> None:
        """Each of these blocks acquires what one of them has acquired."""
        merged: dict[int, int] = {}
        for block in blocks.tolist():
            _merge(merged, self._known.get(block, _NOTHING))
        if merged:
            self._known.update(dict.fromkeys(blocks.tolist(), merged))

    def unordered(self, earlier: Ints, clocks: Ints, later: Ints) -> NDArray[np.bool_]:
        """Which accesses of other blocks are not ordered before those of now.

        Args:
            earlier: (n,) blocks of the earlier accesses; `clocks`: when they happened.
            later: (n,) blocks that access now.
        """
        result = np.ones(len(earlier), np.bool_)
        for block in np.unique(later).tolist() if self._known else ():
            if block in self._known:
                mine = np.flatnonzero(later == block)
                result[mine] = self._unknown(block, earlier[mine], clocks[mine])
        return result

    def _unknown(self, block: int, others: Ints, clocks: Ints) -> NDArray[np.bool_]:
        """(n,) which accesses are not ordered before a block; reads logs until all are, or none is left."""
        row = np.full(self._blocks, self._launch, np.int64)
        self._read_logs(block, row, lambda: not (clocks >= row[others]).any())
        return np.asarray(clocks >= row[others])

    def _read_logs(self, block: int, row: Ints, enough: Callable[[], bool] = lambda: False) -> None:
        """Raise the clocks of a row to what a block has acquired, until that is enough."""
        reached: dict[int, int] = {}
        ahead = deque(self._known[block].items())
        while ahead:
            name, position = ahead.popleft()
            if name == _EVERYTHING:
                ahead += [(other, log.position_at(position)) for other, log in self._logs.items()]
                continue
            done = reached.get(name, 0)
            if position <= done:
                continue
            reached[name] = position
            blocks, before, knowledge = self._logs[name].between(done, position)
            row[blocks] = np.maximum(row[blocks], before)
            if enough():
                return
            for known in knowledge:
                ahead += known.items()

    def _by_address(self, blocks: Ints, addresses: Ints) -> Iterator[tuple[int | None, Ints]]:
        """(address, its blocks in the order of their lanes); None for all addresses if there are too many."""
        if (addresses == addresses[0]).all():
            yield int(addresses[0]), _in_order(blocks)
            return
        order = np.argsort(addresses, kind="stable")
        ascending = addresses[order]
        starts = np.flatnonzero(np.diff(ascending, prepend=ascending[0] - 1))
        if len(starts) <= MAX_PAIRS and len(self._logs) <= MAX_LOGS:
            groups = [_in_order(here) for here in np.split(blocks[order], starts[1:])]
            if sum(map(len, groups)) <= MAX_PAIRS:
                yield from zip(ascending[starts].tolist(), groups, strict=True)
                return
        yield None, _in_order(blocks)

    def _release(self, name: int, blocks: Ints, clock: int) -> None:
        log = self._logs.setdefault(name, _Log())
        if self._known:
            for position, block in enumerate(blocks.tolist(), log.end):
                self._add_knowledge(log, name, position, block)
        log.add(blocks, clock)
        self._fold(log)

    def _read(self, blocks: Ints, addresses: Ints, clock: int) -> None:
        """Blocks acquire what was released where they read; usually there is nothing."""
        anywhere = self._logs.get(_ANYWHERE)
        if anywhere is not None:
            for block in _in_order(blocks).tolist():
                self._acquire(block, _ANYWHERE, anywhere.end)
        if len(self._names) != len(self._logs):
            self._names = np.array(sorted(self._logs), np.int64)
        some = np.isin(addresses, self._names)
        for address, here in self._by_address(blocks[some], addresses[some]) if some.any() else ():
            for block in here.tolist():
                if address is None:
                    self._acquire(block, _EVERYTHING, clock)
                else:
                    self._acquire(block, address, self._logs[address].end)

    def _update(self, name: int, blocks: Ints, clock: int) -> None:
        """One block after the other acquires what was released there and adds its own release."""
        log = self._logs.setdefault(name, _Log())
        anywhere = self._logs.get(_ANYWHERE)
        for position, block in enumerate(blocks.tolist(), log.end):
            if anywhere is not None:
                self._acquire(block, _ANYWHERE, anywhere.end)
            self._add_knowledge(log, name, position, block)
            if position:
                self._acquire(block, name, position)
        log.add(blocks, clock)
        self._fold(log)

    def _add_knowledge(self, log: _Log, name: int, position: int, block: int) -> None:
        """Attach to a block's release what the block has acquired from other logs."""
        known = self._known.get(block)
        if known and not (len(known) == 1 and name in known):
            log.add_knowledge(position, known)

    def _acquire(self, block: int, name: int, position: int) -> None:
        known = self._into.get(block, _NOTHING)
        if known.get(name, 0) < position:
            self._into[block] = {**known, name: position}

    def _fold(self, log: _Log) -> None:
        if log.end - log.start > 4 * self._blocks + 4096:
            log.fold()


def _in_order(blocks: Ints) -> Ints:
    """The distinct blocks, in the order of their first lanes."""
    if not len(blocks) or blocks[0] == blocks[-1] == blocks.max() == blocks.min():
        return blocks[:1]
    _, firsts = np.unique(blocks, return_index=True)
    return np.asarray(blocks[np.sort(firsts)])


def _merge(into: dict[int, int], other: Knowledge) -> None:
    for name, position in other.items():
        if into.get(name, 0) < position:
            into[name] = position
