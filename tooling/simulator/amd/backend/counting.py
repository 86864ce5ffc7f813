"""How accesses of AMD GPUs are counted: cache lines, and passes over the banks of LDS.

Sources: LDS has 32 banks of 4 bytes and serves 128 bytes at a time (CDNA 3 ISA, "Local Data Share"). 4
bytes per lane take a pass for each half of a wavefront, 8 bytes one for each quarter (AMD OpenCL Optimization
Guide, "Local Memory (LDS) Optimization"). 16 bytes take passes of 8 lanes, which differ between loads and
stores (ROCm documentation of Composable Kernel, "Understanding AMD GPU LDS and Bank Conflicts"). The vector
L1 cache has lines of 128 bytes (AMD CDNA 3 white paper). No AMD GPU has confirmed a count.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from tooling.simulator.amd.architectures import Architecture
from tooling.simulator.amd.decoding.instruction import MachineInstruction
from tooling.simulator.gpu.code_model import Instruction
from tooling.simulator.gpu.hooks import Ints
from tooling.simulator.program.counting import CountingRules

_LINE = 128
_PASS_BYTES = 128
_LOADED_TOGETHER = ((0, 20), (4, 16), (8, 28), (12, 24))
"""A load of 16 bytes per lane: the first lanes of the two groups of four in each pass, by half wavefront."""


def is_barrier(instruction: Instruction) -> bool:
    """Whether wavefronts wait for others of their work-group here."""
    return instruction.opcode == "s_barrier"


def is_matrix(instruction: Instruction) -> bool:
    """Whether matrix cores multiply matrices here."""
    return instruction.opcode.startswith("v_mfma")


def returns(instruction: Instruction, _read: frozenset[str]) -> bool:
    """Whether an atomic returns the old value."""
    assert isinstance(instruction, MachineInstruction)
    return bool(instruction.results)


def counting_rules(architecture: Architecture) -> CountingRules:
    """The rules of an architecture."""
    lanes = architecture.lanes

    @cache
    def bank_passes(width: int, store: bool) -> Ints:
        together = min(lanes, _PASS_BYTES // max(4, width))
        if lanes == 64 and together == 8 and not store:
            order = [
                half + first + k
                for half in (0, 32)
                for pair in _LOADED_TOGETHER
                for first in pair
                for k in range(4)
            ]
        else:
            order = list(range(lanes))
        return np.array(order).reshape(-1, together)

    return CountingRules(
        lanes,
        _LINE,
        is_barrier,
        is_matrix,
        returns,
        atomics_in_rounds=False,
        bank_passes=bank_passes,
        measured=False,
    )
