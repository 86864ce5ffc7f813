"""An error as the console shows it."""

from __future__ import annotations

import os

from tooling.platform.errors import ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.reports.invocation import as_typed, from_here
from tooling.reports.terminal import Terminal
from tooling.text import Text

_ERROR, _WHY, _TRY = Text("error"), Text("why"), Text("try")


def show_error(error: ToolingError, terminal: Terminal, language: str) -> None:
    """Writes an error with its fields; its commands can be typed as they are shown."""
    error.speak(language)
    head = f"{error.where}: {error.what}" if error.where else error.what
    details = str(getattr(error, "details", ""))
    if error.exit_code is ExitCode.BUILD_FAILED:
        head, details = from_here(head, os.environ), from_here(details, os.environ)
    terminal.labelled(_ERROR.render(error.language), head, "red", indent="")
    if details:
        for line in as_typed(details, os.environ).splitlines():
            terminal.message("  " + line)
    if error.why:
        terminal.labelled(_WHY.render(error.language), as_typed(error.why, os.environ))
    if error.hint:
        terminal.labelled(_TRY.render(error.language), as_typed(error.hint, os.environ), "cyan")
