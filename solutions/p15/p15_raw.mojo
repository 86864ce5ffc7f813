from max.gpu import AddressSpace, barrier, block_idx, thread_idx
from max.gpu.host import DeviceContext
from std.memory import unsafe_stack_allocation
from std.testing import assert_equal

from lab import expect_no_flags, stage, submit

# ANCHOR: axis_sum_solution
comptime TPB = 8
comptime BATCH = 4
comptime SIZE = 6
comptime BLOCKS_PER_GRID = (1, BATCH)
comptime THREADS_PER_BLOCK = (TPB, 1)
comptime dtype = DType.float32


def axis_sum(
    output: Pointer[Scalar[dtype], MutAnyOrigin],
    a: Pointer[Scalar[dtype], ImmutAnyOrigin],
    size: Int32,
):
    var local_i = thread_idx.x
    var batch = block_idx.y
    # FILL: about 23 lines
    # One element for every thread of the block, visible to that block only.
    var cache = unsafe_stack_allocation[
        TPB, Scalar[dtype], address_space=AddressSpace.SHARED
    ]()

    # A raw pointer has no rows: element (batch, local_i) of a matrix with rows
    # of `size` elements is at offset batch * size + local_i. The spare threads
    # store zeros; without the guard they would read the next row.
    var row_length = Int(size)
    if local_i < row_length:
        cache[unsafe_offset=local_i] = a[
            unsafe_offset=batch * row_length + local_i
        ]
    else:
        cache[unsafe_offset=local_i] = 0
    barrier()

    # The guard is the stride, never the row length: `local_i < size` would let
    # thread 5 add element 5 + 4, which does not exist, and let a thread write
    # an element that its neighbour reads in the same step.
    var stride = TPB // 2
    while stride > 0:
        var upper = Scalar[dtype](0)
        if local_i < stride:
            upper = cache[unsafe_offset=local_i + stride]
        barrier()
        if local_i < stride:
            cache[unsafe_offset=local_i] += upper
        barrier()
        stride //= 2

    # The row's sum is one element, so the row number is its index.
    if local_i == 0:
        output[unsafe_offset=batch] = cache[unsafe_offset=0]
    # END_FILL


# ANCHOR_END: axis_sum_solution


def main() raises:
    expect_no_flags("p15_raw")
    with DeviceContext() as ctx:
        var inp = ctx.enqueue_create_buffer[dtype](BATCH * SIZE)
        inp.enqueue_fill(0)
        with inp.map_to_host() as inp_host:
            for i in range(BATCH * SIZE):
                inp_host[i] = Scalar[dtype](i)
        var out = ctx.enqueue_create_buffer[dtype](BATCH)
        out.enqueue_fill(0)
        stage("a", inp)
        stage("out", out)

        var expected = ctx.enqueue_create_host_buffer[dtype](BATCH)
        with inp.map_to_host() as inp_host:
            for row in range(BATCH):
                expected[row] = 0
                for col in range(SIZE):
                    expected[row] += inp_host[row * SIZE + col]

        ctx.enqueue_function[axis_sum](
            out,
            inp,
            Int32(SIZE),
            grid_dim=BLOCKS_PER_GRID,
            block_dim=THREADS_PER_BLOCK,
        )
        ctx.synchronize()

        submit("out", out)
        print("out:", out)
        print("expected:", expected)
        with out.map_to_host() as out_host:
            for row in range(BATCH):
                assert_equal(out_host[row], expected[row])
        print("Puzzle 15 complete ✅")
