"""Records sums of a tensor core whose terms have many exponents, so that every rounding step matters.

    python3 products.py products.npz     (on the GPU machine; needs CuPy)

For each form, `FORM/a`, `/b` and `/c` are the inputs and `/d` the results: registers (warps or warpgroups,
lanes, registers), except b of a wgmma, which is its matrix in shared memory (warpgroups, words).
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

FORMS = (
    "mma.m16n8k4.f32.tf32.tf32",
    "mma.m16n8k8.f32.tf32.tf32",
    "mma.m16n8k8.f32.f16.f16",
    "mma.m16n8k16.f32.f16.f16",
    "mma.m16n8k8.f32.bf16.bf16",
    "mma.m16n8k16.f32.bf16.bf16",
    "mma.m16n8k8.f16.f16.f16",
    "mma.m16n8k16.f16.f16.f16",
    "mma.m16n8k16.f32.e4m3.e4m3",
    "mma.m16n8k32.f32.e4m3.e5m2",
    "mma.m16n8k32.f32.e5m2.e5m2",
    "mma.m16n8k16.f16.e5m2.e4m3",
    "mma.m16n8k32.f16.e4m3.e4m3",
    "wgmma.m64n8k8.f32.tf32.tf32",
    "wgmma.m64n8k16.f32.f16.f16",
    "wgmma.m64n8k16.f32.bf16.bf16",
    "wgmma.m64n8k16.f16.f16.f16",
    "wgmma.m64n8k32.f32.e4m3.e4m3",
    "wgmma.m64n8k32.f32.e5m2.e4m3",
    "wgmma.m64n8k32.f32.e5m2.e5m2",
    "wgmma.m64n8k32.f16.e4m3.e5m2",
    "wgmma.m64n8k32.f16.e4m3.e4m3",
)
"""Shape, result, and both inputs."""


class Group(NamedTuple):
    """Sums of one kind: smallest and largest exponents of their numbers, clamped to those of the type.

    Attributes:
        addend: None for zeros.
        zeros, special: shares of zeros of either sign in a, and of infinities and NaN everywhere.
    """

    a: tuple[int, int]
    b: tuple[int, int]
    addend: tuple[int, int] | None
    zeros: float = 0.0
    special: float = 0.0


GROUPS = (
    Group((0, 0), (0, 0), None),
    Group((0, 0), (0, 0), (0, 4)),
    Group((-3, 3), (-3, 3), (-6, 6)),
    Group((-3, 3), (-3, 3), (6, 13)),
    Group((-5, 5), (-5, 5), (-14, 12), 0.8),
    Group((-5, 5), (-5, 5), None, 0.8),
    Group((-40, 40), (-40, 40), (-40, 40), 0.5),
    Group((-140, -120), (0, 0), (-140, -120), 0.3),  # near the smallest numbers: many are subnormal
    Group((60, 66), (60, 66), (120, 127), 0.5),  # near the largest
    Group((-2, 2), (-2, 2), (0, 2), 0.3, 0.01),
    Group((0, 0), (0, 0), None, 0.95),
    Group((0, 0), (0, 0), (-140, -100), 1.0),
)

FIELDS = {"f16": (5, 10), "bf16": (8, 7), "tf32": (8, 23), "e4m3": (4, 3), "e5m2": (5, 2), "f32": (8, 23)}
"""Bits of a type's exponent and fraction; of the fraction of a tf32 a tensor core ignores the last 13."""

Registers = NDArray[np.uint32]


def numbers(  # noqa: PLR0917 - what they are made of
    random: np.random.Generator, count: tuple[int, ...], kind: str, low: int, high: int, special: float
) -> NDArray[Any]:
    """Bits of random numbers of a type."""
    exponent_bits, fraction_bits = FIELDS[kind]
    top = (1 << exponent_bits) - 1
    last = top if kind == "e4m3" else top - 1
    exponent = np.clip(top // 2 + random.integers(low, high + 1, count), 0, last)
    fraction = random.integers(0, 1 << fraction_bits, count)
    if kind == "e4m3":  # all ones would be its NaN
        fraction -= (exponent == last) & (fraction == 7)
    odd = random.random(count) < special
    exponent[odd] = top
    fraction[odd] = 7 if kind == "e4m3" else random.integers(0, 2, odd.sum()) << fraction_bits - 1
    bits = (
        random.integers(0, 2, count) << exponent_bits + fraction_bits | exponent << fraction_bits | fraction
    )
    return bits.astype(f"u{(1 + exponent_bits + fraction_bits) // 8}")


def inputs(form: str) -> tuple[Registers, Registers, Registers]:
    """The inputs of a form's products."""
    family, shape, result, left, right = form.split(".")
    depth = int(shape.partition("k")[2])
    times, lanes, height = (1, 128, 64) if family == "wgmma" else (2, 32, 16)
    random = np.random.default_rng(11)
    parts: tuple[list[Registers], ...] = ([], [], [])
    for group in GROUPS:
        a = numbers(random, (times, lanes, height * depth // lanes), left, *group.a, group.special)
        sign = a.dtype.type(1 << 8 * a.itemsize - 1)
        a = np.where(random.random(a.shape) < group.zeros, a & sign, a)
        b = numbers(random, (times, 8 * depth), right, *group.b, group.special)
        c = numbers(
            random, (times, lanes, 8 * height // lanes), result, *group.addend or (0, 0), group.special
        )
        if group.addend is None:
            c &= c.dtype.type(1 << 8 * c.itemsize - 1)
        for part, bits in zip(parts, (a, b, c), strict=True):
            part.append(bits.view(np.uint32))
    a, b, c = map(np.concatenate, parts)
    return a, b if family == "wgmma" else b.reshape(len(b), lanes, -1), c


def source(form: str, a: Registers, b: Registers, c: Registers) -> str:
    """A CUDA C kernel of which each block computes one product."""
    family, shape, result, *kinds = form.split(".")
    word, bank, enter, leave = "unsigned", "r", "", ""
    if result == "f32":
        word, bank, enter, leave = "float", "f", "__uint_as_float", "__float_as_uint"
    held = c.shape[2]
    results = range(held)
    lists = [results, range(held, held + a.shape[2])]
    given = [f'"r"(a[t * {a.shape[2]} + {i}])' for i in range(a.shape[2])]
    before = after = ""
    if family == "mma":
        lists.append(range(lists[1].stop, lists[1].stop + b.shape[2]))
        given += [f'"r"(b[t * {b.shape[2]} + {i}])' for i in range(b.shape[2])]
        d, first, second = ("{" + ", ".join(f"%{i}" for i in some) + "}" for some in lists)
        types = f"{result}.{'.'.join(kinds)}.{result}"
        text = f"mma.sync.aligned.{shape}.row.col.{types} {d}, {first}, {second}, {d};"
    else:
        d, first = ("{" + ", ".join(f"%{i}" for i in some) + "}" for some in lists)
        given += ['"l"(matrix)', '"r"(1)']
        at = lists[1].stop
        turned = ", 0" if kinds[0] in ("f16", "bf16") else ""
        text = (
            f"{{ .reg .pred p; setp.ne.b32 p, %{at + 1}, 0; wgmma.mma_async.sync.aligned.{shape}.{result}."
            f"{'.'.join(kinds)} {d}, {first}, %{at}, p, 1, 1{turned}; }}"
        )
        before = (
            "__shared__ __align__(1024) unsigned room[64];"
            " if (threadIdx.x < 64) room[threadIdx.x] = b[blockIdx.x * 64 + threadIdx.x];"
            ' asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads();'
            " unsigned long long matrix = (unsigned long long)(__cvta_generic_to_shared(room) >> 4)"
            " | (128ull >> 4) << 16 | (256ull >> 4) << 32;"
            ' asm volatile("wgmma.fence.sync.aligned;" ::: "memory");'
        )
        after = (
            'asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");'
        )
    changed = ", ".join(f'"+{bank}"(d{i})' for i in results)
    body = [
        f"int t = blockIdx.x * {c.shape[1]} + threadIdx.x;",
        *(f"{word} d{i} = {enter}(c[t * {held} + {i}]);" for i in results),
        f'{before} asm volatile("{text}" : {changed} : {", ".join(given)}); {after}',
        f'asm volatile("" : {changed} :: "memory");',
        *(f"d[t * {held} + {i}] = {leave}(d{i});" for i in results),
    ]
    parameters = "const unsigned* a, const unsigned* b, const unsigned* c, unsigned* d"
    return f'extern "C" __global__ void multiply({parameters}) {{ {" ".join(body)} }}'


def main(path: str) -> None:
    import cupy  # type: ignore[import-not-found]

    found: dict[str, Registers] = {}
    for form in FORMS:
        given = inputs(form)
        d = cupy.zeros(given[2].shape, cupy.uint32)
        module = cupy.RawModule(code=source(form, *given), options=("--gpu-architecture=sm_90a",))
        module.get_function("multiply")((len(d),), (d.shape[1],), (*map(cupy.asarray, given), d))
        for name, registers in zip("abcd", (*given, cupy.asnumpy(d)), strict=True):
            found[f"{form}/{name}"] = registers
    np.savez_compressed(path, **found)  # type: ignore[arg-type]


if __name__ == "__main__":
    main(sys.argv[1])
