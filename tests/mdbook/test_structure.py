"""What we find in a page is what mdBook makes of it: headings, ids, code, tables, links, pictures."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tooling.mdbook.markup import Alert, Fence, Image, Structure, Table
from tooling.mdbook.structure import scan

HERE = Path(__file__).parent


@dataclass
class Rendered(HTMLParser):
    """The same facts, read from the binary's HTML."""

    headings: list[tuple[int, str]] = field(default_factory=list)
    fences: list[tuple[str, str]] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    tables: list[list[int]] = field(default_factory=list)
    alerts: int = 0
    codes: list[str] = field(default_factory=list)
    paragraphs: list[str] = field(default_factory=list)
    _block: str = ""
    _heading: bool = False
    _pre: bool = False
    _twice: bool = False
    _language: str = ""
    _text: list[str] | None = None

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        at = {name: value or "" for name, value in attributes}
        self._start_block(tag)
        if tag == "img" and not self._twice and not self._heading:
            self._block += at.get("alt", "")
        if re.fullmatch("h[1-6]", tag) and "id" in at:
            self.headings.append((int(tag[1]), at["id"]))
        elif tag == "a" and at.get("class") != "header" and not at["href"].startswith(("#footnote-", "#fr-")):
            self.links.append(at["href"])
        elif tag == "input" and at.get("class") == "checkbox-img":
            self._twice = True  # the theme draws a picture small and large
        elif tag == "img" and self._twice:
            self._twice = False
        elif tag == "img":
            self.images.append(at["src"])
        elif tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append(0)
        elif tag in ("td", "th"):
            self.tables[-1][-1] += 1
        elif tag == "pre":
            self._pre = True
        elif tag == "code":
            names = [name for name in at.get("class", "").split() if name.startswith("language-")]
            self._language = names[0].removeprefix("language-") if names else ""
            self._text = []
        elif tag == "blockquote" and "blockquote-tag" in at.get("class", ""):
            self.alerts += 1

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self._text.append(data)
        elif not self._heading:
            self._block += data

    def _start_block(self, tag: str) -> None:
        """Ends the paragraph at hand where a tag does not belong into one."""
        if tag in INLINE:
            return
        text = letters(self._block)
        if text:
            self.paragraphs.append(text)
        self._block = ""
        self._heading = bool(re.fullmatch("h[1-6]|td|th", tag))

    def handle_endtag(self, tag: str) -> None:
        self._start_block(tag)
        if tag not in INLINE:
            self._heading = False
        if tag == "code" and self._text is not None:
            text = "".join(self._text)
            if self._pre:
                self.fences.append((self._language, text.rstrip("\n")))
            else:
                self.codes.append(" ".join(text.split()))
            self._text = None
        elif tag == "pre":
            self._pre = False


INLINE = frozenset({"a", "code", "em", "strong", "del", "img", "b", "span", "label", "input", "br", "sup"})


def letters(text: str) -> str:
    return "".join(character for character in text if character.isalnum())


def rendered(page: str) -> Rendered:
    main = page[page.index("<main>") : page.index("</main>")]
    parser = Rendered()
    parser.feed(main + "</main>")
    parser.close()
    return parser


def compare(structure: Structure, html: Rendered) -> None:
    def of(kind: type) -> list[Any]:
        return [mark for mark in structure.marks if isinstance(mark, kind)]

    assert [(h.level, h.id) for h in structure.headings] == html.headings
    assert [(f.language, f.code.rstrip("\n")) for f in of(Fence)] == html.fences
    assert [len(t.cells) for t in of(Table)] == [len(rows) for rows in html.tables]
    assert [t.cells[0] for t in of(Table)] == [rows[0] for rows in html.tables]
    assert sum(alert.known for alert in of(Alert)) == html.alerts
    assert [c.text for c in structure.codes] == html.codes
    assert [re.sub(r"\.md(?=$|#)", ".html", link.target) for link in structure.links] == html.links
    assert [image.target for image in of(Image)] == html.images


PAGES = {path.stem: path.read_text(encoding="utf-8") for path in sorted((HERE / "data/pages").iterdir())}
PAGES["crlf"] = "# a\r\n\r\n```x\r\ny\r\n```\r\n\r\n| a | b |\r\n|---|---|\r\n| c | d |\r\n"


@pytest.fixture(scope="module")
def book(build: Any) -> Any:
    return build({f"p{index}.md": page for index, page in enumerate(PAGES.values())})


@pytest.mark.parametrize("name", PAGES)
def test_structure_is_mdbooks(name: str, book: Any) -> None:
    index = list(PAGES).index(name)
    compare(scan(PAGES[name]), rendered(book.html(f"p{index}.md")))


# Lines as books have them. Left out on purpose: half-open HTML, whose repair is mdBook's own affair.
book_lines = st.sampled_from(
    [
        "",
        "",
        "",
        "text `code` and more",
        "한국어 문장입니다. `코드`",
        "# Head",
        "## Head",
        "### 공유 메모리(shared memory)",
        "## Head {#own}",
        "    indented",
        "  two spaces",
        "- item",
        "  - inner `x`",
        "1. first",
        "2. second",
        "   under first",
        "> quote",
        "> ## in quote",
        "> - item in quote",
        "```mojo",
        "```",
        "  ```text",
        "  ```",
        "~~~",
        "| a | b |",
        "|---|---|",
        "| 1 | `2` |",
        "---",
        "===",
        "***",
        "<div>",
        "</div>",
        "<details><summary>Tips</summary>",
        "</details>",
        "<!-- comment -->",
        "[text](page.md#head) ![alt](image.png)",
        "**bold** _emph_ snake_case",
        "[ref]: https://example.org/x",
        "[ref] and [ref][]",
        "\\\\( + \\\\)",
    ]
)


@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(st.lists(book_lines, max_size=14), min_size=8, max_size=24))
def test_structure_of_generated_pages_is_mdbooks(build: Any, pages: list[list[str]]) -> None:
    named = {f"p{index}.md": "\n".join(["# Start", "", *lines, ""]) for index, lines in enumerate(pages)}
    book = build(named)
    for name, page in named.items():
        structure, html = scan(page), rendered(book.html(name))
        compare(structure, html)
        compare_paragraphs(structure, html, in_one="<" in page)


def compare_paragraphs(structure: Structure, html: Rendered, *, in_one: bool) -> None:
    """The text of paragraphs and list items; in one piece where raw HTML cuts it at other places."""
    texts = [letters(prose.text) for prose in structure.prose if prose.kind in ("paragraph", "html")]
    ours = [text for text in texts if text]
    assert ["".join(ours)] == ["".join(html.paragraphs)] if in_one else ours == html.paragraphs


@given(st.text(alphabet="a1 가#`~<>|-*+=:[]()!\\\n\t_{}$&/\"'", max_size=60))
def test_any_text_can_be_scanned(text: str) -> None:
    structure = scan(text)
    last = text.count("\n") + 1
    places = [*structure.marks, *structure.links, *structure.codes, *structure.formulas, *structure.prose]
    assert all(1 <= place.line <= last for place in places)
