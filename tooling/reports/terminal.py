"""Text output for a terminal: colour, symbols, width. Imports only small modules."""

from __future__ import annotations

import codecs
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TextIO

from msgspec import Struct

from tooling.text import Sentence, Text
from tooling.text.colours import style_codes, wants_colour
from tooling.text.width import columns

if TYPE_CHECKING:
    from rich.console import Console

_CONTROL = re.compile(r"\x1b(?!\[[\d;]+m)|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f\x80-\x9f]")
_PLAIN_SIGNS = {
    "✅": "[passed]",
    "❌": "[wrong]",
    "⏱": "[time limit]",
    "≠": "!=",
    "…": "...",
    "→": "->",
    "—": "-",
    "×": "x",
    "−": "-",
    "₂": "2",
}
SUCCESS = "✅"
_NOTE = Text("note")
_SOURCE_INDENT = " " * 6  # of source lines and markers among the compiler's messages
_NARROWEST, _WIDEST = 30, 110  # columns that texts are wrapped at


class Terminal(Struct, frozen=True):
    """An output stream with its capabilities."""

    stream: TextIO
    colour: bool
    width: int | None  # columns; None: no wrapping

    def paint(self, text: str, style: str) -> str:
        return f"\x1b[{style_codes()[style]}m{text}\x1b[0m" if self.colour and text else text

    def line(self, text: str = "") -> None:
        """Writes one line, with replacements for what the stream's encoding does not have.

        Control characters, which a file's name may contain, are shown as `\\x1b`; colours remain.
        """
        self.stream.write(self.showable(_CONTROL.sub(lambda match: repr(match[0])[1:-1], text)) + "\n")

    def wrapped(self, text: str, style: str | None = None) -> None:
        """Writes a line; a long one is wrapped, with its continuation lines indented by two more columns."""
        for line in self._wrap(text):
            words = line.lstrip()
            indent = line[: len(line) - len(words)]
            self.line(indent + (self.paint(words, style) if style else words))

    def message(self, line: str, style: str | None = None) -> None:
        """Writes a line of the compiler: its sentences are wrapped, lines of source and markers are not."""
        if line.startswith(_SOURCE_INDENT):
            self.line(self.paint(line, style) if style else line)
        else:
            self.wrapped(line, style)

    def labelled(self, label: str, text: str, style: str = "dim", indent: str = "  ") -> None:
        """Writes `  label: text`, wrapped."""
        first, *others = self._wrap(f"{indent}{label}: {text}")
        painted = first.replace(f"{label}:", self.paint(f"{label}:", style), 1)
        for line in (painted, *others):
            self.line(line)

    def note(self, text: Sentence, language: str) -> None:
        """Writes `note: text` in a language, wrapped."""
        self.wrapped(f"{_NOTE.render(language)}: {text.render(language)}", "dim")

    def headed(self, head: str, rest: str, style: str) -> None:
        """Writes a line that begins with a painted head, wrapped."""
        first, *others = self._wrap(head + rest)
        self.line(first.replace(head, self.paint(head, style), 1))
        for line in others:
            self.line(line)

    def _wrap(self, text: str) -> Iterator[str]:
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

    def console(self) -> Console:
        """For tables, wider than a terminal where there is none."""
        from rich.console import Console  # noqa: PLC0415 - few commands print tables

        width = None if self.stream.isatty() or "COLUMNS" in os.environ else 140
        return Console(file=self.stream, width=width, no_color=not self.colour)

    def streamer(self) -> Callable[[bytes], None]:
        """A function that shows a program's output as it arrives."""
        return ProgramOutput(self).show


class ProgramOutput:
    """Shows a program's output as it arrives; what follows a ✅ of its own waits for the verdict."""

    def __init__(
        self, terminal: Terminal, *, judged: bool = False, write: Callable[[str], None] | None = None
    ) -> None:
        """The output of a program in a terminal.

        Args:
            judged: a verdict follows.
            write: writes text to the terminal; by default at once.
        """
        self._terminal = terminal
        self._write_to_terminal = write or self._write_at_once
        self._judged = judged
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._line = ""  # the beginning of a line that is not complete
        self._held: list[str] = []

    def show(self, data: bytes) -> None:
        text = self._decoder.decode(data)
        if self._judged:
            *lines, self._line = (self._line + text).split("\n")
            text = ""
            for line in lines:
                if self._held or SUCCESS in line:
                    self._held.append(line + "\n")
                else:
                    text += line + "\n"
        self._write(text)

    def end(self, *, passed: bool) -> None:
        """Shows the rest; a line with the program's own ✅ only if it passed."""
        held, self._held = [*self._held, self._line], []
        self._line = ""
        self._write("".join(line for line in held if passed or SUCCESS not in line))

    def _write(self, text: str) -> None:
        if text:
            self._write_to_terminal(self._terminal.showable(text))

    def _write_at_once(self, text: str) -> None:
        self._terminal.stream.write(text)
        self._terminal.stream.flush()


def broken(line: str, width: int) -> Iterator[str]:
    """A line wrapped at spaces to a width in columns; continuation lines are indented by two more columns."""
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    while columns(line) > width:
        cut, used = 0, 0
        for index, letter in enumerate(line):
            used += columns(letter)
            if used > width:
                break
            if letter == " " and index > len(indent):
                cut = index
        if not cut:
            break
        yield line[:cut]
        line = indent + line[cut + 1 :]
    yield line


def open_terminal(stream: TextIO | None = None) -> Terminal:
    """The terminal of a stream (default: stdout)."""
    stream = stream or sys.stdout
    interactive = stream.isatty()
    width = (
        min(shutil.get_terminal_size().columns, _WIDEST) if interactive or "COLUMNS" in os.environ else None
    )
    return Terminal(stream, wants_colour(stream), width)
