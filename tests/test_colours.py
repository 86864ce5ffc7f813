"""The colours of terminal output can be read on white and on black."""

from __future__ import annotations

import io

import pytest

from tooling.reports.terminal import Terminal
from tooling.text.colours import rich_style, style_codes

WHITE, BLACK = 1.0, 0.0


@pytest.fixture(autouse=True)
def colourful(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("COLORTERM", "COLORFGBG", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)


def luminance(colour: int) -> float:
    """The relative luminance, by WCAG 2, of a colour of the cube in the palette of 256 colours."""
    steps = (0, 95, 135, 175, 215, 255)
    channels = [steps[(colour - 16) // weight % 6] / 255 for weight in (36, 6, 1)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("name", ["red", "green", "yellow", "cyan"])
@pytest.mark.parametrize("background", [WHITE, BLACK])
def test_every_colour_has_contrast_on_both_backgrounds(name: str, background: float) -> None:
    colour = luminance(int(style_codes()[name].removeprefix("38;5;")))
    lighter, darker = max(colour, background), min(colour, background)
    assert (lighter + 0.05) / (darker + 0.05) >= 3.99
    assert rich_style(name) == f"color({style_codes()[name].removeprefix('38;5;')})"


@pytest.mark.parametrize(
    ("variables", "code"),
    [
        ({}, "38;5;130"),
        ({"COLORFGBG": "0;15"}, "38;5;130"),
        ({"COLORFGBG": "0;default;15"}, "38;5;130"),
        ({"COLORFGBG": "15;0"}, "33"),
        ({"TERM": "screen"}, "33"),
        ({"TERM": "screen", "COLORTERM": "truecolor"}, "38;5;130"),
    ],
)
def test_basic_colours_are_kept_for_dark_and_simple_terminals(
    variables: dict[str, str], code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert style_codes()["yellow"] == code
    assert rich_style("yellow") == ("yellow" if code == "33" else "color(130)")
    assert rich_style("dim") == "dim"


def test_a_painted_line_keeps_its_codes() -> None:
    stream = io.StringIO()
    terminal = Terminal(stream, colour=True, width=None)
    terminal.line(terminal.paint("sign", "green"))
    assert stream.getvalue() == "\x1b[38;5;28msign\x1b[0m\n"
