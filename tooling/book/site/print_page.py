"""The whole book on one page, for printing: every article in reading order, with folds open."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from functools import lru_cache
from html import escape

from tooling.book.phrases import say
from tooling.book.site.tree import (
    ADDRESSES,
    Node,
    Tree,
    append,
    children,
    is_relative,
    prepend,
    required,
    serialised,
)

PRINT = "print.html"
_OF_ID = re.compile(r"url\(#|\A#")
"""An id in the style of a drawing."""
_REFERENCES = ("aria-controls", "aria-labelledby", "aria-describedby")


def print_page(frame: Tree, pages: Mapping[str, Tree], language: str) -> str:
    """The articles of all pages in one frame. All these trees are used up.

    Args:
        frame: a finished page at the root of the edition.
        pages: the finished pages by address, in reading order.
        language: of the edition.
    """
    whole = required(frame, "article")
    whole.inner_html = ""
    for page, tree in pages.items():
        article = required(tree, "article")
        _make_unique(article, page, pages)
        section = append(whole, f'\n<section class="chapter" id="{_name(page)}"></section>')
        for child in children(article):
            section.insert_child(child)
    append(whole, "\n")
    for unused in frame.css('link[rel="canonical"], link[rel="alternate"], div.margin, footer.page-end'):
        unused.remove()
    prepend(required(frame, "head"), '\n<meta name="robots" content="noindex">')
    title = required(frame, "title")
    title.inner_html = f"{escape(say('print', language))} · {escape(title.text().rpartition(' · ')[2])}"
    body = required(frame, "body")
    for name in list(body.attributes):
        del body.attrs[name]
    body.attrs["class"] = "whole-book"
    return serialised(frame)


def _make_unique(article: Node, page: str, pages: Mapping[str, Tree]) -> None:
    """Gives an article the ids and links of the one page, and opens its folds."""
    own = _name(page)
    for node in [*article.traverse()]:
        for name, value in node.attributes.items():
            if value and (unique := _unique(name, value, page, pages)) != value:
                node.attrs[name] = unique
        if node.tag == "style":
            node.inner_html = _OF_ID.sub(rf"\g<0>{own}", node.text())
        elif node.tag == "details":
            node.attrs["open"] = None


def _unique(name: str, value: str, page: str, pages: Mapping[str, Tree]) -> str:
    """The value of an attribute, with ids and links of the one page."""
    own = _name(page)
    if name == "id" or name in _REFERENCES:
        return " ".join(own + each for each in value.split())
    if name not in ADDRESSES:
        return value.replace("url(#", f"url(#{own}")
    if value.startswith("#"):
        return f"#{own}{value[1:]}"
    if not is_relative(value):
        return value
    path, hash_, fragment = value.partition("#")
    target = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
    return f"#{_name(target)}{fragment}" if target in pages else f"{target}{hash_}{fragment}"


@lru_cache(maxsize=1024)
def _name(page: str) -> str:
    """The prefix of a page's ids."""
    return re.sub(r"\W", "_", page.removesuffix(".html")) + "--"
