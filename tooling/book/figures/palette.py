"""The colours of figures, for light and for dark pages.

A drawing names a colour by its meaning, as a custom property of CSS: `var(--figure-live-fill)`. The values
are in the style sheet of the book's pages, or in that of a drawing's own file. In a page the hue of its part
replaces those of the output and of what threads hold, see book.css.
"""

from __future__ import annotations

from collections.abc import Mapping

PALETTE: Mapping[str, tuple[str, str]] = {
    # The page, its text, what is quieter than it, arrows, and the lines behind a chart.
    "paper": ("#fcfcfa", "#12171d"),
    "text": ("#1c232b", "#dde4ea"),
    "quiet": ("#515b66", "#a2aeba"),
    "arrow": ("#7b8791", "#8793a0"),
    "grid": ("#e3e6e2", "#2a333d"),
    # What is filled with an ink (`canvas.Ink`), its outline, and the text in it if it has its own colour.
    "plain-fill": ("#ffffff", "#2f3b47"),
    "plain-line": ("#9aa4ad", "#74818e"),
    "live-fill": ("#cde9e3", "#0a544d"),
    "live-line": ("#3f8f85", "#4eaa9e"),
    "live-text": ("#0b4a44", "#c8f0e8"),
    "sum-fill": ("#7abbb1", "#1d8275"),
    "sum-line": ("#3f8f85", "#4eaa9e"),
    "sum-text": ("#00322d", "#f4fffc"),
    "result-fill": ("#0b6b62", "#63cdbb"),
    "result-line": ("#0b6b62", "#63cdbb"),
    "result-text": ("#ffffff", "#0c201d"),
    "spare-fill": ("#eceeea", "#1b222a"),
    "spare-line": ("#c3c9c4", "#4d5a67"),
    "spare-text": ("#616b74", "#8a96a2"),
    "frame-line": ("#9aa4ad", "#5b6876"),
    "mark-fill": ("#fdeeca", "#453713"),
    "mark-line": ("#b07a1e", "#edc275"),
    "mark-text": ("#6b4300", "#f8e3b4"),
    "wrong-fill": ("#f8cfca", "#5a272b"),
    "wrong-line": ("#b5443b", "#e08a81"),
    "wrong-text": ("#9b2c2c", "#f3a59c"),
}
"""Each colour on light and on dark pages.

`arrow` has at least 3 : 1 against `paper`, and each text at least 4.5 : 1 against what it is on.
"""


def variable(name: str) -> str:
    """A colour of `PALETTE`, as an attribute or a style refers to it."""
    return f"var(--figure-{name})"


def page_style() -> str:
    """The palette as the style sheet of the book's pages has it: `data-theme` chooses, and paper is white."""
    light, dark = map(_values, (0, 1))
    return f":root {{ {light} }}\n@media screen {{ :root[data-theme=dark] {{ {dark} }} }}\n"


def file_style() -> str:
    """The palette as the file of a drawing has it: the settings of the reader's system choose."""
    light, dark = map(_values, (0, 1))
    return f":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"


def _values(shade: int) -> str:
    return " ".join(f"--figure-{name}: {values[shade]};" for name, values in PALETTE.items())
