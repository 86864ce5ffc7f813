"""What forms do that Mojo does not emit: from the text of the PTX ISA, which the right values follow."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.simulator.simulate import kernel, simulate
from tooling.simulator.checks.suite import make_checks

STORE = "mul.wide.u32 %rd3, %r30, 4; add.s64 %rd3, %rd3, %rd30; st.global.b32 [%rd3], {};"


def lanes(body: str, result: str = "%r1") -> list[int]:
    """What instructions leave in a register of each thread of a warp; no check finds anything."""
    checks = make_checks()
    out = np.zeros(32, np.uint32)
    done, (got,) = simulate(kernel(body + STORE.format(result)), [out], hooks=checks)
    assert done.error is None, done.error
    assert not [finding for check in checks for finding in check.findings]
    return [int(value) for value in got]


def test_movmatrix_transposes_a_matrix_of_the_warp() -> None:
    """Lane t has the elements 2 (t % 4) and 2 (t % 4) + 1 of row t / 4 (PTX ISA 9.7.14.5.17)."""
    matrix = np.arange(64, dtype=np.uint16).reshape(8, 8)
    body = """
    mul.lo.u32 %r2, %r30, 2; add.u32 %r3, %r2, 1; shl.b32 %r3, %r3, 16; or.b32 %r2, %r2, %r3;
    movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;"""
    assert lanes(body) == np.ascontiguousarray(matrix.T).reshape(-1).view(np.uint32).tolist()


@pytest.mark.parametrize("negated", [False, True])
@pytest.mark.parametrize("operator", ["and", "or"])
def test_lop3_with_a_predicate(operator: str, negated: bool) -> None:
    """The second result is (d != 0) BoolOp q (PTX ISA 9.7.8.6); 0x80 is the conjunction of all three."""
    sign = "!" if negated else ""
    body = f"""
    setp.lt.u32 %p1, %r30, 4; and.b32 %r2, %r30, 1;
    lop3.{operator}.b32 %r3|%p2, %r2, %r30, 7, 0x80, {sign}%p1;
    lop3.{operator}.b32 _|%p3, %r2, %r30, 7, 0x80, {sign}%p1;
    selp.b32 %r1, 256, 0, %p2; selp.b32 %r4, 512, 0, %p3; or.b32 %r1, %r1, %r3; or.b32 %r1, %r1, %r4;"""
    expected = []
    for lane in range(32):
        value, given = lane & 1, (lane < 4) is not negated
        found = bool(value) and given if operator == "and" else bool(value) or given
        expected.append(value + 768 * found)
    assert lanes(body) == expected


@pytest.mark.parametrize("hint", ["L2::cache_hint", "L2::cache_hint.L2::128B"])
def test_a_cache_policy_changes_no_copy(hint: str) -> None:
    body = f"""
    .shared .align 16 .b8 room[512];
    createpolicy.fractional.L2::evict_last.b64 %rd4, 0f3F800000;
    mul.lo.u32 %r2, %r30, 16; mov.b32 %r3, room; add.u32 %r3, %r3, %r2;
    mul.wide.u32 %rd5, %r30, 4; add.s64 %rd5, %rd5, %rd30;
    st.global.b32 [%rd5], %r30;
    cp.async.ca.shared.global.{hint} [%r3], [%rd5], 4, %rd4;
    cp.async.wait_all;
    ld.shared.b32 %r1, [%r3]; add.u32 %r1, %r1, 1;"""
    assert lanes(body) == [lane + 1 for lane in range(32)]


@pytest.mark.parametrize(
    ("mode", "below", "above"), [("rm", 0x3C00, 0xBC01), ("rp", 0x3C01, 0xBC00), ("rm.ftz", 0x3C00, 0xBC01)]
)
def test_floats_are_rounded_to_halves_in_a_direction(mode: str, below: int, above: int) -> None:
    """1 + 2**-20 and its negative, which no half is."""
    body = """
    mov.b32 %r2, {bits}; cvt.{mode}.f16.f32 %rs1, %r2; cvt.u32.u16 %r1, %rs1;"""
    assert set(lanes(body.format(bits="0x3F800008", mode=mode))) == {below}
    assert set(lanes(body.format(bits="0xBF800008", mode=mode))) == {above}


def number(word: int, kind: str, low: int = 0, width: int = 32) -> int:
    """A part of a word as a number."""
    bits = word >> low & (1 << width) - 1
    return bits - (1 << width) if kind == "s32" and bits >> width - 1 else bits


def clamped(value: int, kind: str, width: int) -> int:
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if kind == "s32" else (0, (1 << width) - 1)
    return min(max(value, low), high)


VIDEO: dict[str, Callable[[int, int], int]] = {
    "vadd": lambda a, b: a + b, "vsub": lambda a, b: a - b, "vmin": min, "vmax": max,
    "vabsdiff": lambda a, b: abs(a - b),
}  # fmt: skip
AVERAGES: dict[str, Callable[[int, int], int]] = {"vavrg": lambda a, b: (a + b + (a + b >= 0)) >> 1}
WORDS = [0, 1, 0x80, 0x7F7F7F7F, 0x80808080, 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 0x12F48A90, 0xFF00FF01]


def both(instruction: str) -> list[int]:
    """The results of an instruction for 32 pairs of words, which `pairs` has as well."""
    table = ", ".join(map(str, [word for pair in pairs() for word in pair]))
    body = f"""
    mov.b64 %rd5, words; mul.wide.u32 %rd6, %r30, 8; add.s64 %rd5, %rd5, %rd6;
    ld.global.v2.b32 {{%r2, %r3}}, [%rd5]; {instruction.format("%r1", "%r2", "%r3")}"""
    text = kernel(body + STORE.format("%r1"), before=f".global .align 8 .u32 words[64] = {{{table}}};")
    done, (got,) = simulate(text, [np.zeros(32, np.uint32)])
    assert done.error is None, done.error
    return [int(value) for value in got]


def pairs() -> list[tuple[int, int]]:
    return [(WORDS[n % 10], WORDS[n * 7 // 3 % 10]) for n in range(32)]


KINDS = [("s32", "s32", "s32"), ("u32", "u32", "u32"), ("u32", "s32", "u32"), ("s32", "u32", "s32")]


@pytest.mark.parametrize("saturates", ["", ".sat"])
@pytest.mark.parametrize("kinds", KINDS, ids=".".join)
@pytest.mark.parametrize("name", VIDEO)
def test_video_instructions(name: str, kinds: tuple[str, str, str], saturates: str) -> None:
    """Of whole words, and of parts of them that selectors name (PTX ISA 9.7.17)."""
    result, first, second = kinds

    def value(a: int, b: int, width: int) -> int:
        found = VIDEO[name](a, b)
        return (clamped(found, result, width) if saturates else found) & (1 << width) - 1

    form = f"{name}.{'.'.join(kinds)}{saturates}"
    assert both(form + " {}, {}, {};") == [value(number(a, first), number(b, second), 32) for a, b in pairs()]
    assert both(form + " {}, {}.b1, {}.h1;") == [
        value(number(a, first, 8, 8), number(b, second, 16, 16), 32) for a, b in pairs()
    ]


@pytest.mark.parametrize("saturates", ["", ".sat"])
@pytest.mark.parametrize("kinds", KINDS, ids=".".join)
@pytest.mark.parametrize("name", [*VIDEO, *AVERAGES])
def test_video_instructions_on_parts(name: str, kinds: tuple[str, str, str], saturates: str) -> None:
    """Of all halves, and of all bytes; averages round halves away from zero (PTX ISA 9.7.17.5, 9.7.17.6)."""
    result, first, second = kinds
    function = {**VIDEO, **AVERAGES}[name]

    def part(a: int, b: int, low: int, width: int) -> int:
        found = function(number(a, first, low, width), number(b, second, low, width))
        return (clamped(found, result, width) if saturates else found) & (1 << width) - 1

    for width in (16, 8):
        assert both(f"{name}{32 // width}.{'.'.join(kinds)}{saturates} {{}}, {{}}, {{}}, %r30;") == [
            sum(part(a, b, low, width) << low for low in range(0, 32, width)) for a, b in pairs()
        ]


@pytest.mark.parametrize("rest", ["", ".sat", ".po", ".shr7", ".sat.shr15", ".po.sat"])
@pytest.mark.parametrize("kinds", KINDS, ids=".".join)
def test_video_products(kinds: tuple[str, str, str], rest: str) -> None:
    """a * b + c, signed if a factor is; the scaled sum is what saturates (PTX ISA 9.7.17.3)."""
    result, first, second = kinds
    signed = "s32" if "s32" in (first, second) else "u32"

    def value(a: int, b: int, c: int) -> int:
        total = a * b + number(c, signed) + (".po" in rest)
        scaled = total >> (7 if "shr7" in rest else 15 if "shr15" in rest else 0)
        return (clamped(scaled, signed, 32) if ".sat" in rest else scaled) & 0xFFFFFFFF

    form = f"vmad.{result}.{first}.{second}{rest}"
    added = "xor.b32 %r4, %r2, 0x80000001; "
    assert both(added + form + " {}, {}, {}, %r4;") == [
        value(number(a, first), number(b, second), a ^ 0x80000001) for a, b in pairs()
    ]
    assert both(added + form + " {}, {}.b1, {}.h0, %r4;") == [
        value(number(a, first, 8, 8), number(b, second, 0, 16), a ^ 0x80000001) for a, b in pairs()
    ]


def test_a_saturated_product_of_24_bits() -> None:
    """Bits 16 to 47 of the product, and an addend (PTX ISA 9.7.1.6)."""
    assert both("mad24.hi.sat.s32 {}, {}, {}, 0x7FFFFFF0;") == [
        clamped((number(a, "s32", 0, 24) * number(b, "s32", 0, 24) >> 16) + 0x7FFFFFF0, "s32", 32)
        & 0xFFFFFFFF
        for a, b in pairs()
    ]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [  # of 1 + 2**-20, its negative, 1 exactly, NaN, infinity, the largest float
        ("rm", [0x3F80, 0xBF81, 0x3F80, 0x7FFF, 0x7F80, 0x7F7F]),
        ("rp", [0x3F81, 0xBF80, 0x3F80, 0x7FFF, 0x7F80, 0x7F80]),
        ("rm.ftz", [0x3F80, 0xBF81, 0x3F80, 0x7FFF, 0x7F80, 0x7F7F]),
    ],
)
def test_floats_are_rounded_to_bfloats_in_a_direction(mode: str, expected: list[int]) -> None:
    words = (0x3F800008, 0xBF800008, 0x3F800000, 0xFFC00001, 0x7F800000, 0x7F7FFFFF)
    body = "mov.b32 %r2, {word}; cvt.{mode}.bf16.f32 %rs1, %r2; cvt.u32.u16 %r1, %rs1;"
    assert [lanes(body.format(word=word, mode=mode))[0] for word in words] == expected


@pytest.mark.parametrize(
    ("kind", "move", "expected"),
    [
        ("u32", "mov.b32 %r2, 0x01FFFFFF;", 0x4BFF),
        ("s32", "mov.b32 %r2, -257;", 0xC380),
        ("u16", "mov.b16 %rs2, 511;", 0x43FF),
        ("s16", "mov.b16 %rs2, -511;", 0xC3FF),
        ("u64", "mov.b64 %rd2, 0xFFFFFFFFFFFFFFFF;", 0x5F7F),
        ("s64", "mov.b64 %rd2, 0x8000000000000001;", 0xDEFF),
        ("f64", "mov.b64 %rd2, 0x7FEFFFFFFFFFFFFF;", 0x7F7F),
        ("f64", "mov.b64 %rd2, 0xBFF0000000000001;", 0xBF80),
    ],
)
def test_numbers_are_cut_to_bfloats(kind: str, move: str, expected: int) -> None:
    """`.rz` drops the bits behind the seventh of the fraction (PTX ISA 9.7.9.21)."""
    source = {"16": "%rs2", "32": "%r2", "64": "%rd2"}[kind[1:]]
    assert set(lanes(f"{move} cvt.rz.bf16.{kind} %rs1, {source}; cvt.u32.u16 %r1, %rs1;")) == {expected}


@pytest.mark.parametrize(
    ("form", "expected"),
    [  # of 1 + 2**-10 + 2**-12 + 2**-11, its negative, the largest float, minus infinity, NaN
        ("rn.relu", [0x3F804000, 0, 0x7F800000, 0, 0x7FFFE000]),
        ("rz", [0x3F802000, 0xBF802000, 0x7F7FE000, 0xFF800000, 0x7FFFE000]),
        ("rz.relu", [0x3F802000, 0, 0x7F7FE000, 0, 0x7FFFE000]),
        ("rna.satfinite", [0x3F804000, 0xBF804000, 0x7F7FE000, 0xFF7FE000, None]),
    ],
)
def test_conversions_to_tf32(form: str, expected: list[int | None]) -> None:
    """10 bits of the fraction are kept: the step at 1 is 0x2000 (PTX ISA 9.7.9.21)."""
    words = (0x3F803800, 0xBF803800, 0x7F7FFFFF, 0xFF800000, 0xFFC00001)
    got = [lanes(f"mov.b32 %r2, {word}; cvt.{form}.tf32.f32 %r1, %r2;")[0] for word in words]
    wanted = [one if two is None else two for one, two in zip(got, expected, strict=True)]
    assert got == wanted


def fragments_of(count: int, seed: int) -> list[list[int]]:
    """By register and lane, what `fragments` puts there."""
    return [
        [(lane * 0x9E3779B9 + (seed + register) * 0x7F4A7C15) & 0xFFFFFFFF for lane in range(32)]
        for register in range(count)
    ]


def fragments(first: int, count: int, seed: int) -> str:
    """Instructions that fill registers from `first` on with bits of all kinds."""
    return "".join(
        f"mul.lo.u32 %r{first + n}, %r30, 0x9E3779B9;"
        f"add.u32 %r{first + n}, %r{first + n}, {(seed + n) * 0x7F4A7C15 & 0xFFFFFFFF};\n"
        for n in range(count)
    )


@pytest.mark.parametrize(
    ("depth", "left", "right", "rest"),
    [
        (64, "s4", "s4", ""), (64, "u4", "s4", ""), (64, "s4", "s4", ".satfinite"), (32, "u4", "u4", ""),
        (256, "b1", "b1", ".and.popc"), (256, "b1", "b1", ".xor.popc"), (128, "b1", "b1", ".and.popc"),
    ],
)  # fmt: skip
def test_products_of_less_than_a_byte(depth: int, left: str, right: str, rest: str) -> None:
    """Lane t has 8 numbers (of 4 bits) or 32 (of one) of row t / 4 from t % 4 on (PTX ISA 9.7.14.5)."""
    bits = int(left[1:])
    packed = 32 // bits
    registers = depth // packed // 4  # of B; A has as many for each of two rows
    a, b, c = fragments_of(2 * registers, 1), fragments_of(registers, 9), fragments_of(4, 20)
    rows, columns = np.zeros((16, depth), np.int64), np.zeros((8, depth), np.int64)
    for lane in range(32):
        group, inside = divmod(lane, 4)
        for register in range(registers):
            for k in range(packed):
                at = inside * packed + k + 4 * packed * register
                for half in range(2):
                    word = a[2 * register + half][lane]
                    rows[group + 8 * half, at] = number(word, f"{left[0]}32", bits * k, bits)
                columns[group, at] = number(b[register][lane], f"{right[0]}32", bits * k, bits)
    products = rows[:, None, :] ^ columns[None] if "xor" in rest else rows[:, None, :] * columns[None]
    sums = products.sum(2)
    before, after = ("", rest) if "popc" in rest else (rest, "")
    form = f"mma.sync.aligned.m16n8k{depth}.row.col{before}.s32.{left}.{right}.s32{after}"

    def names(first: int, count: int) -> str:
        return "{" + ",".join(f"%r{first + n}" for n in range(count)) + "}"

    body = fragments(10, 2 * registers, 1) + fragments(16, registers, 9) + fragments(20, 4, 20)
    operands = f"{names(1, 4)}, {names(10, 2 * registers)}, {names(16, registers)}, {names(20, 4)}"
    for register in range(4):
        expected = []
        for lane in range(32):
            row, column = lane // 4 + 8 * (register // 2), lane % 4 * 2 + register % 2
            total = int(sums[row, column]) + number(c[register][lane], "s32")
            expected.append((clamped(total, "s32", 32) if "sat" in rest else total) & 0xFFFFFFFF)
        assert lanes(f"{body}{form} {operands};", f"%r{register + 1}") == expected


@pytest.mark.parametrize("mode", ["clamp", "wrap"])
@pytest.mark.parametrize("kind", ["s32", "u32"])
def test_video_shifts(kind: str, mode: str) -> None:
    def distance(b: int) -> int:
        return b & 31 if mode == "wrap" else min(b, 32)

    left = f"vshl.{kind}.{kind}.u32.sat.{mode} {{}}, {{}}, {{}}.b0;"
    assert both(left) == [
        clamped(number(a, kind) << distance(b & 255), kind, 32) & 0xFFFFFFFF for a, b in pairs()
    ]
    right = f"vshr.{kind}.{kind}.u32.{mode} {{}}, {{}}, {{}};"
    assert both(right) == [number(a, kind) >> distance(b) & 0xFFFFFFFF for a, b in pairs()]


@pytest.mark.parametrize("kind", ["s32", "u32"])
def test_video_comparisons(kind: str) -> None:
    assert both(f"vset.{kind}.{kind}.lt {{}}, {{}}, {{}};") == [
        int(number(a, kind) < number(b, kind)) for a, b in pairs()
    ]
    assert both(f"vset4.{kind}.{kind}.ge {{}}, {{}}, {{}}, %r30;") == [
        sum((number(a, kind, low, 8) >= number(b, kind, low, 8)) << low for low in range(0, 32, 8))
        for a, b in pairs()
    ]
