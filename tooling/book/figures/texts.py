"""The captions and the descriptions of figures: a page in every language that no contents list.

A section for each figure, with its name as the heading, as code: a paragraph of the caption, and one that
describes what is drawn for readers who do not see it.
"""

from __future__ import annotations

import re

from msgspec import Struct

from tooling.book.editions import Edition, editions
from tooling.book.errors import BookError
from tooling.platform.errors import Location
from tooling.platform.regular_files import read_text
from tooling.project import Project

TEXTS_PAGE = "figures.md"
_ESCAPED = re.compile(r"\\(\W)")


class FigureText(Struct, frozen=True):
    """The texts of a figure.

    Attributes:
        caption: the line below it, with code between backticks.
        description: the alternative text.
    """

    caption: str
    description: str


def text_of(project: Project, edition: Edition, name: str) -> FigureText:
    """The texts of a figure in the language of an edition, or in English where they are not translated.

    Raises:
        BookError: they are missing.
    """
    source = editions(project)[0]
    found = texts_of(edition).get(name) or texts_of(source).get(name)
    if found is None:
        raise BookError(
            f"the figure `{name}` has no caption and description",
            where=Location(source.page(TEXTS_PAGE)),
            hint="write a section with its name as the heading, as code, and a paragraph for each",
        )
    return found


def texts_of(edition: Edition) -> dict[str, FigureText]:
    """The texts of figures in one language, by name; those with both paragraphs."""
    path = edition.page(TEXTS_PAGE)
    sections = read_text(path).split("\n## `")[1:] if path.is_file() else []
    texts = {}
    for heading, *paragraphs in (section.strip().split("\n\n") for section in sections):
        if len(paragraphs) == 2:
            texts[heading.removesuffix("`")] = FigureText(
                *(_ESCAPED.sub(r"\1", " ".join(each.split())) for each in paragraphs)
            )
    return texts
