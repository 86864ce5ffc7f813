"""What a moved load reads is a finding only for the lanes that use the value: in machine code, where masks of
lanes say which do."""

from __future__ import annotations

import numpy as np
import pytest

from tests.simulator.amd.assembly import run
from tests.simulator.helpers import findings_of
from tooling.simulator.amd.architectures import ARCHITECTURES
from tooling.simulator.checks.findings import Kind
from tooling.simulator.checks.suite import make_checks

each_architecture = pytest.mark.parametrize("architecture", list(ARCHITECTURES))

NAMES = {
    "gfx942": {
        "vcc": "vcc", "exec": "exec", "ones": "-1", "b": "b64", "one": "s[4:5]", "two": "s[6:7]",
        "andn2": "s_andn2_b64", "first": "64", "read": "ds_read_b32", "write": "ds_write_b32",
        "global": "global_store_dword", "buffer": "s[0:1]",
    },
    "gfx1100": {
        "vcc": "vcc_lo", "exec": "exec_lo", "ones": "-1", "b": "b32", "one": "s4", "two": "s6",
        "andn2": "s_and_not1_b32", "first": "32", "read": "ds_load_b32", "write": "ds_store_b32",
        "global": "global_store_b32", "buffer": "s[0:1]",
    },
}  # fmt: skip

START = (
    "v_mov_b32_e32 v1, 0",
    "v_mov_b32_e32 v2, 7",
    "v_mov_b32_e32 v4, 5",
    "v_lshlrev_b32_e32 v5, 2, v0",
    "v_cmp_eq_u32_e64 {two}, {first}, v0",  # the first thread of the second wavefront
    "s_and_saveexec_{b} {one}, {two}",
    "{write} v1, v2",
    "s_mov_{b} {exec}, {ones}",
    "{read} v3, v1",  # by every lane; only the thread that wrote may use the value
    "s_waitcnt lgkmcnt(0)",
)
"""One thread writes a cell, and all threads read it without a barrier."""

END = ("s_mov_{b} {exec}, {ones}", "{global} v5, v4, {buffer}")

RIGHT = {
    "selected": ("v_cndmask_b32_e64 v4, v4, v3, {two}",),
    "computed, then selected": ("v_add_u32_e32 v6, v3, v3", "v_cndmask_b32_e64 v4, v4, v6, {two}"),
    "in a branch": ("s_and_saveexec_{b} {one}, {two}", "v_add_u32_e32 v4, v3, v3"),
    "compared, for its own lane": (
        "v_cmp_lt_u32_e64 {vcc}, 1, v3",
        "s_and_{b} {vcc}, {two}, {vcc}",
        "s_and_saveexec_{b} {one}, {vcc}",
        "v_mov_b32_e32 v4, 9",
    ),
    "compared, for lanes that are not left out": (
        "v_cmp_lt_u32_e64 {vcc}, 1, v3",
        "s_not_{b} {two}, {two}",
        "{andn2} {vcc}, {vcc}, {two}",
        "s_and_saveexec_{b} {one}, {vcc}",
        "v_mov_b32_e32 v4, 9",
    ),
    "compared for active lanes": (
        "s_and_saveexec_{b} {one}, {two}",
        "v_cmp_lt_u32_e64 {vcc}, 1, v3",
        "s_and_saveexec_{b} {one}, {vcc}",
        "v_mov_b32_e32 v4, 9",
    ),
    "overwritten": ("v_mov_b32_e32 v3, 1", "v_mov_b32_e32 v4, v3"),
    "kept in a loop": (
        "s_mov_b32 s8, 3",
        "v_add_u32_e32 v7, v3, v3",
        "s_sub_i32 s8, s8, 1",
        "s_cmp_lg_u32 s8, 0",
        "s_cbranch_scc1 65532",
        "v_cndmask_b32_e64 v4, v4, v7, {two}",
    ),
}

WRONG = {
    "stored": ("v_mov_b32_e32 v4, v3",),
    "computed": ("v_add_u32_e32 v4, v3, v3",),
    "selected by the others": ("v_cndmask_b32_e64 v4, v3, v4, {two}",),
    "in the other branch": (
        "s_not_{b} {two}, {two}",
        "s_and_saveexec_{b} {one}, {two}",
        "v_mov_b32_e32 v4, v3",
    ),
    "compared": (
        "v_cmp_lt_u32_e64 {vcc}, 1, v3",
        "s_and_saveexec_{b} {one}, {vcc}",
        "v_mov_b32_e32 v4, 9",
    ),
    "compared, or": (
        "v_cmp_lt_u32_e64 {vcc}, 1, v3",
        "s_or_{b} {vcc}, {two}, {vcc}",
        "s_and_saveexec_{b} {one}, {vcc}",
        "v_mov_b32_e32 v4, 9",
    ),
    "as a condition of all": (
        "v_cmp_lt_u32_e32 vcc_or, 1, v3",
        "s_cbranch_vccz 1",
        "v_mov_b32_e32 v4, 9",
    ),
    "as an address": ("v_and_b32_e32 v3, 0, v3", "{read} v4, v3", "s_waitcnt lgkmcnt(0)"),
    "by another lane": ("v_mov_b32_dpp v4, v3 quad_perm:[0,0,0,0] row_mask:0xf bank_mask:0xf",),
}


def kinds(architecture: str, lines: tuple[str, ...]) -> set[Kind]:
    """The kinds of findings of two wavefronts that execute instructions after `START`."""
    lanes = ARCHITECTURES[architecture].lanes
    text = [line.format(**NAMES[architecture]) for line in (*START, *lines, *END)]
    text = [line.replace("vcc_or", "vcc" if lanes == 64 else "vcc_lo") for line in text]
    if lanes == 32:
        text = [line.replace("v_add_u32", "v_add_nc_u32") for line in text]
    checks = make_checks()
    run(
        architecture, text, buffer=np.zeros(2 * lanes, np.uint32), threads=2 * lanes, shared=64, checks=checks
    )
    return {finding.kind for finding in findings_of(checks)}


@each_architecture
@pytest.mark.parametrize("lines", RIGHT.values(), ids=RIGHT)
def test_what_no_other_lane_uses_is_silent(architecture: str, lines: tuple[str, ...]) -> None:
    assert kinds(architecture, lines) == set()


@each_architecture
@pytest.mark.parametrize(("used", "expected"), [("v10", set()), ("v11", {Kind.UNWRITTEN_READ})])
def test_a_joined_load_counts_for_the_register_that_is_used(
    architecture: str, used: str, expected: set[Kind]
) -> None:
    """Two cells, of which one was never written, in one load of 64 bits."""
    load = {"gfx942": "ds_read_b64", "gfx1100": "ds_load_b64"}[architecture]
    lines = (
        "s_barrier",
        f"{load} v[10:11], v1",
        "s_waitcnt lgkmcnt(0)",
        "s_mov_{b} {exec}, {ones}",  # a block of code ends here
        f"v_mov_b32_e32 v4, {used}",
    )
    assert kinds(architecture, lines) == expected


@pytest.mark.parametrize(("used", "expected"), [("v9", set()), ("v6", {Kind.READ_AFTER_WRITE})])
def test_the_halves_of_a_dual_instruction_are_followed_apart(used: str, expected: set[Kind]) -> None:
    lines = ("v_dual_mov_b32 v6, v3 :: v_dual_mov_b32 v9, v2", f"v_mov_b32_e32 v4, {used}")
    assert kinds("gfx1100", lines) == expected


@each_architecture
@pytest.mark.parametrize("lines", WRONG.values(), ids=WRONG)
def test_what_another_lane_uses_is_found(architecture: str, lines: tuple[str, ...]) -> None:
    assert kinds(architecture, lines) & {Kind.READ_AFTER_WRITE, Kind.WRITE_AFTER_READ, Kind.UNWRITTEN_READ}
