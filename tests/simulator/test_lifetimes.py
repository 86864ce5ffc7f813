"""Values in registers: kept as long as somebody may read them, and no longer."""

from __future__ import annotations

import tracemalloc

import numpy as np

from tests.simulator.simulate import kernel, simulate
from tooling.simulator.launch import Dim3

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
