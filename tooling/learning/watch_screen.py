"""The screen of `tooling watch`: a head, the last verdict or another text, the state and the keys."""

from __future__ import annotations

import time
from collections.abc import Sequence

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text as Styled

from tooling.learning.journey import Journey
from tooling.learning.screens import bar_cells, solved_sentence
from tooling.text import Text
from tooling.text.colours import rich_style

_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_ABOVE = Text("{count} more lines above (↑)")
_BELOW = Text("{count} more lines below (↓)")
_KEYS = (
    ("h", Text("hint")),
    ("n", Text("next")),
    ("e", Text("editor")),
    ("l", Text("list")),
    ("s", Text("solution")),
    ("p", Text("profile")),
    ("r", Text("run again")),
    ("v", Text("verdict")),
    ("q", Text("quit")),
)
_USUAL = Text("(the last time {seconds:.0f} s)")
_MARKS = ("✅", "❌", "⏱")
_ERROR = Text("error:")


class WatchScreen:
    """What is on the screen; rendered by rich.

    Attributes:
        head: the puzzle and its file.
        progress: the bar.
        busy: what runs now; empty: nothing.
        usual: the seconds that it took the last time; 0: not known.
        state: the line above the keys while nothing runs.
        top: the first line of the body that is shown.
    """

    def __init__(self, language: str) -> None:
        self.language = language
        self.head = Styled()
        self.progress = Styled()
        self.usual = 0.0
        self.busy = ""
        self.busy_since = 0.0
        self.state = ""
        self.top = 0
        self._body = Styled()
        self._verdict = Styled()
        self._is_verdict = False
        self._wrapped: tuple[int, list[Styled]] | None = None

    @property
    def has_verdict(self) -> bool:
        return bool(self._verdict)

    def show(self, text: str) -> None:
        """Shows a text, with its ANSI colours, from its beginning."""
        self._set(Styled.from_ansi(text))
        self._is_verdict = False

    def show_verdict(self, text: str) -> None:
        """Shows the output of a run, from the line of the verdict if it does not fit."""
        self._verdict = Styled.from_ansi(text)
        self.back_to_verdict()

    def back_to_verdict(self) -> None:
        self._set(self._verdict)
        self._is_verdict = True
        self.top = -1  # rendering looks for the verdict

    def scroll(self, lines: int) -> None:
        self.top = max(0, self.top) + lines

    def _set(self, body: Styled) -> None:
        self._body, self.top, self._wrapped = body, 0, None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width, height = options.max_width, options.height or console.height
        head = [self.head.copy(), self.progress.copy(), Styled("─" * width, "dim")]
        foot = [Styled("─" * width, "dim"), self._state_line(), *key_rows(_KEYS, width, self.language)]
        room = max(1, height - len(head) - len(foot))
        lines = self._lines(console, width)
        if self.top < 0:
            # The line above the verdict gives way to the count of those above.
            self.top = _first_verdict(lines, self.language) - 1 if len(lines) > room else 0
        self.top = max(0, min(self.top, len(lines) - room))
        shown = lines[self.top : self.top + room]
        if self.busy and self._is_verdict:  # of the file before the last save
            shown = [Styled(line.plain, "dim") for line in shown]
        below = len(lines) - self.top - room
        if self.top and len(shown) > 1:
            shown[0] = Styled(_ABOVE.of(count=self.top + 1).render(self.language), "dim")
        if below > 0 and len(shown) > 1:
            shown[-1] = Styled(_BELOW.of(count=below + 1).render(self.language), "dim")
        shown += [Styled()] * (room - len(shown))
        rows = [*head, *shown, *foot]
        for row in rows:
            row.truncate(width, overflow="ellipsis")
        yield Styled("\n").join(rows)

    def _lines(self, console: Console, width: int) -> list[Styled]:
        if self._wrapped is None or self._wrapped[0] != width:
            lines = [line for row in self._body.split("\n") for line in _wrap(row, console, width)]
            while lines and not lines[-1].plain.strip():
                lines.pop()
            self._wrapped = width, lines
        return list(self._wrapped[1])

    def _state_line(self) -> Styled:
        if not self.busy:
            return Styled.from_ansi(self.state)
        seconds = time.monotonic() - self.busy_since
        sign = _SPINNER[int(seconds * 8) % len(_SPINNER)]
        usual = f" {_USUAL.of(seconds=self.usual).render(self.language)}" if self.usual else ""
        return Styled(f"{sign} {self.busy} … {seconds:.0f} s{usual}", rich_style("yellow"))


def bar_line(journey: Journey, language: str) -> Styled:
    """The bar of progress and the number of solved puzzles."""
    full, empty = bar_cells(journey.solved_puzzles, len(journey.puzzles))
    said = solved_sentence(journey).render(language)
    return Styled.assemble((full, rich_style("green")), (empty, "dim"), f"  {said}")


def key_rows(keys: Sequence[tuple[str, Text]], width: int, language: str) -> list[Styled]:
    """The keys with what they do, in as many lines as they need."""
    rows = [Styled()]
    for key, text in keys:
        label = Styled.assemble((f" {key} ", "reverse"), " ", text.render(language), "  ")
        if rows[-1].cell_len + label.cell_len > width and rows[-1]:
            rows.append(Styled())
        rows[-1].append_text(label)
    return rows


def _wrap(row: Styled, console: Console, width: int) -> list[Styled]:
    return list(row.wrap(console, width)) or [Styled()]


def _first_verdict(lines: list[Styled], language: str) -> int:
    beginnings = (*_MARKS, _ERROR.render(language))
    return next((index for index, line in enumerate(lines) if line.plain.startswith(beginnings)), 0)
