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
from layout import TensorLayout, TileTensor, row_major, stack_allocation
from std.sys import simd_width_of
from std.testing import assert_equal
from std.utils.coord import Coord

from lab import choose_mode, stage, submit
from lab.benchmark import Benchmark

# ANCHOR: traditional_approach_from_p12_tile_tensor
comptime SIZE = WARP_SIZE
comptime BLOCKS_PER_GRID = (1, 1)
# A block is one warp: 32 threads on NVIDIA and Apple, 64 on AMD's CDNA GPUs.
comptime THREADS_PER_BLOCK = (WARP_SIZE, 1)
comptime dtype = DType.float32
comptime SIMD_WIDTH = simd_width_of[dtype, target=get_gpu_target()]()
comptime in_layout = row_major[SIZE]()
comptime out_layout = row_major[1]()


def traditional_approach_from_p12[
    InLayout: TensorLayout, OutLayout: TensorLayout, size: Int
](
    output: TileTensor[dtype, OutLayout, MutAnyOrigin],
    a: TileTensor[dtype, InLayout, ImmutAnyOrigin],
    b: TileTensor[dtype, InLayout, ImmutAnyOrigin],
):
    var shared = stack_allocation[dtype, address_space=AddressSpace.SHARED](
        row_major[WARP_SIZE]()
    )
    var global_i = block_idx.x * block_dim.x + thread_idx.x
    var local_i = thread_idx.x

    if global_i < size:
        shared[local_i] = a[global_i] * b[global_i]
    else:
        shared[local_i] = 0
    barrier()

    # The halving tree of puzzle 12: all read, then all add, in every step.
    var stride = WARP_SIZE // 2
    while stride > 0:
        var upper = Scalar[dtype](0)
        if local_i < stride:
            upper = shared[local_i + stride]
        barrier()
        if local_i < stride:
            shared[local_i] += upper
        barrier()
        stride //= 2

    if local_i == 0:
        output[block_idx.x] = shared[0]


# ANCHOR_END: traditional_approach_from_p12_tile_tensor


# ANCHOR: simple_warp_kernel_tile_tensor_solution
def simple_warp_kernel[
    InLayout: TensorLayout, OutLayout: TensorLayout, size: Int
](
    output: TileTensor[dtype, OutLayout, MutAnyOrigin],
    a: TileTensor[dtype, InLayout, ImmutAnyOrigin],
    b: TileTensor[dtype, InLayout, ImmutAnyOrigin],
):
    var global_i = block_idx.x * block_dim.x + thread_idx.x
    # FILL: about 6 lines
    # A lane past the end contributes a zero. It must not skip the sum, which
    # exchanges registers and needs all lanes of the warp.
    var product = Scalar[dtype](0)
    if global_i < size:
        product = a[global_i] * b[global_i]

    # No shared memory and no barrier: the lanes hand their registers around.
    var total = warp.sum(product)

    # All lanes have the total now; one of them writes it.
    if lane_id() == 0:
        output[block_idx.x] = total
    # END_FILL


# ANCHOR_END: simple_warp_kernel_tile_tensor_solution


# ANCHOR: functional_warp_approach_tile_tensor_solution
def functional_warp_approach[
    InLayout: TensorLayout, OutLayout: TensorLayout, //
](
    output: TileTensor[dtype, OutLayout, MutAnyOrigin],
    a: TileTensor[dtype, InLayout, ImmutAnyOrigin],
    b: TileTensor[dtype, InLayout, ImmutAnyOrigin],
    size: Int,
    ctx: DeviceContext,
) raises:
    @always_inline
    def compute[width: Int, alignment: Int = 1](indices: Coord) {var} -> None:
        var i = Int(indices[0].value())
        # FILL: about 4 lines
        # No guard: elementwise calls this for elements that exist, and `size`
        # is a whole number of warps.
        var product = a[i] * b[i]
        var total = warp.sum(product)
        if lane_id() == 0:
            output[i // WARP_SIZE] = total
        # END_FILL

    # Width 1: one element per thread. Neighbouring elements are in neighbouring
    # lanes, so that one warp operation combines WARP_SIZE of them.
    elementwise[1, target="gpu"](compute, Coord(size), ctx)


# ANCHOR_END: functional_warp_approach_tile_tensor_solution


comptime MAX_WARPS = 65536
comptime bench_in_layout = row_major[MAX_WARPS * WARP_SIZE]()
comptime bench_out_layout = row_major[MAX_WARPS]()


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

    comptime View = TileTensor[
        mut=False, dtype, type_of(bench_in_layout), ImmutAnyOrigin
    ]
    # Two sets of inputs, taken in turn. A shorter run starts fewer warps, and
    # these work on the first elements.
    comptime max_size = MAX_WARPS * WARP_SIZE
    var out = ctx.enqueue_create_buffer[dtype](MAX_WARPS)
    out.enqueue_fill(-1)
    var out_tensor = TileTensor(out, bench_out_layout)
    var even = Inputs(max_size, ctx)
    var odd = Inputs(max_size, ctx)
    var a: List[View] = [
        TileTensor[mut=False](even.a, bench_in_layout),
        TileTensor[mut=False](odd.a, bench_in_layout),
    ]
    var b: List[View] = [
        TileTensor[mut=False](even.b, bench_in_layout),
        TileTensor[mut=False](odd.b, bench_in_layout),
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
                type_of(bench_in_layout), type_of(bench_out_layout), max_size
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
                type_of(bench_in_layout), type_of(bench_out_layout), max_size
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
        "p24_tile_tensor",
        ["--traditional", "--kernel", "--functional", "--benchmark"],
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

        var out_tensor = TileTensor(out, out_layout)
        var a_tensor = TileTensor[mut=False](a, in_layout)
        var b_tensor = TileTensor[mut=False](b, in_layout)
        print("SIZE:", SIZE)
        print("WARP_SIZE:", WARP_SIZE)
        print("SIMD_WIDTH:", SIMD_WIDTH)
        if mode == "--traditional":
            comptime kernel = traditional_approach_from_p12[
                type_of(in_layout), type_of(out_layout), SIZE
            ]
            ctx.enqueue_function[kernel](
                out_tensor,
                a_tensor,
                b_tensor,
                grid_dim=BLOCKS_PER_GRID,
                block_dim=THREADS_PER_BLOCK,
            )
        elif mode == "--kernel":
            comptime kernel = simple_warp_kernel[
                type_of(in_layout), type_of(out_layout), SIZE
            ]
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
