"""The errors of a build of the book."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tooling.platform.errors import Location, ToolingError
from tooling.platform.exit_codes import ExitCode


class BookError(ToolingError):
    """An error in a page, in a figure or in the configuration of the book."""

    exit_code = ExitCode.WRONG


class BookErrors(BookError):
    """All errors of a build, collected."""

    def __init__(self, problems: Sequence[ToolingError]) -> None:
        count = len(problems)
        super().__init__(f"{count} {'thing is' if count == 1 else 'things are'} wrong in the book")
        self.problems = tuple(problems)

    @property
    def details(self) -> str:
        """All of them."""
        return "\n".join(map(str, self.problems))

    def __str__(self) -> str:
        return f"{self.details}\n{self.what}"


def malformed(what: str, path: Path, error: Exception, hint: str | None = None) -> BookError:
    """The error for a file of the book with unexpected contents."""
    return BookError(
        f"this is not a {what}", where=Location(path), why=f"{type(error).__name__}: {error}", hint=hint
    )


class BuildFailed(BookError):
    """mdBook could not render an edition."""

    exit_code = ExitCode.BUILD_FAILED


class BookGroupMissing(ToolingError):
    """A package of the dependency group `book` is not installed."""

    exit_code = ExitCode.NOT_POSSIBLE

    def __init__(self, package: str, why: str) -> None:
        super().__init__(
            f"{package} is not installed",
            why=f"{why}; most commands do not need it, so it is in the dependency group `book`",
            hint="begin the command with `uv run --group book`",
        )


class MdbookMissing(BookError):
    """The mdBook binary, or the right version of it, is not installed."""

    exit_code = ExitCode.NOT_POSSIBLE
