"""Control experiments for causes of times that chapters name: pairs of kernels that differ in one thing.

`reversed` is puzzle 30's third kernel: shifted by an element or not, with a remainder or without one. `scaled` is
puzzle 35's computation: single elements, four of them in a thread and a block apart, vectors that are not known to
be aligned, and aligned ones. `embedding` has the kernels of puzzle 21, launched without a graph, and two in which a
thread has four columns. `sums` are those of blocks by warp operations, with one product and with four for each
thread. `one block` are kernels of `register_tiles.mojo` with so much shared memory that only one block fits on a
multiprocessor. `add` continues `work_per_thread.mojo` with further blocks.

    mojo build -I problems -I benchmarks/kernels benchmarks/kernels/controls.mojo -o controls
"""

from max.gpu import (
    AddressSpace,
    WARP_SIZE,
    barrier,
    block_dim,
    block_idx,
    lane_id,
    thread_idx,
    warp_id,
)
from max.gpu.host import DeviceBuffer, DeviceContext, FuncAttribute
from max.gpu.primitives import warp
from std.memory import unsafe_stack_allocation
from std.testing import assert_equal

import reductions
import register_tiles
import work_per_thread
from lab.benchmark import Benchmark
from sizes import at_full_size, sampled

comptime MI = 1024 * 1024
comptime Output = Pointer[Float32, MutAnyOrigin]
comptime Input = Pointer[Float32, ImmutAnyOrigin]
comptime Tokens = Pointer[Int32, ImmutAnyOrigin]
comptime WIDTH = 512
comptime ROWS = 10_000
comptime LARGE = 120 * 1024  # more than half of a multiprocessor's shared memory


def reversed[
    shifted: Bool, remainder: Bool
](output: Output, a: Input, b: Input, size: Int32):
    """The last thread takes the first element, or with `shifted` the second one, and thread 0 the first.
    """
    var i = Int(size) - (block_idx.x * block_dim.x + thread_idx.x)
    comptime if not shifted:
        i -= 1
    comptime if remainder:
        i %= Int(size)
    elif shifted:
        if i == Int(size):
            i = 0
    if i >= 0:
        output[unsafe_offset=i] = a[unsafe_offset=i] + b[unsafe_offset=i]


def scaled(output: Output, a: Input):
    var i = block_idx.x * block_dim.x + thread_idx.x
    output[unsafe_offset=i] = a[unsafe_offset=i] * 2 + 1


def scaled_by_four(output: Output, a: Input):
    var first = block_idx.x * (block_dim.x * 4) + thread_idx.x
    var results = SIMD[DType.float32, 4](0)
    comptime for k in range(4):
        results[k] = a[unsafe_offset=first + k * block_dim.x] * 2 + 1
    comptime for k in range(4):
        output[unsafe_offset=first + k * block_dim.x] = results[k]


def scaled_vector[alignment: Int](output: Output, a: Input):
    var i = 4 * (block_idx.x * block_dim.x + thread_idx.x)
    output.unsafe_store[alignment=alignment](
        i, a.unsafe_load[width=4, alignment=alignment](i) * 2 + 1
    )


def sum_of_four(output: Output, a: Input, b: Input):
    """`reductions.sum_by_warps` with four products for each thread, a block apart.
    """
    comptime WARPS = reductions.TPB // WARP_SIZE
    var sums = unsafe_stack_allocation[
        WARPS, Float32, address_space=AddressSpace.SHARED
    ]()
    var first = block_idx.x * (reductions.TPB * 4) + thread_idx.x
    var own = Float32(0)
    comptime for k in range(4):
        var i = first + k * reductions.TPB
        own += a[unsafe_offset=i] * b[unsafe_offset=i]
    var total = warp.sum(own)
    if lane_id() == 0:
        sums[unsafe_offset=warp_id()] = total
    barrier()
    if thread_idx.x == 0:
        var whole = Float32(0)
        comptime for i in range(WARPS):
            whole += sums[unsafe_offset=i]
        output[unsafe_offset=block_idx.x] = whole


def embedding(output: Output, tokens: Tokens, table: Input):
    var i = block_idx.x * block_dim.x + thread_idx.x
    var row = i // WIDTH
    output[unsafe_offset=i] = table[
        unsafe_offset=Int(tokens[unsafe_offset=row]) * WIDTH + i % WIDTH
    ]


def embedding_2d[columns: Bool](output: Output, tokens: Tokens, table: Input):
    """Blocks of 16 x 16: neighbouring threads have neighbouring columns, or neighbouring tokens.
    """
    var x = block_idx.x * 16 + thread_idx.x
    var y = block_idx.y * 16 + thread_idx.y
    var row = x
    var column = y
    comptime if columns:
        row = y
        column = x
    output[unsafe_offset=row * WIDTH + column] = table[
        unsafe_offset=Int(tokens[unsafe_offset=row]) * WIDTH + column
    ]


def embedding_of_four[
    vector: Bool
](output: Output, tokens: Tokens, table: Input):
    """Four columns for each thread: by one load of 16 bytes, or 128 columns apart.
    """
    comptime QUARTER = WIDTH // 4
    var i = block_idx.x * block_dim.x + thread_idx.x
    var row = i // QUARTER
    var source = Int(tokens[unsafe_offset=row]) * WIDTH
    var target = row * WIDTH
    comptime if vector:
        var column = i % QUARTER * 4
        output.unsafe_store[alignment=16](
            target + column,
            table.unsafe_load[width=4, alignment=16](source + column),
        )
    else:
        var column = i % QUARTER
        var values = SIMD[DType.float32, 4](0)
        comptime for k in range(4):
            values[k] = table[unsafe_offset=source + column + k * QUARTER]
        comptime for k in range(4):
            output[unsafe_offset=target + column + k * QUARTER] = values[k]


def measure_add(
    mut table: Benchmark, size: Int, threads: List[Int], ctx: DeviceContext
) raises:
    var data = work_per_thread.Data(size, ctx)
    for block in threads:
        work_per_thread.measure_all(table, size, block, data, ctx)


def measure_reversed[
    shifted: Bool, remainder: Bool
](
    mut table: Benchmark,
    size: Int,
    data: work_per_thread.Data,
    ctx: DeviceContext,
) raises:
    def launch(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[reversed[shifted, remainder]](
            data.out,
            data.a,
            data.b,
            Int32(size),
            grid_dim=size // 1024,
            block_dim=1024,
        )

    var name = String("reversed")
    comptime if shifted:
        name += ", shifted"
    comptime if remainder:
        name += ", %"
    table.measure(name, size, 12 * size, launch)
    data.check_and_clear(size)


struct Vector(Movable):
    var a: DeviceBuffer[DType.float32]
    var out: DeviceBuffer[DType.float32]

    def __init__(out self, size: Int, ctx: DeviceContext) raises:
        self.a = ctx.enqueue_create_buffer[DType.float32](size)
        self.out = ctx.enqueue_create_buffer[DType.float32](size)
        with self.a.map_to_host() as a:
            for i in range(size):
                a[i] = Float32(i % 97)
        self.out.enqueue_fill(-1)

    def check_and_clear(self) raises:
        if not sampled():
            with self.out.map_to_host() as host:
                for i in range(len(host)):
                    assert_equal(host[i], Float32(2 * (i % 97) + 1))
        self.out.enqueue_fill(-1)


def measure_scaled(mut table: Benchmark, size: Int, ctx: DeviceContext) raises:
    var data = Vector(size, ctx)

    def single(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[scaled](
            data.out, data.a, grid_dim=size // 256, block_dim=256
        )

    def by_four(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[scaled_by_four](
            data.out, data.a, grid_dim=size // 1024, block_dim=256
        )

    def unaligned(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[scaled_vector[4]](
            data.out, data.a, grid_dim=size // 1024, block_dim=256
        )

    def aligned(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[scaled_vector[16]](
            data.out, data.a, grid_dim=size // 1024, block_dim=256
        )

    table.measure("scaled", size, 8 * size, single)
    data.check_and_clear()
    table.measure("scaled by 4", size, 8 * size, by_four)
    data.check_and_clear()
    table.measure("scaled, unaligned", size, 8 * size, unaligned)
    data.check_and_clear()
    table.measure("scaled, aligned", size, 8 * size, aligned)
    data.check_and_clear()


struct Embedding(Movable):
    """Pseudo-random tokens, and a table in which each row has its number."""

    var tokens: DeviceBuffer[DType.int32]
    var table: DeviceBuffer[DType.float32]
    var out: DeviceBuffer[DType.float32]

    def __init__(out self, count: Int, ctx: DeviceContext) raises:
        self.tokens = ctx.enqueue_create_buffer[DType.int32](count)
        self.table = ctx.enqueue_create_buffer[DType.float32](ROWS * WIDTH)
        self.out = ctx.enqueue_create_buffer[DType.float32](count * WIDTH)
        with self.tokens.map_to_host() as tokens:
            var state = UInt32(1)
            for i in range(count):
                state = state * 1664525 + 1013904223
                tokens[i] = Int32((state >> 8) % ROWS)
        with self.table.map_to_host() as table:
            for i in range(ROWS * WIDTH):
                table[i] = Float32(i // WIDTH + i % WIDTH)
        self.out.enqueue_fill(-1)

    def check_and_clear(self) raises:
        if not sampled():
            with self.out.map_to_host() as host, self.tokens.map_to_host() as tokens:
                for i in range(len(host)):
                    assert_equal(
                        host[i], Float32(Int(tokens[i // WIDTH]) + i % WIDTH)
                    )
        self.out.enqueue_fill(-1)


def measure_embedding(
    mut table: Benchmark, count: Int, ctx: DeviceContext
) raises:
    var data = Embedding(count, ctx)
    var size = count * WIDTH

    def coalesced(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[embedding](
            data.out,
            data.tokens,
            data.table,
            grid_dim=size // 256,
            block_dim=256,
        )

    def by_tokens(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[embedding_2d[False]](
            data.out,
            data.tokens,
            data.table,
            grid_dim=(count // 16, WIDTH // 16),
            block_dim=(16, 16),
        )

    def by_columns(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[embedding_2d[True]](
            data.out,
            data.tokens,
            data.table,
            grid_dim=(WIDTH // 16, count // 16),
            block_dim=(16, 16),
        )

    def four(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[embedding_of_four[False]](
            data.out,
            data.tokens,
            data.table,
            grid_dim=size // 1024,
            block_dim=256,
        )

    def vector(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[embedding_of_four[True]](
            data.out,
            data.tokens,
            data.table,
            grid_dim=size // 1024,
            block_dim=256,
        )

    # Bytes: each element is read and written, as the page of puzzle 21 counts them.
    table.measure("embedding", size, 8 * size, coalesced)
    data.check_and_clear()
    table.measure("embedding_2d", size, 8 * size, by_tokens)
    data.check_and_clear()
    table.measure("embedding_2d, columns", size, 8 * size, by_columns)
    data.check_and_clear()
    table.measure("embedding by 4", size, 8 * size, four)
    data.check_and_clear()
    table.measure("embedding, vector", size, 8 * size, vector)
    data.check_and_clear()


def measure_sums(mut table: Benchmark, size: Int, ctx: DeviceContext) raises:
    var data = reductions.Data(size, ctx)

    def one(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[reductions.sum_by_warps](
            data.out,
            data.a,
            data.b,
            grid_dim=size // reductions.TPB,
            block_dim=reductions.TPB,
        )

    def four(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[sum_of_four](
            data.out,
            data.a,
            data.b,
            grid_dim=size // (4 * reductions.TPB),
            block_dim=reductions.TPB,
        )

    table.measure("sums of 256", size, 8 * size + size // 64, one)
    data.check_and_clear(size, 256)
    table.measure("sums of 1024", size, 8 * size + size // 256, four)
    data.check_and_clear(size, 1024)


def measure_one_block[n: Int](mut table: Benchmark, ctx: DeviceContext) raises:
    var data = register_tiles.Data(n, ctx)
    comptime granted = FuncAttribute.MAX_DYNAMIC_SHARED_SIZE_BYTES(
        UInt32(LARGE)
    )

    def four(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[register_tiles.registers[n, 4, 16]](
            data.out,
            data.a,
            data.b,
            grid_dim=(n // 64, n // 64),
            block_dim=256,
            shared_mem_bytes=LARGE,
            func_attribute=granted,
        )

    def one_stage(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[register_tiles.staged[n, 8, 1, 4, True]](
            data.out,
            data.a,
            data.b,
            grid_dim=(n // 128, n // 128),
            block_dim=256,
            shared_mem_bytes=LARGE,
            func_attribute=granted,
        )

    def two_stages(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[register_tiles.staged[n, 8, 2, 4, True]](
            data.out,
            data.a,
            data.b,
            grid_dim=(n // 128, n // 128),
            block_dim=256,
            shared_mem_bytes=LARGE,
            func_attribute=granted,
        )

    table.measure("one block, registers, 4 x 4", n, 0, four)
    data.check_and_clear(n)
    table.measure("one block, one stage", n, 0, one_stage)
    data.check_and_clear(n)
    table.measure("one block, two stages", n, 0, two_stages)
    data.check_and_clear(n)


def main() raises:
    with DeviceContext() as ctx:
        var table = Benchmark(ctx)
        if not at_full_size(table):
            measure_add(table, 8192, [128], ctx)
            var small = work_per_thread.Data(4096, ctx)
            comptime for shifted in range(2):
                comptime for remainder in range(2):
                    measure_reversed[shifted == 1, remainder == 1](
                        table, 4096, small, ctx
                    )
            measure_scaled(table, 4096, ctx)
            measure_embedding(table, 16, ctx)
            measure_sums(table, 4096, ctx)
            measure_one_block[128](table, ctx)
            return
        measure_add(table, 16 * MI, [128, 512], ctx)
        measure_add(table, 64 * MI, [128, 512, 1024], ctx)
        var data = work_per_thread.Data(16 * MI, ctx)
        comptime for shifted in range(2):
            comptime for remainder in range(2):
                measure_reversed[shifted == 1, remainder == 1](
                    table, 16 * MI, data, ctx
                )
        measure_scaled(table, MI, ctx)
        measure_scaled(table, 64 * MI, ctx)
        measure_embedding(table, 128 * 1024, ctx)
        measure_sums(table, 64 * MI, ctx)
        measure_one_block[4096](table, ctx)
