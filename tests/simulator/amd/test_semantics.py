"""The table of operations agrees with the vendor's pseudo-code on edge and random operands."""

from __future__ import annotations

import random
import re
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from tinygrad.runtime.autogen.amd.cdna import str_pcode as cdna
from tinygrad.runtime.autogen.amd.rdna3 import str_pcode as rdna3

from tests.simulator.amd.pseudo_code import NotTranslated, evaluate
from tooling.simulator.amd.semantics.registry import DTYPES, OPERATIONS, Operation
from tooling.simulator.amd.semantics.tables import TABLES

assert TABLES, "importing them enters the operations"

TRIALS = 60
EDGES = (
    0, 1, 2, 31, 32, 33, 63, 64, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0x80000001,
    0xFFFFFFFF,
)  # fmt: skip
FLOATS = (0.0, -0.0, 1.0, -1.5, 2.5, 3e4, 1e-3, 0.5, -2.0, np.inf, -np.inf, np.nan)

DIFFERENT = {
    # The pseudo-code has no clamp below 1, which the instruction guarantees (CDNA 3 ISA, V_FRACT).
    "v_fract_f16", "v_fract_f32", "v_fract_f64",
    # The pseudo-code reads the lane's number, which `instructions.vector` adds.
    "v_mbcnt_lo_u32_b32", "v_mbcnt_hi_u32_b32",
    # The pseudo-code scales by one factor, whatever V_DIV_SCALE did, and has no infinite quotient of numbers:
    # with it, quotients near the limits would be wrong.
    "v_div_fmas_f32", "v_div_fmas_f64", "v_div_fixup_f32", "v_div_fixup_f64",
    # The pseudo-code tests 64 bits of a 32-bit result.
    "s_bcnt1_i32_b64", "s_bcnt0_i32_b64",
    # Its halves may be NaN, whose payload is lost in the evaluation.
    "v_pk_fmac_f16",
    # The pseudo-code keeps other bits of 2/pi than it says.
    "v_trig_preop_f64",
    # The pseudo-code says nothing of subnormal numbers, which these take for zero.
    "v_exp_f32", "v_log_f32", "v_rcp_f32", "v_rsq_f32", "v_rcp_iflag_f32", "v_exp_legacy_f32",
    "v_log_legacy_f32",
    # The pseudo-code names the accumulator S2, which this instruction does not have.
    "v_fmac_dx9_zero_f32",
}  # fmt: skip


@cache
def texts(codes: ModuleType = cdna) -> dict[str, str]:
    """The pseudo-code of each mnemonic."""
    found: dict[str, str] = {}
    for opcode, text in codes.PCODE.items():
        found.setdefault(re.sub(r"_e(32|64)$", "", opcode.name.lower()), text)
    return found


IMMEDIATE = ("s_cmpk", "s_movk", "s_cmovk", "s_addk", "s_mulk")
"""These have 16 bits in the instruction, which the decoder extends and the pseudo-code does."""


APPROXIMATE = ("v_rcp", "v_rsq", "v_sqrt", "v_exp", "v_log", "v_sin", "v_cos")
"""The pseudo-code rounds intermediate results of these: one unit in the last place is allowed."""


def operand(kind: str, name: str, chance: random.Random) -> int:
    """The bits of an operand."""
    width = 8 * DTYPES[kind].itemsize
    value = chance.choice(EDGES) if chance.random() < 0.5 else chance.getrandbits(width)
    if width == 64 and chance.random() < 0.5:
        value = value << 32 | chance.getrandbits(32)
    if kind in ("f16", "f32", "f64") and chance.random() < 0.5:
        value = int(np.array([chance.choice(FLOATS)], DTYPES[kind]).view(f"u{width // 8}")[0])
    if name == "v_pack_b32_f16":
        value &= 0x7BFF  # a NaN as a float would lose its payload in the evaluation
    return value & (1 << width) - 1


def as_array(bits: int, kind: str) -> np.ndarray[Any, Any]:
    dtype = DTYPES[kind]
    return np.array([bits & (1 << 8 * dtype.itemsize) - 1], f"u{dtype.itemsize}").view(dtype)


def compare(operation: Operation, text: str, chance: random.Random) -> None:
    """One trial. Raises NotTranslated or AssertionError."""
    registers = {"SCC": chance.getrandbits(1), "VCC": chance.getrandbits(64), "D0": chance.getrandbits(64)}
    arguments: list[Any] = []
    position = 0
    for kind in operation.arguments:
        if kind == "scc":
            arguments.append(np.array([bool(registers["SCC"])]))
        elif kind in ("mask", "vcc"):
            arguments.append(np.array([bool(registers["VCC"] & 1)]))
        elif kind == "acc":
            arguments.append(as_array(registers["D0"], operation.results[0]))
        else:
            bits = operand(kind, operation.name, chance)
            registers[f"S{position}"] = bits
            if operation.name.startswith(IMMEDIATE) and position == ("cmpk" in operation.name):
                low = bits & 0xFFFF
                registers[f"S{position}"] = low
                unsigned = operation.name.endswith("u32")
                bits = low if unsigned else (low ^ 0x8000) - 0x8000 & 0xFFFFFFFF
            arguments.append(as_array(bits, kind))
            position += 1
    expected = evaluate(text, registers)
    with np.errstate(all="ignore"):
        found = operation.function(*arguments)
    results = found if isinstance(found, tuple) else (found,)
    if operation.first is not None:
        assert operation.first(*arguments).tobytes() == results[0].tobytes(), (operation.name, registers)
    for kind, value in zip(operation.results, results, strict=True):
        number = np.asarray(value)
        if kind == "scc":
            assert int(number[0]) == expected["SCC"] & 1, (operation.name, registers)
        elif kind == "mask":
            is_exec = operation.name.startswith("v_cmpx")
            place = (
                "EXEC" if is_exec else "D0" if "D0.u64[laneId]" in text else "D1" if "D1" in text else "VCC"
            )
            assert int(number[0]) == expected[place] & 1, (operation.name, registers)
        else:
            wanted = as_array(expected["D0"], kind)
            got = number.astype(wanted.dtype)
            if kind in ("f16", "f32", "f64"):
                if operation.name.startswith(APPROXIMATE) and np.isfinite(got) and np.isfinite(wanted):
                    np.testing.assert_array_max_ulp(got, wanted, 1)
                    return
                np.testing.assert_array_equal(got, wanted, err_msg=f"{operation.name} {registers}")
                zero = got == 0
                assert (np.signbit(got[zero]) == np.signbit(wanted[zero])).all(), (operation.name, registers)
            else:
                assert int(got[0]) == int(wanted[0]), (operation.name, registers)


@pytest.mark.parametrize(("codes", "least"), [(cdna, 300), (rdna3, 380)], ids=["cdna3", "rdna3"])
def test_operations_agree_with_the_pseudo_code(codes: ModuleType, least: int) -> None:
    chance = random.Random(942)
    compared = 0
    for name, operation in OPERATIONS.items():
        text = texts(codes).get(name)
        if text is None or name in DIFFERENT:
            continue
        trials = 0
        for _ in range(TRIALS):
            try:
                compare(operation, text, chance)
                trials += 1
            except NotTranslated:
                continue  # this construct, or a special case of this operand, is not evaluated
        compared += trials >= TRIALS // 4
    assert compared >= least, compared


def divide(kind: str, n: np.ndarray[Any, Any], d: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A quotient as LLVM computes it with the division instructions."""

    def execute(name: str, *arguments: Any) -> Any:
        return OPERATIONS[f"v_{name}_{kind}"].function(*arguments)

    denominator, _ = execute("div_scale", d, d, n)
    numerator, scaled = execute("div_scale", n, d, n)
    inverse = execute("rcp", denominator)
    for _ in range(1 if kind == "f32" else 2):
        rest = execute("fma", -denominator, inverse, np.ones_like(n))
        inverse = execute("fma", rest, inverse, inverse)
    quotient = numerator * inverse
    if kind == "f32":
        quotient = execute("fma", execute("fma", -denominator, quotient, numerator), inverse, quotient)
    rest = execute("fma", -denominator, quotient, numerator)
    return np.asarray(execute("div_fixup", execute("div_fmas", rest, inverse, quotient, scaled), d, n))


@pytest.mark.parametrize(("kind", "exponents"), [("f32", 126), ("f64", 1022)])
def test_the_division_instructions_divide(kind: str, exponents: int) -> None:
    """Quotients near the largest number, in the middle and subnormal ones are those of IEEE 754."""
    chance = np.random.default_rng(942)
    n, d = (
        np.ldexp(chance.uniform(1, 2, 4000), chance.integers(-exponents, exponents, 4000)) for _ in range(2)
    )
    n, d = n.astype(DTYPES[kind]), (chance.choice((-1, 1), 4000) * d).astype(DTYPES[kind])
    with np.errstate(all="ignore"):
        wanted, found = n / d, divide(kind, n, d)
    tiny = np.finfo(DTYPES[kind]).tiny
    subnormal = (wanted != 0) & (np.abs(wanted) < tiny)
    assert subnormal.sum() > 20
    if kind == "f64":  # these are rounded twice here
        np.testing.assert_allclose(found[subnormal], wanted[subnormal], rtol=0, atol=5e-324)
        found[subnormal] = wanted[subnormal]
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_the_factor_of_the_pseudo_code_does_not_divide(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Why V_DIV_FMAS is not compared: its pseudo-code multiplies by one factor, in both directions."""
    dtype = DTYPES[kind].type
    name, scale = f"v_div_fmas_{kind}", dtype(2.0 ** (32 if kind == "f32" else 64))
    fused = OPERATIONS[f"v_fma_{kind}"].function

    def as_written(a: Any, b: Any, c: Any, scaled: Any) -> Any:
        return np.where(scaled, scale * fused(a, b, c), fused(a, b, c))

    operation = replace(OPERATIONS[name], function=as_written)
    monkeypatch.setitem(OPERATIONS, name, operation)
    largest, tiny = np.finfo(dtype).max, np.finfo(dtype).tiny
    n = np.array([largest / 2, tiny * 4], dtype)
    d = np.array([1.5, 12], dtype)
    with np.errstate(all="ignore"):
        found, wanted = divide(kind, n, d), n / d
    assert (found != wanted).all()


def test_a_wrong_operation_is_found() -> None:
    """The comparison can fail."""
    wrong = OPERATIONS["v_sub_u32"]
    with pytest.raises(AssertionError):
        for _ in range(TRIALS):
            compare(wrong, texts()["v_add_u32"], random.Random(1))


@pytest.mark.parametrize(
    ("name", "arguments", "result"),
    [
        ("v_max_f32", (-0.0, 0.0), 0.0),
        ("v_min_f32", (0.0, -0.0), -0.0),
        ("v_max_f32", (float("nan"), 2.0), 2.0),
        ("v_cvt_i32_f32", (3e9,), 2**31 - 1),
        ("v_cvt_u32_f32", (-1.0,), 0),
        ("v_cvt_i32_f32", (float("nan"),), 0),
        ("v_rndne_f32", (2.5,), 2.0),
        ("v_rcp_f32", (4.0,), 0.25),
        ("v_sin_f32", (0.25,), 1.0),
        ("v_exp_f32", (10.0,), 1024.0),
        ("v_frexp_mant_f32", (12.0,), 0.75),
        ("v_frexp_exp_i32_f32", (12.0,), 4),
    ],
)
def test_floating_point_results(name: str, arguments: tuple[float, ...], result: float) -> None:
    """What the evaluation of the pseudo-code leaves out."""
    operation = OPERATIONS[name]
    found = operation.function(*(np.array([value], np.float32) for value in arguments))
    assert found[0] == result
    assert np.signbit(found[0]) == np.signbit(result)
