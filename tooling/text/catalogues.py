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
    """
    if language == ENGLISH:
        return plural if plural and count != 1 else english
    catalogue = _catalogue(catalogue_files()[language])
    match bool(plural), bool(context):
        case False, False:
            return catalogue.gettext(english)
        case False, True:
            return catalogue.pgettext(context, english)
        case True, False:
            return catalogue.ngettext(english, plural, count)
        case _:
            return catalogue.npgettext(context, english, plural, count)


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

    return GNUTranslations(io.BytesIO(_entries(file).to_binary()))


@cache
def _entries(file: Path) -> POFile:
    import polib  # noqa: PLC0415 - English runs do not need it

    return polib.pofile(str(file), encoding="utf-8")
