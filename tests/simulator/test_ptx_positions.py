"""Errors about PTX name the exact line and column, and show a caret under the token."""

from __future__ import annotations

import pytest

from tests.simulator.test_ptx import HEAD
from tooling.simulator.nvidia.backend.lower import decode
from tooling.simulator.nvidia.ptx.reader import PtxError, parse_module

REGISTERS = ".reg .b32 %r<4>; .reg .b64 %d<4>; .reg .pred %p;"


def error_of(text: str) -> PtxError:
    """The error of a module that cannot be read or decoded."""
    with pytest.raises(PtxError) as caught:
        module = parse_module(text)
        for kernel in module.kernels.values():
            decode(module, kernel)
    return caught.value


def entry(body: str) -> str:
    """A kernel whose body begins in line 7."""
    return f"{HEAD}.visible .entry k()\n{{\n{REGISTERS}\n{body}\nret;\n}}\n"


@pytest.mark.parametrize(
    ("body", "what", "marked"),
    [
        ("\tADD.s32 %r1, %r2, %r3;", "a statement that cannot be read", (7, 2)),
        ("  mov.b32 %r1, 3x;", "`3x` is not an operand", (7, 16)),
        ("  mov.b32 %r1, 08;", "`08` is not an integer constant", (7, 16)),
        ("  ld.b32 %r1, [3x+4]; // [3x+4]", "`3x` is not an operand", (7, 16)),
        ("  mov.b32 %r1, %r2; mov.b32 %r1, 3x;", "`3x` is not an operand", (7, 34)),
        ("  { mov.b32 %r1, 3x; }", "`3x` is not an operand", (7, 18)),
        ("  /* 3x\n 3x */ mov.b32 %r1, 3x;", "`3x` is not an operand", (8, 21)),
        ("  mov.b32\n    %r1, // 3x\n    3x;", "`3x` is not an operand", (9, 5)),
        ("LABEL: mov.b32 %r1, 3x;", "`3x` is not an operand", (7, 21)),
        ("  .reg .b33 %q;", "`.b33` is not a type of a register", (7, 8)),
        ("  .reg .b32 %q, -;", "`-` is not the name of a register", (7, 17)),
        ("  .shared .b33 own[4];", "`.b33` is not a type of a variable", (7, 11)),
        ("  .loc 1 2", "a `.loc` that cannot be read", (7, 3)),
        ("  ld.wrong.b32 %r1, [%d1];", "cannot execute `ld.wrong.b32`", (7, 3)),
        ("  ret; frobnicate.b32 %r1, %r2;", "cannot execute `frobnicate.b32`", (7, 8)),
        ("  @%p frobnicate.b32 %r1, %r2;", "cannot execute `frobnicate.b32`", (7, 7)),
        ("  frobnicate.b32\n    %r1, %r2;", "cannot execute `frobnicate.b32`", (7, 3)),
        ("  add.s32 %r1, %r2, %x9;", "unknown register `%x9`", (7, 21)),
        ("  @%q add.s32 %r1, %r2, %r3;", "unknown register `%q`", (7, 4)),
        ("  bra NOWHERE;", "cannot execute `bra`", (7, 7)),
        ("  mov.b32 %r1, nowhere;", "cannot execute `mov.b32`", (7, 16)),
        ("  add.s32 7, %r2, %r3;", "cannot execute `add.s32`", (7, 11)),
        ("  activemask.b32 %d1;", "cannot execute `activemask.b32`", (7, 18)),
    ],
)
def test_the_caret_is_under_the_token(body: str, what: str, marked: tuple[int, int]) -> None:
    text = entry(body)
    error = error_of(text)
    line, column = marked
    assert (error.what, error.line, error.column) == (
        f"PTX line {line}, column {column}: {what}",
        line,
        column,
    )
    assert error.text.endswith(text.split("\n")[line - 1].split("*/")[-1])


@pytest.mark.parametrize(
    ("declaration", "what", "column"),
    [
        ("  .wrong directive", "`.wrong` is not a module directive that the simulator knows", 3),
        (".global .b33 own[4];", "`.b33` is not a type of a variable", 9),
        (".global .b32 own[2] = {1, [3]};", "`[3]` cannot initialise a variable", 27),
        (".visible .entry k(.param .b33 a) { ret; }", "`.b33` is not a type of a parameter", 26),
        (".visible .entry k(.param .u64 a, .wrong b) { ret; }", "`.wrong b` is not a parameter", 34),
        (".global .b32 a; .global .b33 b;", "`.b33` is not a type of a variable", 25),
    ],
)
def test_the_caret_of_a_declaration(declaration: str, what: str, column: int) -> None:
    error = error_of(HEAD + declaration + "\n")
    assert error.what == f"PTX line 4, column {column}: {what}"
    assert (error.line, error.column, error.text) == (4, column, declaration)


def test_an_unknown_instruction_is_shown_with_a_caret() -> None:
    shown = str(error_of(entry("\t@!%p frobnicate.b32 \t%r1, %r2;"))).split("\n")
    assert shown[0] == "PTX line 7, column 7: cannot execute `frobnicate.b32`"
    assert shown[-2:] == ["  |  @!%p frobnicate.b32  %r1, %r2;", "  |       ^"]
