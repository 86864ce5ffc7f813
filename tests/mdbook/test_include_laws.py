"""On generated books our expansion equals the binary's."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tooling.mdbook import rust
from tooling.mdbook.expansion import expand
from tooling.mdbook.files import Files

NAMES = ["a", "b", "ab-c", "합계", "A1", "1a"]

code_lines = st.one_of(
    st.sampled_from(["x = 1", "  y", "", "한글 줄", "{{#include other.md}}", "tab\there\r"]),
    st.builds(
        lambda before, word, gap, name, after: f"{before}{word}{gap}{name}{after}",
        st.sampled_from(["", "# ", "  // ", "MY_"]),
        st.sampled_from(["ANCHOR:", "ANCHOR_END:", "ANCHOR :"]),
        st.sampled_from(["", " ", "\t", "\u3000"]),
        st.sampled_from(NAMES),
        st.sampled_from(["", ".b", " ANCHOR: b", " ANCHOR_END: a", "\r"]),
    ),
)
code_files = st.builds(
    lambda rows, end: "\n".join(rows) + end,
    st.lists(code_lines, max_size=14),
    st.sampled_from(["", "\n", "\r\n"]),
)

parts = st.one_of(
    st.just(""),
    st.builds(
        lambda name, rest: f":{name}{rest}", st.sampled_from(NAMES), st.sampled_from(["", ":2", ":", ".b"])
    ),
    st.lists(st.sampled_from(["", "0", "1", "3", "+2", "-1", "07", "99", "x"]), min_size=1, max_size=4).map(
        lambda pieces: ":" + ":".join(pieces)
    ),
)
directives = st.builds(
    lambda escape, gap, name, space, path, part, rest: (
        f"{escape}{{{{{gap}#{name}{space}{path}{part}{rest}}}}}"
    ),
    st.sampled_from(["", "", "", "\\", "{"]),
    st.sampled_from(["", "", " ", "\n"]),
    st.sampled_from(
        ["include", "include", "include", "rustdoc_include", "playground", "title", "Include", "run", ""]
    ),
    st.sampled_from([" ", " ", "", "\n ", "\u00a0", "\x1c"]),
    st.sampled_from(["code.rs", "code.rs", "other.md", "gone.rs", "sub/deep.md", "./code.rs", "", "self.md"]),
    parts,
    st.sampled_from(["", " ", " word", " a:b c", "}"]),
)
pages = st.lists(
    st.one_of(
        directives, st.sampled_from(["text", "\n", " ", "`", "}}", "{{", "> ", "<!-- ", "\\", "# h\n"])
    ),
    max_size=8,
).map("".join)


@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(code=code_files, other=pages, deep=pages, chapters=st.lists(pages, min_size=4, max_size=16))
def test_expansion_equals_the_binarys(
    build: Any, code: str, other: str, deep: str, chapters: list[str]
) -> None:
    files = {"code.rs": code, "other.md": other, "sub/deep.md": deep, "self.md": "s {{#include self.md}}"}
    named = {f"chapter_{index}.md": page for index, page in enumerate(chapters)}
    book = build(named, files)
    for name, page in named.items():
        assert expand(page, book.source(name), Files()).text == book.markdown(name)


@given(st.text(alphabet="a\r\n\x0b\u2028", max_size=20))
def test_lines_lose_nothing_but_their_ends(text: str) -> None:
    lines = rust.lines(text)
    assert all("\n" not in line for line in lines)
    assert "\n".join(lines) == text.replace("\r\n", "\n").removesuffix("\n")


@given(st.text(max_size=30))
def test_a_page_without_braces_stays_as_it_is(text: str) -> None:
    from pathlib import Path

    page = text.replace("{", "")
    expansion = expand(page, Path("/nowhere/page.md"), Files())
    assert (expansion.text, expansion.problems, expansion.uses) == (page, (), frozenset())
