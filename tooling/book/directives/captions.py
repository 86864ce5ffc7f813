"""Captions of code: which lines of which file a block shows, and which of them the learner had to write."""

from __future__ import annotations

import os
import re
from pathlib import Path

from tooling.mdbook.files import Files
from tooling.mdbook.includes import find_directives, take

_BLOCK = re.compile(
    r"^```(?P<language>mojo|python)\n(?P<code>(?:\{\{#include [^}\n]+\}\}\n+)+)```$", re.MULTILINE
)
_WRITTEN = re.compile(r"^([ \t]*)# (?:(?P<opening>FILL: .*|FIX)|END_FILL|END_FIX)\n", re.MULTILINE)
OPENING, CLOSING = "\ue000", "\ue001"
"""Lines around the lines that the learner had to write, until the block is highlighted."""


def name_sources(text: str, page: Path, files: Files, root: Path) -> str:
    """A chapter whose blocks of included code name their file: `mojo,file:problems/p01/p01.mojo#L3-L9`.

    Args:
        text: the chapter, its includes not yet expanded.
        page: its file.
        root: of the checkout; the names of files are relative to it.
    """

    def add(block: re.Match[str]) -> str:
        shown = [each for each in find_directives(block["code"]) if each.includes]
        paths = {files.real(page.parent, each.path) for each in shown}
        try:
            (path,) = paths
            content = files.text(path)
        except (ValueError, OSError):  # several files, or a problem that the expansion reports
            return block[0]
        lines = [number for each in shown for number in take(each.kind, each.selector, content).numbers]
        if not lines:
            return block[0]
        file = Path(path).relative_to(os.path.realpath(root)).as_posix()
        fence = f"```{block['language']},file:{file}#L{min(lines)}-L{max(lines)}"
        return f"{fence}\n{block['code']}```"

    return _BLOCK.sub(add, text)


def mark_written(text: str) -> str:
    """Code whose teaching marks around the learner's lines became OPENING and CLOSING."""
    return _WRITTEN.sub(lambda mark: f"{mark[1]}{OPENING if mark['opening'] else CLOSING}\n", text)
