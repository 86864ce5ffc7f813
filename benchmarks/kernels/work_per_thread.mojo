"""How the work of a thread decides the time of a launch: blocks without work, loads in flight, loops.

`empty` kernels have no instruction but the return: their time is the start of the blocks. `add K` gives each
thread K elements, a block apart, and loads all of them before it stores the first. `vector` loads four
neighbouring elements by one instruction. `loop` starts a fixed number of blocks, whose threads go through
the array in steps of the whole grid. `reads` has a fixed number of threads on each multiprocessor, and each
of them a fixed number of loads in flight: it waits for all of them before it issues the next ones.

    mojo build -I problems benchmarks/kernels/work_per_thread.mojo -o work_per_thread
"""

from max.gpu import block_dim, block_idx, grid_dim, thread_idx
from max.gpu.host import DeviceBuffer, DeviceContext
from std.testing import assert_almost_equal, assert_equal

from lab.benchmark import Benchmark, sampled

comptime MI = 1024 * 1024
comptime Output = Pointer[Float32, MutAnyOrigin]
comptime Input = Pointer[Float32, ImmutAnyOrigin]


def empty():
    pass


def add[K: Int](output: Output, a: Input, b: Input):
    """Thread t of a block takes the elements t, t + block_dim, … of the block's K * block_dim.
    """
    var first = block_idx.x * (block_dim.x * K) + thread_idx.x
    var sums = SIMD[DType.float32, K](0)
    comptime for k in range(K):
        var i = first + k * block_dim.x
        sums[k] = a[unsafe_offset=i] + b[unsafe_offset=i]
    comptime for k in range(K):
        output[unsafe_offset=first + k * block_dim.x] = sums[k]


def add_vector(output: Output, a: Input, b: Input):
    """Four neighbouring elements per thread, by one load of 16 bytes from each input.
    """
    var i = 4 * (block_idx.x * block_dim.x + thread_idx.x)
    output.unsafe_store[alignment=16](
        i,
        a.unsafe_load[width=4, alignment=16](i)
        + b.unsafe_load[width=4, alignment=16](i),
    )


def add_loop(output: Output, a: Input, b: Input, size: Int32):
    """A grid-stride loop: one element in each step."""
    var i = block_idx.x * block_dim.x + thread_idx.x
    var step = grid_dim.x * block_dim.x
    while i < Int(size):
        output[unsafe_offset=i] = a[unsafe_offset=i] + b[unsafe_offset=i]
        i += step


def add_loop_by_four(output: Output, a: Input, b: Input, size: Int32):
    """A grid-stride loop: four elements in each step, loaded before the first store.
    """
    var step = grid_dim.x * block_dim.x
    var i = block_idx.x * block_dim.x + thread_idx.x
    while i < Int(size):
        var sums = SIMD[DType.float32, 4](0)
        comptime for k in range(4):
            sums[k] = (
                a[unsafe_offset=i + k * step] + b[unsafe_offset=i + k * step]
            )
        comptime for k in range(4):
            output[unsafe_offset=i + k * step] = sums[k]
        i += 4 * step


def read_in_turns[K: Int](output: Output, a: Input, size: Int32):
    """A grid-stride loop of reads, K per thread and step; the next addresses need the values of the last step.
    """
    var step = grid_dim.x * block_dim.x
    var i = block_idx.x * block_dim.x + thread_idx.x
    var total = Float32(0)
    while i < Int(size):
        comptime for k in range(K):
            total += a[unsafe_offset=i + k * step]
        # The sum is never negative: this only makes the address depend on it.
        i += K * step if total >= 0 else 1
    output[unsafe_offset=block_idx.x * block_dim.x + thread_idx.x] = total


struct Data(Movable):
    """Two vectors and their sum."""

    var a: DeviceBuffer[DType.float32]
    var b: DeviceBuffer[DType.float32]
    var out: DeviceBuffer[DType.float32]

    def __init__(out self, size: Int, ctx: DeviceContext) raises:
        self.a = ctx.enqueue_create_buffer[DType.float32](size)
        self.b = ctx.enqueue_create_buffer[DType.float32](size)
        self.out = ctx.enqueue_create_buffer[DType.float32](size)
        with self.a.map_to_host() as a, self.b.map_to_host() as b:
            for i in range(size):
                a[i] = Float32(i % 4093)  # sums are exact
                b[i] = Float32(i % 4093 + 5)
        self.out.enqueue_fill(-1)

    def check_and_clear(self, size: Int) raises:
        var used = self.out.create_sub_buffer[DType.float32](0, size)
        if not sampled():
            with used.map_to_host() as host:
                for i in range(size):
                    assert_equal(host[i], Float32(2 * (i % 4093) + 5))
        self.out.enqueue_fill(-1)


def measure_empty(
    mut table: Benchmark, threads: Int, blocks: Int, ctx: DeviceContext
) raises:
    def launch(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[empty](grid_dim=blocks, block_dim=threads)

    table.measure(String(t"empty, blocks of {threads}"), blocks, 0, launch)


def measure_add[
    K: Int
](
    mut table: Benchmark,
    size: Int,
    threads: Int,
    data: Data,
    ctx: DeviceContext,
) raises:
    def launch(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[add[K]](
            data.out,
            data.a,
            data.b,
            grid_dim=size // (threads * K),
            block_dim=threads,
        )

    table.measure(
        String(t"add {K}, blocks of {threads}"), size, 12 * size, launch
    )
    data.check_and_clear(size)


def measure_vector(
    mut table: Benchmark,
    size: Int,
    threads: Int,
    data: Data,
    ctx: DeviceContext,
) raises:
    def launch(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[add_vector](
            data.out,
            data.a,
            data.b,
            grid_dim=size // (threads * 4),
            block_dim=threads,
        )

    table.measure(
        String(t"vector, blocks of {threads}"), size, 12 * size, launch
    )
    data.check_and_clear(size)


def measure_loop(
    mut table: Benchmark,
    size: Int,
    blocks: Int,
    data: Data,
    ctx: DeviceContext,
) raises:
    def launch(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[add_loop](
            data.out,
            data.a,
            data.b,
            Int32(size),
            grid_dim=blocks,
            block_dim=256,
        )

    def launch_by_four(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[add_loop_by_four](
            data.out,
            data.a,
            data.b,
            Int32(size),
            grid_dim=blocks,
            block_dim=256,
        )

    table.measure(String(t"loop, {blocks} blocks"), size, 12 * size, launch)
    data.check_and_clear(size)
    table.measure(
        String(t"loop by 4, {blocks} blocks"), size, 12 * size, launch_by_four
    )
    data.check_and_clear(size)


def measure_reads[
    K: Int
](
    mut table: Benchmark,
    size: Int,
    multiprocessors: Int,
    threads: Int,
    data: Data,
    ctx: DeviceContext,
) raises:
    comptime BLOCK = 128
    var blocks = multiprocessors * (threads // BLOCK)

    def launch(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[read_in_turns[K]](
            data.out,
            data.a,
            Int32(size),
            grid_dim=blocks,
            block_dim=BLOCK,
        )

    table.measure(
        String(t"reads, {threads} threads, {K}"), size, 4 * size, launch
    )
    var used = data.out.create_sub_buffer[DType.float32](0, blocks * BLOCK)
    var sum = Float64(0)
    if sampled():
        return
    with used.map_to_host() as host:
        for i in range(blocks * BLOCK):
            sum += Float64(host[i])
    var expected = Float64(0)
    for i in range(size):
        expected += Float64(i % 4093)
    assert_almost_equal(sum, expected, rtol=1e-4)
    data.out.enqueue_fill(-1)


def measure_all(
    mut table: Benchmark,
    size: Int,
    threads: Int,
    data: Data,
    ctx: DeviceContext,
) raises:
    comptime for k in [1, 2, 4, 8]:
        measure_add[k](table, size, threads, data, ctx)
    measure_vector(table, size, threads, data, ctx)


def main() raises:
    with DeviceContext() as ctx:
        var table = Benchmark(ctx)
        if not table.full_size:
            measure_empty(table, 256, 4, ctx)
            var small = Data(16384, ctx)
            measure_all(table, 16384, 256, small, ctx)
            measure_loop(table, 16384, 8, small, ctx)
            measure_reads[4](table, 16384, 4, 128, small, ctx)
            return
        # The elements of an empty launch are its blocks: 2 Mi threads, then the grids of other pages.
        for threads in [32, 64, 128, 256, 512, 1024]:
            measure_empty(table, threads, 2 * MI // threads, ctx)
        for blocks in [1, 132, 1024, 8192, 16384, 33792, 65536, 262144]:
            measure_empty(table, 256, blocks, ctx)
        for blocks in [16384, 65536]:
            measure_empty(table, 1024, blocks, ctx)
        var data = Data(64 * MI, ctx)
        measure_all(table, 16 * MI, 256, data, ctx)
        measure_all(table, 16 * MI, 1024, data, ctx)
        measure_all(table, 64 * MI, 256, data, ctx)
        measure_all(table, 64 * MI, 64, data, ctx)
        for blocks in [132, 264, 528, 1056, 2048, 8192, 32768]:
            measure_loop(table, 64 * MI, blocks, data, ctx)
        # A multiple of all steps, so that no thread reads past the end.
        var read = 132 * 2048 * 8 * 31
        for threads in [128, 256, 512, 1024, 2048]:
            comptime for k in [1, 2, 4, 8]:
                measure_reads[k](table, read, 132, threads, data, ctx)
