from max.gpu import AddressSpace, barrier, block_dim, block_idx, thread_idx
from max.gpu.host import DeviceContext
from layout import Layout, LayoutTensor
from std.testing import assert_equal

from lab import expect_no_flags, stage, submit

# ANCHOR: pooling_layout_tensor
comptime TPB = 8
comptime SIZE = 8
comptime WINDOW = 3
comptime BLOCKS_PER_GRID = (1, 1)
comptime THREADS_PER_BLOCK = (TPB, 1)
comptime dtype = DType.float32
comptime layout = Layout.row_major(SIZE)


def pooling(
    output: LayoutTensor[dtype, layout, MutAnyOrigin],
    a: LayoutTensor[dtype, layout, ImmutAnyOrigin],
):
    # One element for every thread of the block, visible to that block only.
    var shared = LayoutTensor[
        dtype,
        Layout.row_major(TPB),
        MutAnyOrigin,
        address_space=AddressSpace.SHARED,
    ].stack_allocation()
    var global_i = block_dim.x * block_idx.x + thread_idx.x
    var local_i = thread_idx.x
    # FILL ME IN (about 8 lines)


# ANCHOR_END: pooling_layout_tensor


def main() raises:
    expect_no_flags("p11_layout_tensor")
    with DeviceContext() as ctx:
        var out = ctx.enqueue_create_buffer[dtype](SIZE)
        out.enqueue_fill(0)
        var a = ctx.enqueue_create_buffer[dtype](SIZE)
        a.enqueue_fill(0)
        with a.map_to_host() as a_host:
            for i in range(SIZE):
                a_host[i] = Scalar[dtype](i)
        stage("a", a)
        stage("out", out)

        var expected = ctx.enqueue_create_host_buffer[dtype](SIZE)
        with a.map_to_host() as a_host:
            for i in range(SIZE):
                expected[i] = 0
                for j in range(max(i - WINDOW + 1, 0), i + 1):
                    expected[i] += a_host[j]

        ctx.enqueue_function[pooling](
            LayoutTensor[dtype, layout](out),
            LayoutTensor[mut=False, dtype, layout](a),
            grid_dim=BLOCKS_PER_GRID,
            block_dim=THREADS_PER_BLOCK,
        )
        ctx.synchronize()

        submit("out", out)
        with out.map_to_host() as out_host:
            print("out:", out_host)
            print("expected:", expected)
            for i in range(SIZE):
                assert_equal(out_host[i], expected[i])
        print("Puzzle 11 complete ✅")
