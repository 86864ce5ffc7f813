"""Criteria on counters: bounds, messages, and targets without counters."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.judging.test_judge import CASE, MODE, RIGHT, USED
from tests.simulator.machine_code.sass import DATA, KERNEL
from tooling.catalog.model import Bound, CounterMetric, Criterion
from tooling.execution.channel import BufferContent
from tooling.execution.program import Ending, Transcript
from tooling.judging.counter_texts import ADVICE, FOUND
from tooling.judging.counters import COUNTS, judge_counters
from tooling.judging.evidence import Evidence
from tooling.judging.judge import judge_case, outcome_of
from tooling.judging.verdict import Outcome
from tooling.platform.exit_codes import ExitCode
from tooling.simulator.amd.architectures import GFX942
from tooling.simulator.amd.backend.counting import counting_rules
from tooling.simulator.counters.issue import WarpWork
from tooling.simulator.counters.profile import KernelProfile, Line, LineProfile
from tooling.simulator.counters.traffic import Route, Traffic
from tooling.simulator.gpu.launch import Dim3
from tooling.simulator.nvidia.ptx.reader import parse_module
from tooling.text import LocalText, languages

BECAUSE = LocalText.of(en="lanes lie far apart", ko="레인이 멀리 떨어져 있습니다")
RAN = Transcript("", "", Ending.EXITED, 0, 0.1)


def criterion(metric: str, bound: str, value: float, kernel: str = "add") -> Criterion:
    return Criterion(kernel, CounterMetric(metric), Bound(bound), value, BECAUSE)


def profile(
    tmp_path: Path,
    *,
    sectors: int = 4,
    conflicts: int = 0,
    shared: int = 0,
    tensor: int = 0,
    blocks: int = 8,
    atomics: int = 0,
    reductions: int = 0,
    shared_atomics: int = 0,
    read: int = 0,
    shared_read: int = 0,
    written: int = 128,
    bulk_read: int = 0,
    bulk_written: int = 0,
    stages: int = 0,
    busiest: int = 100,
) -> KernelProfile:
    """One request of 32 lanes with 4 bytes each, and one shared-memory access, at line 2 of a file."""
    source = tmp_path / "p99.mojo"
    source.write_text("def add():\n    output[i] = shared[2 * i]\n")
    kernel = KernelProfile("add", "add_0", Dim3(blocks), Dim3(1024), shared)
    kernel.counts.tensor = tensor
    kernel.stages = stages
    kernel.work = WarpWork(warps=4, instructions=400, busiest=busiest)
    line = LineProfile(Line(str(source), 2))
    for counts in (kernel.counts, line.counts):
        counts.bulk_read, counts.bulk_written = bulk_read, bulk_written
        counts.routes[Route.GLOBAL_STORE] = Traffic(
            requests=1, sectors=sectors, lanes=32, used_bytes=128, requested_bytes=written
        )
        counts.routes[Route.SHARED_LOAD] = Traffic(
            requests=1,
            wavefronts=1 + conflicts,
            conflicts=conflicts,
            lanes=32,
            requested_bytes=shared_read,
        )
        counts.routes[Route.GLOBAL_LOAD] = Traffic(requested_bytes=read)
        counts.routes[Route.GLOBAL_ATOMIC] = Traffic(lanes=atomics)
        counts.routes[Route.GLOBAL_REDUCTION] = Traffic(lanes=reductions)
        counts.routes[Route.SHARED_ATOMIC] = Traffic(lanes=shared_atomics)
    kernel.lines[line.line] = line
    return kernel


@pytest.mark.parametrize(
    ("required", "good", "bad"),
    [
        (("sectors_per_request", "at_most", 4), {"sectors": 4}, {"sectors": 5}),
        (("bytes_used", "at_least", 1), {"sectors": 4}, {"sectors": 5}),
        (("bank_conflicts", "equals", 0), {}, {"conflicts": 1}),
        (("shared_bytes", "at_most", 49152), {"shared": 49152}, {"shared": 49156}),
        (("blocks_by_shared_memory", "at_least", 8), {"shared": 28160}, {"shared": 28164}),
        (("occupancy", "at_least", 1), {"shared": 113 * 1024}, {"shared": 114 * 1024}),
        (("tensor_core_instructions", "at_least", 1), {"tensor": 1}, {"tensor": 0}),
        (("blocks", "at_most", 8), {"blocks": 8}, {"blocks": 9}),
        (("busiest_warp", "at_most", 1.25), {"busiest": 125}, {"busiest": 126}),
        (("global_bytes_read", "at_most", 128), {"read": 128, "shared_read": 256}, {"read": 132}),
        (("global_bytes_written", "equals", 0), {"written": 0, "bulk_written": 4}, {"written": 4}),
        (("tma_bytes_read", "equals", 64), {"bulk_read": 64, "read": 4}, {"bulk_read": 68}),
        (("tma_bytes_written", "equals", 64), {"bulk_written": 64, "bulk_read": 4}, {"bulk_written": 60}),
        (("stages_in_flight", "equals", 4), {"stages": 4}, {"stages": 1}),
        (("shared_bytes_read", "at_most", 128), {"shared_read": 128, "read": 256}, {"shared_read": 132}),
        (
            ("global_atomics", "at_most", 4),
            {"atomics": 1, "reductions": 3, "shared_atomics": 32},
            {"atomics": 2, "reductions": 3},
        ),
        (("shared_atomics", "at_most", 4), {"shared_atomics": 4, "atomics": 32}, {"shared_atomics": 5}),
    ],
)
def test_each_metric_is_judged_by_its_bound(
    tmp_path: Path, required: tuple[str, str, float], good: dict[str, int], bad: dict[str, int]
) -> None:
    criteria = (criterion(*required),)
    assert judge_counters(criteria, [profile(tmp_path, **good)]) == ()
    (problem,) = judge_counters(criteria, [profile(tmp_path, **bad)])
    assert (problem.name, problem.output) == ("counters", "add")
    assert problem.cause == BECAUSE
    for language in languages():
        assert "`add`" in problem.what.render(language)
        assert problem.advice.render(language)


def test_a_verdict_names_what_was_counted_where_and_what_is_required(tmp_path: Path) -> None:
    kernel = profile(tmp_path, sectors=32, conflicts=1, shared=128 * 1024)
    criteria = [
        criterion("bytes_used", "at_least", 1),
        criterion("bank_conflicts", "equals", 0),
        criterion("occupancy", "at_least", 1),
        criterion("shared_bytes", "at_most", 49152),
    ]
    problems = judge_counters(criteria, [kernel])
    assert [problem.what.render("en") for problem in problems] == [
        "`add` uses 12.5% of the bytes that it transfers, 32 sectors per request; required: 100%",
        "`add` has 1 bank conflicts: 2 passes over the banks where 1 would be enough; required: 0",
        "`add` reaches an occupancy of at most 50%: a multiprocessor holds 1 block(s) of 1,024 threads, "
        "limited by shared memory; required: 100%",
        "a block of `add` uses 131,072 bytes of shared memory; required: at most 49,152",
    ]
    line = "p99.mojo:2: `output[i] = shared[2 * i]`"
    lines = [problem.line and str(problem.line) for problem in problems]
    assert lines == [line, line, None, None]
    assert problems[3].what.render("ko").endswith("기준: 49,152 이하")


def test_registers_limit_the_occupancy_where_they_are_known(tmp_path: Path) -> None:
    kernel = profile(tmp_path)
    criteria = [criterion("occupancy", "at_least", 1)]
    kernel.registers = 32
    assert judge_counters(criteria, [kernel]) == ()
    kernel.registers = 33
    (problem,) = judge_counters(criteria, [kernel])
    assert problem.what.render("en") == (
        "`add` reaches an occupancy of 50%: a multiprocessor holds 1 block(s) of 1,024 threads with 33 "
        "registers each, limited by registers; required: 100%"
    )
    assert problem.advice.render("en").endswith("`tooling profile --sass` shows the registers")
    assert "레지스터 33개" in problem.what.render("ko")


@pytest.mark.parametrize(("bound", "problems"), [(1, 1), (0.5, 0)])
def test_the_registers_are_those_of_the_assembler(bound: float, problems: int) -> None:
    """Where the extra `sass` is installed: a kernel of 10 registers in blocks of one warp reaches half."""
    module = parse_module((DATA / "axis_sum.ptx").read_text("utf-8"))
    kernel = KernelProfile("add", KERNEL, Dim3(1), Dim3(32), module=module)
    assert len(judge_counters([criterion("occupancy", "at_least", bound)], [kernel])) == problems
    assert kernel.registers == 10


def test_without_a_criterion_on_occupancy_or_an_assembler_registers_stay_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = parse_module((DATA / "axis_sum.ptx").read_text("utf-8"))
    kernel = KernelProfile("add", KERNEL, Dim3(1), Dim3(32), module=module)
    judge_counters([criterion("shared_bytes", "at_most", 0)], [kernel])
    assert kernel.registers is None
    monkeypatch.setattr("tooling.simulator.nvidia.machine_code.tools.has_tools", lambda: False)
    judge_counters([criterion("occupancy", "at_least", 0.5)], [kernel])
    assert kernel.registers is None


def test_a_kernel_that_never_ran_or_was_stopped_meets_no_criterion(tmp_path: Path) -> None:
    easy = (criterion("bank_conflicts", "at_most", 1e9),)
    (missing,) = judge_counters(easy, [])
    assert "was never launched" in missing.what.render("en")
    stopped = profile(tmp_path)
    stopped.faults = 1
    (problem,) = judge_counters(easy, [stopped])
    assert "stopped by an error" in problem.what.render("en")


def test_a_kernel_whose_name_was_cut_is_found() -> None:
    required = (criterion("tensor_core_instructions", "at_least", 1, "tensor_core_multiplication"),)
    kernel = KernelProfile("tensor_core_mult", "p99_tensor_core_mult6A6A_70655", Dim3(1), Dim3(32))
    (problem,) = judge_counters(required, [kernel])
    assert problem.what.render("en") == (
        "the warps of `tensor_core_multiplication` execute 0 tensor-core instructions; required: at least 1"
    )
    assert problem.what.render("ko") == (
        "`tensor_core_multiplication` 커널의 워프가 실행한 텐서 코어 명령어는 0개입니다; 기준: 1 이상"
    )
    other = KernelProfile("tensor_core", "p99_tensor_core_70655", Dim3(1), Dim3(32))
    (problem,) = judge_counters(required, [other])
    assert "`tensor_core_multiplication` was never launched" in problem.what.render("en")


def test_a_kernel_without_requests_uses_no_bytes() -> None:
    idle = KernelProfile("add", "add_0", Dim3(1), Dim3(32))
    assert len(judge_counters((criterion("bytes_used", "at_least", 1),), [idle])) == 1


def test_the_worst_of_several_launches_is_judged(tmp_path: Path) -> None:
    launches = [profile(tmp_path), profile(tmp_path, sectors=8)]
    assert len(judge_counters((criterion("sectors_per_request", "at_most", 4),), launches)) == 1


def test_every_metric_has_its_sentences() -> None:
    assert set(COUNTS) == set(FOUND) == set(ADVICE) == set(CounterMetric)


def test_counters_are_judged_only_if_the_values_are_right(tmp_path: Path) -> None:
    mode = replace(MODE, counters=(criterion("sectors_per_request", "at_most", 4),))
    slow = [profile(tmp_path, sectors=32)]
    wrong = BufferContent("float32", bytes(16))

    def names(submitted: BufferContent, kernels: list[KernelProfile]) -> list[str]:
        verdict = judge_case(Evidence(mode, CASE, RAN, USED, {"out": submitted}, launches=1, kernels=kernels))
        assert not verdict.uncounted
        return [problem.name for problem in verdict.problems]

    assert names(RIGHT, [profile(tmp_path)]) == []
    assert names(RIGHT, slow) == ["counters"]
    assert names(wrong, slow) == ["never-written"]


def test_what_only_the_simulator_counts_leaves_hardware_to_the_values() -> None:
    tensor = replace(criterion("tensor_core_instructions", "at_least", 1), simulated_only=True)
    mode = replace(MODE, counters=(tensor,))
    assert not judge_case(Evidence(mode, CASE, RAN, USED, {"out": RIGHT}, launches=1)).uncounted
    both = replace(MODE, counters=(tensor, criterion("occupancy", "at_least", 1)))
    assert judge_case(Evidence(both, CASE, RAN, USED, {"out": RIGHT}, launches=1)).uncounted


def test_the_balance_of_warps_is_judged_on_every_simulated_gpu(tmp_path: Path) -> None:
    balance = criterion("busiest_warp", "at_most", 1.25)
    sectors = criterion("sectors_per_request", "at_most", 4)
    for kernel in (profile(tmp_path, busiest=125), profile(tmp_path, busiest=200)):
        kernel.rules = counting_rules(GFX942)
        for criteria in ((balance,), (balance, sectors)):
            mode = replace(MODE, counters=criteria)
            verdict = judge_case(
                Evidence(mode, CASE, RAN, USED, {"out": RIGHT}, launches=1, kernels=[kernel])
            )
            assert len(verdict.problems) == (kernel.work.busiest > 125)
            assert verdict.uncounted == (sectors in criteria)
    assert verdict.problems[0].what.render("en") == (
        "the busiest of the 4 warps of `add` issues 200 instructions, 2 times the mean; "
        "required: at most 1.25"
    )


def test_a_target_without_counters_never_passes() -> None:
    mode = replace(MODE, counters=(criterion("sectors_per_request", "at_most", 4),))
    right = judge_case(Evidence(mode, CASE, RAN, USED, {"out": RIGHT}))
    assert right.right
    assert outcome_of(mode, [right]) is Outcome.UNDECIDED
    assert Outcome.UNDECIDED.exit_code is ExitCode.NOT_POSSIBLE
    wrong = judge_case(Evidence(mode, CASE, RAN, USED, {"out": BufferContent("float32", bytes(16))}))
    assert outcome_of(mode, [wrong]) is Outcome.WRONG
