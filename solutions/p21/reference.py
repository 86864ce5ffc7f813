"""Puzzle 21: rows of a table, by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[Any]]

TOKENS = 8 * 512
VOCABULARY = 10000
WIDTH = 512


def inputs(mode: str, dataset: str) -> Buffers:
    """Every array that the program stages. The probe has tokens that the vocabulary does not have."""
    random = np.random.RandomState(42)
    tokens = random.randint(0, VOCABULARY, TOKENS).astype(np.int32)
    table = random.randn(VOCABULARY, WIDTH).astype(np.float32)
    if dataset == "probe":
        tokens = tokens[::-1].copy()
        tokens[5::97] = VOCABULARY
        tokens[11::131] = -1
        tokens[0] = VOCABULARY - 1
        table += np.float32(3)
    return {"tokens": tokens, "table": table}


def expected(mode: str, inputs: Buffers) -> Buffers:
    """The token's row, or zeros for a token out of range; the same from both kernels and on the CPU."""
    tokens = inputs["tokens"]
    known = (tokens >= 0) & (tokens < VOCABULARY)
    rows = np.where(known[:, None], inputs["table"][np.where(known, tokens, 0)], np.float32(0))
    return {name: rows.copy() for name in ("out", "out_2d", "out_cpu")}
