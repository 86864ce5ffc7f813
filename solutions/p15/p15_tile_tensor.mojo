from max.gpu import AddressSpace, barrier, block_idx, thread_idx
from max.gpu.host import DeviceContext
from layout import TileTensor, row_major, stack_allocation
from std.testing import assert_equal

from lab import expect_no_flags, stage, submit

# ANCHOR: axis_sum_tile_tensor_solution
comptime TPB = 8
comptime BATCH = 4
comptime SIZE = 6
comptime BLOCKS_PER_GRID = (1, BATCH)
comptime THREADS_PER_BLOCK = (TPB, 1)
comptime dtype = DType.float32
comptime in_layout = row_major[BATCH, SIZE]()
comptime out_layout = row_major[BATCH, 1]()


def axis_sum(
    output: TileTensor[dtype, type_of(out_layout), MutAnyOrigin],
    a: TileTensor[dtype, type_of(in_layout), ImmutAnyOrigin],
):
    var local_i = thread_idx.x
    var batch = block_idx.y
    # FILL: about 20 lines
    # One element for every thread of the block, visible to that block only.
    var cache = stack_allocation[dtype, address_space=AddressSpace.SHARED](
        row_major[TPB]()
    )

    # The block has more threads than the row has elements: the spare threads
    # store zeros, which change no sum, so that the tree below needs no guard
    # for the row length.
    if local_i < SIZE:
        cache[local_i] = a[batch, local_i]
    else:
        cache[local_i] = 0
    barrier()

    # TPB elements are summed in log2(TPB) steps; each step adds the upper half
    # of the partial sums to the lower half. All threads read first; no thread
    # writes before all of them have read.
    var stride = TPB // 2
    while stride > 0:
        var upper = Scalar[dtype](0)
        if local_i < stride:
            upper = cache[local_i + stride]
        barrier()
        if local_i < stride:
            cache[local_i] += upper
        barrier()
        stride //= 2

    # Every thread of the block could write the row's sum; one is enough.
    if local_i == 0:
        output[batch, 0] = cache[0]
    # END_FILL


# ANCHOR_END: axis_sum_tile_tensor_solution


def main() raises:
    expect_no_flags("p15_tile_tensor")
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
            TileTensor(out, out_layout),
            TileTensor[mut=False](inp, in_layout),
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
