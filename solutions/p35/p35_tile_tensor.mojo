from max.gpu import global_idx
from max.gpu.host import DeviceBuffer, DeviceContext, HostBuffer
from max.gpu.host.compile import get_gpu_target
from layout import TileTensor, row_major
from std.sys import align_of, simd_width_of, size_of
from std.testing import assert_almost_equal
from std.utils.coord import Coord

from lab import choose_mode, stage, submit
from lab.benchmark import Benchmark

# ANCHOR: scalar_kernel_tile_tensor_solution
comptime SIZE = 1024 * 1024
comptime TPB = 256
comptime dtype = DType.float32
comptime layout = row_major[SIZE]()
comptime SCALE = Scalar[dtype](2)
comptime BIAS = Scalar[dtype](1)
# How many numbers one instruction of the GPU moves: 4 float32 fill 16 bytes.
comptime SIMD_WIDTH = simd_width_of[dtype, target=get_gpu_target()]()
comptime BLOCKS_SCALAR = SIZE // TPB


def scalar_kernel(
    output: TileTensor[dtype, type_of(layout), MutAnyOrigin],
    input: TileTensor[dtype, type_of(layout), ImmutAnyOrigin],
):
    var global_i = global_idx.x
    # FILL: about 2 lines
    # One thread, one number: neighbouring threads read neighbouring numbers.
    if global_i < SIZE:
        output[global_i] = input[global_i] * SCALE + BIAS
    # END_FILL


# ANCHOR_END: scalar_kernel_tile_tensor_solution


# ANCHOR: unaligned_kernel_tile_tensor_solution
comptime BLOCKS_VECTOR = SIZE // (TPB * SIMD_WIDTH)
# What every address of a float32 is a multiple of.
comptime SCALAR_ALIGN = align_of[Scalar[dtype]]()


def unaligned_kernel(
    output: TileTensor[dtype, type_of(layout), MutAnyOrigin],
    input: TileTensor[dtype, type_of(layout), ImmutAnyOrigin],
):
    var global_i = global_idx.x
    # FILL: about 4 lines
    # One thread, one vector. Its address is only known to be aligned to a
    # float32: 4 bytes, which is not enough for an instruction that moves
    # 16, so on NVIDIA each load and store becomes SIMD_WIDTH scalar ones.
    var i = global_i * SIMD_WIDTH
    if i < SIZE:
        var vector = input.load[SIMD_WIDTH, alignment=SCALAR_ALIGN](Coord(i))
        output.store[SIMD_WIDTH, alignment=SCALAR_ALIGN](
            Coord(i), vector * SCALE + BIAS
        )
    # END_FILL


# ANCHOR_END: unaligned_kernel_tile_tensor_solution


# ANCHOR: aligned_kernel_tile_tensor_solution
# What the address of a whole vector is a multiple of: 16 bytes at width 4.
comptime VEC_ALIGN = align_of[SIMD[dtype, SIMD_WIDTH]]()


def aligned_kernel(
    output: TileTensor[dtype, type_of(layout), MutAnyOrigin],
    input: TileTensor[dtype, type_of(layout), ImmutAnyOrigin],
):
    var global_i = global_idx.x
    # FILL: about 4 lines
    # The same vectors with the whole truth about their addresses: a buffer
    # begins at a multiple of 16 bytes, and i is a multiple of SIMD_WIDTH.
    var i = global_i * SIMD_WIDTH
    if i < SIZE:
        var vector = input.load[SIMD_WIDTH, alignment=VEC_ALIGN](Coord(i))
        output.store[SIMD_WIDTH, alignment=VEC_ALIGN](
            Coord(i), vector * SCALE + BIAS
        )
    # END_FILL


# ANCHOR_END: aligned_kernel_tile_tensor_solution


def fill_book_data(input: HostBuffer[dtype]):
    for i in range(len(input)):
        input[i] = Scalar[dtype](i % 97)


def check_and_clear(
    result: DeviceBuffer[dtype], expected: HostBuffer[dtype]
) raises:
    """Compares all elements, and wipes them for the next kernel."""
    with result.map_to_host() as result_host:
        for i in range(SIZE):
            assert_almost_equal(result_host[i], expected[i], atol=1e-5)
    result.enqueue_fill(-1)


def benchmark(ctx: DeviceContext) raises:
    var out = ctx.enqueue_create_buffer[dtype](SIZE)
    out.enqueue_fill(-1)
    # Two sets of the same input, taken in turn.
    var even = ctx.enqueue_create_buffer[dtype](SIZE)
    even.enqueue_fill(0)
    var odd = ctx.enqueue_create_buffer[dtype](SIZE)
    odd.enqueue_fill(0)
    var expected = ctx.enqueue_create_host_buffer[dtype](SIZE)
    with even.map_to_host() as even_host, odd.map_to_host() as odd_host:
        fill_book_data(even_host)
        fill_book_data(odd_host)
        for i in range(SIZE):
            expected[i] = even_host[i] * SCALE + BIAS
    var out_tensor = TileTensor(out, layout)

    def scalar(repetition: Int, ctx: DeviceContext) raises {imm}:
        var input = even if repetition % 2 == 0 else odd
        ctx.enqueue_function[scalar_kernel](
            out_tensor,
            TileTensor[mut=False](input, layout),
            grid_dim=BLOCKS_SCALAR,
            block_dim=TPB,
        )

    def unaligned(repetition: Int, ctx: DeviceContext) raises {imm}:
        var input = even if repetition % 2 == 0 else odd
        ctx.enqueue_function[unaligned_kernel](
            out_tensor,
            TileTensor[mut=False](input, layout),
            grid_dim=BLOCKS_VECTOR,
            block_dim=TPB,
        )

    def aligned(repetition: Int, ctx: DeviceContext) raises {imm}:
        var input = even if repetition % 2 == 0 else odd
        ctx.enqueue_function[aligned_kernel](
            out_tensor,
            TileTensor[mut=False](input, layout),
            grid_dim=BLOCKS_VECTOR,
            block_dim=TPB,
        )

    # Each element is read once and written once.
    comptime bytes = 2 * SIZE * size_of[dtype]()
    var table = Benchmark(ctx)
    table.measure("scalar", SIZE, bytes, scalar)
    check_and_clear(out, expected)
    table.measure("unaligned", SIZE, bytes, unaligned)
    check_and_clear(out, expected)
    table.measure("aligned", SIZE, bytes, aligned)
    check_and_clear(out, expected)


def main() raises:
    var mode = choose_mode(
        "p35_tile_tensor",
        ["--scalar", "--unaligned", "--aligned", "--benchmark"],
    )
    with DeviceContext() as ctx:
        if mode == "--benchmark":
            benchmark(ctx)
            return

        var out = ctx.enqueue_create_buffer[dtype](SIZE)
        out.enqueue_fill(0)
        var input = ctx.enqueue_create_buffer[dtype](SIZE)
        input.enqueue_fill(0)
        with input.map_to_host() as input_host:
            fill_book_data(input_host)
        stage("input", input)
        stage("out", out)

        var expected = ctx.enqueue_create_host_buffer[dtype](SIZE)
        with input.map_to_host() as input_host:
            for i in range(SIZE):
                expected[i] = input_host[i] * SCALE + BIAS

        print("SIZE:", SIZE, "SIMD_WIDTH:", SIMD_WIDTH)
        var out_tensor = TileTensor(out, layout)
        var input_tensor = TileTensor[mut=False](input, layout)
        if mode == "--scalar":
            ctx.enqueue_function[scalar_kernel](
                out_tensor, input_tensor, grid_dim=BLOCKS_SCALAR, block_dim=TPB
            )
        elif mode == "--unaligned":
            ctx.enqueue_function[unaligned_kernel](
                out_tensor, input_tensor, grid_dim=BLOCKS_VECTOR, block_dim=TPB
            )
        else:
            ctx.enqueue_function[aligned_kernel](
                out_tensor, input_tensor, grid_dim=BLOCKS_VECTOR, block_dim=TPB
            )
        ctx.synchronize()

        submit("out", out)
        with out.map_to_host() as out_host:
            print("out:", out_host)
            print("expected:", expected)
            for i in range(SIZE):
                assert_almost_equal(out_host[i], expected[i], atol=1e-5)
        print(mode.removeprefix("--"), "kernel: passed")
        print("Puzzle 35 complete ✅")
