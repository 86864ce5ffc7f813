"""Puzzle 46: attention by NumPy in double precision, with padding at the front, a tail, or a causal mask."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Buffers = dict[str, NDArray[Any]]

SHAPES = {
    "online": {"book": (3, 44, 16), "other-sizes": (3, 50, 16)},
    "wgmma": {"book": (3, 176, 64), "other-sizes": (3, 130, 64)},
    "causal": {"book": (3, 176, 64), "other-sizes": (3, 130, 64)},
}
FIRST = {"book": (0, 20, 44), "probe": (3, 17, 44), "other-sizes": (0, 33, 50)}
NAMES = {"online": ("q", "k", "v"), "wgmma": ("queries", "keys", "values")}
POISON = np.float32(-777.25)


def inputs(mode: str, dataset: str) -> Buffers:
    """Every buffer that the program stages, flat as in memory, outputs with their initial content.

    The first feature moves the scores of a query by more than 100, up or down: their exponentials overflow,
    or are all 0, where the maximum is not subtracted. The values are not negative, so that an error of the
    weights is an error of the result of at most the same proportion. bfloat16 numbers are passed as bits.
    """
    shape = SHAPES[mode].get(dataset, SHAPES[mode]["book"])
    i = np.arange(np.prod(shape))
    row = i // shape[-1]
    if dataset == "book":
        q, k, v = (
            (i * 7919 + row * 613) % 41 - 20,
            (i * 4987 + row * 331) % 41 - 20,
            (i * 6007 + row * 97) % 255,
        )
        parts = [q / 4, k / 16, v / 128]
    elif mode == "online":
        q, k, v = (i * 6151 + row * 53) % 8191, (i * 3079 + row * 241) % 8191, (i * 1543 + row * 7) % 8191
        # Three eighths more than a number that float16 holds: rounding makes each value smaller.
        parts = [(q - 4095) / 1365, (k - 4095) / 1365, 1 + v % 1024 / 1024 + 3 / 8192]
    else:
        q, k, v = (
            (i * 211 + row * 53) % 241 - 120,
            (i * 307 + row * 29) % 239 - 119,
            (i * 149 + row * 7) % 251,
        )
        parts = [q / 32, k / 64, v / 128]
    first = i % shape[-1] == 0
    offset = 20 if mode == "online" else 32
    parts[0] = np.where(first, offset * (row % 3 - 1), parts[0])
    parts[1] = np.where(first, offset, parts[1])
    as_stored = [part.astype(np.float32) for part in parts]
    out = np.full(i.size, -1 if dataset == "book" else POISON, np.float32)
    if mode == "online":
        return {
            **dict(zip("qkv", as_stored, strict=True)),
            "first": np.array(FIRST[dataset], np.int32),
            "out": out,
        }
    bits = [(each.view(np.uint32) >> 16).astype(np.uint16) for each in as_stored]
    return {**dict(zip(NAMES["wgmma"], bits, strict=True)), "out": out}


def expected(mode: str, inputs: Buffers) -> Buffers:
    """The values, weighted by the softmax of the scores; 0 where every key is masked."""
    scores, values = scores_and_values(mode, inputs)
    weights = exponentials(scores, scores.max(-1, keepdims=True))
    total = weights.sum(-1, keepdims=True)
    result = np.where(total > 0, weights @ values / np.where(total > 0, total, 1), 0)
    return {"out": result.astype(np.float32).ravel()}


def exponentials(scores: NDArray[Any], most: NDArray[Any]) -> NDArray[Any]:
    """exp(scores - most), 0 where both are -inf."""
    return np.exp(np.where(scores == -np.inf, -np.inf, scores - np.where(most == -np.inf, 0, most)))


def scores_and_values(
    mode: str, inputs: Buffers, *, scale: bool = True, later: int = 0
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The scores, -inf where the key is masked, and the values, of each sequence or head.

    Args:
        scale: whether the scores are divided by the square root of the number of features.
        later: how many keys after a query the causal mask leaves.
    """
    if mode == "online":
        arrays = [inputs[name] for name in NAMES["online"]]
    else:
        bits = [np.asarray(inputs[name]).astype(np.uint32) << 16 for name in NAMES["wgmma"]]
        arrays = [each.view(np.float32) for each in bits]
    shape = next(each for each in SHAPES[mode].values() if np.prod(each) == arrays[0].size)
    q, k, v = (each.reshape(shape).astype(np.float64) for each in arrays)
    scores = q @ k.transpose(0, 2, 1) / (np.sqrt(shape[-1]) if scale else 1)
    query, key = np.arange(shape[1])[:, None], np.arange(shape[1])
    hidden = np.zeros((shape[0], shape[1], shape[1]), bool)
    if mode == "online":
        hidden |= key < np.asarray(inputs["first"]).astype(int)[:, None, None]
    if mode == "causal":
        hidden |= key > query + later
    return np.where(hidden, -np.inf, scores), v


def without_scale(mode: str, inputs: Buffers) -> NDArray[Any]:
    """A mistake: the scores are not divided by the square root of the number of features."""
    scores, values = scores_and_values(mode, inputs, scale=False)
    weights = exponentials(scores, scores.max(-1, keepdims=True))
    return (weights @ values / np.maximum(weights.sum(-1, keepdims=True), 1e-300)).ravel()


def with_later_keys(mode: str, inputs: Buffers, later: int) -> NDArray[Any]:
    """A mistake of `causal`: each query attends to this many keys after it, or not to the last ones."""
    scores, values = scores_and_values(mode, inputs, later=later)
    weights = exponentials(scores, scores.max(-1, keepdims=True))
    total = weights.sum(-1, keepdims=True)
    return (weights @ values / total).ravel()


def not_rescaled(mode: str, inputs: Buffers, tile: int, *, total: bool, sums: bool) -> NDArray[Any]:
    """A mistake of the online softmax: what was added up with an old maximum keeps its weight.

    Args:
        tile: keys of a tile.
        total, sums: whether the sum of the weights and the weighted values are still rescaled.
    """
    scores, values = scores_and_values(mode, inputs)
    most = np.full((*scores.shape[:2], 1), -np.inf)
    weight = np.zeros(most.shape)
    result = np.zeros(values.shape)
    for start in range(0, scores.shape[-1], tile):
        part = scores[..., start : start + tile]
        new = np.maximum(most, part.max(-1, keepdims=True))
        correction = exponentials(most, new)
        weights = exponentials(part, new)
        weight = weight * (correction if total else 1) + weights.sum(-1, keepdims=True)
        result = result * (correction if sums else 1) + weights @ values[:, start : start + tile]
        most = new
    return np.where(weight > 0, result / np.where(weight > 0, weight, 1), 0).ravel()
