"""The types of the values that memory instructions move, from the instructions that compute with them.

A load or store may say no more than `b32`. The arithmetic on its register says whether the bits are a number
with a floating point (`div.full.f32`) or an integer (`add.s32`); PTX ISA, 5.2.1 and 9.7.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from tooling.simulator.gpu.code_model import (
    Float,
    Function,
    Instruction,
    Operand,
    OperandPair,
    Register,
    Vector,
)

_FORMATS = {
    "f64": "f64", "f32": "f32", "f16": "f16", "bf16": "bf16",
    "s64": "i64", "u64": "i64", "s32": "i32", "u32": "i32",
    "s16": "i16", "u16": "i16", "s8": "i8", "u8": "i8",
}  # fmt: skip
_MOVES = frozenset({"mov", "selp", "shfl"})
"""Their result has the type of their first source; `selp` has a second one."""
_MEMORY = frozenset({"ld", "ldu", "st", "atom", "red"})
_SAME = frozenset({
    "abs", "add", "cos", "copysign", "div", "ex2", "fma", "lg2", "mad", "max", "min", "mul", "neg", "rcp",
    "rem", "rsqrt", "sin", "sqrt", "sub", "tanh",
})  # fmt: skip
"""Arithmetic on operands of one type, with a result of that type."""


def stated_formats(functions: Iterable[Function]) -> dict[int, str]:
    """The formats of cells that memory instructions access, by line of the code; only where one is stated."""
    return {line: form for function in functions for line, form in _of_function(function)}


def _of_function(function: Function) -> Iterator[tuple[int, str]]:
    instructions = [each for each in function.body if isinstance(each, Instruction)]
    same = _Classes()
    for each in instructions:
        if each.opcode in _MOVES:
            sources = each.operands[1 : 3 if each.opcode == "selp" else 2]
            same.join([name for operand in (*each.operands[:1], *sources) for name in _names(operand)])
    stated: defaultdict[str, set[str]] = defaultdict(set)
    for each in instructions:
        for operand, form in _statements(each):
            for name in _names(operand):
                stated[same.of(name)].add(form)
    for each in instructions:
        if each.opcode in _MEMORY:
            yield from _of_access(each, same, stated)


def _of_access(
    each: Instruction, same: _Classes, stated: Mapping[str, set[str]]
) -> Iterator[tuple[int, str]]:
    found: set[str] = set()
    for operand in each.operands:
        for one in operand.elements if isinstance(operand, Vector) else (operand,):
            if isinstance(one, Float):
                found.add(f"f{one.width}")
            for name in _names(one):
                found |= stated.get(same.of(name), set())
    if len(found) == 1:
        yield each.code_line, found.pop()


def _statements(each: Instruction) -> Iterator[tuple[Operand, str]]:
    """The operands of an instruction whose format it states."""
    if each.opcode in _MOVES:
        yield from ((each.operands[0], f"f{one.width}") for one in each.operands if isinstance(one, Float))
        return
    forms = [_FORMATS[word] for word in each.modifiers if word in _FORMATS]
    if not forms:
        return
    if each.opcode == "cvt" and len(forms) == 2:
        yield from zip(each.operands, forms, strict=False)
    elif each.opcode == "setp" or (each.opcode == "mul" and "wide" in each.modifiers):
        yield from ((operand, forms[-1]) for operand in each.operands[1:3])
    elif each.opcode in _SAME and "wide" not in each.modifiers and len(forms) == 1:
        yield from ((operand, forms[0]) for operand in each.operands)
    elif each.opcode in _MEMORY:
        yield from ((operand, forms[-1]) for operand in each.operands)


def _names(operand: Operand) -> Iterator[str]:
    """The registers that hold a value of the operand; those of an address hold none."""
    if isinstance(operand, Register):
        yield operand.name
    elif isinstance(operand, OperandPair):
        yield from _names(operand.first)
    elif isinstance(operand, Vector):
        for element in operand.elements:
            yield from _names(element)


class _Classes:
    """Sets of registers that hold the same kind of value."""

    def __init__(self) -> None:
        self._of: dict[str, str] = {}

    def of(self, name: str) -> str:
        """The name that stands for the set of a register."""
        while (upper := self._of.get(name, name)) != name:
            name = upper
        return name

    def join(self, names: Iterable[str]) -> None:
        """Make one set of the sets of these registers."""
        roots = list(dict.fromkeys(map(self.of, names)))
        self._of.update(dict.fromkeys(roots[1:], roots[0]) if roots else {})
