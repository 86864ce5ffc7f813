"""Every case of mdBook's include grammar: our expansion equals the binary's, byte for byte."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tooling.mdbook.expansion import Fault, expand
from tooling.mdbook.files import Files

CODE = """fn zero() {}
// ANCHOR: a
let first = 1;
// ANCHOR: inner
let second = 2;
// ANCHOR_END: inner
let third = 3;
// ANCHOR_END: a
between
// ANCHOR: twice
one
// ANCHOR_END: twice
gap
// ANCHOR: twice
two
// ANCHOR_END: twice
// ANCHOR: 합계
한글
// ANCHOR_END: 합계
MY_ANCHOR: mine
my line
MY_ANCHOR_END: mine
ANCHOR:x.y
dotted
ANCHOR_END:x.y
ANCHOR: 5
numbered
ANCHOR_END: 5
// ANCHOR: left
l
// ANCHOR: right
lr
// ANCHOR_END: left
r
// ANCHOR_END: right
// ANCHOR: open
to the end
"""

FILES: dict[str, str | bytes] = {
    "code.rs": CODE,
    "crlf.rs": b"a\r\nb\r\n// ANCHOR: c\r\nc\r\n// ANCHOR_END: c\r\nd\re\r\n\r",
    "latin1.rs": b"caf\xe9\n",
    "hollow.rs": "// ANCHOR: a\n\n// ANCHOR_END: a\nfn f() {}\n",
    "empty.rs": "",
    "no_newline.rs": "x",
    "blank_end.rs": "x\n\n",
    "bom.rs": b"\xef\xbb\xbfbom\n",
    "cycle.md": "c{{#include cycle.md}}d",
    "cycle_a.md": "A {{#include cycle_b.md}}",
    "cycle_b.md": "B {{#include cycle_a.md}} \\{{#include x}}",
    "folder/nested.md": "n {{#include beside.md}} n",
    "folder/beside.md": "beside",
    "beside.md": "wrong beside",
    "titled.md": "{{#title From inside}}x",
    "broken.md": "{{#include nowhere.md}}",
    "with space.md": "spaced",
    "weird.rs": (
        "ANCHOR: ANCHOR: q\nq1\nANCHOR_END: q\n"
        "ANCHOR: : ANCHOR: z\nz1\nANCHOR_END: ANCHOR\nz2\nANCHOR_END: z\n"
    ),
    "words.rs": (
        "ANCHOR: é①\nenclosed\nANCHOR_END: é\nANCHOR: Ⓐb\ncircled\nANCHOR_END: Ⓐb\nANCHOR: a\u0301\nmark\n"
    ),
    "spaces.rs": "ANCHOR:\u3000wide\nwide line\nANCHOR_END:\x1cwide\nstill\nANCHOR_END:\u2003wide\nout\n",
    "escape.md": "\\{{#include beside.md}}",
}


@dataclass(frozen=True, slots=True)
class Case:
    page: str
    faults: tuple[Fault, ...] = ()


def fine(page: str) -> Case:
    return Case(page)


CASES = {
    # what is expanded
    "whole file": fine("{{#include code.rs}}"),
    "anchor": fine("{{#include code.rs:inner}}"),
    "nested anchors lose their marks": fine("{{#include code.rs:a}}"),
    "overlapping, first": fine("{{#include code.rs:left}}"),
    "overlapping, second": fine("{{#include code.rs:right}}"),
    "Hangul anchor": fine("{{#include code.rs:합계}}"),
    "search is not anchored": fine("{{#include code.rs:mine}}"),
    "name ends at a dot": fine("{{#include code.rs:x}}"),
    "anchor, extra piece": fine("{{#include code.rs:inner:more}}"),
    "spaces and words after the path": fine("{{  #include  code.rs:1  more words }}"),
    "over several lines": fine("{{\n#include\n  code.rs:1\n}}"),
    "wide space": fine("{{#include\u3000code.rs:1\u3000x}}"),
    "in inline code": fine("`{{#include beside.md}}`"),
    "in a fence": fine("```rust\n{{#include code.rs:inner}}\n```"),
    "in a comment": fine("<!-- {{#include beside.md}} -->"),
    "indented": fine("- item\n    {{#include code.rs:1:3}}\n"),
    "in a quotation": fine("> {{#include code.rs:1:3}}\n"),
    "two on a line": fine("{{#include beside.md}}{{#include beside.md}}"),
    "nested, own folder": fine("{{#include folder/nested.md}}"),
    "parent folder": fine("{{#include folder/../beside.md}}"),
    "CRLF": fine("{{#include crlf.rs}}|"),
    "CRLF anchor": fine("{{#include crlf.rs:c}}|"),
    "CRLF range": fine("{{#include crlf.rs:4:}}|"),
    "no final newline": fine("{{#include no_newline.rs}}|"),
    "blank last line": fine("{{#include blank_end.rs}}|"),
    "empty file": fine("[{{#include empty.rs}}]"),
    "byte order mark": fine("{{#include bom.rs}}"),
    "closing brace in a line": fine("{{#include code.rs:1}}}"),
    "extra brace before": fine("{{{#include beside.md}}}"),
    "title": fine("{{#title  My title }}# x"),
    "two titles": fine("{{#title one}}{{#title two}}"),
    "title inside": fine("{{#include titled.md}}"),
    "playground": fine("{{#playground code.rs}}"),
    "playground with attributes": fine("{{#playground no_newline.rs editable no_run}}"),
    "playground, nested": fine("{{#playground folder/nested.md}}"),
    "rustdoc anchor": fine("{{#rustdoc_include code.rs:inner}}"),
    "rustdoc nested": fine("{{#rustdoc_include code.rs:a}}"),
    "rustdoc range": fine("{{#rustdoc_include code.rs:2:3}}"),
    "rustdoc whole": fine("{{#rustdoc_include code.rs}}"),
    "rustdoc empty range": Case("{{#rustdoc_include code.rs:5:3}}", (Fault.EMPTY_RANGE,)),
    "rustdoc nothing": fine("[{{#rustdoc_include empty.rs}}]"),
    "quoted path is not special": Case('{{#include "with space.md"}}', (Fault.MISSING_FILE,)),
    # lines
    "one line": fine("{{#include code.rs:3}}"),
    "from": fine("{{#include code.rs:12:}}"),
    "to": fine("{{#include code.rs::2}}"),
    "from to": fine("{{#include code.rs:2:4}}"),
    "both open": fine("{{#include code.rs::}}"),
    "trailing colon": fine("{{#include code.rs:}}"),
    "line zero": fine("{{#include code.rs:0}}"),
    "zero to zero": Case("[{{#include code.rs:0:0}}]", (Fault.EMPTY_RANGE,)),
    "plus sign": fine("{{#include code.rs:+1}}"),
    "leading zeros": fine("{{#include code.rs:0003}}"),
    "junk end": fine("{{#include code.rs:12:junk}}"),
    "empty start, junk end": fine("{{#include code.rs::junk}}"),
    "third piece": fine("{{#include code.rs:1:2:junk}}"),
    "a number is never an anchor": fine("{{#include code.rs:5}}"),
    "region without text": Case("[{{#include hollow.rs:a}}]", (Fault.EMPTY_RANGE,)),
    "rustdoc region without text": fine("[{{#rustdoc_include hollow.rs:a}}]"),
    "backwards": Case("[{{#include code.rs:5:3}}]", (Fault.EMPTY_RANGE,)),
    "past the end": Case("[{{#include code.rs:999}}]", (Fault.EMPTY_RANGE,)),
    "end past the end": fine("{{#include code.rs:30:999}}"),
    "negative is an anchor": Case("[{{#include code.rs:-1}}]", (Fault.MISSING_ANCHOR,)),
    "too big is an anchor": Case("[{{#include code.rs:18446744073709551616}}]", (Fault.MISSING_ANCHOR,)),
    "biggest number": Case("[{{#include code.rs:18446744073709551615}}]", (Fault.EMPTY_RANGE,)),
    "other digits are an anchor": Case("[{{#include code.rs:٣}}]", (Fault.MISSING_ANCHOR,)),
    # words
    "combining mark": Case("{{#include words.rs:a\u0301}}", (Fault.UNCLOSED_ANCHOR,)),
    "circled letter": fine("{{#include words.rs:Ⓐb}}"),
    "enclosed digit ends a name": fine("{{#include words.rs:é}}"),
    "wide space before a name": fine("{{#include spaces.rs:wide}}"),
    "mark as a name": fine("{{#include weird.rs:ANCHOR}}"),
    "second mark of a line": fine("{{#include weird.rs:z}}"),
    "name after a name is not seen": Case("[{{#include weird.rs:q}}]", (Fault.MISSING_ANCHOR,)),
    # faults
    "missing file": Case("a {{#include gone.rs}} b {{#include beside.md}}", (Fault.MISSING_FILE,)),
    "folder": Case("{{#include folder}}", (Fault.MISSING_FILE,)),
    "no path": Case("{{#include :a}}", (Fault.MISSING_FILE,)),
    "not UTF-8": Case("{{#include latin1.rs}}", (Fault.NOT_TEXT,)),
    "missing file, rustdoc": Case("{{#rustdoc_include gone.rs:a}}", (Fault.MISSING_FILE,)),
    "missing file, playground": Case("{{#playground gone.rs x}}", (Fault.MISSING_FILE,)),
    "missing file inside": Case("{{#include broken.md}}", (Fault.MISSING_FILE,)),
    "folder that is not there": Case("{{#include missing/../beside.md}}", (Fault.MISSING_FILE,)),
    "path with a space": Case("{{#include with space.md}}", (Fault.MISSING_FILE,)),
    "missing anchor": Case("[{{#include code.rs:gone}}]", (Fault.MISSING_ANCHOR,)),
    "missing anchor, rustdoc": Case("{{#rustdoc_include code.rs:gone}}", (Fault.MISSING_ANCHOR,)),
    "dotted anchor": Case("[{{#include code.rs:x.y}}]", (Fault.MISSING_ANCHOR,)),
    "unclosed anchor": Case("{{#include code.rs:open}}", (Fault.UNCLOSED_ANCHOR,)),
    "unclosed anchor, rustdoc": Case("{{#rustdoc_include code.rs:open}}", (Fault.UNCLOSED_ANCHOR,)),
    "same anchor twice": Case("{{#include code.rs:twice}}", (Fault.DUPLICATED_ANCHOR,)),
    "same anchor twice, rustdoc": Case("{{#rustdoc_include code.rs:twice}}"),
    "cycle": Case("{{#include cycle.md}}", (Fault.DEPTH,)),
    "cycle of two, with an escape": Case("{{#include cycle_a.md}}", (Fault.DEPTH,)),
    # what stays as text
    "escape": fine(r"\{{#include beside.md}}"),
    "escape is greedy": fine(r"\{{#include beside.md}} … {{#include beside.md}}"),
    "escape comes second": fine(r"{{#include beside.md}} … \{{#include beside.md}}"),
    "escape ends with its line": fine("\\{{#include beside.md}}\n{{#include beside.md}}"),
    "escaped by a backslash of its own": fine(r"\\{{#include beside.md}}"),
    "escape inside an included file": fine("{{#include escape.md}}"),
    "escape without an end": fine("\\{{#include beside.md\n}}"),
    "space after #": Case("{{# include beside.md}}", (Fault.MISSPELT,)),
    "capital": Case("{{#Include beside.md}}", (Fault.MISSPELT,)),
    "swapped letters": Case("{{#inculde beside.md}}", (Fault.MISSPELT,)),
    "no argument": Case("{{#include }}", (Fault.MISSPELT,)),
    "only spaces": Case("{{#include   }}", (Fault.MISSPELT,)),
    "brace in the argument": Case("{{#include a}b}}", (Fault.MISSPELT,)),
    "never closed": Case("{{#include beside.md", (Fault.MISSPELT,)),
    "old name": Case("{{#playpen no_newline.rs}}", (Fault.OLD_NAME,)),
    "directive of a preprocessor": fine("{{#run p15}} {{#figure x}}"),
    "not a directive": fine("{{name}} {{ x }}"),
}


def chapter(index: int) -> str:
    return f"case_{index:03}.md"


@pytest.fixture(scope="module")
def book(build: Any) -> Any:
    return build({chapter(index): case.page for index, case in enumerate(CASES.values())}, FILES)


@pytest.mark.parametrize("name", CASES)
def test_expansion_equals_the_binarys(name: str, book: Any) -> None:
    index, case = list(CASES).index(name), CASES[name]
    expansion = expand(case.page, book.source(chapter(index)), Files())
    assert expansion.text == book.markdown(chapter(index))
    assert tuple(problem.fault for problem in expansion.problems) == case.faults


def test_titles_reach_the_page(book: Any) -> None:
    for name in ("title", "two titles", "title inside"):
        index = list(CASES).index(name)
        title = expand(CASES[name].page, book.source(chapter(index)), Files()).title
        assert title is not None
        assert f"<title>{title}" in book.html(chapter(index)), name


def test_symbolic_links_are_followed_before_dots(build: Any, tmp_path: Path) -> None:
    """`link/../x.md` is beside the folder that the link points to, not beside the link."""
    elsewhere = tmp_path / "elsewhere" / "deep"
    elsewhere.mkdir(parents=True)
    (elsewhere.parent / "x.md").write_text("through the link")
    (elsewhere / "inner.md").write_text("[{{#include ../x.md}}]")
    page = "{{#include link/../x.md}} {{#include link/inner.md}}"
    book = build({"page.md": page}, {"x.md": "beside the link"}, links={"link": elsewhere})
    text = expand(page, book.source("page.md"), Files()).text
    assert text == book.markdown("page.md") == "through the link [through the link]"


def test_absolute_paths_are_accepted(build: Any, tmp_path: Path) -> None:
    file = tmp_path / "absolute.md"
    file.write_text("here")
    page = f"{{{{#include {file}}}}}"
    book = build({"page.md": page})
    assert expand(page, book.source("page.md"), Files()).text == book.markdown("page.md") == "here"


POSITIONS = {
    "line and column": ("\n\n  {{#include gone.md}}", "page.md:3:3"),
    "in the included file": ("{{#include part.md:p}}", "part.md:4:5"),
    "after a hidden line": ("{{#rustdoc_include part.md:other}}", "part.md:4:5"),
    "in a playground": ("{{#playground part.md}}", "part.md:4:5"),
}


@pytest.mark.parametrize("name", POSITIONS)
def test_problems_name_their_position(name: str, tmp_path: Path) -> None:
    page, position = POSITIONS[name]
    (tmp_path / "part.md").write_text(
        "ANCHOR: other\nANCHOR_END: other\nANCHOR: p\nab  {{#include gone.md}}\nANCHOR_END: p\n"
    )
    (problem,) = expand(page, tmp_path / "page.md", Files()).problems
    assert str(problem.where) == str(tmp_path / position)
    assert "gone.md" in problem.message.render("en")
