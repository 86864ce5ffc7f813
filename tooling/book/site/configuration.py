"""The configuration with which mdBook renders the staged pages of an edition.

A book.toml may name programs, as preprocessors and as renderers, and mdBook runs them. It may also name files
anywhere, which mdBook copies into the site. The staged book needs neither: the tool renders all directives
itself and adds the theme.
"""

from __future__ import annotations

import json
import tomllib
from datetime import date, datetime, time
from pathlib import Path

from tooling.book.errors import malformed
from tooling.platform.regular_files import read_text

_FILES = frozenset({"additional-css", "additional-js", "input-404", "theme"})  # keys of [output.html]


def staged_configuration(path: Path) -> str:
    """A book.toml with the settings of the book and of its HTML, and nothing that names a program or a file.

    Args:
        path: the book.toml of the edition.

    Raises:
        BookError: it is not TOML, or one of its tables is another value.
        OSError: it cannot be read.
    """
    try:
        configuration = tomllib.loads(read_text(path))
        book = _table(configuration, "book")
        html = _table(_table(configuration, "output"), "html")
    except ValueError as error:
        raise malformed("configuration of mdBook", path, error) from error
    staged = {
        "book": {**book, "src": "src"},
        "build": {"create-missing": False, "use-default-preprocessors": False},
        "output": {"html": {name: value for name, value in html.items() if name not in _FILES}},
    }
    return "".join(f"{_toml(name)} = {_toml(value)}\n" for name, value in staged.items())


def _table(parent: dict[str, object], name: str) -> dict[str, object]:
    table = parent.get(name, {})
    if not isinstance(table, dict):
        raise ValueError(f"`{name}` is not a table")
    return table


def _toml(value: object) -> str:
    """A value as TOML, tables and arrays on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml(name)} = {_toml(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    if isinstance(value, str):
        # JSON has the same escapes; only DEL needs one in TOML alone.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
    return repr(value)  # a number
