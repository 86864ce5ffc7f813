"""The base of every error that a person sees: what, where, why, what to try."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from tooling.exit_codes import ExitCode


class Location(Struct, frozen=True):
    """A place in a file; line and column count from 1, as editors do."""

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
    """

    exit_code: ExitCode = ExitCode.USAGE

    def __init__(
        self,
        what: str,
        *,
        where: Location | None = None,
        why: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.why = why
        self.hint = hint

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
