"""Evaluates the vendor's pseudo-code of an instruction for one lane, from the PyPI package tinygrad.

The text is translated line by line to Python; operands become `Bits` and typed numbers (`Number`) with the
arithmetic of their width. What cannot be translated raises `NotTranslated`.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from typing import Any

_PACK = {("f", 16): "<e", ("f", 32): "<f", ("f", 64): "<d"}


class NotTranslated(Exception):
    """A construct that the translation does not know."""


class Number:
    """A number of a kind (`u`, `i`, `f`, `b`) and a width in bits."""

    def __init__(self, kind: str, width: int, value: float) -> None:
        self.kind, self.width = kind, width
        if kind == "f":
            self.value: Any = _rounded(float(value), width)
        else:
            low = int(value) & (1 << width) - 1
            self.value = low - (1 << width) if kind == "i" and low >> width - 1 else low

    @property
    def bits(self) -> int:
        if self.kind == "f":
            size = self.width // 8
            return int.from_bytes(struct.pack(_PACK["f", self.width], self.value), "little") if size else 0
        return int(self.value) & (1 << self.width) - 1

    def _like(self, other: Any, value: float) -> Number:
        wide = self
        if isinstance(other, Number) and (other.width > self.width or other.kind == "f" != self.kind):
            wide = other
        return Number(wide.kind, wide.width, value)

    def __add__(self, other: Any) -> Number:
        return self._like(other, self.value + _value(other))

    def __sub__(self, other: Any) -> Number:
        return self._like(other, self.value - _value(other))

    def __mul__(self, other: Any) -> Number:
        return self._like(other, self.value * _value(other))

    def __and__(self, other: Any) -> Number:
        return self._like(other, int(self.value) & int(_value(other)))

    def __or__(self, other: Any) -> Number:
        return self._like(other, int(self.value) | int(_value(other)))

    def __xor__(self, other: Any) -> Number:
        return self._like(other, int(self.value) ^ int(_value(other)))

    def __lshift__(self, other: Any) -> Number:
        return Number(self.kind, self.width, int(self.value) << int(_value(other)))

    def __rshift__(self, other: Any) -> Number:
        return Number(self.kind, self.width, int(self.value) >> int(_value(other)))

    def __invert__(self) -> Number:
        return Number(self.kind, self.width, ~int(self.value))

    def __neg__(self) -> Number:
        return Number(self.kind, self.width, -self.value)

    def __truediv__(self, other: Any) -> Number:
        return self._like(other, self.value / _value(other))

    def __mod__(self, other: Any) -> Number:
        return self._like(other, self.value % _value(other))

    __floordiv__ = __truediv__

    def __eq__(self, other: object) -> bool:
        return bool(self.value == _value(other))

    def __lt__(self, other: Any) -> bool:
        return bool(self.value < _value(other))

    def __le__(self, other: Any) -> bool:
        return bool(self.value <= _value(other))

    def __gt__(self, other: Any) -> bool:
        return bool(self.value > _value(other))

    def __ge__(self, other: Any) -> bool:
        return bool(self.value >= _value(other))

    def __bool__(self) -> bool:
        return bool(self.value)

    def __index__(self) -> int:
        return int(self.value)

    def __hash__(self) -> int:
        return hash(self.value)

    def __getattr__(self, name: str) -> Number:
        return Bits(self.bits, self.width).typed(name)

    def __getitem__(self, index: Any) -> Any:
        return Bits(self.bits, self.width)[index]


def _rounded(value: float, width: int) -> float:
    try:
        return float(struct.unpack(_PACK["f", width], struct.pack(_PACK["f", width], value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def _value(other: Any) -> Any:
    return other.value if isinstance(other, Number) else other


class Bits:
    """A register: `S0.u32`, `S0[4:0]`, `D0.u64[3]`."""

    def __init__(self, value: int = 0, width: int = 64) -> None:
        self.raw, self.width = value & (1 << width) - 1, width

    def typed(self, name: str) -> Number:
        match = re.fullmatch(r"([uifb])(\d+)", name)
        if match is None:
            raise NotTranslated(name)
        kind, width = match[1].replace("b", "u"), int(match[2])
        low = self.raw & (1 << width) - 1
        if kind == "f":
            return Number("f", width, struct.unpack(_PACK["f", width], low.to_bytes(width // 8, "little"))[0])
        return Number(kind, width, low)

    def __getattr__(self, name: str) -> Number:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.typed(name)

    def __getitem__(self, index: Any) -> Any:
        high, low = index if isinstance(index, tuple) else (index, index)
        high, low = int(_value(high)), int(_value(low))
        width = high - low + 1
        piece = self.raw >> low & (1 << max(width, 0)) - 1
        return Number("u", 1, piece) if not isinstance(index, tuple) else Bits(piece, max(width, 1))

    def __bool__(self) -> bool:
        return bool(self.raw)

    def write(self, high: int, low: int, value: Any) -> None:
        mask = (1 << high - low + 1) - 1
        bits = value.bits if isinstance(value, Number) else int(value)
        self.raw = self.raw & ~(mask << low) | (bits & mask) << low


def _cast(width: int, kind: str, value: Any) -> Number:
    number = _value(value)
    if isinstance(number, float) and kind != "F":
        raise NotTranslated("cast of a float")
    return Number({"U": "u", "I": "i", "F": "f", "B": "u"}[kind], width, number)


def _sign_extended(value: Any, count: Any) -> Number:
    bits, size = value.bits, int(_value(count))
    if size == 0:
        return Number(value.kind, value.width, 0)
    low = bits & (1 << size) - 1
    return Number(value.kind, value.width, low - (1 << size) if low >> size - 1 else low)


def _differs(one: Any, other: Any) -> bool:
    """`<>`: less or greater, false for a NaN."""
    return bool(_value(one) < _value(other) or _value(one) > _value(other))


def _signed(value: Any) -> Number:
    return Number("i", 64, Number("i", value.width, value.bits).value)


def _fused(a: Any, b: Any, c: Any) -> Number:
    x, y, z = a.value, b.value, c.value
    if all(math.isfinite(number) for number in (x, y, z)):
        exact = Fraction(x) * Fraction(y) + Fraction(z)
        if exact == 0:
            raise NotTranslated("the sign of zero")
        try:
            return Number("f", a.width, _nearest(exact, a.width))
        except OverflowError as error:
            raise NotTranslated("overflow") from error
    return Number("f", a.width, x * y + z)


def _nearest(exact: Fraction, width: int) -> float:
    """The nearest number of a width: through double precision rounded to odd, for narrower ones."""
    value = float(exact)
    if width < 64 and Fraction(value) != exact:
        toward = math.nextafter(value, math.inf if exact > Fraction(value) else -math.inf)
        low, high = sorted((value, toward))
        return low if struct.unpack("<Q", struct.pack("<d", low))[0] & 1 else high
    return value


def _root(value: Any) -> Number:
    return Number(value.kind, value.width, math.sqrt(value.value) if value.value >= 0 else math.nan)


def _clamped(kind: str, width: int) -> Any:
    low, high = (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if kind == "i" else (0, 2**width - 1)

    def convert(value: Any) -> Number:
        number = value.value
        if math.isnan(number):
            return Number(kind, width, 0)
        return Number(kind, width, int(min(max(number, low), high)))

    return convert


def _to_float(width: int) -> Any:
    return lambda value: Number("f", width, value.value)


def _rounding(function: Any) -> Any:
    return lambda x: (
        x if not math.isfinite(x.value) else Number("f", x.width, math.copysign(function(x.value), x.value))
    )


_FUNCTIONS: dict[str, Any] = {
    "differs": _differs, "signext": _signed, "fma": _fused, "sqrt": _root,
    "trunc": _rounding(math.trunc), "floor": _rounding(math.floor),
    **{f"f{a}_to_{k}{b}": _clamped(k, b) for a in (16, 32, 64) for k in "iu" for b in (16, 32)},
    **{f"{k}{a}_to_f{b}": _to_float(b) for k in "iuf" for a in (16, 32, 64) for b in (16, 32, 64)},
    "cast": _cast, "Number": Number, "signext_from_bit": _sign_extended, "NotTranslated": NotTranslated,
    "isNAN": lambda x: math.isnan(_value(x)),
}  # fmt: skip

_CAST = re.compile(r"\b(\d+)'([UIFB])\(")
_LITERALS = (
    (re.compile(r"\b1'(\d)U"), r"Number('u', 1, \1)"),
    (re.compile(r"\b(0x[0-9a-fA-F]+|\d+)ULL\b"), r"Number('u', 64, \1)"),
    (re.compile(r"\b(0x[0-9a-fA-F]+|\d+)LL\b"), r"Number('i', 64, \1)"),
    (re.compile(r"\b(0x[0-9a-fA-F]+|\d+)U\b"), r"Number('u', 32, \1)"),
    (re.compile(r"\b(\d+\.\d+)F\b"), r"Number('f', 32, \1)"),
    (re.compile(r"\b(\d+)'(-?\d+\.\d+)"), r"Number('f', \1, \2)"),
)


def _expression(text: str) -> str:
    text = _CAST.sub(r"cast(\1, '\2', ", text)
    for pattern, made in _LITERALS:
        text = pattern.sub(made, text)
    if "?" in text:
        before, _, rest = text.partition("?")
        one, _, other = rest.rpartition(":")
        if "?" in rest or ("(" in before and before.count("(") != before.count(")")):
            raise NotTranslated(text)
        return f"(({_slices(one)}) if ({_slices(before)}) else ({_slices(other)}))"
    return _slices(text)


def _slices(text: str) -> str:
    text = re.sub(r"\[([^\[\]:]+?) : ([^\[\]:]+?)\]", r"[(\1, \2)]", text)
    text = text.replace("&&", " and ").replace("||", " or ")
    text = re.sub(r"(\S+) <> (\S+?)(\)|$)", r"differs(\1, \2)\3", text)
    text = re.sub(r"(?<![=!<>])!(?!=)", " not ", text)
    if re.search(r"\*\*|MEM|'", text.replace("'u'", "").replace("'i'", "").replace("'f'", "").replace(
        "'U'", "").replace("'I'", "").replace("'F'", "").replace("'B'", "")):  # fmt: skip
        raise NotTranslated(text)
    return text


def _assignment(target: str, value: str) -> str:
    target = target.strip()
    pair = re.fullmatch(r"\{ (\w+)\.u1, (\w+)\.u64 \}", target)
    if pair:
        return f"_wide = {value}; D1.write(0, 0, _wide >> 64); {pair[2]}.write(63, 0, _wide)"
    match = re.fullmatch(r"(\w+)(?:\.[uifb](\d+))?(?:\[(.+)\])?(?:\.[uifb](\d+))?", target)
    if match is None:
        raise NotTranslated(target)
    name, width, index, _ = match.groups()
    if name in ("SCC", "VCC", "D0", "D1", "EXEC"):
        if index:
            high, _, low = index.partition(" : ")
            return f"{name}.write(int({high}), int({low or high}), {value})"
        last = 63 if name in ("VCC", "EXEC") else int(width or 1) - 1
        return f"{name}.write({last}, 0, {value})"
    if index:
        raise NotTranslated(target)
    typed = re.search(r"\.([uif])(\d+)", target)
    return f"{name} = Number('{typed[1]}', {typed[2]}, {value})" if typed else f"{name} = {value}"


@cache
def translated(text: str) -> Any:
    """The compiled pseudo-code. Raises NotTranslated."""
    lines, depth = [], 0
    for raw in text.split("\n"):
        line = raw.split("//")[0].strip().rstrip(";")
        if not line or line.startswith("declare"):
            continue
        if line in ("endif", "endfor"):
            depth -= 1
        elif match := re.fullmatch(r"(if|elsif) (.+) then", line):
            depth -= match[1] == "elsif"
            lines.append("    " * depth + f"{'el' * (match[1] == 'elsif')}if {_expression(match[2])}:")
            depth += 1
        elif line == "else":
            lines.append("    " * (depth - 1) + "else:")
        elif match := re.fullmatch(r"for (\w+) in (.+?) : (.+?) do", line):
            lines.append("    " * depth + f"for {match[1]} in range({match[2]}, {match[3]} + 1):")
            depth += 1
        elif line == "break":
            lines.append("    " * depth + line)
        elif match := re.fullmatch(r"([^=]+?) ?([+\-|&])?= (?!=)(.+)", line):
            value = _expression(match[3])
            if match[2]:
                value = f"{match[1]} {match[2]} ({value})"
            lines.append("    " * depth + _assignment(match[1], value))
        else:
            raise NotTranslated(line)
    try:
        return compile("\n".join(lines), "<pseudo-code>", "exec")
    except SyntaxError as error:
        raise NotTranslated(f"{error}: {lines}") from error


def evaluate(text: str, registers: Mapping[str, int]) -> dict[str, int]:
    """The registers D0, D1, SCC, VCC and EXEC after the pseudo-code.

    Args:
        registers: S0, S1, S2, D0, SCC, VCC before it; lane 0 executes.

    Raises:
        NotTranslated: the text has a construct that is not supported.
    """
    state: dict[str, Any] = {name: Bits(value) for name, value in registers.items()}
    for name in ("S0", "S1", "S2", "D0", "D1", "VCC", "EXEC"):
        state.setdefault(name, Bits())
    state["SCC"] = Bits(registers.get("SCC", 0), 64)
    state["laneId"] = Number("u", 32, 0)
    code = translated(text)
    try:
        exec(code, dict(_FUNCTIONS), state)
    except (NameError, TypeError, AttributeError, ValueError, ZeroDivisionError) as error:
        raise NotTranslated(str(error)) from error
    return {name: state[name].raw for name in ("D0", "D1", "SCC", "VCC", "EXEC")}
