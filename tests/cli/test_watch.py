"""`tooling watch` in a terminal: a save is judged, keys work, and it leaves no process."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from tests.cli.conftest import HERE
from tests.cli.test_learner_commands import RIGHT, course
from tests.machine import is_alive
from tooling.learning.watch_screen import WatchScreen
from tooling.platform.exit_codes import ExitCode

if TYPE_CHECKING:
    from tests.cli.conftest import Workbench

__all__ = ["course"]
PATIENCE = 120.0  # seconds; a busy machine takes long, and nothing is measured
IN_TERMINAL = """\
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\x1b\]8;[^\x1b]*\x1b\\")


class Session:
    """`tooling watch`, or another command, in a terminal of 100 x 30.

    Attributes:
        written: what it has sent to the terminal.
    """

    def __init__(
        self, workbench: Workbench, *arguments: str, command: str = "watch", **environment: str
    ) -> None:
        self._leader, follower = pty.openpty()
        self._settings = termios.tcgetattr(self._leader)
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        environment = {**workbench.environment, "TERM": "xterm-256color", "NO_COLOR": "1"} | environment
        self.process = subprocess.Popen(
            [sys.executable, "-c", IN_TERMINAL, str(HERE / "launcher.py"), command, *arguments],
            cwd=workbench.root,
            env=environment,
            stdin=follower,
            stdout=follower,
            stderr=follower,
            start_new_session=True,
        )
        os.close(follower)
        self.shown = ""
        self.written = b""
        self._forgotten = 0
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def press(self, keys: str) -> None:
        os.write(self._leader, keys.encode())

    def forget(self) -> None:
        """What was shown until now no longer counts."""
        self.shown, self._forgotten = "", len(self.written)

    def wait_for(self, text: str) -> None:
        limit = time.monotonic() + PATIENCE
        while text not in self.shown:
            assert time.monotonic() < limit, f"{text!r} was not shown:\n{self.shown[-4000:]}"
            assert self.process.poll() is None or text in self.shown, self.shown[-4000:]
            time.sleep(0.02)

    def end(self) -> int:
        status = self.process.wait(PATIENCE)
        self._thread.join(PATIENCE)
        return status

    @property
    def restored(self) -> bool:
        """Whether the terminal has the settings from before, and a cursor."""
        cursor = self.written.rfind(b"\x1b[?25h") >= self.written.rfind(b"\x1b[?25l")
        return cursor and termios.tcgetattr(self._leader) == self._settings

    def close_terminal(self) -> None:
        os.close(self._leader)

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._leader, 65536)
            except OSError:
                return
            if not data:
                return
            self.written += data
            text = self.written[self._forgotten :].decode("utf-8", "replace")
            self.shown = _ESCAPES.sub("", text)


@pytest.fixture
def sessions() -> Iterator[list[Session]]:
    """Sessions to kill after a failed test."""
    started: list[Session] = []
    yield started
    for session in started:
        if session.process.poll() is None:
            session.process.kill()
            session.process.wait()


def save_by_rename(path: Path, text: str) -> None:
    """As editors save: a new file replaces the old one."""
    fresh = path.with_name(f".{path.name}.swp")
    fresh.write_text(text)
    fresh.replace(path)


def test_every_save_is_judged_and_keys_work(course: Workbench, sessions: list[Session]) -> None:
    session = Session(course, "p01")
    sessions.append(session)
    session.wait_for("puzzle 1: Map · problems/p01/p01.mojo")
    session.wait_for("0 of 2 puzzles solved")
    session.wait_for("complete the region marked `FILL ME IN`")
    session.wait_for("this is still the skeleton: waiting for you to save")
    assert course.builds == []
    session.press("r")
    session.wait_for("p01 is not right yet")
    session.wait_for("waiting for you to save; the last build took ")
    session.forget()
    session.press("n")
    session.wait_for("p01 is not solved yet: press n again for the next puzzle")
    session.press("h")
    session.wait_for("hint 1 of 3: Which element is yours?")
    session.press("h")
    session.wait_for("hint 2 of 3: Use thread_idx.x.")
    session.wait_for("the next one: `h`")
    session.press("h")
    session.wait_for("that was the last one; the first one again: `h`; the solution: `s`")
    session.press("s")
    session.wait_for("p01 is not solved yet: press s again to see the solution")
    session.press("s")
    session.wait_for("# solutions/p01/p01.mojo")
    session.forget()
    skeleton = course.problem.read_text()
    save_by_rename(course.problem, skeleton + "x    # compile error\n")
    session.wait_for("p01.mojo does not compile (1 error)")
    session.forget()
    course.answer(RIGHT)  # written in place
    session.wait_for("✅ p01 passed")
    session.wait_for("learnt: A kernel is the work of one thread.")
    session.wait_for("1 of 2 puzzles solved")
    session.press("n")
    session.wait_for("puzzle 34: Clusters · problems/p34/p34.mojo  --coordination")
    session.wait_for("✅ p34 --coordination passed")
    session.press("q")
    assert session.end() == ExitCode.PASSED


def test_a_newer_save_ends_an_older_build(course: Workbench, sessions: list[Session]) -> None:
    skeleton = course.problem.read_text()
    course.problem.write_text(skeleton + "# slow build\n")
    session = Session(course, "p01", "--lang", "ko")
    sessions.append(session)
    while not course.builds:
        time.sleep(0.02)
    course.answer(RIGHT)
    session.wait_for("배운 것: 커널은 스레드 하나의 일입니다.")  # the slow build would still run
    session.press("q")
    assert session.end() == ExitCode.PASSED
    assert len(course.builds) == 2


def test_a_hint_can_be_read_during_the_first_build(course: Workbench, sessions: list[Session]) -> None:
    course.problem.write_text(course.problem.read_text() + "# slow build\n")
    session = Session(course, "p01")
    sessions.append(session)
    while not course.builds:
        time.sleep(0.02)
    session.press("h")
    session.wait_for("hint 1 of 3: Which element is yours?")
    session.forget()
    session.wait_for("hint 1 of 3: Which element is yours?")  # it is drawn again with the time
    session.press("q")
    assert session.end() == ExitCode.PASSED


def test_a_missing_file_says_how_to_get_it_back(course: Workbench, sessions: list[Session]) -> None:
    course.answer("pass\n")
    session = Session(course, "p01")
    sessions.append(session)
    session.wait_for("p01 is not right yet")
    course.problem.unlink()
    session.wait_for("problems/p01/p01.mojo does not exist; `tooling reset p01` writes a new one")
    course.answer(RIGHT)
    session.wait_for("✅ p01 passed")
    session.press("q")
    assert session.end() == ExitCode.PASSED


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (None, 129)]
)
def test_it_ends_with_its_build(
    course: Workbench, sessions: list[Session], tmp_path: Path, number: signal.Signals | None, status: int
) -> None:
    """None: the terminal is closed."""
    course.problem.write_text(
        f"import time\nPath({str(tmp_path)!r}, f'pid{{os.getpid()}}').touch()\ntime.sleep(600)\n"
    )
    text = course.problem.read_text()
    course.problem.write_text("import os\nfrom pathlib import Path\n" + text)
    session = Session(course, "p01", "--timeout", "600")
    sessions.append(session)
    while not list(tmp_path.glob("pid*")):
        assert session.process.poll() is None
        time.sleep(0.02)
    if number is None:
        session.close_terminal()
    else:
        session.process.send_signal(number)
    assert session.end() == status
    pids = [int(path.name.removeprefix("pid")) for path in tmp_path.glob("pid*")]
    assert not any(is_alive(pid) for pid in pids)


def test_the_next_puzzle_is_asked_for_twice_while_this_one_is_not_solved(
    course: Workbench, sessions: list[Session]
) -> None:
    session = Session(course, "p01")
    sessions.append(session)
    session.wait_for("still the skeleton")
    session.press("nh")
    session.wait_for("hint 1 of 3")
    session.press("n")
    session.wait_for("press n again")
    assert "puzzle 34" not in session.shown
    session.press("n")
    session.wait_for("puzzle 34: Clusters")
    session.press("q")
    assert session.end() == ExitCode.PASSED


def test_a_puzzle_is_chosen_from_the_list_and_its_file_is_opened(
    course: Workbench, sessions: list[Session]
) -> None:
    session = Session(course, "p01", VISUAL="/nonexistent/ed")
    sessions.append(session)
    session.wait_for("still the skeleton")
    session.press("e")
    session.wait_for("the editor `/nonexistent/ed` could not be started: No such file or directory")
    session.press("l")
    session.wait_for("all puzzles: 2")
    session.wait_for(">   p01  Map")
    session.forget()
    session.press("q")
    session.wait_for("puzzle 1: Map")
    session.press("lG\r")
    session.wait_for("puzzle 34: Clusters")
    session.wait_for("✅ p34 --coordination passed")
    session.press("q")
    assert session.end() == ExitCode.PASSED


def test_the_path_of_the_file_is_a_link(course: Workbench, sessions: list[Session]) -> None:
    session = Session(course, "p01")
    sessions.append(session)
    session.wait_for("still the skeleton")
    session.press("q")
    session.end()
    assert f";{course.problem.as_uri()}\x1b" in session.written.decode()


def test_an_old_verdict_is_dim_while_a_build_runs() -> None:
    screen = WatchScreen("en")
    screen.show_verdict("\x1b[31m❌ p05 is not right yet\x1b[0m")

    def shown() -> str:
        text = io.StringIO()
        Console(width=60, height=14, file=text, force_terminal=True, color_system="standard").print(screen)
        return text.getvalue()

    assert "\x1b[31m❌ p05 is not right yet" in shown()
    screen.busy, screen.usual = "building p05.mojo", 20.4
    assert "\x1b[2m❌ p05 is not right yet" in shown()
    assert "building p05.mojo … " in shown()
    assert " s (the last time 20 s)" in shown()
    screen.show("hint 1 of 3: \x1b[31mred\x1b[0m")
    assert "\x1b[31mred" in shown()
    screen.busy = ""
    screen.back_to_verdict()
    assert "\x1b[31m❌ p05 is not right yet" in shown()


def test_without_a_terminal_it_says_what_to_do(course: Workbench) -> None:
    result = course.run("watch", "p01")
    assert result.status == ExitCode.USAGE
    assert "`tooling watch` needs a terminal" in result.stderr
    assert "`tooling run p01`" in result.stderr


def test_the_first_line_of_a_long_verdict_is_on_the_screen() -> None:
    screen = WatchScreen("en")
    screen.show_verdict("\n".join(["out: 1", "expected: 2", "❌ p05 is not right yet", *"abcdefgh"]))
    shown = io.StringIO()
    Console(width=40, height=14, file=shown).print(screen)
    lines = shown.getvalue().splitlines()
    assert lines[3:5] == ["2 more lines above (↑)", "❌ p05 is not right yet"], lines
