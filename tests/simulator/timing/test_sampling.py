"""Blocks that stand for a large grid, and grids for which none can."""

from __future__ import annotations

import pytest

from tests.simulator.timing.launches import COPY, launched
from tooling.simulator.gpu.launch import Dim3
from tooling.simulator.timing import profiler
from tooling.simulator.timing.report import KernelTime, lines_of, time_of
from tooling.simulator.timing.sampling import neighbours, places_of

ROW = "mul.lo.s32 %r6, %r2, 8;\n"


def time(body: str, grid: int | Dim3 = 1000, block: int = 256) -> KernelTime:
    return time_of(launched(body, grid=grid, block=block, sampled=True), "h200")


def refused(body: str, grid: int | Dim3 = 1000) -> str:
    reason = time(body, grid).refused
    assert reason is not None
    return reason.render("en")


def loop(times: str) -> str:
    """Additions, as many as a register says, and a copy."""
    return (
        f"{times}\nmov.u32 %r8, 0;\nLOOP: add.s32 %r8, %r8, 1;\nsetp.lt.s32 %p1, %r8, %r7;\n"
        f"@%p1 bra LOOP;\n{COPY}"
    )


def test_the_places_of_a_grid() -> None:
    assert places_of(Dim3(128), 256) is None
    row = places_of(Dim3(1001), 256)
    assert row is not None
    assert [place.blocks for place in row] == [
        (range(first, first + 4),) for first in (500, 100, 300, 700, 900)
    ]
    square = places_of(Dim3(101, 101), 1024)
    assert square is not None
    assert square[0].blocks == (range(5100, 5102), range(5201, 5203))
    assert square[2].near == (9120, 9121, 9221, 9222)
    assert len({block for place in square for rows in place.blocks for block in rows}) == 20


def test_neighbours_end_with_the_grid() -> None:
    assert neighbours(Dim3(10000)) == (4999, 5000, None, None)
    assert neighbours(Dim3(100, 100)) == (4949, 4950, 5049, 5050)
    assert neighbours(Dim3(1)) == (0, None, None, None)


def test_equal_blocks_have_no_error() -> None:
    whole = time_of(launched(COPY, grid=1000, block=256), "h200")
    sampled = time(COPY)
    assert whole.estimate is not None and sampled.estimate is not None
    assert (whole.sampled, sampled.sampled) == (1000, 20)
    assert sampled.sampling == 0
    assert sampled.estimate.microseconds == pytest.approx(whole.estimate.microseconds, rel=1e-9)
    assert list(lines_of(sampled, "h200", "en"))[-1] == (
        "20 of 1,000 blocks were simulated, at several places of the grid: ±0.0%"
    )


def test_blocks_that_differ_widen_the_range() -> None:
    whole = time_of(
        launched(loop("shr.u32 %r7, %r2, 3;\nadd.s32 %r7, %r7, 500;"), grid=1000, block=256), "h200"
    )
    found = time(loop("shr.u32 %r7, %r2, 3;\nadd.s32 %r7, %r7, 500;"))
    assert whole.estimate is not None and found.estimate is not None and found.bounds is not None
    assert 0.02 < found.sampling < 0.2
    low, high = found.bounds
    assert low < found.measured.low * found.estimate.microseconds * 0.98
    assert high > found.measured.high * found.estimate.microseconds * 1.02


def test_blocks_that_differ_too_much_get_no_time() -> None:
    assert refused(loop("mov.u32 %r7, %r2;")) == "the blocks of the sample differ: its error is ±56%"


def test_a_last_block_with_more_work_gets_no_time() -> None:
    reason = "the first or the last block has more than twice the instructions of the blocks of the sample"
    assert refused(loop("shr.u32 %r7, %r2, 9;\nmul.lo.s32 %r7, %r7, 100;"), 513) == reason
    fewer = "setp.eq.s32 %p1, %r2, 999;\n@%p1 ret;\n"
    assert time(fewer + COPY).refused is None


@pytest.mark.parametrize(
    "body",
    [
        "ld.global.b32 %r5, [%rd4];\nsetp.gt.s32 %p1, %r5, 3;\n@%p1 bra END;\nst.global.b32 [%rd5], %r5;\n"
        "END: ret;",
        "atom.global.add.u32 %r5, [%rd2], 1;\nsetp.eq.s32 %p1, %r5, 3;\nnot.pred %p2, %p1;\n"
        "@%p2 bra END;\nEND: ret;",
    ],
)
def test_work_that_data_or_the_order_of_blocks_decide_gets_no_time(body: str) -> None:
    assert "depends on loaded data or on the order of blocks" in refused(body)
    whole = launched(body, grid=8).refused
    assert whole is None


def test_blocks_that_wait_for_others_do_not_run() -> None:
    waits = "WAIT: ld.acquire.gpu.global.b32 %r5, [%rd1];\nsetp.ne.u32 %p1, %r5, 1;\n@%p1 bra WAIT;\nret;"
    assert refused(waits) == (
        "`ld.acquire.gpu.global.b32` may wait for another thread, for a time that depends on the data"
    )


def test_of_a_long_loop_the_middle_and_the_edges_run(monkeypatch: pytest.MonkeyPatch) -> None:
    assert time(loop("mov.u32 %r7, 200;")).sampled == 20
    monkeypatch.setattr(profiler, "LONG_WARP", 500)
    found = time(loop("mov.u32 %r7, 200;"))
    assert found.estimate is not None
    assert (found.sampled, found.sampling) == (4, 0)


def test_floats_that_many_threads_add_to_one_address_get_no_time() -> None:
    add = "atom.global.add.{} {}, [%rd2], {};\nret;"
    assert time(add.format("u32", "%r5", "%r1")).estimate is not None
    assert refused(add.format("f32", "%f1", "%f2")) == (
        "many threads update a few addresses by atomic operations, whose time depends on the data or was not "
        "measured"
    )
    alone = "atom.global.add.f32 %f1, [%rd5], %f2;\nret;"
    assert time(alone).estimate is not None
