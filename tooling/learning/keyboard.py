"""Keys of a terminal as they are typed, and a while in which another program has the terminal."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import signal
import sys
import termios
import tty
from collections.abc import Iterator

from rich.live import Live

from tooling.platform.errors import ToolingError
from tooling.text import Text

UP, DOWN = ("\x1b[A", "\x1bOA"), ("\x1b[B", "\x1bOB")
PAGE_UP, PAGE_DOWN = ("\x1b[5~",), ("\x1b[6~",)
HOME, END = ("\x1b[H", "\x1bOH", "\x1b[1~"), ("\x1b[F", "\x1bOF", "\x1b[4~")
ENTER, ESCAPE, BACKSPACE = ("\r", "\n"), ("\x1b",), ("\x7f", "\b")
_KEY = re.compile(r"\x1b(?:\[[\d;]*[A-Za-z~]|O[A-Z])?|.", re.DOTALL)
END_OF_INPUT = ("\x03", "\x04")  # Ctrl+C where it is no interrupt, and Ctrl+D


@contextlib.contextmanager
def unbuffered_keys() -> Iterator[None]:
    """Keys arrive at once and are not echoed, those typed before as well; Ctrl+C is still an interrupt.

    Raises:
        ToolingError: stdin is not a terminal.
    """
    try:
        before = termios.tcgetattr(sys.stdin.fileno())
    except termios.error as error:
        raise ToolingError(Text("stdin is not a terminal"), why=str(error)) from error
    tty.setcbreak(sys.stdin.fileno(), termios.TCSADRAIN)
    try:
        yield
    finally:
        with contextlib.suppress(termios.error):  # the terminal was closed
            termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, before)


@contextlib.contextmanager
def released_terminal(live: Live) -> Iterator[None]:
    """Another program has the terminal, with keys as it expects them; an interrupt is for that program."""
    descriptor = sys.stdin.fileno()
    keys = termios.tcgetattr(descriptor)
    live.stop()
    usual = termios.tcgetattr(descriptor)
    usual[3] |= termios.ICANON | termios.ECHO
    termios.tcsetattr(descriptor, termios.TCSADRAIN, usual)
    interrupt = signal.signal(signal.SIGINT, _ignore)  # unlike SIG_IGN, not inherited by the program
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, interrupt)
        termios.tcsetattr(descriptor, termios.TCSADRAIN, keys)
        live.start(refresh=True)


def discard_keys() -> None:
    """Keys that were typed before are not read."""
    termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def _ignore(_number: int, _frame: object) -> None:
    pass


def read_keys() -> list[str]:
    """The keys that were typed; one that sends an escape sequence is one key.

    Raises:
        OSError: the terminal was closed.
    """
    data = os.read(sys.stdin.fileno(), 64)
    if not data:
        raise OSError(errno.EIO, os.strerror(errno.EIO))
    return _KEY.findall(data.decode("utf-8", "replace"))
