"""The verdict on one data set, from buffers and endings made by hand."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tooling.catalog.model import Mode, ModeKind, Output
from tooling.execution.channel import Buffer
from tooling.execution.program import Ending, Transcript
from tooling.judging.judge import judge_case
from tooling.judging.reference import ReferenceCase

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


def test_a_mismatch_explains_the_programs_own_failure() -> None:
    wrong = Buffer("float32", np.zeros(4, np.float32).tobytes())
    assert names(wrong, status=1, stderr="Unhandled exception …") == ["never-written"]


def test_a_write_beyond_the_end_is_seen_in_the_cells_behind_the_result() -> None:
    poison = np.full(2, -777.25, np.float32)
    guard = Output("guard", "float32", (2,))
    mode = dataclasses.replace(MODE, outputs=(*MODE.outputs, guard))
    case = dataclasses.replace(CASE, expected={**CASE.expected, "guard": poison})
    transcript = Transcript("", "", Ending.EXITED, 0, 0.1)
    for behind, found in ((poison, []), (np.array([5, -777.25], np.float32), ["written-beyond-the-end"])):
        submitted = {"out": RIGHT, "guard": Buffer("float32", behind.tobytes())}
        verdict = judge_case(mode, case, transcript, USED, submitted)
        assert [problem.name for problem in verdict.problems] == found
