"""The verdict as a learner reads it, from cases made by hand."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from tests.judging.test_judge import MODE
from tooling.catalog.catalogue import Selection
from tooling.catalog.model import Program, Puzzle, TensorApi
from tooling.execution.program import Ending, Transcript
from tooling.judging.comparison import compare
from tooling.judging.confirmation import confirmed
from tooling.judging.diagnosis import GUARD
from tooling.judging.verdict import CaseVerdict, Outcome, Problem, Verdict
from tooling.reports.console import headline, show_verdict
from tooling.reports.terminal import Terminal
from tooling.simulator.checks.findings import (
    Action,
    Buffer,
    Check,
    Finding,
    Kind,
    Memory,
    Party,
    Severity,
    SourcePosition,
)
from tooling.targets.model import Choice, Target, TargetKind
from tooling.targets.probing import SIMULATED
from tooling.text import LocalText

RACE = Finding(
    check=Check.RACES,
    kind=Kind.READ_AFTER_WRITE,
    severity=Severity.ERROR,
    kernel="add_10",
    parties=(
        Party(Action.READ, (1, 0, 0), (0, 0, 0), 0, 1, SourcePosition("p01.mojo", 39, 28, 1)),
        Party(Action.WRITE, (0, 0, 0), (0, 0, 0), 0, 0, SourcePosition("p01.mojo", 32, 42, 2)),
    ),
    buffer=Buffer(Memory.SHARED, 32),
)
BEFORE = np.full(4, -777.25, np.float32)
AFTER = np.array([10, -777.25, -777.25, -777.25], np.float32)
FACTS: dict[str, object] = {
    "count": 1, "ordinal": 1, "first": 0, "last": 3, "total": 8, "distance": 1, "factor": 2.0,
    "detail": "boom",
}  # fmt: skip
"""Those of several messages."""
WRITTEN_PAST_THE_END = Problem(
    "written-beyond-the-end", "written-beyond-the-end", FACTS, GUARD, compare(AFTER, BEFORE)
)


def shown(
    *cases: CaseVerdict,
    language: str = "en",
    width: int | None = None,
    target: Target = SIMULATED,
    flags: tuple[str, ...] = (),
    solution: bool = False,
    outcome: Outcome = Outcome.WRONG,
) -> str:
    program = Program("p01", TensorApi.RAW, Path("p01.mojo"), Path("p01.mojo"))
    mode = replace(MODE, flags=flags)
    puzzle = Puzzle(
        "p01", 1, LocalText.of(en="Map", ko="맵"), "I", (), (program,), (MODE,), Path("puzzle.yaml")
    )
    verdict = Verdict(
        Selection(puzzle, program, mode),
        Choice(target, "the test's"),
        solution=solution,
        cases=confirmed(cases),
        outcome=outcome,
        seconds=0.1,
    )
    stream = io.StringIO()
    show_verdict(verdict, Terminal(stream, colour=False, width=width), language)
    return stream.getvalue()


def case(*problems: Problem, findings: tuple[Finding, ...] = ()) -> CaseVerdict:
    return CaseVerdict("book", Transcript("", "", Ending.EXITED, 0, 0.1), problems, findings)


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("en", "p01 on simulated GPU (no GPU found)"),
        ("ko", "p01, 시뮬레이션 GPU에서 실행 (no GPU found)"),
    ],
)
def test_the_simulated_gpu_has_a_name_in_every_language(language: str, line: str) -> None:
    assert headline("p01", Choice(SIMULATED, "no GPU found"), None, language) == line


@pytest.mark.parametrize(("language", "luck"), [("en", "by luck"), ("ko", "우연입니다")])
def test_right_values_despite_a_race_are_reported_as_luck(language: str, luck: str) -> None:
    assert luck in shown(case(findings=(RACE,)), language=language)
    assert luck not in shown(case(WRITTEN_PAST_THE_END, findings=(RACE,)), language=language)


@pytest.mark.parametrize(
    ("language", "flags", "target", "dataset", "line"),
    [
        ("en", (), SIMULATED, "book", "replay: `tooling replay p01 --open` shows this run step by step"),
        (
            "en",
            ("--tiled",),
            Target(TargetKind.SIM_AMD, "simulated gfx942", "gfx942"),
            "probe",
            "replay: `tooling replay p01 --tiled --target sim-amd --data probe --open` "
            "shows this run step by step",
        ),
        (
            "ko",
            (),
            SIMULATED,
            "book",
            "다시 보기: `tooling replay p01 --open` 명령으로 이 실행을 한 단계씩 볼 수 있습니다",
        ),
        ("en", (), Target(TargetKind.NVIDIA, "H200", "sm_90a"), "book", None),
    ],
)
def test_a_wrong_answer_on_a_simulated_gpu_is_offered_as_a_replay(
    language: str, flags: tuple[str, ...], target: Target, dataset: str, line: str | None
) -> None:
    one = replace(case(wrong("mismatch")), dataset=dataset)
    words = {"en": "replay", "ko": "다시 보기"}[language]
    found = [each.strip() for each in shown(one, language=language, flags=flags, target=target).splitlines()]
    assert [each for each in found if words in each] == ([line] if line else [])
    # As the hints, it is not part of the verdicts that the book records.
    assert words not in shown(one, language=language, flags=flags, target=target, solution=True)


@pytest.mark.parametrize(
    ("language", "unchecked", "note"),
    [
        ("en", (), None),
        (
            "en",
            ("threads", "shared_memory", "checks"),
            "note: not checked on H200: how many threads share the work, whether a kernel reads shared "
            "memory, races, wrong accesses, and threads in other orders; `tooling run p01 --target sim` "
            "checks it",
        ),
        (
            "ko",
            ("counters", "launch"),
            "참고: H200에서는 확인하지 않은 조건: 커널의 카운터, 실행 구성(그리드와 블록의 크기). "
            "`tooling run p01 --target sim` 명령으로 확인합니다",
        ),
    ],
)
def test_what_a_real_gpu_does_not_show_is_said_beside_a_pass(
    language: str, unchecked: tuple[str, ...], note: str | None
) -> None:
    cases = [replace(case(), dataset=name, unchecked=unchecked) for name in ("book", "probe")]
    target = Target(TargetKind.NVIDIA, "H200", "sm_90a")
    passed, *rest = shown(*cases, language=language, target=target, outcome=Outcome.PASSED).splitlines()
    assert passed.startswith("✅ p01")
    assert rest == ([note] if note else [])


def test_what_lockstep_hides_is_said_beside_a_pass() -> None:
    cases = [replace(case(), dataset=name, unchecked=("lockstep",)) for name in ("book", "probe")]
    target = Target(TargetKind.SIM_AMD, "simulated AMD GPU", "gfx942")
    assert target.lockstep
    _, note = shown(*cases, target=target, outcome=Outcome.PASSED).splitlines()
    assert note == (
        "note: not checked on simulated AMD GPU (gfx942): missing barriers between the threads of a warp, "
        "which run in lockstep there; `tooling run p01 --target sim` checks it"
    )


def test_a_run_that_does_not_end_is_not_offered_as_a_replay() -> None:
    endless = replace(case(), transcript=Transcript("", "", Ending.TIME_LIMIT, 0, 1.0))
    assert "tooling replay" not in shown(replace(endless, problems=(wrong("time-limit"),)))


def test_a_run_without_a_launch_is_not_offered_as_a_replay() -> None:
    failed = case(wrong("program-error"))
    assert "tooling replay" in shown(replace(failed, launches=1))
    assert "tooling replay" not in shown(replace(failed, launches=0))


def test_elements_after_a_result_are_not_counted_as_its_elements() -> None:
    text = shown(case(WRITTEN_PAST_THE_END))
    assert "1 of 4 elements after the end changed:" in text
    assert [line.split() for line in text.splitlines() if "before" in line] == [["index", "got", "before"]]
    assert "elements differ" not in text


def test_no_line_is_longer_than_the_terminal_is_wide() -> None:
    lines = shown(case(WRITTEN_PAST_THE_END, findings=(RACE,)), width=70).splitlines()
    assert max(map(len, lines)) <= 70
    whole = shown(case(WRITTEN_PAST_THE_END, findings=(RACE,)))
    assert max(map(len, whole.splitlines())) > 70  # without a terminal, lines are not wrapped
    assert " ".join(" ".join(lines).split()) == " ".join(whole.split())


def wrong(name: str, *also: str) -> Problem:
    comparison = compare(np.array([4, 6, 12, 18.0]), np.array([4, 6, 12, 22.0]))
    return Problem(name, name, FACTS, "out", comparison, also)


@pytest.mark.parametrize(
    ("book", "probe", "believed"),
    [
        (wrong("missing-last"), wrong("mismatch"), False),
        (wrong("missing-last"), wrong("missing-last"), True),
        (wrong("permuted"), wrong("transposed", "permuted"), True),
        (wrong("permuted"), wrong("scaled"), False),
        (wrong("first-block-only"), wrong("partly-written"), True),  # never written, with any data
        (wrong("never-written"), wrong("mismatch", "scaled"), False),  # a kernel that wrote zeros over zeros
    ],
)
def test_a_pattern_that_the_other_data_set_does_not_confirm_is_not_shown(
    book: Problem, probe: Problem, believed: bool
) -> None:
    text = shown(case(book), CaseVerdict("probe", case().transcript, (probe,)))
    assert (book.what.render("en") in text) is believed
    assert ("\n  `out` is wrong (" in text) is not believed
    assert "1 of 4 elements differ:" in text


BEYOND = Finding(
    check=Check.MEMORY,
    kind=Kind.OUTSIDE_SHARED,
    severity=Severity.ERROR,
    kernel="add_10",
    parties=(Party(Action.READ, (1, 0, 0), (0, 0, 0), 0, 1, SourcePosition("p01.mojo", 39, 28, 1)),),
    buffer=Buffer(Memory.SHARED, 32),
)


@pytest.mark.parametrize("finding", [BEYOND, RACE])
@pytest.mark.parametrize("name", ["partial-sum", "shifted", "never-written"])
def test_beside_a_finding_the_values_are_not_explained(finding: Finding, name: str) -> None:
    text = shown(case(wrong(name), findings=(finding,)))
    assert wrong(name).what.render("en") not in text
    assert "Fix the first finding above" in text
    assert "1 of 4 elements differ:" in text


def test_a_barrier_that_threads_miss_is_shown_before_its_effects() -> None:
    missed = replace(RACE, check=Check.SYNCHRONISATION, kind=Kind.DIVERGENT_BARRIER)
    text = shown(case(findings=(RACE, missed)))
    assert text.index("[synchronisation]") < text.index("[races]")


def test_a_mistake_that_the_books_data_hides_is_shown_with_the_other_data() -> None:
    right = case()
    other = replace(case(wrong("mismatch")), dataset="probe", inputs={"a": "[2.5, -12.0]"})
    text = shown(right, other)
    assert "note: the result is right with the book's data" in text
    assert "    a: [2.5, -12.0]\n" in text
    assert "note:" not in shown(replace(other, dataset="book"))


@pytest.mark.parametrize(
    ("count", "rest"),
    [(1, []), (6, []), (7, ["    ... and 1 more finding"]), (9, ["    ... and 3 more findings"])],
)
def test_six_findings_are_shown_and_the_others_are_counted(count: int, rest: list[str]) -> None:
    findings = tuple(
        replace(
            BEYOND, parties=(replace(BEYOND.parties[0], position=SourcePosition("p01.mojo", line, 28, 1)),)
        )
        for line in range(11, 11 + count)
    )
    lines = shown(case(WRITTEN_PAST_THE_END, findings=findings)).splitlines()
    assert [line.strip() for line in lines if "where:" in line] == [
        f"where: p01.mojo:{line}:28: thread (1, 0, 0) of block (0, 0, 0) reads"
        for line in range(11, 11 + min(count, 6))
    ]
    assert [line for line in lines if line.startswith("    ... and ")] == rest
    korean = shown(case(WRITTEN_PAST_THE_END, findings=findings), language="ko").splitlines()
    assert [line for line in korean if line.startswith("    ... 나머지 문제 ")] == (
        [f"    ... 나머지 문제 {count - 6}개"] if rest else []
    )


def failed(stderr: str) -> CaseVerdict:
    """A program that ended with status 1 before it handed in anything."""
    problem = Problem("program-error", "program-ended-early", {"detail": "boom"})
    return CaseVerdict("book", Transcript("", stderr, Ending.EXITED, 1, 0.1), (problem,))


@pytest.mark.parametrize("count", [1, 7, 8, 9, 20])
def test_the_last_eight_lines_of_stderr_are_shown(count: int) -> None:
    lines = [f"line {number}" for number in range(1, count + 1)]
    assert shown(failed("\n".join(lines) + "\n")).splitlines() == [
        "❌ p01 is not right yet",
        "  the program failed: boom (with the book's data)",
        "  why: It ended with an error before it had handed in all results.",
        "  try: Its message says where.",
        "  what it wrote to stderr:",
        *(f"    {line}" for line in lines[-8:]),
        *shown(failed("")).splitlines()[4:],
    ]


def test_empty_lines_and_the_runtimes_advice_are_not_lines_of_stderr() -> None:
    noise = [
        "",
        "   ",
        "stack trace was not collected. Enable it",
        "To get more accurate error information, set MODULAR_DEBUG",
        "Failed to initialize Crashpad",
    ]
    lines = [line for number in range(1, 10) for line in (f"line {number}", *noise)]
    text = shown(failed("\n".join(lines)))
    assert [line for line in text.splitlines() if line.startswith("    ")] == [
        f"    line {number}" for number in range(2, 10)
    ]
    assert shown(failed("\n".join(noise))) == shown(failed(""))


@pytest.mark.parametrize(("wrong", "rest"), [(5, []), (6, ["  ... and 1 more"]), (8, ["  ... and 3 more"])])
def test_five_elements_that_differ_are_shown_and_the_others_counted(wrong: int, rest: list[str]) -> None:
    expected = np.arange(8, dtype=np.float32)
    got = np.where(np.arange(8) < wrong, expected + 10, expected)
    text = shown(case(Problem("mismatch", "mismatch", {}, "out", compare(got, expected))))
    table = text.partition("(with the book's data)\n")[2].partition("  why:")[0]
    assert table.splitlines() == [
        f"    {wrong} of 8 elements differ:",
        "      index   got  expected",
        "        [0]  10.0       0.0",
        "        [1]  11.0       1.0",
        "        [2]  12.0       2.0",
        "        [3]  13.0       3.0",
        "        [4]  14.0       4.0",
        *(f"    {line}" for line in rest),
    ]


def test_warnings_are_shown_with_a_wrong_answer_too() -> None:
    warning = replace(RACE, severity=Severity.WARNING, kind=Kind.MBARRIER_RESULT_IGNORED)
    text = shown(case(findings=(RACE, warning)))
    assert text.count("race on shared memory") == 1
    assert text.count("warning: [races] an mbarrier phase is tested for completion") == 1
    assert text.index("❌") < text.index("race on") < text.index("warning:")
