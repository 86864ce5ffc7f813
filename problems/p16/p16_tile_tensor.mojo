from max.gpu import AddressSpace, barrier, block_dim, block_idx, thread_idx
from max.gpu.host import DeviceContext
from max.gpu.memory import async_copy_wait_all
from layout import TileTensor, row_major, stack_allocation
from layout.tile_io import copy_dram_to_sram_async
from std.testing import assert_equal

from lab import choose_mode, stage, submit

# ANCHOR: naive_matmul_tile_tensor
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
    # FILL ME IN (about 5 lines)


# ANCHOR_END: naive_matmul_tile_tensor


# ANCHOR: single_block_matmul_tile_tensor
def single_block_matmul(
    output: TileTensor[dtype, type_of(layout), MutAnyOrigin],
    a: TileTensor[dtype, type_of(layout), ImmutAnyOrigin],
    b: TileTensor[dtype, type_of(layout), ImmutAnyOrigin],
):
    var row = block_dim.y * block_idx.y + thread_idx.y
    var col = block_dim.x * block_idx.x + thread_idx.x
    var local_row = thread_idx.y
    var local_col = thread_idx.x
    # FILL ME IN (about 15 lines)


# ANCHOR_END: single_block_matmul_tile_tensor


# ANCHOR: matmul_tiled_tile_tensor
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
    # FILL ME IN (about 15 lines)


# ANCHOR_END: matmul_tiled_tile_tensor


# ANCHOR: matmul_idiomatic_tiled_tile_tensor
def matmul_idiomatic_tiled(
    output: TileTensor[dtype, type_of(layout_tiled), MutAnyOrigin],
    a: TileTensor[dtype, type_of(layout_tiled), ImmutAnyOrigin],
    b: TileTensor[dtype, type_of(layout_tiled), ImmutAnyOrigin],
):
    var local_row = thread_idx.y
    var local_col = thread_idx.x
    # FILL ME IN (about 19 lines)


# ANCHOR_END: matmul_idiomatic_tiled_tile_tensor

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
