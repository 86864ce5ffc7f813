"""Operand codes: registers and inline constants (CDNA 3 ISA, "Scalar ALU Operands"; RDNA 3 ISA 6.2)."""

from __future__ import annotations

import struct

from tooling.simulator.amd.decoding.instruction import Operand
from tooling.simulator.amd.semantics.registry import DTYPES

LITERAL = 255
_FIRST_VECTOR = 256

_FLOATS = {
    240: (0.5, "0.5"), 241: (-0.5, "-0.5"), 242: (1.0, "1.0"), 243: (-1.0, "-1.0"),
    244: (2.0, "2.0"), 245: (-2.0, "-2.0"), 246: (4.0, "4.0"), 247: (-4.0, "-4.0"),
}  # fmt: skip
_INVERSE_2PI = 248
_INVERSE = {2: 0x3118, 4: 0x3E22F983, 8: 0x3FC45F306DC9C882}
_INVERSE_TEXT = ("0.15915494", "0.15915494309189532")

_APERTURES = {
    235: "src_shared_base", 236: "src_shared_limit", 237: "src_private_base", 238: "src_private_limit",
    251: "src_vccz", 252: "src_execz", 253: "src_scc",
}  # fmt: skip


def run_text(letter: str, index: int, count: int) -> str:
    """`v3`, or `v[3:4]`."""
    return f"{letter}{index}" if count == 1 else f"{letter}[{index}:{index + count - 1}]"


def vector(index: int, count: int = 1, *, accumulation: bool = False) -> Operand:
    """A vector register or a run of them."""
    kind = "a" if accumulation else "v"
    return Operand(kind, index, count, text=run_text(kind, index, count))


class OperandCodes:
    """The operand codes of an architecture.

    Args:
        generation: 9 (CDNA) or 11 (RDNA 3): a few codes differ.
    """

    def __init__(self, generation: int) -> None:
        self._m0 = 124 if generation == 9 else 125
        self._null = None if generation == 9 else 124
        self._named = {102: ("flat_scratch", 0), 103: ("flat_scratch", 1), 104: ("xnack_mask", 0)}
        if generation != 9:
            self._named = {}
        self._registers = 102 if generation == 9 else 106

    def scalar(self, code: int, count: int = 1) -> Operand:
        """A scalar destination or base.

        Raises:
            LookupError: not a register.
        """
        if code < self._registers:
            return Operand("s", code, count, text=run_text("s", code, count))
        for first, name in ((106, "vcc"), (126, "exec")):
            if code in (first, first + 1):
                if count == 1:
                    return Operand(name, code - first, 1, text=f"{name}_{'hi' if code > first else 'lo'}")
                return Operand(name, 0, count, text=name)
        if 108 <= code < 124:
            return Operand("ttmp", code - 108, count, text=run_text("ttmp", code - 108, count))
        if code == self._m0:
            return Operand("m0", text="m0")
        if code == self._null:
            return Operand("null", count=count, text="null")
        if code in self._named:
            name, half = self._named[code]
            return Operand(name, half, count, text=name if count > 1 else f"{name}_{['lo', 'hi'][half]}")
        raise LookupError(code)

    def source(self, code: int, kind: str, literal: int | None, count: int) -> Operand:
        """A source operand.

        A constant has 32 or 64 bits, also for narrower types: an integer is sign-extended, and a float is a
        single or double precision number. For float16 and its pairs a float is a float16 number in the lower
        half, and the upper half is 0 (LLVM, `getInlineEncodingV216`).

        Args:
            code: 9 bits; kind: its type, which decides about constants; literal: the dword that follows.
            count: registers.

        Raises:
            LookupError: an unknown code.
        """
        if code >= _FIRST_VECTOR:
            return vector(code - _FIRST_VECTOR, count)
        if code < 128:
            return self.scalar(code, count)
        wide = (DTYPES[kind].itemsize == 8 if kind in DTYPES else count > 1) and kind != "pk32"
        size = 2 if kind in ("f16", "pk16") else 8 if wide else 4
        if code <= 208:
            number = code - 128 if code <= 192 else 192 - code
            return Operand("const", count=count, value=number % (1 << 8 * max(4, size)), text=str(number))
        if code in _FLOATS:
            value, text = _FLOATS[code]
            return Operand("const", count=count, value=_float_bits(value, size), text=text)
        if code == _INVERSE_2PI:
            return Operand("const", count=count, value=_INVERSE[size], text=_INVERSE_TEXT[wide])
        if code == LITERAL and literal is not None:
            return literal_operand(literal, kind, count)
        if code in _APERTURES:
            return Operand(_APERTURES[code], count=count, text=_APERTURES[code])
        raise LookupError(code)


def literal_operand(literal: int, kind: str, count: int = 1) -> Operand:
    """A 32-bit literal: the upper half of a double, sign-extended for signed 64-bit numbers."""
    value = literal
    if kind == "f64":
        value = literal << 32
    elif kind == "i64":
        value = (literal ^ 0x80000000) - 0x80000000 & (1 << 64) - 1
    return Operand("const", count=count, value=value, text=f"{literal:#x}")


def _float_bits(number: float, size: int) -> int:
    return int.from_bytes(struct.pack({2: "<e", 4: "<f", 8: "<d"}[size], number), "little")
