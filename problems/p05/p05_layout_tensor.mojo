from max.gpu import thread_idx
from max.gpu.host import DeviceContext
from layout import Layout, LayoutTensor
from std.testing import assert_equal

from lab import expect_no_flags, stage, submit

# ANCHOR: broadcast_add_layout_tensor
comptime SIZE = 2
comptime BLOCKS_PER_GRID = 1
comptime THREADS_PER_BLOCK = (3, 3)
comptime dtype = DType.float32
comptime out_layout = Layout.row_major(SIZE, SIZE)
comptime a_layout = Layout.row_major(1, SIZE)
comptime b_layout = Layout.row_major(SIZE, 1)


def broadcast_add(
    output: LayoutTensor[dtype, out_layout, MutAnyOrigin],
    a: LayoutTensor[dtype, a_layout, ImmutAnyOrigin],
    b: LayoutTensor[dtype, b_layout, ImmutAnyOrigin],
):
    var row = thread_idx.y
    var col = thread_idx.x
    # FILL ME IN (about 2 lines)


# ANCHOR_END: broadcast_add_layout_tensor

# Elements right after the output, which no thread may write.
comptime GUARD_SIZE = SIZE * SIZE
comptime UNTOUCHED = Scalar[dtype](-777.25)


def main() raises:
    expect_no_flags("p05_layout_tensor")
    with DeviceContext() as ctx:
        var memory = ctx.enqueue_create_buffer[dtype](SIZE * SIZE + GUARD_SIZE)
        memory.enqueue_fill(UNTOUCHED)
        var guard = memory.create_sub_buffer[dtype](SIZE * SIZE, GUARD_SIZE)
        var out = memory.create_sub_buffer[dtype](0, SIZE * SIZE)
        out.enqueue_fill(0)
        var a = ctx.enqueue_create_buffer[dtype](SIZE)
        a.enqueue_fill(0)
        var b = ctx.enqueue_create_buffer[dtype](SIZE)
        b.enqueue_fill(0)
        with a.map_to_host() as a_host, b.map_to_host() as b_host:
            for i in range(SIZE):
                a_host[i] = Scalar[dtype](i + 1)
                b_host[i] = Scalar[dtype](10 * i)
        stage("a", a)
        stage("b", b)
        stage("out", out)

        var expected = ctx.enqueue_create_host_buffer[dtype](SIZE * SIZE)
        with a.map_to_host() as a_host, b.map_to_host() as b_host:
            for row in range(SIZE):
                for col in range(SIZE):
                    expected[row * SIZE + col] = a_host[col] + b_host[row]

        var out_tensor = LayoutTensor[dtype, out_layout](out)
        print("out shape:", out_tensor.shape[0](), "x", out_tensor.shape[1]())
        ctx.enqueue_function[broadcast_add](
            out_tensor,
            LayoutTensor[mut=False, dtype, a_layout](a),
            LayoutTensor[mut=False, dtype, b_layout](b),
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
        print("Puzzle 05 complete ✅")
