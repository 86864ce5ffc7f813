"""Opens a file in the reader's editor."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

from rich.live import Live

from tooling.learning.keyboard import released_terminal
from tooling.text import Sentence, Text

_NO_EDITOR = Text("no editor: set EDITOR, for example to `nano` or `code --wait`")
_NOT_STARTED = Text("the editor `{editor}` could not be started: {why}")
_OPENED = Text("{file} is open in {editor}")
_WINDOWS = ("code", "code-insiders", "codium", "cursor", "zed", "subl", "gvim", "gedit", "kate", "idea")
"""Editors with windows of their own, which leave the terminal as it is."""


def editor_command() -> list[str]:
    """The command that opens files: VS Code's in its own terminal, else VISUAL, EDITOR, or VS Code's.

    Empty: there is none.
    """
    code = shutil.which("code")
    if code and os.environ.get("TERM_PROGRAM") == "vscode":
        return [code]
    named = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if named:
        return shlex.split(named)
    return [code] if code else []


def open_in_editor(file: Path, live: Live) -> Sentence | None:
    """Opens a file; an editor of the terminal gets it until it ends.

    Returns:
        What to say about it; None where the reader has been in the editor.
    """
    command = editor_command()
    if not command:
        return _NO_EDITOR
    name = Path(command[0]).name
    try:
        if name in _WINDOWS:
            subprocess.Popen(
                [*command, str(file)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            return _OPENED.of(file=file.name, editor=name)
        with released_terminal(live):
            subprocess.run([*command, str(file)], check=False)
    except OSError as error:
        return _NOT_STARTED.of(editor=command[0], why=error.strerror or str(error))
    return None
