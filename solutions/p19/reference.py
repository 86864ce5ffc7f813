"""Puzzle 19: attention for one query, by NumPy in double precision."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[np.float32]]

SEQ_LEN = 16
D = 16


def inputs(mode: str, dataset: str) -> Buffers:
    """Every array that the program stages.

    The book's numbers are so small that all weights are nearly 1/16, and mistakes in the scores hardly show.
    The probe's scores lie wide apart: a few positions have nearly all the weight.
    """
    if dataset == "book":
        random, scale = np.random.RandomState(42), 0.1
    else:
        random, scale = np.random.RandomState(7), 1.25
    return {
        "q": (random.randn(D) * scale).astype(np.float32),
        "k": (random.randn(SEQ_LEN, D) * scale).astype(np.float32),
        "v": (random.randn(SEQ_LEN, D) * scale).astype(np.float32),
    }


def expected(mode: str, inputs: Buffers) -> Buffers:
    """softmax(q · Kᵀ) · V, on each device."""
    scores = inputs["k"].astype(np.float64) @ inputs["q"]
    weights = np.exp(scores - scores.max())
    result = (weights / weights.sum() @ inputs["v"]).astype(np.float32)
    return {"out": result, "out_cpu": result.copy()}
