"""The verdict on one data set, from buffers and endings made by hand."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tooling.catalog.model import Mode, ModeKind, Output
from tooling.execution.channel import Buffer
from tooling.execution.program import Ending, Transcript
from tooling.judging.judge import judge_case, judge_unjudged
from tooling.judging.reference import ReferenceCase
from tooling.record import replace
from tooling.simulator.findings import Place
from tooling.simulator.launch import FaultKind
from tooling.simulator.stopped import StoppedKernel

A = np.arange(4, dtype=np.float32)
CASE = ReferenceCase("book", {"a": A, "out": np.zeros(4, np.float32)}, {"out": A + 1})
MODE = Mode(
    "default", ModeKind.PUZZLE, (), ("p01",), {}, (Output("out", "float32", (4,)),), ("book",), (), (), 5.0
)
RIGHT = Buffer("float32", (A + 1).tobytes())
USED = {name: Buffer("float32", array.tobytes()) for name, array in CASE.inputs.items()}


def names(
    submitted: Buffer | None = RIGHT,
    *,
    ending: Ending = Ending.EXITED,
    status: int = 0,
    stderr: str = "",
    launches: int | None = 1,
) -> list[str]:
    transcript = Transcript("", stderr, ending, status, 0.1)
    buffers = {"out": submitted} if submitted else {}
    verdict = judge_case(MODE, CASE, transcript, USED, buffers, launches=launches)
    return [problem.name for problem in verdict.problems]


def test_right_is_right() -> None:
    assert names() == []
    assert names(launches=None) == []


def test_a_right_result_without_a_launch_was_not_computed_on_the_gpu() -> None:
    assert names(launches=0) == ["not-launched"]


@pytest.mark.parametrize(
    "submitted",
    [None, Buffer("float64", (A + 1).astype(np.float64).tobytes()), Buffer("float32", A[:3].tobytes())],
)
def test_another_type_or_size_is_not_the_output(submitted: Buffer | None) -> None:
    assert names(submitted) == ["not-submitted"]


@pytest.mark.parametrize(
    ("submitted", "says"),
    [
        (None, "the program did not hand in `out`"),
        (Buffer("int32", A.tobytes()), "`out` has elements of int32, and the puzzle's are float32"),
        (Buffer("float32", A[:3].tobytes()), "`out` has 3 elements, and the puzzle's has 4"),
    ],
)
def test_what_is_wrong_with_a_buffer_as_such_is_named(submitted: Buffer | None, says: str) -> None:
    transcript = Transcript("", "", Ending.EXITED, 0, 0.1)
    buffers = {"out": submitted} if submitted else {}
    (problem,) = judge_case(MODE, CASE, transcript, USED, buffers).problems
    assert (problem.name, problem.what) == ("not-submitted", says)


def test_an_input_of_another_type_is_named() -> None:
    used = {**USED, "a": Buffer("float64", A.astype(np.float64).tobytes())}
    transcript = Transcript("", "", Ending.EXITED, 0, 0.1)
    (problem,) = judge_case(MODE, CASE, transcript, used, {"out": RIGHT}).problems
    assert problem.name == "input-changed"
    assert problem.what == "`a` has elements of float64, and the puzzle's are float32"
    assert "`dtype`" in problem.advice


LOOP = StoppedKernel(
    name="add_10",
    place=Place("/far/p01.mojo", 12, 9, 40),
    text="while i < 4:",
    thread=(3, 0, 0),
    block=(0, 0, 0),
    kind=FaultKind.TIME_LIMIT,
    why="the kernel did not end within its limit",
)
HUNG = Transcript("", "", Ending.TIME_LIMIT, 9, 20.0)
TRAPPED = Transcript("", "CUDA_ERROR_LAUNCH_FAILED", Ending.EXITED, 1, 0.1)
CRASHED = Transcript("", "", Ending.SIGNALLED, 11, 0.1)


@pytest.mark.parametrize(
    ("transcript", "launches", "stopped", "says"),
    [
        (
            HUNG,
            1,
            LOOP,
            "thread (3, 0, 0) of block (0, 0, 0) was still in it, at /far/p01.mojo:12:9 (`while i",
        ),
        (HUNG, 1, None, "a loop does not end"),
        (TRAPPED, 1, LOOP, "the simulated GPU stopped `add_10` at /far/p01.mojo:12:9 (`while i < 4:`)"),
        (CRASHED, 1, None, "it happened in `main`, on the CPU"),
        (CRASHED, None, None, "run it with `--target sim`"),
        (TRAPPED, None, None, "run it with `--target sim`"),
    ],
)
def test_a_program_that_did_not_come_to_its_end_is_told_where(
    transcript: Transcript, launches: int | None, stopped: StoppedKernel | None, says: str
) -> None:
    verdicts = [
        judge_case(MODE, CASE, transcript, USED, {}, launches=launches, stopped=stopped),
        judge_unjudged("book", transcript, launches=launches, stopped=stopped),
    ]
    for verdict in verdicts:
        (problem,) = verdict.problems
        assert says in f"{problem.what}; {problem.cause}; {problem.advice}"
        on_simulator = launches is not None
        assert not (on_simulator and "--target sim" in problem.advice)


@pytest.mark.parametrize(
    ("ending", "status", "stderr", "name"),
    [
        (Ending.SIGNALLED, 11, "", "crash"),
        (Ending.EXITED, 1, "call failed: CUDA_ERROR_ILLEGAL_ADDRESS (an illegal …)", "crash"),
        (Ending.TIME_LIMIT, 9, "", "time-limit"),
        (Ending.OUTPUT_LIMIT, 9, "", "time-limit"),
        (Ending.EXITED, 1, "Unhandled exception caught during execution: At a.mojo:3:1: no", "program-error"),
    ],
)
def test_a_bad_ending_is_named_even_with_right_buffers(
    ending: Ending, status: int, stderr: str, name: str
) -> None:
    assert names(ending=ending, status=status, stderr=stderr) == [name]
    assert names(None, ending=ending, status=status, stderr=stderr) == [name]


def test_a_refused_launch_is_told_in_the_simulators_words() -> None:
    said = "simulated GPU: add_10 cannot be launched: too large\nUnhandled exception caught during execution:"
    transcript = Transcript("", said, Ending.EXITED, 1, 0.1)
    (problem,) = judge_case(MODE, CASE, transcript, USED, {}).problems
    assert problem.what == "the program failed: add_10 cannot be launched: too large"
    assert problem.cause == "it ended with an error before it had handed in a result"
    (problem,) = judge_case(MODE, CASE, transcript, USED, {"out": RIGHT}).problems
    assert "handed in are right" in problem.cause


def test_a_mismatch_explains_the_programs_own_failure() -> None:
    wrong = Buffer("float32", np.zeros(4, np.float32).tobytes())
    assert names(wrong, status=1, stderr="Unhandled exception …") == ["never-written"]


def test_a_write_beyond_the_end_is_seen_in_the_cells_behind_the_result() -> None:
    poison = np.full(2, -777.25, np.float32)
    guard = Output("guard", "float32", (2,))
    mode = replace(MODE, outputs=(*MODE.outputs, guard))
    case = dataclasses.replace(CASE, expected={**CASE.expected, "guard": poison})
    transcript = Transcript("", "", Ending.EXITED, 0, 0.1)
    for behind, found in ((poison, []), (np.array([5, -777.25], np.float32), ["written-beyond-the-end"])):
        submitted = {"out": RIGHT, "guard": Buffer("float32", behind.tobytes())}
        verdict = judge_case(mode, case, transcript, USED, submitted)
        assert [problem.name for problem in verdict.problems] == found
