"""The hints of a mode, one at a time."""

from __future__ import annotations

import os

from tooling.catalog.model import Mode
from tooling.platform.errors import ToolingError
from tooling.reports.invocation import as_typed, tool_prefix
from tooling.reports.terminal import Terminal
from tooling.text import Text

_HINT = Text("hint {number} of {count}")
_NEXT = Text("the next one: `{tool} hint {command} {number}`")
_LAST = Text("that was the last one; the solution: `{tool} solution {command}`")
_NEXT_KEY = Text("the next one: `h`")
_LAST_KEY = Text("that was the last one; the first one again: `h`; the solution: `s`")
_NO_HINT = Text("`{command}` has no hint {number}")
_ONLY = Text("it has {count}")
_GIVEN = Text("its code is given, so there is nothing to write")
_FIRST = Text("`tooling hint {command}` shows the first")


def show_hint(
    mode: Mode, command: str, number: int, terminal: Terminal, language: str = "en", *, keys: bool = False
) -> None:
    """Writes the hint with this number (from 1), and the command that shows the next one.

    Args:
        command: the program and flags of the mode.
        keys: name the keys of `tooling watch` in place of the commands.

    Raises:
        ToolingError: the mode has no such hint.
    """
    count = len(mode.hints)
    if not 1 <= number <= count:
        error = ToolingError(
            _NO_HINT.of(command=command, number=number),
            why=_ONLY.of(count=count) if count else _GIVEN,
            hint=_FIRST.of(command=command) if count else None,
        )
        error.speak(language)
        raise error
    label = _HINT.of(number=number, count=count).render(language)
    text = as_typed(mode.hints[number - 1].render(language), os.environ)
    terminal.labelled(label, text, "cyan", indent="")
    last = number == count
    more = (_LAST_KEY if last else _NEXT_KEY) if keys else _LAST if last else _NEXT
    facts = {"tool": tool_prefix(os.environ), "command": command, "number": number + 1}
    terminal.wrapped("  " + more.of(**facts).render(language), "dim")
