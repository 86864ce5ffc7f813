from max.gpu import AddressSpace, barrier, block_dim, block_idx, thread_idx
from max.gpu.host import DeviceContext
from layout import TileTensor, row_major, stack_allocation
from std.testing import assert_equal

from lab import expect_no_flags, stage, submit

# ANCHOR: pooling_tile_tensor_solution
comptime TPB = 8
comptime SIZE = 8
comptime WINDOW = 3
comptime BLOCKS_PER_GRID = (1, 1)
comptime THREADS_PER_BLOCK = (TPB, 1)
comptime dtype = DType.float32
comptime layout = row_major[SIZE]()


def pooling(
    output: TileTensor[dtype, type_of(layout), MutAnyOrigin],
    a: TileTensor[dtype, type_of(layout), ImmutAnyOrigin],
):
    # One element for every thread of the block, visible to that block only.
    var shared = stack_allocation[dtype, address_space=AddressSpace.SHARED](
        row_major[TPB]()
    )
    var global_i = block_dim.x * block_idx.x + thread_idx.x
    var local_i = thread_idx.x
    # FILL: about 8 lines
    # Every thread reads one number from global memory. It reads its window of
    # three from shared memory, once all of them are stored.
    if global_i < SIZE:
        shared[local_i] = a[global_i]
    barrier()

    # The window ends at the thread's own element. At the start of the vector
    # it is shorter: thread 0 has one number, thread 1 has two.
    if global_i < SIZE:
        var total = Scalar[dtype](0)
        for i in range(max(local_i - WINDOW + 1, 0), local_i + 1):
            total += shared[i]
        output[global_i] = total
    # END_FILL


# ANCHOR_END: pooling_tile_tensor_solution


def main() raises:
    expect_no_flags("p11_tile_tensor")
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
            TileTensor(out, layout),
            TileTensor[mut=False](a, layout),
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
