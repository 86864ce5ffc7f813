"""What the sentences of the checks consist of, in any language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from msgspec import Struct


class FindingText(NamedTuple):
    """One kind of finding: what happened, why it matters, what to try."""

    what: str
    why: str
    hint: str


class FindingLanguage(Struct, frozen=True):
    """Everything a rendered finding needs in one language.

    `where`, `why` and `hint` are the labels of the parts, `where_width` the columns that the first takes.
    """

    texts: Mapping[str, FindingText]
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
    variable: str
    byte_adjective: str
    element: str
    bytes_of: Callable[[int], str]
