"""Puzzle 28's convolution with asynchronous copies, in both tensor APIs, timed on a real GPU.

The puzzle's kernels themselves, imported from `solutions/p28`. Their tensors count 64 tiles, which do not
fill a large GPU; but a block asks only for its own tile, by the block's number, so that a launch of more
blocks goes on along a longer buffer.

    mojo build -I problems -I solutions/p28 benchmarks/kernels/convolution.mojo -o convolution
"""

from max.gpu.host import DeviceBuffer, DeviceContext, HostBuffer
from layout import LayoutTensor, TileTensor
from std.testing import assert_equal

from lab.benchmark import Benchmark, sampled
import p28
import p28_tile_tensor

comptime dtype = DType.float32
comptime TILE = p28.CONV_TILE_SIZE
comptime HALO = p28.HALO_SIZE
comptime LARGE = 64 * 1024 * 1024  # 262,144 tiles: 512 MiB to read and write


def fill(a: HostBuffer[dtype], weights: HostBuffer[dtype]):
    # Small whole numbers: every sum is exact.
    for i in range(len(a)):
        a[i] = Float32(i % 1021 + 1)
    for i in range(p28.KERNEL_SIZE):
        weights[i] = Float32(i + 1)


def check_and_clear(
    result: DeviceBuffer[dtype],
    a: DeviceBuffer[dtype],
    weights: DeviceBuffer[dtype],
) raises:
    """Compares every element with its window's sum, and wipes the result."""
    if sampled():
        return
    with result.map_to_host() as result_host, a.map_to_host() as a_host:
        with weights.map_to_host() as weights_host:
            for i in range(len(result_host)):
                var place = i % TILE
                var expected = a_host[i]
                if place >= HALO and place < TILE - HALO:
                    expected = 0
                    for j in range(p28.KERNEL_SIZE):
                        expected += a_host[i + j - HALO] * weights_host[j]
                assert_equal(result_host[i], expected)
    result.enqueue_fill(-1)


def measure(mut table: Benchmark, size: Int, ctx: DeviceContext) raises:
    var out = ctx.enqueue_create_buffer[dtype](size)
    out.enqueue_fill(-1)
    # Two sets of the same input, taken in turn.
    var even = ctx.enqueue_create_buffer[dtype](size)
    var odd = ctx.enqueue_create_buffer[dtype](size)
    var weights = ctx.enqueue_create_buffer[dtype](p28.KERNEL_SIZE)
    with weights.map_to_host() as weights_host:
        with even.map_to_host() as even_host:
            fill(even_host, weights_host)
        with odd.map_to_host() as odd_host:
            fill(odd_host, weights_host)

    def layout_tensor(repetition: Int, ctx: DeviceContext) raises {imm}:
        var a = even if repetition % 2 == 0 else odd
        ctx.enqueue_function[p28.async_copy_overlap_convolution](
            LayoutTensor[dtype, p28.layout_async](out),
            LayoutTensor[mut=False, dtype, p28.layout_async](a),
            LayoutTensor[mut=False, dtype, p28.weights_layout](weights),
            grid_dim=size // TILE,
            block_dim=p28.THREADS_PER_BLOCK_ASYNC,
        )

    def tile_tensor(repetition: Int, ctx: DeviceContext) raises {imm}:
        var a = even if repetition % 2 == 0 else odd
        ctx.enqueue_function[p28_tile_tensor.async_copy_overlap_convolution](
            TileTensor(out, p28_tile_tensor.layout_async),
            TileTensor[mut=False](a, p28_tile_tensor.layout_async),
            TileTensor[mut=False](weights, p28_tile_tensor.weights_layout),
            grid_dim=size // TILE,
            block_dim=p28_tile_tensor.THREADS_PER_BLOCK_ASYNC,
        )

    var bytes = 2 * size * 4
    table.measure("p28", size, bytes, layout_tensor)
    check_and_clear(out, even, weights)
    table.measure("p28_tile_tensor", size, bytes, tile_tensor)
    check_and_clear(out, even, weights)


def main() raises:
    with DeviceContext() as ctx:
        var table = Benchmark(ctx)
        measure(table, p28.VECTOR_SIZE, ctx)
        if table.full_size:
            measure(table, LARGE, ctx)
