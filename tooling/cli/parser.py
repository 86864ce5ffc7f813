"""The argument parser of all commands, and what it raises."""

from __future__ import annotations

import argparse
import os
import sys
from functools import cache
from typing import Any, NoReturn

from tooling.errors import ToolingError

_USUAL_COLUMNS = 80


class UsageError(ToolingError):
    """The command line is wrong."""


class HelpFormatter(argparse.HelpFormatter):
    """As wide as the terminal, which is looked at once.

    argparse makes a formatter for every option, and each would load `shutil` with all its compression to ask.
    """

    def __init__(self, prog: str, indent_increment: int = 2, max_help_position: int = 24) -> None:
        super().__init__(prog, indent_increment, max_help_position, width=_columns() - 2)


class RawHelpFormatter(HelpFormatter, argparse.RawDescriptionHelpFormatter):
    """The same, which leaves description and epilogue as they are written."""


@cache
def _columns() -> int:
    wanted = os.environ.get("COLUMNS", "")
    if wanted.isdecimal() and int(wanted):
        return int(wanted)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or _USUAL_COLUMNS
    except (ValueError, OSError):
        return _USUAL_COLUMNS  # closed, or no terminal


class Parser(argparse.ArgumentParser):
    """An argparse parser whose errors are ours."""

    def __init__(self, *, formatter_class: type[HelpFormatter] = HelpFormatter, **options: Any) -> None:
        super().__init__(formatter_class=formatter_class, **options)

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, hint=f"`{self.prog} --help` shows what there is")
