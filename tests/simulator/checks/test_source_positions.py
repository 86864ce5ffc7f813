"""Which line a finding names, where the compiler has put one function into another."""

from __future__ import annotations

import pytest

from tooling.simulator.checks.base import source_position
from tooling.simulator.gpu.code_model import Instruction, SourceLocation

OWN = "/home/me/problems/p23/p23.mojo"
KERNEL, TENSOR = (
    "max/mojo/max/algorithm/backend/gpu/elementwise.mojo",
    "max/kernels/src/layout/layout_tensor.mojo",
)
STANDARD = "Mojo/stdlib/std/builtin/debug_assert.mojo"


def chain(*locations: tuple[str, int]) -> SourceLocation | None:
    """The innermost first."""
    found = None
    for file, line in reversed(locations):
        found = SourceLocation(file, line, 1, found)
    return found


@pytest.mark.parametrize(
    ("locations", "file", "line"),
    [
        ([(OWN, 7)], OWN, 7),
        ([(TENSOR, 90), (OWN, 7)], OWN, 7),
        ([(TENSOR, 90), (OWN, 9), (OWN, 7)], OWN, 9),  # a function of the author's inside the kernel
        ([(TENSOR, 90), (OWN, 9), (KERNEL, 468)], OWN, 9),  # a library's kernel that calls the author's
        ([(OWN, 9), (KERNEL, 468)], OWN, 9),
        ([(TENSOR, 90), (KERNEL, 468)], KERNEL, 468),
        ([(OWN, 9), (STANDARD, 661)], OWN, 9),
    ],
)
def test_the_source_position_is_the_authors(locations: list[tuple[str, int]], file: str, line: int) -> None:
    position = source_position(Instruction("ld", ("global", "b32"), None, (), 1, chain(*locations)))
    assert (position.file, position.line) == (file, line)
