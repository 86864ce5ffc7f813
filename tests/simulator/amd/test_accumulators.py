"""Accumulation registers of gfx942."""

from __future__ import annotations

from tests.simulator.amd.assembly import lanes_of


def test_a_move_between_accumulators_reads_the_accumulator() -> None:
    """Compilers copy accumulators so where a loop over tiles exchanges them."""
    lines = (
        "v_mov_b32_e32 v9, 0x9999",
        "v_accvgpr_write_b32 a9, v0",
        "v_accvgpr_mov_b32 a3, a9",
        "v_accvgpr_read_b32 v2, a3",
    )
    assert lanes_of("gfx942", lines, "v2") == list(range(64))
    assert lanes_of("gfx942", lines, "v9") == [0x9999] * 64


def test_an_accumulator_and_a_register_of_the_same_number_differ() -> None:
    lines = (
        "v_mov_b32_e32 v3, 7",
        "v_accvgpr_write_b32 a3, v0",
        "v_accvgpr_mov_b32 a4, a3",
        "v_add_u32_e32 v1, v3, v3",
    )
    assert lanes_of("gfx942", lines, "v1") == [14] * 64
    assert lanes_of("gfx942", lines, "v3") == [7] * 64
