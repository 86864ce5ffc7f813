"""Quotations of the tool's messages, each of which must exist in its source, and of versions."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from tooling.book.errors import BookError
from tooling.book.page import PageContext, Words
from tooling.platform.errors import Location
from tooling.platform.pins import MOJO_VERSION
from tooling.platform.regular_files import names_file, read_text
from tooling.project import TOOL
from tooling.text.catalogues import ENGLISH, FOLDER, catalogue_files, every_sentence

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

    For a translated message, `MESSAGE | TRANSLATION`: a translated page shows the translation, which must be
    in the catalogue of its language; on an English page, it must be in some catalogue.

    Raises:
        BookError: the file does not contain the message.
    """
    file, *rest = words
    english, _, translation = (half.strip() for half in " ".join(rest).partition("|"))
    path = TOOL / file
    if not english or not names_file(path):
        raise BookError(
            f"{{{{#says {' '.join(words)}}}}} does not say which message",
            hint="write {{#says FILE MESSAGE}}, the file below tooling/",
        )
    _require(english, read_text(path).splitlines(), path)
    if translation:
        _require_translated(translation, page.language)
    shown = english if page.language == ENGLISH else translation or english
    return f'<code class="message">{escape(shown)}</code>'


def _require_translated(message: str, language: str) -> None:
    """Requires the message in the catalogue of a language, in case of English in one of the catalogues."""
    files = {each: file for each, file in catalogue_files().items() if language in (ENGLISH, each)}
    texts = [text for each in files for text in every_sentence(each)]
    _require(message, texts, next(iter(files.values()), FOLDER))


def _require(message: str, texts: Sequence[str], file: Path) -> None:
    pieces = [piece.strip() for piece in message.split(_GAP)]
    if not any(_in_order(pieces, text) for text in texts):
        raise BookError(
            f"there is no message “{message}” in the file",
            where=Location(file),
            why="readers would look for a message that does not exist",
            hint=f"copy it from there, and write {_GAP} for the varying text",
        )


def _in_order(pieces: Sequence[str], text: str) -> bool:
    """Whether a text contains the pieces one after the other."""
    for piece in pieces:
        _, found, text = text.partition(piece) if piece else ("", True, text)
        if not found:
            return False
    return True
