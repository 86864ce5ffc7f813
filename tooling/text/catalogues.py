"""The catalogues of translated sentences: `LANGUAGE.po`, loaded on first use."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gettext import GNUTranslations

    from polib import POFile

ENGLISH = "en"
FOLDER = Path(__file__).parent
FOLDER_VARIABLE = "PUZZLE_CATALOGUES"
"""Environment variable: a folder with further catalogues, for example of an unfinished translation."""
_MOST_BYTES = 1 << 24


class CatalogueError(Exception):
    """A catalogue cannot be used.

    Attributes:
        path: the file.
        why: the reason, in English.
    """

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path = path
        self.why = why


def catalogue_files() -> dict[str, Path]:
    """The catalogues by language; those of the folder in the environment take precedence."""
    return _catalogue_files(os.environ.get(FOLDER_VARIABLE))


def languages() -> tuple[str, ...]:
    """The languages of the tool, English first."""
    return (ENGLISH, *sorted(catalogue_files()))


def known_language(name: str) -> str | None:
    """The language of the tool that a language tag or locale means; None if the tool does not have it.

    Args:
        name: such as `ko`, `pt-BR`, or `ko_KR.UTF-8` of an environment. Without a catalogue for the region,
            that of the language is meant.
    """
    tag = name.partition(".")[0].partition("@")[0].replace("_", "-").lower()
    known = {language.lower(): language for language in languages()}
    return known.get(tag) or known.get(tag.partition("-")[0])


def translated(language: str, english: str, plural: str, count: int, context: str) -> str:
    """The sentence in a language; in English where the catalogue has none.

    Args:
        english: the sentence, for a count of one if `plural` is given.
        plural: the sentence for another count; empty if there is no count.
        context: distinguishes sentences that are equal in English.

    Raises:
        CatalogueError: the catalogue cannot be used.
    """
    if language == ENGLISH:
        return plural if plural and count != 1 else english
    catalogue = _catalogue(catalogue_files()[language])
    try:
        return _entry(catalogue, english, plural, count, context)
    except ArithmeticError:  # its rule for plurals, such as `n % 0`
        return translated(ENGLISH, english, plural, count, context)


def _entry(catalogue: GNUTranslations, english: str, plural: str, count: int, context: str) -> str:
    match bool(plural), bool(context):
        case False, False:
            return catalogue.gettext(english)
        case False, True:
            return catalogue.pgettext(context, english)
        case True, False:
            return catalogue.ngettext(english, plural, count)
        case _:
            return catalogue.npgettext(context, english, plural, count)


def require_usable(language: str) -> None:
    """Loads the catalogue of a language, if it is one of the folder in the environment.

    Raises:
        CatalogueError: it cannot be used.
    """
    file = catalogue_files().get(language)
    if file is not None and file.parent != FOLDER:
        _catalogue(file)


def every_sentence(language: str) -> tuple[str, ...]:
    """All sentences of the tool in a language; the English ones are those that catalogues translate."""
    if language == ENGLISH:
        entries = [entry for file in catalogue_files().values() for entry in _entries(file)]
        return tuple(text for entry in entries for text in (entry.msgid, entry.msgid_plural) if text)
    entries = _entries(catalogue_files()[language])
    return tuple(text for entry in entries for text in (entry.msgstr, *entry.msgstr_plural.values()) if text)


@cache
def _catalogue_files(further: str | None) -> dict[str, Path]:
    folders = [FOLDER, *([Path(further)] if further else [])]
    return {file.stem: file for folder in folders for file in sorted(folder.glob("*.po"))}


@cache
def _catalogue(file: Path) -> GNUTranslations:
    import io  # noqa: PLC0415 - English runs do not need it
    from gettext import GNUTranslations  # noqa: PLC0415 - English runs do not need it

    try:
        return GNUTranslations(io.BytesIO(_entries(file).to_binary()))
    except (ValueError, LookupError, ArithmeticError) as error:  # its encoding, or its rule for plurals
        raise CatalogueError(file, str(error)) from error


@cache
def _entries(file: Path) -> POFile:
    import polib  # noqa: PLC0415 - English runs do not need it

    if not file.is_file() or file.stat().st_size > _MOST_BYTES:
        raise CatalogueError(file, f"it is not a regular file of at most {_MOST_BYTES} bytes")
    try:
        return polib.pofile(str(file), encoding="utf-8")
    except (OSError, ValueError) as error:
        raise CatalogueError(file, str(error)) from error
