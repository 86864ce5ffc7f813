"""The translations of a checkout, read from one file: where their pages are, and the languages.

`translations.toml` at the top of the checkout, or `i18n/languages.toml`; the first that exists:

    [translations]                              # what is not given is as in this repository
    source = "content/en"
    translation = "content/{lang}"
    marker = "l10n.sourceCommit"                # a key of the front matter
    profile = "hugo"                            # mdbook, hugo or plain

    [[language]]
    code = "ko"
    name = "한국어"
    policy = "complete"                         # or growing: pages that are not translated yet are no finding
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from tooling.platform.errors import Location, ToolingError
from tooling.platform.regular_files import read_text
from tooling.text import Sentence, Text

SETTINGS = "translations.toml"
LANGUAGES = "i18n/languages.toml"
SOURCE_LANGUAGE = "en"
COMMENT_MARKER = "i18n-source-commit"
LANGUAGE_CODE = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
MARKER_KEY = re.compile(r"[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*")


Choice = TypeVar("Choice", bound=StrEnum)


class SettingsError(ToolingError):
    """The list of languages, or a setting of the translations, is missing or malformed."""


class LanguagePolicy(StrEnum):
    """What is expected of a translation."""

    COMPLETE = "complete"  # every source page has a translation
    GROWING = "growing"  # pages without a translation are shown in the source's language


class Profile(StrEnum):
    """What the pages are written for."""

    MDBOOK = "mdbook"  # includes and links are followed, and SUMMARY.md is the table of contents
    HUGO = "hugo"  # links are routes of the site; shortcodes and front matter are not text
    PLAIN = "plain"  # Markdown with front matter; links are not followed


class TranslationLanguage(Struct, frozen=True):
    """A translation: its code, its own name, and what is expected of it."""

    code: str
    name: str
    policy: LanguagePolicy = LanguagePolicy.COMPLETE


class Settings(Struct, frozen=True):
    """The content of the file.

    Attributes:
        path: the file; None where there is none.
        source, translation, marker, profile: None where the file does not say.
        languages: in the order of the file.
    """

    path: Path | None = None
    source: str | None = None
    translation: str | None = None
    marker: str | None = None
    profile: Profile | None = None
    languages: tuple[TranslationLanguage, ...] = ()

    def policy_of(self, code: str) -> LanguagePolicy:
        """What is expected of a language; all pages of one that is not listed."""
        policies = (one.policy for one in self.languages if one.code == code)
        return next(policies, LanguagePolicy.COMPLETE)


def read_settings(base: Path) -> Settings:
    """The settings of the checkout whose top folder is `base`.

    Raises:
        SettingsError: the file is malformed.
    """
    for name in (SETTINGS, LANGUAGES):
        path = base / name
        if path.is_file():
            return _parsed(read_text(path), path)
    return Settings()


@lru_cache(maxsize=8)
def _parsed(text: str, path: Path) -> Settings:
    import tomllib  # noqa: PLC0415 - this file alone is written in TOML

    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        hint = Text('each language is a `[[language]]` with `code = "ko"` and `name = "한국어"`')
        raise SettingsError(
            Text("the list of languages is malformed"), where=Location(path), why=str(error), hint=hint
        ) from error
    if unknown := sorted(table.keys() - {"translations", "language"}):
        raise _wrong(
            path,
            Text("`{unknown}` is unknown").of(unknown=unknown[0]),
            Text("a [translations] table and [[language]] entries"),
        )
    rows = table.get("language", [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise _wrong(path, Text("`language` is not a list of tables"), "[[language]] entries")
    languages = tuple(_language(row, path) for row in rows)
    codes = [one.code for one in languages]
    for code in codes:
        if code == SOURCE_LANGUAGE or codes.count(code) > 1 or not LANGUAGE_CODE.fullmatch(code):
            raise SettingsError(
                Text("the language `{code}` cannot be added").of(code=code),
                where=Location(path),
                why=Text("a translation has a language code of its own, and English is the source"),
            )
    roots = table.get("translations", {})
    if not isinstance(roots, dict):
        raise _wrong(path, Text("`translations` is not a table"), Text("a [translations] table"))
    values = _texts(roots, ("source", "translation", "marker", "profile"), path)
    marker = values.get("marker")
    if marker is not None and not MARKER_KEY.fullmatch(marker):
        raise _wrong(
            path,
            Text("`marker` is `{marker}`").of(marker=marker),
            Text("a key of the front matter, such as l10n.sourceCommit"),
        )
    return Settings(
        path,
        values.get("source"),
        values.get("translation"),
        marker,
        _one_of(Profile, values.get("profile"), "profile", path),
        languages,
    )


def _language(row: Mapping[str, object], path: Path) -> TranslationLanguage:
    values = _texts(row, ("code", "name", "policy"), path)
    if "code" not in values or "name" not in values:
        raise _wrong(
            path, Text("a language has no code or no name"), Text('`code = "ko"` and `name = "한국어"`')
        )
    policy = _one_of(LanguagePolicy, values.get("policy"), "policy", path)
    return TranslationLanguage(values["code"], values["name"], policy or LanguagePolicy.COMPLETE)


def _texts(table: Mapping[str, object], names: tuple[str, ...], path: Path) -> dict[str, str]:
    """The values of a table, all of which are texts."""
    found: dict[str, str] = {}
    for name, value in table.items():
        if name not in names:
            raise _wrong(
                path,
                Text("`{name}` is unknown").of(name=name),
                Text("one of {names}").of(names=", ".join(names)),
            )
        if not isinstance(value, str) or not value:
            raise _wrong(path, Text("`{name}` is `{value}`").of(name=name, value=value), Text("a text"))
        found[name] = value
    return found


def _one_of(kind: type[Choice], value: str | None, name: str, path: Path) -> Choice | None:
    if value is None:
        return None
    choices = [one.value for one in kind]
    if value not in choices:
        raise _wrong(
            path,
            Text("`{name}` is `{value}`").of(name=name, value=value),
            Text("one of {choices}").of(choices=", ".join(choices)),
        )
    return kind(value)


def _wrong(path: Path, why: Text, expected: str | Sentence) -> SettingsError:
    return SettingsError(
        Text("the settings of the translations are malformed"),
        where=Location(path),
        why=why,
        hint=Text("write {form}").of(form=expected),
    )
