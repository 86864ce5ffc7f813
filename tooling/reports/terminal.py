"""Plain-text output that suits the terminal: colour, signs, width. Imports nothing heavy."""

from __future__ import annotations

import codecs
import os
import shutil
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO

_CODES = {"red": "31", "green": "32", "yellow": "33", "cyan": "36", "dim": "2", "bold": "1"}
_PLAIN_SIGNS = {
    "✅": "[passed]",
    "❌": "[wrong]",
    "⏱": "[time limit]",
    "≠": "!=",
    "…": "...",
    "→": "->",
    "—": "-",
}
_WIDEST = 110


@dataclass(frozen=True, slots=True)
class Terminal:
    """One output stream and what it can show."""

    stream: TextIO
    colour: bool
    width: int | None  # columns; None where nothing is to be wrapped

    def paint(self, text: str, style: str) -> str:
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self.colour and text else text

    def line(self, text: str = "") -> None:
        """Writes one line, with signs that the stream's encoding can show."""
        self.stream.write(self.showable(text) + "\n")

    def wrapped(self, text: str) -> None:
        """Writes a line, which goes on below its own beginning, a little further in, where it is too long."""
        indent = " " * (len(text) - len(text.lstrip()))
        for part in _wrap(text, self.width, "", indent + "  "):
            self.line(part)

    def labelled(self, label: str, text: str, style: str = "dim") -> None:
        """Writes `  label: text`, wrapped under itself."""
        head = f"  {label}: "
        wrapped = _wrap(text, self.width, head, " " * 4)
        wrapped[0] = "  " + self.paint(f"{label}:", style) + wrapped[0][len(head) - 1 :]
        for part in wrapped:
            self.line(part)

    def showable(self, text: str) -> str:
        encoding = getattr(self.stream, "encoding", None) or "utf-8"
        try:
            text.encode(encoding)
            return text
        except UnicodeEncodeError:
            for sign, plain in _PLAIN_SIGNS.items():
                text = text.replace(sign, plain)
            return text.encode(encoding, "replace").decode(encoding)

    def streamer(self) -> Callable[[bytes], None]:
        """A function that shows a program's output as it comes."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")

        def show(data: bytes) -> None:
            self.stream.write(self.showable(decoder.decode(data)))
            self.stream.flush()

        return show


def _wrap(text: str, width: int | None, first: str, others: str) -> list[str]:
    """The lines of a text, the first and the others with something before them; at least one."""
    return textwrap.wrap(
        text,
        width=max(30, width) if width else 10_000,
        initial_indent=first,
        subsequent_indent=others,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [first]


def open_terminal(stream: TextIO | None = None) -> Terminal:
    """The terminal of a stream (default: stdout): honours NO_COLOR, FORCE_COLOR, TERM=dumb and pipes."""
    stream = stream or sys.stdout
    interactive = stream.isatty()
    if os.environ.get("NO_COLOR"):
        colour = False
    elif os.environ.get("FORCE_COLOR"):
        colour = True
    else:
        colour = interactive and os.environ.get("TERM") != "dumb"
    width = (
        min(shutil.get_terminal_size().columns, _WIDEST) if interactive or "COLUMNS" in os.environ else None
    )
    return Terminal(stream, colour, width)
