"""The compiler's JSON lines become messages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tooling.toolchain import BuildFailed
from tooling.toolchain.dependencies import imported_files
from tooling.toolchain.diagnostics import parse_diagnostics, render_errors, render_warnings


def record(
    kind: str,
    message: str,
    line: int = 1,
    column: int = 0,
    *,
    text: str = "",
    end: int = 0,
    file: str = "/p/p01.mojo",
) -> str:
    detail = {
        "file": file,
        "location": {"line": line, "column": column},
        "ranges": [{"start": column, "end": end}] if end else [],
        "text": text,
        "fixIts": [],
    }
    return json.dumps({"kind": kind, "message": message, "diagnostic": detail})


def test_an_error_shows_its_line_with_a_caret() -> None:
    found = parse_diagnostics(record("error", "no such thing", 7, 5, text="\tx = thing", end=10))
    assert found[0].render().splitlines() == [
        "/p/p01.mojo:7:6: error: no such thing",
        "        x = thing",
        "            ^~~~~",
    ]


SPACE = "type an ordinary space in its place; it often comes with copied text"


@pytest.mark.parametrize(
    ("letter", "named", "advice"),
    [
        ("−", "U+2212 MINUS SIGN", "write `-` in its place"),
        ("–", "U+2013 EN DASH", "write `-` in its place"),
        ("”", "U+201D RIGHT DOUBLE QUOTATION MARK", 'write `"` in its place'),
        ("＋", "U+FF0B FULLWIDTH PLUS SIGN", "write `+` in its place"),
        ("×", "U+00D7 MULTIPLICATION SIGN", "write `*` in its place"),
        ("\xa0", "U+00A0 NO-BREAK SPACE", SPACE),
        ("\u3000", "U+3000 IDEOGRAPHIC SPACE", SPACE),
        ("\u200b", "U+200B ZERO WIDTH SPACE", "delete it: it is invisible, and often comes with copied text"),
        ("é", "U+00E9 LATIN SMALL LETTER E WITH ACUTE", "delete or replace it: outside strings and comments, "
         "Mojo's code consists of ASCII characters"),
        ("$", "`$`", None),
    ],
)  # fmt: skip
def test_an_unexpected_character_is_one_error_with_its_name(
    letter: str, named: str, advice: str | None
) -> None:
    """The compiler reports each byte, and the first one again after the rest of the file."""
    columns = [8 + index for index in range(len(letter.encode()))] + [8]
    lines = [
        record("error", "unexpected character", 3, column, text=f"    x = {letter}1") for column in columns
    ]
    found = parse_diagnostics("\n".join(lines))
    assert [each.message for each in found] == [f"unexpected character {named}"]
    error = BuildFailed(Path("/p/p01.mojo"), found, "")
    assert (str(error.where), error.what) == ("/p/p01.mojo:3:9", "p01.mojo does not compile (1 error)")
    shown = render_errors(found).splitlines()
    assert shown[3:] == ([f"  try: {advice}"] if advice else [])


def test_a_caret_behind_hangul_is_at_its_expression() -> None:
    """Hangul takes three bytes, as the compiler counts columns, and two columns of a terminal."""
    text = '    print("한글", foo, 한)'
    found = parse_diagnostics(record("error", "use of unknown declaration 'foo'", 2, 20, text=text, end=23))
    assert str(found[0].location) == "/p/p01.mojo:2:17"
    assert found[0].render().splitlines()[2] == "    " + " " * 18 + "^~~"


def test_noise_is_dropped_and_unknown_lines_are_kept() -> None:
    found = parse_diagnostics(
        "Failed to initialize Crashpad.  Crash reporting will not be available.\n"
        '{"kind":"error","message":"failed to parse the provided Mojo source module"}\n'
        "mojo: error: unable to find suitable c compiler for linking\n"
        "something else\n" + record("error", "failed to run the pass manager for offload functions")
    )
    assert [(each.kind, each.message) for each in found] == [
        ("error", "mojo: unable to find suitable c compiler for linking"),
        ("note", "something else"),
    ]


def test_a_summary_is_shown_if_the_compiler_reports_no_other_error() -> None:
    found = parse_diagnostics(
        record("warning", "left hand side expression of 'if False' is dead", 31)
        + '\n{"kind":"error","message":"failed to run the pass manager"}'
    )
    error = BuildFailed(Path("/p/p01.mojo"), found, "")
    assert error.what == "p01.mojo does not compile (1 error)"
    error.speak("ko")
    assert error.what == "p01.mojo 컴파일에 실패했습니다(오류 1개)"
    error.speak("en")
    assert error.details.startswith("error: failed to run the pass manager\n  try: the compiler reported")


def test_a_failed_build_is_located_at_the_first_specific_error() -> None:
    found = parse_diagnostics(
        record("error", "failed to run the pass manager for offload functions")
        + "\n"
        + record("error", "function instantiation failed", 31, 4)
    )
    error = BuildFailed(Path("/p/p01.mojo"), found, "")
    assert str(error.where) == "/p/p01.mojo:31:5"
    assert error.what == "p01.mojo does not compile (1 error)"


def test_a_hint_is_given_once() -> None:
    text = "\n".join(record("error", "'fn' has been removed; use 'def' instead", line) for line in (1, 9))
    assert render_errors(parse_diagnostics(text)).count("write `def` instead of `fn`") == 1


def test_many_errors_are_counted() -> None:
    text = "\n".join(record("error", f"wrong {line}", line) for line in range(1, 12))
    rendered = render_errors(parse_diagnostics(text))
    assert "wrong 8" in rendered
    assert "wrong 9" not in rendered
    assert rendered.endswith("... and 3 more errors")
    assert render_errors(parse_diagnostics(text), language="ko").endswith("... 그 밖에 오류 3개")


def test_a_missing_colon_has_a_hint() -> None:
    def message_of(text: str) -> str:
        return render_errors(
            parse_diagnostics(record("error", "expected ':' after 'if' condition", text=text))
        )

    assert message_of("    if i < Int(size)").endswith("try: end this line with a colon: `if i < Int(size):`")
    assert "colon" not in message_of("    var table = {1}")


@pytest.mark.parametrize(
    ("message", "line", "advice"),
    [
        ("expected ':' after 'if' condition", "    if i = 0:", "compare with `==`; `=` assigns a value"),
        (
            "expected '(' after 'comptime'",  # the line before ended with `+`
            "comptime GUARD_SIZE = SIZE",
            "the code above this line is not complete: look for an operator or an open parenthesis at its "
            "end",
        ),
        (
            "expression must be mutable in assignment",
            "    a[unsafe_offset=i] = 10",
            "a kernel cannot change its inputs: assign to its output",
        ),
        (
            "use of unknown declaration 'out'",
            "    out[unsafe_offset=i] = 10",
            "in the kernel the buffer has the name of the parameter, such as `output`",
        ),
        ("use of unknown declaration 'int'", "    int x = 10;", "declare it with `var`: `var x = 10`"),
        ("use of unknown declaration 'int'", "    x = int(y)", "write `Int(x)`"),
    ],
)
def test_mistakes_of_beginners_have_hints(message: str, line: str, advice: str) -> None:
    assert render_errors(parse_diagnostics(record("error", message, text=line))).endswith(f"try: {advice}")


def unknown(name: str) -> str:
    return f"use of unknown declaration '{name}'"


@pytest.mark.parametrize(
    ("message", "line", "advice"),
    [
        # The messages are those of Mojo 1.2 on these lines.
        ("expected ':' after 'if' condition", "    if (i < Int(size)) {", "Mojo has no braces"),
        (
            "expected ')' in parenthesized expression",
            "    for (int k = 0; k < 4; k++):",
            "`for k in range(4):`",
        ),
        ("expected ')' in call argument list", '    print(f"i = {i}")', 'Mojo has no `f"…"`'),
        (
            "expression must be mutable for in-place operator destination",
            "    a[unsafe_offset=i] += 10",
            "a kernel cannot change its inputs",
        ),
        (
            "'raise' requires a surrounding 'try' block or the enclosing function to declare 'raises'",
            '        raise Error("no")',
            "a kernel cannot raise: return early instead",
        ),
        (unknown("threadIdx"), "    var t = threadIdx.x", "are `thread_idx`, `block_idx`"),
        (unknown("blockDim"), "    var t = blockDim.x", "are `thread_idx`, `block_idx`"),
        (unknown("__syncthreads"), "    __syncthreads()", "is `barrier()`"),
        (unknown("__shared__"), "    __shared__ float shared[8]", "`unsafe_stack_allocation["),
        (unknown("atomicAdd"), "    atomicAdd(output, 10)", "is `Atomic.fetch_add`"),
        (
            "expressions must not appear at file scope; move this into a function body",
            "__global__ void add_10_guard(",
            "a kernel is an ordinary function",
        ),
        (unknown("printf"), '    printf("%d", i)', '`print("i =", i)`'),
        (unknown("true"), "    var f = true", "`True` and `False`"),
        ("unexpected character `?`", "    var v = i < 4 ? 1 : 0", "`a if condition else b`"),
        ("unexpected character `!`", "    if !(i < Int(size)):", "`not` instead of `!`"),
        (
            "body must not be empty; use 'pass' or check that the lines below are indented",
            "    if i < Int(size):",
            "indent the lines that belong to it",
        ),
        (
            "indentation must not mix tabs and spaces; select one style",
            "\tif i < Int(size):",
            "indent with spaces alone",
        ),
        ("statements must start at the beginning of a line", "    var f = 1.0f", "leave out the `f`"),
        (
            "cannot implicitly convert 'IntLiteral[1]' value to 'None' in return value",
            "    return 1",
            "a kernel has no result",
        ),
        ("unexpected token in expression", "    // guard", "a comment begins with `#`"),
        ("expected ':' after else", "    else if i < 3:", "write `elif`"),
        (unknown("barrier"), "    barrier()", "`from max.gpu import barrier`"),
        (unknown("block_dim"), "    var b = block_dim.x", "`from max.gpu import block_dim`"),
        (unknown("TileTensor"), "    var b = TileTensor(a)", "`from layout import TileTensor`"),
        (unknown("sqrt"), "    var m = sqrt(x)", "`from std.math import sqrt`"),
    ],
)
def test_spellings_of_other_languages_have_hints(message: str, line: str, advice: str) -> None:
    _, try_, hint = render_errors(parse_diagnostics(record("error", message, text=line))).rpartition("try: ")
    assert try_
    assert advice in hint


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("expected ')' in call argument list", '    print("f" i)'),
        ("unexpected token in expression", "    var m = std::min(i, 3)"),
        ("statements must start at the beginning of a line", "    var m = output->x"),
        (unknown("j"), "    a[unsafe_offset=j]"),
        ("cannot implicitly convert 'Int' value to 'Bool' in argument", "    f(1)"),
    ],
)
def test_other_errors_have_no_hint_for_another_language(message: str, line: str) -> None:
    assert "try:" not in render_errors(parse_diagnostics(record("error", message, text=line)))


@pytest.mark.parametrize(("before", "hinted"), [("i++", True), ("i--;  # down", True), ("i += 1", False)])
def test_an_increment_in_the_line_above_has_the_hint(tmp_path: Path, before: str, hinted: bool) -> None:
    source = tmp_path / "p03.mojo"
    source.write_text(f"def kernel():\n    var i = 0\n    {before}\n\n    # a comment\n    if i < 4:\n")
    text = record("error", "unexpected token in expression", 6, 4, text="    if i < 4:", file=str(source))
    assert ("in the line above; Mojo has no `++`" in render_errors(parse_diagnostics(text))) is hinted


def test_a_comparison_as_a_statement_has_a_hint() -> None:
    found = parse_diagnostics(
        record("warning", "'Bool' value is unused; assign to '_' to discard the result", text="    a[0] == 1")
    )
    assert render_warnings(found).endswith("try: assign with `=`; `==` compares two values")


def test_a_declaration_in_the_library_is_shown_only_without_a_hint() -> None:
    note = record("note", "function declared here", text="def __lt__(self, rhs: Self) -> Bool")
    refused = "value passed to 'rhs' cannot be converted from '{}' to 'Int'"
    for kind, shown in (("Int32", False), ("StringLiteral", True)):
        text = render_errors(parse_diagnostics(record("error", refused.format(kind)) + "\n" + note))
        assert ("function declared here" in text) is shown


def test_unused_names_of_unfinished_work_are_not_mentioned() -> None:
    found = parse_diagnostics(record("warning", "assignment to 'i' was never used; assign to '_' instead?"))
    assert "never used" in render_warnings(found)
    assert render_warnings(found, unfinished=True) == ""


def test_imports_are_followed_by_name(tmp_path: Path) -> None:
    lab = tmp_path / "problems" / "lab"
    lab.mkdir(parents=True)
    (lab / "__init__.mojo").write_text("from .channel import stage\nimport other\n")
    (lab / "channel.mojo").write_text("")
    (lab.parent / "other.mojo").write_text("")
    (lab.parent / "unrelated.mojo").write_text("")
    source = tmp_path / "solutions" / "p01.mojo"
    source.parent.mkdir()
    (source.parent / "near.mojo").write_text("")
    text = b"from lab import stage\nimport std, near\nfrom max.gpu import barrier\n"
    found = imported_files(source, text, (lab.parent,))
    assert [path.name for path in found] == ["__init__.mojo", "channel.mojo", "other.mojo", "near.mojo"]
