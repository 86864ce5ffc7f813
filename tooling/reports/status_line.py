"""A line that shows what is going on, in a terminal only, and the output of a program above it."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections import deque
from types import TracebackType

from tooling.reports.terminal import Terminal
from tooling.text import Sentence, Text
from tooling.text.width import columns

PHASES_VARIABLE = "PUZZLE_PHASES_FD"
"""The descriptor of a pipe to which a command writes what it does, a line for each phase."""

_SIGNS = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_PATIENCE = 0.5  # seconds without output before the line appears
_TICK = 0.15
_MOST_LINES = 200  # of a program's output that a terminal shows as they arrive
_LAST_LINES = 10  # of a longer output, shown at the end
_LEFT_OUT = Text("[{count} lines left out]")


class StatusLine:
    """Shows a text with the elapsed seconds while nothing else is written; use as a context manager."""

    def __init__(self, terminal: Terminal, language: str) -> None:
        self._terminal = terminal
        self._language = language
        self._reader = os.environ.get(PHASES_VARIABLE, "")
        self._live = terminal.stream.isatty() and os.environ.get("TERM") != "dumb"
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._draw_again_and_again, daemon=True)
        self._text = ""
        self._since = self._quiet_since = time.monotonic()
        self._drawn = False
        self._at_line_start = True
        self._lines = 0
        self._last: deque[str] = deque(maxlen=_LAST_LINES)
        self._left_out = 0

    def __enter__(self) -> StatusLine:
        if self._live:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._live:
            self._thread.join()
            self._clear()
            self._show_the_rest()
            self._terminal.stream.flush()

    def say(self, sentence: Sentence) -> None:
        """What is going on from now on; the command that started this one, if it asks for it, reads it."""
        if self._reader.isdecimal():
            with contextlib.suppress(OSError):
                os.write(int(self._reader), f"{sentence.render(self._language)}\n".encode())
        with self._lock:
            self._clear()
            self._text = sentence.render(self._language)
            self._since = self._quiet_since = time.monotonic()

    def write(self, text: str) -> None:
        """Shows a program's output; in a terminal only the beginning and the end of a long one."""
        with self._lock:
            self._clear()
            self._quiet_since = time.monotonic()
            if self._live:
                text = self._limited(text)
            if text:
                self._at_line_start = text.endswith("\n")
                self._terminal.stream.write(text)
            self._terminal.stream.flush()

    def _limited(self, text: str) -> str:
        shown = []
        for line in text.splitlines(keepends=True):
            if self._lines < _MOST_LINES:
                shown.append(line)
                self._lines += line.endswith("\n")
            elif self._last and not self._last[-1].endswith("\n"):
                self._last[-1] = (self._last[-1] + line)[-1000:]
            else:
                self._left_out += len(self._last) == _LAST_LINES
                self._last.append(line)
        return "".join(shown)

    def _show_the_rest(self) -> None:
        if self._left_out:
            text = _LEFT_OUT.of(count=self._left_out).render(self._language)
            self._terminal.line(self._terminal.paint(text, "dim"))
        self._terminal.stream.write("".join(self._last))

    def _draw_again_and_again(self) -> None:
        while not self._ended.wait(_TICK):
            with self._lock:
                self._draw()

    def _draw(self) -> None:
        now = time.monotonic()
        if not self._text or not self._at_line_start or now - self._quiet_since < _PATIENCE:
            return
        sign = _SIGNS[int(now * 8) % len(_SIGNS)]
        line = f"{sign} {self._text} … {now - self._since:.0f} s"
        width = (self._terminal.width or 80) - 1
        while columns(line) > width:
            line = line[:-1]
        self._terminal.stream.write("\r\x1b[K" + self._terminal.paint(self._terminal.showable(line), "dim"))
        self._terminal.stream.flush()
        self._drawn = True

    def _clear(self) -> None:
        if self._drawn:
            self._terminal.stream.write("\r\x1b[K")
            self._drawn = False
