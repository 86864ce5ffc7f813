"""The text of source lines, if the file that the line table names can be read."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path, PurePath

from tooling.platform.regular_files import read_text
from tooling.simulator.counters.profile import Line


@lru_cache(maxsize=64)
def _lines(file: str) -> tuple[str, ...]:
    try:
        return tuple(read_text(Path(file), errors="replace").splitlines())
    except OSError:
        return ()  # a program built on another machine


def whole_line(line: Line) -> str:
    """The line with its indentation, empty if it cannot be read."""
    lines = _lines(line.file)
    return lines[line.number - 1].rstrip() if 0 < line.number <= len(lines) else ""


def source_text(line: Line) -> str:
    """The line without its indentation, empty if it cannot be read."""
    return whole_line(line).strip()


def file_and_line(line: Line) -> str:
    """`p15.mojo:12`; empty if the line is unknown."""
    return f"{PurePath(line.file).name}:{line.number}" if line.number else ""
