"""`new-lang`: creates the files that a translation into another language starts from."""

from __future__ import annotations

import re
from itertools import dropwhile
from pathlib import Path

from msgspec import Struct

from tooling.platform.atomic_write import write_atomically
from tooling.platform.errors import Location, ToolingError
from tooling.platform.regular_files import TEXT_LIMIT, read_regular, read_text
from tooling.text import Text
from tooling.translations.marker import write_marker
from tooling.translations.model import Pin
from tooling.translations.pages import blob_ids, find_pages
from tooling.translations.settings import LANGUAGE_CODE, LANGUAGES, SOURCE_LANGUAGE, LanguagePolicy

_GLOSSARY = """\
# Terms of the field: the form this translation uses, and forms it avoids. A check needs at least one term.
# - en: barrier
#   {language}: [form]
#   avoid: [other form]
terms: []
"""


class NewLanguageError(ToolingError):
    """The language cannot be added."""


class NewLanguage(Struct, frozen=True):
    """The files that were written, and the pages that are not translated yet."""

    written: tuple[Path, ...]
    pages: tuple[str, ...]


def add_language(base: Path, source: Path, code: str, name: str | None = None) -> NewLanguage:
    """Writes book.toml, SUMMARY.md, a glossary to fill and the entry for the language switcher.

    The translation is growing: pages without a translation are shown in the source's language. When all are
    translated, its policy becomes `complete`.

    Args:
        base: the folder that holds `i18n/`.
        source: the source pages; book.toml is in the folder above them.
        name: the language's own name, for the switcher.

    Raises:
        NewLanguageError: not a language code, already there, or the source book is incomplete.
    """
    if LANGUAGE_CODE.fullmatch(code) is None:
        raise NewLanguageError(
            Text("not a language code: {code!r}").of(code=code),
            why=Text("mdBook writes it into every page's `lang` attribute"),
            hint=Text("use a BCP 47 code, such as ja or pt-BR"),
        )
    if code.partition("-")[0] == SOURCE_LANGUAGE:
        raise NewLanguageError(
            Text("{code} is the language of the source").of(code=code),
            why=Text("a translation is in a language of its own"),
        )
    folder = base / "i18n" / code
    if folder.exists():
        hint = Text("tooling check-translations --lang {code} shows its state").of(code=code)
        raise NewLanguageError(
            Text("the language {code} is already there").of(code=code), where=Location(folder), hint=hint
        )
    config, summary = source.parent / "book.toml", source / "SUMMARY.md"
    for needed in (config, summary):
        if not needed.is_file():
            raise NewLanguageError(
                Text("the source book is incomplete"),
                where=Location(needed),
                why=Text("a new language starts from its book.toml and SUMMARY.md"),
                hint=Text("name the folder of the source pages with --source"),
            )
    book = folder / "book"
    includes = sorted(
        (source / "_includes").glob("*.md")
    )  # what pages share, such as the repository's address
    texts = {
        **{book / "src" / "_includes" / path.name: read_text(path) for path in includes},
        book / "book.toml": _config(read_text(config), code),
        book / "src" / "SUMMARY.md": _stamped(summary),
        folder / "glossary.yaml": _GLOSSARY.format(language=code),
        base / LANGUAGES: _languages(base / LANGUAGES, code, name or code),
    }
    for path, text in texts.items():
        write_atomically(path, text.encode())
    pages = tuple(key for key in find_pages(source, "--source") if key != "SUMMARY.md")
    return NewLanguage(tuple(texts), pages)


def _stamped(summary: Path) -> str:
    """The source's table of contents with its marker; `summary` enters the titles of translated pages."""
    data = read_regular(summary, limit=TEXT_LIMIT)
    return write_marker(data, Pin(None, blob_ids(data)[-1])).decode("utf-8")


def _config(text: str, code: str) -> str:
    """The source's book.toml with its language set, without the comment at its top."""
    rows = text.splitlines(keepends=True)
    text = "".join(dropwhile(lambda row: row.startswith("#") or not row.strip(), rows))
    line = f'language = "{code}"'
    changed, count = re.subn(r"(?m)^language\s*=.*$", line, text, count=1)
    if count:
        return changed
    changed, count = re.subn(r"(?m)^\[book\]\s*$", f"[book]\n{line}", text, count=1)
    return changed if count else f"[book]\n{line}\n\n{text}"


def _languages(path: Path, code: str, name: str) -> str:
    known = read_text(path) if path.is_file() else "# Languages of the switcher, in its order.\n"
    policy = LanguagePolicy.GROWING  # until every page is translated
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'{known.rstrip()}\n\n[[language]]\ncode = "{code}"\nname = "{quoted}"\npolicy = "{policy}"\n'
