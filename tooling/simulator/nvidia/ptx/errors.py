"""Errors about PTX text that the simulator cannot read or execute."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tooling.simulator.gpu.code_model import SourceLocation
from tooling.simulator.gpu.stop_texts import FROM
from tooling.simulator.program.backend import CodeError
from tooling.text import Text

SCOPE = re.compile(r"_scope\d+_?")
"""In the name of a register or label that was declared inside nested braces; see `body`."""


class UnreadableToken(ValueError):
    """A declaration or an operand that cannot be read; `token` is the text at fault."""

    def __init__(self, what: str, token: str) -> None:
        super().__init__(what)
        self.token = token


def token_of(error: ValueError) -> str:
    """The text that could not be read; empty where the error does not name it."""
    return error.token if isinstance(error, UnreadableToken) else ""


def locate(lines: Sequence[str], index: int, start: int, token: str) -> tuple[int, int]:
    """Find a token of a statement.

    Args:
        lines: the PTX text.
        index, start: line and column at which the statement begins, from 0.
        token: its text; a name may end with the suffix of its nested block.

    Returns:
        Line index and column from 0: of the token, or of the statement where the token is not found.
    """
    token = SCOPE.sub("", token.strip())
    if not token:
        return index, start
    pattern = re.compile(rf"(?<![\w$%.]){re.escape(token)}(?![\w$])")
    column = start
    for number in range(index, len(lines)):
        code = lines[number].split("//", 1)[0]
        found = pattern.search(code, column)
        if found is not None:
            return number, found.start()
        if ";" in code[column:]:
            break
        column = 0
    return index, start


_AT = Text("{position}: {what}")
_AT_LINE = Text("PTX line {line}, column {column}{source}")


class PtxError(CodeError):
    """PTX that cannot be read or executed; the simulator never guesses.

    Args:
        what: a sentence; untranslated where no compiler produces such PTX.

    Attributes:
        line: line in the PTX text, from 1.
        column: column in that line, from 1.
        text: the line itself.
        source: the location in the Mojo source, where known.
    """

    def __init__(
        self,
        what: Text | str,
        *,
        line: int,
        column: int = 1,
        text: str = "",
        source: SourceLocation | None = None,
        why: Text | None = None,
        hint: Text | None = None,
    ) -> None:
        self.line = line
        self.column = column
        self.text = text
        self.source = source
        position = _AT_LINE.of(line=line, column=column, source=FROM.of(source=source) if source else "")
        super().__init__(_AT.of(position=position, what=what), why=why, hint=hint)

    def __str__(self) -> str:
        message = super().__str__()
        if not self.text:
            return message
        caret = " " * (self.column - 1) + "^"
        return f"{message}\n  | {self.text.expandtabs(1)}\n  | {caret}"
