"""V_MFMA: the lane and register of each element, and products that Mojo's `TensorCore` lays out."""

from __future__ import annotations

import numpy as np
import pytest

from tests.machine import needs_simulated_gpu
from tests.simulator.amd.test_programs import run
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


@pytest.mark.mojo
@needs_simulated_gpu
def test_products_of_tensor_cores_are_numpys() -> None:
    text, simulation = run("matrices")
    assert not simulation.findings
    rows: dict[str, list[list[float]]] = {}
    for line in text.splitlines():
        shape, _, numbers = line.partition(": ")
        rows.setdefault(shape, []).append([float(number) for number in numbers.split()])
    assert rows == {f"{kind} {m} {n} {k}": expected(m, n, k) for kind, m, n, k in SHAPES}


@pytest.mark.parametrize("name", MATRIX_FORMS)
def test_each_element_has_a_place_of_its_own(name: str) -> None:
    form = matrix_form(name)
    size = 4 if form.inputs[0] == "f32" else 2
    for (lane, number), count in (
        (form.input_positions(form.rows), form.input_registers[0] * 4 // size),
        (form.input_positions(form.columns), form.input_registers[1] * 4 // size),
        (form.result_positions(), form.result_registers),
    ):
        places = (lane * count + number).reshape(-1)
        assert sorted(places.tolist()) == list(range(LANES * count))


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
