"""The verdict on one data set, from buffers and endings made by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from tooling.catalog.model import Mode, ModeKind, Output
from tooling.catalog.mutants import KnownMistake
from tooling.execution.channel import BufferContent
from tooling.execution.program import Ending, Transcript
from tooling.judging.confirmation import confirmed
from tooling.judging.evidence import Evidence
from tooling.judging.judge import judge_case, judge_unjudged
from tooling.judging.reference import ReferenceCase, ReferenceUnusable, evaluated
from tooling.judging.verdict import CaseVerdict, Problem
from tooling.platform.errors import Location
from tooling.platform.machine_watch import Excess, Limited
from tooling.simulator.checks.findings import SourcePosition
from tooling.simulator.gpu.launch import FaultKind
from tooling.simulator.server.stopped import StoppedKernel
from tooling.text import LocalText, Text

A = np.arange(4, dtype=np.float32)
CASE = ReferenceCase("book", {"a": A, "out": np.zeros(4, np.float32)}, {"out": A + 1})
MODE = Mode(
    "default", ModeKind.PUZZLE, (), ("p01",), {}, (Output("out", "float32", (4,)),), ("book",), (), (), 5.0
)
RIGHT = BufferContent("float32", (A + 1).tobytes())
USED = {name: BufferContent("float32", array.tobytes()) for name, array in CASE.inputs.items()}


def names(
    submitted: BufferContent | None = RIGHT,
    *,
    ending: Ending = Ending.EXITED,
    status: int = 0,
    stderr: str = "",
    launches: int | None = 1,
) -> list[str]:
    transcript = Transcript("", stderr, ending, status, 0.1)
    buffers = {"out": submitted} if submitted else {}
    verdict = judge_case(Evidence(MODE, CASE, transcript, USED, buffers, launches=launches))
    return [problem.name for problem in verdict.problems]


def test_a_right_result_passes() -> None:
    assert names() == []
    assert names(launches=None) == []


def test_a_right_result_without_a_launch_was_not_computed_on_the_gpu() -> None:
    assert names(launches=0) == ["not-launched"]


@pytest.mark.parametrize(
    "submitted",
    [
        None,
        BufferContent("float64", (A + 1).astype(np.float64).tobytes()),
        BufferContent("float32", A[:3].tobytes()),
    ],
)
def test_another_type_or_size_is_not_the_output(submitted: BufferContent | None) -> None:
    assert names(submitted) == ["not-submitted"]


@pytest.mark.parametrize(
    ("submitted", "says"),
    [
        (None, "the program did not hand in `out`"),
        (BufferContent("int32", A.tobytes()), "`out` has elements of type int32, not float32"),
        (BufferContent("float32", A[:3].tobytes()), "`out` has 3 elements, not 4"),
    ],
)
def test_a_wrong_type_or_size_of_a_buffer_is_reported(submitted: BufferContent | None, says: str) -> None:
    transcript = Transcript("", "", Ending.EXITED, 0, 0.1)
    buffers = {"out": submitted} if submitted else {}
    (problem,) = judge_case(Evidence(MODE, CASE, transcript, USED, buffers)).problems
    assert (problem.name, problem.what.render("en")) == ("not-submitted", says)


def test_an_input_of_another_type_is_named() -> None:
    used = {**USED, "a": BufferContent("float64", A.astype(np.float64).tobytes())}
    transcript = Transcript("", "", Ending.EXITED, 0, 0.1)
    (problem,) = judge_case(Evidence(MODE, CASE, transcript, used, {"out": RIGHT})).problems
    assert problem.name == "input-changed"
    assert problem.what.render("en") == "`a` has elements of type float64, not float32"
    assert "`dtype`" in problem.advice.render("en")


def sentences(problem: Problem) -> str:
    what, cause, advice = (each.render("en") for each in (problem.what, problem.cause, problem.advice))
    return "; ".join((what, *([str(problem.line)] if problem.line else []), cause, advice))


LOOP = StoppedKernel(
    name="add_10",
    position=SourcePosition("/far/p01.mojo", 12, 9, 40),
    text="while i < 4:",
    thread=(3, 0, 0),
    block=(0, 0, 0),
    kind=FaultKind.TIME_LIMIT,
    why=Text("the kernel did not end within its limit"),
)
HUNG = Transcript("", "", Ending.TIME_LIMIT, 9, 20.0)
LARGE = replace(LOOP, blocks=1_000_000, threads=1000, finished=1234)
FILLED = replace(HUNG, ending=Ending.MEMORY_LIMIT, excess=Excess(Limited.MEMORY, 29 << 29, 1 << 29))
CROWDED = replace(HUNG, ending=Ending.THREAD_LIMIT, excess=Excess(Limited.TASKS, 10_000, 4096))
TRAPPED = Transcript("", "CUDA_ERROR_LAUNCH_FAILED", Ending.EXITED, 1, 0.1)
KILLED = Transcript("", "", Ending.SIGNALLED, 9, 0.1)
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
        (
            TRAPPED,
            1,
            LOOP,
            "stopped `add_10`: the kernel did not end within its limit; /far/p01.mojo:12:9: `while i < 4:`;",
        ),
        (CRASHED, 1, None, "it happened in `main`, on the CPU"),
        (KILLED, 1, None, "neither the program nor the tool did that"),
        (HUNG, 1, LARGE, "launched with 1,000,000 blocks of 1,000 threads; 1,234 of the blocks had ended"),
        (HUNG, 1, replace(LARGE, finished=0), "thread (3, 0, 0) of block (0, 0, 0) was still in it"),
        (FILLED, 1, None, "it had 14.5 GiB, and 0.5 GiB were left; a loop allocates memory"),
        (FILLED, 1, LOOP, "were left; /far/p01.mojo:12:9: `while i < 4:`; a loop allocates memory"),
        (CROWDED, 0, None, "because it had 10,000 threads and processes; 4,096 are allowed; a loop starts"),
        (CRASHED, None, None, "run it with `--target sim`"),
        (TRAPPED, None, None, "run it with `--target sim`"),
    ],
)
def test_a_program_that_did_not_end_is_reported_with_its_location(
    transcript: Transcript, launches: int | None, stopped: StoppedKernel | None, says: str
) -> None:
    verdicts = [
        judge_case(Evidence(MODE, CASE, transcript, USED, {}, launches=launches, stopped=stopped)),
        judge_unjudged("book", transcript, launches=launches, stopped=stopped),
    ]
    for verdict in verdicts:
        (problem,) = verdict.problems
        assert says in sentences(problem)
        on_simulator = launches is not None
        assert not (on_simulator and "--target sim" in problem.advice.render("en"))


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
def test_a_failed_program_is_reported_even_with_right_buffers(
    ending: Ending, status: int, stderr: str, name: str
) -> None:
    assert names(ending=ending, status=status, stderr=stderr) == [name]
    assert names(None, ending=ending, status=status, stderr=stderr) == [name]


def test_a_refused_launch_is_reported_with_the_simulators_message() -> None:
    said = "simulated GPU: add_10 cannot be launched: too large\nUnhandled exception caught during execution:"
    transcript = Transcript("", said, Ending.EXITED, 1, 0.1)
    (problem,) = judge_case(Evidence(MODE, CASE, transcript, USED, {})).problems
    assert problem.what.render("en") == "the program failed: add_10 cannot be launched: too large"
    assert problem.cause.render("en") == "it ended with an error before it had handed in all results"
    (problem,) = judge_case(Evidence(MODE, CASE, transcript, USED, {"out": RIGHT})).problems
    assert "handed in are right" in problem.cause.render("en")


TRACEBACK = """a warning
Traceback (most recent call last):
  File "p17.py", line 7, in <module>
    model = session.load(graph)
RuntimeError: Failed to compile the model.
For more detailed failure information enable a key.
"""


def test_an_exception_of_python_is_reported_by_its_own_line() -> None:
    transcript = Transcript("", TRACEBACK, Ending.EXITED, 1, 0.1)
    (problem,) = judge_case(Evidence(MODE, CASE, transcript, USED, {})).problems
    said = "the program failed: exit status 1: RuntimeError: Failed to compile the model."
    assert problem.what.render("en") == said


@pytest.mark.parametrize("submitted", [{}, {"out": RIGHT}])
@pytest.mark.parametrize(
    ("stderr", "advice"),
    [
        ("Unhandled exception caught during execution: boom", "its message has no line number"),
        ("Unhandled exception caught during execution: At /me/p01.mojo:63:17: no", "says where"),
        (TRACEBACK, "says where"),
    ],
)  # fmt: skip
def test_a_message_without_a_line_number_is_not_said_to_have_one(
    stderr: str, advice: str, submitted: dict[str, BufferContent]
) -> None:
    transcript = Transcript("", stderr, Ending.EXITED, 1, 0.1)
    (problem,) = judge_case(Evidence(MODE, CASE, transcript, USED, submitted)).problems
    assert problem.name == "program-error"
    assert advice in problem.advice.render("en")


def test_a_failure_explains_the_results_that_are_missing() -> None:
    mode = replace(MODE, outputs=(Output("first", "float32", (4,)), *MODE.outputs))
    case = replace(CASE, expected={"first": CASE.expected["out"], **CASE.expected})
    transcript = Transcript("", TRACEBACK, Ending.EXITED, 1, 0.1)
    (problem,) = judge_case(Evidence(mode, case, transcript, USED, {"first": RIGHT})).problems
    assert "RuntimeError" in problem.what.render("en")
    assert "before it had handed in all results" in problem.cause.render("en")


@pytest.mark.parametrize(
    ("language", "cause"),
    [
        (
            "en",
            "the driver refused the call at p01.mojo:47:37, so the program ended before it had handed in "
            "a result",
        ),
        ("ko", "드라이버가 p01.mojo:47:37의 호출을 거부해, 프로그램이 결과를 제출하기 전에 끝났습니다"),
    ],
)
def test_the_line_of_a_refused_launch_is_named(language: str, cause: str) -> None:
    said = (
        "simulated GPU: the program asks for times: a simulation has none, and answers with an hour\n"
        "simulated GPU: add_10 cannot be launched: too large\n"
        "Unhandled exception caught during execution: /home/me/p01.mojo:47:37 failed calling 'add_10'"
    )
    (problem,) = judge_case(
        Evidence(MODE, CASE, Transcript("", said, Ending.EXITED, 1, 0.1), USED, {})
    ).problems
    assert problem.what.render("en") == "the program failed: add_10 cannot be launched: too large"
    assert problem.cause.render(language) == cause


def test_another_size_explains_the_programs_own_failure() -> None:
    used = USED | {"a": BufferContent("float32", A[:-1].tobytes())}
    transcript = Transcript("", "Unhandled exception …", Ending.EXITED, 1, 0.1)
    (problem,) = judge_case(Evidence(MODE, CASE, transcript, used, {"out": RIGHT})).problems
    assert problem.what.render("en") == "`a` has 3 elements, not 4"


def test_a_mismatch_explains_the_programs_own_failure() -> None:
    wrong = BufferContent("float32", np.zeros(4, np.float32).tobytes())
    assert names(wrong, status=1, stderr="Unhandled exception …") == ["never-written"]


def test_a_write_past_the_end_is_detected_in_the_elements_after_the_result() -> None:
    poison = np.full(2, -777.25, np.float32)
    guard = Output("guard", "float32", (2,))
    mode = replace(MODE, outputs=(*MODE.outputs, guard))
    case = replace(CASE, expected={**CASE.expected, "guard": poison})
    transcript = Transcript("", "", Ending.EXITED, 0, 0.1)
    for after, found in ((poison, []), (np.array([5, -777.25], np.float32), ["written-beyond-the-end"])):
        submitted = {"out": RIGHT, "guard": BufferContent("float32", after.tobytes())}
        verdict = judge_case(Evidence(mode, case, transcript, USED, submitted))
        assert [problem.name for problem in verdict.problems] == found


ENDED = Transcript("", "", Ending.EXITED, 0, 0.1)


def case_of(values: object, dtype: str = "float32", dataset: str = "book") -> tuple[Mode, ReferenceCase]:
    """A mode with one output, whose right values these are; -777 was in it before the launch."""
    expected = np.array(values, dtype)
    mode = replace(MODE, outputs=(Output("out", dtype, expected.shape),))
    return mode, ReferenceCase(dataset, {"out": np.full_like(expected, -777)}, {"out": expected})


def judged(values: object, got: object, dtype: str = "float32", dataset: str = "book") -> CaseVerdict:
    mode, case = case_of(values, dtype, dataset)
    used = {name: BufferContent(dtype, array.tobytes()) for name, array in case.inputs.items()}
    return judge_case(
        Evidence(mode, case, ENDED, used, {"out": BufferContent(dtype, np.array(got, dtype).tobytes())})
    )


def test_what_a_bfloat16_output_held_before_is_compared_as_numbers() -> None:
    """It is staged as the bits of its elements: 0xC442 is -776."""
    mode = replace(MODE, outputs=(Output("out", "bfloat16", (2,)),))
    bits = {"out": np.full(2, 0xC442, np.uint16)}
    case = ReferenceCase("book", bits, {"out": np.array([3, 4], np.float32)})
    buffer = BufferContent("bfloat16", bits["out"].tobytes())
    (problem,) = judge_case(Evidence(mode, case, ENDED, {"out": buffer}, {"out": buffer})).problems
    assert problem.name == "never-written"


@pytest.mark.parametrize(
    ("dtype", "value", "printed", "agrees"),
    [
        ("float16", 1.0, "1.00390625", True),  # four units of the type's precision, 2^-10
        ("float16", 1.0, "1.004", False),
        ("float32", 1.0, "1.0000004", True),  # of 2^-23
        ("float32", 1.0, "1.0000005", False),
        ("float32", -1000.0, "-1000.0004", True),  # relative to the value
        ("float32", -1000.0, "-1000.0005", False),
        ("float32", 1.0, "1.00002", False),
        ("float64", 1.0, "1.0000000000000008", True),  # of 2^-52
        ("float64", 1.0, "1.0000000000000011", False),
        ("int32", 7, "7", True),
        ("int32", 7, "7.0000001", False),
        ("float32", 0.0, "1e-30", False),
        ("float32", np.nan, "nan", True),
        ("float32", np.nan, "0.0", False),
        ("float32", np.inf, "inf", True),
        ("float32", np.inf, "-inf", False),
    ],
)
def test_printed_text_may_differ_from_the_buffer_by_four_units_of_precision(
    dtype: str, value: float, printed: str, agrees: bool
) -> None:
    mode, case = case_of([value], dtype)
    used = {name: BufferContent(dtype, array.tobytes()) for name, array in case.inputs.items()}
    submitted = {"out": BufferContent(dtype, case.expected["out"].tobytes())}
    transcript = replace(ENDED, stdout=f"first line\nout: [{printed}]\n")
    problems = judge_case(Evidence(mode, case, transcript, used, submitted)).problems
    assert [(problem.name, problem.what.render("en")) for problem in problems] == (
        []
        if agrees
        else [("text-disagrees", "the values printed as `out` (line 2) differ from those of the buffer")]
    )


RIGHT_EIGHT = [3, 1, 4, 1, 5, 9, 2, 6]
LAST_WRONG = [3, 1, 4, 1, 5, 9, 2, 7]
SEVERAL_WRONG = [8, 1, 4, 7, 5, 9, 2, 7]
ONLY_LAST = ("missing-last", "only the last element of `out` is wrong")
JUST_WRONG = ("mismatch", "`out` is wrong")


@pytest.mark.parametrize(
    ("book", "probe", "reported"),
    [
        (LAST_WRONG, LAST_WRONG, [ONLY_LAST, ONLY_LAST]),
        (LAST_WRONG, SEVERAL_WRONG, [JUST_WRONG, JUST_WRONG]),
        (SEVERAL_WRONG, LAST_WRONG, [JUST_WRONG, JUST_WRONG]),
        (LAST_WRONG, RIGHT_EIGHT, [ONLY_LAST]),  # data that is right shows no other pattern
        (RIGHT_EIGHT, LAST_WRONG, [ONLY_LAST]),
    ],
)
def test_a_missing_last_element_is_reported_only_if_no_data_set_contradicts_it(
    book: list[int], probe: list[int], reported: list[tuple[str, str]]
) -> None:
    cases = [judged(RIGHT_EIGHT, book), judged(RIGHT_EIGHT, probe, dataset="probe")]
    shown = [problem for case in confirmed(cases) for problem in case.problems]
    assert [(problem.name, problem.what.render("en")) for problem in shown] == reported
    differing = [problem.comparison.differing for problem in shown if problem.comparison]
    counts = {tuple(LAST_WRONG): 1, tuple(SEVERAL_WRONG): 3}
    assert differing == [counts[tuple(got)] for got in (book, probe) if got != RIGHT_EIGHT]


def test_another_output_or_an_output_without_values_does_not_contradict_a_missing_last_element() -> None:
    case = judged(RIGHT_EIGHT, LAST_WRONG)
    wrong = judged(RIGHT_EIGHT, SEVERAL_WRONG, dataset="probe")
    (problem,) = wrong.problems
    elsewhere = replace(wrong, problems=(replace(problem, output="other"),))
    mode, reference = case_of(RIGHT_EIGHT, dataset="probe")
    used = {"out": BufferContent("float32", reference.inputs["out"].tobytes())}
    absent = judge_case(Evidence(mode, reference, ENDED, used, {}))
    for other in (elsewhere, absent):
        assert confirmed([case, other])[0] == case


SQUARES = KnownMistake(
    LocalText.of(en="the sum is left out", ko="합을 더하지 않습니다"),
    "np.square(a)",
    Location(Path("p01.yaml"), 7),
)


def squared(dataset: str, error: float, rtol: float) -> CaseVerdict:
    """The verdict on the squares of `a` instead of its sum, the last one wrong by a relative error."""
    a = np.array([3, -1, 4, 1.5] if dataset == "book" else [2, 7, -1, 8], np.float32)
    expected = np.full(4, a.sum(), np.float32)
    inputs = {"a": a, "out": np.zeros(4, np.float32)}
    case = ReferenceCase(
        dataset,
        inputs,
        {"out": expected},
        evaluate=lambda expression, where: evaluated(expression, where, dataset, inputs, {"np": np}),
    )
    mode = replace(MODE, outputs=(Output("out", "float32", (4,), rtol=rtol),))
    got = np.square(a) * np.array([1, 1, 1, 1 + error], np.float32)
    used = {name: BufferContent("float32", array.tobytes()) for name, array in case.inputs.items()}
    return judge_case(Evidence(mode, case, ENDED, used, {"out": BufferContent("float32", got.tobytes())}))


@pytest.mark.parametrize(
    ("error", "rtol", "name"),
    [
        (0, 0, "known-mistake"),
        (1e-6, 1e-5, "known-mistake"),  # another processor rounds its last bits otherwise
        (1e-6, 0, "mismatch"),
        (1e-4, 1e-5, "mismatch"),
    ],
)
def test_a_known_mistake_is_recognised_within_the_tolerance_of_the_output(
    error: float, rtol: float, name: str
) -> None:
    cases = [squared("book", error, rtol), squared("probe", 0, rtol)]
    (problem,) = confirmed(cases, lambda: [SQUARES])[0].problems
    assert problem.name == name


def test_a_known_mistake_must_show_in_each_data_set() -> None:
    cases = [squared("book", 0, 0), squared("probe", 1e-3, 0)]
    (problem,) = confirmed(cases, lambda: [SQUARES])[0].problems
    assert problem.name == "mismatch"
    absent = replace(squared("probe", 0, 0), submitted={})
    (problem,) = confirmed([cases[0], absent], lambda: [SQUARES])[0].problems
    assert problem.name == "mismatch"


def test_an_expression_that_fails_is_named_with_its_mutant() -> None:
    with pytest.raises(ReferenceUnusable) as failure:
        confirmed([squared("book", 0, 0)], lambda: [replace(SQUARES, result="a + c")])
    assert str(failure.value) == (
        "p01.yaml:7: `a + c` fails for data set `book`\n  why: NameError: name 'c' is not defined"
    )
