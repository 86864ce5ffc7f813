"""The colours of terminal output.

The 16 basic colours are as the terminal's settings define them: xterm's yellow and cyan have a contrast below
2 : 1 on white. A terminal with 256 colours gets fixed ones instead, with about 4 : 1 or more both on white
and on black, unless COLORFGBG names a dark background. Which outcome of a verdict has which colour is in
`tooling/reports/parts.py`.
"""

from __future__ import annotations

import os
from typing import TextIO

_BASIC = {"red": "31", "green": "32", "yellow": "33", "cyan": "36", "dim": "2", "bold": "1"}
_FIXED = {"red": 196, "green": 28, "yellow": 130, "cyan": 30}  # numbers of the palette of 256 colours
_DARK = frozenset(("0", "1", "2", "3", "4", "5", "6", "8"))  # backgrounds, as COLORFGBG numbers them
BASIC_STYLES = {code: name for name, code in _BASIC.items()}
"""The names of the styles, by the basic code of their escape sequence."""


def wants_colour(stream: TextIO) -> bool:
    """Whether to colour a stream's text, as set by NO_COLOR, FORCE_COLOR, TERM=dumb and pipes."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (stream.isatty() and os.environ.get("TERM") != "dumb")


def style_codes() -> dict[str, str]:
    """The codes of the escape sequences of the styles red, green, yellow, cyan, dim and bold."""
    if not _has_fixed_colours():
        return dict(_BASIC)
    return _BASIC | {name: f"38;5;{number}" for name, number in _FIXED.items()}


def rich_style(name: str) -> str:
    """The same style for rich."""
    return f"color({_FIXED[name]})" if name in _FIXED and _has_fixed_colours() else name


def _has_fixed_colours() -> bool:
    background = os.environ.get("COLORFGBG", "").rpartition(";")[2]
    many = "256color" in os.environ.get("TERM", "") or os.environ.get("COLORTERM") in ("truecolor", "24bit")
    return many and background not in _DARK
