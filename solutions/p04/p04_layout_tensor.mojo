from max.gpu import thread_idx
from max.gpu.host import DeviceContext
from layout import Layout, LayoutTensor
from std.testing import assert_equal

from lab import expect_no_flags, stage, submit

# ANCHOR: add_10_2d_layout_tensor_solution
comptime SIZE = 2
comptime BLOCKS_PER_GRID = 1
comptime THREADS_PER_BLOCK = (3, 3)
comptime dtype = DType.float32
comptime layout = Layout.row_major(SIZE, SIZE)


def add_10_2d(
    output: LayoutTensor[dtype, layout, MutAnyOrigin],
    a: LayoutTensor[dtype, layout, ImmutAnyOrigin],
):
    var row = thread_idx.y
    var col = thread_idx.x
    # FILL: about 2 lines
    # The tensor computes the offset of (row, col) in memory; it does not check
    # that the row and the column exist.
    if row < SIZE and col < SIZE:
        output[row, col] = a[row, col] + 10
    # END_FILL


# ANCHOR_END: add_10_2d_layout_tensor_solution

# Elements right after the output, which no thread may write.
comptime GUARD_SIZE = SIZE * SIZE
comptime UNTOUCHED = Scalar[dtype](-777.25)


def main() raises:
    expect_no_flags("p04_layout_tensor")
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

        var out_tensor = LayoutTensor[dtype, layout](out)
        print("out shape:", out_tensor.shape[0](), "x", out_tensor.shape[1]())
        ctx.enqueue_function[add_10_2d](
            out_tensor,
            LayoutTensor[mut=False, dtype, layout](a),
            grid_dim=BLOCKS_PER_GRID,
            block_dim=THREADS_PER_BLOCK,
        )
        ctx.synchronize()

        submit("out", out)
        submit("guard", guard)
        with out.map_to_host() as out_host, guard.map_to_host() as guard_host:
            print("out:", out_host)
            print("expected:", expected)
            for i in range(SIZE * SIZE):
                assert_equal(out_host[i], expected[i])
            for i in range(GUARD_SIZE):
                assert_equal(
                    guard_host[i], UNTOUCHED, "written behind the output"
                )
        print("Puzzle 04 complete ✅")
