"""All tables together."""

from __future__ import annotations

from tooling.simulator.amd.semantics import (
    bytes_and_pairs,
    floats,
    integer,
    narrow_floats,
    rdna3,
    scalar,
)
from tooling.simulator.amd.semantics.registry import OPERATIONS, Operation

TABLES = (floats, integer, scalar, rdna3, bytes_and_pairs, narrow_floats)
"""Each of these modules enters its operations into `registry.OPERATIONS` when it is imported."""


def lookup(name: str) -> Operation | None:
    """The operation of a mnemonic without the suffix of its encoding."""
    return OPERATIONS.get(name)
