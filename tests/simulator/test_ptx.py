"""Parsing of PTX text to a module, and the source positions of errors."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooling.simulator.gpu.code_model import Reference
from tooling.simulator.nvidia.ptx.operands import parse_operand, print_operand
from tooling.simulator.nvidia.ptx.reader import (
    Address,
    Float,
    Instruction,
    Integer,
    Label,
    Module,
    Negated,
    Operand,
    OperandPair,
    Predicate,
    PtxError,
    Register,
    SourceLocation,
    Symbol,
    Vector,
    parse_module,
    print_module,
)

DATA = Path(__file__).parent / "data"
HEAD = ".version 8.5\n.target sm_90a\n.address_size 64\n"


def module_of(body: str, before: str = "") -> Module:
    return parse_module(f"{HEAD}{before}.visible .entry k()\n{{\n{body}\n}}\n")


def statements(module: Module) -> list[object]:
    """Every body without lines, which printing changes."""
    return [
        (s.opcode, s.modifiers, s.predicate, s.operands) if isinstance(s, Instruction) else s
        for function in (*module.functions.values(), *module.kernels.values())
        for s in function.body
    ]


OPERANDS: list[tuple[str, Operand]] = [
    ("%r1", Register("%r1")),
    ("%tid.x", Register("%tid.x")),
    ("_", Register("_")),
    ("-5", Integer(-5)),
    ("0x1F", Integer(31)),
    ("017", Integer(15)),
    ("0b101", Integer(5)),
    ("0f3F800000", Float(0x3F800000, 32)),
    ("0dBFF0000000000000", Float(0xBFF0000000000000, 64)),
    ("$L__BB0_2", Symbol("$L__BB0_2")),
    ("name+8", Symbol("name", 8)),
    ("[%rd1]", Address(Register("%rd1"))),
    ("[%rd1+-16]", Address(Register("%rd1"), -16)),
    ("[name+4]", Address(Symbol("name"), 4)),
    ("{%r1, %r2}", Vector((Register("%r1"), Register("%r2")))),
    ("%p1|%p2", OperandPair(Register("%p1"), Register("%p2"))),
    ("!%p3", Negated(Register("%p3"))),
]


@pytest.mark.parametrize(("text", "operand"), OPERANDS, ids=[text for text, _ in OPERANDS])
def test_operands(text: str, operand: Operand) -> None:
    assert parse_operand(text, ()) == operand
    assert parse_operand(print_operand(operand), ()) == operand


@given(st.integers(-(2**63), 2**64 - 1), st.integers(-(2**31), 2**31 - 1))
def test_numbers_survive_printing(value: int, offset: int) -> None:
    for operand in (Integer(value), Address(Register("%rd1"), offset), Symbol("name", offset)):
        assert parse_operand(print_operand(operand), ()) == operand


def test_instructions_have_predicate_modifiers_and_source_location() -> None:
    module = module_of(
        ".reg .pred %p<2>;\n.loc 1 7 3\n.loc 1 0 3\n@!%p1 ld.global.nc.v2.b32 {%r1, %r2}, [%rd1+8];",
        '.file 1 "a.mojo"\n',
    )
    (instruction,) = module.kernels["k"].body
    assert isinstance(instruction, Instruction)
    assert instruction.form == "ld.global.nc.v2.b32"
    assert instruction.predicate == Predicate("%p1", negated=True)
    assert instruction.source == SourceLocation("a.mojo", 7, 3)
    assert instruction.code_line == 10


def test_statements_may_share_a_line_or_span_several() -> None:
    module = module_of("add.s32 %r1, %r2,\n  %r3; L1: sub.s32 %r1, %r1, 1; // done\n/* two\nlines */ ret;")
    forms = [s.form if isinstance(s, Instruction) else s.name for s in module.kernels["k"].body if s]
    assert forms == ["add.s32", "L1", "sub.s32", "ret"]


def test_names_inside_nested_braces_do_not_clash() -> None:
    scope = "{\n.param .b32 param0;\nst.param.b32 [param0], 1;\n}\n"
    module = module_of(scope + scope)
    names = [variable.name for variable in module.kernels["k"].variables]
    assert len(set(names)) == 2
    used = [s.operands[0] for s in module.kernels["k"].body if isinstance(s, Instruction)]
    assert used == [Address(Symbol(name)) for name in names]


def test_labels_inside_nested_braces_are_their_own_wherever_the_braces_stand() -> None:
    body = (
        "mov.b64 %rd1, {%r1, %r2}; { bra L; { bra L; mov.b64 {%r1, %r2}, %rd1; L: } L: } // {\n"
        "{\nbra M; { L: bra L; }\nM: }\nL: ret;"
    )
    kernel = module_of(body).kernels["k"]
    labels = [statement.name for statement in kernel.body if isinstance(statement, Label)]
    assert len(set(labels)) == len(labels) == 5
    outer, inner, *_ = targets = [
        operand.name
        for statement in kernel.body
        if isinstance(statement, Instruction) and statement.opcode == "bra"
        for operand in statement.operands
        if isinstance(operand, Symbol)
    ]
    assert (inner, outer) == tuple(labels[:2])
    assert targets[2:] == [labels[3], labels[2]]


def test_register_banks_inside_nested_braces_are_their_own() -> None:
    module = module_of(".reg .b32 %r<2>;\n{ .reg .b32 %m<2>; mov.b32 %m1, 5; mov.b32 %r1, %m1; }")
    kernel = module.kernels["k"]
    first = kernel.body[0]
    assert isinstance(first, Instruction)
    assert isinstance(first.operands[0], Register)
    assert kernel.registers[first.operands[0].name] == "b32"


def test_a_register_of_an_inner_block_hides_that_of_the_outer_ones() -> None:
    module = module_of(
        "{ .reg .b32 t; mov.b32 t, 1; { .reg .b32 t; mov.b32 t, 2; } mov.b32 %r1, t; } mov.b32 t, 3;"
    )
    written = [s.operands[0] for s in module.kernels["k"].body if isinstance(s, Instruction)]
    names = [operand.name for operand in written[:2] if isinstance(operand, Register)]
    assert len(set(names)) == 2
    read = [s.operands[1] for s in module.kernels["k"].body if isinstance(s, Instruction)]
    assert read[2] == Register(names[0])


def test_parameters_have_the_offsets_of_the_launch() -> None:
    text = (
        f"{HEAD}.visible .entry k(.param .u32 a, .param .u64 .ptr .align 1 b,\n"
        "  .param .align 8 .b8 c[20], .param .f32 d)\n{ ret; }"
    )
    kernel = parse_module(text).kernels["k"]
    assert [(p.offset, p.size) for p in kernel.parameters] == [(0, 4), (8, 8), (16, 20), (36, 4)]
    assert kernel.parameter_bytes == 40


def test_variables_hold_their_initial_bytes() -> None:
    before = (
        ".global .align 4 .b8 text[4] = {104, 105};\n.global .align 8 .u64 pointer = text+1;\n"
        ".const .align 4 .f32 one = 0f3F800000;\n.extern .shared .align 16 .b8 dynamic[];\n"
    )
    variables = module_of("ret;", before).globals
    assert variables["text"].initial == b"hi"
    assert variables["pointer"].references == (Reference(0, Symbol("text", 1), 8),)
    assert variables["one"].initial == b"\0\0\x80\x3f"
    assert variables["dynamic"].size == 0


PRINTED = [*sorted(DATA.glob("*.ptx")), *sorted((DATA.parent / "checks" / "defects").rglob("*.ptx"))]


@pytest.mark.parametrize("path", PRINTED, ids=lambda path: path.stem)
def test_a_printed_module_parses_to_the_same(path: Path) -> None:
    module = parse_module(path.read_text())
    again = parse_module(print_module(module))
    assert statements(again) == statements(module)
    assert again.globals == module.globals
    for kernel, other in zip(module.kernels.values(), again.kernels.values(), strict=True):
        assert kernel.parameters == other.parameters
        assert kernel.registers == other.registers
        assert kernel.variables == other.variables


def test_the_mojo_file_and_labels_of_a_real_kernel() -> None:
    module = parse_module((DATA / "axis_sum.ptx").read_text())
    (kernel,) = module.kernels.values()
    assert module.files == {1: "axis_sum.mojo"}
    assert "$L__BB0_3" in [s.name for s in kernel.body if isinstance(s, Label)]
    locations = {str(s.source) for s in kernel.body if isinstance(s, Instruction) and s.opcode == "bar"}
    assert locations == {"axis_sum.mojo:20:12", "axis_sum.mojo:26:16", "axis_sum.mojo:29:16"}


FIRST = 6  # line of the first statement of a body
MANY_DIGITS = "9" * 5000


@pytest.mark.parametrize(
    ("body", "line", "column", "what", "shown"),
    [
        ("add.s32 %r1, %r2, %r3", FIRST, 1, "a statement without its `;`", "add.s32 %r1, %r2, %r3"),
        ("ADD.s32 %r1, %r2, %r3;", FIRST, 1, "a statement that cannot be read", "ADD.s32 %r1, %r2, %r3;"),
        ("mov.b32 %r1, 3x;", FIRST, 14, "`3x` is not an operand", "mov.b32 %r1, 3x;"),
        (
            "ret;\n// a comment\n\nmov.b32 %r1, 3x;",
            FIRST + 3,
            14,
            "`3x` is not an operand",
            "mov.b32 %r1, 3x;",
        ),
        ("/* two\nlines */\nmov.b32 %r1, 3x;", FIRST + 2, 14, "`3x` is not an operand", "mov.b32 %r1, 3x;"),
        ("ret;\nmov.b32\n%r1, 3x;", FIRST + 2, 6, "`3x` is not an operand", "%r1, 3x;"),
        ("ret;\n.loc one;", FIRST + 1, 1, "a `.loc` that cannot be read", ".loc one;"),
        (".reg .b33 %r1;", FIRST, 6, "`.b33` is not a type of a register", ".reg .b33 %r1;"),
        (
            ".reg .b32 %r<241048576>;",
            FIRST,
            11,
            "`%r<241048576>` declares too many registers",
            ".reg .b32 %r<241048576>;",
        ),
        (
            f".reg .b32 %r<{MANY_DIGITS}>;",
            FIRST,
            11,
            f"`%r<{MANY_DIGITS}>` declares too many registers",
            f".reg .b32 %r<{MANY_DIGITS}>;",
        ),
    ],
)
def test_what_cannot_be_read_is_reported_at_its_token(
    body: str, line: int, column: int, what: str, shown: str
) -> None:
    with pytest.raises(PtxError) as caught:
        module_of(body)
    assert (caught.value.line, caught.value.column) == (line, column)
    said, hint, *excerpt = str(caught.value).splitlines()
    assert said == f"PTX line {line}, column {column}: {what}"
    assert hint.startswith("  try: the simulated GPU never guesses")
    assert excerpt == [f"  | {shown}", f"  | {' ' * (column - 1)}^"]


def test_an_error_names_the_line_of_the_ptx_and_the_mojo_source_position() -> None:
    with pytest.raises(PtxError) as caught:
        module_of(".loc 1 7 3\nmov.b32 %r1, 3x;", '.file 1 "a.mojo"\n')
    assert (
        str(caught.value).splitlines()[0] == "PTX line 8, column 14, from a.mojo:7:3: `3x` is not an operand"
    )


@pytest.mark.parametrize(
    ("text", "line", "column", "what"),
    [
        (".version x\n", 1, 1, "`.version x` is not a `.version` directive"),
        (f"{HEAD}\n.foo\n", 5, 1, "`.foo` is not a module directive that the simulator knows"),
        (f"{HEAD}\n.global .u33 x;\n", 5, 9, "`.u33` is not a type of a variable"),
        (f"{HEAD}\n.global\n.u32 x\n", 5, 1, "this declaration has no end"),
        (f"{HEAD}.entry ()\n{{ ret; }}\n", 4, 1, "a function header that cannot be read"),
        (f"{HEAD}.entry k(.param .u33 a)\n{{ ret; }}\n", 4, 17, "`.u33` is not a type of a parameter"),
        (f"{HEAD}.entry k(.param .u32 a b)\n{{ ret; }}\n", 4, 10, "`.param .u32 a b` is not a parameter"),
        (f"{HEAD}.entry k() {{\nret;\n", 4, 1, "the function's body has no end"),
        (f"{HEAD}.entry k()\n{{\nret;\n", 5, 1, "the function's body has no end"),
    ],
)
def test_what_a_module_may_not_hold_is_reported_at_its_token(
    text: str, line: int, column: int, what: str
) -> None:
    with pytest.raises(PtxError) as caught:
        parse_module(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert str(caught.value).splitlines()[0] == f"PTX line {line}, column {column}: {what}"


@pytest.mark.parametrize(
    ("text", "column", "shown", "caret"),
    [
        ("add.s32 %r1;", 1, "  | add.s32 %r1;", "  | ^"),
        ("add.s32 %r1;", 9, "  | add.s32 %r1;", "  |         ^"),
        ("\tadd.s32 %r1;", 2, "  |  add.s32 %r1;", "  |  ^"),  # a tab takes one column, as in the count
    ],
)
def test_a_caret_shows_the_column(text: str, column: int, shown: str, caret: str) -> None:
    error = PtxError("what", line=3, column=column, text=text)
    assert str(error).splitlines() == [f"PTX line 3, column {column}: what", shown, caret]
    assert str(PtxError("what", line=3, column=column)) == f"PTX line 3, column {column}: what"
    error.speak("ko")
    assert str(error).splitlines() == [f"PTX 3번 줄 {column}번 열: what", shown, caret]


def test_a_kernel_of_fifty_thousand_instructions_is_read_whole() -> None:
    lines = [f"add.f32 %r{n % 5000}, %r{(n + 1) % 5000}, %r{n % 77};" for n in range(51_000)]
    module = module_of(".reg .b32 %r<5000>;\n" + "\n".join(lines))
    assert len(module.kernels["k"].body) == 51_000


def locations_of(table: str) -> list[str]:
    """The chain of source locations of the only instruction, innermost first."""
    files = '.file 1 "a.mojo"\n.file 2 "library.mojo"\n'
    (function,) = parse_module(f"{HEAD}{files}.entry k()\n{{\n{table}\nret;\n}}\n").kernels.values()
    (instruction,) = (item for item in function.body if isinstance(item, Instruction))
    chain, location = [], instruction.source
    while location is not None:
        chain.append(f"{location.file}:{location.line}")
        location = location.inlined_at
    return chain


CALL = ".loc 2 50 1, function_name $L0, inlined_at 1 {} 5"
INNER = ".loc 2 90 1, function_name $L0, inlined_at 2 50 1"


@pytest.mark.parametrize(
    ("table", "chain"),
    [
        (".loc 1 7 5", ["a.mojo:7"]),
        (CALL.format(7), ["library.mojo:50", "a.mojo:7"]),
        (f".loc 1 7 5\n{CALL.format(7)}\n{INNER}", ["library.mojo:90", "library.mojo:50", "a.mojo:7"]),
        (
            f"{CALL.format(7)}\n{INNER}\n{CALL.format(8)}\n{INNER}",
            ["library.mojo:90", "library.mojo:50", "a.mojo:8"],
        ),
        (f"{CALL.format(7)}\n{INNER}\n.loc 1 0 0", ["library.mojo:90", "library.mojo:50", "a.mojo:7"]),
        (INNER, ["library.mojo:90", "library.mojo:50"]),
        # LLVM numbers the lines of inline assembly from that of its statement on
        (".loc 1 7 5\n// begin inline asm\n.loc 1 9 5", ["a.mojo:7"]),
        (".loc 1 7 5\n// begin inline asm\n.loc 1 9 5\n// end inline asm\n.loc 1 8 5", ["a.mojo:8"]),
    ],
)
def test_a_location_has_the_chain_of_inlined_calls(table: str, chain: list[str]) -> None:
    assert locations_of(table) == chain


def test_a_function_inlined_into_itself_has_a_chain_of_limited_length() -> None:
    assert len(locations_of("\n".join([".loc 1 7 5, inlined_at 1 7 5"] * 5000))) < 100
