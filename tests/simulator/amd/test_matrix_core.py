"""V_MFMA: the lane and register of each element, and products that Mojo's `TensorCore` lays out."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.machine import needs_simulated_gpu
from tests.simulator.amd.assembly import run
from tests.simulator.amd.test_programs import run as run_program
from tooling.simulator.amd.architectures import GFX942
from tooling.simulator.amd.decoding.decoder import Decoder
from tooling.simulator.amd.instructions.matrix import MATRIX_FORMS
from tooling.simulator.amd.semantics.matrix_core import LANES, matrix_form, multiply_add

SHAPES = [("float32", 16, 16, 4), ("float16", 16, 16, 16), ("bfloat16", 16, 16, 16),
          ("float16", 32, 32, 8), ("bfloat16", 32, 32, 8)]  # fmt: skip


def expected(m: int, n: int, k: int) -> list[list[float]]:
    """C plus the product of A and B, as `matrices.mojo` fills them: small integers, so exact."""
    a = (np.arange(m * k) * 7 % 13 - 6).reshape(m, k)
    b = (np.arange(k * n) * 5 % 11 - 5).reshape(k, n)
    rows: list[list[float]] = (a @ b + np.arange(m * n).reshape(m, n)).astype(float).tolist()
    return rows


@pytest.mark.slow
@pytest.mark.mojo
@needs_simulated_gpu
def test_products_of_tensor_cores_are_numpys() -> None:
    text, simulation = run_program("matrices")
    assert not simulation.findings
    rows: dict[str, list[list[float]]] = {}
    for line in text.splitlines():
        shape, _, numbers = line.partition(": ")
        rows.setdefault(shape, []).append([float(number) for number in numbers.split()])
    assert rows == {f"{kind} {m} {n} {k}": expected(m, n, k) for kind, m, n, k in SHAPES}


@pytest.mark.parametrize("name", MATRIX_FORMS)
def test_each_element_has_a_place_of_its_own(name: str) -> None:
    form = matrix_form(name)
    size = {"f64": 8, "f32": 4, "xf32": 4, "f16": 2, "bf16": 2}.get(form.inputs[0], 1)
    results = form.result_registers // (2 if form.result == "f64" else 1)
    for (lane, number), count in (
        (form.input_positions(form.rows), form.input_registers[0] * 4 // size),
        (form.input_positions(form.columns), form.input_registers[1] * 4 // size),
        (form.result_positions(), results),
    ):
        indices = (lane * count + number).reshape(-1)
        assert sorted(indices.tolist()) == list(range(LANES * count))


def test_the_places_are_the_manuals() -> None:
    """Examples of the manual's tables: element, lane, number in the lane."""
    lane, number = matrix_form("v_mfma_f32_32x32x8_f16").input_positions(32)
    assert (lane[0, 5, 6], number[0, 5, 6]) == (37, 2)
    lane, register = matrix_form("v_mfma_f32_32x32x1_2b_f32").result_positions()
    assert (lane[0, 0, 0], register[0, 0, 0]) == (0, 0)
    assert (lane[0, 4, 3], register[0, 4, 3]) == (35, 0)
    assert (lane[0, 9, 31], register[0, 9, 31]) == (31, 5)
    assert (lane[1, 31, 2], register[1, 31, 2]) == (34, 31)
    lane, register = matrix_form("v_mfma_f32_4x4x1_16b_f32").result_positions()
    assert (lane[15, 3, 2], register[15, 3, 2]) == (62, 3)


def test_each_product_is_added_with_one_rounding() -> None:
    a = np.array([[[1 + 2**-12, 1.0]]], np.float32)
    b = np.array([[[1 - 2**-12, -1.0]]], np.float32)
    total = multiply_add(a, b, np.zeros((1, 1, 1), np.float32))
    assert total[0, 0, 0] == np.float32(1 - 2**-24) - np.float32(1)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("0000c5d3020d0a04", "v_mfma_f32_16x16x4_f32 v[0:3], v2, v6, v[2:5]"),
        ("0080c5d3020d0202", "v_mfma_f32_16x16x4_f32 a[0:3], v2, v6, 0"),
        ("0089c5d3020d0ab4", "v_mfma_f32_16x16x4_f32 a[0:3], v2, a6, a[2:5] cbsz:1 abid:1 blgp:5"),
        ("0080f0d3020d0a04", "v_mfma_f32_16x16x32_bf8_bf8 a[0:3], v[2:3], v[6:7], a[2:5]"),
    ],
)
def test_the_text_names_the_registers(words: str, text: str) -> None:
    assert Decoder(GFX942).decode(bytes.fromhex(words), 0).text == text


def product(
    architecture: str, line: str, registers: Mapping[str, int], values: NDArray[np.uint32]
) -> NDArray[np.uint32]:
    """The registers v[40:] after a matrix instruction, (lanes, n).

    Args:
        registers: first register of each operand and how many words of `values` (lanes, n) it takes.
    """
    lanes = values.shape[0]
    load, store, wide = (
        ("global_load_dword", "global_store_dword", 64)
        if architecture == "gfx942"
        else ("global_load_b32", "global_store_b32", 32)
    )
    assert lanes == wide
    lines = ["v_lshlrev_b32_e32 v90, 2, v0"]
    position = 0
    for operand, count in registers.items():
        for number in range(count):
            lines += [f"s_movk_i32 s8, {256 * position:#x}", "v_add_u32_e32 v91, s8, v90"]
            if architecture == "gfx1100":
                lines[-1] = "v_add_nc_u32_e32 v91, s8, v90"
            lines.append(f"{load} v{int(operand) + number}, v91, s[0:1]")
            position += 1
    lines.append(line)
    buffer = np.zeros((position + 16, 64), np.uint32)
    buffer[:position, :wide] = values.T[:position]
    for number in range(16):
        lines += [
            f"s_movk_i32 s8, {256 * (position + number):#x}",
            lines[2],
            f"{store} v91, v{40 + number}, s[0:1]",
        ]
    found = run(architecture, lines, buffer=buffer.reshape(-1)).reshape(-1, 64)
    return found[position:, :wide].T


def words(chance: np.random.Generator, lanes: int, count: int, kind: str) -> NDArray[np.uint32]:
    """Random small numbers of a type in the registers of each lane."""
    numbers = chance.integers(-8, 8, (lanes, count * 4))
    if kind == "i8":
        return np.ascontiguousarray(numbers.astype(np.int8)).view(np.uint32)
    if kind == "f16":
        return np.ascontiguousarray(numbers[:, : 2 * count].astype(np.float16)).view(np.uint32)
    if kind == "f64":
        return np.ascontiguousarray(numbers[:, : count // 2].astype(np.float64)).view(np.uint32)
    return np.ascontiguousarray(numbers[:, :count].astype({"f32": np.float32, "i32": np.int32}[kind])).view(
        np.uint32
    )


def test_integers_are_multiplied() -> None:
    """V_MFMA of bytes: 8 consecutive ones of a row in a lane."""
    chance = np.random.default_rng(42)
    a, b, c = (words(chance, 64, count, kind) for count, kind in ((2, "i8"), (2, "i8"), (4, "i32")))
    line = "v_mfma_i32_16x16x32_i8 v[40:43], v[10:11], v[20:21], v[30:33]"
    found = product("gfx942", line, {"10": 2, "20": 2, "30": 4}, np.concatenate([a, b, c], axis=1))
    left, right = (
        each.view(np.int8).reshape(4, 16, 8).transpose(1, 0, 2).reshape(16, 32).astype(int) for each in (a, b)
    )
    addend = c.view(np.int32).reshape(4, 16, 4).transpose(0, 2, 1).reshape(16, 16)
    result = found[:, :4].view(np.int32).reshape(4, 16, 4).transpose(0, 2, 1).reshape(16, 16)
    np.testing.assert_array_equal(result, left @ right.T + addend)


def test_lanes_of_b_are_broadcast() -> None:
    """BLGP 4 gives every lane the part of B that the first 16 lanes have."""
    chance = np.random.default_rng(7)
    a, b, c = (words(chance, 64, count, "f32") for count in (1, 1, 4))
    line = "v_mfma_f32_16x16x4_f32 v[40:43], v10, v20, v[30:33]"
    values = np.concatenate([a, b, c], axis=1)
    found = product("gfx942", f"{line} blgp:4", {"10": 1, "20": 1, "30": 4}, values)
    values[:, 1] = np.tile(b[:16, 0], 4)
    wanted = product("gfx942", line, {"10": 1, "20": 1, "30": 4}, values)
    assert found[:, :4].tolist() == wanted[:, :4].tolist()


def test_a_block_of_a_is_broadcast() -> None:
    """CBSZ 2 and ABID 1: each of four blocks of A is its second one."""
    chance = np.random.default_rng(8)
    a, b, c = (words(chance, 64, count, "f32") for count in (1, 1, 16))
    line = "v_mfma_f32_16x16x1_4b_f32 v[40:55], v10, v20, v[60:75]"
    registers = {"10": 1, "20": 1, "60": 16}
    values = np.concatenate([a, b, c], axis=1)
    found = product("gfx942", f"{line} cbsz:2 abid:1", registers, values)
    values[:, 0] = np.tile(a[16:32, 0], 4)
    assert found.tolist() == product("gfx942", line, registers, values).tolist()


def test_float64_numbers_are_multiplied() -> None:
    chance = np.random.default_rng(9)
    a, b, c = (words(chance, 64, count, "f64") for count in (2, 2, 8))
    line = "v_mfma_f64_16x16x4_f64 v[40:47], v[10:11], v[20:21], v[30:37]"
    found = product("gfx942", line, {"10": 2, "20": 2, "30": 8}, np.concatenate([a, b, c], axis=1))
    left, right = (each.view(np.float64).reshape(4, 16).T for each in (a, b))
    addend = c.view(np.float64).reshape(4, 16, 4).transpose(2, 0, 1).reshape(16, 16)
    result = (
        np.ascontiguousarray(found[:, :8])
        .view(np.float64)
        .reshape(4, 16, 4)
        .transpose(2, 0, 1)
        .reshape(16, 16)
    )
    np.testing.assert_array_equal(result, left @ right.T + addend)


def wmma_operands(words: NDArray[np.uint32], dtype: str) -> NDArray[np.int64]:
    """(16, 16): row n of A, or column n of B, is in lane n; the other lanes have a copy."""
    return np.ascontiguousarray(words[:16]).view(dtype).astype(np.int64)


def wmma_result(words: NDArray[np.uint32], dtype: str) -> NDArray[np.int64]:
    """(16, 16): two rows in each register."""
    numbers = np.ascontiguousarray(words[:, :8]).view(dtype).astype(np.int64)
    return numbers.reshape(2, 16, 8).transpose(2, 0, 1).reshape(16, 16)


@pytest.mark.parametrize(
    ("line", "kind", "count", "result"),
    [
        ("v_wmma_f32_16x16x16_f16 v[40:47], v[10:17], v[20:27], v[30:37]", "f16", 8, "f32"),
        ("v_wmma_i32_16x16x16_iu8 v[40:47], v[10:13], v[20:23], v[30:37] neg_lo:[1,1,0]", "i8", 4, "i32"),
    ],
)
def test_a_wavefront_of_32_lanes_multiplies_matrices(line: str, kind: str, count: int, result: str) -> None:
    chance = np.random.default_rng(11)
    a, b = (np.tile(words(chance, 16, count, kind), (2, 1)) for _ in range(2))
    c = words(chance, 32, 8, result)
    found = product("gfx1100", line, {"10": count, "20": count, "30": 8}, np.concatenate([a, b, c], axis=1))
    narrow, wide = {"f16": "<f2", "i8": "i1"}[kind], {"f32": "<f4", "i32": "<i4"}[result]
    wanted = wmma_operands(a, narrow) @ wmma_operands(b, narrow).T + wmma_result(c, wide)
    np.testing.assert_array_equal(wmma_result(found, wide), wanted)
