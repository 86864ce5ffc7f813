"""Variable declarations: `.global .align 16 .b8 name[3] = {48, 46};` (PTX ISA 5.4)."""

from __future__ import annotations

import re
import struct

from tooling.simulator.gpu.code_model import Float, Integer, Operand, Reference, Symbol, Variable
from tooling.simulator.nvidia.ptx.errors import UnreadableToken
from tooling.simulator.nvidia.ptx.operands import parse_operand, print_operand

TYPE_BYTES = {
    "b8": 1, "u8": 1, "s8": 1,
    "b16": 2, "u16": 2, "s16": 2, "f16": 2, "bf16": 2,
    "b32": 4, "u32": 4, "s32": 4, "f32": 4, "f16x2": 4, "bf16x2": 4,
    "b64": 8, "u64": 8, "s64": 8, "f64": 8,
    "b128": 16,
    "pred": 1,
}  # fmt: skip
"""Bytes of a PTX type in memory."""

_DECLARATION = re.compile(
    r"(?P<linkage>(?:\.(?:visible|extern|weak|common)\s+)*)\.(?P<space>global|shared|const|local|param)\s+"
    r"(?:\.align\s+(?P<align>\d+)\s+)?(?:\.attribute\([^)]*\)\s+)?(?:\.v(?P<vector>[24])\s+)?"
    r"(?:\.align\s+(?P<align2>\d+)\s+)?\.(?P<type>\w+)\s+(?P<rest>.*)$",
    re.DOTALL,
)
_NAME = re.compile(
    r"\s*(?P<name>[\w$%.]+)\s*(?P<extents>(?:\[\d*\]\s*)*)(?:=\s*(?P<initial>.*))?$", re.DOTALL
)
_VALUES = re.compile(r"[^,\s][^,]*")
"""The values of an initialiser."""


def parse_variable(text: str) -> list[Variable]:
    """The variables that one declaration (without its `;`) makes.

    Raises:
        UnreadableToken: not a declaration of PTX ISA 5.4.
    """
    found = _DECLARATION.match(text.strip())
    if found is None:
        raise UnreadableToken("a declaration that cannot be read", text)
    if found["type"] not in TYPE_BYTES:
        raise UnreadableToken(f"`.{found['type']}` is not a type of a variable", f".{found['type']}")
    element = TYPE_BYTES[found["type"]] * int(found["vector"] or 1)
    align = alignment(found["align"] or found["align2"], element)
    rest = found["rest"].strip()
    names = [rest] if "=" in rest else rest.split(",")
    return [_one(name, found, element, align) for name in names]


def alignment(written: str | None, element: int) -> int:
    """The alignment in bytes: that of an `.align`, or else the size of an element (PTX ISA 5.4.5).

    Raises:
        ValueError: not a power of two.
    """
    align = element if written is None else int(written)
    if align < 1 or align & (align - 1):
        raise ValueError(f"an alignment must be a power of two, not {align}")
    return align


def _one(text: str, declaration: re.Match[str], element: int, align: int) -> Variable:
    found = _NAME.match(text)
    if found is None:
        raise UnreadableToken(f"`{text.strip()}` is not the name of a variable", text)
    count = 1
    for extent in re.findall(r"\[(\d*)\]", found["extents"]):
        count *= int(extent or 0)
    initial, references = _initial(found["initial"], TYPE_BYTES[declaration["type"]])
    return Variable(
        name=found["name"],
        space=declaration["space"],
        size=max(element * count, len(initial)),
        align=align,
        initial=initial,
        references=references,
        external=".extern" in declaration["linkage"],
    )


def _initial(text: str | None, width: int) -> tuple[bytes, tuple[Reference, ...]]:
    """Bytes of an initialiser; named addresses are zero, and are filled in when the module is loaded."""
    if not text:
        return b"", ()
    content = bytearray()
    references: list[Reference] = []
    for written in _VALUES.findall(text.replace("{", " ").replace("}", " ")):
        element = written.strip()
        generic = "generic(" in element
        value: Operand = parse_operand(_unwrap(element), ())
        if isinstance(value, Symbol):
            references.append(Reference(len(content), value, width, generic))
            content += bytes(width)
        elif isinstance(value, Integer):
            content += (value.value & ((1 << 8 * width) - 1)).to_bytes(width, "little")
        elif isinstance(value, Float):
            content += struct.pack("<I" if value.width == 32 else "<Q", value.bits)
        else:
            raise UnreadableToken(f"`{element}` cannot initialise a variable", element)
    return bytes(content), tuple(references)


def _unwrap(text: str) -> str:
    """`generic(name)+8` to `name+8`."""
    return re.sub(r"generic\(([^)]*)\)", r"\1", text).strip()


def print_variable(variable: Variable) -> str:
    """The declaration as PTX text, without its `;`."""
    head = ".extern " if variable.external else ""
    head += f".{variable.space} .align {variable.align} "
    if variable.references:
        references = {reference.offset: reference for reference in variable.references}
        width = variable.references[0].size
        values = [
            _print_reference(references[at])
            if at in references
            else str(int.from_bytes(variable.initial[at : at + width], "little"))
            for at in range(0, len(variable.initial), width)
        ]
        return f"{head}.b{8 * width} {variable.name}[{variable.size // width}] = {{{', '.join(values)}}}"
    extent = str(variable.size) if variable.size else ""
    text = f"{head}.b8 {variable.name}[{extent}]"
    if variable.initial:
        text += f" = {{{', '.join(map(str, variable.initial))}}}"
    return text


def _print_reference(reference: Reference) -> str:
    symbol = reference.symbol
    if not reference.generic:
        return print_operand(symbol)
    return f"generic({symbol.name})" + (f"+{symbol.offset}" if symbol.offset else "")
