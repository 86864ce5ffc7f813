"""Pages judged by several processes: the same results, and no lost failure."""

import errno
import os
import signal
import threading

import pytest

from tooling.errors import ToolingError
from tooling.translations.freshness import forks, workers

SIZES = (0, 1, workers._WORTH_FORKING - 1, workers._WORTH_FORKING, 101, workers._WORTH_A_POOL + 1)


ALONE = workers._alone


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
    """An error whose class needs more arguments than its message."""

    def __init__(self, number: int, *, reason: str) -> None:
        super().__init__(f"{number} is refused", why=reason, hint="leave it out")
        self.number = number


class Unsendable(Exception):
    """An error that cannot be pickled."""

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


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "usable_cores", lambda: 2)
    monkeypatch.setattr(workers, "_alone", lambda: True)  # regardless of the test runner's threads


@pytest.mark.parametrize("size", SIZES)
def test_results_come_in_the_order_of_the_items(size: int) -> None:
    assert list(workers.map_pages(square, range(size))) == [number * number for number in range(size)]


@pytest.mark.parametrize("size", [8, 100, 500])
def test_a_failure_in_any_process_reaches_the_caller(size: int) -> None:
    with pytest.raises(ValueError, match="seven is refused"):
        list(workers.map_pages(refuse_seven, range(size)))


@pytest.mark.parametrize("size", [20, 500])
def test_an_error_arrives_with_all_that_it_says(size: int) -> None:
    with pytest.raises(Refused) as caught:
        list(workers.map_pages(refuse_in_detail, range(size)))
    assert str(caught.value) == "7 is refused\n  why: it is odd\n  try: leave it out"
    assert caught.value.number == 7


def test_an_error_that_cannot_be_sent_is_reported() -> None:
    with pytest.raises(forks.WorkerFailed, match="Unsendable: seven is refused"):
        list(workers.map_pages(refuse_unsendably, range(20)))


@pytest.mark.parametrize("size", [20, 500])
def test_a_killed_process_is_never_taken_for_an_answer(size: int) -> None:
    with pytest.raises(forks.WorkerDied, match="killed before it had answered"):
        list(workers.map_pages(die_at_seven, range(size)))


@pytest.mark.parametrize("allowed", [0, 1, 2])
def test_where_no_more_processes_are_allowed_the_rest_is_done_here(
    allowed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    forked: list[int] = []

    def fork() -> int:
        if len(forked) == allowed:
            raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")
        child = real_fork()
        forked.append(child)
        return child

    real_fork = os.fork
    monkeypatch.setattr(workers, "usable_cores", lambda: 4)
    monkeypatch.setattr("tooling.translations.freshness.forks.os.fork", fork)
    assert list(workers.map_pages(square, range(50))) == [number * number for number in range(50)]
    assert len(forked) == allowed
    for child in forked:
        with pytest.raises(ChildProcessError):  # no process is left
            os.waitpid(child, os.WNOHANG)


@pytest.mark.parametrize("size", [20, 500])
def test_nothing_is_forked_beside_another_thread(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(workers.map_pages(process_of, range(size))) != {os.getpid()}
    monkeypatch.setattr(workers, "_alone", ALONE)
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        assert set(workers.map_pages(process_of, range(size))) == {os.getpid()}
    finally:
        done.set()
        thread.join()
