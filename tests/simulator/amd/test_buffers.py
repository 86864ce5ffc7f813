"""Buffer resources: what is within their bounds is accessed, the rest is 0 or not written."""

from __future__ import annotations

import numpy as np
import pytest

from tests.simulator.amd.assembly import run

LANES = {"gfx942": 64, "gfx1100": 32}
WORDS = {"gfx942": ("dword", "dwordx2", "ubyte"), "gfx1100": ("b32", "b64", "u8")}
each_architecture = pytest.mark.parametrize("architecture", list(LANES))


def resource(architecture: str, size: int) -> tuple[str, ...]:
    """A resource of some bytes of the buffer in s[4:7], and each lane's offset of a dword in v2."""
    control = "0x27000" if architecture == "gfx942" else "0x31016000"
    return (
        "s_mov_b32 s4, s0", "s_mov_b32 s5, s1", f"s_movk_i32 s6, {size:#x}", f"s_mov_b32 s7, {control}",
        "v_lshlrev_b32_e32 v2, 2, v0", "v_mov_b32_e32 v1, 7",
    )  # fmt: skip


def store(architecture: str, register: str = "v1") -> tuple[str, ...]:
    word = WORDS[architecture][0]
    return (f"global_store_{word} v2, {register}, s[0:1]",)


def numbers(architecture: str) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    return np.arange(100, 100 + LANES[architecture], dtype=np.uint32)


@each_architecture
def test_a_load_out_of_bounds_is_zero(architecture: str) -> None:
    word = WORDS[architecture][0]
    lines = (*resource(architecture, 80), f"buffer_load_{word} v1, v2, s[4:7], 0 offen", *store(architecture))
    before = numbers(architecture)
    found = run(architecture, lines, buffer=before)
    assert found.tolist() == [*before[:20].tolist(), *[0] * (len(before) - 20)]


@each_architecture
def test_each_dword_of_a_wide_load_has_bounds_of_its_own(architecture: str) -> None:
    """Lane 19 loads the dwords 19 and 20, of which 19 is the last."""
    wide = WORDS[architecture][1]
    load = f"buffer_load_{wide} v[4:5], v2, s[4:7], 0 offen"
    before = numbers(architecture)
    for register, first in (("v4", 20), ("v5", 19)):
        lines = (*resource(architecture, 80), load, *store(architecture, register))
        found = run(architecture, lines, buffer=before)
        shift = 20 - first
        assert found.tolist() == [*before[shift : shift + first].tolist(), *[0] * (len(before) - first)]


@each_architecture
def test_a_store_out_of_bounds_is_dropped(architecture: str) -> None:
    word = WORDS[architecture][0]
    lines = (*resource(architecture, 80), f"buffer_store_{word} v1, v2, s[4:7], 0 offen offset:4")
    before = numbers(architecture)
    found = run(architecture, lines, buffer=before)
    assert found.tolist() == [100, *[7] * 19, *before[20:].tolist()]


@each_architecture
def test_a_byte_is_extended(architecture: str) -> None:
    byte = WORDS[architecture][2]
    lines = (*resource(architecture, 80), f"buffer_load_{byte} v1, v0, s[4:7], 0 offen", *store(architecture))
    before = numbers(architecture)
    octets = before.view(np.uint8)[: len(before)]
    assert run(architecture, lines, buffer=before).tolist() == octets.tolist()


@each_architecture
def test_an_atomic_operation_out_of_bounds_has_no_effect(architecture: str) -> None:
    name = "buffer_atomic_add" if architecture == "gfx942" else "buffer_atomic_add_u32"
    lines = (*resource(architecture, 80), f"{name} v1, v2, s[4:7], 0 offen")
    before = numbers(architecture)
    found = run(architecture, lines, buffer=before)
    assert found.tolist() == [*(before[:20] + 7).tolist(), *before[20:].tolist()]


@each_architecture
def test_a_scalar_load_out_of_bounds_is_zero(architecture: str) -> None:
    wide = WORDS[architecture][1]
    waits = "s_waitcnt lgkmcnt(0)"
    load = f"s_buffer_load_{wide} s[8:9], s[4:7], 0x4c"
    for register, wanted in (("s8", 119), ("s9", 0)):
        lines = (
            *resource(architecture, 80),
            load,
            waits,
            f"v_mov_b32_e32 v1, {register}",
            *store(architecture),
        )
        assert (
            run(architecture, lines, buffer=numbers(architecture)).tolist() == [wanted] * LANES[architecture]
        )


def test_a_load_to_shared_memory() -> None:
    """Each lane's dword goes to the address in M0, plus 4 times the lane's number."""
    lines = (
        *resource("gfx942", 80), "s_movk_i32 m0, 0x100", "buffer_load_dword v2, s[4:7], 0 offen lds",
        "ds_read_b32 v1, v2 offset:256", *store("gfx942"),
    )  # fmt: skip
    before = numbers("gfx942")
    found = run("gfx942", lines, buffer=before, shared=1024)
    assert found.tolist() == [*before[:20].tolist(), *[0] * 44]
    lines = (
        *resource("gfx942", 80), "s_mov_b32 m0, 0", "global_load_lds_dword v2, s[0:1]",
        "ds_read_b32 v1, v2", "v_add_u32_e32 v1, 1, v1", *store("gfx942"),
    )  # fmt: skip
    assert run("gfx942", lines, buffer=before, shared=1024).tolist() == (before + 1).tolist()
