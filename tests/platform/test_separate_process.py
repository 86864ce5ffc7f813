"""What code does to its own process does not reach the tool: it runs in another one."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.platform.test_processes import gone
from tooling.platform import separate_process
from tooling.platform.processes import kill_running
from tooling.platform.separate_process import ProcessEnded, SeparateProcess


class Remote:
    """Lives in the other process."""

    def __init__(self, start: int) -> None:
        if start < 0:
            raise ValueError("a start below 0")
        self.total = start

    def add(self, number: int) -> int:
        sys.stdout.write("printed\n")
        self.total += number
        return self.total

    def pid(self) -> int:
        return os.getpid()

    def child(self) -> int:
        return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]).pid

    def end(self, code: str) -> None:
        exec(code)

    def sleep(self) -> None:
        time.sleep(60)


@pytest.fixture(params=["fork", "spawn"], autouse=True)
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "fork" and sys.platform != "linux":
        pytest.skip("only Linux forks")
    monkeypatch.setattr(separate_process, "_FORKS", request.param == "fork")


def test_an_object_keeps_its_state_and_prints_to_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    remote = SeparateProcess(Remote, 3)
    assert [remote.call("add", 4), remote.call("add", 5)] == [7, 12]
    assert remote.call("pid") != os.getpid()
    assert capfd.readouterr() == ("", "printed\nprinted\n")


def test_what_is_raised_there_is_raised_here() -> None:
    with pytest.raises(ValueError, match="a start below 0"):
        SeparateProcess(Remote, -1)
    remote = SeparateProcess(Remote, 0)
    with pytest.raises(AttributeError, match="'nothing'"):
        remote.call("nothing")
    assert remote.call("add", 1) == 1


@pytest.mark.parametrize(
    ("code", "how"),
    [
        ("os._exit(0)", "it ended its process with status 0"),
        ("sys.exit(0)", "it ended its process with status 1"),
        ("raise KeyboardInterrupt", "it ended its process with status 1"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL ended it"),
        ("os.killpg(0, signal.SIGTERM); time.sleep(60)", "SIGTERM ended it"),
    ],
)
def test_a_call_that_is_not_answered_says_how_the_process_ended(code: str, how: str) -> None:
    remote = SeparateProcess(Remote, 0)
    for _ in range(2):
        with pytest.raises(ProcessEnded) as failure:
            remote.call("end", code)
        assert str(failure.value) == how


def test_it_ends_with_its_children_when_it_is_no_longer_used() -> None:
    remote = SeparateProcess(Remote, 0)
    pids = [remote.call("pid"), remote.call("child")]
    del remote
    gc.collect()
    assert all(gone(pid) for pid in pids if isinstance(pid, int))


def test_an_interrupt_ends_a_call_that_is_waited_for() -> None:
    remote = SeparateProcess(Remote, 0)
    timer = threading.Timer(0.2, kill_running)
    timer.start()
    with pytest.raises(ProcessEnded, match="SIGKILL ended it"):
        remote.call("sleep")
    timer.join()


def test_it_ends_with_a_parent_that_is_killed_while_it_computes(tmp_path: Path) -> None:
    code = (
        "import sys; from tests.platform.test_separate_process import *\n"
        f"separate_process._FORKS = {separate_process._FORKS}\n"
        "remote = SeparateProcess(Remote, 0)\n"
        "print(remote.call('pid'), flush=True)\n"
        "remote.call('sleep')\n"
    )
    root = Path(__file__).parents[2]
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=root, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    parent.send_signal(signal.SIGKILL)
    parent.communicate()
    assert gone(pid)
