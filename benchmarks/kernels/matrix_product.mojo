"""Puzzle 33's matrix products, with the tensor core and without, in both tensor APIs, timed on a real GPU.

The puzzle's kernels themselves, imported from `solutions/p33`. A product of n x n matrices is 2 n^3
operations: 2.1e-3 TFLOP at 1024, 0.137 TFLOP at 4096. NVIDIA GPUs only, as the puzzle.

    mojo build -I problems -I solutions/p33 benchmarks/kernels/matrix_product.mojo -o matrix_product
"""

from max.gpu.host import DeviceBuffer, DeviceContext
from layout import Layout, LayoutTensor, TileTensor, row_major

from lab.benchmark import Benchmark
import p33
import p33_tile_tensor

comptime dtype = DType.float32


@fieldwise_init
struct Factors(Movable):
    """The factors of one product."""

    var a: DeviceBuffer[dtype]
    var b: DeviceBuffer[dtype]

    def __init__(out self, size: Int, ctx: DeviceContext) raises:
        self.a = ctx.enqueue_create_buffer[dtype](size * size)
        self.b = ctx.enqueue_create_buffer[dtype](size * size)
        # Small whole numbers: exact in tf32, and so are their sums in float32.
        with self.a.map_to_host() as a_host, self.b.map_to_host() as b_host:
            for i in range(size * size):
                a_host[i] = Float32(i % 13)
                b_host[i] = Float32(i % 31)


def measure[size: Int](mut table: Benchmark, ctx: DeviceContext) raises:
    comptime layout = Layout.row_major(size, size)
    comptime tile_layout = row_major[size, size]()
    comptime LayoutType = type_of(tile_layout)
    comptime tiled_grid = (size // p33.TILE, size // p33.TILE)
    comptime tensor_core_grid = (size // p33.BN, size // p33.BM)
    var out = ctx.enqueue_create_buffer[dtype](size * size)
    # Two sets of the same factors, taken in turn.
    var even = Factors(size, ctx)
    var odd = Factors(size, ctx)

    def tiled(repetition: Int, ctx: DeviceContext) raises {imm}:
        var a = even.a if repetition % 2 == 0 else odd.a
        var b = even.b if repetition % 2 == 0 else odd.b
        ctx.enqueue_function[p33.matmul_idiomatic_tiled[layout, size]](
            LayoutTensor[dtype, layout](out),
            LayoutTensor[mut=False, dtype, layout](a),
            LayoutTensor[mut=False, dtype, layout](b),
            grid_dim=tiled_grid,
            block_dim=(p33.TILE, p33.TILE),
        )

    def tensor_core(repetition: Int, ctx: DeviceContext) raises {imm}:
        var a = even.a if repetition % 2 == 0 else odd.a
        var b = even.b if repetition % 2 == 0 else odd.b
        ctx.enqueue_function[
            p33.tensor_core_matrix_multiplication[layout, size]
        ](
            LayoutTensor[dtype, layout](out),
            LayoutTensor[mut=False, dtype, layout](a),
            LayoutTensor[mut=False, dtype, layout](b),
            grid_dim=tensor_core_grid,
            block_dim=p33.THREADS,
        )

    def tiled_tile_tensor(repetition: Int, ctx: DeviceContext) raises {imm}:
        var a = even.a if repetition % 2 == 0 else odd.a
        var b = even.b if repetition % 2 == 0 else odd.b
        ctx.enqueue_function[
            p33_tile_tensor.matmul_idiomatic_tiled[LayoutType, size]
        ](
            TileTensor(out, tile_layout),
            TileTensor[mut=False](a, tile_layout),
            TileTensor[mut=False](b, tile_layout),
            grid_dim=tiled_grid,
            block_dim=(p33.TILE, p33.TILE),
        )

    def tensor_core_tile_tensor(
        repetition: Int, ctx: DeviceContext
    ) raises {imm}:
        var a = even.a if repetition % 2 == 0 else odd.a
        var b = even.b if repetition % 2 == 0 else odd.b
        ctx.enqueue_function[
            p33_tile_tensor.tensor_core_matrix_multiplication[LayoutType, size]
        ](
            TileTensor(out, tile_layout),
            TileTensor[mut=False](a, tile_layout),
            TileTensor[mut=False](b, tile_layout),
            grid_dim=tensor_core_grid,
            block_dim=p33.THREADS,
        )

    # The first product is held to exact sums, the others to the first.
    var exact = ctx.enqueue_create_host_buffer[dtype](size * size)

    def check(first: Bool) raises {imm}:
        with out.map_to_host() as out_host:
            if first:
                for i in range(size * size):
                    exact[i] = out_host[i]
                with even.a.map_to_host() as a, even.b.map_to_host() as b:
                    p33.check_sample[size](out_host, a, b)
            else:
                _ = p33.check_all[size](out_host, exact)
        out.enqueue_fill(-1)

    out.enqueue_fill(-1)
    # Bandwidth says nothing here: each element is used many times.
    table.measure("p33:tiled", size * size, 0, tiled)
    check(first=True)
    table.measure("p33:tensor-core", size * size, 0, tensor_core)
    check(first=False)
    table.measure("p33_tile_tensor:tiled", size * size, 0, tiled_tile_tensor)
    check(first=False)
    table.measure(
        "p33_tile_tensor:tensor-core", size * size, 0, tensor_core_tile_tensor
    )
    check(first=False)


def main() raises:
    with DeviceContext() as ctx:
        var table = Benchmark(ctx)
        if not table.timed:
            measure[p33.SIMULATED_SIZE](table, ctx)
            return
        measure[p33.SIZE](table, ctx)
        measure[4096](table, ctx)
