from max.gpu import AddressSpace, barrier, block_dim, block_idx, thread_idx
from max.gpu.host import DeviceContext
from layout import Layout, LayoutTensor
from std.testing import assert_equal

from lab import choose_mode, stage, submit

# ANCHOR: conv_1d_simple
comptime TPB = 8
comptime SIZE = 6
comptime CONV = 3
comptime BLOCKS_PER_GRID = (1, 1)
comptime THREADS_PER_BLOCK = (TPB, 1)
comptime dtype = DType.float32
comptime layout = Layout.row_major(SIZE)
comptime conv_layout = Layout.row_major(CONV)


def conv_1d_simple(
    output: LayoutTensor[dtype, layout, MutAnyOrigin],
    a: LayoutTensor[dtype, layout, ImmutAnyOrigin],
    b: LayoutTensor[dtype, conv_layout, ImmutAnyOrigin],
):
    var global_i = block_dim.x * block_idx.x + thread_idx.x
    var local_i = thread_idx.x
    # FILL ME IN (about 24 lines)


# ANCHOR_END: conv_1d_simple


# ANCHOR: conv_1d_block_boundary
comptime SIZE_2 = 15
comptime CONV_2 = 4
comptime BLOCKS_PER_GRID_2 = (2, 1)
comptime layout_2 = Layout.row_major(SIZE_2)
comptime conv_layout_2 = Layout.row_major(CONV_2)


def conv_1d_block_boundary(
    output: LayoutTensor[dtype, layout_2, MutAnyOrigin],
    a: LayoutTensor[dtype, layout_2, ImmutAnyOrigin],
    b: LayoutTensor[dtype, conv_layout_2, ImmutAnyOrigin],
):
    var global_i = block_dim.x * block_idx.x + thread_idx.x
    var local_i = thread_idx.x
    # FILL ME IN (about 30 lines)


# ANCHOR_END: conv_1d_block_boundary

# After the output, as many elements again, which no thread may write.
comptime UNTOUCHED = Scalar[dtype](-777.25)


def main() raises:
    var mode = choose_mode("p13", ["--simple", "--block-boundary"])
    var simple = mode == "--simple"
    var size = SIZE if simple else SIZE_2
    var conv_size = CONV if simple else CONV_2
    with DeviceContext() as ctx:
        var memory = ctx.enqueue_create_buffer[dtype](2 * size)
        memory.enqueue_fill(UNTOUCHED)
        var guard = memory.create_sub_buffer[dtype](size, size)
        var out = memory.create_sub_buffer[dtype](0, size)
        out.enqueue_fill(0)
        var a = ctx.enqueue_create_buffer[dtype](size)
        a.enqueue_fill(0)
        var b = ctx.enqueue_create_buffer[dtype](conv_size)
        b.enqueue_fill(0)
        with a.map_to_host() as a_host, b.map_to_host() as b_host:
            for i in range(size):
                a_host[i] = Scalar[dtype](i)
            for j in range(conv_size):
                b_host[j] = Scalar[dtype](j)
        stage("a", a)
        stage("b", b)
        stage("out", out)

        var expected = ctx.enqueue_create_host_buffer[dtype](size)
        with a.map_to_host() as a_host, b.map_to_host() as b_host:
            for i in range(size):
                expected[i] = 0
                for j in range(min(conv_size, size - i)):
                    expected[i] += a_host[i + j] * b_host[j]

        if simple:
            ctx.enqueue_function[conv_1d_simple](
                LayoutTensor[dtype, layout](out),
                LayoutTensor[mut=False, dtype, layout](a),
                LayoutTensor[mut=False, dtype, conv_layout](b),
                grid_dim=BLOCKS_PER_GRID,
                block_dim=THREADS_PER_BLOCK,
            )
        else:
            ctx.enqueue_function[conv_1d_block_boundary](
                LayoutTensor[dtype, layout_2](out),
                LayoutTensor[mut=False, dtype, layout_2](a),
                LayoutTensor[mut=False, dtype, conv_layout_2](b),
                grid_dim=BLOCKS_PER_GRID_2,
                block_dim=THREADS_PER_BLOCK,
            )
        ctx.synchronize()

        submit("out", out)
        submit("guard", guard)
        with out.map_to_host() as out_host, guard.map_to_host() as guard_host:
            print("out:", out_host)
            print("expected:", expected)
            for i in range(size):
                assert_equal(out_host[i], expected[i])
            for i in range(size):
                assert_equal(
                    guard_host[i], UNTOUCHED, "written behind the output"
                )
        print("Puzzle 13 complete ✅")
