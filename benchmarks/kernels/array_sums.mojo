"""Puzzle 36's kernels by the number of blocks and of loads: an addition of vectors, and the sum of an array.

`add K` and `sum K` are grid-stride loops with K loads of each array in a round, before the first use of a
value; `Kx16 B` loads four neighbouring elements by one instruction, K times. The sums end with one atomic
operation per block (`atomic`), per warp or per thread, or with a second launch of one block (`two launches`).
`cub.cu` measures CUB's sum of as many elements.

    mojo build -I problems benchmarks/kernels/array_sums.mojo -o array_sums
"""

from max.gpu import block_dim, block_idx, grid_dim, lane_id, thread_idx
from max.gpu.host import DeviceBuffer, DeviceContext
from max.gpu.primitives import block, warp
from std.atomic import Atomic, Ordering
from std.testing import assert_equal

from lab.benchmark import Benchmark, sampled

comptime MI = 1024 * 1024
comptime TPB = 256
comptime Output = Pointer[Float32, MutAnyOrigin]
comptime Input = Pointer[Float32, ImmutAnyOrigin]
comptime BY_BLOCK = 0
comptime BY_WARP = 1
comptime BY_THREAD = 2
comptime STORED = 3


def add[K: Int, W: Int](output: Output, a: Input, b: Input, size: Int32):
    """K loads of W neighbouring elements of each array in a round; W is a divisor of the size.
    """
    var step = grid_dim.x * block_dim.x * W
    var i = (block_idx.x * block_dim.x + thread_idx.x) * W
    while i + (K - 1) * step < Int(size):
        var sums = SIMD[DType.float32, K * W](0)
        comptime for k in range(K):
            var at = i + k * step
            sums = sums.insert[offset=k * W](
                a.unsafe_load[width=W, alignment=4 * W](at)
                + b.unsafe_load[width=W, alignment=4 * W](at)
            )
        comptime for k in range(K):
            output.unsafe_store[alignment=4 * W](
                i + k * step, sums.slice[W, offset=k * W]()
            )
        i += K * step
    while i < Int(size):
        output.unsafe_store[alignment=4 * W](
            i,
            a.unsafe_load[width=W, alignment=4 * W](i)
            + b.unsafe_load[width=W, alignment=4 * W](i),
        )
        i += step


def sum[
    K: Int, W: Int, end: Int
](output: Output, a: Input, size: Int32):
    """The sum of all elements, or with `STORED` one sum for each block."""
    var step = grid_dim.x * block_dim.x * W
    var i = (block_idx.x * block_dim.x + thread_idx.x) * W
    var own = Float32(0)
    while i + (K - 1) * step < Int(size):
        var values = SIMD[DType.float32, K * W](0)
        comptime for k in range(K):
            values = values.insert[offset=k * W](
                a.unsafe_load[width=W, alignment=4 * W](i + k * step)
            )
        own += values.reduce_add()
        i += K * step
    while i < Int(size):
        own += a.unsafe_load[width=W, alignment=4 * W](i).reduce_add()
        i += step
    comptime if end == BY_THREAD:
        _ = Atomic.fetch_add[ordering=Ordering.RELAXED](output, own)
    elif end == BY_WARP:
        var total = warp.sum(own)
        if lane_id() == 0:
            _ = Atomic.fetch_add[ordering=Ordering.RELAXED](output, total)
    else:
        var total = block.sum[block_size=TPB, broadcast=False](own)
        if thread_idx.x == 0:
            comptime if end == BY_BLOCK:
                _ = Atomic.fetch_add[ordering=Ordering.RELAXED](output, total)
            else:
                output[unsafe_offset=block_idx.x] = total


struct Data(Movable):
    var a: DeviceBuffer[DType.float32]
    var b: DeviceBuffer[DType.float32]
    var out: DeviceBuffer[DType.float32]
    var sums: DeviceBuffer[DType.float32]

    def __init__(out self, size: Int, ctx: DeviceContext) raises:
        self.a = ctx.enqueue_create_buffer[DType.float32](size)
        self.b = ctx.enqueue_create_buffer[DType.float32](size)
        self.out = ctx.enqueue_create_buffer[DType.float32](size)
        self.sums = ctx.enqueue_create_buffer[DType.float32](65536)
        with self.a.map_to_host() as a, self.b.map_to_host() as b:
            for i in range(size):
                a[i] = Float32(Int(i % 4 == 0))  # at most 2^24, so that sums are exact
                b[i] = Float32(i % 4093)
        self.out.enqueue_fill(-1)

    def check_addition(self, size: Int) raises:
        if sampled():
            return
        var used = self.out.create_sub_buffer[DType.float32](0, size)
        with used.map_to_host() as host:
            for i in range(size):
                assert_equal(host[i], Float32(Int(i % 4 == 0)) + Float32(i % 4093))
        self.out.enqueue_fill(-1)

    def check_sum(self, size: Int) raises:
        var used = self.out.create_sub_buffer[DType.float32](0, 1)
        with used.map_to_host() as host:
            assert_equal(host[0], Float32((size + 3) // 4))
        self.out.enqueue_fill(-1)


def measure_add[
    K: Int, W: Int
](
    mut table: Benchmark, size: Int, blocks: Int, data: Data, ctx: DeviceContext
) raises:
    def launch(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[add[K, W]](
            data.out,
            data.a,
            data.b,
            Int32(size),
            grid_dim=blocks,
            block_dim=TPB,
        )

    var width = String("x16 B") if W == 4 else String("")
    table.measure(
        String(t"add {K}{width}, {blocks}"), size, 12 * size, launch
    )
    data.check_addition(size)


def measure_sum[
    K: Int, W: Int, end: Int
](
    mut table: Benchmark, size: Int, blocks: Int, data: Data, ctx: DeviceContext
) raises:
    def launch(repetition: Int, ctx: DeviceContext) raises {imm}:
        comptime if end == STORED:
            ctx.enqueue_function[sum[K, W, end]](
                data.sums,
                data.a,
                Int32(size),
                grid_dim=blocks,
                block_dim=TPB,
            )
            ctx.enqueue_function[sum[1, 1, end]](
                data.out, data.sums, Int32(blocks), grid_dim=1, block_dim=TPB
            )
        else:
            ctx.enqueue_function[sum[K, W, end]](
                data.out,
                data.a,
                Int32(size),
                grid_dim=blocks,
                block_dim=TPB,
            )

    comptime ENDS = ["atomic", "by warp", "by thread", "launches"]
    var width = String("x16 B") if W == 4 else String("")
    table.measure(
        String(t"sum {K}{width}, {materialize[ENDS]()[end]}, {blocks}"),
        size,
        4 * size,
        launch,
    )
    if sampled():
        return
    data.out.enqueue_fill(0)
    launch(0, ctx)
    data.check_sum(size)


def main() raises:
    with DeviceContext() as ctx:
        var table = Benchmark(ctx)
        var sizes: List[Int] = [5000]
        var grids: List[Int] = [4]
        if table.full_size:
            sizes = [16 * MI, 64 * MI]
            grids = [1056, 2112, 4224]
        var data = Data(sizes[len(sizes) - 1], ctx)
        for size in sizes:
            for blocks in grids:
                comptime for k in [1, 2, 4, 8]:
                    measure_add[k, 1](table, size, blocks, data, ctx)
                comptime for k in [1, 2, 4]:
                    measure_add[k, 4](table, size, blocks, data, ctx)
        for size in sizes:
            for blocks in grids:
                comptime for k in [1, 2, 4, 8]:
                    measure_sum[k, 1, BY_BLOCK](table, size, blocks, data, ctx)
                comptime for k in [1, 2, 4]:
                    measure_sum[k, 4, BY_BLOCK](table, size, blocks, data, ctx)
                measure_sum[4, 1, STORED](table, size, blocks, data, ctx)
                measure_sum[4, 4, STORED](table, size, blocks, data, ctx)
                measure_sum[4, 1, BY_WARP](table, size, blocks, data, ctx)
                measure_sum[4, 1, BY_THREAD](table, size, blocks, data, ctx)
