"""Work in several processes: the same answers, no failure that is lost, and no process that is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.machine import is_alive
from tooling.platform.errors import ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.platform.workers import WorkerDied, WorkerFailed, map_in_processes
from tooling.translations.freshness import workers as pages


def square(number: int) -> int:
    return number * number


def refuse_seven(number: int) -> int:
    if number == 7:
        raise ValueError("seven is refused")
    return number


def die_at_seven(number: int) -> int:
    if number == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


class Refused(ToolingError):
    """An error whose class asks for more than its message."""

    def __init__(self, number: int, *, reason: str) -> None:
        super().__init__(f"{number} is refused", why=reason, hint="leave it out")
        self.number = number


class Unsendable(Exception):
    """An error that no pickle holds."""

    def __init__(self, *, text: str) -> None:
        super().__init__(text)


def refuse_in_detail(number: int) -> int:
    if number == 7:
        raise Refused(number, reason="it is odd")
    return number


def refuse_unsendably(number: int) -> int:
    if number == 7:
        raise Unsendable(text="seven is refused")
    return number


def process_of(_number: int) -> int:
    return os.getpid()


def wait_in_a_folder(folder: Path) -> str:
    """Leaves a trace while it runs, and removes it however it ends."""
    trace = folder / str(os.getpid())
    try:
        trace.touch()
        time.sleep(600)
    finally:
        trace.unlink(missing_ok=True)
    return trace.name


@pytest.mark.parametrize(("size", "chunk"), [(0, 1), (1, 1), (7, 1), (101, 50)])
def test_results_come_in_the_order_of_the_items(size: int, chunk: int) -> None:
    found = list(map_in_processes(square, range(size), 2, chunk=chunk))
    assert found == [number * number for number in range(size)]


def test_results_may_come_as_they_are_ready() -> None:
    assert sorted(map_in_processes(square, range(9), 2, ordered=False)) == sorted(map(square, range(9)))


def test_one_job_needs_no_process() -> None:
    assert set(map_in_processes(process_of, range(9), 1)) == {os.getpid()}
    assert os.getpid() not in set(map_in_processes(process_of, range(9), 2))


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_arrives_with_all_that_it_says(jobs: int) -> None:
    with pytest.raises(Refused) as caught:
        list(map_in_processes(refuse_in_detail, range(20), jobs, chunk=5))
    assert str(caught.value) == "7 is refused\n  why: it is odd\n  try: leave it out"
    assert caught.value.number == 7


def test_an_error_that_cannot_be_sent_is_named() -> None:
    with pytest.raises(WorkerFailed, match=r"^Unsendable: seven is refused$"):
        list(map_in_processes(refuse_unsendably, range(20), 2))


def test_a_killed_process_is_never_taken_for_an_answer() -> None:
    with pytest.raises(WorkerDied) as caught:
        list(map_in_processes(die_at_seven, range(20), 2, chunk=5))
    assert caught.value.exit_code is ExitCode.NOT_POSSIBLE
    assert str(caught.value) == (
        "a worker process was killed before it had answered\n"
        "  why: the system kills processes where memory runs out\n"
        "  try: use fewer processes at a time: `--jobs 1`, or PUZZLE_CORES=1"
    )


def wait_for_traces(folder: Path, count: int) -> list[int]:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        traces = [int(path.name) for path in folder.iterdir()]
        if len(traces) == count:
            return traces
        time.sleep(0.02)
    raise AssertionError(f"not {count} in {folder}")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_workers_and_what_they_began_is_undone(tmp_path: Path, number: int) -> None:
    """An interrupt goes to the whole group, as a terminal sends it; SIGTERM to the parent alone."""
    code = (
        "import signal, sys\n"
        "from pathlib import Path\n"
        "from tests.platform.test_workers import wait_in_a_folder\n"
        "from tooling.platform.workers import map_in_processes\n"
        "for number in (signal.SIGINT, signal.SIGTERM):\n"
        "    signal.signal(number, signal.default_int_handler)\n"
        "if __name__ == '__main__':\n"
        "    list(map_in_processes(wait_in_a_folder, [Path(sys.argv[1])] * 4, 2))\n"
    )
    root = Path(__file__).parents[2]
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        cwd=root,
        start_new_session=True,
        stderr=subprocess.PIPE,
        text=True,
    )
    workers = wait_for_traces(tmp_path, 2)
    (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
    _, output = process.communicate(timeout=60)
    assert output.splitlines()[-1] == "KeyboardInterrupt"
    assert [worker for worker in workers if is_alive(worker)] == []
    assert list(tmp_path.iterdir()) == []


def test_a_loop_that_is_left_ends_the_workers(tmp_path: Path) -> None:

    results = map_in_processes(process_of, range(200), 2)
    worker = next(results)
    results.close()
    assert not is_alive(worker)


@pytest.mark.parametrize(("size", "here"), [(20, True), (pages._WORTH_PROCESSES, False)])
def test_only_many_pages_are_worth_processes(size: int, here: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUZZLE_CORES", "2")
    assert (set(pages.map_pages(process_of, range(size))) == {os.getpid()}) is here


@pytest.mark.skipif(sys.platform != "linux", reason="prctl(2) is of Linux")
def test_workers_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    script = (
        "from pathlib import Path\n"
        "from tests.platform.test_workers import wait_in_a_folder\n"
        "from tooling.platform.workers import map_in_processes\n"
        "if __name__ == '__main__':\n"
        f"    list(map_in_processes(wait_in_a_folder, [Path({str(tmp_path)!r})] * 2, 2))\n"
    )
    main = tmp_path / "main.py"
    main.write_text(script)
    root = Path(__file__).resolve().parents[2]
    parent = subprocess.Popen([sys.executable, str(main)], env=os.environ | {"PYTHONPATH": str(root)})
    try:
        while len(workers := [path.name for path in tmp_path.iterdir() if path.name.isdecimal()]) < 2:
            assert parent.poll() is None
            time.sleep(0.05)
    finally:
        parent.kill()
        parent.wait()
    assert not any(is_alive(int(worker)) for worker in workers)
    assert [path.name for path in tmp_path.iterdir() if path.name.isdecimal()] == []
