"""Figures in a page: one picture for light and one for dark, with the text that describes them.

The title and description are read from the pictures, which are drawn beforehand: rendering draws nothing.
"""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import Struct

from tooling.book.errors import BookError
from tooling.book.figures.figure import picture_file
from tooling.book.page import PageContext, Words

_HEAD = re.compile(
    r'\A<svg [^>]*?width="(\d+)" height="(\d+)"[^>]*>\s*<title>(.*?)</title>\s*<desc>(.*?)</desc>', re.DOTALL
)


class Picture(Struct, frozen=True):
    """The head of a picture's file; title and description are HTML."""

    width: str
    height: str
    title: str
    description: str


def figure(page: PageContext, words: Words) -> str:
    """`{{#figure pNN[-NAME]}}`: the figure that `tooling figure pNN` draws into the puzzle's media folder."""
    (name,) = words
    folder = page.edition.page(page.path).parent
    wide = _read(folder / picture_file(name, "w"), name)
    narrow_file = folder / picture_file(name, "w", narrow=True)
    narrow = _read(narrow_file, name) if narrow_file.is_file() else None
    pictures = "".join(
        _picture(name, shade, kind, wide, narrow) for shade, kind in (("w", "light"), ("b", "dark"))
    )
    return (
        f'<figure>\n<div class="figure-scroll">\n{pictures}</div>\n'
        f"<figcaption>{wide.title}</figcaption>\n</figure>\n"
    )


def _picture(name: str, shade: str, kind: str, wide: Picture, narrow: Picture | None) -> str:
    """One shade of a figure; on narrow screens its narrow form, where there is one."""
    smallest = f"; --narrow: {narrow.width}px" if narrow else ""
    image = (
        f'<img class="{kind}-mode-img" src="{picture_file(name, shade)}" '
        f'width="{wide.width}" height="{wide.height}" '
        f'style="--width: {wide.width}px{smallest}" alt="{wide.description}">'
    )
    if narrow is None:
        return f"{image}\n"
    return (
        f'<picture><source media="(width < 48rem)" srcset="{picture_file(name, shade, narrow=True)}" '
        f'width="{narrow.width}" height="{narrow.height}">{image}</picture>\n'
    )


def _read(file: Path, name: str) -> Picture:
    """The head of a picture; its size is written into the page, to avoid layout shifts."""
    try:
        head = _HEAD.match(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        head = None
    if head is None:
        # Imported here: most builds only show figures.
        from tooling.book.figures import find_figure  # noqa: PLC0415

        raise BookError(
            f"the picture {file.name} is not beside the page, or not as it was drawn",
            hint=f"draw it with `tooling figure {find_figure(name).puzzle}`",
        )
    return Picture(*head.groups())
