"""Kernels run as on hardware: lanes diverge and reconverge, wait for each other, and stop at faults."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.simulator.simulate import kernel, simulate
from tooling.simulator.checks.findings import Check
from tooling.simulator.checks.suite import make_checks
from tooling.simulator.gpu.device_memory import DeviceMemory, OutOfDeviceMemory
from tooling.simulator.gpu.hooks import Access, Hook, LaunchContext, Waiter
from tooling.simulator.gpu.launch import FaultKind
from tooling.simulator.nvidia.launch_rules import static_shared_bytes
from tooling.simulator.nvidia.ptx.reader import PtxError, parse_module

DATA = Path(__file__).parent / "data"
SCHEDULES = ("lockstep", "random:1", "random:2", "adversarial")
STORE = "mul.wide.u32 %rd1, %r31, 4;\nadd.s64 %rd2, %rd30, %rd1;\nst.global.b32 [%rd2], {0};\n"


def zeros(count: int) -> np.ndarray[Any, np.dtype[np.uint32]]:
    return np.zeros(count, np.uint32)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_axis_sum_as_mojo_compiled_it(schedule: str) -> None:
    out, a = np.zeros(4, np.float32), np.arange(24, dtype=np.float32)
    text = (DATA / "axis_sum.ptx").read_text()
    # A LayoutTensor is passed as pointer, padding, shape and strides (32 bytes here).
    result, _ = simulate(text, [], extra=bytes(64))
    assert result.error is not None
    assert result.error.kind is FaultKind.ILLEGAL_ADDRESS
    from tooling.simulator.engine.engine import run
    from tooling.simulator.gpu.launch import Dim3, Launch
    from tooling.simulator.nvidia.ptx.reader import parse_module

    memory = DeviceMemory(np.zeros(1 << 16, np.uint8), 0x1000)
    addresses = [memory.allocate(array.nbytes) for array in (out, a)]
    memory.view(addresses[1], a.nbytes).view(np.float32)[:] = a
    layout = struct.pack("<QQiiiiQQiiii", addresses[0], 0, 1, 1, 0, 0, addresses[1], 0, 6, 1, 0, 0)
    module = parse_module(text)
    (function,) = module.kernels.values()
    done = run(Launch(function, Dim3(1, 4), Dim3(8), parameters=layout), module, memory, schedule=schedule)
    assert done.error is None
    assert done.blocks == 4
    np.testing.assert_array_equal(memory.view(addresses[0], 16).view(np.float32), a.reshape(4, 6).sum(axis=1))


def test_saxpy_as_mojo_compiled_it() -> None:
    n = 1000
    y, x = np.ones(n, np.float32), np.arange(n, dtype=np.float32)
    text = (DATA / "saxpy.ptx").read_text()
    result, (got, _) = simulate(text, [y, x], grid=8, block=128, extra=struct.pack("<fi", 2.0, n))
    assert result.error is None
    np.testing.assert_array_equal(got, 2 * x + y)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(("grid", "block"), [(1, 1), (1, 7), (3, 40), (700, 33)])
def test_divergent_lanes_reconverge(schedule: str, grid: int, block: int) -> None:
    body = """
        and.b32 %r1, %r31, 3;
        mov.b32 %r2, 100;
        setp.eq.s32 %p1, %r1, 0;
        @%p1 bra ZERO;
        setp.eq.s32 %p2, %r1, 1;
        @%p2 bra ONE;
        add.s32 %r2, %r2, %r31;
        bra.uni JOIN;
    ONE:
        mul.lo.s32 %r2, %r31, 7;
        bra.uni JOIN;
    ZERO:
        sub.s32 %r2, 0, %r31;
    JOIN:
        add.s32 %r2, %r2, 5;
    """
    n = grid * block
    result, (got,) = simulate(
        kernel(body + STORE.format("%r2")), [zeros(n)], grid=grid, block=block, schedule=schedule
    )
    i = np.arange(n, dtype=np.int32)
    want = np.select([i % 4 == 0, i % 4 == 1], [-i, 7 * i], 100 + i) + 5
    assert result.error is None
    np.testing.assert_array_equal(got.view(np.int32), want)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_loops_of_different_length(schedule: str) -> None:
    body = """
        mov.b32 %r1, 0;
        mov.b32 %r2, 0;
    LOOP:
        setp.ge.u32 %p1, %r1, %r30;
        @%p1 bra DONE;
        add.s32 %r2, %r2, %r1;
        add.s32 %r1, %r1, 1;
        bra LOOP;
    DONE:
    """
    result, (got,) = simulate(
        kernel(body + STORE.format("%r2")), [zeros(128)], grid=2, block=64, schedule=schedule
    )
    i = np.arange(128) % 64
    assert result.error is None
    np.testing.assert_array_equal(got, i * (i - 1) // 2)


def test_reconverged_lanes_are_counted_once() -> None:
    body = """
        setp.lt.u32 %p1, %r30, 16;
        @%p1 bra LOW;
        add.s32 %r1, %r30, 1;
    LOW:
        add.s32 %r1, %r30, 2;
    """
    result, _ = simulate(kernel(body), [zeros(1)])
    straight = 5 + 2
    assert result.instructions == straight + 1 + 2
    assert result.lane_instructions == 32 * straight + 16 + 2 * 32


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_reversal_through_shared_memory(schedule: str) -> None:
    body = """
        .shared .align 4 .b8 tile[256];
        mov.b32 %r1, tile;
        shl.b32 %r2, %r30, 2;
        add.s32 %r3, %r1, %r2;
        st.shared.b32 [%r3], %r31;
        bar.sync 0;
        sub.s32 %r4, 252, %r2;
        add.s32 %r5, %r1, %r4;
        ld.shared.b32 %r6, [%r5];
    """
    result, (got,) = simulate(
        kernel(body + STORE.format("%r6")), [zeros(320)], grid=5, block=64, schedule=schedule
    )
    assert result.error is None
    np.testing.assert_array_equal(got.reshape(5, 64), np.arange(320).reshape(5, 64)[:, ::-1])


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_barrier_in_both_ways_of_a_branch_is_one_barrier(schedule: str) -> None:
    body = """
        .shared .align 4 .b8 tile[512];
        mov.b32 %r1, tile;
        shl.b32 %r2, %r30, 2;
        add.s32 %r3, %r1, %r2;
        setp.lt.u32 %p1, %r30, 32;
        @%p1 bra LOW;
        st.shared.b32 [%r3], 7;
        bar.sync 0;
        bra.uni JOIN;
    LOW:
        st.shared.b32 [%r3], 9;
        bar.sync 0;
    JOIN:
        xor.b32 %r4, %r2, 128;
        add.s32 %r5, %r1, %r4;
        ld.shared.b32 %r6, [%r5];
    """
    result, (got,) = simulate(kernel(body + STORE.format("%r6")), [zeros(64)], block=64, schedule=schedule)
    assert result.error is None
    np.testing.assert_array_equal(got, np.repeat([7, 9], 32))


@pytest.mark.parametrize("schedule", ("lockstep", "random:5"))
def test_a_spin_lock_between_lanes_of_a_warp(schedule: str) -> None:
    body = """
    TRY:
        atom.global.cas.b32 %r1, [%rd30], 0, 1;
        setp.ne.s32 %p1, %r1, 0;
        @%p1 bra TRY;
        ld.volatile.global.b32 %r2, [%rd30+4];
        add.s32 %r2, %r2, 1;
        st.volatile.global.b32 [%rd30+4], %r2;
        membar.gl;
        atom.global.exch.b32 %r3, [%rd30], 0;
    """
    result, (got,) = simulate(kernel(body), [zeros(2)], grid=2, block=40, schedule=schedule)
    assert result.error is None
    assert got.tolist() == [0, 80]


@pytest.mark.parametrize(("arrays", "distance"), [(".shared .align 8 .b8 gate[24];", 1024), ("", 0)])
def test_dynamic_shared_memory_begins_at_a_multiple_of_its_alignment(arrays: str, distance: int) -> None:
    """As ptxas 13.5 places it: behind the kernel's own 24 bytes, or at the beginning."""
    text = kernel(
        "mov.b32 %r1, dynamic;\nst.global.b32 [%rd30], %r1;",
        before=f"{arrays}\n.extern .shared .align 1024 .b8 dynamic[];\n",
    )
    module = parse_module(text)
    assert static_shared_bytes(module, module.kernels["k"]) == distance
    _, (found,) = simulate(text, [np.full(1, 7, np.uint32)], shared=16)
    assert found.tolist() == [distance]


def test_blocks_with_much_shared_memory_run_fewer_at_a_time() -> None:
    class Batches(Hook):
        def __init__(self) -> None:
            self.blocks: list[int] = []

        def batch_begin(self, first_block: int, blocks: int) -> None:
            assert first_block == sum(self.blocks)
            self.blocks.append(blocks)

    seen: dict[int, list[int]] = {}
    for shared in (0, 200 << 10):
        batches = Batches()
        result, _ = simulate(kernel(""), [np.zeros(1, np.uint32)], grid=400, shared=shared, hooks=[batches])
        assert result.error is None and result.blocks == sum(batches.blocks) == 400
        seen[shared] = batches.blocks
    assert seen[0] == [400]
    assert len(seen[200 << 10]) > 1
    # On an H200 132 such blocks run at a time, and may wait for each other.
    assert seen[200 << 10][0] >= 132


def test_a_lane_waits_for_a_later_block() -> None:
    body = """
        setp.ne.s32 %p1, %r32, 0;
        @%p1 bra SET;
    SPIN:
        ld.acquire.gpu.global.b32 %r1, [%rd30];
        setp.eq.s32 %p2, %r1, 0;
        @%p2 bra SPIN;
        bra.uni END;
    SET:
        st.release.gpu.global.b32 [%rd30], 1;
    END:
    """
    result, (got,) = simulate(kernel(body), [zeros(1)], grid=2, block=1)
    assert result.error is None
    assert got[0] == 1


class Recorder(Hook):
    def __init__(self) -> None:
        self.waiters: list[Waiter] = []
        self.accesses: list[Access] = []

    def stuck(self, waiters: Any) -> None:
        self.waiters = list(waiters)

    def access(self, access: Access) -> None:
        self.accesses.append(access)


def test_a_barrier_that_some_threads_never_reach_is_a_deadlock() -> None:
    body = """
        setp.lt.u32 %p1, %r30, 8;
        @%p1 bra A;
        bar.sync 1;
        bra.uni B;
    A:
        bar.sync 2;
    B:
    """
    recorder = Recorder()
    result, _ = simulate(kernel(body), [zeros(1)], hooks=[recorder])
    assert result.error is not None
    assert result.error.kind is FaultKind.DEADLOCK
    assert sorted(len(waiter.threads) for waiter in recorder.waiters) == [8, 24]


def test_blocks_and_stores_come_in_another_order_with_another_schedule() -> None:
    """Of 80 blocks in three batches, and of the lanes of one store, any may be the last."""
    text = kernel("st.global.b32 [%rd30], %r31;\nst.global.b32 [%rd30+4], %r32;")
    outcomes = {}
    for schedule in ("lockstep", "adversarial", *(f"random:{seed}" for seed in range(8))):
        result, (got,) = simulate(text, [zeros(2)], grid=80, block=1024, schedule=schedule)
        assert result.error is None
        again = simulate(text, [zeros(2)], grid=80, block=1024, schedule=schedule)[1][0]
        np.testing.assert_array_equal(got, again)
        outcomes[schedule] = tuple(got.tolist())
    assert outcomes["lockstep"] == (80 * 1024 - 1, 79)
    assert outcomes["adversarial"] == (0, 0)
    assert len(set(outcomes.values())) > 3


def test_exited_threads_are_not_waited_for() -> None:
    body = """
        setp.lt.u32 %p1, %r30, 8;
        @%p1 ret;
        bar.sync 0;
    """
    result, (got,) = simulate(kernel(body + STORE.format("%r30")), [zeros(32)])
    assert result.error is None
    assert got.tolist() == [0] * 8 + list(range(8, 32))


def test_a_kernel_that_never_ends_is_stopped() -> None:
    result, _ = simulate(kernel("LOOP:\nbra LOOP;"), [zeros(1)])
    assert result.error is not None
    assert result.error.kind is FaultKind.TIME_LIMIT
    assert result.error.thread == 0
    assert result.error.instruction is not None
    assert result.error.instruction.opcode == "bra"  # where it was then


@pytest.mark.parametrize(
    ("body", "kind", "thread"),
    [
        ("st.global.b32 [%rd30+8000000], %r30;", FaultKind.ILLEGAL_ADDRESS, 0),
        ("mov.b64 %rd1, 0;\nld.global.b8 %r1, [%rd1];", FaultKind.ILLEGAL_ADDRESS, 0),
        (
            "cvt.u64.u32 %rd1, %r30;\nadd.s64 %rd1, %rd1, %rd30;\nld.global.b32 %r1, [%rd1];",
            FaultKind.MISALIGNED_ADDRESS,
            1,
        ),
        ("mov.b32 %r1, 4096;\nld.shared.b32 %r2, [%r1];", FaultKind.ILLEGAL_ADDRESS, 0),
        ("setp.eq.s32 %p1, %r30, 5;\n@%p1 trap;", FaultKind.TRAP, 5),
    ],
)
def test_faults_name_the_thread(body: str, kind: FaultKind, thread: int) -> None:
    result, _ = simulate(kernel(body), [zeros(32)])
    assert result.error is not None
    assert result.error.kind is kind
    assert result.error.thread == thread
    assert f"thread ({thread}, 0, 0) of block (0, 0, 0)" in result.error.what


def test_a_hook_may_leave_lanes_out() -> None:
    class Guard(Hook):
        def access(self, access: Access) -> None:
            access.suppress(access.threads >= 4)

    result, (got,) = simulate(kernel(STORE.format("%r31")), [np.full(32, 77, np.uint32)], hooks=[Guard()])
    assert result.error is None
    assert got.tolist() == [0, 1, 2, 3] + [77] * 28


def test_hooks_receive_accesses_with_threads_and_addresses() -> None:
    recorder = Recorder()
    simulate(kernel(STORE.format("%r31")), [zeros(64)], grid=2, block=32, hooks=[recorder])
    (access,) = recorder.accesses
    assert access.contiguous
    assert not access.uniform
    assert access.bytes == 4
    assert access.threads.tolist() == list(range(64))
    assert (np.diff(access.addresses) == 4).all()


SHUFFLES = [
    ("shfl.sync.bfly.b32 %r1, %r30, 1, 31, -1;", lambda i: i ^ 1),
    ("shfl.sync.down.b32 %r1, %r30, 3, 31, -1;", lambda i: np.where(i + 3 < 32, i + 3, i)),
    ("shfl.sync.up.b32 %r1, %r30, 3, 0, -1;", lambda i: np.where(i >= 3, i - 3, i)),
    ("shfl.sync.idx.b32 %r1, %r30, 5, 31, -1;", lambda i: np.full_like(i, 5)),
    # Segments of eight lanes: mask 0x18 in bits 8 to 12 of the fourth operand.
    ("shfl.sync.down.b32 %r1, %r30, 2, 6175, -1;", lambda i: np.where(i % 8 + 2 < 8, i + 2, i)),
    ("vote.sync.ballot.b32 %r1, %p9, -1;", lambda i: np.full_like(i, 0xF)),
    ("redux.sync.add.s32 %r1, %r30, -1;", lambda i: np.full_like(i, 496)),
    ("match.any.sync.b32 %r1, %r29, -1;", lambda i: np.where(i % 2, 0xAAAAAAAA, 0x55555555)),
]


@pytest.mark.parametrize(("text", "want"), SHUFFLES, ids=[text.split()[0] for text, _ in SHUFFLES])
def test_instructions_across_a_warp(text: str, want: Any) -> None:
    body = f"setp.lt.u32 %p9, %r30, 4;\nand.b32 %r29, %r30, 1;\n{text}\n"
    result, (got,) = simulate(kernel(body + STORE.format("%r1")), [zeros(32)])
    assert result.error is None
    np.testing.assert_array_equal(got, want(np.arange(32, dtype=np.int64)).astype(np.uint32))


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_shuffle_waits_for_the_lanes_of_its_mask(schedule: str) -> None:
    body = """
        mov.b32 %r1, 11;
        setp.lt.u32 %p1, %r30, 16;
        @%p1 bra LOW;
        mov.b32 %r1, 22;
    LOW:
        setp.eq.u32 %p2, %r30, 31;
        @%p2 bra LATE;
    MEET:
        shfl.sync.bfly.b32 %r2, %r1, 16, 31, -1;
        bra.uni END;
    LATE:
        mov.b32 %r1, 33;
        bra.uni MEET;
    END:
    """
    result, (got,) = simulate(kernel(body + STORE.format("%r2")), [zeros(32)], schedule=schedule)
    assert result.error is None
    assert got.tolist() == [22] * 15 + [33] + [11] * 16


def test_calls_pass_arguments_and_results() -> None:
    before = """
    .func (.param .b32 result) twice(.param .b32 x)
    {
        .reg .b32 %r<4>;
        ld.param.b32 %r1, [x];
        add.s32 %r2, %r1, %r1;
        st.param.b32 [result], %r2;
        ret;
    }
    """
    call = """
        {{
        .param .b32 param0;
        .param .b32 retval0;
        st.param.b32 [param0], {0};
        call.uni (retval0), twice, (param0);
        ld.param.b32 %r1, [retval0];
        }}
    """
    body = f"""
        setp.lt.u32 %p1, %r30, 10;
        @%p1 bra OTHER;
        {call.format("%r30")}
        bra.uni JOIN;
    OTHER:
        {call.format("5")}
    JOIN:
    """
    result, (got,) = simulate(kernel(body + STORE.format("%r1"), before=before), [zeros(32)])
    assert result.error is None
    assert got.tolist() == [10] * 10 + [2 * i for i in range(10, 32)]


def printed(template: str, arguments: str, *, before: str = "", block: int = 1) -> bytes:
    """What threads print whose arguments are stored at %rd1, 32 bytes with the generic address %rd2."""
    content = f"{template}\0".encode()
    before += f"""
    .extern .func (.param .b32 func_retval0) vprintf(.param .b64 a, .param .b64 b);
    .global .align 1 .b8 text[{len(content)}] = {{{", ".join(map(str, content))}}};
    """
    body = f"""
        .local .align 8 .b8 depot[32];
        mov.b64 %rd1, depot;
        cvta.local.u64 %rd2, %rd1;
        {arguments}
        mov.b64 %rd7, text;
        {{
        .param .b64 param0;
        .param .b64 param1;
        .param .b32 retval0;
        st.param.b64 [param0], %rd7;
        st.param.b64 [param1], %rd2;
        call.uni (retval0), vprintf, (param0, param1);
        }}
    """
    said: list[bytes] = []
    result, _ = simulate(kernel(body, before=before), [zeros(1)], block=block, stdout=said.append)
    assert result.error is None
    return b"".join(said)


def test_print_writes_in_the_order_of_threads() -> None:
    arguments = """
        st.local.b32 [%rd1], %r30;
        mov.b64 %rd3, word;
        cvta.global.u64 %rd4, %rd3;
        st.b64 [%rd2+8], %rd4;
        mov.b64 %rd5, 0d3FF8000000000000;
        st.local.b64 [%rd1+16], %rd5;
        mov.b64 %rd6, 12345678901;
        st.local.b64 [%rd1+24], %rd6;
    """
    word = ".global .align 1 .b8 word[3] = {104, 105, 0};"
    said = printed("%d %s %.2f %lu\n", arguments, before=word, block=3)
    assert said == b"".join(b"%d hi 1.50 12345678901\n" % i for i in range(3))


@pytest.mark.parametrize(
    ("conversion", "value", "shown"),
    [
        ("%hhd", 300, "44"),
        ("%hhu", 0xFFFF_FFFF, "255"),
        ("%hd", 70000, "4464"),
        ("%hx", 0xFFFF_FFFE, "fffe"),
        ("%d", 70000, "70000"),
        ("%a", 0x3FF8_0000_0000_0000, "0x1.8p+0"),
        ("%a", 0x3FF0_0000_0000_0000, "0x1p+0"),
        ("%a", 0, "0x0p+0"),
    ],
)
def test_print_of_narrow_and_of_hexadecimal_numbers(conversion: str, value: int, shown: str) -> None:
    arguments = f"mov.b64 %rd3, {value}; st.local.b64 [%rd1], %rd3;"
    assert printed(conversion, arguments) == shown.encode()


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_blocks_of_a_cluster_read_each_others_memory(schedule: str) -> None:
    body = """
        .shared .align 4 .b8 cell[4];
        mov.b32 %r1, cell;
        st.shared.b32 [%r1], %r32;
        barrier.cluster.arrive.release.aligned;
        barrier.cluster.wait.acquire.aligned;
        mov.u32 %r2, %cluster_ctarank;
        mov.u32 %r3, %cluster_nctarank;
        add.s32 %r4, %r2, 1;
        rem.u32 %r4, %r4, %r3;
        mapa.shared::cluster.u32 %r5, %r1, %r4;
        ld.shared::cluster.b32 %r6, [%r5];
        barrier.cluster.arrive.aligned;
        barrier.cluster.wait.aligned;
    """
    result, (got,) = simulate(
        kernel(body + STORE.format("%r6")), [zeros(8)], grid=8, block=1, cluster=4, schedule=schedule
    )
    assert result.error is None
    assert got.tolist() == [1, 2, 3, 0, 5, 6, 7, 4]


@pytest.mark.parametrize("count", [40, 3000])
def test_atomics_take_effect_lane_by_lane(count: int) -> None:
    body = """
        atom.global.add.u32 %r1, [%rd30], 1;
        red.global.max.u32 [%rd30+4], %r31;
        and.b32 %r2, %r31, 1;
        mul.wide.u32 %rd3, %r2, 4;
        add.s64 %rd4, %rd30, %rd3;
        atom.global.inc.u32 %r4, [%rd4+8], 6;
    """
    result, (totals,) = simulate(kernel(body), [zeros(4)], grid=count // 20, block=20)
    assert result.error is None
    assert totals.tolist() == [count, count - 1, count // 2 % 7, count // 2 % 7]


@pytest.mark.parametrize(
    ("schedule", "turns"), [("lockstep", [0, 1, 2, 3, 4, 5]), ("adversarial", [5, 4, 3, 2, 1, 0])]
)
def test_the_lanes_of_a_warp_count_forwards_or_backwards(schedule: str, turns: list[int]) -> None:
    body = "atom.global.add.u32 %r1, [%rd30+24], 1;" + STORE.format("%r1")
    result, (got,) = simulate(kernel(body), [zeros(7)], grid=1, block=6, schedule=schedule)
    assert result.error is None
    assert got.tolist() == [*turns, 6]


def test_mbarriers_order_threads() -> None:
    body = """
        .shared .align 8 .b8 bar[8];
        .shared .align 4 .b8 cell[4];
        mov.b32 %r1, bar;
        mov.b32 %r2, cell;
        setp.ne.s32 %p1, %r30, 0;
        @%p1 bra READY;
        mbarrier.init.shared.b64 [%r1], 64;
    READY:
        bar.sync 0;
        setp.ne.s32 %p2, %r30, 63;
        @%p2 bra ARRIVE;
        st.shared.b32 [%r2], 99;
    ARRIVE:
        mbarrier.arrive.shared.b64 %rd5, [%r1];
    WAIT:
        mbarrier.test_wait.shared.b64 %p3, [%r1], %rd5;
        @!%p3 bra WAIT;
        ld.shared.b32 %r3, [%r2];
    """
    result, (got,) = simulate(kernel(body + STORE.format("%r3")), [zeros(64)], block=64)
    assert result.error is None
    assert got.tolist() == [99] * 64


@pytest.mark.parametrize(
    "action",
    [
        "arrive.expect_tx.shared.b64 %rd5, [%r1], 256",
        "arrive.shared.b64 %rd5, [%r1], 4000000000",
        "arrive_drop.shared.b64 %rd5, [%r1], 3",
        "expect_tx.relaxed.cta.shared::cta.b64 [%r1], 4000000000",
    ],
)
def test_an_mbarrier_that_gets_more_than_it_expects_does_not_complete(action: str) -> None:
    body = f"""
        .shared .align 8 .b8 bar[8];
        mov.b32 %r1, bar;
        setp.ne.s32 %p1, %r30, 0;
        @%p1 bra READY;
        mbarrier.init.shared.b64 [%r1], 1;
    READY:
        bar.sync 0;
        mbarrier.{action};
    WAIT:
        mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0;
        @!%p2 bra WAIT;
    """
    result, _ = simulate(kernel(body), [zeros(64)], block=64)
    assert result.error is not None
    assert result.error.kind is FaultKind.DEADLOCK


@pytest.mark.parametrize(
    ("counted", "even", "odd"),
    [
        ("", 16, 16),
        (", 8", 8, 8),
        (", 0", 0, 0),
        (", 6", 6, 6),
        (", %r8", 3, 4),
        (", %p1", 16, 0),  # a predicate says that the source is to be ignored
        (", !%p1", 0, 16),
    ],
)
def test_a_copy_to_shared_memory_fills_the_rest_with_zeros(counted: str, even: int, odd: int) -> None:
    body = """
        .shared .align 16 .b8 tile[512];
        mov.b32 %r1, tile;
        shl.b32 %r2, %r30, 4;
        add.s32 %r3, %r1, %r2;
        and.b32 %r8, %r30, 1;
        setp.ne.s32 %p1, %r8, 0;
        add.s32 %r8, %r8, 3;
        mul.wide.u32 %rd1, %r30, 16;
        add.s64 %rd2, %rd31, %rd1;
        cp.async.cg.shared.global [%r3], [%rd2], 16COUNTED;
        cp.async.commit_group;
        cp.async.wait_group 0;
        ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [%r3];
        add.s64 %rd3, %rd30, %rd1;
        st.global.v4.b32 [%rd3], {%r4, %r5, %r6, %r7};
    """
    source = np.arange(1, 129, dtype=np.uint8)
    checks = make_checks(list(Check))
    text = kernel(body.replace("COUNTED", counted), 2)
    result, (got, _) = simulate(text, [zeros(32), source], block=8, hooks=checks)
    assert result.error is None
    assert [
        finding for check in checks for finding in check.findings if finding.check != "initialisation"
    ] == []
    want = source.reshape(8, 16).copy()
    want[::2, even:] = want[1::2, odd:] = 0
    np.testing.assert_array_equal(got.view(np.uint8).reshape(8, 16), want)


@pytest.mark.parametrize(
    "text", ["tcgen05.fence::before_thread_sync;", "add.rn.s32 %r1, %r2, %r3;", "frobnicate.b32 %r1;"]
)
def test_an_unknown_instruction_is_named_with_its_line(text: str) -> None:
    name = text.rstrip(";").split(" ", 1)[0]
    with pytest.raises(PtxError, match=name.replace(".", r"\.")) as caught:
        simulate(kernel(f".loc 1 12 3\n{text}", before='.file 1 "a.mojo"'), [zeros(1)])
    assert "a.mojo:12:3" in str(caught.value)
    assert caught.value.line > 10
    assert "never guesses" in str(caught.value)


def test_a_clock_goes_on() -> None:
    body = """
        mov.u64 %rd5, %clock64;
    WAIT:
        mov.u64 %rd6, %clock64;
        sub.s64 %rd7, %rd6, %rd5;
        setp.lt.u64 %p1, %rd7, 1000;
        @%p1 bra WAIT;
    """
    result, _ = simulate(kernel(body), [zeros(1)])
    assert result.error is None
    assert result.instructions > 1000


def test_an_unknown_special_register_is_named() -> None:
    with pytest.raises(PtxError, match="%pm0"):
        simulate(kernel("mov.u32 %r1, %pm0;"), [zeros(1)])


def test_memory_separates_allocations_and_keeps_freed_ones() -> None:
    memory = DeviceMemory(np.zeros(4096, np.uint8), 0x1000)
    first, second = memory.allocate(10, "a"), memory.allocate(300, "b")
    assert first % 256 == second % 256 == 0
    assert second - (first + 10) >= 256
    assert memory.view(first, 8).view(np.uint32).tolist() == [0x7FC0DEAD] * 2
    near = memory.find(first + 12)
    assert near is not None
    assert near.label == "a"
    memory.free(first)
    assert memory.allocate(10, "c") > second
    gone = memory.containing(first)
    assert gone is not None
    assert not gone.live
    with pytest.raises(KeyError):
        memory.free(first)
    with pytest.raises(OutOfDeviceMemory):
        memory.allocate(100_000)


class Watcher(Hook):
    """Records its events, and raises at the chosen one."""

    def __init__(self, breaks_at: str = "") -> None:
        self.events: list[str] = []
        self.breaks_at = breaks_at
        self.context: LaunchContext | None = None

    def _record(self, event: str) -> None:
        self.events.append(event)
        if event == self.breaks_at:
            raise RuntimeError(event)

    def launch_begin(self, context: LaunchContext) -> None:
        self.context = context
        self._record("begin")

    def access(self, access: Access) -> None:
        self._record("access")

    def launch_end(self, context: LaunchContext) -> None:
        self._record("end")

    def parameter_blocks(self) -> list[bool]:
        """Whether each parameter block of the launch is still allocated."""
        assert self.context is not None
        return [a.live for a in self.context.memory if a.label.startswith("parameters of")]


PARAMETER_ADDRESS = "mov.b64 %rd1, p0;\ncvta.param.u64 %rd1, %rd1;\nld.b64 %rd2, [%rd1];\n"
"""A kernel that takes the address of its parameter, so that the launch needs memory for it."""


@pytest.mark.parametrize("body", ["", "trap;", "mov.b64 %rd3, 8;\nst.global.b32 [%rd3], %r30;"])
def test_a_launch_leaves_nothing_allocated_however_it_ends(body: str) -> None:
    watcher = Watcher()
    result, _ = simulate(kernel(PARAMETER_ADDRESS + body), [zeros(1)], hooks=[watcher])
    assert (result.error is None) == (body == "")
    assert watcher.events[-1] == "end"
    assert watcher.parameter_blocks() == [False]


@pytest.mark.parametrize("breaks_at", ["begin", "access"])
def test_a_hook_that_breaks_keeps_no_other_one_from_its_end(breaks_at: str) -> None:
    first, second = Watcher(), Watcher(breaks_at)
    text = kernel(PARAMETER_ADDRESS + STORE.format("%r30"))
    with pytest.raises(RuntimeError, match=breaks_at):
        simulate(text, [zeros(32)], hooks=[first, second])
    assert first.events[-1] == "end"
    assert first.parameter_blocks() == [False]


@pytest.mark.parametrize(
    "form",
    [
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1];",
        "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r2};",
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%r2, %r3, %r4, %r5}, {%r6, %r7, %r8, %r9}, {%r10, %r11}, {%r2, %r3, %r4, %r5};",
    ],
)
@pytest.mark.parametrize(("block", "threads"), [(32, 24), (40, 40), (64, 48), (64, 0)])
def test_matrices_want_whole_warps(form: str, block: int, threads: int) -> None:
    body = f"mov.u32 %r1, 0;\nsetp.ge.u32 %p1, %r30, {threads};\n@%p1 bra END;\n{form}\nEND:"
    text = kernel(body, before=".shared .align 16 .b8 rows[256];")
    result, _ = simulate(text, [zeros(1)], block=block)
    if threads == 0:
        assert result.error is None
        return
    assert result.error is not None
    assert result.error.kind is FaultKind.ILLEGAL_INSTRUCTION
    assert "without all 32 lanes" in result.error.what


@pytest.mark.parametrize(
    ("form", "others"),
    [
        ("activemask.b32 %r1;", 0xFF),
        ("isspacep.global %p2, %rd30;\n@%p2 mov.b32 %r1, 255;", 0xFF),
        ("mapa.shared::cluster.u32 %r1, %r2, 0;", 1 << 24),
        ("getctarank.shared::cluster.u32 %r1, %r2;", 0),
    ],
)
def test_lanes_that_the_guard_holds_back_keep_their_registers(form: str, others: int) -> None:
    body = "mov.b32 %r2, 0;\nmov.b32 %r1, 77;\nsetp.lt.u32 %p1, %r30, 8;\nmov.pred %p2, 0;\n@%p1 " + form
    result, (got,) = simulate(kernel(body + "\n" + STORE.format("%r1")), [zeros(32)])
    assert result.error is None
    assert got.tolist() == [others] * 8 + [77] * 24


def test_only_lanes_that_the_guard_lets_through_print() -> None:
    before = (
        ".extern .func (.param .b32 func_retval0) vprintf(.param .b64 a, .param .b64 b);\n"
        ".global .align 1 .b8 text[3] = {88, 10, 0};"
    )
    body = """
        .param .b64 p0;
        .param .b64 p1;
        .param .b32 r0;
        mov.b64 %rd1, text;
        cvta.global.u64 %rd1, %rd1;
        st.param.b64 [p0], %rd1;
        st.param.b64 [p1], 0;
        setp.lt.u32 %p1, %r30, 3;
        @%p1 call.uni (r0), vprintf, (p0, p1);
    """
    printed: list[bytes] = []
    result, _ = simulate(kernel(body, before=before), [zeros(1)], stdout=printed.append)
    assert result.error is None
    assert b"".join(printed) == b"X\n" * 3


def test_a_fence_of_some_lanes_is_reported_for_those() -> None:
    class Fences(Hook):
        def __init__(self) -> None:
            self.threads: list[list[int]] = []

        def fence(self, threads: Any, instruction: Any) -> None:
            self.threads.append(threads.tolist())

    fences = Fences()
    body = "setp.lt.u32 %p1, %r30, 3;\n@%p1 membar.gl;\nsetp.lt.u32 %p1, %r30, 0;\n@%p1 membar.gl;"
    simulate(kernel(body), [zeros(1)], hooks=[fences])
    assert fences.threads == [[0, 1, 2]]


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("end", ["", "END:", "ret;", "exit;", "setp.lt.u32 %p1, %r30, 9;\n@%p1 ret;\nEND:"])
def test_a_kernel_whose_text_ends_is_over(end: str, schedule: str) -> None:
    text = kernel(STORE.format("5") + end).replace("\nret;\n}", "\n}")
    result, (got,) = simulate(text, [zeros(40)], block=40, schedule=schedule)
    assert result.error is None
    assert got.tolist() == [5] * 40


@pytest.mark.parametrize("checks", [(), tuple(Check)])
def test_lanes_at_adjacent_elements_of_their_own_arrays_do_not_race(checks: tuple[Check, ...]) -> None:
    body = """
        .local .align 4 .b8 own[32];
        mov.u64 %rd1, own;
        mul.wide.u32 %rd2, %r30, 4;
        add.s64 %rd3, %rd1, %rd2;
        xor.b64 %rd4, %rd3, 4;
        add.u32 %r1, %r30, 100;
        st.local.b32 [%rd3], %r1;
        st.local.b32 [%rd4], 0;
        ld.local.b32 %r2, [%rd3];
    """
    text = kernel(body + STORE.format("%r2"))
    _, (got,) = simulate(text, [zeros(8)], block=8, hooks=make_checks(checks))
    assert got.tolist() == list(range(100, 108))
