"""Source positions of instructions."""

from __future__ import annotations

from bisect import bisect_right

from tooling.simulator.amd.code_object.model import CodeObject
from tooling.simulator.gpu.code_model import SourceLocation


def source_at(module: CodeObject, offset: int) -> SourceLocation | None:
    """The source position of the instruction at a code offset, if the line table has one."""
    index = bisect_right(module.line_offsets, offset) - 1
    return module.line_positions[index] if index >= 0 else None
