"""Liveness of register values: each is kept until its last possible read, and no longer."""

from __future__ import annotations

import tracemalloc

import numpy as np

from tests.simulator.simulate import kernel, simulate
from tooling.simulator.gpu.launch import Dim3

LANES = 1 << 14


def test_an_unrolled_kernel_keeps_only_the_values_that_are_still_needed() -> None:
    steps = 200
    body = [
        ".reg .f32 %v<500>;",
        "mul.wide.u32 %rd1, %r31, 4;",
        "add.s64 %rd2, %rd30, %rd1;",
        "mov.f32 %v0, 0f00000000;",
    ]
    for number in range(steps):
        body += [
            f"ld.global.f32 %v{300 + number}, [%rd2];",
            f"add.f32 %v{number + 1}, %v{number}, %v{300 + number};",
        ]
    body += [f"st.global.f32 [%rd2], %v{steps};"]
    text = kernel("\n".join(body))
    ones = np.ones(LANES, np.float32)
    simulate(text, [ones], grid=LANES // 256, block=256)  # what is made once is made now
    tracemalloc.start()
    try:
        result, (after,) = simulate(text, [ones], grid=Dim3(LANES // 256), block=256)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert result.error is None
    assert after.tolist() == [steps] * LANES
    arena = 1 << 22
    assert peak - arena < 2 * steps * 4 * LANES / 4  # all values of all lanes would be four times as much


def test_a_value_outlives_a_loop_a_branch_and_its_own_other_readers() -> None:
    text = kernel("""
        add.s32 %r1, %r31, 100;
        add.s32 %r2, %r1, 1;
        mov.b32 %r3, 0;
        mov.b32 %r4, 0;
    $loop:
        add.s32 %r3, %r3, %r2;
        add.s32 %r4, %r4, 1;
        and.b32 %r5, %r31, 3;
        setp.lt.u32 %p1, %r4, %r5;
        @%p1 bra $loop;
        setp.gt.u32 %p2, %r5, 1;
        @%p2 add.s32 %r1, %r1, 1000;
        add.s32 %r3, %r3, %r1;
        mul.wide.u32 %rd1, %r31, 4;
        add.s64 %rd2, %rd30, %rd1;
        st.global.b32 [%rd2], %r3;
    """)
    lanes = np.arange(64)
    result, (after,) = simulate(text, [np.zeros(64, np.uint32)], grid=2)
    assert result.error is None
    rounds = np.maximum(lanes % 4, 1)
    wanted = rounds * (lanes + 101) + lanes + 100 + np.where(lanes % 4 > 1, 1000, 0)
    assert after.tolist() == wanted.tolist()


def test_what_a_warpgroup_product_adds_to_outlives_the_loop_before_it() -> None:
    # B is all zeros: the product is the addend. Lanes carry it through a loop that parts them, and another
    # warpgroup is gone, so that they do not meet as the whole launch.
    text = kernel(
        """
        .reg .f32 %f<8>;
        setp.ge.u32 %p3, %r30, 128;
        @%p3 bra $done;
        mov.b32 %r1, zeros;
        shl.b32 %r2, %r30, 2;
        add.s32 %r3, %r1, %r2;
        st.shared.b32 [%r3], 0;
        bar.sync 1, 128;
        fence.proxy.async.shared::cta;
        and.b32 %r4, %r1, 0x3FFFF;
        shr.u32 %r4, %r4, 4;
        cvt.u64.u32 %rd2, %r4;
        or.b64 %rd2, %rd2, 0x0000000800080000;
        cvt.rn.f32.u32 %f0, %r30;
        mov.f32 %f1, 0f3F800000;
        mov.f32 %f2, 0f40000000;
        mov.f32 %f3, 0f40400000;
        and.b32 %r5, %r30, 3;
        mov.b32 %r6, 0;
    $again:
        add.s32 %r6, %r6, 1;
        setp.lt.u32 %p1, %r6, %r5;
        @%p1 bra $again;
        bar.sync 1, 128;
        setp.ne.b32 %p2, 1, 0;
        wgmma.fence.sync.aligned;
        wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, {%r6, %r6, %r6, %r6}, %rd2,
            %p2, 1, 1, 0;
        wgmma.commit_group.sync.aligned;
        wgmma.wait_group.sync.aligned 0;
        add.f32 %f0, %f0, %f1;
        mul.wide.u32 %rd3, %r31, 4;
        add.s64 %rd4, %rd30, %rd3;
        st.global.f32 [%rd4], %f0;
    $done:
        """,
        before=".shared .align 128 .b8 zeros[512];",
    )
    result, (after,) = simulate(text, [np.zeros(128, np.float32)], block=256)
    assert result.error is None
    assert after.tolist() == [number + 1.0 for number in range(128)]
