"""Marks variables, such as *i*, and emphasised Latin letters in languages whose emphasis is not italic."""

from __future__ import annotations

from tooling.book.site.tree import Node, only_text
from tooling.text import ENGLISH


def mark_emphasis(page: Node, language: str) -> None:
    """Gives emphasised single letters, which are variables of mathematics, a class.

    Outside of English, emphasised text in Latin letters gets `lang="en"`: the theme's dots of emphasis are
    for Hangul.
    """
    for node in page.css("em"):
        content = only_text(node)
        if not content or not content.isascii():
            continue
        if language != ENGLISH and content.isprintable():
            node.attrs["lang"] = "en"
        if len(content) == 1 and content.isalpha():
            node.attrs["class"] = "variable"
