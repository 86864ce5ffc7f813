from max.gpu import (
    AddressSpace,
    barrier,
    block_idx,
    block_rank_in_cluster,
    cluster_sync,
    grid_dim,
    thread_idx,
)
from max.gpu.host import DeviceBuffer, DeviceContext, Dim
from max.gpu.memory import fence_async_view_proxy, fence_mbarrier_init
from layout import Coord, Idx, TileTensor, row_major, stack_allocation
from layout.tma_async import SharedMemBarrier, TMATensorTile, create_tma_tile
from std.math import ceildiv
from std.memory import unsafe_stack_allocation
from std.testing import assert_equal

from lab import choose_mode, stage, submit
from lab.benchmark import Benchmark
from lab.machine import on_simulated_gpu

# ANCHOR: sizes
comptime dtype = DType.float32
# A tile has 16 x 64 elements, and each of a block's 128 threads computes
# eight of them.
comptime TILE_ROWS = 16
comptime TILE_COLS = 64
comptime TILE_SIZE = TILE_ROWS * TILE_COLS
comptime TILE_BYTES = TILE_SIZE * 4
comptime THREADS = 128
comptime tile_layout = row_major[TILE_ROWS, TILE_COLS]()

# A tensor map: a matrix in global memory, and the shape of the tiles of it
# that are copied.
comptime TileMap = TMATensorTile[dtype, Coord(Idx[TILE_ROWS], Idx[TILE_COLS])]

# Every element x becomes GAIN * x + OFFSET.
comptime GAIN = Float32(2)
comptime OFFSET = Float32(1)
# ANCHOR_END: sizes


# ANCHOR: one_tile_solution
# 3 x 4 tiles; those at the right and at the bottom extend past the matrix.
comptime ROWS = 40
comptime COLS = 200


@__llvm_arg_metadata(output, `nvvm.grid_constant`)
@__llvm_arg_metadata(input, `nvvm.grid_constant`)
def one_tile(output: TileMap, input: TileMap):
    var tile = stack_allocation[
        dtype, address_space=AddressSpace.SHARED, alignment=128
    ](tile_layout)
    var full = unsafe_stack_allocation[
        1, SharedMemBarrier, alignment=8, address_space=AddressSpace.SHARED
    ]()
    var thread = Int(thread_idx.x)
    var row = Int(block_idx.y) * TILE_ROWS
    var col = Int(block_idx.x) * TILE_COLS
    # FILL: about 23 lines
    if thread == 0:
        # One thread arrives at this mbarrier in each phase: this one.
        full[].init(1)
        fence_mbarrier_init()
        # It arrives now; the phase also waits for the bytes of the tile.
        full[].expect_bytes(TILE_BYTES)
        input.async_copy(tile, full[], (col, row))
    # No thread may wait at the mbarrier before it is initialised.
    barrier()
    full[].wait(0)

    for i in range(thread, TILE_SIZE, THREADS):
        var y = i // TILE_COLS
        var x = i % TILE_COLS
        tile[y, x] = GAIN * tile[y, x] + OFFSET

    # The copy engine does not see the threads' stores to shared memory until
    # they have been fenced, by those that stored.
    fence_async_view_proxy()
    barrier()
    if thread == 0:
        output.async_store(tile, (col, row))
        output.commit_group()
        # The shared memory must not be released before the tile was read.
        output.wait_group()
    # END_FILL


# ANCHOR_END: one_tile_solution


# ANCHOR: ring_solution
# 5 x 4 tiles, ten for each block, in four stages.
comptime RING_ROWS = 72
comptime RING_COLS = 256
comptime BLOCKS = 2
comptime STAGES = 4


def corner(tile: Int, tiles_of_row: Int32) -> Tuple[Int, Int]:
    """The column and the row where this tile of the matrix begins."""
    return (
        tile % Int(tiles_of_row) * TILE_COLS,
        tile // Int(tiles_of_row) * TILE_ROWS,
    )


@__llvm_arg_metadata(output, `nvvm.grid_constant`)
@__llvm_arg_metadata(input, `nvvm.grid_constant`)
def ring(output: TileMap, input: TileMap, tiles_of_row: Int32, tiles: Int32):
    # The stages are tiles one below the other.
    var stages = stack_allocation[
        dtype, address_space=AddressSpace.SHARED, alignment=128
    ](row_major[STAGES * TILE_ROWS, TILE_COLS]())
    var full = unsafe_stack_allocation[
        STAGES, SharedMemBarrier, alignment=8, address_space=AddressSpace.SHARED
    ]()
    var thread = Int(thread_idx.x)
    # In step i this block computes the tile `first + i * step`.
    var first = Int(block_idx.x)
    var step = Int(grid_dim.x)
    var steps = ceildiv(Int(tiles) - first, step)
    # FILL: about 41 lines
    if thread == 0:
        for s in range(STAGES):
            full[unsafe_offset=s].init(1)
        fence_mbarrier_init()
        # Fill all stages.
        for i in range(min(STAGES, steps)):
            full[unsafe_offset=i].expect_bytes(TILE_BYTES)
            input.async_copy(
                stages.tile[TILE_ROWS, TILE_COLS](i, 0),
                full[unsafe_offset=i],
                corner(first + i * step, tiles_of_row),
            )
    barrier()

    for i in range(steps):
        var s = i % STAGES
        var tile = stages.tile[TILE_ROWS, TILE_COLS](s, 0)
        # A stage is filled for the first time in phase 0, then in phase 1, ...
        full[unsafe_offset=s].wait(UInt32(i // STAGES % 2))
        for j in range(thread, TILE_SIZE, THREADS):
            var y = j // TILE_COLS
            var x = j % TILE_COLS
            tile[y, x] = GAIN * tile[y, x] + OFFSET
        fence_async_view_proxy()
        barrier()

        if thread == 0:
            output.async_store(tile, corner(first + i * step, tiles_of_row))
            output.commit_group()
            # Refill the stage of the step before, as soon as its tile was
            # read: all groups but the last one are then complete.
            var next = i - 1 + STAGES
            if i > 0 and next < steps:
                output.wait_group[1]()
                var free = next % STAGES
                full[unsafe_offset=free].expect_bytes(TILE_BYTES)
                input.async_copy(
                    stages.tile[TILE_ROWS, TILE_COLS](free, 0),
                    full[unsafe_offset=free],
                    corner(first + next * step, tiles_of_row),
                )
    if thread == 0:
        output.wait_group()
    # END_FILL


# ANCHOR_END: ring_solution


# ANCHOR: multicast_solution
# A batch of four sequences with 32 positions of 72 numbers each, one below
# the other. The four blocks of a cluster compute the same tile of each.
comptime SEQUENCES = 4
comptime POSITIONS = 32
comptime FEATURES = 72
# Each of them copies a quarter of the table's tile to all four.
comptime SLICE_ROWS = TILE_ROWS // SEQUENCES
comptime SliceMap = TMATensorTile[dtype, Coord(Idx[SLICE_ROWS], Idx[TILE_COLS])]
comptime ALL_BLOCKS = UInt16(0b1111)


@__llvm_arg_metadata(output, `nvvm.grid_constant`)
@__llvm_arg_metadata(input, `nvvm.grid_constant`)
@__llvm_arg_metadata(positions, `nvvm.grid_constant`)
def multicast(output: TileMap, input: TileMap, positions: SliceMap):
    var tile = stack_allocation[
        dtype, address_space=AddressSpace.SHARED, alignment=128
    ](tile_layout)
    var table = stack_allocation[
        dtype, address_space=AddressSpace.SHARED, alignment=128
    ](tile_layout)
    var full = unsafe_stack_allocation[
        1, SharedMemBarrier, alignment=8, address_space=AddressSpace.SHARED
    ]()
    var thread = Int(thread_idx.x)
    # The grid has the four sequences in x, tiles of columns in y and of
    # positions in z.
    var rank = Int(block_rank_in_cluster())
    var col = Int(block_idx.y) * TILE_COLS
    var position = Int(block_idx.z) * TILE_ROWS
    var row = rank * POSITIONS + position
    # FILL: about 27 lines
    if thread == 0:
        full[].init(1)
        fence_mbarrier_init()
        # The block's own tile, and the table's from all four blocks.
        full[].expect_bytes(2 * TILE_BYTES)
    # No copy may arrive at an mbarrier before it is initialised, and the other
    # blocks' copies arrive here too.
    cluster_sync()
    if thread == 0:
        input.async_copy(tile, full[], (col, row))
        positions.async_multicast_load(
            table.tile[SLICE_ROWS, TILE_COLS](rank, 0),
            full[],
            (col, position + rank * SLICE_ROWS),
            ALL_BLOCKS,
        )
    full[].wait(0)

    for i in range(thread, TILE_SIZE, THREADS):
        var y = i // TILE_COLS
        var x = i % TILE_COLS
        tile[y, x] += table[y, x]

    fence_async_view_proxy()
    barrier()
    if thread == 0:
        output.async_store(tile, (col, row))
        output.commit_group()
        output.wait_group()
    # END_FILL


# ANCHOR_END: multicast_solution


@fieldwise_init
struct Matrices[rows: Int, cols: Int](Movable):
    """A matrix and the result, which has as many elements."""

    var input: DeviceBuffer[dtype]
    var out_buffer: DeviceBuffer[dtype]

    def __init__(out self, ctx: DeviceContext) raises:
        """Element `i` is `i` modulo 25, the results are 0."""
        self.input = ctx.enqueue_create_buffer[dtype](Self.rows * Self.cols)
        self.out_buffer = ctx.enqueue_create_buffer[dtype](
            Self.rows * Self.cols
        )
        self.out_buffer.enqueue_fill(0)
        with self.input.map_to_host() as numbers:
            for i in range(Self.rows * Self.cols):
                numbers[i] = Float32(i % 25)

    def map_of(
        self, ctx: DeviceContext, buffer: DeviceBuffer[dtype]
    ) raises -> TileMap:
        return rebind[TileMap](
            create_tma_tile[TILE_ROWS, TILE_COLS](
                ctx, TileTensor(buffer, row_major[Self.rows, Self.cols]())
            )
        )

    def compare(self, each: Int) raises:
        """Compares one result in `each`."""
        with self.input.map_to_host() as numbers:
            with self.out_buffer.map_to_host() as results:
                for i in range(0, Self.rows * Self.cols, each):
                    assert_equal(
                        results[i],
                        GAIN * numbers[i] + OFFSET,
                        String(t"element [{i // Self.cols}, {i % Self.cols}]"),
                    )


def run_one_tile(ctx: DeviceContext) raises:
    var matrices = Matrices[ROWS, COLS](ctx)
    stage("input", matrices.input)
    stage("out", matrices.out_buffer)
    ctx.enqueue_function[one_tile](
        matrices.map_of(ctx, matrices.out_buffer),
        matrices.map_of(ctx, matrices.input),
        grid_dim=(ceildiv(COLS, TILE_COLS), ceildiv(ROWS, TILE_ROWS)),
        block_dim=THREADS,
    )
    ctx.synchronize()
    submit("out", matrices.out_buffer)
    print("one tile per block:", ROWS, "x", COLS)
    matrices.compare(1)


def run_ring(ctx: DeviceContext) raises:
    var matrices = Matrices[RING_ROWS, RING_COLS](ctx)
    stage("input", matrices.input)
    stage("out", matrices.out_buffer)
    comptime tiles_of_row = ceildiv(RING_COLS, TILE_COLS)
    comptime tiles = tiles_of_row * ceildiv(RING_ROWS, TILE_ROWS)
    ctx.enqueue_function[ring](
        matrices.map_of(ctx, matrices.out_buffer),
        matrices.map_of(ctx, matrices.input),
        Int32(tiles_of_row),
        Int32(tiles),
        grid_dim=BLOCKS,
        block_dim=THREADS,
    )
    ctx.synchronize()
    submit("out", matrices.out_buffer)
    print("a ring of stages:", tiles, "tiles in", BLOCKS, "blocks")
    matrices.compare(1)


def run_multicast(ctx: DeviceContext) raises:
    comptime rows = SEQUENCES * POSITIONS
    var matrices = Matrices[rows, FEATURES](ctx)
    var table = ctx.enqueue_create_buffer[dtype](POSITIONS * FEATURES)
    with table.map_to_host() as numbers:
        for i in range(POSITIONS * FEATURES):
            numbers[i] = Float32(i % 7)
    stage("input", matrices.input)
    stage("table", table)
    stage("out", matrices.out_buffer)
    ctx.enqueue_function[multicast](
        matrices.map_of(ctx, matrices.out_buffer),
        matrices.map_of(ctx, matrices.input),
        create_tma_tile[SLICE_ROWS, TILE_COLS](
            ctx, TileTensor(table, row_major[POSITIONS, FEATURES]())
        ),
        grid_dim=(
            SEQUENCES,
            ceildiv(FEATURES, TILE_COLS),
            ceildiv(POSITIONS, TILE_ROWS),
        ),
        block_dim=THREADS,
        cluster_dim=Dim(SEQUENCES),
    )
    ctx.synchronize()
    submit("out", matrices.out_buffer)
    print("multicast:", SEQUENCES, "sequences of", POSITIONS, "positions")
    with matrices.input.map_to_host() as numbers, table.map_to_host() as added:
        with matrices.out_buffer.map_to_host() as results:
            for i in range(rows * FEATURES):
                assert_equal(
                    results[i],
                    numbers[i] + added[i % (POSITIONS * FEATURES)],
                    String(t"element [{i // FEATURES}, {i % FEATURES}]"),
                )


def benchmark[size: Int, blocks: Int](ctx: DeviceContext) raises:
    var matrices = Matrices[size, size](ctx)
    var output = matrices.map_of(ctx, matrices.out_buffer)
    var input = matrices.map_of(ctx, matrices.input)
    comptime tiles_of_row = ceildiv(size, TILE_COLS)
    comptime tiles_of_col = ceildiv(size, TILE_ROWS)

    def run_one_tile(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[one_tile](
            output,
            input,
            grid_dim=(tiles_of_row, tiles_of_col),
            block_dim=THREADS,
        )

    def run_ring(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[ring](
            output,
            input,
            Int32(tiles_of_row),
            Int32(tiles_of_row * tiles_of_col),
            grid_dim=blocks,
            block_dim=THREADS,
        )

    var table = Benchmark(ctx)
    comptime bytes = 2 * 4 * size * size
    table.measure("one_tile", size * size, bytes, run_one_tile)
    matrices.compare(997)
    matrices.out_buffer.enqueue_fill(0)
    table.measure("ring", size * size, bytes, run_ring)
    matrices.compare(997)


def main() raises:
    var mode = choose_mode(
        "p43", ["--one-tile", "--ring", "--multicast", "--benchmark"]
    )
    with DeviceContext() as ctx:
        if mode == "--benchmark":
            if on_simulated_gpu():
                benchmark[128, 4](ctx)
            else:
                benchmark[8192, 132 * 8](ctx)
            return
        if mode == "--one-tile":
            run_one_tile(ctx)
        elif mode == "--ring":
            run_ring(ctx)
        else:
            run_multicast(ctx)
        print("Puzzle 43 complete ✅")
