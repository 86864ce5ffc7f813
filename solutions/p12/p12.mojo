from max.gpu import AddressSpace, barrier, block_dim, block_idx, thread_idx
from max.gpu.host import DeviceContext
from std.memory import unsafe_stack_allocation
from std.testing import assert_equal

from lab import expect_no_flags, stage, submit

# ANCHOR: dot_product_solution
comptime TPB = 8
comptime SIZE = 8
comptime BLOCKS_PER_GRID = (1, 1)
comptime THREADS_PER_BLOCK = (TPB, 1)
comptime dtype = DType.float32


def dot_product(
    output: Pointer[Scalar[dtype], MutAnyOrigin],
    a: Pointer[Scalar[dtype], ImmutAnyOrigin],
    b: Pointer[Scalar[dtype], ImmutAnyOrigin],
    size: Int32,
):
    # FILL: about 24 lines
    # STUB: pass
    # One element for every thread of the block, visible to that block only.
    var shared = unsafe_stack_allocation[
        TPB, Scalar[dtype], address_space=AddressSpace.SHARED
    ]()
    var global_i = block_idx.x * block_dim.x + thread_idx.x
    var local_i = thread_idx.x

    # Every thread reads two numbers from global memory, once. A thread past
    # the end stores a zero, which changes no sum.
    if global_i < Int(size):
        shared[unsafe_offset=local_i] = (
            a[unsafe_offset=global_i] * b[unsafe_offset=global_i]
        )
    else:
        shared[unsafe_offset=local_i] = 0
    barrier()

    # Tree reduction: 8 partial sums become 4, then 2, then 1. All threads read
    # first; no thread writes before all of them have read.
    var stride = TPB // 2
    while stride > 0:
        var upper = Scalar[dtype](0)
        if local_i < stride:
            upper = shared[unsafe_offset=local_i + stride]
        barrier()
        if local_i < stride:
            shared[unsafe_offset=local_i] += upper
        barrier()
        stride //= 2

    # Every thread of the block could write the sum; one is enough.
    if local_i == 0:
        output[unsafe_offset=0] = shared[unsafe_offset=0]
    # END_FILL


# ANCHOR_END: dot_product_solution


def main() raises:
    expect_no_flags("p12")
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
            out,
            a,
            b,
            Int32(SIZE),
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
