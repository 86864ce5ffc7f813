"""`tooling list` in a terminal: a puzzle is chosen, watched, run, opened or reset."""

from __future__ import annotations

import os
import subprocess
import sys

from rich.console import Console
from rich.live import Live

from tooling.catalog.catalogue import Selection
from tooling.learning import keyboard
from tooling.learning.answers import reset
from tooling.learning.background_run import own_command
from tooling.learning.journey import Journey, open_journey
from tooling.learning.own_editor import open_in_editor
from tooling.learning.puzzle_list import Action, PuzzleList
from tooling.learning.screens import file_of
from tooling.platform.errors import ToolingError
from tooling.progress import forget_program
from tooling.reports.invocation import typed_path
from tooling.text import Text, in_language

_GO_ON = Text("press a key to return to the list")
_RESET = Text("{path} is the skeleton again")


def choose_puzzle(
    journey: Journey, language: str, *, part: str = "", words: str = "", todo: bool = False
) -> Selection | None:
    """Shows the list until the reader chooses a puzzle to watch, or leaves it (None).

    Raises:
        ToolingError: stdin is not a terminal.
        OSError: the terminal was closed.
    """
    screen = PuzzleList(journey, language, part=part, words=words, todo=todo)
    project = journey.project
    with (
        keyboard.unbuffered_keys(),
        Live(screen, console=Console(), screen=True, auto_refresh=False) as live,
    ):
        while True:
            live.update(screen, refresh=True)
            for key in keyboard.read_keys():
                request = screen.key(key)
                if request is None:
                    continue
                if request.step is None:
                    return None
                if request.action is Action.WATCH:
                    return request.step
                try:
                    if request.action is Action.RUN:
                        _run(request.step, live, language)
                    elif request.action is Action.OPEN:
                        said = open_in_editor(file_of(request.step), live)
                        screen.state = in_language(said, language) if said else ""
                    else:
                        screen.state = _reset(journey, request.step, language)
                    screen.reload(open_journey(project))
                except ToolingError as error:
                    error.speak(language)
                    screen.state = error.what


def _run(step: Selection, live: Live, language: str) -> None:
    """Judges a mode in the foreground, below what the terminal has shown."""
    command = [*own_command(), "run", *step.command.split()]
    with keyboard.released_terminal(live):
        subprocess.run(command, check=False, env={**os.environ, "PUZZLE_LANG": language})
        with keyboard.unbuffered_keys():
            keyboard.discard_keys()  # they were for the program
            sys.stdout.write("\n" + _GO_ON.render(language) + "\n")
            sys.stdout.flush()
            keyboard.read_keys()


def _reset(journey: Journey, step: Selection, language: str) -> str:
    reset(step.program)
    note = forget_program(journey.project.root, step.puzzle.id, step.program.name)
    text = note or _RESET.of(path=typed_path(file_of(step), os.environ))
    return text.render(language)
