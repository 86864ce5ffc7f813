from max.gpu import AddressSpace, barrier, block_dim, block_idx, thread_idx
from max.gpu.host import DeviceContext
from max.gpu.memory import async_copy_wait_all
from layout import TileTensor, row_major, stack_allocation
from layout.tile_io import copy_dram_to_sram_async
from std.testing import assert_equal

from lab import choose_mode, stage, submit

# ANCHOR: naive_matmul_tile_tensor_solution
comptime TPB = 3
comptime SIZE = 2
comptime BLOCKS_PER_GRID = (1, 1)
comptime THREADS_PER_BLOCK = (TPB, TPB)
comptime dtype = DType.float32
comptime layout = row_major[SIZE, SIZE]()


def naive_matmul(
    output: TileTensor[dtype, type_of(layout), MutAnyOrigin],
    a: TileTensor[dtype, type_of(layout), ImmutAnyOrigin],
    b: TileTensor[dtype, type_of(layout), ImmutAnyOrigin],
):
    var row = block_dim.y * block_idx.y + thread_idx.y
    var col = block_dim.x * block_idx.x + thread_idx.x
    # FILL: about 5 lines
    # One thread computes one element of the product: a row of a by a column of
    # b. Its sum stays in a register and is written once.
    if row < SIZE and col < SIZE:
        var total = Scalar[dtype](0)
        for k in range(SIZE):
            total += a[row, k] * b[k, col]
        output[row, col] = total
    # END_FILL


# ANCHOR_END: naive_matmul_tile_tensor_solution


# ANCHOR: single_block_matmul_tile_tensor_solution
def single_block_matmul(
    output: TileTensor[dtype, type_of(layout), MutAnyOrigin],
    a: TileTensor[dtype, type_of(layout), ImmutAnyOrigin],
    b: TileTensor[dtype, type_of(layout), ImmutAnyOrigin],
):
    var row = block_dim.y * block_idx.y + thread_idx.y
    var col = block_dim.x * block_idx.x + thread_idx.x
    var local_row = thread_idx.y
    var local_col = thread_idx.x
    # FILL: about 15 lines
    var a_shared = stack_allocation[dtype, address_space=AddressSpace.SHARED](
        row_major[TPB, TPB]()
    )
    var b_shared = stack_allocation[dtype, address_space=AddressSpace.SHARED](
        row_major[TPB, TPB]()
    )

    # Every thread loads one element of each matrix. The elements of threads
    # outside the matrix are never written, and no thread reads them.
    if row < SIZE and col < SIZE:
        a_shared[local_row, local_col] = a[row, col]
        b_shared[local_row, local_col] = b[row, col]
    barrier()

    # The same product as before, but of the SIZE elements in a row only one was
    # read from global memory by this thread; its neighbours loaded the others.
    if row < SIZE and col < SIZE:
        var total = Scalar[dtype](0)
        for k in range(SIZE):
            total += a_shared[local_row, k] * b_shared[k, local_col]
        output[row, col] = total
    # END_FILL


# ANCHOR_END: single_block_matmul_tile_tensor_solution


# ANCHOR: matmul_tiled_tile_tensor_solution
comptime SIZE_TILED = 9
comptime TILES = SIZE_TILED // TPB
comptime BLOCKS_PER_GRID_TILED = (TILES, TILES)
comptime layout_tiled = row_major[SIZE_TILED, SIZE_TILED]()


def matmul_tiled(
    output: TileTensor[dtype, type_of(layout_tiled), MutAnyOrigin],
    a: TileTensor[dtype, type_of(layout_tiled), ImmutAnyOrigin],
    b: TileTensor[dtype, type_of(layout_tiled), ImmutAnyOrigin],
):
    var row = block_dim.y * block_idx.y + thread_idx.y
    var col = block_dim.x * block_idx.x + thread_idx.x
    var local_row = thread_idx.y
    var local_col = thread_idx.x
    # FILL: about 15 lines
    var a_shared = stack_allocation[dtype, address_space=AddressSpace.SHARED](
        row_major[TPB, TPB]()
    )
    var b_shared = stack_allocation[dtype, address_space=AddressSpace.SHARED](
        row_major[TPB, TPB]()
    )

    # The block's tile of the product needs a row of tiles of a and a column of
    # tiles of b: one pair after the other passes through shared memory. Tiles
    # and matrix fit exactly, so every thread has an element.
    var total = Scalar[dtype](0)
    for tile in range(TILES):
        a_shared[local_row, local_col] = a[row, tile * TPB + local_col]
        b_shared[local_row, local_col] = b[tile * TPB + local_row, col]
        barrier()

        for k in range(TPB):
            total += a_shared[local_row, k] * b_shared[k, local_col]
        # No thread may load the next pair while others still read this one.
        barrier()

    output[row, col] = total
    # END_FILL


# ANCHOR_END: matmul_tiled_tile_tensor_solution


# ANCHOR: matmul_idiomatic_tiled_tile_tensor_solution
def matmul_idiomatic_tiled(
    output: TileTensor[dtype, type_of(layout_tiled), MutAnyOrigin],
    a: TileTensor[dtype, type_of(layout_tiled), ImmutAnyOrigin],
    b: TileTensor[dtype, type_of(layout_tiled), ImmutAnyOrigin],
):
    var local_row = thread_idx.y
    var local_col = thread_idx.x
    # FILL: about 19 lines
    var a_shared = stack_allocation[dtype, address_space=AddressSpace.SHARED](
        row_major[TPB, TPB]()
    )
    var b_shared = stack_allocation[dtype, address_space=AddressSpace.SHARED](
        row_major[TPB, TPB]()
    )

    # A view of a tile has the tile's offset: no index below uses the block's.
    var out_tile = output.tile[TPB, TPB](block_idx.y, block_idx.x)
    var total = Scalar[dtype](0)
    for tile in range(TILES):
        var a_tile = a.tile[TPB, TPB](block_idx.y, tile)
        var b_tile = b.tile[TPB, TPB](tile, block_idx.x)
        # The copies go directly to shared memory while the threads continue.
        # Each thread waits for its own, the barrier for those of the others.
        copy_dram_to_sram_async[row_major[TPB, TPB]()](a_shared, a_tile)
        copy_dram_to_sram_async[row_major[TPB, TPB]()](b_shared, b_tile)
        async_copy_wait_all()
        barrier()

        for k in range(TPB):
            total += a_shared[local_row, k] * b_shared[k, local_col]
        barrier()

    out_tile[local_row, local_col] = total
    # END_FILL


# ANCHOR_END: matmul_idiomatic_tiled_tile_tensor_solution

# After the output, as many elements again, which no thread may write.
comptime UNTOUCHED = Scalar[dtype](-777.25)


def main() raises:
    var mode = choose_mode(
        "p16_tile_tensor",
        ["--naive", "--single-block", "--tiled", "--idiomatic-tiled"],
    )
    var small = mode == "--naive" or mode == "--single-block"
    var size = SIZE if small else SIZE_TILED
    var count = size * size
    with DeviceContext() as ctx:
        var memory = ctx.enqueue_create_buffer[dtype](2 * count)
        memory.enqueue_fill(UNTOUCHED)
        var guard = memory.create_sub_buffer[dtype](count, count)
        var out = memory.create_sub_buffer[dtype](0, count)
        out.enqueue_fill(0)
        var a = ctx.enqueue_create_buffer[dtype](count)
        a.enqueue_fill(0)
        var b = ctx.enqueue_create_buffer[dtype](count)
        b.enqueue_fill(0)
        with a.map_to_host() as a_host, b.map_to_host() as b_host:
            for i in range(count):
                a_host[i] = Scalar[dtype](i)
                b_host[i] = Scalar[dtype](2 * i)
        stage("a", a)
        stage("b", b)
        stage("out", out)

        var expected = ctx.enqueue_create_host_buffer[dtype](count)
        with a.map_to_host() as a_host, b.map_to_host() as b_host:
            for row in range(size):
                for col in range(size):
                    expected[row * size + col] = 0
                    for k in range(size):
                        expected[row * size + col] += (
                            a_host[row * size + k] * b_host[k * size + col]
                        )

        if mode == "--naive":
            ctx.enqueue_function[naive_matmul](
                TileTensor(out, layout),
                TileTensor[mut=False](a, layout),
                TileTensor[mut=False](b, layout),
                grid_dim=BLOCKS_PER_GRID,
                block_dim=THREADS_PER_BLOCK,
            )
        elif mode == "--single-block":
            ctx.enqueue_function[single_block_matmul](
                TileTensor(out, layout),
                TileTensor[mut=False](a, layout),
                TileTensor[mut=False](b, layout),
                grid_dim=BLOCKS_PER_GRID,
                block_dim=THREADS_PER_BLOCK,
            )
        elif mode == "--tiled":
            ctx.enqueue_function[matmul_tiled](
                TileTensor(out, layout_tiled),
                TileTensor[mut=False](a, layout_tiled),
                TileTensor[mut=False](b, layout_tiled),
                grid_dim=BLOCKS_PER_GRID_TILED,
                block_dim=THREADS_PER_BLOCK,
            )
        else:
            ctx.enqueue_function[matmul_idiomatic_tiled](
                TileTensor(out, layout_tiled),
                TileTensor[mut=False](a, layout_tiled),
                TileTensor[mut=False](b, layout_tiled),
                grid_dim=BLOCKS_PER_GRID_TILED,
                block_dim=THREADS_PER_BLOCK,
            )
        ctx.synchronize()

        submit("out", out)
        submit("guard", guard)
        with out.map_to_host() as out_host, guard.map_to_host() as guard_host:
            print("out:", out_host)
            print("expected:", expected)
            for i in range(count):
                assert_equal(out_host[i], expected[i])
            for i in range(count):
                assert_equal(
                    guard_host[i], UNTOUCHED, "written behind the output"
                )
        print("Puzzle 16 complete ✅")
