"""The sentences of the checks, one module per language.

Keys are the values of the enums of `tooling.simulator.findings`; braces name facts that `findings.explain`
fills in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import NamedTuple, cast

from tooling.record import Record

LANGUAGES = ("en", "ko")


class Text(NamedTuple):
    """One kind of finding: what happened, why it matters, what to try."""

    what: str
    why: str
    hint: str


class Language(Record):
    """Everything a rendered finding needs in one language.

    `where`, `why` and `hint` are the labels of the parts, `where_width` the columns that the first takes.
    """

    texts: Mapping[str, Text]
    severity: Mapping[str, str]
    actions: Mapping[str, str]
    accesses: Mapping[str, str]
    memories: Mapping[str, str]
    windows: Mapping[str, str]
    shared_array: str
    race_hints: Mapping[str, str]
    where: str
    where_width: int
    why: str
    hint: str
    party: str
    party_many: str
    after: str
    times: str
    buffer: str
    buffer_argument: str
    byte_adjective: str
    element: str
    bytes_of: Callable[[int], str]


def language_named(code: str) -> Language:
    """The sentences of a language of `LANGUAGES`; KeyError for another one."""
    if code not in LANGUAGES:
        raise KeyError(code)
    return cast(Language, import_module(f"{__name__}.{code}").LANGUAGE)
