"""The parsed tree of a page: each step between mdBook's page and the site's edits it in place.

A page is parsed once, as browsers parse it (HTML Standard, section 13.2), and serialised once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import escape

from tooling.book.errors import BookGroupMissing

try:
    from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode
except ModuleNotFoundError as error:
    raise BookGroupMissing("selectolax", "it edits the pages of the site") from error

ADDRESSES = ("href", "src")
_ABSOLUTE = re.compile(r"\w+:|#|/")
Tree = LexborHTMLParser
Node = LexborNode


def parse(html: str) -> Tree:
    """A page as a tree; elements that it leaves out, such as `<tbody>`, are added as in a browser."""
    return LexborHTMLParser(html, options=LexborDocumentOptions.WO_EVENTS)


def serialised(tree: Tree) -> str:
    """The page as text. Spaces that do not break lines stay as they are: `&nbsp;` is three times as long."""
    return (tree.html or "").replace("&nbsp;", "\N{NO-BREAK SPACE}") + "\n"


def inner(node: Node) -> str:
    """What an element contains, as HTML."""
    return node.inner_html or ""


def only_text(node: Node) -> str | None:
    """The text of an element without attributes that contains nothing else; None for any other one."""
    child = node.first_child
    alone = child is not None and child.is_text_node and child.next is None and not node.attrs
    return node.text() if alone else None


def children(node: Node) -> Iterator[Node]:
    """Elements, texts and comments in a node; each may be replaced when the next one is asked for."""
    child = node.first_child
    while child is not None:
        following = child.next
        yield child
        child = following


def texts(node: Node, outside: frozenset[str] = frozenset()) -> list[Node]:
    """The nodes of text in a node, in their order, except those in elements of the names in `outside`."""
    found: list[Node] = []
    for child in node.iter(include_text=True):
        if child.is_text_node:
            found.append(child)
        elif child.tag not in outside:
            found += texts(child, outside)
    return found


def next_element(node: Node) -> Node | None:
    """The next sibling; None if there is none, or if text is before it."""
    following = node.next
    while following is not None and following.is_text_node and not following.text().strip():
        following = following.next
    return following if following is not None and following.is_element_node else None


def edit_texts(
    node: Node,
    pattern: re.Pattern[str],
    drawn: Callable[[re.Match[str]], str],
    outside: frozenset[str] = frozenset(),
) -> None:
    """Replaces what a pattern matches in the texts of a node by HTML."""
    for each in texts(node, outside):
        content = each.text()
        if pattern.search(content):
            replace(each, substituted(pattern, drawn, content))


def substituted(pattern: re.Pattern[str], drawn: Callable[[re.Match[str]], str], content: str) -> str:
    """A text as HTML, with what a pattern matches replaced by HTML."""
    pieces: list[str] = []
    done = 0
    for found in pattern.finditer(content):
        pieces += (escape(content[done : found.start()], quote=False), drawn(found))
        done = found.end()
    return "".join((*pieces, escape(content[done:], quote=False)))


def fragment(html: str, inside: str = "div") -> list[Node]:
    """HTML as nodes, which are copied where they are inserted: in an element of this name."""
    tree = LexborHTMLParser(
        html, is_fragment=True, fragment_tag=inside, options=LexborDocumentOptions.WO_EVENTS
    )
    found: list[Node] = []
    node = tree.root
    while node is not None:
        found.append(node)
        node = node.next
    return found


def replace(node: Node, html: str) -> None:
    """Replaces a node by HTML."""
    for piece in fragment(html):
        node.insert_before(piece)
    node.remove()


def append(node: Node, html: str) -> Node:
    """Inserts HTML at the end of an element, and returns its last node."""
    for piece in fragment(html, node.tag or ""):
        node.insert_child(piece)
    assert node.last_child is not None
    return node.last_child


def prepend(node: Node, html: str) -> None:
    """Inserts HTML at the start of an element."""
    first = node.first_child
    for piece in fragment(html, node.tag or ""):
        if first is None:
            node.insert_child(piece)
        else:
            first.insert_before(piece)


def wrap(node: Node, html: str) -> None:
    """Moves a node to the end of a new element."""
    (element,) = fragment(html)
    node.insert_before(element)
    wrapper = node.prev
    assert wrapper is not None
    wrapper.insert_child(node, move=True)


def is_relative(address: str) -> bool:
    """Whether an address is relative to its page, and not a fragment of it."""
    return not _ABSOLUTE.match(address)


def add_class(node: Node, name: str) -> None:
    """Adds a class to an element."""
    node.attrs["class"] = f"{node.attrs.sget('class')} {name}".strip()


def required(tree: Tree | Node, selector: str) -> Node:
    """The first element that a selector names.

    Raises:
        ValueError: there is none.
    """
    return tree.css_first(selector, strict=False, default=None) or _missing(selector)


def _missing(selector: str) -> Node:
    raise ValueError(f"the page has no `{selector}`")
