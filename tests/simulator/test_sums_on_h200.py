"""A tensor core's sums: terms of many exponents, added bit for bit as an H200 added them."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.simulator.instructions.products import FORMS
from tooling.simulator.nvidia.instructions.mma import ELEMENTS, Product, gather, scatter, spread
from tooling.simulator.nvidia.instructions.wgmma import Form

RECORDED = Path(__file__).parents[1] / "data/h200/products.npz"
Registers = NDArray[np.uint32]


@functools.cache
def recorded() -> dict[str, Registers]:
    with np.load(RECORDED) as file:
        return {name: file[name] for name in file.files}


def by_a_warp(form: str, a: Registers, b: Registers, c: Registers) -> Registers:
    shape, result, left, right = form.split(".")
    depth = int(shape.partition("k")[2])
    return Product(16, depth, ELEMENTS[left], ELEMENTS[right], result).of(a, b, c)


def by_a_warpgroup(form: str, a: Registers, b: Registers, c: Registers) -> Registers:
    """The matrix B is not swizzled: pieces of 16 bytes, those of its 8 columns side by side."""
    shape, result, left, right = form.split(".")
    depth = int(shape.partition("k")[2])
    rows = spread(a.reshape(-1, 32, a.shape[2]), ELEMENTS[left], 16, depth)
    pieces = np.ascontiguousarray(b.reshape(-1, 2, 8, 4).transpose(0, 2, 1, 3))
    columns = np.repeat(ELEMENTS[right].widen(pieces).reshape(-1, 8, depth), 4, axis=0)
    addend = gather(c.reshape(-1, 32, c.shape[2]), result, 16, 8)
    product = Form(8, depth, ELEMENTS[left], ELEMENTS[right], left, result)
    return scatter(product.sum(rows, columns, addend)).reshape(c.shape)


@pytest.mark.parametrize("form", FORMS)
def test_sums_have_the_bits_of_an_h200(form: str) -> None:
    a, b, c, d = (recorded()[f"{form}/{name}"] for name in "abcd")
    family, _, product = form.partition(".")
    with np.errstate(all="ignore"):
        found = (by_a_warpgroup if family == "wgmma" else by_a_warp)(product, a, b, c)
    assert np.array_equal(found, d)


def test_every_recorded_form_is_tried() -> None:
    assert {name.partition("/")[0] for name in recorded()} == set(FORMS)
