"""Replays of launches that run together on two simulated GPUs, of kernels that were compiled before."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.replay.recorded import cells_after
from tests.simulator.two_gpus import BLOCK, EPOCHS, N, all_reduce, enabled
from tooling.replay.page import to_html
from tooling.replay.running import BlockSelection, RecordingEngine, partners_of
from tooling.replay.trace import Trace, numbers, unpacked
from tooling.simulator.gpu.launch import Dim3

EARLIER, LATER = 2 * EPOCHS - 1, 2 * EPOCHS  # the launches of the last epoch


def recorded(name: str, selection: BlockSelection) -> Trace:
    """The trace of an all-reduce in several epochs; the two launches of an epoch have subsequent numbers."""
    engine = RecordingEngine(selection)
    program = enabled("lockstep", engine)
    all_reduce(program, name)
    program.close()
    assert engine.trace is not None
    return engine.trace


@pytest.fixture(scope="module")
def trace() -> Trace:
    """Block 1 on both GPUs, in the last epoch."""
    return recorded("all_reduce", BlockSelection(EARLIER, (Dim3(1, 0, 0),), partners=frozenset({LATER})))


def moves(trace: Trace, action: str, gpu: int, owner: int) -> list[tuple[int, list[int], list[int]]]:
    """(buffer, threads, cells) of what the block of a GPU does to another one's memory, or to its own."""
    return [
        (move.buffer, [thread % BLOCK for thread in numbers(move.threads)], unpacked(move.cells))
        for step in trace.steps[:-1]
        for move in step.moves
        if move.action == action
        and trace.buffers[move.buffer].gpu == owner
        and trace.positions[numbers(move.threads)[0] // BLOCK][3] == gpu
    ]


def test_the_same_block_is_recorded_on_both_gpus(trace: Trace) -> None:
    assert sorted(trace.positions) == [(1, 0, 0, 0, EARLIER), (1, 0, 0, 1, LATER)]
    shown = sorted((buffer.gpu, buffer.cells, buffer.format) for buffer in trace.buffers)
    of_each = [(N // BLOCK, "i32"), (N, "f32"), (N, "f32")]  # flags, inputs and results
    assert shown == [(gpu, *each) for gpu in (0, 1) for each in of_each]
    assert [step.kind for step in trace.steps].count("exit") == 2


@pytest.mark.parametrize("gpu", [0, 1])
def test_peer_reads_and_signals_are_accesses_to_the_memory_of_the_other_gpu(trace: Trace, gpu: int) -> None:
    block = [*range(BLOCK)]
    ((buffer, threads, cells),) = moves(trace, "load", gpu, 1 - gpu)
    assert (threads, cells) == (block, [BLOCK + each for each in block])
    assert trace.buffers[buffer].cells == N
    signals = moves(trace, "store", gpu, 1 - gpu)
    assert [(threads, cells) for _, threads, cells in signals] == [([0], [1])] * 2
    ((result, _, cells),) = [each for each in moves(trace, "store", gpu, gpu) if each[0] not in {buffer}][1:]
    page: dict[str, Any] = json.loads(json.dumps(embedded(trace, "en")["trace"]))
    values = cells_after(page, len(trace.steps) - 2)[result]
    assert [values[cell] for cell in cells] == [2 * cell + 3 * EPOCHS for cell in cells]


def embedded(trace: Trace, language: str) -> dict[str, Any]:
    """What the page of the trace embeds."""
    found = re.search(r'id="data">(.*?)</script>', to_html(trace, "x", language), re.DOTALL)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_a_poll_is_one_step_and_names_who_ends_it(trace: Trace) -> None:
    polls = [number for number, step in enumerate(trace.steps) if step.kind == "poll"]
    english, korean = (embedded(trace, language) for language in ("en", "ko"))
    assert polls
    for number in polls:
        step = trace.steps[number]
        (move,) = step.moves
        gpu = trace.positions[numbers(step.threads)[0] // BLOCK][3]
        # The next load of the flag is the one that sees another value; between them the other GPU stores it.
        later = [
            (at, each)
            for at, other in enumerate(trace.steps[number + 1 :], number + 1)
            for each in other.moves
            if each.buffer == move.buffer and other.kind != "end"
        ]
        (stored, store), (at, seen) = later[:2]
        assert (store.action, seen.action, seen.threads) == ("store", "load", move.threads)
        before, after = (cells_after(english["trace"], each)[move.buffer][1] for each in (number, at))
        assert before < after
        assert re.fullmatch(
            rf"Line \?: threads 0 on GPU {gpu} poll [\w /]+\[1\] \(GPU {gpu}\), and wait for another "
            r"value\. "
            rf"Thread 0 on GPU {1 - gpu} stores it in step {stored + 1}\.",
            english["says"][number],
        )
        assert re.fullmatch(
            rf"\?번 줄: 스레드 0\(GPU {gpu}\), [\w /]+\[1\] \(GPU {gpu}\)의 값이 바뀔 때까지 폴링\. "
            rf"스레드 0\(GPU {1 - gpu}\), {stored + 1}단계에서 새 값을 저장\.",
            korean["says"][number],
        )


def test_the_page_has_a_column_for_each_gpu(trace: Trace) -> None:
    html = to_html(trace, "x", "en")
    assert '<main class="of-gpus">' in html
    assert f"2 GPUs · launches {EARLIER}, {LATER} of {LATER} · grid ({N // BLOCK}, 1, 1)" in html
    assert "recorded on each GPU: block (1, 0, 0), one of 4" in html
    assert "waiting at a barrier, or for a flag" in html
    assert "The simulated GPUs take turns." in html
    says = embedded(trace, "en")["says"]
    assert f"threads 0–{BLOCK - 1} on GPU 0 read " in " ".join(says)
    assert says[-1].startswith("The launches have ended: other blocks, or later launches, have changed ")


def test_a_race_between_the_gpus_marks_a_thread_of_each() -> None:
    trace = recorded("relaxed_store", BlockSelection(1, (Dim3(0, 0, 0),), partners=frozenset({2})))
    parties = {trace.positions[party.thread // BLOCK][3] for mark in trace.marks for party in mark.parties}
    assert parties == {0, 1}


def test_the_launches_of_one_call_belong_together() -> None:
    launches = {1: ("fill", 0), 2: ("sum", 0), 3: ("fill", 1), 4: ("sum", 1), 5: ("sum", 1), 6: ("sum", 0)}
    assert partners_of(launches, 2) == {4}
    assert partners_of(launches, 6) == {5}
    assert partners_of({**launches, 7: ("sum", 0)}, 7) == frozenset()
