"""Tensor copies, and asynchronous stores and reductions that complete on an mbarrier."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.simulator.simulate import BASE, HEAD, REGISTERS, kernel, simulate
from tooling.simulator.gpu.launch import FaultKind
from tooling.simulator.nvidia.instructions.tensor_maps import LAYOUT, MAGIC, TensorMap
from tooling.simulator.nvidia.ptx.reader import PtxError

ADDRESS = BASE
"""The device address of the first array of `simulate`."""


def tensor_map(  # the numbers that cuTensorMapEncodeTiled takes
    extents: tuple[int, ...],
    box: tuple[int, ...],
    *,
    kind: int = 7,
    size: int = 4,
    steps: tuple[int, ...] = (1, 1, 1, 1, 1),
    swizzle: int = 0,
    fill: int = 0,
    row: int | None = None,
) -> bytes:
    """A map of a tensor at `ADDRESS`, dense or with rows that are `row` elements apart."""
    strides = [size * int(np.prod((row or extents[0], *extents[1 : k + 1]))) for k in range(4)]
    packed = LAYOUT.pack(
        MAGIC,
        ADDRESS,
        *(n - 1 for n in (*extents, 1, 1, 1, 1)[:5]),
        *(*box, 1, 1, 1, 1)[:5],
        len(extents),
        kind,
        *strides,
        *steps,
        swizzle,
        0,
        fill,
        *([0] * 9),
    )
    return packed.ljust(128, b"\0")


def program(body: str, shared: int = 4096) -> str:
    """A kernel with pointers in %rd30 and %rd31 and a tensor map; %rd1 holds the map's generic address."""
    names = ".param .u64 p0, .param .u64 p1, .param .align 16 .b8 map[128]"
    return f"""{HEAD}.visible .entry k({names})
{{{REGISTERS}
    .shared .align 1024 .b8 tile[{shared}]; .shared .align 8 .b64 bar;
    ld.param.b64 %rd30, [p0]; ld.param.b64 %rd31, [p1];
    mov.u32 %r30, %tid.x; setp.eq.u32 %p1, %r30, 0;
    mov.b64 %rd2, map; cvta.param.u64 %rd1, %rd2;
    {body}
    ret;
}}
"""


LOAD = """
    @!%p1 bra WAIT;
    mbarrier.init.shared.b64 [bar], 1;
    mbarrier.arrive.expect_tx.shared.b64 _, [bar], {bytes};
    cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
        [tile], [%rd1, {{{at}}}], [bar];
WAIT: bar.sync 0;
AGAIN: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;
    @!%p2 bra AGAIN;
    mov.b32 %r1, tile; mad.lo.u32 %r1, %r30, 4, %r1; ld.shared.b32 %r2, [%r1];
    mul.wide.u32 %rd3, %r30, 4; add.s64 %rd3, %rd3, %rd31; st.global.b32 [%rd3], %r2;
"""


def loaded(encoded: bytes, at: tuple[int, ...], count: int, tensor: NDArray[Any]) -> NDArray[np.float32]:
    text = program(LOAD.format(bytes=count * 4, rank=len(at), at=", ".join(map(str, at))))
    result, (_, out) = simulate(text, [tensor, np.zeros(count, np.float32)], block=count, extra=encoded)
    assert result.error is None, result.error
    return np.asarray(out, np.float32)


@pytest.mark.parametrize("at", [(0, 0), (4, 2), (-4, -1), (28, 6), (40, 9)])
@pytest.mark.parametrize("fill", [0, 1])
def test_a_box_is_loaded_and_elements_outside_the_tensor_are_filled(at: tuple[int, int], fill: int) -> None:
    tensor = np.arange(8 * 32, dtype=np.float32).reshape(8, 32)
    padded = np.full((30, 100), np.nan if fill else 0, np.float32)
    padded[10:18, 40:72] = tensor
    want = padded[10 + at[1] : 14 + at[1], 40 + at[0] : 56 + at[0]]
    got = loaded(tensor_map((32, 8), (16, 4), fill=fill), at, 64, tensor)
    np.testing.assert_array_equal(got.reshape(4, 16), want)


def test_a_box_of_three_dimensions_with_steps() -> None:
    """The step of the innermost dimension is ignored."""
    tensor = np.arange(3 * 6 * 16, dtype=np.float32).reshape(3, 6, 16)
    got = loaded(tensor_map((16, 6, 3), (16, 4, 2), steps=(2, 3, 1, 1, 1)), (0, 1, 1), 64, tensor)
    np.testing.assert_array_equal(got.reshape(2, 2, 16), tensor[1:3, 1:5:3])


@pytest.mark.parametrize(("swizzle", "width"), [(1, 8), (2, 16), (3, 32)])
def test_pieces_of_16_bytes_are_swizzled(swizzle: int, width: int) -> None:
    rows = 256 // width
    tensor = np.arange(rows * width, dtype=np.float32).reshape(rows, width)
    got = loaded(tensor_map((width, rows), (width, rows), swizzle=swizzle), (0, 0), 256, tensor)
    want = np.empty(256, np.float32)
    for index in range(256):
        piece = index // 4
        moved = piece ^ (piece // 8 & (1 << swizzle) - 1)
        want[moved * 4 + index % 4] = tensor.reshape(-1)[index]
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("operation", ["", "add", "min"])
def test_a_box_is_stored_or_reduced_only_inside_the_tensor(operation: str) -> None:
    copy = f"cp.reduce.async.bulk.tensor.2d.global.shared::cta.{operation}.tile.bulk_group"
    if not operation:
        copy = "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group"
    body = f"""
    mov.b32 %r1, tile; mad.lo.u32 %r1, %r30, 4, %r1; st.shared.b32 [%r1], %r30;
    fence.proxy.async.shared::cta; bar.sync 0; @!%p1 bra END;
    {copy} [%rd1, {{28, 6}}], [tile];
    cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
END:"""
    tensor = np.full((8, 32), 20, np.uint32)
    encoded = tensor_map((32, 8), (8, 4), kind=2)
    result, (got, _) = simulate(program(body), [tensor, np.zeros(1, np.uint32)], block=32, extra=encoded)
    assert result.error is None, result.error
    box = np.arange(32, dtype=np.uint32).reshape(4, 8)[:2, :4]
    want = tensor.copy()
    want[6:, 28:] = {"": box, "add": 20 + box, "min": np.minimum(20, box)}[operation]
    np.testing.assert_array_equal(got, want)


def test_a_store_fills_the_piece_of_16_bytes_in_which_the_tensor_ends() -> None:
    # As an H200 does: rows of 29 elements, 32 apart, end within a piece.
    body = """
    mov.b32 %r1, tile; mad.lo.u32 %r1, %r30, 4, %r1; st.shared.b32 [%r1], %r30;
    fence.proxy.async.shared::cta; bar.sync 0; @!%p1 bra END;
    cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {24, 6}], [tile];
    cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
END:"""
    tensor = np.full((8, 32), 99, np.uint32)
    encoded = tensor_map((29, 8), (8, 4), kind=2, row=32)
    result, (got, _) = simulate(program(body), [tensor, np.zeros(1, np.uint32)], block=32, extra=encoded)
    assert result.error is None, result.error
    want = tensor.copy()
    want[6:, 24:] = np.arange(32, dtype=np.uint32).reshape(4, 8)[:2]
    np.testing.assert_array_equal(got, want)


MULTICAST = """
    mbarrier.init.shared.b64 [bar], 1;
    mbarrier.arrive.expect_tx.shared.b64 _, [bar], 32;
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
    mov.u32 %r1, %cluster_ctarank; setp.eq.u32 %p1, %r1, 0; mov.b16 %rs1, 3; @!%p1 bra WAIT;
    cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
        [tile], [%rd1, {8}], [bar], %rs1;
WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra WAIT;
    ld.shared.b32 %r2, [tile+4]; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd3, %rd3, %rd31;
    st.global.b32 [%rd3], %r2;
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"""


def test_a_multicast_copy_reaches_every_block_named() -> None:
    tensor = np.arange(32, dtype=np.float32)
    out = np.zeros(2, np.float32)
    result, (_, got) = simulate(
        program(MULTICAST), [tensor, out], grid=2, block=1, cluster=2, extra=tensor_map((32,), (8,))
    )
    assert result.error is None, result.error
    assert got.tolist() == [9, 9]


def test_an_invalid_tensor_map_is_reported() -> None:
    text = program(LOAD.format(bytes=64, rank=1, at="0"))
    result, _ = simulate(text, [np.zeros(16, np.float32)] * 2, block=16, extra=bytes(128))
    assert result.error is not None
    assert result.error.kind is FaultKind.ILLEGAL_ADDRESS
    assert "no valid tensor map at 0x" in result.error.what
    assert "cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col" in result.error.what
    assert "nvvm.grid_constant" in result.error.what


@pytest.mark.parametrize(
    "form",
    [
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes"
        " [tile], [%rd1, {0, 0, 0}], [bar], {%rs1};",
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
        " [tile], [%rd1, {0, 0, 0}], [bar], {%rs1, %rs2};",
        "cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group [%rd1, {0, 0, 0}], [tile];",
    ],
)
def test_unsupported_modes_stop_with_their_name(form: str) -> None:
    with pytest.raises(PtxError, match=r"cannot execute `cp\..*bulk"):
        simulate(program(form), [np.zeros(1)] * 2, block=1)


def test_only_a_tensor_map_is_unpacked() -> None:
    assert TensorMap.unpack(bytes(128)) is None
    whole = TensorMap.unpack(tensor_map((32, 8), (16, 4), swizzle=2))
    assert whole is not None
    assert (whole.bytes, whole.strides, whole.swizzle) == (256, (4, 128), 3)


def test_parameters_are_read_at_computed_addresses() -> None:
    body = """
    mov.b32 %r1, map; mad.lo.u32 %r1, %r30, 2, %r1; ld.param.u8 %r2, [%r1+1];
    mul.wide.u32 %rd4, %r30, 2; add.s64 %rd4, %rd1, %rd4; ld.u8 %r3, [%rd4]; mad.lo.u32 %r2, %r3, 256, %r2;
    mul.wide.u32 %rd3, %r30, 4; add.s64 %rd3, %rd3, %rd31; st.global.b32 [%rd3], %r2;"""
    extra = bytes(range(100, 228))
    result, (_, got) = simulate(
        program(body), [np.zeros(1, np.uint32), np.zeros(64, np.uint32)], block=64, extra=extra
    )
    assert result.error is None, result.error
    assert got.tolist() == [extra[2 * k] * 256 + extra[2 * k + 1] for k in range(64)]


def test_an_inactive_lane_may_have_any_parameter_address() -> None:
    body = """
    mov.b32 %r1, map; mad.lo.u32 %r1, %r30, 4, %r1; mov.b32 %r2, 0; mov.b32 %r3, 0;
    setp.lt.u32 %p1, %r30, 32; @%p1 ld.param.v2.u8 {%r2, %r3}, [%r1]; mad.lo.u32 %r2, %r2, 256, %r3;
    mul.wide.u32 %rd3, %r30, 4; add.s64 %rd3, %rd3, %rd31; st.global.b32 [%rd3], %r2;"""
    extra = bytes(range(100, 228))
    result, (_, got) = simulate(
        program(body), [np.zeros(1, np.uint32), np.zeros(64, np.uint32)], block=64, extra=extra
    )
    assert result.error is None, result.error
    assert got.tolist() == [extra[4 * k] * 256 + extra[4 * k + 1] for k in range(32)] + [0] * 32


ASYNC = """
    .shared .align 8 .b64 bar; .shared .align 16 .b8 cell[1024];
    mov.u32 %r1, %cluster_ctarank; mov.b32 %r2, cell; mov.b32 %r3, bar; setp.eq.u32 %p1, %r30, 0;
    mad.lo.u32 %r4, %r30, 16, %r2; mov.b32 %r9, 5; st.shared.v4.b32 [%r4], {{%r9, %r9, %r9, %r9}};
    @%p1 mbarrier.init.shared.b64 [bar], 1;
    @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], {bytes};
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
    xor.b32 %r5, %r1, 1; mapa.shared::cluster.u32 %r6, %r4, %r5; mapa.shared::cluster.u32 %r7, %r3, %r5;
    mad.lo.u32 %r8, %r1, 100, %r30;
    {action}
WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra WAIT;
    ld.shared.b32 %r10, [%r4+{offset}]; mul.wide.u32 %rd1, %r31, 4; add.s64 %rd1, %rd1, %rd30;
    st.global.b32 [%rd1], %r10;
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
"""


GENERIC = (
    "cvt.u64.u32 %rd5, %r6; cvta.shared::cluster.u64 %rd5, %rd5;"
    " cvt.u64.u32 %rd6, %r7; cvta.shared::cluster.u64 %rd6, %rd6;"
)
"""Generic addresses of the cell and of the mbarrier."""


@pytest.mark.parametrize(
    ("action", "size", "offset", "base"),
    [
        ("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r6], %r8, [%r7];", 4, 0, 0),
        (
            "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32"
            " [%r6], {%r1, %r8, %r1, %r1}, [%r7];",
            16,
            4,
            0,
        ),
        (
            "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32"
            " [%r6], %r8, [%r7];",
            4,
            0,
            5,
        ),
        (f"{GENERIC} st.async.mbarrier::complete_tx::bytes.v2.b32 [%rd5], {{%r1, %r8}}, [%rd6];", 8, 4, 0),
        (
            f"{GENERIC} red.async.relaxed.cluster.mbarrier::complete_tx::bytes.add.s32 [%rd5], %r8, [%rd6];",
            4,
            0,
            5,
        ),
    ],
)
@pytest.mark.parametrize("schedule", ["lockstep", "random:2", "adversarial"])
def test_stores_and_reductions_complete_on_the_mbarrier_of_the_other_block(
    action: str, size: int, offset: int, base: int, schedule: str
) -> None:
    text = kernel(ASYNC.format(bytes=32 * size, action=action, offset=offset))
    out = np.zeros(64, np.uint32)
    result, (got,) = simulate(text, [out], grid=2, block=32, cluster=2, schedule=schedule)
    assert result.error is None, result.error
    assert got.tolist() == [base + 100 + k for k in range(32)] + [base + k for k in range(32)]


def test_only_stores_and_reductions_are_asynchronous() -> None:
    action = (
        "atom.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r6], %r8, [%r7];"
    )
    with pytest.raises(PtxError, match=r"cannot execute `atom\.async"):
        simulate(
            kernel(ASYNC.format(bytes=128, action=action, offset=0)), [np.zeros(64, np.uint32)], cluster=2
        )


def test_vector_atomics_are_one_atomic_per_element() -> None:
    body = """
    cvt.rn.f32.u32 %r1, %r30; mov.b32 %r2, 0f3F800000;
    atom.global.add.v2.f32 {%r3, %r4}, [%rd30], {%r1, %r2};
    red.global.add.v4.f32 [%rd30+16], {%r1, %r2, %r2, %r1};
    mul.wide.u32 %rd1, %r30, 4; add.s64 %rd1, %rd1, %rd31; st.global.b32 [%rd1], %r4;"""
    sums, before = np.zeros(8, np.float32), np.zeros(32, np.float32)
    result, (sums, before) = simulate(kernel(body, 2), [sums, before])
    assert result.error is None, result.error
    assert sums.tolist() == [496, 32, 0, 0, 496, 32, 32, 496]
    assert sorted(before.tolist()) == list(range(32))


@pytest.mark.parametrize(("name", "want"), [("min", (-8, -8)), ("max", (31, 5))])
def test_vector_atomics_of_halves(name: str, want: tuple[int, int]) -> None:
    body = f"""
    add.s32 %r1, %r30, 0; cvt.rn.f16.s32 %rs1, %r1; mov.b16 %rs2, {0xC800 if name == "min" else 0x3C00};
    red.global.{name}.noftz.v2.f16 [%rd30], {{%rs1, %rs2}};"""
    start = np.array([-8, 5], np.float16)
    result, (got,) = simulate(kernel(body), [start])
    assert result.error is None, result.error
    assert got.tolist() == list(want)


@pytest.mark.parametrize(
    "form", ["shared.add.v2.f32", "global.min.v2.f32", "global.add.v4.f64", "global.add.v8.f32"]
)
def test_invalid_vector_atomics_are_rejected(form: str) -> None:
    count = int(form.split(".")[2][1])
    listed = ", ".join(["%r1"] * count)
    with pytest.raises(PtxError, match="cannot execute `red"):
        simulate(kernel(f"red.{form} [%rd30], {{{listed}}};"), [np.zeros(8)])


def test_a_label_inside_braces_belongs_to_them() -> None:
    once = "{ .reg .pred P; setp.ne.b32 P, %r1, 0; @P bra DONE; add.s32 %r2, %r2, 1; DONE: }\n"
    body = (
        "mov.b32 %r2, 0; mov.b32 %r1, 0;" + once + "mov.b32 %r1, 1;" + once + "mov.b32 %r1, 0;" + once
    ) + "st.global.b32 [%rd30], %r2;"
    result, (got,) = simulate(kernel(body), [np.zeros(1, np.uint32)], block=1)
    assert result.error is None
    assert got.tolist() == [2]


def test_the_layout_of_a_map_is_that_of_the_driver() -> None:
    assert struct.calcsize("<QQ5I5HBB4Q5BBBB") == 88
    assert LAYOUT.size == 88 + 17 <= 128
