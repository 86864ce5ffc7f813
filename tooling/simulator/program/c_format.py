"""C format strings, as kernels print them; each vendor passes the arguments in another way."""

from __future__ import annotations

import re
import struct
from typing import Protocol

_CONVERSION = re.compile(rb"%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+))?(hh|h|ll|l|j|z|t|L|q)?([diouxXcsfFeEgGaAp%])")
_NARROW = {b"hh": "b", b"h": "h"}
"""`struct` format characters of signed numbers with these length modifiers."""


class Arguments(Protocol):
    """The arguments of a format string after C's default promotions, in their order."""

    def take(self, size: int) -> bytes:
        """The next number, of 4 or 8 bytes."""

    def string(self) -> bytes:
        """The next string, without its terminator."""


def _c_format(conversion: bytes, value: float | int | str) -> bytes:
    """One number formatted as in C; Python's `%` has the same rules."""
    text: str = conversion.decode() % value
    return text.encode()


def _hexadecimal(value: float) -> str:
    """A number formatted as by C's `%a`, which omits the trailing zeros that Python prints."""
    digits, power, exponent = value.hex().partition("p")
    return (digits.rstrip("0").rstrip(".") if "." in digits else digits) + power + exponent


def format_text(template: bytes, arguments: Arguments) -> bytes:
    """The text of a C format string."""

    def convert(found: re.Match[bytes]) -> bytes:
        flags, width, precision, length, kind = found.groups()
        if kind == b"%":
            return b"%"
        if width == b"*":
            width = b"%d" % struct.unpack("<i", arguments.take(4))[0]
        if precision == b"*":
            precision = b"%d" % struct.unpack("<i", arguments.take(4))[0]
        head = b"%" + flags + (width or b"") + (b"." + precision if precision is not None else b"")
        if kind == b"s":
            string: bytes = (head + b"s") % arguments.string()
            return string
        if kind == b"c":
            return bytes([struct.unpack("<i", arguments.take(4))[0] & 0xFF]).rjust(int(width or 0))
        if kind == b"p":
            return b"0x%x" % struct.unpack("<Q", arguments.take(8))[0]
        if kind in b"fFeEgGaA":
            number = struct.unpack("<d", arguments.take(8))[0]
            if kind in b"aA":
                text = _c_format(
                    b"%" + flags.replace(b"0", b"") + (width or b"") + b"s", _hexadecimal(number)
                )
                return text.upper() if kind == b"A" else text
            return _c_format(head + kind, number)
        wide = length in (b"l", b"ll", b"j", b"z", b"t", b"q")
        code = ("q" if wide else "i") if kind in b"di" else ("Q" if wide else "I")
        content = arguments.take(8 if wide else 4)
        if length in _NARROW:  # promoted to 32 bits by the call
            code = _NARROW[length] if kind in b"di" else _NARROW[length].upper()
            content = content[: struct.calcsize(code)]
        value = struct.unpack("<" + code, content)[0]
        if kind == b"u":
            kind = b"d"
        return _c_format(head + kind, value)

    return _CONVERSION.sub(convert, template)
