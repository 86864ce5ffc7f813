from max.gpu import AddressSpace, barrier, block_dim, block_idx, thread_idx
from max.gpu.host import DeviceBuffer, DeviceContext
from layout import TileTensor, row_major, stack_allocation
from std.testing import assert_equal

from lab import choose_mode, stage, submit

# ANCHOR: prefix_sum_simple_tile_tensor_solution
comptime TPB = 8
comptime SIZE = 8
comptime BLOCKS_PER_GRID = (1, 1)
comptime THREADS_PER_BLOCK = (TPB, 1)
comptime dtype = DType.float32
comptime layout = row_major[SIZE]()


def prefix_sum_simple(
    output: TileTensor[dtype, type_of(layout), MutAnyOrigin],
    a: TileTensor[dtype, type_of(layout), ImmutAnyOrigin],
):
    var global_i = block_dim.x * block_idx.x + thread_idx.x
    var local_i = thread_idx.x
    # FILL: about 20 lines
    # One element for every thread of the block, visible to that block only.
    var shared = stack_allocation[dtype, address_space=AddressSpace.SHARED](
        row_major[TPB]()
    )
    if global_i < SIZE:
        shared[local_i] = a[global_i]
    else:
        shared[local_i] = 0
    barrier()

    # Each step doubles the number of terms of a sum: it adds the sum that is
    # `offset` elements before it. All threads read first; no thread writes
    # before all of them have read.
    var offset = 1
    while offset < TPB:
        var before = Scalar[dtype](0)
        if local_i >= offset:
            before = shared[local_i - offset]
        barrier()
        if local_i >= offset:
            shared[local_i] += before
        barrier()
        offset *= 2

    if global_i < SIZE:
        output[global_i] = shared[local_i]
    # END_FILL


# ANCHOR_END: prefix_sum_simple_tile_tensor_solution


# ANCHOR: prefix_sum_complete_tile_tensor_solution
comptime SIZE_2 = 15
comptime BLOCKS = (SIZE_2 + TPB - 1) // TPB
comptime BLOCKS_PER_GRID_2 = (BLOCKS, 1)
# The result, and after it one element for the sum of each block.
comptime EXTENDED_SIZE = SIZE_2 + BLOCKS
comptime layout_2 = row_major[SIZE_2]()
comptime extended_layout = row_major[EXTENDED_SIZE]()


# First kernel: every block scans its own elements, and stores their sum at
# index SIZE_2 + block_idx.x of the output.
def prefix_sum_local_phase(
    output: TileTensor[dtype, type_of(extended_layout), MutAnyOrigin],
    a: TileTensor[dtype, type_of(layout_2), ImmutAnyOrigin],
):
    var global_i = block_dim.x * block_idx.x + thread_idx.x
    var local_i = thread_idx.x
    # FILL: about 22 lines
    var shared = stack_allocation[dtype, address_space=AddressSpace.SHARED](
        row_major[TPB]()
    )
    # Because of the zeros past the end, the last element of every block is the
    # block's sum.
    if global_i < SIZE_2:
        shared[local_i] = a[global_i]
    else:
        shared[local_i] = 0
    barrier()

    var offset = 1
    while offset < TPB:
        var before = Scalar[dtype](0)
        if local_i >= offset:
            before = shared[local_i - offset]
        barrier()
        if local_i >= offset:
            shared[local_i] += before
        barrier()
        offset *= 2

    # Without the guard the last thread would overwrite the first block's sum.
    if global_i < SIZE_2:
        output[global_i] = shared[local_i]
    if local_i == TPB - 1:
        output[SIZE_2 + block_idx.x] = shared[local_i]
    # END_FILL


# Second kernel: each element lacks the sums of the blocks before its own.
def prefix_sum_block_sum_phase(
    output: TileTensor[dtype, type_of(extended_layout), MutAnyOrigin],
):
    var global_i = block_dim.x * block_idx.x + thread_idx.x
    # FILL: about 5 lines
    # All blocks before this one, not just its neighbour: the sums at the end
    # are those of single blocks. Block 0 has none before it.
    var before = Scalar[dtype](0)
    for block in range(block_idx.x):
        before += output[SIZE_2 + block]
    if global_i < SIZE_2:
        output[global_i] += before
    # END_FILL


# ANCHOR_END: prefix_sum_complete_tile_tensor_solution


def complete_prefix_sum(
    ctx: DeviceContext, output: DeviceBuffer[dtype], a: DeviceBuffer[dtype]
) raises:
    var out_tensor = TileTensor(output, extended_layout)
    var a_tensor = TileTensor[mut=False](a, layout_2)
    # ANCHOR: prefix_sum_complete_block_level_sync_tile_tensor
    # A barrier synchronises one block. The end of a launch synchronises all
    # blocks: the second kernel begins when the first has written everything.
    ctx.enqueue_function[prefix_sum_local_phase](
        out_tensor,
        a_tensor,
        grid_dim=BLOCKS_PER_GRID_2,
        block_dim=THREADS_PER_BLOCK,
    )
    ctx.enqueue_function[prefix_sum_block_sum_phase](
        out_tensor,
        grid_dim=BLOCKS_PER_GRID_2,
        block_dim=THREADS_PER_BLOCK,
    )
    # ANCHOR_END: prefix_sum_complete_block_level_sync_tile_tensor


def main() raises:
    var mode = choose_mode("p14_tile_tensor", ["--simple", "--complete"])
    var simple = mode == "--simple"
    var size = SIZE if simple else SIZE_2
    var extended_size = SIZE if simple else EXTENDED_SIZE
    with DeviceContext() as ctx:
        var out = ctx.enqueue_create_buffer[dtype](extended_size)
        out.enqueue_fill(0)
        var a = ctx.enqueue_create_buffer[dtype](size)
        a.enqueue_fill(0)
        with a.map_to_host() as a_host:
            for i in range(size):
                a_host[i] = Scalar[dtype](i)
        stage("a", a)
        stage("out", out)

        var expected = ctx.enqueue_create_host_buffer[dtype](extended_size)
        with a.map_to_host() as a_host:
            var total = Scalar[dtype](0)
            for i in range(size, extended_size):
                expected[i] = 0
            for i in range(size):
                total += a_host[i]
                expected[i] = total
                if not simple:
                    expected[size + i // TPB] += a_host[i]

        if simple:
            ctx.enqueue_function[prefix_sum_simple](
                TileTensor(out, layout),
                TileTensor[mut=False](a, layout),
                grid_dim=BLOCKS_PER_GRID,
                block_dim=THREADS_PER_BLOCK,
            )
        else:
            print("The last", BLOCKS, "numbers: the sums of the single blocks.")
            complete_prefix_sum(ctx, out, a)
        ctx.synchronize()

        submit("out", out)
        with out.map_to_host() as out_host:
            print("out:", out_host)
            print("expected:", expected)
            for i in range(extended_size):
                assert_equal(out_host[i], expected[i])
        print("Puzzle 14 complete ✅")
