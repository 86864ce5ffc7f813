"""Times of PyTorch's scaled_dot_product_attention, with the data and the protocol of attention.mojo.

A row gives the backend, the sizes, and the mean over repeated calls, before each of which a buffer larger
than the caches is overwritten. It needs PyTorch for CUDA, which is not a dependency of this project:

    python3 benchmarks/kernels/sdpa.py
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module

torch = import_module("torch")
attention = import_module("torch.nn.attention")
functional = import_module("torch.nn.functional")

BACKENDS = ("FLASH_ATTENTION", "CUDNN_ATTENTION")
SHAPES = ((32, 4096, 128), (16, 16384, 128), (32, 4096, 64), (16, 16384, 64))
"""Heads, positions and features."""
FLUSH = torch.empty(512 << 20, dtype=torch.uint8, device="cuda")


def caller(heads: int, positions: int, features: int, *, causal: bool) -> Callable[[], object]:
    """A call of PyTorch's attention with p46.mojo's queries, keys and values."""
    i = torch.arange(heads * positions * features, device="cuda")
    row = i // features
    q = ((i * 7919 + row * 613) % 41 - 20) / 4
    k = ((i * 4987 + row * 331) % 41 - 20) / 16
    v = ((i * 6007 + row * 97) % 255) / 128
    first = i % features == 0
    q = torch.where(first, 32.0 * (row % 3 - 1), q)
    k = torch.where(first, 32.0, k)
    operands = [each.to(torch.bfloat16).view(1, heads, positions, features) for each in (q, k, v)]
    return lambda: functional.scaled_dot_product_attention(*operands, is_causal=causal)


def mean_time(call: Callable[[], object]) -> tuple[float, int]:
    """Microseconds of a call, and the number of calls: until the standard error is below half a percent."""
    for _ in range(3):
        call()
    times: list[float] = []
    while True:
        FLUSH.fill_(len(times) % 251)
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1000)
        count, mean = len(times), sum(times) / len(times)
        if count >= 20:
            squares = sum((time - mean) ** 2 for time in times)
            if count >= 200 or math.sqrt(squares / (count - 1) / count) < 0.005 * mean:
                return mean, count


def main() -> None:
    print(f"torch {torch.__version__} cuDNN {torch.backends.cudnn.version()} {torch.cuda.get_device_name()}")
    for heads, positions, features in SHAPES:
        for causal in (False, True):
            call = caller(heads, positions, features, causal=causal)
            mask = "causal" if causal else "all keys"
            for backend in BACKENDS:
                with attention.sdpa_kernel(attention.SDPBackend[backend]):
                    mean, count = mean_time(call)
                print(
                    f"{backend:16} {heads:3} heads {positions:6} positions {features:4} features "
                    f"{mask:9}{count:5} runs {mean:10.2f} us",
                    flush=True,
                )


if __name__ == "__main__":
    main()
