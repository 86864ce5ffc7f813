"""The list of puzzles as a screen: a cursor moves over them, keys filter them and say what to do with one."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text as Styled

from tooling.catalog.catalogue import Selection, puzzles_matching
from tooling.catalog.model import Puzzle
from tooling.learning import keyboard
from tooling.learning.journey import Journey, steps_of
from tooling.learning.screens import heading_of, heading_of_part, solved_count
from tooling.learning.watch_screen import bar_line, key_rows
from tooling.text import Text
from tooling.text.colours import rich_style
from tooling.text.width import columns

_SHOWS = {
    "all": Text("all puzzles"),
    "todo": Text("unsolved puzzles"),
    "solved": Text("solved puzzles"),
}
_FOUND = Text("{shown}: {count}")
_MATCHING = Text("with `{words}`")
_FILTER = Text("filter: {words}▏  (Enter: keep, Esc: remove)")
_NONE = Text("no puzzle matches; `t` and Esc remove the filters")
_KEYS = (
    ("↵", Text("watch")),
    ("r", Text("run")),
    ("e", Text("open the file")),
    ("x", Text("reset")),
    ("t", Text("all, unsolved, solved")),
    ("/", Text("filter")),
    ("q", Text("quit")),
)
_KEYS_OF_WATCH = (_KEYS[0], *_KEYS[4:-1], ("q", Text("back")))
_ASK_RESET = Text("press x again to write the skeleton of {program} again; your file is kept")
_PAGE = 10  # puzzles


class Action(Enum):
    """What a key asks for, with the puzzle at the cursor; QUIT needs none."""

    WATCH = "watch"
    RUN = "run"
    OPEN = "open"
    RESET = "reset"
    QUIT = "quit"


class Request(Struct, frozen=True):
    """What is to be done, and with which mode."""

    action: Action
    step: Selection | None = None


class PuzzleList:
    """The puzzles that match the filters, and the cursor; rendered by rich.

    Attributes:
        state: a line above the keys, such as what the last action did.
    """

    def __init__(
        self, journey: Journey, language: str, *, part: str = "", words: str = "", todo: bool = False
    ) -> None:
        """All puzzles, or those of a part, with these words, or not solved; the cursor is on the next one."""
        self.state = ""
        self._language = language
        self._part = part
        self._words = words
        self._show = "todo" if todo else "all"
        self._typing = False
        self._resetting = False
        self._short = False
        self._cursor = 0
        self.reload(journey)
        self.move_to(journey.next_step)

    def for_watch(self) -> None:
        """Leaves the keys to those that choose a puzzle: `watch` has the others."""
        self._short = True

    def reload(self, journey: Journey) -> None:
        """Takes over what is solved now; the cursor stays at its puzzle."""
        self._journey = journey
        here = self._at_cursor if hasattr(self, "_puzzles") else None
        self._filter()
        if here:
            names = [puzzle.id for puzzle in self._puzzles]
            self._cursor = names.index(here.id) if here.id in names else self._cursor
        self._stay_inside()

    def move_to(self, step: Selection | None) -> None:
        """Puts the cursor on the puzzle of a mode, if it is shown."""
        names = [puzzle.id for puzzle in self._puzzles]
        if step and step.puzzle.id in names:
            self._cursor = names.index(step.puzzle.id)

    def key(self, key: str) -> Request | None:
        """Moves or filters; what else the key asks for is returned."""
        if self._typing:
            self._type(key)
            return None
        resetting, self._resetting = self._resetting, False
        self.state = ""
        puzzle = self._at_cursor
        moves = {
            **dict.fromkeys((*keyboard.UP, "k"), -1),
            **dict.fromkeys((*keyboard.DOWN, "j"), 1),
            **dict.fromkeys(keyboard.PAGE_UP, -_PAGE),
            **dict.fromkeys((*keyboard.PAGE_DOWN, " "), _PAGE),
            **dict.fromkeys((*keyboard.HOME, "g"), -len(self._puzzles)),
            **dict.fromkeys((*keyboard.END, "G"), len(self._puzzles)),
        }
        if key in moves:
            self._cursor += moves[key]
            self._stay_inside()
        elif key == "/":
            self._typing = True
        elif key == "t":
            names = list(_SHOWS)
            self._show = names[(names.index(self._show) + 1) % len(names)]
            self._filter()
            self.move_to(next(steps_of(puzzle), None) if puzzle else None)
        elif key in keyboard.ESCAPE and (self._words or self._part):
            self._words = self._part = ""
            self._filter()
            self.move_to(next(steps_of(puzzle), None) if puzzle else None)
        elif key in ("q", "Q", *keyboard.ESCAPE, *keyboard.END_OF_INPUT) or (self._short and key == "l"):
            return Request(Action.QUIT)
        elif puzzle and (step := self._step_of(puzzle)):
            return self._request(key, step, resetting)
        return None

    def _request(self, key: str, step: Selection, resetting: bool) -> Request | None:
        if key in keyboard.ENTER or key == "w":
            return Request(Action.WATCH, step)
        if self._short:
            return None
        if key == "x" and not resetting:
            self._resetting = True
            self.state = _ASK_RESET.of(program=step.program.name).render(self._language)
            return None
        actions = {"r": Action.RUN, "e": Action.OPEN, "o": Action.OPEN, "x": Action.RESET}
        return Request(actions[key], step) if key in actions else None

    def _type(self, key: str) -> None:
        if key in keyboard.ENTER:
            self._typing = False
        elif key in keyboard.ESCAPE:
            self._typing, self._words = False, ""
        elif key in keyboard.BACKSPACE:
            self._words = self._words[:-1]
        elif key.isprintable():
            self._words += key
        self._cursor = 0
        self._filter()

    def _filter(self) -> None:
        puzzles = self._journey.part(self._part) if self._part else self._journey.ordered
        puzzles = puzzles_matching(puzzles, self._words.split())
        if self._show != "all":
            wanted = self._show == "solved"
            puzzles = tuple(each for each in puzzles if self._journey.progress.is_solved(each) is wanted)
        self._puzzles = puzzles
        self._stay_inside()

    def _stay_inside(self) -> None:
        self._cursor = max(0, min(self._cursor, len(self._puzzles) - 1))

    @property
    def _at_cursor(self) -> Puzzle | None:
        return self._puzzles[self._cursor] if self._puzzles else None

    def _step_of(self, puzzle: Puzzle) -> Selection | None:
        """The first unsolved mode of a puzzle, or else its first."""
        steps = list(steps_of(puzzle))
        return next((step for step in steps if not self._journey.is_solved(step)), next(iter(steps), None))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width, height = options.max_width, options.height or console.height
        rows = self._rows()
        head = [self._head(), self._filters(), Styled("─" * width, "dim")]
        foot = [Styled("─" * width, "dim"), Styled(self.state, rich_style("yellow"))]
        foot += key_rows(_KEYS_OF_WATCH if self._short else _KEYS, width, self._language)
        room = max(1, height - len(head) - len(foot))
        at = next((index for index, (puzzle, _) in enumerate(rows) if puzzle is self._at_cursor), 0)
        top = max(0, min(at - room // 2, len(rows) - room))
        shown = [row for _, row in rows[top : top + room]]
        shown += [Styled()] * (room - len(shown))
        lines = [*head, *shown, *foot]
        for line in lines:
            line.truncate(width, overflow="ellipsis")
        yield Styled("\n").join(lines)

    def _head(self) -> Styled:
        return bar_line(self._journey, self._language)

    def _filters(self) -> Styled:
        if self._typing:
            return Styled(_FILTER.of(words=self._words).render(self._language), rich_style("cyan"))
        shown = _SHOWS[self._show].render(self._language)
        if self._part:
            shown += f" · {heading_of_part(self._part).render(self._language)}"
        if self._words:
            shown += f" · {_MATCHING.of(words=self._words).render(self._language)}"
        return Styled(_FOUND.of(shown=shown, count=len(self._puzzles)).render(self._language), "dim")

    def _rows(self) -> list[tuple[Puzzle | None, Styled]]:
        """The lines of the body, each with its puzzle; headings have none."""
        if not self._puzzles:
            return [(None, Styled(_NONE.render(self._language), "dim"))]
        widest = max(columns(puzzle.title.render(self._language)) for puzzle in self._journey.puzzles)
        rows: list[tuple[Puzzle | None, Styled]] = []
        above = ""
        for puzzle in self._puzzles:
            heading = (
                heading_of_part(puzzle.part) if self._part else heading_of(self._journey, puzzle)
            ).render(self._language)
            if heading != above:
                rows.append((None, Styled(heading, "bold")))
            above = heading
            sign, count = solved_count(self._journey, puzzle)
            title = puzzle.title.render(self._language)
            row = Styled.assemble(
                "> " if puzzle is self._at_cursor else "  ",
                (sign, rich_style("green")),
                f" {puzzle.id}  {title}{' ' * (widest - columns(title))}  {count}",
            )
            if puzzle is self._at_cursor:
                row.stylize("reverse")
            rows.append((puzzle, row))
        return rows
