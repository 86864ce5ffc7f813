"""The structure of a page equals mdBook's: headings, ids, code, tables, links, pictures."""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyromark import _pyromark

from tests.mdbook.conftest import find_mdbook
from tooling.mdbook.markup import Alert, Fence, Image, Structure, Table
from tooling.mdbook.structure import scan
from tooling.translations.diff.blocks import BlockKind
from tooling.translations.diff.text import split

HERE = Path(__file__).parent


@dataclass
class Rendered(HTMLParser):
    """The same structure, read from the binary's HTML."""

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
        elif tag == "p" and at.get("class") == "blockquote-tag-title":
            self._heading = True  # the name of the alert

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self._text.append(data)
        elif not self._heading:
            self._block += data

    def _start_block(self, tag: str) -> None:
        """Ends the current paragraph at a tag that cannot be part of one."""
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


INLINE = frozenset(
    {"a", "code", "em", "strong", "del", "img", "b", "span", "label", "input", "br", "sup", "svg", "path"}
)


def letters(text: str) -> str:
    return "".join(character for character in text if character.isalnum())


def rendered(page: str) -> Rendered:
    main = page[page.index("<main>") : page.index("</main>")]
    parser = Rendered()
    parser.feed(main + "</main>")
    parser.close()
    return parser


def compare(structure: Structure, html: Rendered, *, in_order: bool = True) -> None:
    def of(kind: type) -> list[Any]:
        return [mark for mark in structure.marks if isinstance(mark, kind)]

    if not in_order:
        compare_sorted(structure, html)
        return
    assert [(h.level, h.id) for h in structure.headings] == html.headings
    assert [(f.language, f.code.rstrip("\n")) for f in of(Fence)] == html.fences
    assert [len(t.cells) for t in of(Table)] == [len(rows) for rows in html.tables]
    assert [t.cells[0] for t in of(Table)] == [rows[0] for rows in html.tables]
    assert sum(alert.known for alert in of(Alert)) == html.alerts
    assert [c.text for c in structure.codes] == html.codes
    assert addresses(structure) == html.links
    assert [image.target for image in of(Image)] == html.images


def compare_sorted(structure: Structure, html: Rendered) -> None:
    """As `compare`, for a page whose footnotes mdBook moves to its end."""
    marks = structure.marks
    assert sorted(h.level for h in structure.headings) == sorted(level for level, _ in html.headings)
    fences = [(m.language, m.code.rstrip("\n")) for m in marks if isinstance(m, Fence)]
    assert sorted(fences) == sorted(html.fences)
    tables = [[m.cells[0]] * len(m.cells) for m in marks if isinstance(m, Table)]
    assert sorted(tables) == sorted(html.tables)
    assert sum(isinstance(m, Alert) and m.known for m in marks) == html.alerts
    assert sorted(c.text for c in structure.codes) == sorted(html.codes)
    assert sorted(addresses(structure)) == sorted(html.links)
    assert sorted(m.target for m in marks if isinstance(m, Image)) == sorted(html.images)


def addresses(structure: Structure) -> list[str]:
    return [re.sub(r"\.md(?=$|#)", ".html", link.target) for link in structure.links]


PAGES: dict[str, str] = yaml.safe_load((HERE / "data/pages.yaml").read_text(encoding="utf-8"))
PAGES["footnote mark alone"] = "Text[^1] `a`.\n\n[^1]:\n    The note, `b`.\n\n## Next\n"
PAGES["definition mark alone"] = "Term\n: \n\n## Next\n\n`a`\n"
PAGES["ids"] = (
    "\n\n".join(
        f"## {title}"
        for title in (
            "`--tiled` mode",
            "two -- dashes --- three",
            "_em_ and snake_case",
            "__init__ `__init__`",
            "[text](page.md#x) ![alt](a.png) end",
            "A &amp; B",
            "<b>bold</b> <!-- no --> x",
            "a\\_b",
            'it\'s "so"... <https://a.b/c>',
            "Name {#id .wide}",
            "Name {.wide}",
            "Name {text}",
            "{#bare}",
            "[ref] and [r][ref]",
        )
    )
    + "\n\n[ref]: page.md\n\nTerm one\n: is this\n\n## Term one\n"
)
PAGES["crlf"] = "# a\r\n\r\n```x\r\ny\r\n```\r\n\r\n| a | b |\r\n|---|---|\r\n| c | d |\r\n"


@pytest.fixture(scope="module")
def book(build: Any) -> Any:
    return build({f"p{index}.md": page for index, page in enumerate(PAGES.values())})


@pytest.mark.parametrize("name", PAGES)
def test_structure_is_that_of_mdbook(name: str, book: Any) -> None:
    index = list(PAGES).index(name)
    compare(scan(PAGES[name]), rendered(book.html(f"p{index}.md")))


# Typical lines of books. Left out on purpose: unclosed HTML, which mdBook repairs by rules of its own.
BOOK_LINES = (
    "",
    "",
    "",
    "text `code` and more",
    "한국어 문장입니다. `코드`",
    "# Head",
    "## Head",
    "### 공유 메모리(shared memory)",
    "## Head {#own}",
    "## Head {.wide}",
    "    indented",
    "\ttab",
    "  two spaces",
    "      six spaces",
    "- item",
    "- [ ] task",
    "- ",
    "* star",
    "  - inner `x`",
    "    - deep",
    "1. first",
    "2. second",
    "10) tenth",
    "   under first",
    "> quote",
    ">",
    "> > twice",
    "> ## in quote",
    "> - item in quote",
    ">     code in quote",
    "> [!NOTE]",
    "> [!tip]",
    "> [!참고]",
    "```mojo",
    "```",
    "````",
    "  ```text",
    "  ```",
    "> ```",
    "- ```py",
    "~~~",
    "| a | b |",
    "|---|---|",
    "| :-: | --: |",
    "| 1 | `2` |",
    "| `a\\|b` | 2 | 3 |",
    "| 1 |",
    "> | a | b |",
    "> |---|---|",
    "a | b",
    "--- | ---",
    "---",
    "===",
    "***",
    "<div>",
    "</div>",
    "<details><summary>Tips</summary>",
    "</details>",
    "<!-- comment -->",
    "text <!-- comment --> `after`",
    "[text](page.md#head) ![alt](image.png)",
    "[![alt `c`](image.png) more](page.md)",
    "<https://example.org/a> <a@example.org>",
    "**bold** _emph_ snake_case ~~gone~~",
    "hard  ",
    "break\\",
    "\\# no heading \\`no code\\`",
    "[ref]: https://example.org/x",
    "[ref] and [ref][] and [text][ref]",
    ": ",
    ": definition",
    "    under definition",
    "[^#]: note",
    "[^#]:",
    "[^#]: - item in note",
    "\\\\( + \\\\)",
    "{{#custom a b}}",
    "- {{#custom a b}}",
)


def numbered(lines: list[str]) -> str:
    """A page of these lines; each footnote gets its own number and a reference, else it is not shown."""
    page = "\n".join(["# Start", "", *lines, ""])
    count = page.count("[^#]:")
    for number in range(count):
        page = page.replace("[^#]", f"[^{number}]", 1)
    marks = " ".join(f"[^{number}]" for number in range(count))
    return f"{marks}\n\n{page}" if marks else page


def check_pages(pages: dict[str, str], build: Any) -> None:
    """The structure of every page equals the binary's, and the reader of blocks agrees."""
    book = build(pages, {"../theme/index.hbs": "<main>{{{content}}}</main>"})
    for name, page in pages.items():
        structure, html = scan(page), rendered(book.html(name))
        footnotes = "[^" in page
        try:
            compare(structure, html, in_order=not footnotes)
            if not footnotes:  # mdBook moves notes to the end and adds links to them
                compare_paragraphs(structure, html, in_one="<" in page)
            compare_blocks(structure, page)
        except AssertionError as error:
            error.add_note(f"the page was {page!r}")
            raise


@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(st.lists(st.sampled_from(BOOK_LINES), max_size=14), min_size=8, max_size=24))
def test_structure_of_generated_pages_is_that_of_mdbook(build: Any, pages: list[list[str]]) -> None:
    check_pages({f"p{index}.md": numbered(lines) for index, lines in enumerate(pages)}, build)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100))
def test_structure_of_a_hundred_thousand_pages_is_that_of_mdbook(seed: int, build: Any) -> None:
    chance = random.Random(seed)
    pages = {
        f"p{index}.md": numbered(chance.choices(BOOK_LINES, k=chance.randint(1, 16)))
        for index in range(1_000)
    }
    check_pages(pages, build)


def compare_blocks(structure: Structure, page: str) -> None:
    """The blocks for translators contain the same headings, code and rows of tables."""
    kinds = Counter(block.kind for block in split(page).blocks)
    assert kinds[BlockKind.HEADING] == len(structure.headings)
    fences = [mark.fenced for mark in structure.marks if isinstance(mark, Fence)]
    assert kinds[BlockKind.FENCE] == sum(fences)
    assert kinds[BlockKind.CODE] == len(fences) - sum(fences)
    rows = [len(mark.cells) for mark in structure.marks if isinstance(mark, Table)]
    assert kinds[BlockKind.ROW] == sum(rows)
    assert kinds[BlockKind.ALERT] == sum(isinstance(mark, Alert) for mark in structure.marks)


def compare_paragraphs(structure: Structure, html: Rendered, *, in_one: bool) -> None:
    """The text of paragraphs and list items; joined where raw HTML splits it differently."""
    # A directive is left as text by mdBook alone, and so is the first line of an alert that it does not know.
    texts = [letters(prose.text) for prose in structure.prose if prose.kind in ("paragraph", "html")]
    ours, theirs = (
        [rest for text in side if (rest := re.sub("customab|NOTE|tip|참고", "", text))]
        for side in (texts, html.paragraphs)
    )
    assert "".join(ours) == "".join(theirs)
    assert in_one or ours == theirs


def test_the_binding_has_the_parser_of_the_binary() -> None:
    version = re.compile(rb"pulldown-cmark-(\d+\.\d+\.\d+)/")
    theirs = set(version.findall(find_mdbook().read_bytes()))
    ours = set(version.findall(Path(_pyromark.__file__).read_bytes()))
    assert ours == theirs == {b"0.13.4"}


@given(st.text(alphabet="a1 가#^`~<>|-*+=:[]()!\\\n\t_{}$&/\"'", max_size=60))
def test_any_text_can_be_scanned(text: str) -> None:
    structure = scan(text)
    last = text.count("\n") + 1
    elements = [*structure.marks, *structure.links, *structure.codes, *structure.formulas, *structure.prose]
    assert all(1 <= element.line <= last for element in elements)
