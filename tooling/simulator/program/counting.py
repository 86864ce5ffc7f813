"""What the counters need to know of an instruction set and its memory."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from tooling.simulator.gpu.code_model import Instruction
from tooling.simulator.gpu.hooks import Ints


class CountingRules(Struct, frozen=True):
    """How instructions and accesses are counted.

    Attributes:
        lanes: of a warp.
        line_bytes: bytes of the unit in which the nearest cache looks up global and local memory.
        is_barrier: whether warps wait here for others of their block or cluster.
        is_matrix: whether a matrix unit multiplies matrices here.
        returns: whether the old value of an atomic is used; also given: names of the registers that are read.
        atomics_in_rounds: lanes of an atomic at one address are looked up one round after the other.
        bank_passes: (passes, n) the lanes that each pass over the banks serves, by bytes per lane and whether
            it is a store; None: the measured rules of `counters.banks`.
        measured: the counts were compared with those of a profiler on hardware, and have its names.
    """

    lanes: int
    line_bytes: int
    is_barrier: Callable[[Instruction], bool]
    is_matrix: Callable[[Instruction], bool]
    returns: Callable[[Instruction, frozenset[str]], bool]
    atomics_in_rounds: bool = True
    bank_passes: Callable[[int, bool], Ints] | None = None
    measured: bool = True
