"""Numbers of barriers and of their threads: in registers, with another value in each warp, and wrong ones."""

from __future__ import annotations

import numpy as np
import pytest

from tests.simulator.helpers import findings_of
from tests.simulator.simulate import kernel, simulate
from tooling.simulator.checks.findings import Check, Finding, Kind
from tooling.simulator.checks.suite import make_checks
from tooling.simulator.gpu.launch import FaultKind, LaunchResult
from tooling.simulator.nvidia.backend.lower import decode
from tooling.simulator.nvidia.ptx.reader import PtxError, parse_module

TILE = ".shared .align 4 .b8 tile[512];\n"
STORE = "mov.u32 %r10, tile; shl.b32 %r11, %r30, 2; add.u32 %r12, %r10, %r11; st.shared.u32 [%r12], %r30;"
WARP = "shr.u32 %r2, %r30, 5;"
SCHEDULES = ["lockstep", "adversarial", "random:1"]


def read_from(distance: int) -> str:
    """%r1 becomes the value of the thread `distance` away, and the result of its thread."""
    return f"""xor.b32 %r13, %r30, {distance}; shl.b32 %r13, %r13, 2; add.u32 %r13, %r10, %r13;
    ld.shared.u32 %r1, [%r13];
    mul.wide.u32 %rd1, %r30, 4; add.s64 %rd1, %rd30, %rd1; st.global.u32 [%rd1], %r1;"""


def run(body: str, threads: int, schedule: str = "lockstep") -> tuple[LaunchResult, list[int], list[Finding]]:
    """The result, one value of each thread, and what the checks found."""
    checks = make_checks(frozenset({Check.RACES, Check.SYNCHRONISATION}))
    result, (after,) = simulate(
        kernel(body, before=TILE), [np.zeros(threads, np.uint32)], block=threads, hooks=checks,
        schedule=schedule,
    )  # fmt: skip
    return result, [int(value) for value in after], findings_of(checks)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("count", ["32", "%r4"])
def test_barriers_of_single_warps_do_not_order_the_warps(schedule: str, count: str) -> None:
    body = f"{STORE}{WARP} add.u32 %r3, %r2, 1; mov.u32 %r4, 32; bar.sync %r3, {count};"
    result, _, findings = run(body + read_from(32), 64, schedule)
    assert result.error is None
    assert [finding.kind for finding in findings] == [Kind.READ_AFTER_WRITE]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_barrier_of_two_warps_orders_these(schedule: str) -> None:
    body = f"{STORE}{WARP} and.b32 %r2, %r2, 1; add.u32 %r3, %r2, 1; bar.sync %r3, 64;"
    result, values, findings = run(body + read_from(64), 128, schedule)
    assert result.error is None
    assert values == [thread ^ 64 for thread in range(128)]
    assert findings == []


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_votes_at_barriers_of_single_warps_are_counted_for_each(schedule: str) -> None:
    body = f"""{STORE}{WARP} add.u32 %r3, %r2, 1; setp.lt.u32 %p1, %r30, 40;
    bar.red.popc.u32 %r4, %r3, 32, %p1; st.shared.u32 [%r12], %r4; bar.sync 0;"""
    result, values, findings = run(body + read_from(0), 64, schedule)
    assert result.error is None
    assert values == [32] * 32 + [8] * 32
    assert findings == []


def test_warps_that_wait_at_different_barriers_for_the_whole_block_wait_forever() -> None:
    # An H200 does not end this kernel either.
    result, _, _ = run(WARP + "bar.sync %r2;", 64)
    assert result.error is not None
    assert result.error.kind is FaultKind.DEADLOCK
    assert result.error.reason.render("en") == "64 threads wait for each other and none can continue"


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_count_of_zero_in_a_register_is_the_whole_block(schedule: str) -> None:
    result, values, findings = run(f"{STORE} mov.u32 %r4, 0; bar.sync 0, %r4;{read_from(32)}", 64, schedule)
    assert result.error is None
    assert values == [thread ^ 32 for thread in range(64)]
    assert findings == []


@pytest.mark.parametrize(
    ("text", "thread", "why"),
    [
        # An H200 stops these with CUDA_ERROR_ILLEGAL_INSTRUCTION (715) …
        ("mov.u32 %r2, 33; bar.sync 0, %r2;", 0, "the number of threads at a barrier must be a "
         "multiple of 32, not 33"),
        ("mov.u32 %r2, 16; bar.arrive 0, %r2;", 0, "the number of threads at a barrier must be a "
         "multiple of 32, not 16"),
        ("shr.u32 %r2, %r30, 4; and.b32 %r2, %r2, 1; bar.sync %r2;", 16, "another lane of its warp names "
         "another barrier or another number of threads"),
        ("shr.u32 %r2, %r30, 4; and.b32 %r2, %r2, 1; barrier.sync %r2, 32;", 16, "another lane of its warp "
         "names another barrier or another number of threads"),
        # … and takes these numbers, which the PTX ISA excludes. An H100 (driver 580.159) also takes 17, 31,
        # 32, 63, 64, 99, 100, 127, 128, 255, 256 and 65536, from `mov` and a parameter; both warps pass.
        ("mov.u32 %r2, 16; bar.sync %r2;", 0, "a block has the barriers 0 to 15, and no barrier 16"),
        ("mov.u32 %r2, 99; bar.sync %r2;", 0, "a block has the barriers 0 to 15, and no barrier 99"),
        ("mov.u32 %r2, -1; bar.sync %r2;", 0, "a block has the barriers 0 to 15, and no barrier 4294967295"),
        ("shr.u32 %r2, %r30, 1; and.b32 %r2, %r2, 16; bar.sync %r2;", 32, "a block has the barriers 0 to 15, "
         "and no barrier 16"),
        ("mov.u32 %r2, 0; bar.arrive 0, %r2;", 0,
         "`arrive` must say for how many threads the barrier waits, not 0"),
    ],
)  # fmt: skip
def test_wrong_values_in_registers_stop_the_kernel(text: str, thread: int, why: str) -> None:
    result, _, _ = run(text, 64)
    assert result.error is not None
    assert (result.error.kind, result.error.thread) == (FaultKind.ILLEGAL_INSTRUCTION, thread)
    opcode = text.rsplit("; ", maxsplit=1)[-1].split(".", maxsplit=1)[0]
    assert result.error.reason.render("en") == (
        f"thread ({thread}, 0, 0) of block (0, 0, 0) executed {opcode} with wrong operands: {why}"
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("bar.sync 16;", "a block has the barriers 0 to 15, and no barrier 16"),
        ("bar.sync -1;", "a block has the barriers 0 to 15, and no barrier -1"),
        ("bar.red.popc.u32 %r1, 16, %p1;", "a block has the barriers 0 to 15, and no barrier 16"),
        ("bar.sync 0, 31;", "the number of threads at a barrier must be a multiple of 32, not 31"),
        ("barrier.sync 0, 33;", "the number of threads at a barrier must be a multiple of 32, not 33"),
        ("bar.arrive 0, 0;", "`arrive` must say for how many threads the barrier waits, not 0"),
    ],
)  # fmt: skip
def test_wrong_constants_are_refused_as_by_the_assembler(text: str, why: str) -> None:
    module = parse_module(kernel(text))
    with pytest.raises(PtxError) as caught:
        decode(module, module.kernels["k"])
    assert f"why: {why}" in str(caught.value)


@pytest.mark.parametrize("text", ["bar.sync 15;", "bar.sync 0, 0;", "bar.sync 0, 4096;", "bar.arrive 1, 32;"])
def test_other_constants_are_accepted(text: str) -> None:
    module = parse_module(kernel(text))
    decode(module, module.kernels["k"])
