"""Programs end with the command that started them, and so does everything that they started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tooling.execution.program import Ending, run_program
from tooling.platform.processes import process_group, run_captured, start_piped

# Two processes write to one pipe. Each line is one write: unbuffered, print makes several.
SESSION_OF_ITS_OWN = """
import os, subprocess, sys, time
children = [
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
    for _ in range(2)
]
if os.fork() == 0:  # an orphan: its parent ends at once
    os.setsid()
    if os.fork() == 0:
        os.write(1, b"%d\\n" % os.getpid())
        time.sleep(60)
    os._exit(0)
os.write(1, b"%d %d\\n" % tuple(child.pid for child in children))
time.sleep({seconds})
"""


def gone(pid: int) -> bool:
    """Whether a process has ended; waits for it for a while."""
    for _ in range(200):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and child subreapers")
@pytest.mark.parametrize(("seconds", "ending"), [(60, Ending.TIME_LIMIT), (0.5, Ending.EXITED)])
def test_children_in_sessions_of_their_own_end_with_the_program(seconds: float, ending: Ending) -> None:
    transcript = run_program(
        [sys.executable, "-c", SESSION_OF_ITS_OWN.format(seconds=seconds)],
        environment=os.environ,
        time_limit=5,
    )
    pids = [int(word) for word in transcript.stdout.split()]
    assert transcript.ending is ending
    assert len(pids) == 3
    assert all(gone(pid) for pid in pids)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP, signal.SIGTERM])
def test_a_program_ends_when_the_tool_is_killed(number: signal.Signals) -> None:
    code = (
        "import os, sys; from tooling.execution.program import run_program\n"
        f"program = {SESSION_OF_ITS_OWN.format(seconds=60)!r}\n"
        "run_program([sys.executable, '-c', program],"
        " environment=os.environ, time_limit=60, stream=lambda data: os.write(1, data))"
    )
    tool = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert tool.stdout is not None
    pids = [int(word) for _ in range(2) for word in tool.stdout.readline().split()]
    os.kill(tool.pid, number)
    tool.wait()
    tool.stdout.close()
    assert len(pids) == 3
    assert all(gone(pid) for pid in pids)


WATCHES_ITS_PARENT = """
import os, sys, time
from tooling.platform import processes

if sys.argv[1] == "look":
    processes._signalled_by_the_system = lambda: False
parent = os.getpid()
if os.fork() == 0:
    if sys.argv[2] == "late":
        os.setsid()
        while os.getppid() == parent:
            time.sleep(0.01)
    processes.end_with_parent(parent)
    os.write(1, b"%d\\n" % os.getpid())
    time.sleep(60)
else:
    time.sleep(0.1 if sys.argv[2] == "late" else 60)
"""


@pytest.mark.parametrize("when", ["early", "late"])
@pytest.mark.parametrize("way", ["system", "look"])
def test_a_child_ends_with_its_parent(way: str, when: str) -> None:
    command = [sys.executable, "-c", WATCHES_ITS_PARENT, way, when]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        if when == "late":
            parent.wait()
            assert parent.stdout.read() == "" or way == "look"
        else:
            pid = int(parent.stdout.readline())
            parent.kill()
            assert gone(pid)


def test_a_temporary_folder_is_removed_when_the_tool_is_killed() -> None:
    code = (
        "import sys, time; from tooling.platform.processes import temporary_folder\n"
        "with temporary_folder('killed-') as folder:\n"
        "    (folder / 'book').mkdir()\n"
        "    (folder / 'book' / 'out.bin').touch()\n"
        "    print(folder, flush=True)\n"
        "    time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as tool:
        assert tool.stdout is not None
        folder = Path(tool.stdout.readline().strip())
        assert [path.name for path in folder.rglob("*")] == ["book", "out.bin"]
        tool.kill()
    for _ in range(200):
        if not folder.exists():
            break
        time.sleep(0.05)
    assert not folder.exists()


def test_a_helper_leaves_no_guard_behind() -> None:
    done = run_captured([sys.executable, "-c", "print('done')"])
    assert (done.status, done.stdout) == (0, "done\n")
    assert not [
        path
        for path in Path("/proc/self/task").glob("*/children")
        for child in path.read_text().split()
        if b"guard" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]


SIGNALLED_WHILE_IT_STARTS = """
import os, signal, subprocess, sys
from tooling.platform.processes import process_group

class Terminated(BaseException):
    pass

def terminate(number, frame):
    raise Terminated

def start():
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
    print(process.pid, flush=True)
    os.kill(os.getpid(), signal.SIGTERM)  # its handler runs before this function returns
    return process

signal.signal(signal.SIGTERM, terminate)
try:
    with process_group(start):
        print("not reached")
except Terminated:
    print("terminated", signal.getsignal(signal.SIGTERM) is terminate)
"""


def test_a_signal_that_arrives_while_a_program_starts_ends_it() -> None:
    command = [sys.executable, "-c", SIGNALLED_WHILE_IT_STARTS]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    pid, rest = done.stdout.split(maxsplit=1)
    assert rest == "terminated True\n"
    assert gone(int(pid))


def test_the_pipes_of_a_program_are_closed_when_its_output_is_no_longer_wanted() -> None:
    command = [sys.executable, "-c", "print('started', flush=True); import time; time.sleep(60)"]
    with (
        pytest.raises(ZeroDivisionError),
        process_group(lambda: start_piped(command, {}, None)) as process,
    ):
        assert process.stdout is not None and process.stdout.readline() == b"started\n"
        raise ZeroDivisionError
    assert process.stdout is not None and process.stderr is not None
    assert (process.stdout.closed, process.stderr.closed) == (True, True)
