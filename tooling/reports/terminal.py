"""Plain-text output that suits the terminal: colour, signs, width. Imports nothing heavy."""

from __future__ import annotations

import codecs
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from typing import TextIO

from msgspec import Struct

from tooling.text.width import columns

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
_NARROWEST, _WIDEST = 30, 110  # columns that texts are broken to


class Terminal(Struct, frozen=True):
    """One output stream and what it can show."""

    stream: TextIO
    colour: bool
    width: int | None  # columns; None where nothing is to be wrapped

    def paint(self, text: str, style: str) -> str:
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self.colour and text else text

    def line(self, text: str = "") -> None:
        """Writes one line, with signs that the stream's encoding can show."""
        self.stream.write(self.showable(text) + "\n")

    def wrapped(self, text: str, style: str | None = None) -> None:
        """Writes a line, which goes on below itself, a little further in, where it is too long."""
        for part in self._parts(text):
            words = part.lstrip()
            indent = part[: len(part) - len(words)]
            self.line(indent + (self.paint(words, style) if style else words))

    def labelled(self, label: str, text: str, style: str = "dim") -> None:
        """Writes `  label: text`, wrapped under itself."""
        first, *others = self._parts(f"  {label}: {text}")
        painted = first.replace(f"{label}:", self.paint(f"{label}:", style), 1)
        for part in (painted, *others):
            self.line(part)

    def _parts(self, text: str) -> Iterator[str]:
        return broken(text, max(_NARROWEST, self.width)) if self.width else iter((text,))

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


def broken(line: str, width: int) -> Iterator[str]:
    """A line broken at spaces to so many columns; what follows is set two columns further in."""
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    while columns(line) > width:
        cut, used = 0, 0
        for place, letter in enumerate(line):
            used += columns(letter)
            if used > width:
                break
            if letter == " " and place > len(indent):
                cut = place
        if not cut:
            break
        yield line[:cut]
        line = indent + line[cut + 1 :]
    yield line


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
