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
    """Of whole words, of parts of them that selectors name, and of all halves and bytes (PTX ISA 9.7.17)."""
    result, first, second = kinds

    def value(a: int, b: int, width: int) -> int:
        found = VIDEO[name](a, b)
        return (clamped(found, result, width) if saturates else found) & (1 << width) - 1

    form = f"{name}.{'.'.join(kinds)}{saturates}"
    assert both(form + " {}, {}, {};") == [value(number(a, first), number(b, second), 32) for a, b in pairs()]
    assert both(form + " {}, {}.b1, {}.h1;") == [
        value(number(a, first, 8, 8), number(b, second, 16, 16), 32) for a, b in pairs()
    ]
    for width in (16, 8):
        parts = form.replace(name, f"{name}{32 // width}")
        assert both(parts + " {}, {}, {}, %r30;") == [
            sum(
                value(number(a, first, low, width), number(b, second, low, width), width) << low
                for low in range(0, 32, width)
            )
            for a, b in pairs()
        ]


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
