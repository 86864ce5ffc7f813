"""Figures in a page: one picture for light and one for dark, with the text that describes them."""

from __future__ import annotations

import re
from html import escape

from tooling.book.errors import BookError
from tooling.book.figures import find_figure
from tooling.book.page import Page, Words
from tooling.book.phrases import pick


def figure(page: Page, words: Words) -> str:
    """`{{#figure pNN[-NAME]}}`: the figure that `tooling figure pNN` draws into the puzzle's media folder."""
    (name,) = words
    drawn = find_figure(name)
    folder = page.edition.page(page.path).parent
    light, dark = drawn.files("w"), drawn.files("b")
    for file in (light, dark):
        if not (folder / file).is_file():
            raise BookError(
                f"the picture {file} is not beside the page",
                hint=f"draw it with `tooling figure {drawn.puzzle}`",
            )
    size = _size((folder / light).read_text(encoding="utf-8"))
    alt = escape(pick(drawn.description, page.language))
    caption = escape(pick(drawn.caption, page.language))
    return (
        f'<figure>\n<div class="figure-scroll">\n'
        f'<img class="light-mode-img" src="{light}" {size} alt="{alt}">\n'
        f'<img class="dark-mode-img" src="{dark}" {size} alt="{alt}">\n'
        f"</div>\n<figcaption>{caption}</figcaption>\n</figure>\n"
    )


def _size(svg: str) -> str:
    """Width and height of a picture as attributes, so that the page does not jump when it arrives."""
    match = re.search(r'width="\d+" height="\d+"', svg)
    return match[0] if match else ""
