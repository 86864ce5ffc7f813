from max.gpu import block_dim, block_idx, thread_idx
from max.gpu.host import DeviceContext
from layout import Layout, LayoutTensor, TileTensor, row_major
from std.testing import assert_equal

from lab import expect_no_flags, stage, submit

# ANCHOR: add_10_blocks_2d_layout_tensor
comptime SIZE = 5
comptime BLOCKS_PER_GRID = (2, 2)
comptime THREADS_PER_BLOCK = (3, 3)
comptime dtype = DType.float32
comptime layout = Layout.row_major(SIZE, SIZE)


def add_10_blocks_2d(
    output: LayoutTensor[dtype, layout, MutAnyOrigin],
    a: LayoutTensor[dtype, layout, ImmutAnyOrigin],
):
    var row = block_dim.y * block_idx.y + thread_idx.y
    var col = block_dim.x * block_idx.x + thread_idx.x
    # FILL ME IN (about 2 lines)


# ANCHOR_END: add_10_blocks_2d_layout_tensor

# Elements right after the output, which no thread may write.
comptime GUARD_SIZE = SIZE * SIZE
comptime UNTOUCHED = Scalar[dtype](-777.25)


def main() raises:
    expect_no_flags("p07_layout_tensor")
    with DeviceContext() as ctx:
        var memory = ctx.enqueue_create_buffer[dtype](SIZE * SIZE + GUARD_SIZE)
        memory.enqueue_fill(UNTOUCHED)
        var guard = memory.create_sub_buffer[dtype](SIZE * SIZE, GUARD_SIZE)
        var out = memory.create_sub_buffer[dtype](0, SIZE * SIZE)
        out.enqueue_fill(0)
        var a = ctx.enqueue_create_buffer[dtype](SIZE * SIZE)
        a.enqueue_fill(0)
        with a.map_to_host() as a_host:
            for i in range(SIZE * SIZE):
                a_host[i] = Scalar[dtype](i)
        stage("a", a)
        stage("out", out)

        var expected = ctx.enqueue_create_host_buffer[dtype](SIZE * SIZE)
        with a.map_to_host() as a_host:
            for i in range(SIZE * SIZE):
                expected[i] = a_host[i] + 10

        ctx.enqueue_function[add_10_blocks_2d](
            LayoutTensor[dtype, layout](out),
            LayoutTensor[mut=False, dtype, layout](a),
            grid_dim=BLOCKS_PER_GRID,
            block_dim=THREADS_PER_BLOCK,
        )
        ctx.synchronize()

        submit("out", out)
        submit("guard", guard)
        with out.map_to_host() as out_host, guard.map_to_host() as guard_host:
            print("out:", TileTensor(out_host, row_major[SIZE, SIZE]()))
            print("expected:", TileTensor(expected, row_major[SIZE, SIZE]()))
            for i in range(SIZE * SIZE):
                assert_equal(out_host[i], expected[i])
            for i in range(GUARD_SIZE):
                assert_equal(
                    guard_host[i], UNTOUCHED, "written behind the output"
                )
        print("Puzzle 07 complete ✅")
