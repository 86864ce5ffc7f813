"""Puzzle 22: LayerNorm and a linear layer, and their gradients, by NumPy in double precision."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]

ROWS = 16
HIDDEN = 8
COLUMNS = 16
EPS = 1e-5


def inputs(mode: str, dataset: str) -> Buffers:
    """Every array that the program stages.

    The book's data leave much to chance that is right: LayerNorm's scale is 1, both biases are 0, and the
    gradient of the result is 1 everywhere. In the probe all of them differ from element to element.
    """
    random = np.random.RandomState(42 if dataset == "book" else 5)
    data = {"input": random.randn(ROWS, HIDDEN), "linear_weight": random.randn(COLUMNS, HIDDEN) * 0.02}
    data |= {
        "ln_weight": np.ones(HIDDEN),
        "ln_bias": np.zeros(HIDDEN),
        "linear_bias": np.zeros(COLUMNS),
        "grad_output": np.ones((ROWS, COLUMNS)),
    }
    if dataset != "book":
        data["input"] = data["input"] * 3 + 1
        data["linear_weight"] *= 10
        for name in ("ln_weight", "ln_bias", "linear_bias", "grad_output"):
            data[name] = random.uniform(-1, 1, data[name].shape)
    if mode != "backward":
        del data["grad_output"]
    return {name: array.astype(np.float32) for name, array in data.items()}


def expected(mode: str, inputs: Buffers) -> Buffers:
    """The result, or the five gradients, on each device."""
    wide = {name: array.astype(np.float64) for name, array in inputs.items()}
    x, weight = wide["input"], wide["linear_weight"]
    scale = 1 / np.sqrt(x.var(axis=1, keepdims=True) + EPS)
    normal = (x - x.mean(axis=1, keepdims=True)) * scale
    scaled = normal * wide["ln_weight"] + wide["ln_bias"]
    if mode != "backward":
        found = {"out": scaled @ weight.T + wide["linear_bias"]}
    else:
        grad = wide["grad_output"]
        grad_scaled = grad @ weight
        grad_normal = grad_scaled * wide["ln_weight"]
        mean = grad_normal.mean(axis=1, keepdims=True)
        along = (grad_normal * normal).mean(axis=1, keepdims=True)
        found = {
            "grad_input": scale * (grad_normal - mean - normal * along),
            "grad_ln_weight": (grad_scaled * normal).sum(axis=0),
            "grad_ln_bias": grad_scaled.sum(axis=0),
            "grad_linear_weight": grad.T @ scaled,
            "grad_linear_bias": grad.sum(axis=0),
        }
    results = {name: array.astype(np.float32) for name, array in found.items()}
    return results | {f"{name}_cpu": array.copy() for name, array in results.items()}
