"""A fork ends in its own frames, and is ended in any case."""

import os
import signal
import time
from collections.abc import Callable, Iterator

import pytest

from tests.machine import is_alive
from tooling.forks import fork


@pytest.fixture
def nobody_hears_of_children() -> Iterator[None]:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGCHLD, before)


def answer(pipe: int) -> bytes:
    with os.fdopen(pipe, "rb", closefd=False) as stream:
        return stream.read()


def wait_for_ever() -> bytes:
    time.sleep(600)
    return b""


def fail() -> bytes:
    raise RuntimeError


@pytest.mark.parametrize(("work", "said"), [(lambda: b"seven", b"seven"), (fail, b"")])
def test_a_child_answers_and_is_gone(work: Callable[[], bytes], said: bytes) -> None:
    child = fork(work)
    assert answer(child.pipe) == said
    child.end()
    assert not is_alive(child.process)


@pytest.mark.parametrize("work", [lambda: b"", wait_for_ever])
def test_children_that_the_system_collects_are_ended_as_well(
    work: Callable[[], bytes], nobody_hears_of_children: None
) -> None:
    child = fork(work)
    if work is not wait_for_ever:
        assert not is_alive(child.process)
    child.end()
    assert not is_alive(child.process)


@pytest.mark.parametrize(("early", "said"), [(signal.SIGINT, b"seven"), (signal.SIGTERM, b"")])
def test_a_signal_never_takes_a_child_into_the_frames_of_its_parent(
    early: signal.Signals, said: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes as soon as there is a child, which ignores the one and ends with the other."""
    system_fork, parent = os.fork, os.getpid()

    def fork_and_signal() -> int:
        child = system_fork()
        if not child:
            os.kill(os.getpid(), early)
        return child

    monkeypatch.setattr(os, "fork", fork_and_signal)
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        child = fork(lambda: b"seven")
    finally:
        if os.getpid() != parent:
            os._exit(0)
        signal.signal(signal.SIGTERM, before)
    assert answer(child.pipe) == said
    _, status = os.waitpid(child.process, 0)
    assert os.waitstatus_to_exitcode(status) == (0 if said else -early)
    child.end()
