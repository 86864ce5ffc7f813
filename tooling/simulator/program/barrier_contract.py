"""The interface between instructions and the barriers of a batch (PTX ISA 9.7.13.1 to 9.7.13.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from tooling.simulator.gpu.code_model import Instruction
from tooling.simulator.gpu.lanes import Group


class Vote(Struct, frozen=True):
    """The vote of a `bar.red`: the slot of its predicate, the reduction, and the slot of the result."""

    predicate: int
    negated: bool
    combine: str
    target: int


class BlockSync(Protocol):
    """The sixteen barriers of every block in a batch (`barriers.BlockBarriers`)."""

    def arrive(
        self, group: Group, barrier: int, count: int | None, instruction: Instruction, *, stay: bool
    ) -> bool:
        """Lanes of `group` arrive; returns whether they continue at once (then the group itself continues).

        Args:
            count: threads that the barrier waits for; None: all of the block.
            stay: whether the lanes wait for the others.
        """
        ...

    def generations(self, group: Group, barrier: int, count: int | None) -> list[Group]:
        """The lanes that arrive together for one completion of a barrier, and those for the next ones."""
        ...

    def cast(self, group: Group, barrier: int, vote: Vote) -> None:
        """Record the votes of lanes that arrive by `bar.red`."""
        ...

    def count(self, group: Group, barrier: int, vote: Vote) -> None:
        """Set the result for lanes that passed without waiting, and drop the votes."""
        ...


class ClusterSync(Protocol):
    """The one barrier of every cluster in a batch (`barriers.ClusterBarriers`)."""

    def arrive(self, group: Group, instruction: Instruction) -> None:
        """Lanes arrive for the phase that their next wait belongs to."""
        ...

    def wait(self, group: Group, instruction: Instruction) -> bool:
        """Whether the phase that the lanes arrived for is complete; if not, they are parked."""
        ...


class ParkedLanes(Protocol):
    """Lanes that wait at a barrier."""

    @property
    def group(self) -> Group:
        """The lanes; `group.pc` is the block at which they resume."""
        ...

    @property
    def barrier(self) -> int:
        """The barrier's number."""
        ...

    @property
    def instruction(self) -> Instruction:
        """The instruction at which they wait."""
        ...


class BlockBarrierState(BlockSync, Protocol):
    """What the batch needs of its blocks' barriers, besides the interface for instructions."""

    @property
    def parked(self) -> Sequence[ParkedLanes]:
        """The lanes that wait."""
        ...

    def after_exit(self) -> None:
        """Release barriers that threads have completed by exiting."""
        ...


class ClusterBarrierState(ClusterSync, Protocol):
    """What the batch needs of its clusters' barriers, besides the interface for instructions."""

    @property
    def parked(self) -> Sequence[ParkedLanes]:
        """The lanes that wait."""
        ...

    def after_exit(self) -> None:
        """Release barriers that threads have completed by exiting."""
        ...
