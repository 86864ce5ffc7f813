"""Forms of bulk copies and vector atomics: to several blocks, with a reduction, in either order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.simulator.simulate import kernel, simulate
from tooling.simulator.checks.findings import Check
from tooling.simulator.checks.suite import make_checks
from tooling.simulator.nvidia.ptx.errors import PtxError

SHARED = ".shared .align 128 .b8 room[256];\n.shared .align 8 .b8 gate[8];"

MULTICAST = """
    mov.b32 %r1, gate;
    mov.b32 %r2, room;
    mov.u32 %r4, %cluster_ctarank;
    mbarrier.init.shared.b64 [%r1], 1;
    mbarrier.arrive.expect_tx.shared.b64 %rd9, [%r1], 64;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    setp.ne.b32 %p1, %r4, 1;
    mov.b16 %rs1, {mask};
    @%p1 bra WAIT;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster{hint}
        [%r2+128], [%rd30], 64, [%r1], %rs1{policy};
WAIT:
    shr.u32 %r5, {mask}, %r4;
    and.b32 %r5, %r5, 1;
    setp.eq.b32 %p3, %r5, 0;
    @%p3 bra END;
ASK:
    mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0;
    @!%p2 bra ASK;
    ld.shared.b32 %r3, [%r2+132];
    mul.wide.u32 %rd3, %r4, 4;
    add.s64 %rd4, %rd31, %rd3;
    st.global.b32 [%rd4], %r3;
END:
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
"""
"""Block 1 of a cluster of four copies 64 bytes to some of its blocks; each of these reads its own copy."""


@pytest.mark.parametrize("schedule", ["lockstep", "random:1", "adversarial"])
@pytest.mark.parametrize(("mask", "hint"), [(0b1111, ""), (0b0101, ""), (0b1001, ".L2::cache_hint")])
def test_a_bulk_copy_reaches_every_block_of_its_mask(mask: int, hint: str, schedule: str) -> None:
    body = MULTICAST.format(mask=mask, hint=hint, policy=", %rd20" if hint else "")
    if hint:
        body = f"createpolicy.fractional.L2::evict_first.b64 %rd20;\n{body}"
    checks = make_checks(list(Check))
    source = np.arange(16, dtype=np.uint32) + 7
    text = kernel(body, parameters=2, before=SHARED)
    arrays = [source, np.zeros(4, np.uint32)]
    result, (_, out) = simulate(text, arrays, grid=4, cluster=4, block=1, hooks=checks, schedule=schedule)
    assert result.error is None, result.error
    assert out.tolist() == [8 if mask >> rank & 1 else 0 for rank in range(4)]
    assert [finding.kind for check in checks for finding in check.findings] == []


REDUCE = """
    mov.b32 %r2, room;
    shl.b32 %r3, %r30, 2;
    add.s32 %r4, %r2, %r3;
    cvt.u64.u32 %rd1, %r3;
    add.s64 %rd2, %rd31, %rd1;
    ld.global.b32 %r5, [%rd2];
    st.shared.b32 [%r4], %r5;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    setp.ne.b32 %p1, %r30, 0;
    @%p1 bra END;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.{operation} [%rd30], [%r2], 128;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
END:
"""
"""The first of 32 threads reduces 128 bytes of shared memory into global memory."""


@pytest.mark.parametrize(
    ("operation", "before", "given", "expected"),
    [
        ("add.f32", np.float32(1.5), np.arange(32, dtype=np.float32), np.arange(32) + np.float32(1.5)),
        ("add.u32", np.uint32(5), np.arange(32, dtype=np.uint32), np.arange(32) + 5),
        ("max.s32", np.int32(3), np.arange(32, dtype=np.int32) - 9, np.maximum(np.arange(32) - 9, 3)),
        ("xor.b32", np.uint32(6), np.arange(32, dtype=np.uint32), np.arange(32) ^ 6),
        ("inc.u32", np.uint32(2), np.full(32, 2, np.uint32), np.zeros(32)),
        ("min.u64", np.uint64(9), np.arange(16, dtype=np.uint64), np.minimum(np.arange(16), 9)),
        ("add.noftz.f16", np.float16(2), np.arange(64, dtype=np.float16), np.arange(64) + np.float16(2)),
    ],
)
def test_a_bulk_copy_reduces_into_global_memory(
    operation: str, before: Any, given: NDArray[Any], expected: NDArray[Any]
) -> None:
    checks = make_checks(list(Check))
    text = kernel(REDUCE.format(operation=operation), parameters=2, before=SHARED)
    target = np.full(len(given), before)
    result, (after, _) = simulate(text, [target, given], block=32, hooks=checks)
    assert result.error is None, result.error
    assert after.tolist() == expected.astype(given.dtype).tolist()
    assert [finding.kind for check in checks for finding in check.findings] == []


@pytest.mark.parametrize(
    "form",
    [
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f16 [%rd30], [%r2], 16;",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.inc.s32 [%rd30], [%r2], 16;",
        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.f32"
        " [%r2], [%r2], 16, [%r1];",
        "cp.async.bulk.global.shared::cta.bulk_group.multicast::cluster [%rd30], [%r2], 16;",
    ],
)
def test_forms_that_the_assembler_refuses_are_refused(form: str) -> None:
    text = kernel(f"mov.b32 %r1, gate; mov.b32 %r2, room;\n{form}", before=SHARED)
    with pytest.raises(PtxError):
        simulate(text, [np.zeros(4, np.uint32)], block=1)


@pytest.mark.parametrize(
    "form",
    [
        "red.global.add.v4.f32 [%rd30], {%r1, %r2, %r3, %r4};",
        "red.global.v4.f32.add [%rd30], {%r1, %r2, %r3, %r4};",
        "red.relaxed.gpu.global.v4.f32.add [%rd30], {%r1, %r2, %r3, %r4};",
        "atom.global.v4.f32.add {%r5, %r6, %r7, %r8}, [%rd30], {%r1, %r2, %r3, %r4};",
    ],
)
def test_a_vector_operation_has_its_operation_before_or_after_the_type(form: str) -> None:
    values = "".join(f"mov.b32 %r{n}, {np.float32(n).view(np.uint32):#x};\n" for n in (1, 2, 3, 4))
    result, (out,) = simulate(kernel(f"{values}{form}"), [np.ones(4, np.float32)], block=2)
    assert result.error is None, result.error
    assert out.tolist() == [3, 5, 7, 9]
