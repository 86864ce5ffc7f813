from max.algorithm import elementwise
from max.gpu import (
    WARP_SIZE,
    AddressSpace,
    barrier,
    block_dim,
    block_idx,
    lane_id,
    thread_idx,
)
from max.gpu.host import DeviceBuffer, DeviceContext, HostBuffer
from max.gpu.host.compile import get_gpu_target
from max.gpu.primitives import warp
from layout import Layout, LayoutTensor
from std.sys import simd_width_of
from std.testing import assert_equal
from std.utils.coord import Coord

from lab import choose_mode, stage, submit
from lab.benchmark import Benchmark

# ANCHOR: traditional_approach_from_p12
comptime SIZE = WARP_SIZE
comptime BLOCKS_PER_GRID = (1, 1)
# A block is one warp: 32 threads on NVIDIA and Apple, 64 on AMD's CDNA GPUs.
comptime THREADS_PER_BLOCK = (WARP_SIZE, 1)
comptime dtype = DType.float32
comptime SIMD_WIDTH = simd_width_of[dtype, target=get_gpu_target()]()
comptime in_layout = Layout.row_major(SIZE)
comptime out_layout = Layout.row_major(1)


def traditional_approach_from_p12[
    in_layout: Layout, out_layout: Layout, size: Int
](
    output: LayoutTensor[dtype, out_layout, MutAnyOrigin],
    a: LayoutTensor[dtype, in_layout, ImmutAnyOrigin],
    b: LayoutTensor[dtype, in_layout, ImmutAnyOrigin],
):
    var shared = LayoutTensor[
        dtype,
        Layout.row_major(WARP_SIZE),
        MutAnyOrigin,
        address_space=AddressSpace.SHARED,
    ].stack_allocation()
    var global_i = block_idx.x * block_dim.x + thread_idx.x
    var local_i = thread_idx.x

    if global_i < size:
        shared[local_i] = a[global_i][0] * b[global_i][0]
    else:
        shared[local_i] = 0
    barrier()

    # The halving tree of puzzle 12: all read, then all add, in every step.
    var stride = WARP_SIZE // 2
    while stride > 0:
        var upper = Scalar[dtype](0)
        if local_i < stride:
            upper = shared[local_i + stride][0]
        barrier()
        if local_i < stride:
            shared[local_i] += upper
        barrier()
        stride //= 2

    if local_i == 0:
        output[block_idx.x] = shared[0][0]


# ANCHOR_END: traditional_approach_from_p12


# ANCHOR: simple_warp_kernel
def simple_warp_kernel[
    in_layout: Layout, out_layout: Layout, size: Int
](
    output: LayoutTensor[dtype, out_layout, MutAnyOrigin],
    a: LayoutTensor[dtype, in_layout, ImmutAnyOrigin],
    b: LayoutTensor[dtype, in_layout, ImmutAnyOrigin],
):
    var global_i = block_idx.x * block_dim.x + thread_idx.x
    # FILL ME IN (about 6 lines)


# ANCHOR_END: simple_warp_kernel


# ANCHOR: functional_warp_approach
def functional_warp_approach[
    in_layout: Layout, out_layout: Layout, //
](
    output: LayoutTensor[dtype, out_layout, MutAnyOrigin],
    a: LayoutTensor[dtype, in_layout, ImmutAnyOrigin],
    b: LayoutTensor[dtype, in_layout, ImmutAnyOrigin],
    size: Int,
    ctx: DeviceContext,
) raises:
    @always_inline
    def compute[
        width: Int, alignment: Int = 1
    ](indices: Coord) capturing -> None:
        var i = Int(indices[0].value())
        # FILL ME IN (about 4 lines)

    # Width 1: one element per thread. Neighbouring elements are in neighbouring
    # lanes, so that one warp operation combines WARP_SIZE of them.
    elementwise[compute, 1, target="gpu"](size, ctx)


# ANCHOR_END: functional_warp_approach


comptime MAX_WARPS = 65536
comptime bench_in_layout = Layout.row_major(MAX_WARPS * WARP_SIZE)
comptime bench_out_layout = Layout.row_major(MAX_WARPS)


def fill_with_digits(buffer: HostBuffer[dtype], seed: UInt32):
    # A linear congruential generator: the same numbers, 0 to 99, in every run.
    var state = seed
    for i in range(len(buffer)):
        state = state * 1664525 + 1013904223
        buffer[i] = Scalar[dtype]((state >> 16) % 100)


struct Inputs(Movable):
    """Two vectors on the GPU, as long as the longest run."""

    var a: DeviceBuffer[dtype]
    var b: DeviceBuffer[dtype]

    def __init__(out self, size: Int, ctx: DeviceContext) raises:
        self.a = ctx.enqueue_create_buffer[dtype](size)
        self.a.enqueue_fill(0)
        self.b = ctx.enqueue_create_buffer[dtype](size)
        self.b.enqueue_fill(0)
        with self.a.map_to_host() as a_host, self.b.map_to_host() as b_host:
            fill_with_digits(a_host, 24)
            fill_with_digits(b_host, 2024)


def check_and_clear(
    result: DeviceBuffer[dtype], expected: HostBuffer[dtype], warps: Int
) raises:
    with result.map_to_host() as result_host:
        for i in range(warps):
            assert_equal(result_host[i], expected[i])
            result_host[i] = -1


def benchmark(ctx: DeviceContext) raises:
    var table = Benchmark(ctx)
    var sizes: List[Int] = [1, 4, 32]
    if table.timed:
        sizes = [1, 4, 32, 256, 2048, 16384, MAX_WARPS]

    # Two sets of inputs, taken in turn. A shorter run starts fewer warps, and
    # these work on the first elements.
    comptime max_size = MAX_WARPS * WARP_SIZE
    var out = ctx.enqueue_create_buffer[dtype](MAX_WARPS)
    out.enqueue_fill(-1)
    var out_tensor = LayoutTensor[dtype, bench_out_layout](out)
    var even = Inputs(max_size, ctx)
    var odd = Inputs(max_size, ctx)
    var a = [
        LayoutTensor[mut=False, dtype, bench_in_layout](even.a),
        LayoutTensor[mut=False, dtype, bench_in_layout](odd.a),
    ]
    var b = [
        LayoutTensor[mut=False, dtype, bench_in_layout](even.b),
        LayoutTensor[mut=False, dtype, bench_in_layout](odd.b),
    ]
    var expected = ctx.enqueue_create_host_buffer[dtype](MAX_WARPS)
    with even.a.map_to_host() as a_host, even.b.map_to_host() as b_host:
        for i in range(MAX_WARPS):
            var total = Scalar[dtype](0)
            for j in range(i * WARP_SIZE, (i + 1) * WARP_SIZE):
                total += a_host[j] * b_host[j]
            expected[i] = total

    for warps in sizes:
        var size = warps * WARP_SIZE
        var bytes = 2 * size * 4 + warps * 4

        def traditional(repetition: Int, ctx: DeviceContext) raises {imm}:
            comptime kernel = traditional_approach_from_p12[
                bench_in_layout, bench_out_layout, max_size
            ]
            ctx.enqueue_function[kernel](
                out_tensor,
                a[repetition % 2],
                b[repetition % 2],
                grid_dim=warps,
                block_dim=WARP_SIZE,
            )

        def simple(repetition: Int, ctx: DeviceContext) raises {imm}:
            comptime kernel = simple_warp_kernel[
                bench_in_layout, bench_out_layout, max_size
            ]
            ctx.enqueue_function[kernel](
                out_tensor,
                a[repetition % 2],
                b[repetition % 2],
                grid_dim=warps,
                block_dim=WARP_SIZE,
            )

        def functional(repetition: Int, ctx: DeviceContext) raises {imm}:
            functional_warp_approach(
                out_tensor, a[repetition % 2], b[repetition % 2], size, ctx
            )

        table.measure("traditional", size, bytes, traditional)
        check_and_clear(out, expected, warps)
        table.measure("simple-warp", size, bytes, simple)
        check_and_clear(out, expected, warps)
        table.measure("functional-warp", size, bytes, functional)
        check_and_clear(out, expected, warps)
    # The lists of views do not keep their buffers alive.
    _ = even^
    _ = odd^


def main() raises:
    var mode = choose_mode(
        "p24", ["--traditional", "--kernel", "--functional", "--benchmark"]
    )
    with DeviceContext() as ctx:
        if mode == "--benchmark":
            benchmark(ctx)
            return

        var out = ctx.enqueue_create_buffer[dtype](1)
        out.enqueue_fill(0)
        var a = ctx.enqueue_create_buffer[dtype](SIZE)
        a.enqueue_fill(0)
        var b = ctx.enqueue_create_buffer[dtype](SIZE)
        b.enqueue_fill(0)
        with a.map_to_host() as a_host, b.map_to_host() as b_host:
            for i in range(SIZE):
                a_host[i] = Scalar[dtype](i)
                b_host[i] = Scalar[dtype](i)
        stage("a", a)
        stage("b", b)
        stage("out", out)

        var expected = ctx.enqueue_create_host_buffer[dtype](1)
        expected[0] = 0
        with a.map_to_host() as a_host, b.map_to_host() as b_host:
            for i in range(SIZE):
                expected[0] += a_host[i] * b_host[i]

        var out_tensor = LayoutTensor[dtype, out_layout](out)
        var a_tensor = LayoutTensor[mut=False, dtype, in_layout](a)
        var b_tensor = LayoutTensor[mut=False, dtype, in_layout](b)
        print("SIZE:", SIZE)
        print("WARP_SIZE:", WARP_SIZE)
        print("SIMD_WIDTH:", SIMD_WIDTH)
        if mode == "--traditional":
            comptime kernel = traditional_approach_from_p12[
                in_layout, out_layout, SIZE
            ]
            ctx.enqueue_function[kernel](
                out_tensor,
                a_tensor,
                b_tensor,
                grid_dim=BLOCKS_PER_GRID,
                block_dim=THREADS_PER_BLOCK,
            )
        elif mode == "--kernel":
            comptime kernel = simple_warp_kernel[in_layout, out_layout, SIZE]
            ctx.enqueue_function[kernel](
                out_tensor,
                a_tensor,
                b_tensor,
                grid_dim=BLOCKS_PER_GRID,
                block_dim=THREADS_PER_BLOCK,
            )
        else:
            functional_warp_approach(out_tensor, a_tensor, b_tensor, SIZE, ctx)
        ctx.synchronize()

        submit("out", out)
        with out.map_to_host() as out_host:
            print("out:", out_host)
            print("expected:", expected)
            assert_equal(out_host[0], expected[0])
        print("Puzzle 24 complete ✅")
