"""The recorder on kernels in PTX: blocks side by side, local memory, shuffles, clusters and limits."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace

from tests.replay.recorded import cells_after
from tests.simulator.simulate import kernel, simulate
from tooling.replay import assembly, recorder
from tooling.replay.assembly import make_trace, shorten
from tooling.replay.recorder import Recorder
from tooling.replay.recording import Recording
from tooling.replay.trace import Trace, numbers, unpacked

TABLE = """
    .local .align 4 .b8 table[16];
    mov.b64 %rd1, table; cvta.local.u64 %rd2, %rd1;
    and.b32 %r1, %r30, 3; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3;
    add.s32 %r2, %r31, 100;
    st.local.b32 [%rd4], %r2;
    ld.local.b32 %r3, [%rd4];
    mul.wide.u32 %rd5, %r31, 4; add.s64 %rd6, %rd30, %rd5;
    st.global.b32 [%rd6], %r3;"""
COUNTED = """
    add.s32 %r1, %r30, 1;
    atom.global.add.u32 %r2, [%rd30], %r1;
    add.s64 %rd1, %rd30, 4; atom.global.max.u32 %r2, [%rd1], %r1;"""
ROTATED = """
    add.s32 %r1, %r31, 7; add.s32 %r2, %r30, 1; and.b32 %r2, %r2, 31;
    shfl.sync.idx.b32 %r3, %r1, %r2, 31, -1;
    mul.wide.u32 %rd5, %r31, 4; add.s64 %rd6, %rd30, %rd5;
    st.global.b32 [%rd6], %r3;"""
NEXT_BLOCK = """
    .shared .align 4 .b8 own[16];
    mov.u32 %r1, own; shl.b32 %r2, %r30, 2; add.s32 %r1, %r1, %r2;
    add.s32 %r3, %r31, 50;
    st.shared.b32 [%r1], %r3;
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
    mov.u32 %r4, %cluster_ctarank; xor.b32 %r4, %r4, 1;
    mapa.shared::cluster.u32 %r5, %r1, %r4;
    ld.shared::cluster.b32 %r6, [%r5];
    mul.wide.u32 %rd5, %r31, 4; add.s64 %rd6, %rd30, %rd5;
    st.global.b32 [%rd6], %r6;
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"""


def recorded(
    text: str, blocks: list[int], grid: int = 1, block: int = 32, cluster: int = 1
) -> tuple[Trace, np.ndarray]:
    """The trace of these blocks of a kernel that stores 32-bit integers, and what it stored."""
    watching = Recorder(blocks, [])
    result, (output,) = simulate(
        text, [np.zeros(64, np.int32)], grid=grid, block=block, cluster=cluster, hooks=[watching]
    )
    assert result.error is None
    return make_trace(watching.recording), output


def as_page(trace: Trace) -> dict[str, Any]:
    """The trace as a page reads it."""
    page: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(trace))
    return page


SMALL = """
    cvt.rn.f32.u32 %r1, %r30;
    mul.rn.f32 %r2, %r1, 0f00800000;
    mov.b32 %r3, %r2;
    mul.wide.u32 %rd5, %r31, 4; add.s64 %rd6, %rd30, %rd5;
    st.global.b32 [%rd6], %r3;"""
LARGE = """
    mov.b32 %r1, 1065353216; add.s32 %r3, %r1, %r30;
    mul.wide.u32 %rd5, %r31, 4; add.s64 %rd6, %rd30, %rd5;
    st.global.b32 [%rd6], %r3;"""
IN_PHASES = """
    .shared .align 4 .b8 own[16];
    mov.u32 %r1, own; shl.b32 %r2, %r30, 2; add.s32 %r1, %r1, %r2;
    st.shared.b32 [%r1], %r30; bar.sync 0;
    ld.shared.b32 %r3, [%r1]; st.shared.b32 [%r1], %r31; bar.sync 0;
    mul.wide.u32 %rd5, %r31, 4; add.s64 %rd6, %rd30, %rd5;
    st.global.b32 [%rd6], %r3;"""


@pytest.mark.parametrize(
    ("text", "form", "values"),
    [
        # Numbers below 2**-40 as results of multiplications; integers that are 1.0 and more as bits.
        (SMALL, "f32", [0, *(float(str(np.float32(n * 2.0**-126))) for n in (1, 2, 3))]),
        (LARGE, "i32", [1065353216 + n for n in range(4)]),
    ],
)
def test_the_arithmetic_of_the_kernel_says_what_it_stores(text: str, form: str, values: list[float]) -> None:
    trace, _ = recorded(kernel(text), [0], block=4)
    (output,) = trace.buffers
    assert output.format == form
    (moves,) = [step.moves for step in trace.steps if step.kind == "line" and step.moves]
    assert list(moves[0].values) == values


PRODUCT = """
    .shared .align 128 .b8 left[2048]; .shared .align 128 .b8 right[256];
    .reg .f32 %f<5>;
    mov.u32 %r1, left; mov.u32 %r2, right; shl.b32 %r3, %r30, 2; mov.b32 %r9, 0x40403f80;
    mad.lo.u32 %r4, %r30, 16, %r1; st.shared.v4.b32 [%r4], {%r9, %r9, %r9, %r9};
    setp.lt.u32 %p2, %r30, 16; mad.lo.u32 %r5, %r30, 16, %r2;
    @%p2 st.shared.v4.b32 [%r5], {%r9, %r9, %r9, %r9};
    fence.proxy.async.shared::cta; bar.sync 0;
    mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1;
    shr.u32 %r6, %r1, 4; cvt.u64.u32 %rd1, %r6; add.s64 %rd1, %rd1, 0x1000080000;
    shr.u32 %r7, %r2, 4; cvt.u64.u32 %rd2, %r7; add.s64 %rd2, %rd2, 0x1000080000;
    setp.eq.u32 %p1, %r30, %r30; wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %p1, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
    setp.lt.u32 %p1, %r31, 64;
    mul.wide.u32 %rd5, %r31, 4; add.s64 %rd6, %rd30, %rd5;
    @%p1 st.global.b32 [%rd6], %f1;"""


def test_a_product_of_four_warps_reads_the_arrays_that_threads_have_stored() -> None:
    """Eight pairs of 1 and 3 times themselves. Each warp reads its 16 rows of A, and all of B."""
    trace, output = recorded(kernel(PRODUCT), [0], block=128)
    assert set(output.view(np.float32).tolist()) == {8 * 1 * 1 + 8 * 3 * 3}
    shared = [each for each in trace.buffers if each.space == "shared"]
    assert [(each.format, each.cells) for each in shared] == [("bf16", 1024), ("bf16", 128)]
    reads = [move for step in trace.steps for move in step.moves if move.action == "load"]
    assert [(move.buffer, move.width, len(numbers(move.threads))) for move in reads] == [
        (0, 8, 4 * 32),
        (1, 8, 4 * 16),
    ]


def test_a_long_trace_ends_at_a_barrier() -> None:
    watching = Recorder([0], [])
    simulate(kernel(IN_PHASES), [np.zeros(64, np.int32)], grid=1, block=4, hooks=[watching])
    whole = make_trace(watching.recording)
    kinds = ["line", "barrier", "line", "line", "barrier", "line", "exit", "end"]
    assert [step.kind for step in whole.steps] == kinds
    size = len(msgspec.json.encode(whole))
    shorten(watching.recording, size)
    assert make_trace(watching.recording) == whole
    shorten(watching.recording, size - 1)
    trace = make_trace(watching.recording)
    assert [step.kind for step in trace.steps] == [*kinds[:5], "end"]
    assert trace.steps_left_out == 2
    shorten(watching.recording, 0)
    assert [step.kind for step in make_trace(watching.recording).steps] == [*kinds[:2], "end"]


def test_a_long_trace_is_encoded_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    phase = IN_PHASES.splitlines()[4]
    watching = Recorder([0], [])
    text = kernel("\n".join([*IN_PHASES.splitlines()[:4], *[phase] * 40, *IN_PHASES.splitlines()[5:]]))
    simulate(text, [np.zeros(64, np.int32)], grid=1, block=4, hooks=[watching])
    recording = watching.recording
    barriers = [at + 1 for at, moment in enumerate(recording.moments) if moment.kind == "barrier"]
    assert len(barriers) == 41
    count = len(recording.moments)
    cuts = [replace(recording, moments=recording.moments[:end], left_out=count - end) for end in barriers]
    sizes = [len(msgspec.json.encode(make_trace(cut))) for cut in cuts]
    made: list[int] = []

    def counted(one: Recording) -> Trace:
        made.append(len(one.moments))
        return make_trace(one)

    monkeypatch.setattr(assembly, "make_trace", counted)
    for most in (*sizes, *(size - 1 for size in sizes)):
        made.clear()
        cut = replace(recording, moments=list(recording.moments))
        shorten(cut, most)
        fitting = [end for end, size in zip(barriers, sizes, strict=True) if size <= most]
        assert len(cut.moments) == max(fitting, default=barriers[0])
        assert cut.left_out == count - len(cut.moments)
        assert len(made) <= 7  # the whole trace, and 6 for 41 barriers


def test_local_memory_has_a_row_for_each_thread() -> None:
    trace, output = recorded(kernel(TABLE), [0, 1], grid=2, block=4)
    assert trace.positions == ((0, 0, 0), (1, 0, 0))
    local, shown = trace.buffers
    assert (local.name, local.space, local.cells, local.columns) == ("local memory", "local", 32, 4)
    assert (shown.space, shown.cells) == ("global", 64)
    cells = cells_after(as_page(trace), len(trace.steps) - 2)
    assert {cell: value for cell, value in cells[0].items() if value is not None} == {
        thread * 4 + thread % 4: 100 + thread for thread in range(8)
    }
    assert [cells[1][cell] for cell in range(8)] == output[:8].tolist() == list(range(100, 108))


def test_threads_of_several_blocks_are_numbered_in_their_order() -> None:
    trace, output = recorded(kernel(TABLE), [3, 1], grid=4, block=4)
    assert trace.positions == ((3, 0, 0), (1, 0, 0))
    (stores,) = [
        move
        for step in trace.steps[:-1]
        for move in step.moves
        if (move.action, trace.buffers[move.buffer].space) == ("store", "global")
    ]
    cells = dict(zip(numbers(stores.threads), unpacked(stores.cells), strict=True))
    assert cells == {thread: 12 + thread for thread in range(4)} | {
        4 + thread: 4 + thread for thread in range(4)
    }
    # The other blocks' stores appear at the end.
    final = cells_after(as_page(trace), len(trace.steps) - 1)
    shown = final[[each.space for each in trace.buffers].index("global")]
    assert [shown[cell] for cell in range(64)] == output.tolist()


def test_an_atomic_leaves_what_all_its_threads_did() -> None:
    trace, output = recorded(kernel(COUNTED), [0], block=4)
    moves = [move for step in trace.steps[:-1] for move in step.moves]
    assert [(move.action, move.threads, move.values) for move in moves] == [
        ("atomic", "0-3", (1, 2, 3, 4))
    ] * 2
    cells = cells_after(as_page(trace), len(trace.steps) - 2)[0]
    assert [cells[0], cells[1]] == output[:2].tolist() == [10, 4]


def test_a_shuffle_tells_who_gave_what() -> None:
    trace, output = recorded(kernel(ROTATED), [0], block=32)
    (step,) = [step for step in trace.steps if step.exchange]
    assert step.exchange is not None
    assert (step.kind, step.threads, step.exchange.threads) == ("sync", "0-31", "0-31")
    assert unpacked(step.exchange.sources) == [(lane + 1) % 32 for lane in range(32)]
    assert list(step.exchange.values) == output[:32].tolist() == [(lane + 1) % 32 + 7 for lane in range(32)]


def test_blocks_of_a_cluster_read_each_others_shared_memory() -> None:
    trace, output = recorded(kernel(NEXT_BLOCK), [0, 1], grid=2, block=4, cluster=2)
    shared = {each.block: number for number, each in enumerate(trace.buffers) if each.space == "shared"}
    assert sorted(shared) == [0, 1]
    reads = {
        move.buffer: move.threads
        for step in trace.steps
        for move in step.moves
        if move.action == "load" and move.buffer in shared.values()
    }
    assert reads == {shared[0]: "4-7", shared[1]: "0-3"}  # each block reads the other's
    kinds = [step.kind for step in trace.steps if step.kind in ("signal", "barrier")]
    assert kinds == ["signal", "barrier"] * 2
    assert output[:8].tolist() == [54, 55, 56, 57, 50, 51, 52, 53]


def test_what_is_left_out_after_the_limit_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "MOST_VALUES", 4)
    trace, output = recorded(kernel(TABLE), [0], block=4)
    moves = [move for step in trace.steps[:-1] for move in step.moves]
    assert [move.action for move in moves] == ["store"]
    assert trace.steps_left_out == 3
    assert output[:4].tolist() == [100, 101, 102, 103]
