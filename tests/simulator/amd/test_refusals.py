"""Instructions that the simulator does not support stop a kernel that reaches them, and no other."""

from __future__ import annotations

import pytest

from tests.simulator.amd.assembly import lanes_of
from tooling.simulator.amd.code_object.errors import UnknownInstruction

UNSUPPORTED = {"gfx942": "v_screen_partition_4se_b32_e32 v2, v3", "gfx1100": "v_cubeid_f32 v2, v3, v4, v5"}


@pytest.mark.parametrize("architecture", ["gfx942", "gfx1100"])
def test_a_kernel_is_refused_when_it_reaches_an_unsupported_instruction(architecture: str) -> None:
    line = UNSUPPORTED[architecture]
    mnemonic = line.split()[0].removesuffix("_e32")
    with pytest.raises(UnknownInstruction) as caught:
        lanes_of(architecture, ("v_mov_b32_e32 v1, v0", line))
    what, why, _ = str(caught.value).split("\n")
    assert what.endswith(f"cannot execute `{mnemonic}`")
    assert why == "  why: the simulator does not know this form"


@pytest.mark.parametrize("architecture", ["gfx942", "gfx1100"])
def test_an_unsupported_instruction_behind_a_branch_that_is_taken_does_not_matter(architecture: str) -> None:
    lines = ("v_mov_b32_e32 v1, v0", "s_cmp_eq_u32 0, 0", "s_cbranch_scc1 2", UNSUPPORTED[architecture])
    # The unsupported instruction has 4 bytes on gfx942 and 8 on gfx1100: the branch skips 8.
    padding = ("s_nop 0",) if architecture == "gfx942" else ()
    lanes = 64 if architecture == "gfx942" else 32
    assert lanes_of(architecture, (*lines, *padding)) == list(range(lanes))
