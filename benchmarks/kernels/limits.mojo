"""Kernels that reach different limits of a GPU: strides, caches, banks, atomics, occupancy, latency.

Each row is a kernel of a few lines, whose time one part of the GPU decides: what a transpose costs with and
without padding, reads at six strides and from permuted indices, histograms of 1 to 256 bins, stencils,
softmax by rows, atomics on one address and on many, scans, kernels with few warps or many registers.

    mojo build -I problems benchmarks/kernels/limits.mojo -o limits
"""

from max.gpu import (
    AddressSpace,
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
from std.math import exp
from std.memory import unsafe_stack_allocation
from std.testing import assert_equal, assert_almost_equal

from lab.benchmark import Benchmark, sampled

comptime KI = 1024
comptime MI = 1024 * 1024
comptime Output = Pointer[Float32, MutAnyOrigin]
comptime Input = Pointer[Float32, ImmutAnyOrigin]
comptime Counts = Pointer[Int32, MutAnyOrigin]
comptime Keys = Pointer[Int32, ImmutAnyOrigin]


def global_index() -> Int:
    return block_idx.x * block_dim.x + thread_idx.x


def copy(output: Output, a: Input):
    var i = global_index()
    output[unsafe_offset=i] = a[unsafe_offset=i]


def read_strided[stride: Int](output: Output, a: Input, size: Int32):
    """Each thread reads one element; neighbouring threads are `stride` elements apart.
    """
    var i = global_index()
    var rows = Int(size) // stride
    output[unsafe_offset=i] = a[unsafe_offset=(i % rows) * stride + i // rows]


def gather(output: Output, a: Input, indices: Keys):
    var i = global_index()
    output[unsafe_offset=i] = a[unsafe_offset=Int(indices[unsafe_offset=i])]


def transpose[padding: Int](output: Output, a: Input, side: Int32):
    """A tile of 32 x 32 through shared memory, by 32 x 8 threads."""
    var tile = unsafe_stack_allocation[
        32 * (32 + padding), Float32, address_space=AddressSpace.SHARED
    ]()
    var n = Int(side)
    var x = thread_idx.x
    comptime for step in range(4):
        var y = thread_idx.y + 8 * step
        tile[unsafe_offset=y * (32 + padding) + x] = a[
            unsafe_offset=(block_idx.y * 32 + y) * n + block_idx.x * 32 + x
        ]
    barrier()
    comptime for step in range(4):
        var y = thread_idx.y + 8 * step
        output[
            unsafe_offset=(block_idx.x * 32 + y) * n + block_idx.y * 32 + x
        ] = tile[unsafe_offset=x * (32 + padding) + y]


def transpose_directly(output: Output, a: Input, side: Int32):
    """Without shared memory: the stores of a warp are a column."""
    var n = Int(side)
    var col = block_idx.x * 32 + thread_idx.x
    comptime for step in range(4):
        var row = block_idx.y * 32 + thread_idx.y + 8 * step
        output[unsafe_offset=col * n + row] = a[unsafe_offset=row * n + col]


def histogram_global(counts: Counts, keys: Keys):
    var i = global_index()
    _ = Atomic[Int32, scope="device"].fetch_add[ordering=Ordering.RELAXED](
        counts.unsafe_offset(Int(keys[unsafe_offset=i])), Int32(1)
    )


def histogram_shared(counts: Counts, keys: Keys, size: Int32):
    """One histogram of 256 bins per block in shared memory, added to the global one at the end.
    """
    var bins = unsafe_stack_allocation[
        256, Int32, address_space=AddressSpace.SHARED
    ]()
    bins[unsafe_offset=thread_idx.x] = 0
    barrier()
    for i in range(global_index(), Int(size), grid_dim.x * block_dim.x):
        _ = Atomic[Int32, scope="block"].fetch_add[ordering=Ordering.RELAXED](
            bins.unsafe_offset(Int(keys[unsafe_offset=i])), Int32(1)
        )
    barrier()
    _ = Atomic[Int32, scope="device"].fetch_add[ordering=Ordering.RELAXED](
        counts.unsafe_offset(thread_idx.x), bins[unsafe_offset=thread_idx.x]
    )


def stencil_global(output: Output, a: Input, side: Int32):
    """The mean of an element and its four neighbours, read from global memory; edges are copied.
    """
    var n = Int(side)
    var x = block_idx.x * 32 + thread_idx.x
    var y = block_idx.y * 8 + thread_idx.y
    var i = y * n + x
    if x == 0 or y == 0 or x == n - 1 or y == n - 1:
        output[unsafe_offset=i] = a[unsafe_offset=i]
    else:
        output[unsafe_offset=i] = (
            a[unsafe_offset=i]
            + a[unsafe_offset=i - 1]
            + a[unsafe_offset=i + 1]
            + a[unsafe_offset=i - n]
            + a[unsafe_offset=i + n]
        ) * 0.25


def softmax_rows(output: Output, a: Input, cols: Int32):
    """One block of 256 threads per row, which it reads three times."""
    var row = block_idx.x * Int(cols)
    var largest = Float32.MIN
    for i in range(thread_idx.x, Int(cols), 256):
        largest = max(largest, a[unsafe_offset=row + i])
    largest = block.max[block_size=256, broadcast=True](largest)
    var total = Float32(0)
    for i in range(thread_idx.x, Int(cols), 256):
        total += exp(a[unsafe_offset=row + i] - largest)
    total = block.sum[block_size=256, broadcast=True](total)
    for i in range(thread_idx.x, Int(cols), 256):
        output[unsafe_offset=row + i] = (
            exp(a[unsafe_offset=row + i] - largest) / total
        )


def scan_blocks(output: Output, a: Input):
    """An inclusive prefix sum in each block of 256, in shared memory."""
    var shared = unsafe_stack_allocation[
        256, Float32, address_space=AddressSpace.SHARED
    ]()
    var i = thread_idx.x
    shared[unsafe_offset=i] = a[unsafe_offset=global_index()]
    barrier()
    var offset = 1
    while offset < 256:
        var left = Float32(0)
        if i >= offset:
            left = shared[unsafe_offset=i - offset]
        barrier()
        shared[unsafe_offset=i] += left
        barrier()
        offset *= 2
    output[unsafe_offset=global_index()] = shared[unsafe_offset=i]


def multiply_add_chain[chains: Int](output: Output, a: Input, steps: Int32):
    """`chains` independent chains of multiply-adds per thread: latency with one, issue with many.
    """
    var values = SIMD[DType.float32, chains](0)
    comptime for c in range(chains):
        values[c] = a[unsafe_offset=thread_idx.x + c]
    for _ in range(Int(steps)):
        comptime for _ in range(16):
            values = values.fma(
                SIMD[DType.float32, chains](0.5), SIMD[DType.float32, chains](1)
            )
    output[unsafe_offset=global_index()] = values.reduce_add()


def pointer_chase(output: Counts, next: Keys, steps: Int32):
    """One thread follows a list: the latency of one level of memory."""
    var i = Int32(0)
    for _ in range(Int(steps)):
        i = next[unsafe_offset=Int(i)]
    output[unsafe_offset=0] = i


struct Floats(Movable):
    """An input and an output of float32, the input small whole numbers."""

    var a: DeviceBuffer[DType.float32]
    var out: DeviceBuffer[DType.float32]

    def __init__(out self, size: Int, ctx: DeviceContext) raises:
        self.a = ctx.enqueue_create_buffer[DType.float32](size)
        self.out = ctx.enqueue_create_buffer[DType.float32](size)
        with self.a.map_to_host() as a:
            for i in range(size):
                a[i] = Float32(i % 4093)
        self.out.enqueue_fill(-1)


def measure_strides(mut table: Benchmark, size: Int, ctx: DeviceContext) raises:
    var data = Floats(size, ctx)
    comptime for stride in [1, 2, 4, 8, 32, 1024]:

        def strided(repetition: Int, ctx: DeviceContext) raises {imm}:
            ctx.enqueue_function[read_strided[stride]](
                data.out,
                data.a,
                Int32(size),
                grid_dim=size // 256,
                block_dim=256,
            )

        table.measure(String(t"read, stride {stride}"), size, 8 * size, strided)
        if not sampled():
            with data.out.map_to_host() as host:
                var rows = size // stride
                for i in range(0, size, 61):
                    assert_equal(
                        host[i],
                        Float32(((i % rows) * stride + i // rows) % 4093),
                    )
    # Reads from every `spread`-th element on, in an order without neighbours.
    for reach in [4 * KI, 256 * KI, size]:
        var indices = ctx.enqueue_create_buffer[DType.int32](size)
        with indices.map_to_host() as host:
            for i in range(size):
                host[i] = Int32((i * 40503 + i // 7) % min(reach, size))

        def gathered(repetition: Int, ctx: DeviceContext) raises {imm}:
            ctx.enqueue_function[gather](
                data.out, data.a, indices, grid_dim=size // 256, block_dim=256
            )

        table.measure(
            String(t"gather from {min(reach, size)}"), size, 12 * size, gathered
        )


def measure_squares[side: Int](mut table: Benchmark, ctx: DeviceContext) raises:
    comptime size = side * side
    var data = Floats(size, ctx)

    def direct(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[transpose_directly](
            data.out,
            data.a,
            Int32(side),
            grid_dim=(side // 32, side // 32),
            block_dim=(32, 8),
        )

    def unpadded(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[transpose[0]](
            data.out,
            data.a,
            Int32(side),
            grid_dim=(side // 32, side // 32),
            block_dim=(32, 8),
        )

    def padded(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[transpose[1]](
            data.out,
            data.a,
            Int32(side),
            grid_dim=(side // 32, side // 32),
            block_dim=(32, 8),
        )

    def stencil(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[stencil_global](
            data.out,
            data.a,
            Int32(side),
            grid_dim=(side // 32, side // 8),
            block_dim=(32, 8),
        )

    def check() raises {imm}:
        if not sampled():
            with data.out.map_to_host() as host:
                for i in range(0, size, 997):
                    assert_equal(
                        host[i], Float32((i % side * side + i // side) % 4093)
                    )
        data.out.enqueue_fill(-1)

    table.measure("transpose, direct", size, 8 * size, direct)
    check()
    table.measure("transpose, unpadded", size, 8 * size, unpadded)
    check()
    table.measure("transpose, padded", size, 8 * size, padded)
    check()
    table.measure("stencil", size, 8 * size, stencil)


def measure_histograms(
    mut table: Benchmark, size: Int, ctx: DeviceContext
) raises:
    var counts = ctx.enqueue_create_buffer[DType.int32](256)
    counts.enqueue_fill(0)
    for bins in [1, 4, 32, 256]:
        var keys = ctx.enqueue_create_buffer[DType.int32](size)
        with keys.map_to_host() as host:
            var state = UInt32(1)
            for i in range(size):
                state = state * 1664525 + 1013904223
                host[i] = Int32((state >> 16) % UInt32(bins))

        def in_global(repetition: Int, ctx: DeviceContext) raises {imm}:
            ctx.enqueue_function[histogram_global](
                counts, keys, grid_dim=size // 256, block_dim=256
            )

        def in_shared(repetition: Int, ctx: DeviceContext) raises {imm}:
            ctx.enqueue_function[histogram_shared](
                counts,
                keys,
                Int32(size),
                grid_dim=min(1056, size // 256),
                block_dim=256,
            )

        table.measure(
            String(t"histogram, global, {bins} bins"), size, 4 * size, in_global
        )
        table.measure(
            String(t"histogram, shared, {bins} bins"), size, 4 * size, in_shared
        )
        counts.enqueue_fill(0)
        in_shared(0, ctx)
        if not sampled():
            with counts.map_to_host() as host:
                var total = 0
                for b in range(bins):
                    total += Int(host[b])
                assert_equal(total, size)


def measure_rows(mut table: Benchmark, size: Int, ctx: DeviceContext) raises:
    var data = Floats(size, ctx)
    for cols in [1024, 8192]:

        def softmax(repetition: Int, ctx: DeviceContext) raises {imm}:
            ctx.enqueue_function[softmax_rows](
                data.out,
                data.a,
                Int32(cols),
                grid_dim=size // cols,
                block_dim=256,
            )

        table.measure(
            String(t"softmax, rows of {cols}"), size, 8 * size, softmax
        )
        if not sampled():
            with data.out.map_to_host() as host:
                var total = Float32(0)
                for i in range(cols):
                    total += host[i]
                assert_almost_equal(total, Float32(1), atol=1e-4)

    def scan(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[scan_blocks](
            data.out, data.a, grid_dim=size // 256, block_dim=256
        )

    table.measure("scan in blocks of 256", size, 8 * size, scan)


def measure_copies(mut table: Benchmark, ctx: DeviceContext) raises:
    """Sizes that fit the second-level cache and that do not."""
    for size in [MI // 4, MI, 4 * MI, 16 * MI, 64 * MI]:
        if size > MI // 4 and not table.full_size:
            continue
        var data = Floats(size, ctx)

        def copied(repetition: Int, ctx: DeviceContext) raises {imm}:
            ctx.enqueue_function[copy](
                data.out, data.a, grid_dim=size // 256, block_dim=256
            )

        table.measure("copy", size, 8 * size, copied)

        # The launch before has left its data in the cache, where they fit.
        def twice(repetition: Int, ctx: DeviceContext) raises {imm}:
            ctx.enqueue_function[copy](
                data.out, data.a, grid_dim=size // 256, block_dim=256
            )
            ctx.enqueue_function[copy](
                data.out, data.a, grid_dim=size // 256, block_dim=256
            )

        table.measure("copy, twice", size, 16 * size, twice)


def measure_arithmetic(
    mut table: Benchmark, steps: Int, ctx: DeviceContext
) raises:
    """The elements are the multiply-adds of a thread's chain; one block per multiprocessor of an H200.
    """
    var data = Floats(132 * 1024, ctx)
    for threads in [32, 128, 512, 1024]:

        def one(repetition: Int, ctx: DeviceContext) raises {imm}:
            ctx.enqueue_function[multiply_add_chain[1]](
                data.out, data.a, Int32(steps), grid_dim=132, block_dim=threads
            )

        def four(repetition: Int, ctx: DeviceContext) raises {imm}:
            ctx.enqueue_function[multiply_add_chain[4]](
                data.out, data.a, Int32(steps), grid_dim=132, block_dim=threads
            )

        def many(repetition: Int, ctx: DeviceContext) raises {imm}:
            ctx.enqueue_function[multiply_add_chain[64]](
                data.out, data.a, Int32(steps), grid_dim=132, block_dim=threads
            )

        table.measure(String(t"1 chain, {threads} threads"), 16 * steps, 0, one)
        table.measure(
            String(t"4 chains, {threads} threads"), 16 * steps, 0, four
        )
        if threads < 1024:
            table.measure(
                String(t"64 chains, {threads} threads"), 16 * steps, 0, many
            )


def measure_latency(
    mut table: Benchmark, steps: Int, ctx: DeviceContext
) raises:
    var out = ctx.enqueue_create_buffer[DType.int32](1)
    for length in [1024, 32 * KI, MI, 64 * MI]:
        if length > 32 * KI and not table.full_size:
            continue
        var next = ctx.enqueue_create_buffer[DType.int32](length)
        with next.map_to_host() as host:
            # Steps of 32 elements, one line of 128 bytes after the other, in an order far from it.
            for i in range(length):
                host[i] = Int32((i + 32 * 1031) % length)

        def chase(repetition: Int, ctx: DeviceContext) raises {imm}:
            ctx.enqueue_function[pointer_chase](
                out, next, Int32(steps), grid_dim=1, block_dim=1
            )

        table.measure(String(t"chase in {length}"), steps, 0, chase)
        if not sampled():
            with out.map_to_host() as host:
                assert_equal(Int(host[0]), steps * 32 * 1031 % length)


def main() raises:
    with DeviceContext() as ctx:
        var table = Benchmark(ctx)
        var large = 64 * MI if table.full_size else 32 * KI
        measure_copies(table, ctx)
        measure_strides(table, large, ctx)
        if table.full_size:
            measure_squares[8192](table, ctx)
            measure_squares[1024](table, ctx)
        else:
            measure_squares[64](table, ctx)
        measure_histograms(table, large // 2, ctx)
        measure_rows(table, large, ctx)
        measure_arithmetic(table, 1000 if table.full_size else 2, ctx)
        measure_latency(table, 4096 if table.full_size else 64, ctx)
