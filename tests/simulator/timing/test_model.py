"""What limits a launch, and the launches that get no time."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.simulator.timing.launches import COPY, launched
from tooling.simulator.gpu.launch import Dim3
from tooling.simulator.timing.model import Estimate, Limit, estimate
from tooling.simulator.timing.parameters import parameters_of
from tooling.simulator.timing.work import Work

H200 = parameters_of("h200")


def work(body: str = COPY, *, grid: int | Dim3 = 1, block: int = 32, sampled: bool = False) -> Work:
    launch = launched(body, grid=grid, block=block, sampled=sampled)
    assert launch.refused is None, launch.refused.render("en")
    return launch.work["h200"]


def time(found: Work) -> Estimate:
    return estimate(found, H200)


def test_one_block_without_work_takes_the_time_of_a_launch() -> None:
    found = time(work("ret;"))
    assert found.binding is Limit.LAUNCH
    assert found.microseconds == pytest.approx(H200.launch, abs=0.05)


def test_many_blocks_without_work_take_the_time_of_their_start() -> None:
    found = time(replace(work("ret;"), blocks=65536))
    assert found.binding is Limit.START
    assert found.microseconds == pytest.approx(42.2, abs=0.4)  # 42.17 us on the H200


def test_a_copy_larger_than_the_caches_is_limited_by_device_memory() -> None:
    small = work(grid=64, block=1024)
    large = replace(small, blocks=1 << 14, read=2.0**30, written=2.0**30, sectors=2.0**30, latency=1.0)
    found = time(large)
    assert found.binding is Limit.MEMORY
    assert found.microseconds == pytest.approx(2 * 2.0**30 / H200.copy / 1000, rel=0.1)


def test_bytes_of_a_copy_are_counted_once() -> None:
    found = work(grid=64, block=256)
    assert (found.read, found.written) == (64 * 1024, 64 * 1024)
    assert found.alone == 0


def test_what_all_blocks_read_is_read_once() -> None:
    found = work("ld.global.b32 %r5, [%rd1];\nst.global.b32 [%rd5], %r5;\nret;", grid=64, block=256)
    assert found.read == 32
    assert found.written == 64 * 1024


def test_lone_sectors_are_seen() -> None:
    spread = "shl.b64 %rd6, %rd3, 4;\nadd.s64 %rd7, %rd1, %rd6;\nld.global.b32 %r5, [%rd7];\nret;"
    found = work(spread, grid=16, block=256)
    assert found.alone == 1
    assert found.read == 16 * 256 * 32


def test_a_second_read_of_a_sector_is_served_by_the_first_level() -> None:
    twice = (
        "ld.global.b32 %r5, [%rd4];\nld.global.b32 %r6, [%rd4];\nadd.s32 %r5, %r5, %r6;\n"
        "st.global.b32 [%rd5], %r5;\nret;"
    )
    assert work(twice, grid=8, block=128).sectors == work(grid=8, block=128).sectors


def test_dependent_loads_wait_one_after_the_other() -> None:
    load = "ld.global.b32 %r{0}, [%rd4+{1}];\n"
    together = "".join(load.format(n, 128 * n) for n in range(10, 14)) + "ret;"
    chained = "".join(
        f"ld.global.b32 %r{n}, [%rd4];\nsetp.eq.s32 %p1, %r{n}, 1;\n@%p1 ret;\n" for n in range(10, 14)
    )
    assert work(together).latency < 2 * H200.level[2]
    # After the first load the cache has the sector.
    assert work(chained + "ret;").latency > H200.level[2] + 3 * H200.level[0]


def test_bank_conflicts_cost_passes_of_shared_memory() -> None:
    def cycles(stride: int) -> float:
        body = (
            f"mul.lo.s32 %r6, %r1, {4 * stride};\nmov.u32 %r7, own;\nadd.s32 %r8, %r7, %r6;\n"
            "st.shared.b32 [%r8], %r1;\nret;"
        )
        return work(body).cycles["shared"]

    assert cycles(32) == pytest.approx(32 * cycles(1))


def test_more_blocks_never_take_less_time() -> None:
    one = work(grid=64, block=256)
    times = [time(replace(one, blocks=64 * factor)).microseconds for factor in (1, 2, 5, 9, 17, 40, 100)]
    assert times == sorted(times)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            "ld.acquire.gpu.global.b32 %r5, [%rd4];\nret;",
            "`ld.acquire.gpu.global.b32` may wait for another thread, for a time that depends on the data",
        ),
        (
            "atom.global.cas.b32 %r5, [%rd4], 0, 1;\nret;",
            "`atom.global.cas.b32` may wait for another thread, for a time that depends on the data",
        ),
    ],
)
def test_what_may_wait_for_other_threads_gets_no_time(body: str, reason: str) -> None:
    refused = launched(body).refused
    assert refused is not None
    assert refused.render("en") == reason


def test_an_address_from_loaded_data_gets_no_time() -> None:
    gather = (
        "ld.global.b32 %r5, [%rd4];\nmul.wide.s32 %rd6, %r5, 4;\nadd.s64 %rd7, %rd1, %rd6;\n"
        "ld.global.b32 %r6, [%rd7];\nst.global.b32 [%rd5], %r6;\nret;"
    )
    refused = launched(gather, grid=4).refused
    assert refused is not None
    assert refused.render("en") == (
        "`ld.global.b32` in line 23 of the PTX has an address that is computed from loaded data, which "
        "decide how often the caches serve it"
    )
    guarded = (
        "ld.global.b32 %r5, [%rd4];\nsetp.gt.s32 %p1, %r5, 3;\n@%p1 add.s64 %rd5, %rd5, 4;\n"
        "ld.global.b32 %r6, [%rd5];\nret;"
    )
    assert launched(guarded, grid=4).refused is None
