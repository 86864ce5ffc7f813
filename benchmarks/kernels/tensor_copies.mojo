"""Tensor copies at the bandwidth of a copy: puzzle 43's kernels, and controls.

`one_tile` is the puzzle's. `ring ROWSxCOLS, STAGES, BLOCKS` is its second kernel with other tiles, stages and
numbers of blocks, `untouched` without the computation, so that only copies remain. `loads` and `float4` do the
same with ordinary loads and stores of one element and of four. `multicast` adds a table to each of four
sequences; in `each block loads` each block copies the whole tile of the table itself, with and without a barrier
of the cluster before, and in clusters of one block.

    mojo build -I problems -I solutions/p43 benchmarks/kernels/tensor_copies.mojo -o tensor_copies
"""

from max.gpu import (
    AddressSpace,
    barrier,
    block_idx,
    block_rank_in_cluster,
    cluster_sync,
    global_idx,
    grid_dim,
    thread_idx,
)
from max.gpu.host import DeviceBuffer, DeviceContext, Dim
from max.gpu.memory import fence_async_view_proxy, fence_mbarrier_init
from layout import Coord, Idx, TileTensor, row_major, stack_allocation
from layout.tma_async import SharedMemBarrier, TMATensorTile, create_tma_tile
from std.memory import unsafe_stack_allocation
from std.testing import assert_equal

from lab.benchmark import Benchmark
from lab.machine import on_simulated_gpu
import p43

comptime dtype = DType.float32
comptime THREADS = p43.THREADS
comptime GAIN = p43.GAIN
comptime OFFSET = p43.OFFSET
comptime Map[rows: Int, cols: Int] = TMATensorTile[
    dtype, Coord(Idx[rows], Idx[cols])
]
comptime Output = Pointer[Float32, MutAnyOrigin]
comptime Input = Pointer[Float32, ImmutAnyOrigin]


def loads[width: Int](output: Output, input: Input):
    var i = global_idx.x * width
    output.unsafe_store[alignment=4 * width](
        i,
        GAIN * input.unsafe_load[width=width, alignment=4 * width](i) + OFFSET,
    )


@__llvm_arg_metadata(output, `nvvm.grid_constant`)
@__llvm_arg_metadata(input, `nvvm.grid_constant`)
def ring[
    rows: Int, cols: Int, count: Int, computes: Bool
](
    output: Map[rows, cols],
    input: Map[rows, cols],
    tiles_of_row: Int32,
    tiles: Int32,
):
    var stages = stack_allocation[
        dtype, address_space=AddressSpace.SHARED, alignment=128
    ](row_major[count * rows, cols]())
    var full = unsafe_stack_allocation[
        count, SharedMemBarrier, alignment=8, address_space=AddressSpace.SHARED
    ]()
    var thread = Int(thread_idx.x)
    var first = Int(block_idx.x)
    var step = Int(grid_dim.x)
    var steps = (Int(tiles) - first + step - 1) // step
    if thread == 0:
        for s in range(count):
            full[unsafe_offset=s].init(1)
        fence_mbarrier_init()
        for i in range(min(count, steps)):
            var tile = first + i * step
            full[unsafe_offset=i].expect_bytes(Int32(rows * cols * 4))
            input.async_copy(
                stages.tile[rows, cols](i, 0),
                full[unsafe_offset=i],
                (
                    tile % Int(tiles_of_row) * cols,
                    tile // Int(tiles_of_row) * rows,
                ),
            )
    barrier()
    for i in range(steps):
        var s = i % count
        var tile = stages.tile[rows, cols](s, 0)
        full[unsafe_offset=s].wait(UInt32(i // count % 2))
        comptime if computes:
            for j in range(thread, rows * cols, THREADS):
                tile[j // cols, j % cols] = (
                    GAIN * tile[j // cols, j % cols] + OFFSET
                )
        fence_async_view_proxy()
        barrier()
        if thread == 0:
            var now = first + i * step
            output.async_store(
                tile,
                (
                    now % Int(tiles_of_row) * cols,
                    now // Int(tiles_of_row) * rows,
                ),
            )
            output.commit_group()
            var next = i - 1 + count
            if i > 0 and next < steps:
                output.wait_group[1]()
                var free = next % count
                var then = first + next * step
                full[unsafe_offset=free].expect_bytes(Int32(rows * cols * 4))
                input.async_copy(
                    stages.tile[rows, cols](free, 0),
                    full[unsafe_offset=free],
                    (
                        then % Int(tiles_of_row) * cols,
                        then // Int(tiles_of_row) * rows,
                    ),
                )
    if thread == 0:
        output.wait_group()


comptime SLICES = 0  # each block copies a slice of the table's tile to all blocks
comptime ONE_BLOCK = 1  # the first block copies the whole tile to all blocks
comptime EACH = 2  # each block copies the whole tile to itself...
comptime EACH_AND_SYNC = 3  # ... after a barrier of the cluster


@__llvm_arg_metadata(output, `nvvm.grid_constant`)
@__llvm_arg_metadata(input, `nvvm.grid_constant`)
@__llvm_arg_metadata(slices, `nvvm.grid_constant`)
@__llvm_arg_metadata(whole, `nvvm.grid_constant`)
def add_table[
    positions: Int, way: Int
](
    output: p43.TileMap,
    input: p43.TileMap,
    slices: p43.SliceMap,
    whole: p43.TileMap,
):
    """Puzzle 43's third kernel, with other ways to bring the table."""
    comptime ROWS = p43.TILE_ROWS
    comptime COLS = p43.TILE_COLS
    var tile = stack_allocation[
        dtype, address_space=AddressSpace.SHARED, alignment=128
    ](p43.tile_layout)
    var table = stack_allocation[
        dtype, address_space=AddressSpace.SHARED, alignment=128
    ](p43.tile_layout)
    var full = unsafe_stack_allocation[
        1, SharedMemBarrier, alignment=8, address_space=AddressSpace.SHARED
    ]()
    var thread = Int(thread_idx.x)
    var sequence = Int(block_idx.x)
    var col = Int(block_idx.y) * COLS
    var position = Int(block_idx.z) * ROWS
    var row = sequence * positions + position
    if thread == 0:
        full[].init(1)
        fence_mbarrier_init()
        full[].expect_bytes(2 * p43.TILE_BYTES)
    comptime if way == EACH:
        barrier()
    else:
        cluster_sync()
    if thread == 0:
        input.async_copy(tile, full[], (col, row))
        comptime if way == SLICES:
            slices.async_multicast_load(
                table.tile[p43.SLICE_ROWS, COLS](sequence, 0),
                full[],
                (col, position + sequence * p43.SLICE_ROWS),
                p43.ALL_BLOCKS,
            )
        elif way == ONE_BLOCK:
            if sequence == 0:
                whole.async_multicast_load(
                    table, full[], (col, position), p43.ALL_BLOCKS
                )
        else:
            whole.async_copy(table, full[], (col, position))
    full[].wait(0)
    for i in range(thread, p43.TILE_SIZE, THREADS):
        tile[i // COLS, i % COLS] += table[i // COLS, i % COLS]
    fence_async_view_proxy()
    barrier()
    if thread == 0:
        output.async_store(tile, (col, row))
        output.commit_group()
        output.wait_group()


def measure_ring[
    size: Int, rows: Int, cols: Int, count: Int, computes: Bool = True
](
    mut table: Benchmark,
    matrices: p43.Matrices[size, size],
    ctx: DeviceContext,
    blocks: Int,
) raises:
    var layout = row_major[size, size]()
    var output = create_tma_tile[rows, cols](
        ctx, TileTensor(matrices.out_buffer, layout)
    )
    var input = create_tma_tile[rows, cols](
        ctx, TileTensor(matrices.input, layout)
    )

    def run(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[ring[rows, cols, count, computes]](
            output,
            input,
            Int32(size // cols),
            Int32(size // cols * (size // rows)),
            grid_dim=blocks,
            block_dim=THREADS,
        )

    matrices.out_buffer.enqueue_fill(0)
    var name = String(t"ring {rows}x{cols}, {count}, {blocks} blocks")
    comptime if not computes:
        name = String(t"untouched, {blocks} blocks")
    table.measure(name, size * size, 8 * size * size, run)
    comptime if computes:
        matrices.compare(997)


def measure_loads[
    size: Int, width: Int
](mut table: Benchmark, matrices: p43.Matrices[size, size],) raises:
    def run(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[loads[width]](
            matrices.out_buffer,
            matrices.input,
            grid_dim=size * size // width // 256,
            block_dim=256,
        )

    matrices.out_buffer.enqueue_fill(0)
    table.measure(
        "float4" if width == 4 else "loads", size * size, 8 * size * size, run
    )
    matrices.compare(997)


def measure_table[
    positions: Int, features: Int, way: Int
](mut table: Benchmark, ctx: DeviceContext, name: String, blocks: Int) raises:
    """`blocks`: of a cluster."""
    comptime rows = p43.SEQUENCES * positions
    var matrices = p43.Matrices[rows, features](ctx)
    var added = ctx.enqueue_create_buffer[dtype](positions * features)
    added.enqueue_fill(3)
    var whole = TileTensor(added, row_major[positions, features]())
    var output = matrices.map_of(ctx, matrices.out_buffer)
    var input = matrices.map_of(ctx, matrices.input)
    var slice_map = create_tma_tile[p43.SLICE_ROWS, p43.TILE_COLS](ctx, whole)
    var tile_map = create_tma_tile[p43.TILE_ROWS, p43.TILE_COLS](ctx, whole)

    def run(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[add_table[positions, way]](
            output,
            input,
            slice_map,
            tile_map,
            grid_dim=(
                p43.SEQUENCES,
                features // p43.TILE_COLS,
                positions // p43.TILE_ROWS,
            ),
            block_dim=THREADS,
            cluster_dim=Dim(blocks),
        )

    table.measure(
        name, rows * features, 4 * (2 * rows + positions) * features, run
    )
    with matrices.input.map_to_host() as numbers:
        with matrices.out_buffer.map_to_host() as results:
            for i in range(0, rows * features, 997):
                assert_equal(results[i], numbers[i] + 3)
    _ = added


def measure_one_tile[
    size: Int
](
    mut table: Benchmark, matrices: p43.Matrices[size, size], ctx: DeviceContext
) raises:
    var output = matrices.map_of(ctx, matrices.out_buffer)
    var input = matrices.map_of(ctx, matrices.input)

    def one_tile(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[p43.one_tile](
            output,
            input,
            grid_dim=(size // p43.TILE_COLS, size // p43.TILE_ROWS),
            block_dim=THREADS,
        )

    matrices.out_buffer.enqueue_fill(0)
    table.measure("one_tile", size * size, 8 * size * size, one_tile)
    matrices.compare(997)


def measure_all[size: Int, units: Int](ctx: DeviceContext) raises:
    """All rows; `units`: the multiprocessors of the GPU."""
    var table = Benchmark(ctx)
    var matrices = p43.Matrices[size, size](ctx)
    measure_loads[size, 1](table, matrices)
    measure_loads[size, 4](table, matrices)
    measure_one_tile[size](table, matrices, ctx)
    for each in [1, 2, 4, 6, 8, 10, 13]:
        measure_ring[size, 16, 64, 4](table, matrices, ctx, each * units)
    for each in [4, 8, 13]:
        measure_ring[size, 16, 64, 2](table, matrices, ctx, each * units)
    for each in [1, 2, 4]:
        measure_ring[size, 32, 64, 4](table, matrices, ctx, each * units)
    measure_ring[size, 16, 64, 4, computes=False](
        table, matrices, ctx, 8 * units
    )
    measure_table[size // 4, size, SLICES](table, ctx, "multicast", 4)
    measure_table[size // 4, size, ONE_BLOCK](
        table, ctx, "multicast by one block", 4
    )
    measure_table[size // 4, size, EACH](table, ctx, "each block loads", 4)
    measure_table[size // 4, size, EACH_AND_SYNC](
        table, ctx, "each loads, cluster_sync", 4
    )
    measure_table[size // 4, size, EACH](
        table, ctx, "each loads, no clusters", 1
    )


def measure_large[size: Int, units: Int](ctx: DeviceContext) raises:
    """Four times as many elements: the start and the end of the launch weigh less.
    """
    var table = Benchmark(ctx)
    var matrices = p43.Matrices[size, size](ctx)
    measure_loads[size, 4](table, matrices)
    measure_one_tile[size](table, matrices, ctx)
    for each in [8, 13]:
        measure_ring[size, 16, 64, 4](table, matrices, ctx, each * units)


def main() raises:
    with DeviceContext() as ctx:
        if on_simulated_gpu():
            measure_all[256, 1](ctx)
        else:
            measure_all[8192, 132](ctx)
            measure_large[16384, 132](ctx)
