"""Instruction cases: every PTX form that the simulator supports, with operand values at the edges.

Each form of the table becomes a kernel that loads its operands, executes the one instruction and stores the
result bits. `record.py` runs the kernels on real hardware; the test runs the same text in the simulator and
compares the bits. Only NumPy is needed, so that it runs on any machine with a GPU.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Bits = npt.NDArray[np.uint64]

WIDTH = {"pred": 8} | {f"{k}{w}": w for k in "usb" for w in (8, 16, 32, 64)}
WIDTH |= {"f16": 16, "bf16": 16, "f32": 32, "f64": 64, "f16x2": 32, "bf16x2": 32}


@dataclass(frozen=True, slots=True)
class Form:
    """One instruction form: its text with placeholders for operands, operand types and result type.

    `text` has {d} for the destination and {a}, {b}, {c} for the sources. `approximate` marks forms for which
    the PTX ISA bounds the error instead of defining all bits. `block` is the number of threads of a block;
    `directives` are those of the kernel, such as `.reqnctapercluster`.
    """

    name: str
    text: str
    result: str
    operands: tuple[str, ...]
    approximate: bool = False
    block: int = 64
    directives: str = ""


def _f32(x: float) -> int:
    return int(struct.unpack("<I", struct.pack("<f", x))[0])


def _f64(x: float) -> int:
    return int(struct.unpack("<Q", struct.pack("<d", x))[0])


_F32 = [0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x00400000, 0x00800000, 0x80800000]
_F32 += [0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC12345, 0x7F812345, 0x7FFFFFFF]
_F32 += [_f32(x) for x in (1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 3.0, 0.1, 1e-3, 255.5, 256.0, 65535.0, 65536.0)]
_F32 += [
    _f32(x) for x in (2147483647.0, 2147483648.0, -2147483648.0, 4294967295.0, 9.3e18, -9.3e18, 1e19, 3e38)
]
_F32 += [0x3F800001, 0x3F7FFFFF, 0x3EFFFFFF, 0x3F000001, 0x4B000001, 0x4B7FFFFF, 0x34000000, 0x33800000]
_F32 += [0x477FE000, 0x477FF000, 0x477FEFFF, 0x38800000, 0x387FE000, 0x33000000, 0x33000001, 0x7F7F8000]
_F64 = [0, 1 << 63, 1, (1 << 63) | 1, 0x000FFFFFFFFFFFFF, 0x0010000000000000, 0x7FEFFFFFFFFFFFFF]
_F64 += [0xFFEFFFFFFFFFFFFF, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0xFFF8000000001234]
_F64 += [0x7FF0000000001234, 0x3FF0000000000001, 0x3FEFFFFFFFFFFFFF, 0x3CB0000000000000, 0x3CA0000000000000]
_F64 += [
    _f64(x)
    for x in (1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 3.0, 0.1, 1e-40, 1e-45, 1e300, 1e-300, 65504.0, 3.4028235e38)
]
_F64 += [
    _f64(x)
    for x in (
        2147483647.5,
        -2147483648.5,
        4294967295.5,
        9.3e18,
        1.8e19,
        1.9e19,
        16777217.0,
        1.0000000596046448,
    )
]
_F16 = [0, 0x8000, 1, 0x8001, 0x03FF, 0x0400, 0x8400, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0xFE01, 0x7C01]
_F16 += [
    0x3C00,
    0xBC00,
    0x3800,
    0x3E00,
    0x4100,
    0xC100,
    0x3C01,
    0x3BFF,
    0x2E66,
    0x6400,
    0x6401,
    0x77FF,
    0x7000,
]
_BF16 = [0, 0x8000, 1, 0x8001, 0x007F, 0x0080, 0x8080, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80, 0x7FC0, 0xFFC1, 0x7F81]
_BF16 += [
    0x3F80,
    0xBF80,
    0x3F00,
    0x3FC0,
    0x4020,
    0xC020,
    0x3F81,
    0x3F7F,
    0x3DCC,
    0x4380,
    0x4780,
    0x7F00,
    0x3400,
]


def _integers(width: int) -> list[int]:
    top = 1 << width
    near = [0, 1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 127, 128, 255]
    near += [
        top - 1,
        top - 2,
        top // 2,
        top // 2 - 1,
        top // 2 + 1,
        top // 3,
        (top // 3) * 2,
        top - 33,
        top - 100,
    ]
    near += [0x1234567890ABCDEF % top, 0xFEDCBA9876543210 % top, 0x00FF00FF00FF00FF % top]
    return sorted({n % top for n in near})


def _mix(seed: int) -> int:
    """SplitMix64: the same numbers on every machine and NumPy version."""
    z = (seed + 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
    return z ^ (z >> 31)


def values(kind: str) -> list[int]:
    """The edge cases of one operand type, as bits."""
    if kind == "f32":
        return _F32
    if kind == "f64":
        return _F64
    if kind == "f16":
        return _F16
    if kind == "bf16":
        return _BF16
    if kind == "f16x2":
        return [a | (_F16[(i * 7 + 3) % len(_F16)] << 16) for i, a in enumerate(_F16)]
    if kind == "bf16x2":
        return [a | (_BF16[(i * 7 + 3) % len(_BF16)] << 16) for i, a in enumerate(_BF16)]
    if kind == "pred":
        return [0, 1]
    return _integers(WIDTH[kind])


LIMIT = 512  # cases per form
WARP = 32  # lanes; every form has whole warps of cases, so that warp-wide forms are well defined


def operands(form: Form) -> list[Bits]:
    """Operand bits, one array of equal length per source operand."""
    corner = [values(kind) for kind in form.operands]
    rows: list[tuple[int, ...]] = list(itertools.islice(itertools.product(*corner), 4096 * 16))
    if len(rows) > LIMIT * 3 // 4:
        rows = [rows[_mix(i) % len(rows)] for i in range(LIMIT * 3 // 4)]
    seed = sum(ord(c) * 131**i for i, c in enumerate(form.name)) & 0xFFFFFFFF
    for i in range(min(LIMIT - len(rows), 128)):
        rows.append(
            tuple(_mix(seed * 977 + i * 3 + j) % (1 << WIDTH[k]) for j, k in enumerate(form.operands))
        )
    whole_warps = max(len(rows) // WARP, 1) * WARP
    rows = [rows[i % len(rows)] for i in range(whole_warps)]
    return [np.array([row[j] for row in rows], dtype=np.uint64) for j in range(len(form.operands))]


def _simple(
    op: str, types: str, arity: int, result: str | None = None, approximate: bool = False
) -> Iterator[Form]:
    sources = ", ".join("{" + c + "}" for c in "abc"[:arity])
    for t in types.split():
        yield Form(f"{op}.{t}", f"{op}.{t} {{d}}, {sources};", result or t, (t,) * arity, approximate)


def _integer_forms() -> Iterator[Form]:
    every = "u16 s16 u32 s32 u64 s64"
    for op in ("add", "sub", "mul.lo", "mul.hi", "div", "rem", "min", "max"):
        yield from _simple(op, every, 2)
    yield from _simple("mad.lo", every, 3)
    yield from _simple("mad.hi", "u32 s32 u64 s64", 3)
    for t, wide in (("u16", "u32"), ("s16", "s32"), ("u32", "u64"), ("s32", "s64")):
        yield Form(f"mul.wide.{t}", f"mul.wide.{t} {{d}}, {{a}}, {{b}};", wide, (t, t))
        yield Form(f"mad.wide.{t}", f"mad.wide.{t} {{d}}, {{a}}, {{b}}, {{c}};", wide, (t, t, wide))
    for op in ("add.sat", "sub.sat"):
        yield from _simple(op, "s32", 2)
    for op in ("abs", "neg"):
        yield from _simple(op, "s16 s32 s64", 1)
    yield from _simple("sad", every, 3)
    for op in ("and", "or", "xor"):
        yield from _simple(op, "b16 b32 b64", 2)
    for op in ("not", "cnot"):
        yield from _simple(op, "b16 b32 b64", 1)
    for op in ("popc", "clz"):
        for t in ("b32", "b64"):
            yield Form(f"{op}.{t}", f"{op}.{t} {{d}}, {{a}};", "u32", (t,))
    yield from _simple("brev", "b32 b64", 1)
    for t in ("u32", "s32", "u64", "s64"):
        for shiftamt in ("", ".shiftamt"):
            yield Form(f"bfind{shiftamt}.{t}", f"bfind{shiftamt}.{t} {{d}}, {{a}};", "u32", (t,))
        yield Form(f"bfe.{t}", f"bfe.{t} {{d}}, {{a}}, {{b}}, {{c}};", t, (t, "u32", "u32"))
    for t in ("b32", "b64"):
        for position in ("{c}", "5"):
            for length in ("9", "40", "255", "0"):
                yield Form(
                    f"bfi.{t} p={position.strip('{}')} l={length}",
                    f"bfi.{t} {{d}}, {{a}}, {{b}}, {position}, {length};",
                    t,
                    (t, t, "u32") if position == "{c}" else (t, t),
                )
    for t in ("b16", "b32", "b64"):
        yield Form(f"shl.{t}", f"shl.{t} {{d}}, {{a}}, {{b}};", t, (t, "u32"))
    for t in every.split():
        yield Form(f"shr.{t}", f"shr.{t} {{d}}, {{a}}, {{b}};", t, (t, "u32"))
    for way, mode in itertools.product("lr", ("clamp", "wrap")):
        yield Form(
            f"shf.{way}.{mode}.b32",
            f"shf.{way}.{mode}.b32 {{d}}, {{a}}, {{b}}, {{c}};",
            "b32",
            ("b32", "b32", "u32"),
        )
    for mode in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"):
        yield Form(
            f"prmt.b32{mode}", f"prmt.b32{mode} {{d}}, {{a}}, {{b}}, {{c}};", "b32", ("b32", "b32", "b32")
        )
    for table in (0x80, 0x96, 0xE8, 0xCA, 0x1B):
        yield Form(
            f"lop3.b32 {table:#x}", f"lop3.b32 {{d}}, {{a}}, {{b}}, {{c}}, {table:#x};", "b32", ("b32",) * 3
        )
    for t in ("u32.u32", "u32.s32", "s32.u32", "s32.s32"):
        a, b = t.split(".")
        result = "u32" if t == "u32.u32" else "s32"
        yield Form(f"dp4a.{t}", f"dp4a.{t} {{d}}, {{a}}, {{b}}, {{c}};", result, (a, b, result))
        yield Form(f"dp2a.lo.{t}", f"dp2a.lo.{t} {{d}}, {{a}}, {{b}}, {{c}};", result, (a, b, result))
    for t in ("b16", "b32", "b64", "u32", "s64", "f32", "f64"):
        yield Form(f"selp.{t}", f"selp.{t} {{d}}, {{a}}, {{b}}, {{c}};", t, (t, t, "pred"))
    for t in ("u32", "s32", "f32", "u64"):
        yield Form(f"slct.{t}.s32", f"slct.{t}.s32 {{d}}, {{a}}, {{b}}, {{c}};", t, (t, t, "s32"))


def _comparison_forms() -> Iterator[Form]:
    def setp(op: str, t: str) -> Form:
        return Form(f"setp.{op}.{t}", f"setp.{op}.{t} {{d}}, {{a}}, {{b}};", "pred", (t, t))

    for t in ("b16", "b32", "b64"):
        for op in ("eq", "ne"):
            yield setp(op, t)
    for t in ("u16", "u32", "u64", "s16", "s32", "s64"):
        for op in ("eq", "ne", "lt", "le", "gt", "ge") + (("lo", "ls", "hi", "hs") if t[0] == "u" else ()):
            yield setp(op, t)
    ordered = ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")
    for t in ("f32", "f64", "f16", "bf16"):
        for op in ordered:
            yield setp(op, t)
    for op in ("lt", "equ"):
        yield Form(f"setp.{op}.ftz.f32", f"setp.{op}.ftz.f32 {{d}}, {{a}}, {{b}};", "pred", ("f32", "f32"))
    for op in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"):
        for t in ("f32", "f64"):
            yield Form(f"testp.{op}.{t}", f"testp.{op}.{t} {{d}}, {{a}};", "pred", (t,))
    yield Form("setp.lt.and.s32", "setp.lt.and.s32 {d}, {a}, {b}, {c};", "pred", ("s32", "s32", "pred"))
    yield Form("setp.gt.xor.f32", "setp.gt.xor.f32 {d}, {a}, {b}, {c};", "pred", ("f32", "f32", "pred"))


def _float_forms() -> Iterator[Form]:
    for op in ("add", "sub", "mul"):
        for rounding, ftz, sat in itertools.product(
            ("", ".rn", ".rz", ".rm", ".rp"), ("", ".ftz"), ("", ".sat")
        ):
            yield from _simple(f"{op}{rounding}{ftz}{sat}", "f32", 2)
        for rounding in ("", ".rn", ".rz", ".rm", ".rp"):
            yield from _simple(f"{op}{rounding}", "f64", 2)
    for rounding in (".rn", ".rz", ".rm", ".rp"):
        for ftz, sat in itertools.product(("", ".ftz"), ("", ".sat")):
            yield from _simple(f"fma{rounding}{ftz}{sat}", "f32", 3)
        yield from _simple(f"fma{rounding}", "f64", 3)
        for op, arity in (("div", 2), ("rcp", 1), ("sqrt", 1)):
            for ftz in ("", ".ftz"):
                yield from _simple(f"{op}{rounding}{ftz}", "f32", arity)
            yield from _simple(f"{op}{rounding}", "f64", arity)
    for op in ("min", "max"):
        for flags in ("", ".ftz", ".NaN", ".ftz.NaN", ".xorsign.abs"):
            yield from _simple(f"{op}{flags}", "f32", 2)
        yield from _simple(op, "f64", 2)
        for nan in ("", ".NaN"):
            yield from _simple(f"{op}{nan}", "f16 f16x2 bf16 bf16x2", 2)
    for op in ("abs", "neg"):
        yield from _simple(op, "f32 f64 f16 f16x2 bf16 bf16x2", 1)
        yield from _simple(f"{op}.ftz", "f32", 1)
    yield from _simple("copysign", "f32 f64", 2)
    for op in ("add", "sub", "mul"):
        yield from _simple(op, "f16 f16x2 bf16 bf16x2", 2)
        yield from _simple(f"{op}.rn.sat", "f16", 2)
        yield from _simple(f"{op}.ftz", "f16", 2)
    yield from _simple("fma.rn", "f16 f16x2 bf16 bf16x2", 3)
    yield from _simple("fma.rn.relu", "f16 bf16", 3)
    yield from _simple("fma.rn.sat", "f16", 3)
    for op in ("ex2", "lg2", "sin", "cos", "rcp", "rsqrt", "sqrt"):
        for ftz in ("", ".ftz"):
            yield from _simple(f"{op}.approx{ftz}", "f32", 1)
    yield from _simple("tanh.approx", "f32", 1, approximate=True)
    yield from _simple("tanh.approx", "f16 bf16", 1)
    yield from _simple("ex2.approx", "f16", 1)
    yield from _simple("rsqrt.approx", "f64", 1)
    for op in ("div.approx", "div.approx.ftz", "div.full", "div.full.ftz"):
        yield from _simple(op, "f32", 2)


def _conversion_forms() -> Iterator[Form]:
    def cvt(modifiers: str, d: str, a: str) -> Form:
        return Form(f"cvt{modifiers}.{d}.{a}", f"cvt{modifiers}.{d}.{a} {{d}}, {{a}};", d, (a,))

    integers = [f"{k}{w}" for k in "us" for w in (8, 16, 32, 64)]
    for d, a in itertools.product(integers, integers):
        if d != a:
            yield cvt("", d, a)
            yield cvt(".sat", d, a)
    for d, a in itertools.product(integers, ("f16", "f32", "f64")):
        for rounding in (".rni", ".rzi", ".rmi", ".rpi"):
            yield cvt(rounding, d, a)
        if a == "f32":
            yield cvt(".rzi.ftz", d, a)
            yield cvt(".rni.sat", d, a)
    for d, a in itertools.product(("f16", "f32", "f64"), integers):
        for rounding in (".rn", ".rz", ".rm", ".rp"):
            yield cvt(rounding, d, a)
    for rounding in (".rn", ".rz", ".rm", ".rp"):
        yield cvt(rounding, "f32", "f64")
        yield cvt(f"{rounding}.sat", "f32", "f64")
    for rounding in (".rn", ".rz"):
        yield cvt(rounding, "f16", "f32")
        yield cvt(rounding, "f16", "f64")
        yield cvt(rounding, "bf16", "f32")
        yield cvt(f"{rounding}.relu", "bf16", "f32")
        yield cvt(f"{rounding}.relu", "f16", "f32")
    for d, a in (("f32", "f16"), ("f64", "f16"), ("f64", "f32"), ("f32", "bf16")):
        yield cvt("", d, a)
    yield cvt(".ftz", "f32", "f16")
    yield cvt(".ftz", "f64", "f32")
    yield cvt(".sat", "f32", "f16")
    for t in ("f16", "f32", "f64"):
        for rounding in (".rni", ".rzi", ".rmi", ".rpi"):
            yield cvt(rounding, t, t)
    yield cvt(".rni.ftz", "f32", "f32")
    yield cvt(".rzi.sat", "f32", "f32")
    yield Form("cvt.rna.tf32.f32", "cvt.rna.tf32.f32 {d}, {a};", "b32", ("f32",))
    for d in ("f16x2", "bf16x2"):
        for rounding in (".rn", ".rz", ".rn.relu"):
            yield Form(
                f"cvt{rounding}.{d}.f32", f"cvt{rounding}.{d}.f32 {{d}}, {{a}}, {{b}};", d, ("f32", "f32")
            )


def _pair_forms() -> Iterator[Form]:
    """Pairs of 16 bits, bit masks, and what half precision has beyond arithmetic."""
    for t in ("u16x2", "s16x2"):
        for op in ("add", "min", "max"):
            yield Form(f"{op}.{t}", f"{op}.{t} {{d}}, {{a}}, {{b}};", "b32", ("b32", "b32"))
    for op in ("min", "max"):
        yield Form(f"{op}.relu.s16x2", f"{op}.relu.s16x2 {{d}}, {{a}}, {{b}};", "b32", ("b32", "b32"))
        yield Form(f"{op}.relu.s32", f"{op}.relu.s32 {{d}}, {{a}}, {{b}};", "s32", ("s32", "s32"))
        yield from _simple(f"{op}.ftz", "f16 f16x2", 2)
        yield from _simple(f"{op}.xorsign.abs", "f16 bf16", 2)
        yield from _simple(f"{op}.NaN.xorsign.abs", "f16x2 bf16x2", 2)
    for op in ("abs.ftz", "neg.ftz"):
        yield from _simple(op, "f16 f16x2", 1)
    yield from _simple("mad.hi.sat", "s32", 3)
    for mode in ("clamp", "wrap"):
        yield Form(f"bmsk.{mode}.b32", f"bmsk.{mode}.b32 {{d}}, {{a}}, {{b}};", "b32", ("u32", "u32"))
        for t in ("u32", "s32"):
            yield Form(f"szext.{mode}.{t}", f"szext.{mode}.{t} {{d}}, {{a}}, {{b}};", t, (t, "u32"))
    small = "{{ .reg .b32 %m, %n; and.b32 %m, {b}, 31; and.b32 %n, {c}, 15; sub.s32 %n, %n, 8;"
    yield Form("fns.b32", small + " fns.b32 {d}, {a}, %m, %n; }}", "b32", ("b32", "u32", "u32"))
    for t in ("u32.u32", "s32.s32", "u32.s32"):
        result = "u32" if t == "u32.u32" else "s32"
        a, b = t.split(".")
        yield Form(f"dp2a.hi.{t}", f"dp2a.hi.{t} {{d}}, {{a}}, {{b}}, {{c}};", result, (a, b, result))
    for t in ("u16", "s16"):
        yield Form(
            f"cvt.pack.sat.{t}.s32", f"cvt.pack.sat.{t}.s32 {{d}}, {{a}}, {{b}};", "b32", ("s32", "s32")
        )
    for t in ("u8", "s8", "u4", "s4", "u2", "s2"):
        text = f"cvt.pack.sat.{t}.s32.b32 {{d}}, {{a}}, {{b}}, {{c}};"
        yield Form(f"cvt.pack.sat.{t}.s32.b32", text, "b32", ("s32", "s32", "b32"))
    for t in ("f16x2", "bf16x2"):
        for op in ("lt", "ne", "geu", "nan"):
            held = "{{ .reg .pred %p, %q; .reg .b32 %m, %n;"
            joined = " selp.u32 %m, 1, 0, %p; selp.u32 %n, 2, 0, %q; or.b32 {d}, %m, %n; }}"
            yield Form(f"setp.{op}.{t}", f"{held} setp.{op}.{t} %p|%q, {{a}}, {{b}};{joined}", "u32", (t, t))
            yield Form(f"set.{op}.{t}.{t}", f"set.{op}.{t}.{t} {{d}}, {{a}}, {{b}};", t, (t, t))
    for t in ("f16", "bf16", "f32"):
        yield Form(f"set.lt.u32.{t}", f"set.lt.u32.{t} {{d}}, {{a}}, {{b}};", "u32", (t, t))
    for t in ("f16", "bf16"):
        yield Form(f"set.ge.{t}.{t}", f"set.ge.{t}.{t} {{d}}, {{a}}, {{b}};", t, (t, t))
    yield Form("set.lt.f32.s32", "set.lt.f32.s32 {d}, {a}, {b};", "f32", ("s32", "s32"))
    yield Form("setp.lt.ftz.f16", "setp.lt.ftz.f16 {d}, {a}, {b};", "pred", ("f16", "f16"))
    yield from _simple("tanh.approx", "f16x2 bf16x2", 1)
    yield from _simple("ex2.approx", "f16x2", 1)
    yield from _simple("ex2.approx.ftz", "bf16 bf16x2", 1)
    yield from _simple("rcp.approx.ftz", "f64", 1)
    yield from _simple("rsqrt.approx.ftz", "f64", 1)
    yield from _simple("fma.rn.relu", "f16x2 bf16x2", 3)
    yield from _simple("fma.rn.ftz", "f16 f16x2", 3)


def _narrow_forms() -> Iterator[Form]:
    """Conversions to and from bf16 and 8-bit floats."""

    def cvt(modifiers: str, d: str, a: str) -> Form:
        return Form(f"cvt{modifiers}.{d}.{a}", f"cvt{modifiers}.{d}.{a} {{d}}, {{a}};", d, (a,))

    for rounding in (".rni", ".rzi", ".rmi", ".rpi"):
        yield cvt(rounding, "bf16", "bf16")
        for d in ("u16", "s32", "u64"):
            yield cvt(rounding, d, "bf16")
    for a in ("f16", "f64", "s16", "u32", "s32", "u64", "s64"):
        yield cvt(".rn", "bf16", a)
    yield cvt(".rn", "f16", "bf16")
    yield cvt("", "f64", "bf16")
    for d in ("f16", "bf16"):
        yield cvt(".rn.satfinite", d, "f32")
        yield cvt(".rn.relu.satfinite", d, "f32")
        text = f"cvt.rn.satfinite.{d}x2.f32 {{d}}, {{a}}, {{b}};"
        yield Form(f"cvt.rn.satfinite.{d}x2.f32", text, f"{d}x2", ("f32", "f32"))
    yield Form("cvt.rn.tf32.f32", "cvt.rn.tf32.f32 {d}, {a};", "b32", ("f32",))
    for t in ("e4m3x2", "e5m2x2"):
        for relu in ("", ".relu"):
            name = f"cvt.rn.satfinite{relu}.{t}.f32"
            yield Form(name, name + " {d}, {a}, {b};", "b16", ("f32", "f32"))
            name = f"cvt.rn.satfinite{relu}.{t}.f16x2"
            yield Form(name, name + " {d}, {a};", "b16", ("f16x2",))
            name = f"cvt.rn{relu}.f16x2.{t}"
            yield Form(name, name + " {d}, {a};", "f16x2", ("b16",))


def forms() -> list[Form]:
    """Every form, in a fixed order; names are unique."""
    every = [*_integer_forms(), *_comparison_forms(), *_float_forms(), *_conversion_forms()]
    every += [*_pair_forms(), *_narrow_forms()]
    unique = {form.name: form for form in every}
    return list(unique.values())


def _register(kind: str) -> tuple[str, str]:
    """Register type and load/store suffix for one operand type (8-bit values live in 16-bit registers)."""
    if kind == "pred":
        return "pred", "u32"
    width = WIDTH[kind]
    return f"b{max(width, 16)}", f"b{width}"


def kernel(form: Form, target: str = "sm_90a") -> str:
    """The PTX text of the form's kernel: one thread per case, operands and result 8 bytes apart."""
    lines = [".version 8.5", f".target {target}", ".address_size 64", "", ".visible .entry probe("]
    lines += [f"  .param .u64 p{i}," for i in range(len(form.operands) + 1)]
    lines += [
        "  .param .u32 count",
        f") {form.directives}",
        "{",
        "  .reg .pred %p<9>;",
        "  .reg .b32 %r<9>;",
        "  .reg .b64 %rd<20>;",
    ]
    names: dict[str, str] = {}
    body: list[str] = []
    for letter, kind in zip("abc", form.operands, strict=False):
        register, _ = _register(kind)
        if register == "pred":
            lines.append(f"  .reg .b32 %w{letter};\n  .reg .pred %{letter};")
        else:
            lines.append(f"  .reg .{register} %{letter};")
        names[letter] = f"%{letter}"
    register, suffix = _register(form.result)
    lines.append(f"  .reg .{register} %d;" + ("\n  .reg .b32 %wd;" if register == "pred" else ""))
    lines += ["  mov.u32 %r1, %ctaid.x;", "  mov.u32 %r2, %ntid.x;", "  mov.u32 %r3, %tid.x;"]
    lines += [
        "  mad.lo.s32 %r4, %r1, %r2, %r3;",
        "  ld.param.u32 %r5, [count];",
        "  setp.ge.u32 %p1, %r4, %r5;",
    ]
    lines += ["  @%p1 bra DONE;", "  mul.wide.u32 %rd1, %r4, 8;"]
    for i, (letter, kind) in enumerate(zip("abc", form.operands, strict=False)):
        body += [f"  ld.param.u64 %rd{2 + i}, [p{i + 1}];", f"  add.s64 %rd{6 + i}, %rd{2 + i}, %rd1;"]
        if kind == "pred":
            body += [f"  ld.global.u32 %w{letter}, [%rd{6 + i}];", f"  setp.ne.u32 %{letter}, %w{letter}, 0;"]
        else:
            load = _register(kind)[1] if WIDTH[kind] > 8 else kind
            body.append(f"  ld.global.{load} %{letter}, [%rd{6 + i}];")
    lines += body
    lines.append("  " + form.text.format(d="%d", **names))
    lines += ["  ld.param.u64 %rd12, [p0];", "  add.s64 %rd13, %rd12, %rd1;"]
    if form.result == "pred":
        lines += ["  selp.u32 %wd, 1, 0, %d;", "  st.global.u32 [%rd13], %wd;"]
    else:
        store = suffix if WIDTH[form.result] > 8 else form.result
        lines.append(f"  st.global.{store} [%rd13], %d;")
    lines += ["DONE:", "  ret;", "}", ""]
    return "\n".join(lines)
