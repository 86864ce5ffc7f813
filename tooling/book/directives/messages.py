"""Quotations of the tool's messages, each of which must exist in its source, and of versions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from tooling.book.errors import BookError
from tooling.book.page import PageContext, Words
from tooling.book.phrases import pick
from tooling.platform.errors import Location
from tooling.platform.pins import MOJO_VERSION
from tooling.project import TOOL
from tooling.text import LocalText
from tooling.text.catalogues import catalogue_files, every_sentence

_GAP = "…"  # the varying text, such as a name


def version(page: PageContext, words: Words) -> str:
    """`{{#version mojo}}`: the version that the puzzles are written for.

    Raises:
        BookError: of anything but Mojo.
    """
    if words != ["mojo"]:
        raise BookError(f"there is no pinned version of `{' '.join(words)}`", hint="write {{#version mojo}}")
    return MOJO_VERSION


def says(page: PageContext, words: Words) -> str:
    """`{{#says FILE MESSAGE}}`: a message in `tooling/FILE`; `…` replaces its varying text.

    For a translated message, `MESSAGE | MESSAGE IN KOREAN`: shown is the one in the page's language.

    Raises:
        BookError: the file does not contain the message.
    """
    file, *rest = words
    english, _, korean = (part.strip() for part in " ".join(rest).partition("|"))
    path = TOOL / file
    if not english or not path.is_file():
        raise BookError(
            f"{{{{#says {' '.join(words)}}}}} does not say which message",
            hint="write {{#says FILE MESSAGE}}, the file below tooling/",
        )
    _require(english, path.read_text(encoding="utf-8").splitlines(), path)
    if korean:
        _require(korean, every_sentence("ko"), catalogue_files()["ko"])
    message = LocalText.of(en=english, ko=korean or english)
    return f'<code class="message">{escape(pick(message, page.language))}</code>'


def _require(message: str, texts: Sequence[str], file: Path) -> None:
    pieces = (re.escape(piece.strip()) for piece in message.split(_GAP))
    pattern = re.compile(".*".join(pieces))
    if not any(pattern.search(text) for text in texts):
        raise BookError(
            f"there is no message “{message}” in the file",
            where=Location(file),
            why="readers would look for a message that does not exist",
            hint=f"copy it from there, and write {_GAP} for the varying text",
        )
