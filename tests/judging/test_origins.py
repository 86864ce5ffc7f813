"""Right values that the GPU did not compute, or not as the puzzle asks, and what is said of them."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from msgspec.structs import replace

from tests.judging.test_judge import CASE, MODE, RIGHT, USED, A
from tooling.catalog.catalogue import every_selection, load_catalogue
from tooling.catalog.model import (
    Bound,
    CounterMetric,
    Criterion,
    LaunchShape,
    LeastThreads,
    Mode,
    MostCopyTime,
    Output,
    SharedMemoryUse,
)
from tooling.catalog.mutants import ORIGINS
from tooling.execution.channel import BufferContent
from tooling.execution.program import Ending, Transcript
from tooling.judging.evidence import Evidence
from tooling.judging.judge import judge_case
from tooling.judging.origins import result_sizes, stored_by_several
from tooling.judging.reference import ReferenceCase
from tooling.judging.texts import EXPLANATIONS
from tooling.judging.verdict import CaseVerdict, Outcome, Problem, Verdict
from tooling.project import find_project
from tooling.simulator.checks.happens_before.copy_times import CopyTimes
from tooling.simulator.gpu.launch import Dim3
from tooling.simulator.server.provenance import LaunchFacts, Origin, Provenance
from tooling.targets.accelerators import target_for
from tooling.targets.model import Choice, TargetKind
from tooling.text import LocalText
from tooling.verify.plan import PlannedTrial, Subject
from tooling.verify.trying import hidden_from

RAN = Transcript("", "", Ending.EXITED, 0, 0.1)
BECAUSE = LocalText.of(en="the puzzle is about it", ko="이 퍼즐의 주제입니다")
LAUNCH = LaunchFacts("add_10", Dim3(1), Dim3(8), 4)
SHAPE = LaunchShape((1, 1, 1), (8, 1, 1), BECAUSE)
THREADS = LeastThreads(2, BECAUSE)


def copied(content: bytes, elements: list[bool] | None, *, ever: bool = True) -> Provenance:
    """A run that copied this content to the host; which of its elements a kernel stored (None: all)."""
    by_kernel = None if elements is None else np.repeat(np.array(elements), 4)
    digest = hashlib.blake2b(content, digest_size=16).digest()
    return Provenance({(len(content), digest): Origin(by_kernel, ever)}, (), (LAUNCH,))


def problems(
    provenance: Provenance | None,
    *,
    mode: Mode = MODE,
    case: ReferenceCase = CASE,
    submitted: dict[str, BufferContent] | None = None,
) -> list[Problem]:
    buffers = {"out": RIGHT} if submitted is None else submitted
    return list(
        judge_case(Evidence(mode, case, RAN, USED, buffers, launches=1, provenance=provenance)).problems
    )


def said(problem: Problem, language: str) -> str:
    return "; ".join(each.render(language) for each in (problem.what, problem.cause, problem.advice))


def test_a_result_that_a_kernel_stored_passes() -> None:
    assert problems(copied(RIGHT.content, None)) == []


def test_where_nothing_was_recorded_the_values_decide() -> None:
    assert problems(None) == []


def test_what_the_host_wrote_last_is_named_in_both_languages() -> None:
    (problem,) = problems(copied(RIGHT.content, [True, False, False, True]))
    assert problem.name == "stored-by-host"
    assert said(problem, "en") == (
        "2 elements of `out` are right, but no kernel stored them; the host wrote them last: by a "
        "fill, a "
        "copy, or at the end of a `map_to_host` block; compute the whole output in the kernel, and "
        "restore the "
        "lines of `main` (`git diff` shows what you changed)"
    )
    assert said(problem, "ko") == (
        "`out`의 원소 2개는 값이 맞지만 커널이 저장한 값이 아닙니다; 호스트가 마지막에 쓴 값입니다. "
        "채우기나 복사를 했거나 "
        "`map_to_host` 블록이 끝나면서 썼습니다; 출력 전체를 커널에서 계산하고 `main`의 줄을 되돌립니다 "
        "(`git diff`로 바뀐 곳을 볼 수 있습니다)"
    )


@pytest.mark.parametrize(
    ("dataset", "source", "found"),
    [
        ("probe", RIGHT.content, ["copied-from-host"]),
        ("probe", RIGHT.content + bytes(16), ["copied-from-host"]),
        ("probe", A.tobytes() + RIGHT.content, []),  # an allocation that holds the input, too
        ("probe", A[:2].tobytes(), []),  # a part of the input
        ("book", RIGHT.content, []),  # may hold the same by chance
    ],
)
def test_a_result_that_a_kernel_copied_from_a_foreign_buffer_is_refused(
    dataset: str, source: bytes, found: list[str]
) -> None:
    ((key, origin),) = copied(RIGHT.content, None).copied.items()
    provenance = Provenance({key: origin}, (), (LAUNCH,), {key: (source,)})
    case = ReferenceCase(dataset, CASE.inputs, CASE.expected)
    assert [problem.name for problem in problems(provenance, case=case)] == found


def test_a_copied_result_is_named_in_both_languages() -> None:
    ((key, origin),) = copied(RIGHT.content, None).copied.items()
    provenance = Provenance({key: origin}, (), (LAUNCH,), {key: (RIGHT.content,)})
    (problem,) = problems(provenance, case=ReferenceCase("probe", CASE.inputs, CASE.expected))
    assert said(problem, "en") == (
        "the kernel copied `out` from a buffer into which the host had written the result; that buffer is "
        "none of the puzzle's inputs, so the GPU did not compute these values; pass the staged inputs to the "
        "kernel as in the original `main`, and compute the result from them"
    )
    assert said(problem, "ko") == (
        "커널이 `out` 버퍼의 값을 계산하지 않고, 호스트가 결과를 미리 써 둔 버퍼에서 복사했습니다; "
        "그 버퍼는 퍼즐의 입력이 아니므로, 이 값은 GPU가 계산한 것이 아닙니다; "
        "원래 `main`처럼 `stage`에 넘긴 입력을 커널에 전달하고, 그 입력에서 결과를 계산합니다"
    )


def test_a_result_that_is_an_input_may_be_copied() -> None:
    case = ReferenceCase("probe", {"a": A}, {"out": A})
    ((key, origin),) = copied(A.tobytes(), None).copied.items()
    provenance = Provenance({key: origin}, (), (LAUNCH,), {key: (A.tobytes() + bytes(4),)})
    submitted = {"out": BufferContent("float32", A.tobytes())}
    assert problems(provenance, case=case, submitted=submitted) == []


def test_an_element_may_keep_its_initial_value() -> None:
    initial = np.array([0, A[1] + 1, 0, np.nan], np.float32)
    expected = np.array([A[0] + 1, A[1] + 1, A[2] + 1, np.nan], np.float32)
    case = ReferenceCase("book", {"a": A, "out": initial}, {"out": expected})
    used = {**USED, "out": BufferContent("float32", initial.tobytes())}
    content = expected.tobytes()

    def names(stored: list[bool]) -> list[str]:
        provenance = copied(content, stored)
        verdict = judge_case(
            Evidence(
                MODE,
                case,
                RAN,
                used,
                {"out": BufferContent("float32", content)},
                launches=1,
                provenance=provenance,
            )
        )
        return [problem.name for problem in verdict.problems]

    assert names([True, False, True, False]) == []
    assert names([True, True, False, True]) == ["stored-by-host"]


def test_a_zero_may_come_from_a_fill_before_the_launch() -> None:
    expected = np.array([0, 3, 0, 5], np.float32)
    case = ReferenceCase("book", {"a": A, "out": np.full(4, -777.25, np.float32)}, {"out": expected})
    used = {name: BufferContent("float32", array.tobytes()) for name, array in case.inputs.items()}
    submitted = {"out": BufferContent("float32", expected.tobytes())}

    def names(stored: list[bool]) -> list[str]:
        provenance = copied(expected.tobytes(), stored)
        verdict = judge_case(Evidence(MODE, case, RAN, used, submitted, launches=1, provenance=provenance))
        return [problem.name for problem in verdict.problems]

    assert names([False, True, False, True]) == []
    assert names([False, True, False, False]) == ["stored-by-host"]


@pytest.mark.parametrize("provenance", [Provenance({}, (), (LAUNCH,)), copied(bytes(16), None)])
def test_bytes_that_were_never_on_the_device_are_named(provenance: Provenance) -> None:
    (problem,) = problems(provenance)
    assert problem.name == "not-from-device"
    assert said(problem, "en") == (
        "what the program handed in as `out` was never copied from the GPU's memory; a result is the "
        "content of "
        "a buffer that a kernel stored to; these bytes come from the host; keep the line "
        '`submit("out", …)` of '
        "the problem file as it was, and write nothing to the folder PUZZLE_LAB_DIR yourself"
    )
    assert said(problem, "ko") == (
        "프로그램이 제출한 `out`의 내용은 GPU 메모리에서 복사해 온 적이 없습니다; 결과는 커널이 값을 "
        "저장한 버퍼의 내용이어야 "
        '하는데, 이 바이트는 호스트에서 만들었습니다; 문제 파일의 `submit("out", …)` 줄을 그대로 두고, '
        "PUZZLE_LAB_DIR "
        "폴더에는 직접 쓰지 않습니다"
    )


def test_an_output_of_the_cpu_needs_no_kernel() -> None:
    mode = replace(MODE, outputs=(replace(MODE.outputs[0], host=True),))
    assert problems(Provenance({}, (), (LAUNCH,)), mode=mode) == []
    assert result_sizes(mode, CASE) == frozenset()
    assert result_sizes(MODE, CASE) == {16}


def test_a_guard_that_a_kernel_stored_to_is_named_though_it_was_refilled() -> None:
    guard = np.full(4, -777.25, np.float32)
    mode = replace(MODE, outputs=(Output("guard", "float32", (4,)),))
    case = ReferenceCase("book", CASE.inputs, {"guard": guard})
    submitted = {"guard": BufferContent("float32", guard.tobytes())}

    def found(*, ever: bool) -> list[Problem]:
        provenance = copied(guard.tobytes(), [False] * 4, ever=ever)
        return problems(provenance, mode=mode, case=case, submitted=submitted)

    assert found(ever=False) == []
    (problem,) = found(ever=True)
    assert problem.name == "guard-refilled"
    assert said(problem, "en") == (
        "a kernel wrote past the end of its output, and the host then restored `guard`; these elements "
        "show "
        "whether a thread wrote past the end; refilling them only hides it; put the store under a "
        "condition "
        "that the extra threads do not meet, and restore the lines of `main` (`git diff` shows what "
        "you changed)"
    )
    assert said(problem, "ko").startswith(
        "커널이 출력의 끝을 넘어 썼고, 그 뒤에 호스트가 `guard` 버퍼를 되돌려 놓았습니다; "
    )


def test_wrong_values_say_more_than_their_origin() -> None:
    wrong = BufferContent("float32", bytes(16))
    (problem,) = problems(Provenance({}, (), (LAUNCH,)), submitted={"out": wrong})
    assert problem.name == "never-written"


def test_elements_that_several_threads_stored_are_noted_on_a_right_answer() -> None:
    one = np.arange(RIGHT.array().size) == 1
    ((key, origin),) = copied(RIGHT.content, None).copied.items()
    several = replace(origin, by_several=one.repeat(4))
    provenance = replace(copied(RIGHT.content, None), copied={key: several})
    (note,) = stored_by_several(MODE, {"out": RIGHT}, provenance)
    assert note.render("en") == (
        "element 1 of `out` was stored by several threads of one launch; the result is right because all of "
        "them stored the same value"
    )
    assert stored_by_several(MODE, {"out": RIGHT}, copied(RIGHT.content, None)) == []


def launched(mode: Mode, *launches: LaunchFacts) -> list[Problem]:
    return problems(replace_launches(copied(RIGHT.content, None), launches), mode=mode)


def replace_launches(provenance: Provenance, launches: tuple[LaunchFacts, ...]) -> Provenance:
    return replace(provenance, launches=launches)


def test_another_launch_shape_is_named_where_the_puzzle_fixes_it() -> None:
    mode = replace(MODE, launch=SHAPE)
    smaller = replace(LAUNCH, block=Dim3(4))
    assert launched(MODE, smaller) == []
    assert launched(mode, LAUNCH, LAUNCH) == []
    (problem,) = launched(mode, LAUNCH, smaller)
    assert (problem.name, problem.output) == ("launch-shape", "add_10")
    assert said(problem, "en") == (
        "`add_10` was launched with a grid of (1, 1, 1) and blocks of (4, 1, 1), not with a grid of "
        "(1, 1, 1) "
        "and blocks of (8, 1, 1); the puzzle is about it; restore the launch in `main` (`git diff` "
        "shows what "
        "you changed)"
    )
    assert said(problem, "ko") == (
        "`add_10` 커널을 그리드 (1, 1, 1), 블록 (4, 1, 1) 크기로 실행했습니다. 이 퍼즐에서는 그리드 "
        "(1, 1, 1), 블록 (8, 1, 1) "
        "크기로 실행합니다; 이 퍼즐의 주제입니다; `main`의 커널 실행 부분을 되돌립니다 (`git diff`로 "
        "바뀐 곳을 볼 수 있습니다)"
    )


def test_copies_that_take_turns_are_named_in_both_languages() -> None:
    mode = replace(MODE, overlap=MostCopyTime(1.25, BECAUSE))
    origin = copied(RIGHT.content, None)

    def judged(copies: CopyTimes | None, of: Mode) -> CaseVerdict:
        return judge_case(
            Evidence(of, CASE, RAN, USED, {"out": RIGHT}, launches=1, provenance=origin, copies=copies)
        )

    assert judged(CopyTimes(400, 400, 500), mode).problems == ()
    assert judged(CopyTimes(400, 400, 800), MODE).problems == ()
    (problem,) = judged(CopyTimes(400, 400, 800), mode).problems
    assert problem.name == "copies-in-turn"
    assert said(problem, "en") == (
        "all copies together take 2 times as long as those of the longer direction; at most 1.25 times are "
        "allowed; the puzzle is about it; let a copy wait only for what it needs: a stream for each stage, "
        "an event for each dependency, and one wait of the host at the end; `tooling profile` shows the "
        "copies"
    )
    assert said(problem, "ko") == (
        "복사 전체가 더 오래 걸리는 방향의 복사만 할 때의 2배 시간이 걸립니다. 최대 1.25배까지 허용합니다; "
        "이 퍼즐의 주제입니다; 복사가 필요한 작업만 기다리게 합니다. 단계마다 스트림을, "
        "의존 관계마다 이벤트를 두고 호스트는 마지막에 한 번만 기다립니다. "
        "`tooling profile`이 복사를 보여 줍니다"
    )
    unknown = judged(None, mode)
    assert (unknown.problems, unknown.unchecked) == ((), ("overlap",))


def test_a_thread_that_does_everything_is_named_where_work_is_to_be_shared() -> None:
    mode = replace(MODE, threads=THREADS)
    alone = replace(LAUNCH, threads=1)
    assert launched(MODE, alone) == []
    assert launched(mode, alone, replace(LAUNCH, threads=2)) == []
    (problem,) = launched(mode, alone, replace(alone, threads=0))
    assert problem.name == "few-threads"
    assert said(problem, "en") == (
        "only 1 thread of `add_10` accessed global memory; at least 2 have to share the work; the "
        "puzzle is "
        "about it; let each thread work on elements of its own, found from its index"
    )
    assert said(problem, "ko") == (
        "`add_10`에서 전역 메모리에 접근한 스레드가 1개뿐입니다. 적어도 2개가 일을 나누어 맡아야 합니다; "
        "이 퍼즐의 주제입니다; "
        "각 스레드가 인덱스로 자기 원소를 찾아 처리하게 합니다"
    )


def test_a_kernel_that_never_reads_shared_memory_is_named_where_the_puzzle_is_about_it() -> None:
    mode = replace(MODE, shared_memory=SharedMemoryUse(BECAUSE))
    other = replace(LAUNCH, kernel="finish", threads=1, reads_shared=True)
    assert launched(MODE, LAUNCH) == []
    assert launched(mode, LAUNCH, other) == []
    (problem,) = launched(mode, LAUNCH, replace(other, reads_shared=False))
    assert (problem.name, problem.output) == ("no-shared-memory", "add_10")
    assert said(problem, "en") == (
        "`add_10` never reads shared memory; the puzzle is about it; store the elements in shared memory, "
        "wait for the other threads with `barrier()`, and compute from what is there"
    )
    assert said(problem, "ko") == (
        "`add_10` 커널이 공유 메모리를 읽지 않습니다; 이 퍼즐의 주제입니다; "
        "원소를 공유 메모리에 저장하고 `barrier()`로 다른 스레드를 기다린 뒤, "
        "공유 메모리에서 읽은 값으로 계산합니다"
    )


def test_requirements_that_a_target_does_not_show_are_known_to_be_unchecked() -> None:
    criterion = Criterion("add_10", CounterMetric.TENSOR, Bound.AT_LEAST, 1, BECAUSE, simulated_only=True)
    mode = replace(
        MODE,
        launch=SHAPE,
        threads=THREADS,
        shared_memory=SharedMemoryUse(BECAUSE),
        counters=(criterion,),
    )
    real = judge_case(Evidence(mode, CASE, RAN, USED, {"out": RIGHT}))
    assert (real.right, real.uncounted) == (True, False)
    assert real.unchecked == ("counters", "launch", "threads", "shared_memory", "checks")
    simulated = judge_case(
        Evidence(
            replace(mode, counters=()),
            CASE,
            RAN,
            USED,
            {"out": RIGHT},
            provenance=copied(RIGHT.content, None),
        )
    )
    assert simulated.unchecked == ()
    sharing = replace_launches(copied(RIGHT.content, None), (replace(LAUNCH, reads_shared=True),))
    alone = replace_launches(sharing, (LAUNCH,))
    for provenance, lockstep, unchecked in (
        (sharing, True, ("lockstep",)),
        (sharing, False, ()),
        (alone, True, ()),
    ):
        evidence = Evidence(MODE, CASE, RAN, USED, {"out": RIGHT}, provenance=provenance, lockstep=lockstep)
        assert judge_case(evidence).unchecked == unchecked
    assert judge_case(Evidence(MODE, CASE, RAN, USED, {"out": RIGHT})).unchecked == ("checks",)


@pytest.mark.parametrize(
    ("accelerator", "expect", "outcome", "hidden"),
    [
        ("sm_90a", ("stored-by-host",), Outcome.PASSED, True),
        ("sm_90a", ("few-threads", "counters"), Outcome.PASSED, True),
        ("sm_90a", ("few-threads", "memory"), Outcome.PASSED, False),
        ("sm_90a", (), Outcome.PASSED, False),
        ("sm_90a", ("stored-by-host",), Outcome.WRONG, False),
        ("sim", ("stored-by-host",), Outcome.PASSED, False),
    ],
)
def test_a_real_gpu_does_not_show_where_a_result_comes_from(
    accelerator: str, expect: tuple[str, ...], outcome: Outcome, *, hidden: bool
) -> None:
    selection = next(
        each for each in every_selection(load_catalogue(find_project())) if each.program.name == "p01"
    )
    target = target_for("sm_90a")
    if accelerator == "sim":
        target = replace(target, kind=TargetKind.SIM)
    trial = PlannedTrial(Subject.MUTANT, selection, "host_fills_the_result", expect)
    verdict = Verdict(selection, Choice(target, ""), solution=False, cases=(), outcome=outcome, seconds=0)
    assert hidden_from(target, trial, verdict) is hidden


def test_every_name_has_its_sentences() -> None:
    assert set(ORIGINS) <= set(EXPLANATIONS)
