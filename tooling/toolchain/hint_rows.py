"""The rows of the tables of hints for compiler messages."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from tooling.text import Text


class HintRow(Struct, frozen=True):
    """One row: the hint applies if all patterns match.

    Attributes:
        message: pattern for the compiler's message; its named groups are facts of the hint. Empty: any.
        source: pattern for the source line. Empty: any.
        before: pattern for the line of code before it. Empty: any.
    """

    message: str
    source: str
    hint: Text
    before: str = ""


def first_hint(rows: Iterable[HintRow], message: str, source_line: str, line_before: str) -> Text | None:
    """The hint of the first row that applies."""
    for row in rows:
        found = re.search(row.message, message)
        if found and re.search(row.source, source_line) and re.search(row.before, line_before):
            return row.hint.of(**found.groupdict())
    return None
