"""The base of every error that a person sees: what, where, why, what to try."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from tooling.exit_codes import ExitCode
from tooling.text import ENGLISH, Sentence
from tooling.text.sentences import in_language


class Location(Struct, frozen=True, array_like=True):
    """A place in a file; line and column count from 1, as editors do. A file keeps it as an array."""

    path: Path
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        parts = [str(self.path)]
        if self.line is not None:
            parts.append(str(self.line))
            if self.column is not None:
                parts.append(str(self.column))
        return ":".join(parts)


class ToolingError(Exception):
    """An error with its four answers. Subclasses fix `exit_code` and add fields, never only text.

    Args:
        what: one line that says what went wrong.
        where: the file, line and column it concerns, where there is one.
        why: the reason, or the rule that was broken.
        hint: what to try next, as a command or an edit.

    Attributes:
        what, why, hint: in English, or in the language chosen by `speak`.
    """

    exit_code: ExitCode = ExitCode.USAGE

    def __init__(
        self,
        what: str | Sentence,
        *,
        where: Location | None = None,
        why: str | Sentence | None = None,
        hint: str | Sentence | None = None,
    ) -> None:
        self.where = where
        self._answers = what, why, hint
        self.speak(ENGLISH)
        super().__init__(self.what)

    def speak(self, language: str) -> None:
        """Choose the language of its answers; those that are plain text stay as they are."""
        answers = (in_language(answer, language) for answer in self._answers)
        self.what: str
        self.why: str | None
        self.hint: str | None
        self.what, self.why, self.hint = answers

    def __reduce__(self) -> tuple[object, ...]:
        """Copied to another process without `__init__`, whose arguments differ from class to class."""
        return _made_again, (type(self), self.args, self.__dict__)

    def __str__(self) -> str:
        lines = [f"{self.where}: {self.what}" if self.where else self.what]
        if self.why:
            lines.append(f"  why: {self.why}")
        if self.hint:
            lines.append(f"  try: {self.hint}")
        return "\n".join(lines)


def _made_again(
    kind: type[ToolingError], arguments: tuple[object, ...], state: dict[str, object]
) -> ToolingError:
    error = kind.__new__(kind, *arguments)
    error.__dict__.update(state)
    return error
