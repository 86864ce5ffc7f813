"""What the tool itself knows best: its messages, each of which must stand in its source, and versions."""

from __future__ import annotations

import re
from html import escape

from tooling.book.errors import BookError
from tooling.book.page import PageContext, Words
from tooling.book.phrases import pick
from tooling.catalog.model import Text
from tooling.errors import Location
from tooling.pins import MOJO_VERSION
from tooling.project import TOOL

_GAP = "…"  # what differs from case to case, such as a name


def version(page: PageContext, words: Words) -> str:
    """`{{#version mojo}}`: the version that the puzzles are written for.

    Raises:
        BookError: of anything but Mojo.
    """
    if words != ["mojo"]:
        raise BookError(f"nobody pins a version of `{' '.join(words)}`", hint="write {{#version mojo}}")
    return MOJO_VERSION


def says(page: PageContext, words: Words) -> str:
    """`{{#says FILE MESSAGE}}`: a message that `tooling/FILE` holds; `…` stands for what differs.

    Where the tool speaks Korean too, `MESSAGE | MESSAGE IN KOREAN`: shown is the one of the page's language.

    Raises:
        BookError: no line of that file says so.
    """
    file, *rest = words
    english, _, korean = (part.strip() for part in " ".join(rest).partition("|"))
    path = TOOL / file
    if not english or not path.is_file():
        raise BookError(
            f"{{{{#says {' '.join(words)}}}}} does not say which message",
            hint="write {{#says FILE MESSAGE}}, the file below tooling/",
        )
    told, source = Text(english, korean or english), path.read_text(encoding="utf-8")
    for message in dict.fromkeys((told.en, told.ko)):
        pieces = (re.escape(piece.strip()) for piece in message.split(_GAP))
        if not re.search(".*".join(pieces), source):  # `.` ends with the line
            raise BookError(
                f"the tool never says “{message}”",
                where=Location(path),
                why="readers would look for a message that they cannot get",
                hint=f"copy it from there, and write {_GAP} for what differs from case to case",
            )
    return f'<code class="message">{escape(pick(told, page.language))}</code>'
