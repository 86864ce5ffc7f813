from max.gpu import AddressSpace, barrier, block_dim, block_idx, thread_idx
from max.gpu.host import DeviceContext
from layout import TileTensor, row_major, stack_allocation
from std.testing import assert_equal

from lab import expect_no_flags, stage, submit

# ANCHOR: dot_product_tile_tensor_solution
comptime TPB = 8
comptime SIZE = 8
comptime BLOCKS_PER_GRID = (1, 1)
comptime THREADS_PER_BLOCK = (TPB, 1)
comptime dtype = DType.float32
comptime layout = row_major[SIZE]()
comptime out_layout = row_major[1]()


def dot_product(
    output: TileTensor[dtype, type_of(out_layout), MutAnyOrigin],
    a: TileTensor[dtype, type_of(layout), ImmutAnyOrigin],
    b: TileTensor[dtype, type_of(layout), ImmutAnyOrigin],
):
    # FILL: about 22 lines
    # STUB: pass
    # One element for every thread of the block, visible to that block only.
    var shared = stack_allocation[dtype, address_space=AddressSpace.SHARED](
        row_major[TPB]()
    )
    var global_i = block_idx.x * block_dim.x + thread_idx.x
    var local_i = thread_idx.x

    # Every thread reads two numbers from global memory, once. A thread past
    # the end stores a zero, which changes no sum.
    if global_i < SIZE:
        shared[local_i] = a[global_i] * b[global_i]
    else:
        shared[local_i] = 0
    barrier()

    # Tree reduction: 8 partial sums become 4, then 2, then 1. All threads read
    # first; no thread writes before all of them have read.
    var stride = TPB // 2
    while stride > 0:
        var upper = Scalar[dtype](0)
        if local_i < stride:
            upper = shared[local_i + stride]
        barrier()
        if local_i < stride:
            shared[local_i] += upper
        barrier()
        stride //= 2

    # Every thread of the block could write the sum; one is enough.
    if local_i == 0:
        output[0] = shared[0]
    # END_FILL


# ANCHOR_END: dot_product_tile_tensor_solution


def main() raises:
    expect_no_flags("p12_tile_tensor")
    with DeviceContext() as ctx:
        var out = ctx.enqueue_create_buffer[dtype](1)
        out.enqueue_fill(0)
        var a = ctx.enqueue_create_buffer[dtype](SIZE)
        a.enqueue_fill(0)
        var b = ctx.enqueue_create_buffer[dtype](SIZE)
        b.enqueue_fill(0)
        with a.map_to_host() as a_host, b.map_to_host() as b_host:
            for i in range(SIZE):
                a_host[i] = Scalar[dtype](i)
                b_host[i] = Scalar[dtype](i)
        stage("a", a)
        stage("b", b)
        stage("out", out)

        var expected = ctx.enqueue_create_host_buffer[dtype](1)
        expected[0] = 0
        with a.map_to_host() as a_host, b.map_to_host() as b_host:
            for i in range(SIZE):
                expected[0] += a_host[i] * b_host[i]

        ctx.enqueue_function[dot_product](
            TileTensor(out, out_layout),
            TileTensor[mut=False](a, layout),
            TileTensor[mut=False](b, layout),
            grid_dim=BLOCKS_PER_GRID,
            block_dim=THREADS_PER_BLOCK,
        )
        ctx.synchronize()

        submit("out", out)
        with out.map_to_host() as out_host:
            print("out:", out_host)
            print("expected:", expected)
            assert_equal(out_host[0], expected[0])
        print("Puzzle 12 complete ✅")
