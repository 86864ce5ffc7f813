"""Products of square matrices in float32 without tensor cores: naive, tiled, and with tiles in registers.

Each kernel computes `n` x `n` results. `naive` reads every factor from global memory. `tiled` is puzzle 16's
kernel with tiles of 32 x 32. In `registers` each thread keeps 8 x 8 results in registers (or 4 x 4), so that
an element read from shared memory is used eight times (or four times). `staged` is puzzle 41's kernel, with
vector loads and two stages of shared memory; its parameters take single ideas away again.

    mojo build -I problems benchmarks/kernels/register_tiles.mojo -o register_tiles
"""

from max.gpu import AddressSpace, barrier, block_idx, thread_idx
from max.gpu.host import DeviceBuffer, DeviceContext
from std.memory import unsafe_stack_allocation
from std.testing import assert_equal

from lab.benchmark import Benchmark, sampled

comptime Output = Pointer[Float32, MutAnyOrigin]
comptime Input = Pointer[Float32, ImmutAnyOrigin]
comptime TILE = 32


def naive[n: Int](output: Output, a: Input, b: Input):
    var row = block_idx.y * TILE + thread_idx.y
    var col = block_idx.x * TILE + thread_idx.x
    var total = Float32(0)
    for k in range(n):
        total += a[unsafe_offset=row * n + k] * b[unsafe_offset=k * n + col]
    output[unsafe_offset=row * n + col] = total


def tiled[n: Int](output: Output, a: Input, b: Input):
    var a_tile = unsafe_stack_allocation[
        TILE * TILE, Float32, address_space=AddressSpace.SHARED
    ]()
    var b_tile = unsafe_stack_allocation[
        TILE * TILE, Float32, address_space=AddressSpace.SHARED
    ]()
    var y = thread_idx.y
    var x = thread_idx.x
    var row = block_idx.y * TILE + y
    var col = block_idx.x * TILE + x
    var total = Float32(0)
    for step in range(n // TILE):
        a_tile[unsafe_offset=y * TILE + x] = a[
            unsafe_offset=row * n + step * TILE + x
        ]
        b_tile[unsafe_offset=y * TILE + x] = b[
            unsafe_offset=(step * TILE + y) * n + col
        ]
        barrier()
        comptime for k in range(TILE):
            total += (
                a_tile[unsafe_offset=y * TILE + k]
                * b_tile[unsafe_offset=k * TILE + x]
            )
        barrier()
    output[unsafe_offset=row * n + col] = total


def registers[
    n: Int, side: Int, depth: Int
](output: Output, a: Input, b: Input):
    """256 threads compute (16 * side) x (16 * side) results, `side` x `side` each, in steps of `depth`.
    """
    comptime BLOCK = 16 * side
    # The tile of `a` is stored by columns, so that a thread reads its rows from neighbouring addresses.
    var a_tile = unsafe_stack_allocation[
        depth * BLOCK, Float32, alignment=16, address_space=AddressSpace.SHARED
    ]()
    var b_tile = unsafe_stack_allocation[
        depth * BLOCK, Float32, alignment=16, address_space=AddressSpace.SHARED
    ]()
    var thread = thread_idx.x
    var y = thread // 16
    var x = thread % 16
    var first_row = block_idx.y * BLOCK
    var first_col = block_idx.x * BLOCK
    var totals = Array[SIMD[DType.float32, side], side](
        fill=SIMD[DType.float32, side](0)
    )
    for step in range(n // depth):
        comptime for load in range(depth * BLOCK // 256):
            var i = thread + load * 256
            a_tile[unsafe_offset=(i % depth) * BLOCK + i // depth] = a[
                unsafe_offset=(first_row + i // depth) * n
                + step * depth
                + i % depth
            ]
            b_tile[unsafe_offset=i] = b[
                unsafe_offset=(step * depth + i // BLOCK) * n
                + first_col
                + i % BLOCK
            ]
        barrier()
        comptime for k in range(depth):
            var column = SIMD[DType.float32, side](0)
            var row = SIMD[DType.float32, side](0)
            comptime for part in range(side // 4):
                # Quarters of the block's side lie 64 apart, so that the lanes of a warp read without conflicts.
                var rows = a_tile.unsafe_load[width=4, alignment=16](
                    k * BLOCK + part * 64 + y * 4
                )
                var cols = b_tile.unsafe_load[width=4, alignment=16](
                    k * BLOCK + part * 64 + x * 4
                )
                comptime for i in range(4):
                    column[part * 4 + i] = rows[i]
                    row[part * 4 + i] = cols[i]
            comptime for i in range(side):
                totals[i] = SIMD[DType.float32, side](column[i]).fma(
                    row, totals[i]
                )
        barrier()
    comptime for i in range(side):
        var r = first_row + (i // 4) * 64 + y * 4 + i % 4
        comptime for part in range(side // 4):
            var four = SIMD[DType.float32, 4](0)
            comptime for j in range(4):
                four[j] = totals[i][part * 4 + j]
            output.unsafe_store[alignment=16](
                r * n + first_col + part * 64 + x * 4, four
            )


def staged[
    n: Int, depth: Int, stages: Int, padding: Int, reload: Bool
](output: Output, a: Input, b: Input):
    """8 x 8 results per thread, vector loads, rows of the tile of `a` with `padding` more elements.

    With one stage there is a second barrier in each step. Without `reload` all steps multiply the first
    tiles: what remains is the speed of the loop over shared memory.
    """
    comptime BLOCK = 128
    comptime A_ROW = BLOCK + padding
    comptime VECTORS = depth * BLOCK // 4 // 256
    var a_tiles = unsafe_stack_allocation[
        stages * depth * A_ROW,
        Float32,
        alignment=16,
        address_space=AddressSpace.SHARED,
    ]()
    var b_tiles = unsafe_stack_allocation[
        stages * depth * BLOCK,
        Float32,
        alignment=16,
        address_space=AddressSpace.SHARED,
    ]()
    var thread = Int(thread_idx.x)
    var first_row = Int(block_idx.y) * BLOCK
    var first_col = Int(block_idx.x) * BLOCK
    var y = thread // 16 * 4
    var x = thread % 16 * 4
    var sums = Array[SIMD[DType.float32, 8], 8](fill=0)
    var next_a = Array[SIMD[DType.float32, 4], VECTORS](fill=0)
    var next_b = Array[SIMD[DType.float32, 4], VECTORS](fill=0)
    # One step before the first: it loads and stores, and does not multiply.
    for step in range(-1, n // depth):
        var stage = step % stages if step >= 0 else 0
        if step + 1 < n // depth and (reload or step < 0):
            comptime for v in range(VECTORS):
                var i = thread + v * 256
                next_a[v] = a.unsafe_load[width=4, alignment=16](
                    (first_row + i // (depth // 4)) * n
                    + (step + 1) * depth
                    + i % (depth // 4) * 4
                )
                next_b[v] = b.unsafe_load[width=4, alignment=16](
                    ((step + 1) * depth + i // 32) * n + first_col + i % 32 * 4
                )
        if step >= 0:
            var a_tile = a_tiles.unsafe_offset(stage * depth * A_ROW)
            var b_tile = b_tiles.unsafe_offset(stage * depth * BLOCK)
            comptime for k in range(depth):
                var rows = a_tile.unsafe_load[width=4, alignment=16](
                    k * A_ROW + y
                ).join(
                    a_tile.unsafe_load[width=4, alignment=16](
                        k * A_ROW + 64 + y
                    )
                )
                var cols = b_tile.unsafe_load[width=4, alignment=16](
                    k * BLOCK + x
                ).join(
                    b_tile.unsafe_load[width=4, alignment=16](
                        k * BLOCK + 64 + x
                    )
                )
                comptime for i in range(8):
                    sums[i] = cols.fma(rows[i], sums[i])
        comptime if stages == 1:
            barrier()
        if reload or step < 0:
            var following = (step + 1) % stages
            comptime for v in range(VECTORS):
                var i = thread + v * 256
                comptime for j in range(4):
                    a_tiles[
                        unsafe_offset=(
                            following * depth + i % (depth // 4) * 4 + j
                        )
                        * A_ROW
                        + i // (depth // 4)
                    ] = next_a[v][j]
                b_tiles.unsafe_store[alignment=16](
                    following * depth * BLOCK + i * 4, next_b[v]
                )
        barrier()
    comptime for i in range(8):
        var row = first_row + i // 4 * 64 + y + i % 4
        comptime for half in range(2):
            output.unsafe_store[alignment=16](
                row * n + first_col + half * 64 + x,
                sums[i].slice[4, offset=half * 4](),
            )


struct Data(Movable):
    var a: DeviceBuffer[DType.float32]
    var b: DeviceBuffer[DType.float32]
    var out: DeviceBuffer[DType.float32]

    def __init__(out self, n: Int, ctx: DeviceContext) raises:
        self.a = ctx.enqueue_create_buffer[DType.float32](n * n)
        self.b = ctx.enqueue_create_buffer[DType.float32](n * n)
        self.out = ctx.enqueue_create_buffer[DType.float32](n * n)
        with self.a.map_to_host() as a, self.b.map_to_host() as b:
            for i in range(n * n):
                a[i] = Float32(i % 13)  # sums are exact
                b[i] = Float32(i % 31)
        self.out.enqueue_fill(-1)

    def check_and_clear(self, n: Int) raises:
        """Compares one result in 997, and wipes all."""
        if not sampled():
            with self.out.map_to_host() as host:
                for i in range(0, n * n, 997):
                    var expected = 0
                    for k in range(n):
                        expected += ((i // n * n + k) % 13) * (
                            (k * n + i % n) % 31
                        )
                    assert_equal(host[i], Float32(expected))
        self.out.enqueue_fill(-1)


def measure_staged[
    n: Int, depth: Int, stages: Int, padding: Int, reload: Bool = True
](
    mut table: Benchmark, name: String, data: Data, ctx: DeviceContext
) raises:
    def run(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[staged[n, depth, stages, padding, reload]](
            data.out,
            data.a,
            data.b,
            grid_dim=(n // 128, n // 128),
            block_dim=256,
        )

    table.measure(name, n, 0, run)
    comptime if reload:
        data.check_and_clear(n)


def measure[n: Int](mut table: Benchmark, ctx: DeviceContext) raises:
    var data = Data(n, ctx)

    def run_naive(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[naive[n]](
            data.out,
            data.a,
            data.b,
            grid_dim=(n // TILE, n // TILE),
            block_dim=(TILE, TILE),
        )

    def run_tiled(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[tiled[n]](
            data.out,
            data.a,
            data.b,
            grid_dim=(n // TILE, n // TILE),
            block_dim=(TILE, TILE),
        )

    def run_four(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[registers[n, 4, 16]](
            data.out,
            data.a,
            data.b,
            grid_dim=(n // 64, n // 64),
            block_dim=256,
        )

    def run_eight(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[registers[n, 8, 8]](
            data.out,
            data.a,
            data.b,
            grid_dim=(n // 128, n // 128),
            block_dim=256,
        )

    table.measure("naive", n, 0, run_naive)
    data.check_and_clear(n)
    table.measure("tiled", n, 0, run_tiled)
    data.check_and_clear(n)
    table.measure("registers, 4 x 4", n, 0, run_four)
    data.check_and_clear(n)
    table.measure("registers, 8 x 8", n, 0, run_eight)
    data.check_and_clear(n)
    measure_staged[n, 8, 1, 4](table, "one stage", data, ctx)
    measure_staged[n, 8, 2, 4](table, "two stages", data, ctx)
    measure_staged[n, 8, 2, 0](table, "two stages, no padding", data, ctx)
    measure_staged[n, 16, 2, 4](table, "two stages of 16", data, ctx)
    measure_staged[n, 8, 1, 4, False](table, "first tiles only", data, ctx)


def main() raises:
    with DeviceContext() as ctx:
        var table = Benchmark(ctx)
        measure[128](table, ctx)
        if table.full_size:
            comptime for n in [1024, 2048, 4096]:
                measure[n](table, ctx)
