"""The optional part of the environment that some programs need: MAX with its graphs."""

from __future__ import annotations

import importlib.metadata

from tooling.errors import ToolingError
from tooling.exit_codes import ExitCode

EXTRA = "max"
PINNED_MAX = "26.7.0"
"""Of the distribution `max`; the extra in pyproject.toml and the feature in pixi.toml pin the same."""


class ExtraMissing(ToolingError):
    """A program needs an optional package that this environment does not have."""

    exit_code = ExitCode.NOT_POSSIBLE


def require_max(program: str) -> None:
    """Makes sure that MAX is installed, in the version that the puzzles are written for.

    Args:
        program: what the user typed after `tooling run`, for the message.

    Raises:
        ExtraMissing: it is not, with the commands that install it.
    """
    hint = f"uv run --extra {EXTRA} poe {program}, or: pixi run -e {EXTRA} {program}"
    try:
        version = importlib.metadata.version("max")
    except importlib.metadata.PackageNotFoundError:
        raise ExtraMissing(
            f"`{program}` needs MAX, which this environment does not have",
            why=f"it drives a MAX graph from Python; most puzzles do without, so MAX is the extra `{EXTRA}`",
            hint=hint,
        ) from None
    if version != PINNED_MAX:
        raise ExtraMissing(
            f"MAX {version} found, but `{program}` is written for MAX {PINNED_MAX}",
            why="each MAX release goes with one Mojo release",
            hint=hint,
        )
