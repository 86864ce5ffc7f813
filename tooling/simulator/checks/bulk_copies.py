"""Race check of bulk copies: no access before completion is observed (PTX ISA 9.7.9.25.1).

A copy has two sides. The source may not be written until it was read; the destination may not be accessed
until it was written. A thread observes completion when it sees the mbarrier's phase complete or waits for the
copy's group; other threads observe it by synchronising with such a thread. A copy may write to global memory
after its block has exited. A copy that still uses the block's shared memory then is a warning: the PTX ISA
does not forbid it, and on an H200 such memory was not seen to be reused too early.

Generic accesses and copies are compared in the order in which they begin. Whether a copy begins after the
accesses before it is checked by the race check, which treats a copy as an access of its thread.
"""

from __future__ import annotations

import numpy as np

from tooling.simulator.checks.base import WARP, CheckHook, action_of, survivors
from tooling.simulator.checks.copy_sides import Side, WatchedCopies
from tooling.simulator.checks.findings import Action, Buffer, Check, Finding, Kind, Severity
from tooling.simulator.gpu.code_model import Instruction
from tooling.simulator.gpu.hooks import (
    Access,
    AccessKind,
    Ints,
    LaunchContext,
    MBarrierOperation,
    Space,
    Transfer,
)

FEW_LANES = 256
"""Strong accesses of at most this many lanes pass on what threads have observed, lane by lane."""


def _matters(side: Side, access: Access) -> bool:
    """Two reads do not conflict, and neither do two additions."""
    if access.kind is AccessKind.LOAD:
        return side.writes
    return not (side.adds and access.kind is AccessKind.ATOMIC)


_FILLING = {"bulk": Kind.BULK_COPY_IN_FLIGHT, "cp": Kind.COPY_IN_FLIGHT}
_ACTIONS = {"wgmma": Action.PRODUCT}
_READING = {
    "bulk": Kind.COPY_SOURCE_CHANGED, "cp": Kind.SOURCE_IN_FLIGHT, "wgmma": Kind.OPERAND_CHANGED,
}  # fmt: skip


def _sort_of(instruction: Instruction) -> str:
    """`bulk`, `cp` for other copies, or `wgmma`."""
    return "bulk" if "bulk" in instruction.modifiers else instruction.opcode


class BulkCopyCheck(WatchedCopies, CheckHook):
    """Accesses to memory that a bulk copy still reads or writes, and copies that outlive their block."""

    check = Check.RACES

    def launch_begin(self, context: LaunchContext) -> None:
        super().launch_begin(context)
        self._exits: dict[int, tuple[int, Instruction | None]] = {}

    def has_reported(self, access: Instruction, copy: Instruction) -> bool:
        """Whether this pair was reported, so that it need not be reported as a race as well."""
        return bool(self._findings) and any(
            (kind, self.context.launch.function.name, access.code_line, copy.code_line) in self._findings
            for kind in (*_FILLING.values(), *_READING.values())
        )

    # Accesses

    def access(self, access: Access) -> None:
        """Compare an access with the copies in progress; the access of a copy itself starts another."""
        if access.transfer is None and not self._sides:
            return
        access = survivors(access)
        if access.space is Space.LOCAL or not len(access.threads):
            return
        addresses = access.addresses
        if access.space is Space.GLOBAL:  # mapped memory may have several addresses
            addresses = self.context.memory.physical_addresses(addresses)
        if access.transfer is None and len(access.threads) <= FEW_LANES and access.instruction.is_strong:
            self._pass_on(access, addresses)
        for side in self._sides.near(access, addresses):
            if side.transfer is not access.transfer and _matters(side, access):
                self._compare(side, access, addresses)
        if access.transfer is not None:
            self._begin(access, addresses, access.transfer)

    def _compare(self, side: Side, access: Access, addresses: Ints) -> None:
        lanes = side.hits(access, addresses)
        if len(lanes):
            lanes = lanes[~self._sides.observed_by(side, access.threads[lanes])]
        if not len(lanes):
            return
        copy, lane = side.transfer.instruction, int(lanes[0])
        kind = (_FILLING if side.writes else _READING)[_sort_of(copy)]
        key = (kind, self.context.launch.function.name, access.instruction.code_line, copy.code_line)
        if self.again(key, len(lanes)):
            return
        buffer, offset = self._buffer_at(access, lane)
        parties = (
            self.party(int(access.threads[lane]), action_of(access), access.instruction),
            self.party(side.transfer.thread, _ACTIONS.get(copy.opcode, Action.ASYNC_COPY), copy),
        )
        finding = Finding(
            self.check,
            kind,
            Severity.ERROR,
            self.kernel(),
            parties,
            buffer,
            offset=offset,
            size=access.bytes,
            count=len(lanes),
        )
        self.note(key, finding)

    def _buffer_at(self, access: Access, lane: int) -> tuple[Buffer | None, int]:
        address = int(access.addresses[lane])
        if access.space is Space.SHARED:
            return self.window(Space.SHARED, access.element_bytes), address
        allocation = self.context.memory.containing(address)
        if allocation is None:
            return None, 0
        return self.buffer(allocation, access.element_bytes), address - allocation.base

    def _begin(self, access: Access, addresses: Ints, transfer: Transfer) -> None:
        block = -1 if access.blocks is None else int(access.blocks[0])
        self._add(transfer, access.kind, block, addresses, access.bytes)

    def _add(self, transfer: Transfer, kind: AccessKind, block: int, addresses: Ints, size: int) -> Side:
        """Add the side of a copy that accesses `size` bytes at each address."""
        starts = np.sort(addresses)
        after_gaps = np.flatnonzero(starts[1:] > starts[:-1] + size) + 1
        first = np.concatenate([[0], after_gaps])
        last = np.concatenate([after_gaps, [len(starts)]]) - 1
        if kind is not AccessKind.LOAD:  # it replaces the sides there whose end its thread has observed
            over = {
                id(each) for each in self._sides.overlapping(block, int(starts[0]), int(starts[-1]) + size)
            }
            thread = np.array([transfer.thread])
            self._sides.keep(
                lambda side: id(side) not in over or not self._sides.observed_by(side, thread).all()
            )
        adds = kind is AccessKind.ATOMIC
        side = Side(transfer, kind is not AccessKind.LOAD, adds, block, starts[first], starts[last] + size)
        self._sides.add(side)
        return side

    def arriving(  # noqa: PLR0917 - the facts of one side
        self, transfer: Transfer, kind: AccessKind, block: int, addresses: Ints, size: int, owners: Ints
    ) -> None:
        """Copies by cp.async in progress will arrive at the mbarrier of `transfer`."""
        side = self._add(transfer, kind, block, addresses, size)
        side.counted, side.owners = True, owners

    def async_wait(self, threads: Ints, pending: int | None, instruction: Instruction) -> None:
        """A thread that waits for all of its copies need not wait at the mbarrier as well."""
        for side in self._sides if not pending else ():
            if side.owners is not None:
                self._sides.observe(side, np.intersect1d(side.owners, threads))

    # Threads that have observed the end of a copy

    def _pass_on(self, access: Access, addresses: Ints) -> None:
        for lane, address in enumerate(addresses.tolist()):
            message = (access.space, None if access.blocks is None else int(access.blocks[lane]), address)
            thread = access.threads[lane : lane + 1]
            self._sides.acquire(thread, message)
            self._sides.release(thread, message)

    def mbarrier(self, operation: MBarrierOperation) -> None:
        super().mbarrier(operation)
        if self._sides and operation.action == "passed":
            self._drop_read_inputs()

    def bulk_wait(self, threads: Ints, groups: Ints, instruction: Instruction) -> None:
        """With `.read` only the sources are done."""
        read = "read" in instruction.modifiers
        over = dict(zip(threads.tolist(), groups.tolist(), strict=True))
        for side in self._sides:
            copy = side.transfer
            if copy.barrier is None and copy.group < over.get(copy.thread, 0) and not (read and side.writes):
                self._sides.observe(side, np.array([copy.thread]))
        self._drop_read_inputs()

    def products_read(self, operands: Access) -> None:
        """The operands of a matrix product may not be changed until it has been waited for."""
        if operands.transfer is not None:
            self._begin(operands, operands.addresses, operands.transfer)

    def product_wait(self, threads: Ints, groups: Ints, instruction: Instruction) -> None:
        """A warp waits for its own part of a product: its rows of A, and all of B."""
        over = dict(zip(threads.tolist(), groups.tolist(), strict=True))
        for side in self._sides:
            product = side.transfer
            if product.instruction.opcode == "wgmma" and product.group < over.get(product.thread, 0):
                first = product.thread
                self._sides.observe(side, threads[threads // WARP == first // WARP])

    def product_used(self, threads: Ints, instruction: Instruction, product: Instruction) -> None:
        """A register of a product's result is read, or changed, before the product is done."""
        key = (
            Kind.RESULT_IN_FLIGHT,
            self.context.launch.function.name,
            instruction.code_line,
            product.code_line,
        )
        thread = int(threads[0])
        parties = (self.party(thread, Action.READ, instruction), self.party(thread, Action.PRODUCT, product))
        self.note(
            key,
            Finding(
                self.check,
                Kind.RESULT_IN_FLIGHT,
                Severity.ERROR,
                self.kernel(),
                parties,
                count=len(threads),
            ),
        )

    def product_unfenced(self, threads: Ints, instruction: Instruction) -> None:
        """The registers of a product are not ordered after the accesses to them."""
        key = (Kind.PRODUCT_UNFENCED, self.context.launch.function.name, instruction.code_line)
        party = self.party(int(threads[0]), Action.PRODUCT, instruction)
        finding = Finding(
            self.check, Kind.PRODUCT_UNFENCED, Severity.ERROR, self.kernel(), (party,), count=len(threads)
        )
        self.note(key, finding)

    def _drop_read_inputs(self) -> None:
        """Drop observed reads of global memory: the race check compares later writes with the reader."""
        self._sides.keep(lambda side: side.writes or side.block >= 0 or not side.observers)

    # The end of a block

    def threads_exit(self, threads: Ints, instruction: Instruction | None) -> None:
        if self._sides:
            self._release_to_cluster(threads)  # an exit counts as an arrival
            blocks, firsts = np.unique(threads // self.context.threads_per_block, return_index=True)
            for block, first in zip(blocks.tolist(), firsts.tolist(), strict=True):
                self._exits[block] = (int(threads[first]), instruction)

    def batch_end(self, first_block: int, blocks: int) -> None:
        """All threads of these blocks have exited, and their shared memory is reused."""
        for side in self._sides:
            bulk = _sort_of(side.transfer.instruction) == "bulk"
            if bulk and first_block <= side.block < first_block + blocks and not side.observers:
                self._report_outlived(side)
        self._sides.keep(lambda side: side.block < 0)

    def _report_outlived(self, side: Side) -> None:
        copy = side.transfer.instruction
        key = (Kind.COPY_OUTLIVES_BLOCK, self.context.launch.function.name, copy.code_line)
        size = self.context.threads_per_block
        thread, instruction = self._exits.get(side.block, (side.block * size, None))
        parties = (
            self.party(side.transfer.thread, Action.ASYNC_COPY, copy),
            self.party(thread, Action.EXIT, instruction),
        )
        self.note(
            key,
            Finding(
                self.check,
                Kind.COPY_OUTLIVES_BLOCK,
                Severity.WARNING,
                self.kernel(),
                parties,
                self.window(Space.SHARED, 0),
                size=int((side.ends - side.starts).sum()),
            ),
        )
