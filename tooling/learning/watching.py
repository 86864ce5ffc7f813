"""`tooling watch`: builds, runs and judges a puzzle at every save, and reads keys."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import os
import selectors
import signal
import sys
import threading

from rich.console import Console
from rich.live import Live
from rich.style import Style
from rich.text import Text as Styled
from watchfiles import watch as watch_files

from tooling.catalog.catalogue import Selection
from tooling.generate.skeletons import FILL_MARK
from tooling.learning import keyboard
from tooling.learning.answers import is_skeleton
from tooling.learning.background_run import BackgroundRun
from tooling.learning.journey import open_journey
from tooling.learning.own_editor import open_in_editor
from tooling.learning.puzzle_list import PuzzleList, Request
from tooling.learning.screens import file_of
from tooling.learning.watch_screen import WatchScreen, bar_line
from tooling.platform.errors import ToolingError
from tooling.platform.regular_files import TEXT_LIMIT, read_regular, read_text
from tooling.progress import read_progress
from tooling.project import Project
from tooling.reports.hints import show_hint
from tooling.reports.invocation import as_typed, typed_path
from tooling.reports.terminal import Terminal
from tooling.text import Text, in_language
from tooling.text.colours import wants_colour

_HEAD = Text("puzzle {number}: {title}")
_JUDGING = Text("building, running and judging {command}")
_PROFILING = Text("profiling {command}")
_WAITING = Text("waiting for you to save; the last run took {seconds:.1f} s")
_WAITING_AFTER = Text("waiting for you to save; the last build took {build:.1f} s, the run {run:.1f} s")
_UNTOUCHED = Text("this is still the skeleton: waiting for you to save (r builds it as it is)")
_FIRST = Text("Open {file} in your editor (`e`), complete the region marked `FILL ME IN`, and save it.")
_ASK_NEXT = Text("{command} is not solved yet: press n again for the next puzzle")
_MISSING = Text("{file} does not exist; `tooling reset {program}` writes a new one")
_ASK_SOLUTION = Text("{command} is not solved yet: press s again to see the solution")
_ALL_SOLVED = Text("there is no other unsolved puzzle")
_TICK = 0.12  # seconds between pictures while something runs
_SETTLING = 30  # milliseconds: an editor writes a file in several steps
_PAGE = 10  # lines
_INTERRUPTIONS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_UP, _DOWN = (*keyboard.UP, "k"), (*keyboard.DOWN, "j")
_PAGE_UP, _PAGE_DOWN = keyboard.PAGE_UP, (*keyboard.PAGE_DOWN, " ")


class Watch:
    """One session: the puzzle that is watched, the command that runs, and the screen."""

    def __init__(self, project: Project, step: Selection, run_options: list[str], language: str) -> None:
        """Watches `step`.

        Args:
            run_options: further arguments of `tooling run`, such as `--target sim`.
        """
        self._project = project
        self._step = step
        self._run_options = run_options
        self._language = language
        self._screen = WatchScreen(language)
        self._run: BackgroundRun | None = None
        self._judging = False
        self._built = b""
        self._hint = 0
        self._asked = ""  # the key that asks for a second time
        self._list: PuzzleList | None = None
        self._usual: dict[str, float] = {}  # seconds of each phase, the last time
        self._forced = False  # to build the skeleton as it is
        self._reading = False  # a hint or the solution, while there is no verdict yet
        self._woken, self._wake = os.pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(self._wake, False)

    def loop(self) -> bool:
        """Runs until the reader quits, or a signal raises an exception here.

        Returns:
            Whether the reader quit; if not, the terminal was closed.
        """
        stop = threading.Event()
        watcher = threading.Thread(target=self._watch_files, args=(stop,), daemon=True)
        console = Console()
        try:
            with (
                keyboard.unbuffered_keys(),
                Live(self._screen, console=console, screen=True, auto_refresh=False) as live,
                selectors.DefaultSelector() as selector,
            ):
                watcher.start()
                selector.register(sys.stdin.fileno(), selectors.EVENT_READ)
                selector.register(self._woken, selectors.EVENT_READ)
                self._begin()
                while True:
                    if self._run and self._judging and not self._screen.has_verdict and not self._reading:
                        self._screen.show(self._run.output)  # a sign of life
                    self._show_phase()
                    live.update(self._list or self._screen, refresh=True)
                    ready = {key.fd for key, _ in selector.select(_TICK if self._run else 1.0)}
                    if self._woken in ready:
                        self._drain()
                        self._look()
                    keys = keyboard.read_keys() if sys.stdin.fileno() in ready else []
                    if not all(self._key(key, live) for key in keys):
                        return True
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            # The terminal was closed: what is still buffered for it goes nowhere.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return False
        finally:
            signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPTIONS)  # the command must end in any case
            stop.set()
            self._end_run()
            if watcher.ident is not None:
                watcher.join(5)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _INTERRUPTIONS)

    # What happens at a save and at the end of a command

    def _begin(self) -> None:
        step = self._step
        self._hint, self._asked, self._reading, self._built, self._forced = 0, "", False, b"", False
        path = file_of(step)
        head = _HEAD.of(number=step.puzzle.number, title=step.puzzle.title).render(self._language)
        file = (typed_path(path, os.environ), Style(bold=True, link=path.absolute().as_uri()))
        flags = f"  {' '.join(step.mode.flags)}".rstrip()
        self._screen.head = Styled.assemble((f"{head} · ", "bold"), file, (flags, "bold"))
        self._screen.progress = bar_line(open_journey(self._project), self._language)
        self._screen.show_verdict("")
        self._look()

    def _look(self) -> None:
        """Shows the result of a command that has ended, and builds if a file of the program has changed."""
        if self._run and self._run.status is not None:
            self._show_result(self._run)
            self._run = None
        content = self._content()
        if content is None:
            self._built = b""
            file = typed_path(file_of(self._step), os.environ)
            self._screen.state = self._say(_MISSING.of(file=file, program=self._step.program.name))
        elif content != self._built and not self._forced and self._is_untouched():
            self._built = content
            self._end_run()
            file = typed_path(file_of(self._step), os.environ)
            self._screen.state = self._say(_UNTOUCHED)
            if not self._screen.has_verdict and not self._reading:
                self._screen.show(self._say(_FIRST.of(file=file)))
        elif content != self._built:
            self._built = content
            self._start(["run", *self._step.command.split(), *self._run_options], _JUDGING, judging=True)

    def _is_untouched(self) -> bool:
        """Whether the program is the skeleton, with a region to complete: it cannot be right."""
        program = self._step.program
        try:
            texts = [read_text(source.problem) for source in program.sources]
            return any(FILL_MARK in text for text in texts) and is_skeleton(program)
        except (OSError, ValueError, ToolingError):
            return False  # the run says what is wrong

    def _show_phase(self) -> None:
        """Shows what the run does now, since when, and how long it took the last time."""
        if self._run and self._judging and self._run.phases:
            text, self._screen.busy_since = self._run.phases[-1]
            self._screen.busy, self._screen.usual = text, self._usual.get(text, 0.0)

    def _content(self) -> bytes | None:
        """A digest of the program's files; None while one is missing, as in the middle of a save."""
        digest = hashlib.sha256()
        try:
            for source in self._step.program.sources:
                digest.update(read_regular(source.problem, limit=TEXT_LIMIT) + b"\0")
        except OSError:
            return None
        return digest.digest()

    def _start(self, arguments: list[str], says: Text, *, judging: bool) -> None:
        self._end_run()
        self._judging = judging
        self._run = BackgroundRun(arguments, self._environment(), self._notify)
        self._screen.busy = self._say(says.of(command=self._step.command))
        self._screen.busy_since, self._screen.usual = self._run.started, 0.0

    def _show_result(self, run: BackgroundRun) -> None:
        self._screen.busy = ""
        self._screen.state = self._say(_WAITING.of(seconds=run.seconds))
        if self._judging:
            self._keep_times(run)
            self._screen.progress = bar_line(open_journey(self._project), self._language)
            self._screen.show_verdict(run.output)
        else:
            self._screen.show(run.output)

    def _keep_times(self, run: BackgroundRun) -> None:
        """Remembers how long each phase took; the last one is the run, those before it the build."""
        moments = [moment for _, moment in run.phases]
        for (text, moment), end in zip(run.phases, [*moments[1:], run.started + run.seconds], strict=True):
            self._usual[text] = end - moment
        if len(moments) > 1:
            build = moments[-1] - run.started
            self._screen.state = self._say(_WAITING_AFTER.of(build=build, run=run.seconds - build))

    def _end_run(self) -> None:
        run, self._run = self._run, None
        if run:
            run.end()
        self._screen.busy = ""

    # Keys

    def _key(self, key: str, live: Live) -> bool:
        """Does what a key asks for; False: quit."""
        if self._list:
            self._choose(self._list.key(key))
            return True
        asked, self._asked = self._asked == key, ""
        if key in ("q", "Q", *keyboard.END_OF_INPUT):
            return False
        if key in _UP or key in _DOWN:
            self._screen.scroll(-1 if key in _UP else 1)
        elif key in _PAGE_UP or key in _PAGE_DOWN:
            self._screen.scroll(-_PAGE if key in _PAGE_UP else _PAGE)
        elif key == "h":
            self._show_hint()
        elif key == "s":
            self._show_solution(asked)
        elif key == "n":
            self._ask_to_go_on(asked)
        elif key == "e":
            said = open_in_editor(file_of(self._step), live)
            if said:
                self._reading = True
                self._screen.show(in_language(said, self._language))
            self._look()
        elif key == "l":
            self._list = PuzzleList(open_journey(self._project), self._language)
            self._list.for_watch()
            self._list.move_to(self._step)
        elif key == "p":
            self._start(["profile", *self._step.command.split()], _PROFILING, judging=False)
        elif key == "r":
            self._built, self._forced = b"", True
            self._look()
        elif key in ("v", "\x1b"):
            self._reading = False
            self._screen.back_to_verdict()
        return True

    def _show_hint(self) -> None:
        mode = self._step.mode
        if not mode.hints:  # the code is given, which the command says
            self._show_command("hint")
            return
        self._hint = self._hint % len(mode.hints) + 1
        text = io.StringIO()
        width = os.get_terminal_size(sys.stdout.fileno()).columns
        terminal = Terminal(text, wants_colour(sys.stdout), width)
        show_hint(mode, self._step.command, self._hint, terminal, self._language, keys=True)
        self._reading = True
        self._screen.show(text.getvalue())

    def _show_solution(self, asked: bool) -> None:
        progress = read_progress(self._project.root)
        puzzle = self._step.puzzle.id
        solved = self._step.mode.name in progress.solved.get(puzzle, {})
        if solved or puzzle in progress.shown or asked:
            self._show_command("solution", "--yes")
        else:
            self._asked, self._reading = "s", True
            self._screen.show(self._say(_ASK_SOLUTION.of(command=self._step.command)))

    def _show_command(self, *words: str) -> None:
        """Shows what a command prints that takes no time; a build goes on meanwhile."""
        done = threading.Event()
        name, *rest = words
        run = BackgroundRun([name, *self._step.command.split(), *rest], self._environment(), done.set)
        try:
            done.wait(10)
        finally:
            run.end()
        self._reading = True
        self._screen.show(run.output)

    def _environment(self) -> dict[str, str]:
        environment = {
            **os.environ,
            "COLUMNS": str(os.get_terminal_size(sys.stdout.fileno()).columns),
            "PUZZLE_LANG": self._language,
            "PYTHONIOENCODING": "utf-8",
        }
        return environment if os.environ.get("NO_COLOR") else {**environment, "FORCE_COLOR": "1"}

    def _ask_to_go_on(self, asked: bool) -> None:
        """Goes on at once from what is solved, and else when the key is pressed again."""
        if asked or open_journey(self._project).is_solved(self._step):
            self._go_on()
        else:
            self._asked, self._reading = "n", True
            self._screen.show(self._say(_ASK_NEXT.of(command=self._step.command)))

    def _choose(self, request: Request | None) -> None:
        """Leaves the list, for the puzzle that was chosen there."""
        if request is None:
            return
        self._list = None
        if request.step:
            self._end_run()
            self._step = request.step
            self._begin()

    def _go_on(self) -> None:
        """Watches the next unsolved step after this one."""
        journey = open_journey(self._project)
        steps = journey.way
        names = [(step.puzzle.id, step.mode.name) for step in steps]
        own = (self._step.puzzle.id, self._step.mode.name)
        here = names.index(own) if own in names else -1
        later = (*steps[here + 1 :], *steps[: max(0, here)])
        step = next((step for step in later if not journey.is_solved(step)), None)
        if step is None:
            self._screen.show(self._say(_ALL_SOLVED))
            return
        self._end_run()
        self._step = step
        self._begin()

    # Other threads

    def _watch_files(self, stop: threading.Event) -> None:
        with contextlib.suppress(FileNotFoundError):  # the folder was removed
            for _ in watch_files(
                self._project.problems,
                stop_event=stop,
                debounce=_SETTLING,
                step=_SETTLING // 2,
                raise_interrupt=False,
                rust_timeout=500,
            ):
                self._notify()

    def _notify(self) -> None:
        with contextlib.suppress(OSError):  # full: the loop is going to look anyway
            os.write(self._wake, b"x")

    def _drain(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while os.read(self._woken, 4096):
                pass

    def _say(self, text: Text) -> str:
        return as_typed(text.render(self._language), os.environ)
