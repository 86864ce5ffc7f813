"""Figures in a page: one picture for light and one for dark, with the text that describes them."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

from tooling.book.errors import BookError
from tooling.book.figures import find_figure
from tooling.book.figures.figure import Figure
from tooling.book.page import Page, Words
from tooling.book.phrases import pick


def figure(page: Page, words: Words) -> str:
    """`{{#figure pNN[-NAME]}}`: the figure that `tooling figure pNN` draws into the puzzle's media folder."""
    (name,) = words
    drawn = find_figure(name)
    folder = page.edition.page(page.path).parent
    alt = escape(pick(drawn.description, page.language))
    caption = escape(pick(drawn.caption, page.language))
    pictures = "".join(
        _picture(drawn, folder, shade, kind, alt) for shade, kind in (("w", "light"), ("b", "dark"))
    )
    return (
        f'<figure>\n<div class="figure-scroll">\n{pictures}</div>\n'
        f"<figcaption>{caption}</figcaption>\n</figure>\n"
    )


def _picture(drawn: Figure, folder: Path, shade: str, kind: str, alt: str) -> str:
    """One shade of a figure; on narrow screens its narrow form, where there is one."""
    file = drawn.files(shade)
    width, height = _size(drawn, folder, file)
    image = (
        f'<img class="{kind}-mode-img" src="{file}" width="{width}" height="{height}" '
        f'style="--width: {width}px" alt="{alt}">'
    )
    if drawn.narrow is None:
        return f"{image}\n"
    narrow = drawn.files(shade, narrow=True)
    width, height = _size(drawn, folder, narrow)
    image = image.replace('" alt=', f'; --narrow: {width}px" alt=', 1)
    return (
        f'<picture><source media="(width < 48rem)" srcset="{narrow}" width="{width}" height="{height}">'
        f"{image}</picture>\n"
    )


def _size(drawn: Figure, folder: Path, file: str) -> tuple[str, str]:
    """Width and height of a picture, told in the page so that it does not jump when the picture arrives."""
    try:
        text = (folder / file).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BookError(
            f"the picture {file} is not beside the page",
            hint=f"draw it with `tooling figure {drawn.puzzle}`",
        ) from None
    match = re.search(r'width="(\d+)" height="(\d+)"', text)
    return (match[1], match[2]) if match else ("0", "0")
