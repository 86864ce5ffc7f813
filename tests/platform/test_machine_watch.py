"""A program that takes all memory of the machine, or starts threads without end, is ended with the reason."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.machine import is_alive
from tooling.execution.program import Ending, Transcript, excess_facts, run_program
from tooling.platform import machine_watch
from tooling.platform.machine_watch import Excess, Limited, MachineWatch
from tooling.platform.processes import marked

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")

TAKES = (
    "import sys\ntaken = []\nwhile len(taken) < int(sys.argv[1]): taken.append(bytearray(b'1') * (1 << 23))"
)
"""Takes this many times 8 MiB of memory."""
THREADS = (
    "import sys, threading\nstop = threading.Event()\n"
    "for _ in range(int(sys.argv[1])): threading.Thread(target=stop.wait).start()\n"
    "if sys.argv[2:]: stop.wait()\nstop.set()"
)
FORKS = "import os, time\nwhile True:\n    if os.fork() == 0:\n        os.setsid()\n        time.sleep(60)"
WITHOUT_END = str(1 << 40)
TOTAL = 1 << 30


def run(*command: str, time_limit: float = 120.0) -> Transcript:
    return run_program([sys.executable, "-c", *command], environment=os.environ, time_limit=time_limit)


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with 1 GiB of memory, of which 40 MiB are left: less than a sixteenth."""
    monkeypatch.setattr(machine_watch, "_memory_of_the_machine", lambda: (TOTAL, 40 << 20))
    monkeypatch.setattr(machine_watch, "_limited_groups", tuple)


@pytest.mark.usefixtures("full")
def test_a_program_that_takes_memory_without_end_is_ended() -> None:
    transcript = run(TAKES, WITHOUT_END)
    assert transcript.ending is Ending.MEMORY_LIMIT
    assert transcript.excess
    assert transcript.excess.kind is Limited.MEMORY
    assert transcript.excess.taken >= TOTAL // 16
    assert transcript.excess.left == 40 << 20


@pytest.mark.usefixtures("full")
def test_so_is_one_that_has_closed_its_output() -> None:
    assert run(f"import os\nos.close(1)\nos.close(2)\n{TAKES}", WITHOUT_END).ending is Ending.MEMORY_LIMIT


@pytest.mark.usefixtures("full")
def test_a_small_program_goes_on_while_others_fill_the_memory() -> None:
    transcript = run(f"{TAKES}\nimport time\ntime.sleep(0.5)", "1")
    assert (transcript.ending, transcript.status, transcript.excess) == (Ending.EXITED, 0, None)


def test_a_large_program_goes_on_while_memory_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_watch, "_memory_of_the_machine", lambda: (TOTAL, TOTAL // 16))
    monkeypatch.setattr(machine_watch, "_limited_groups", tuple)
    assert run(f"{TAKES}\nimport time\ntime.sleep(0.5)", "20").ending is Ending.EXITED


@pytest.mark.parametrize("program", [(THREADS, WITHOUT_END), (FORKS,)], ids=["threads", "processes"])
def test_a_program_that_starts_threads_without_end_is_ended(
    monkeypatch: pytest.MonkeyPatch, program: tuple[str, ...], tmp_path: Path
) -> None:
    monkeypatch.setattr(machine_watch, "MOST_TASKS", 100)
    monkeypatch.setattr(machine_watch, "_TASKS_OF_A_CORE", 1)
    monkeypatch.setenv("PUZZLE_TRIAL", str(tmp_path))
    transcript = run(*program)
    assert transcript.ending is Ending.THREAD_LIMIT
    assert transcript.excess
    assert transcript.excess.taken > transcript.excess.left == max(100, os.cpu_count() or 1)
    left = f"PUZZLE_TRIAL={tmp_path}".encode()
    found = [int(each.name) for each in Path("/proc").glob("[0-9]*") if left in _environment(each)]
    assert not [pid for pid in found if pid != os.getpid() and is_alive(pid)]


def _environment(process: Path) -> bytes:
    try:
        return (process / "environ").read_bytes()
    except OSError:
        return b""


def test_a_program_with_hundreds_of_threads_is_right() -> None:
    assert run(THREADS, "500").ending is Ending.EXITED


@pytest.mark.parametrize(
    ("cached", "swap", "left"), [(20, "max", 100 - 90 + 2 * 20 + 700), (0, "0", 100 - 90)]
)
def test_the_limit_of_a_container_counts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cached: int, swap: str, left: int
) -> None:
    proc, groups = tmp_path / "proc", tmp_path / "cgroup"
    group = groups / "of" / "container"
    group.mkdir(parents=True)
    (proc / "self").mkdir(parents=True)
    (proc / "self" / "cgroup").write_text("0::/of/container\n")
    (proc / "meminfo").write_text(f"MemTotal: {1 << 20} kB\nMemAvailable: {1 << 19} kB\nSwapFree: 700 kB\n")
    (groups / "of" / "memory.max").write_text("max\n")
    for name, text in {"max": 100 << 10, "current": 90 << 10, "swap.max": swap, "swap.current": 0}.items():
        (group / f"memory.{name}").write_text(f"{text}\n")
    (group / "memory.stat").write_text(f"anon 5\nactive_file {cached << 10}\ninactive_file {cached << 10}\n")
    monkeypatch.setattr(machine_watch, "PROC", proc)
    monkeypatch.setattr(machine_watch, "CGROUPS", groups)
    assert machine_watch._limited_groups() == (group,)
    assert machine_watch._memory_of_the_group(group) == (100 << 10, left << 10)


def test_a_system_without_proc_is_not_watched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(machine_watch, "PROC", tmp_path)
    assert MachineWatch(marked({})).excess() is None


@pytest.mark.parametrize(
    ("excess", "facts"),
    [
        (Excess(Limited.MEMORY, 3 << 30, 1 << 29), {"taken": "3.0", "left": "0.5"}),
        (Excess(Limited.TASKS, 10_007, 4096), {"taken": "10,007", "left": "4,096"}),
    ],
)
def test_sentences_state_what_was_taken(excess: Excess, facts: dict[str, str]) -> None:
    assert excess_facts(excess) == facts
