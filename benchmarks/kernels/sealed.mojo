"""Kernels whose times were recorded and sealed before the simulator's model of time was made.

Their times were not looked at until the model was complete. No constant of the model and no part of it may
come from them; `tests/simulator/timing` compares them with its estimates.

    mojo build -I problems benchmarks/kernels/sealed.mojo -o sealed
"""

from max.gpu import (
    AddressSpace,
    WARP_SIZE,
    barrier,
    block_dim,
    block_idx,
    grid_dim,
    lane_id,
    thread_idx,
    warp_id,
)
from max.gpu.host import DeviceBuffer, DeviceContext
from max.gpu.primitives import block, warp
from std.atomic import Atomic, Ordering
from std.math import exp, sqrt
from std.memory import unsafe_stack_allocation
from std.testing import assert_almost_equal, assert_equal

from lab.benchmark import Benchmark, sampled

comptime KI = 1024
comptime MI = 1024 * 1024
comptime Output = Pointer[Float32, MutAnyOrigin]
comptime Input = Pointer[Float32, ImmutAnyOrigin]


def global_index() -> Int:
    return block_idx.x * block_dim.x + thread_idx.x


def triad(output: Output, a: Input, b: Input):
    var i = global_index()
    output[unsafe_offset=i] = a[unsafe_offset=i] + 3 * b[unsafe_offset=i]


def reverse(output: Output, a: Input, size: Int32):
    var i = global_index()
    output[unsafe_offset=Int(size) - 1 - i] = a[unsafe_offset=i]


def special_functions(output: Output, a: Input):
    var i = global_index()
    var x = a[unsafe_offset=i]
    comptime for _ in range(4):
        x = sqrt(exp(-x))
    output[unsafe_offset=i] = x


def polynomial[dtype: DType, degree: Int](output: Output, a: Input):
    """A chain of multiply-adds per thread, with all blocks resident."""
    var i = global_index()
    var x = Scalar[dtype](a[unsafe_offset=i]) * Scalar[dtype](0.001)
    var sum = Scalar[dtype](1)
    comptime for k in range(degree):
        sum = sum.fma(x, Scalar[dtype](k + 1))
    output[unsafe_offset=i] = Float32(sum)


def hash(output: Output, a: Input):
    """Twelve rounds of shifts, exclusive ors and products of integers."""
    var i = global_index()
    var x = UInt32(a[unsafe_offset=i])
    comptime for _ in range(12):
        x ^= x >> 15
        x *= 0x2C1B3C6D
        x ^= x << 7
    output[unsafe_offset=i] = Float32(x & 4095)


def row_sums(output: Output, a: Input, cols: Int32):
    """A block for each row."""
    var row = block_idx.x * Int(cols)
    var total = Float32(0)
    for i in range(thread_idx.x, Int(cols), 256):
        total += a[unsafe_offset=row + i]
    total = block.sum[block_size=256](total)
    if thread_idx.x == 0:
        output[unsafe_offset=block_idx.x] = total


def column_sums(output: Output, a: Input, cols: Int32, rows: Int32):
    """A thread for each column."""
    var col = global_index()
    var total = Float32(0)
    for row in range(Int(rows)):
        total += a[unsafe_offset=row * Int(cols) + col]
    output[unsafe_offset=col] = total


def matrix_vector(output: Output, a: Input, x: Input, cols: Int32):
    """A warp for each row."""
    var row = global_index() // WARP_SIZE
    var total = Float32(0)
    for i in range(lane_id(), Int(cols), WARP_SIZE):
        total += a[unsafe_offset=row * Int(cols) + i] * x[unsafe_offset=i]
    total = warp.sum(total)
    if lane_id() == 0:
        output[unsafe_offset=row] = total


def blur(output: Output, a: Input, side: Int32):
    """The mean of 3 x 3 elements from global memory; edges are copied."""
    var n = Int(side)
    var x = block_idx.x * 64 + thread_idx.x
    var y = block_idx.y * 4 + thread_idx.y
    var i = y * n + x
    if x == 0 or y == 0 or x == n - 1 or y == n - 1:
        output[unsafe_offset=i] = a[unsafe_offset=i]
        return
    var total = Float32(0)
    comptime for dy in range(-1, 2):
        comptime for dx in range(-1, 2):
            total += a[unsafe_offset=i + dy * n + dx]
    output[unsafe_offset=i] = total / 9


def window_sums(output: Output, a: Input):
    """Sums of 16 neighbours from shared memory, in blocks of 128."""
    var own = unsafe_stack_allocation[
        144, Float32, address_space=AddressSpace.SHARED
    ]()
    var t = thread_idx.x
    var i = global_index()
    own[unsafe_offset=t] = a[unsafe_offset=i]
    if t < 16:
        own[unsafe_offset=128 + t] = a[unsafe_offset=i + 128]
    barrier()
    var total = Float32(0)
    comptime for k in range(16):
        total += own[unsafe_offset=t + k]
    output[unsafe_offset=i] = total


def lengths_of_points(output: Output, a: Input):
    """Points of three neighbouring coordinates: reads with a stride of 12 bytes.
    """
    var i = global_index()
    var x = a[unsafe_offset=3 * i]
    var y = a[unsafe_offset=3 * i + 1]
    var z = a[unsafe_offset=3 * i + 2]
    output[unsafe_offset=i] = sqrt(x * x + y * y + z * z)


def dot_product(output: Output, a: Input, b: Input, size: Int32):
    """A grid-stride loop, a sum of each block, and one atomic addition per block.
    """
    var total = Float32(0)
    for i in range(global_index(), Int(size), grid_dim.x * block_dim.x):
        total += a[unsafe_offset=i] * b[unsafe_offset=i]
    total = block.sum[block_size=512](total)
    if thread_idx.x == 0:
        _ = Atomic[Float32, scope="device"].fetch_add[
            ordering=Ordering.RELAXED
        ](output, total)


def small_products(output: Output, a: Input, b: Input):
    """Products of 16 x 16 matrices in shared memory, one for each block."""
    var left = unsafe_stack_allocation[
        256, Float32, address_space=AddressSpace.SHARED
    ]()
    var right = unsafe_stack_allocation[
        256, Float32, address_space=AddressSpace.SHARED
    ]()
    var t = thread_idx.x
    left[unsafe_offset=t] = a[unsafe_offset=global_index()]
    right[unsafe_offset=t] = b[unsafe_offset=global_index()]
    barrier()
    var row = t // 16
    var col = t % 16
    var total = Float32(0)
    comptime for k in range(16):
        total += (
            left[unsafe_offset=16 * row + k] * right[unsafe_offset=16 * k + col]
        )
    output[unsafe_offset=global_index()] = total


def sort_blocks(output: Output, a: Input):
    """Each block sorts 512 elements in shared memory by a bitonic network."""
    var own = unsafe_stack_allocation[
        512, Float32, address_space=AddressSpace.SHARED
    ]()
    var t = thread_idx.x
    own[unsafe_offset=t] = a[unsafe_offset=global_index()]
    barrier()
    var size = 2
    while size <= 512:
        var stride = size // 2
        while stride > 0:
            var other = t ^ stride
            if other > t:
                var x = own[unsafe_offset=t]
                var y = own[unsafe_offset=other]
                if (x > y) == (t & size == 0):
                    own[unsafe_offset=t] = y
                    own[unsafe_offset=other] = x
            barrier()
            stride //= 2
        size *= 2
    output[unsafe_offset=global_index()] = own[unsafe_offset=t]


def scan_warps(output: Output, a: Input):
    """Inclusive prefix sums of each warp by shuffles."""
    output[unsafe_offset=global_index()] = warp.prefix_sum(
        a[unsafe_offset=global_index()]
    )


def copy_by_few[K: Int](output: Output, a: Input, size: Int32):
    """Few warps, with K loads in flight per thread."""
    var step = grid_dim.x * block_dim.x
    var i = global_index()
    while i < Int(size):
        var values = SIMD[DType.float32, K](0)
        comptime for k in range(K):
            values[k] = a[unsafe_offset=i + k * step]
        comptime for k in range(K):
            output[unsafe_offset=i + k * step] = values[k]
        i += K * step


def copy_halves(
    output: Pointer[Float16, MutAnyOrigin],
    a: Pointer[Float16, ImmutAnyOrigin],
):
    var i = global_index()
    output[unsafe_offset=i] = a[unsafe_offset=i]


def shuffled_lines(output: Output, a: Input, lines: Int32):
    """Each warp reads 128 bytes from a place far from its neighbour's."""
    var i = global_index()
    var line = i // 32 * 40503 % Int(lines)
    output[unsafe_offset=i] = a[unsafe_offset=32 * line + i % 32]


def count_steps(output: Output, a: Input):
    """A loop whose length depends on the data: lanes of a warp diverge."""
    var i = global_index()
    var x = UInt32(a[unsafe_offset=i]) + 1
    var steps = Float32(0)
    while x > 1:
        x = x // 2 if x % 2 == 0 else 3 * x + 1
        steps += 1
    output[unsafe_offset=i] = steps


def many_registers(output: Output, a: Input):
    """Thirty-two loads in flight per thread, and products of all pairs of neighbours.
    """
    var i = 32 * block_idx.x * block_dim.x + thread_idx.x
    var values = SIMD[DType.float32, 32](0)
    comptime for k in range(32):
        values[k] = a[unsafe_offset=i + k * block_dim.x]
    var total = Float32(0)
    comptime for k in range(31):
        comptime for j in range(k + 1, 32):
            total = total.fma(Float32(0.5), values[k] * values[j])
    output[unsafe_offset=global_index()] = total


struct Data(Movable):
    var a: DeviceBuffer[DType.float32]
    var b: DeviceBuffer[DType.float32]
    var out: DeviceBuffer[DType.float32]

    def __init__(out self, size: Int, ctx: DeviceContext) raises:
        self.a = ctx.enqueue_create_buffer[DType.float32](size + 256)
        self.b = ctx.enqueue_create_buffer[DType.float32](size + 256)
        self.out = ctx.enqueue_create_buffer[DType.float32](size + 256)
        with self.a.map_to_host() as a, self.b.map_to_host() as b:
            for i in range(len(a)):
                a[i] = Float32(i % 509)
                b[i] = Float32(i % 7)
        self.out.enqueue_fill(-1)

    def expect(self, index: Int, value: Float32) raises:
        """Compares one element, where all blocks ran, and clears it."""
        var one = self.out.create_sub_buffer[DType.float32](index, 1)
        if not sampled():
            with one.map_to_host() as host:
                assert_almost_equal(host[0], value, rtol=1e-4)
        one.enqueue_fill(-1)


def measure_elementwise(
    mut table: Benchmark, size: Int, data: Data, ctx: DeviceContext
) raises:
    def added(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[triad](
            data.out, data.a, data.b, grid_dim=size // 256, block_dim=256
        )

    table.measure("triad", size, 12 * size, added)
    data.expect(1000, Float32(1000 % 509 + 3 * (1000 % 7)))

    def reversed(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[reverse](
            data.out, data.a, Int32(size), grid_dim=size // 128, block_dim=128
        )

    table.measure("reverse", size, 8 * size, reversed)
    data.expect(size - 1 - 1000, Float32(1000 % 509))

    def special(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[special_functions](
            data.out, data.a, grid_dim=size // 256, block_dim=256
        )

    table.measure("special functions", size, 8 * size, special)

    def single(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[polynomial[DType.float32, 256]](
            data.out, data.a, grid_dim=size // 256, block_dim=256
        )

    table.measure("polynomial, float32", size, 8 * size, single)
    data.expect(509, 1 * 256)

    def double(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[polynomial[DType.float64, 32]](
            data.out, data.a, grid_dim=size // 256, block_dim=256
        )

    table.measure("polynomial, float64", size, 8 * size, double)
    data.expect(509, 32)

    def hashed(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[hash](
            data.out, data.a, grid_dim=size // 256, block_dim=256
        )

    table.measure("hash", size, 8 * size, hashed)

    def points(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[lengths_of_points](
            data.out, data.a, grid_dim=size // 4 // 256, block_dim=256
        )

    table.measure("lengths of points", size // 4, 4 * size, points)

    def scanned(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[scan_warps](
            data.out, data.a, grid_dim=size // 256, block_dim=256
        )

    table.measure("scan of warps", size, 8 * size, scanned)
    data.expect(3, 6)

    def halves(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[copy_halves](
            data.out.unsafe_ptr().unsafe_bitcast[Float16](),
            data.a.unsafe_ptr().unsafe_bitcast[Float16](),
            grid_dim=size // 256,
            block_dim=256,
        )

    table.measure("copy of float16", size, 4 * size, halves)

    def lines(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[shuffled_lines](
            data.out,
            data.a,
            Int32(size // 32),
            grid_dim=size // 256,
            block_dim=256,
        )

    table.measure("shuffled lines", size, 8 * size, lines)

    def counted(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[count_steps](
            data.out, data.a, grid_dim=size // 256, block_dim=256
        )

    table.measure("loops of other lengths", size, 8 * size, counted)
    data.expect(7, 3)

    def registers(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[many_registers](
            data.out, data.a, grid_dim=size // (32 * 128), block_dim=128
        )

    table.measure("many registers", size // 32, 4 * size, registers)


def measure_blocks(
    mut table: Benchmark, size: Int, data: Data, ctx: DeviceContext
) raises:
    def windows(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[window_sums](
            data.out, data.a, grid_dim=size // 128, block_dim=128
        )

    table.measure("sums of windows", size, 8 * size, windows)
    data.expect(0, 120)

    def small(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[small_products](
            data.out, data.a, data.b, grid_dim=size // 256, block_dim=256
        )

    table.measure("small products", size, 12 * size, small)

    def sorted(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[sort_blocks](
            data.out, data.a, grid_dim=size // 512, block_dim=512
        )

    table.measure("sort of blocks", size, 8 * size, sorted)
    data.expect(5, 2)

    def dot(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[dot_product](
            data.out,
            data.a,
            data.b,
            Int32(size),
            grid_dim=min(528, size // 512),
            block_dim=512,
        )

    table.measure("dot product", size, 8 * size, dot)
    for warps in [1, 4]:

        def few(repetition: Int, ctx: DeviceContext) raises {imm}:
            ctx.enqueue_function[copy_by_few[8]](
                data.out,
                data.a,
                Int32(size),
                grid_dim=min(128, size // (32 * warps * 8)),
                block_dim=32 * warps,
            )

        table.measure(String(t"copy by {warps} warps"), size, 8 * size, few)


def measure_matrices(
    mut table: Benchmark, side: Int, data: Data, ctx: DeviceContext
) raises:
    var size = side * side

    def rows(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[row_sums](
            data.out, data.a, Int32(side), grid_dim=side, block_dim=256
        )

    table.measure("row sums", size, 4 * size, rows)

    def columns(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[column_sums](
            data.out,
            data.a,
            Int32(side),
            Int32(side),
            grid_dim=side // 64,
            block_dim=64,
        )

    table.measure("column sums", size, 4 * size, columns)

    def product(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[matrix_vector](
            data.out,
            data.a,
            data.b,
            Int32(side),
            grid_dim=side // 8,
            block_dim=256,
        )

    table.measure("matrix by vector", size, 4 * size, product)

    def blurred(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[blur](
            data.out,
            data.a,
            Int32(side),
            grid_dim=(side // 64, side // 4),
            block_dim=(64, 4),
        )

    table.measure("blur", size, 8 * size, blurred)


def main() raises:
    with DeviceContext() as ctx:
        var table = Benchmark(ctx)
        var size = 16 * MI if table.full_size else 16 * KI
        var data = Data(size, ctx)
        measure_elementwise(table, size, data, ctx)
        measure_blocks(table, size, data, ctx)
        measure_matrices(
            table, 4 * KI if table.full_size else 128, data, ctx
        )
