"""Pages judged by several processes: the same answers, and no failure that is lost."""

import os
import signal
import threading

import pytest

from tooling.translations import workers

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


def process_of(_number: int) -> int:
    return os.getpid()


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_cores", lambda: 2)
    monkeypatch.setattr(workers, "_alone", lambda: True)  # whatever threads the test runner has


@pytest.mark.parametrize("size", SIZES)
def test_results_come_in_the_order_of_the_items(size: int) -> None:
    assert list(workers.map_pages(square, range(size))) == [number * number for number in range(size)]


@pytest.mark.parametrize("size", [8, 100, 500])
def test_a_failure_in_any_process_reaches_the_caller(size: int) -> None:
    with pytest.raises(ValueError, match="seven is refused"):
        list(workers.map_pages(refuse_seven, range(size)))


def test_a_killed_process_is_never_taken_for_an_answer() -> None:
    with pytest.raises(workers.WorkerDied, match="killed before it had answered"):
        list(workers.map_pages(die_at_seven, range(20)))


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
