"""Operands of PTX instructions: text to value and back (PTX ISA 6, 4.4 for constants)."""

from __future__ import annotations

import re
from collections.abc import Container

from tooling.simulator.gpu.code_model import (
    Address,
    Arguments,
    Float,
    Integer,
    Negated,
    Operand,
    OperandPair,
    Register,
    Symbol,
    Vector,
)
from tooling.simulator.nvidia.ptx.errors import UnreadableToken

PIECES = re.compile(r"\{[^{}]*\}|\[[^\[\]]*\]|\([^()]*\)|[^,\s][^,]*")
"""One operand of an instruction: a vector, an address, an argument list, or text up to a comma."""

_INTEGER = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)U?$")
_FLOAT = re.compile(r"0[fF]([0-9a-fA-F]{8})$|0[dD]([0-9a-fA-F]{16})$")
_NAME = re.compile(r"[A-Za-z_$%][\w$.]*$")
_SUM = re.compile(r"(.+?)\s*([+-])\s*(-?(?:0[xX][0-9a-fA-F]+|\d+))$")


def integer(text: str) -> int:
    """The value of a PTX integer constant: decimal, hexadecimal, octal (leading 0) or binary.

    Raises:
        UnreadableToken: an octal constant with the digit 8 or 9, or a constant with thousands of digits.
    """
    constant = text.rstrip("U")
    sign = -1 if constant.startswith("-") else 1
    digits = constant.lstrip("-")
    octal = len(digits) > 1 and digits[0] == "0" and digits.isdigit()
    try:
        return sign * int(digits, 8 if octal else 0)
    except ValueError:
        raise UnreadableToken(f"`{text}` is not an integer constant", text) from None


def parse_operand(text: str, registers: Container[str]) -> Operand:
    """The operand written as `text`.

    Args:
        registers: names declared by `.reg` in the function; other names are symbols.

    Raises:
        UnreadableToken: not an operand of PTX ISA 6.
    """
    text = text.strip()
    first = text[:1]
    if first in "[{(":
        inside = text[1:-1].strip()
        if first == "[":
            return _address(inside, registers)
        elements = tuple(parse_operand(piece, registers) for piece in PIECES.findall(inside))
        return Vector(elements) if first == "{" else Arguments(elements)
    if first == "!":
        return Negated(Register(text[1:].strip()))
    if "|" in text:
        left, right = text.split("|", 1)
        return OperandPair(parse_operand(left, registers), parse_operand(right, registers))
    return _atom(text, registers)


def _atom(text: str, registers: Container[str]) -> Operand:
    if text.startswith("%") or text in registers or text == "_":
        return Register(text)
    if _INTEGER.match(text):
        return Integer(integer(text))
    number = _FLOAT.match(text)
    if number:
        return Float(int(number[1] or number[2], 16), 32 if number[1] else 64)
    total = _SUM.match(text)
    if total and _NAME.match(total[1]):
        return Symbol(total[1], _signed(total))
    if _NAME.match(text):
        return Symbol(text)
    raise UnreadableToken(f"`{text}` is not an operand", text)


def _signed(total: re.Match[str]) -> int:
    value = integer(total[3])
    return value if total[2] == "+" else -value


def _address(text: str, registers: Container[str]) -> Address:
    if text.endswith("}"):
        start, _, coordinates = text[:-1].partition("{")
        inner = _address(start.strip().removesuffix(",").strip(), registers)
        listed = tuple(parse_operand(piece, registers) for piece in PIECES.findall(coordinates))
        return Address(inner.base, inner.offset, listed)
    total = _SUM.match(text)
    base_text, offset = (total[1], _signed(total)) if total else (text, 0)
    base = _atom(base_text.strip(), registers)
    if isinstance(base, Register | Symbol | Integer):
        return Address(base, offset)
    raise UnreadableToken(f"`[{text}]` is not an address", text)


def print_operand(operand: Operand) -> str:
    """The operand as PTX text."""
    match operand:
        case Register(name):
            return name
        case Integer(value):
            return str(value)
        case Float(bits, width):
            return f"0f{bits:08X}" if width == 32 else f"0d{bits:016X}"
        case Symbol(name, offset):
            return f"{name}+{offset}" if offset else name
        case Address(base, offset, coordinates):
            inside = f"{print_operand(base)}+{offset}" if offset else print_operand(base)
            if coordinates:
                inside += ", {" + ", ".join(map(print_operand, coordinates)) + "}"
            return f"[{inside}]"
        case Vector(elements):
            return "{" + ", ".join(map(print_operand, elements)) + "}"
        case OperandPair(first, second):
            return f"{print_operand(first)}|{print_operand(second)}"
        case Negated(inner):
            return f"!{inner.name}"
        case Arguments(elements):
            return "(" + ", ".join(map(print_operand, elements)) + ")"
