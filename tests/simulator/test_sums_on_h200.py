"""A tensor core's sums: terms of many exponents, added bit for bit as an H200 added them."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tooling.simulator.matrix import ELEMENTS, Product

RECORDED = Path(__file__).parents[1] / "data/h200/products.npz"
FORMS = (
    "m16n8k4.f32.tf32",
    "m16n8k8.f32.tf32",
    "m16n8k8.f32.f16",
    "m16n8k16.f32.f16",
    "m16n8k8.f32.bf16",
    "m16n8k16.f32.bf16",
    "m16n8k8.f16.f16",
    "m16n8k16.f16.f16",
)


@functools.cache
def recorded() -> dict[str, NDArray[np.uint32]]:
    with np.load(RECORDED) as file:
        return {name: file[name] for name in file.files}


@pytest.mark.parametrize("form", FORMS)
def test_sums_have_the_bits_of_an_h200(form: str) -> None:
    shape, result, kind = form.split(".")
    a, b, c, d = (recorded()[f"{form}/{name}"] for name in "abcd")
    depth = int(shape.partition("k")[2])
    found = Product(16, depth, ELEMENTS[kind], ELEMENTS[kind], result).of(a, b, c)
    assert np.array_equal(found, d)


def test_every_recorded_form_is_tried() -> None:
    assert {name.partition("/")[0] for name in recorded()} == set(FORMS)
