from max.gpu import AddressSpace, barrier, block_dim, block_idx, thread_idx
from max.gpu.host import DeviceContext
from layout import TileTensor, row_major, stack_allocation
from std.testing import assert_equal

from lab import expect_no_flags, stage, submit

# ANCHOR: add_10_shared_tile_tensor
comptime TPB = 4
comptime SIZE = 8
comptime BLOCKS_PER_GRID = (2, 1)
comptime THREADS_PER_BLOCK = (TPB, 1)
comptime dtype = DType.float32
comptime layout = row_major[SIZE]()


def add_10_shared_tile_tensor(
    output: TileTensor[dtype, type_of(layout), MutAnyOrigin],
    a: TileTensor[dtype, type_of(layout), ImmutAnyOrigin],
):
    # One element for every thread of the block, visible to that block only.
    var shared = stack_allocation[dtype, address_space=AddressSpace.SHARED](
        row_major[TPB]()
    )
    var global_i = block_dim.x * block_idx.x + thread_idx.x
    var local_i = thread_idx.x

    if global_i < SIZE:
        shared[local_i] = a[global_i]
    # No thread continues before all threads of the block have stored theirs.
    barrier()

    # FILL ME IN (about 2 lines)


# ANCHOR_END: add_10_shared_tile_tensor


def main() raises:
    expect_no_flags("p08_tile_tensor")
    with DeviceContext() as ctx:
        var out = ctx.enqueue_create_buffer[dtype](SIZE)
        out.enqueue_fill(0)
        var a = ctx.enqueue_create_buffer[dtype](SIZE)
        a.enqueue_fill(1)
        stage("a", a)
        stage("out", out)

        var expected = ctx.enqueue_create_host_buffer[dtype](SIZE)
        with a.map_to_host() as a_host:
            for i in range(SIZE):
                expected[i] = a_host[i] + 10

        ctx.enqueue_function[add_10_shared_tile_tensor](
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
        print("Puzzle 08 complete ✅")
