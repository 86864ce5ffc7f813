"""Records sums of a tensor core whose terms have many exponents: every rounding step shows.

    python3 products.py products.npz     (on the GPU machine; needs CuPy)

For each form `FORM/a`, `/b`, `/c` and `/d` are the registers of its warps: (warps, 32, registers).
"""

from __future__ import annotations

import sys

import cupy  # type: ignore[import-not-found]
import numpy as np
from numpy.typing import NDArray

FORMS = {
    "m16n8k4.f32.tf32": (2, 1, 4),
    "m16n8k8.f32.tf32": (4, 2, 4),
    "m16n8k8.f32.f16": (2, 1, 4),
    "m16n8k16.f32.f16": (4, 2, 4),
    "m16n8k8.f32.bf16": (2, 1, 4),
    "m16n8k16.f32.bf16": (4, 2, 4),
    "m16n8k8.f16.f16": (2, 1, 2),
    "m16n8k16.f16.f16": (4, 2, 2),
}
"""Shape, result and input; registers of a, b, and of c and d."""

WARPS = 8
GROUPS = ((0, 0.0, 0), (0, 1.0, 0), (8, 1.0, 0), (8, 16.0, 0), (8, 512.0, 0), (3, 1.0, 1))
"""Spread of the factors' exponents (3 at most for f16), size of the addends, whether all is near zero."""

TINY = {"f16": 2.0**-14, "bf16": 2.0**-128, "tf32": 2.0**-128}
"""Of a and c in a group near zero: many of the numbers are subnormal."""

Registers = NDArray[np.uint32]


def packed(values: NDArray[np.float64], kind: str) -> Registers:
    if kind == "f16":
        return values.astype(np.float16).view(np.uint32)
    bits = values.astype(np.float32).view(np.uint32)
    if kind == "bf16":
        return (bits >> 16).astype(np.uint16).view(np.uint32)
    return bits & np.uint32(0xFFFFE000) if kind == "tf32" else bits


def source(form: str) -> str:
    shape, result, kind = form.split(".")
    counts = (FORMS[form][2], *FORMS[form])
    names = iter(range(sum(counts)))
    operands = ["{" + ", ".join(f"%{next(names)}" for _ in range(count)) + "}" for count in counts]
    text = f"mma.sync.aligned.{shape}.row.col.{result}.{kind}.{kind}.{result} {', '.join(operands)};"
    written = ", ".join(f'"=r"(d[t * {counts[0]} + {i}])' for i in range(counts[0]))
    read = ", ".join(
        f'"r"({name}[t * {count} + {i}])'
        for name, count in zip("abc", counts[1:], strict=True)
        for i in range(count)
    )
    parameters = "const unsigned* a, const unsigned* b, const unsigned* c, unsigned* d"
    body = f'int t = blockIdx.x * 32 + threadIdx.x; asm volatile("{text}" : {written} : {read});'
    return f'extern "C" __global__ void multiply({parameters}) {{ {body} }}'


def main(path: str) -> None:
    random = np.random.default_rng(7)
    found: dict[str, Registers] = {}
    for form, counts in FORMS.items():
        _, result, kind = form.split(".")
        parts: dict[str, list[Registers]] = {name: [] for name in "abc"}
        for spread, size, tiny in GROUPS:
            for name, count, word in zip("abc", counts, (kind, kind, result), strict=True):
                shape = (WARPS, 32, count * (1 if word in ("tf32", "f32") else 2))
                values = random.standard_normal(shape)
                if name == "c":
                    values *= size
                else:
                    limit = min(spread, 3) if kind == "f16" else spread
                    values *= np.exp2(random.integers(-limit, limit + 1, shape))
                if tiny and name != "b":
                    values *= TINY[kind]
                parts[name].append(packed(values, word))
        a, b, c = (np.ascontiguousarray(np.concatenate(parts[name])) for name in "abc")
        d = cupy.zeros(c.shape, cupy.uint32)
        module = cupy.RawModule(code=source(form), options=("--gpu-architecture=sm_90a",))
        module.get_function("multiply")((len(a),), (32,), (*map(cupy.asarray, (a, b, c)), d))
        for name, registers in zip("abcd", (a, b, c, cupy.asnumpy(d)), strict=True):
            found[f"{form}/{name}"] = registers
    np.savez_compressed(path, **found)  # type: ignore[arg-type]


if __name__ == "__main__":
    main(sys.argv[1])
