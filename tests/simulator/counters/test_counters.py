"""Counts that Nsight Compute does not have, and that counting has no side effects."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pytest
from msgspec.structs import replace

from tests.simulator.counters.count import count_kernel
from tests.simulator.simulate import kernel, simulate
from tooling.simulator.counters.banks import Service, count_wavefronts
from tooling.simulator.counters.drawing import BROAD, Room, bank_map, memory_map, wavefronts
from tooling.simulator.counters.hook import Sample
from tooling.simulator.counters.profile import Picture
from tooling.simulator.counters.traffic import Counts, Route
from tooling.simulator.gpu.hooks import Access, Hook, Space
from tooling.simulator.gpu.launch import Dim3


@dataclass(frozen=True, slots=True)
class Expected:
    """A kernel body and what one PTX line of it must count: warps and lanes."""

    name: str
    body: str
    form: str
    warps: int
    lanes: int
    block: int = 64


# Registers: %r30 is %tid.x, %rd30 the data.
CASES = (
    Expected("whole_warps", "add.s32 %r1, %r30, 1;", "add.s32", 2, 64),
    Expected("short_last_warp", "add.s32 %r1, %r30, 1;", "add.s32", 2, 40, block=40),
    Expected(
        "half_of_each_warp",
        "and.b32 %r1, %r30, 1;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra END;\nmul.lo.s32 %r2, %r30, 3;\nEND:",
        "mul.lo.s32",
        2,
        32,
    ),
    Expected(
        "one_warp_goes_another_way",
        "setp.lt.u32 %p1, %r30, 32;\n@%p1 bra END;\nmul.lo.s32 %r2, %r30, 3;\nEND:",
        "mul.lo.s32",
        1,
        32,
    ),
    Expected(
        "loop_of_three",
        "mov.u32 %r1, 0;\nL:\nadd.s32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 3;\n@%p1 bra L;",
        "add.s32",
        6,
        192,
    ),
    Expected(
        "lane_dependent_loop",  # lanes 0..31 of each warp stay for 1..4 rounds
        "and.b32 %r2, %r30, 3;\nmov.u32 %r1, 0;\nL:\nadd.s32 %r1, %r1, 1;\nsetp.le.u32 %p1, %r1, %r2;\n"
        "@%p1 bra L;",
        "add.s32",
        8,
        160,
    ),
    Expected(
        "shuffle_while_others_leave",  # the engine comes back to a waiting shuffle; it still counts once
        "setp.ge.u32 %p1, %r30, 24;\n@%p1 bra END;\n"
        "shfl.sync.down.b32 %r2, %r30, 1, 31, 0xffffffff;\nbra END;\nEND:",
        "shfl.sync.down.b32",
        1,
        24,
        block=32,
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_warp_instructions_and_their_lanes(case: Expected) -> None:
    text = kernel(case.body, parameters=2)
    line = next(n for n, row in enumerate(text.splitlines(), 1) if case.form in row and "%r31" not in row)
    recorder = Recorder()
    count_kernel(text, block=case.block, hooks=[recorder])
    counted = by_code_line(text, case.block)[line]
    assert (counted.instructions, counted.lanes) == (case.warps, case.lanes)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_work_of_all_warps_is_what_was_issued(case: Expected) -> None:
    profile = count_kernel(kernel(case.body, parameters=2), grid=3, block=case.block)
    work = profile.work
    assert (work.warps, work.instructions) == (3 * -(-case.block // 32), profile.counts.instructions)
    assert work.busiest * work.warps >= work.instructions


@pytest.mark.parametrize(("rounds", "busiest"), [(1, 1.0), (7, 1.7)])
def test_the_busiest_warp_relative_to_the_mean(rounds: int, busiest: float) -> None:
    """The second of three warps runs a loop of four instructions `rounds` times, the others once."""
    body = (
        "shfl.sync.idx.b32 %r2, %r30, 0, 31, 0xffffffff;\n"
        f"setp.eq.u32 %p1, %r2, 32;\nselp.u32 %r3, {rounds}, 1, %p1;\n"
        "mov.u32 %r1, 0;\nL:\nadd.s32 %r1, %r1, 1;\nadd.s32 %r4, %r1, 1;\n"
        "setp.lt.u32 %p1, %r1, %r3;\n@%p1 bra L;"
    )
    work = count_kernel(kernel(body, parameters=2), block=96).work
    assert work.warps == 3
    other = (work.instructions - work.busiest) // 2
    assert work.busiest - other == 4 * (rounds - 1)
    assert round(work.of_mean, 2) == busiest


class Recorder(Hook):
    """An observer in addition to the counters: both must receive the events."""

    def __init__(self) -> None:
        self.accesses: list[Access] = []

    def access(self, access: Access) -> None:
        self.accesses.append(access)


def by_code_line(text: str, block: int) -> dict[int, Counts]:
    """Counts of each PTX line, from a hook of its own."""
    from tooling.simulator.counters.hook import CounterHook

    hook = CounterHook()
    simulate(text, [np.zeros(256, np.uint32)] * 2, block=block, hooks=[hook])
    return {tally.instruction.code_line: tally.counts for tally in hook.tallies.values()}


def test_barriers_count_the_warps_that_arrive() -> None:
    profile = count_kernel(kernel("bar.sync 0;\nbar.sync 0;", parameters=2), grid=3, block=96)
    assert profile.counts.barriers == 2 * 3 * 3


def test_tensor_core_instructions_count_once_per_warp() -> None:
    registers = "{%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4}"
    product = f"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {registers};"
    start = "".join(f"mov.b32 %r{n}, 0;\n" for n in range(1, 7))
    start += ".reg .f32 %f<5>;\n" + "".join(f"mov.f32 %f{n}, 0f00000000;\n" for n in range(1, 5))
    profile = count_kernel(kernel(start + product + product, parameters=2), grid=3, block=64)
    assert profile.counts.tensor == 2 * 2 * 3
    assert count_kernel(kernel(start, parameters=2), grid=3, block=64).counts.tensor == 0


def test_bytes_of_bulk_copies_are_counted_apart_from_those_of_threads() -> None:
    body = """
    .shared .align 16 .b8 tile[256]; .shared .align 8 .b64 bar;
    mov.b32 %r1, tile; mov.b32 %r2, bar; setp.eq.u32 %p1, %r30, 0;
    @%p1 mbarrier.init.shared.b64 [bar], 1; bar.sync 0; @!%p1 bra END;
    mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd30], 256, [%r2];
    WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra WAIT;
    cp.async.bulk.global.shared::cta.bulk_group [%rd31], [%r1], 64;
    cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
    END:
    """
    counts = count_kernel(kernel(body, parameters=2), grid=1, block=32).counts
    assert (counts.bulk_read, counts.bulk_written) == (256, 64)
    assert {route: traffic.requests for route, traffic in counts.routes.items()} == {}


def test_the_operands_of_a_product_of_four_warps_are_not_loads_of_threads() -> None:
    body = """
    .shared .align 128 .b8 room[4096]; .reg .f32 %f<5>;
    mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1;
    mov.b64 %rd1, 0x1000080000; setp.eq.u32 %p1, %r30, %r30;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, %rd1, %rd1, %p1, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
    """
    counts = count_kernel(kernel(body, parameters=2), grid=3, block=128).counts
    assert counts.tensor == 4 * 3
    assert {route: traffic.requests for route, traffic in counts.routes.items()} == {}


FILLED = """
    .shared .align 128 .b8 tiles[512]; .shared .align 8 .b64 full[2]; .shared .align 8 .b64 done;
    mov.b32 %r1, full; mov.b32 %r2, tiles; mov.b32 %r5, done; setp.eq.u32 %p1, %r30, 0;
    @%p1 mbarrier.init.shared.b64 [%r1], 1; @%p1 mbarrier.init.shared.b64 [%r1+8], 1;
    @%p1 mbarrier.init.shared.b64 [%r5], 1; bar.sync 0; @!%p1 bra OTHERS;
    mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 256;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd30], 256, [%r1];
    {between}
    add.u32 %r3, %r1, 8; add.u32 %r4, %r2, 256;
    mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 256;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd30], 256, [%r3];
    OTHERS:
    setp.ne.u32 %p1, %r30, 32; @%p1 bra END;
    FIRST: mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0; @!%p2 bra FIRST;
    mbarrier.arrive.shared.b64 %rd9, [%r5];
    END:
"""
"""Thread 0 starts two copies; thread 32 waits for the first one, and arrives at another mbarrier."""


@pytest.mark.parametrize("schedule", ["lockstep", "random:1", "adversarial"])
@pytest.mark.parametrize(
    ("between", "stages"),
    [
        ("", 2),
        ("AGAIN: mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0; @!%p2 bra AGAIN;", 1),
        ("AGAIN: mbarrier.try_wait.parity.shared.b64 %p2, [%r5], 0; @!%p2 bra AGAIN;", 1),
    ],
    ids=["nothing", "its end", "a thread that knows of its end"],
)
def test_stages_count_until_the_thread_that_copies_knows_that_they_are_full(
    between: str, stages: int, schedule: str
) -> None:
    from tooling.simulator.counters.hook import CounterHook

    hook = CounterHook()
    text = kernel(FILLED.format(between=between), parameters=2)
    simulate(text, [np.zeros(256, np.uint32)] * 2, block=64, hooks=[hook], schedule=schedule)
    assert hook.stages == stages


def test_lanes_that_a_check_took_out_are_not_counted() -> None:
    class Censor(Hook):
        def access(self, access: Access) -> None:
            access.suppress(access.threads >= 8)

    body = "mul.wide.u32 %rd1, %r31, 4;\nadd.u64 %rd1, %rd30, %rd1;\nst.global.b32 [%rd1], %r31;"
    traffic = count_kernel(kernel(body, parameters=2), hooks=[Censor()]).counts.total(Route.GLOBAL_STORE)
    assert (traffic.requests, traffic.lanes, traffic.sectors) == (1, 8, 1)


def test_bytes_asked_for_and_bytes_moved() -> None:
    body = "mul.wide.u32 %rd1, %r31, 32;\nadd.u64 %rd1, %rd30, %rd1;\nst.global.b32 [%rd1], %r31;"
    traffic = count_kernel(kernel(body, parameters=2)).counts.space(Space.GLOBAL)
    assert (traffic.requested_bytes, traffic.used_bytes, traffic.moved_bytes) == (128, 128, 1024)
    assert traffic.use == 1 / 8


def test_an_unread_atomic_is_a_reduction() -> None:
    body = "atom.global.add.u32 %r5, [%rd30], %r31;"
    assert Route.GLOBAL_REDUCTION in count_kernel(kernel(body, parameters=2)).counts.routes
    used = body + "\nst.global.b32 [%rd30+64], %r5;"
    assert Route.GLOBAL_ATOMIC in count_kernel(kernel(used, parameters=2)).counts.routes


def test_counting_leaves_the_decoded_kernel_as_it_was() -> None:
    text = kernel("add.s32 %r1, %r30, 1;\nst.global.b32 [%rd30], %r1;", parameters=2)
    first, second = count_kernel(text), count_kernel(text)
    assert first.counts.instructions == second.counts.instructions
    plain, _ = simulate(text, [np.zeros(4, np.uint32)] * 2)
    assert plain.lane_instructions == first.counts.lanes


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("service", [Service.LOAD, Service.STORE, Service.SINGLE])
def test_the_picture_has_as_many_wavefronts_as_are_counted(width: int, service: Service) -> None:
    random = np.random.default_rng(width)
    for _ in range(50):
        addresses = width * random.integers(0, int(random.choice([4, 40, 400])), 32)
        addresses[random.random(32) < 0.3] = -1
        addresses[0] = 0
        counted = count_wavefronts(addresses[None, :], width, service)
        drawn = wavefronts(Sample(addresses, width, 0, 0, service))
        assert sum(len(fronts) for fronts in drawn) == counted.wavefronts[0]
        assert sum(len(fronts) - 1 for fronts in drawn) == counted.conflicts[0]


def _picture(elements: list[int], service: Service | None = None) -> Picture:
    addresses = np.full(32, -1, np.int64)
    addresses[: len(elements)] = np.array(elements) * 4
    return Picture(Sample(addresses, 4, 0, 0, service), Dim3(0, 0, 0), 0)


def test_labels_of_a_map_stand_where_its_form_has_them() -> None:
    picture = _picture([0, 32, 128])  # two rows, a gap, and a row
    labelled = memory_map(picture, "en", BROAD)
    assert re.findall(r'class="(axis end|note start)" x="(\d+)" y="(\d+)"', labelled.contents) == [
        ("axis end", "70", "20"),
        ("axis end", "70", "45"),
        ("note start", "76", "65"),
        ("axis end", "70", "86"),
    ]
    flush = memory_map(picture, "en", replace(BROAD, flush=True))
    assert flush.contents.count('class="note" x="1"') == 3
    above = memory_map(picture, "en", replace(BROAD, above=True))
    assert re.findall(r">(byte [^<]*)<", above.contents) == ["byte +0", "byte +512"]  # of successive rows one
    room = Room(before_note=1, after_note=10, after_row=100)
    assert memory_map(picture, "en", replace(BROAD, room=room)).height == labelled.height + 111


def test_a_map_has_the_colours_of_lanes_and_the_numbers_of_passes_only_if_its_form_has_them() -> None:
    picture = _picture([0, 32, 64], Service.LOAD)
    plain = bank_map(picture, "en", BROAD)
    assert (plain.contents.count("hsl("), re.findall("pass [0-9]", plain.contents)) == (3, [])
    numbered = bank_map(picture, "en", replace(BROAD, numbered=True, by_lane=False))
    assert "hsl(" not in numbered.contents
    assert 'class="bank"' not in numbered.contents
    ruled = bank_map(picture, "en", replace(BROAD, ruled=True))
    assert ruled.contents.count('class="bank"') == 3
    assert re.findall("pass [0-9]", numbered.contents) == ["pass 1", "pass 2", "pass 3"]
    assert f'height="{plain.height}" role="img"><title>{plain.title}</title>' in plain.svg()
