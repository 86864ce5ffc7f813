from max.gpu import AddressSpace, barrier, block_dim, block_idx, thread_idx
from max.gpu.host import DeviceContext
from layout import TileTensor, row_major, stack_allocation
from std.testing import assert_equal

from lab import choose_mode, stage, submit

# ANCHOR: conv_1d_simple_tile_tensor_solution
comptime TPB = 8
comptime SIZE = 6
comptime CONV = 3
comptime BLOCKS_PER_GRID = (1, 1)
comptime THREADS_PER_BLOCK = (TPB, 1)
comptime dtype = DType.float32
comptime layout = row_major[SIZE]()
comptime conv_layout = row_major[CONV]()


def conv_1d_simple(
    output: TileTensor[dtype, type_of(layout), MutAnyOrigin],
    a: TileTensor[dtype, type_of(layout), ImmutAnyOrigin],
    b: TileTensor[dtype, type_of(conv_layout), ImmutAnyOrigin],
):
    var global_i = block_dim.x * block_idx.x + thread_idx.x
    var local_i = thread_idx.x
    # FILL: about 18 lines
    var shared_a = stack_allocation[dtype, address_space=AddressSpace.SHARED](
        row_major[TPB]()
    )
    var shared_b = stack_allocation[dtype, address_space=AddressSpace.SHARED](
        row_major[CONV]()
    )

    # The elements after the last one are zero: a window that extends past the
    # end then needs no special case.
    if global_i < SIZE:
        shared_a[local_i] = a[global_i]
    else:
        shared_a[local_i] = 0
    if local_i < CONV:
        shared_b[local_i] = b[local_i]
    barrier()

    # The last window is from index SIZE - 1 to SIZE + CONV - 2, which is
    # TPB - 1: it stays in bounds.
    if global_i < SIZE:
        var total = Scalar[dtype](0)
        for j in range(CONV):
            total += shared_a[local_i + j] * shared_b[j]
        output[global_i] = total
    # END_FILL


# ANCHOR_END: conv_1d_simple_tile_tensor_solution


# ANCHOR: conv_1d_block_boundary_tile_tensor_solution
comptime SIZE_2 = 15
comptime CONV_2 = 4
comptime BLOCKS_PER_GRID_2 = (2, 1)
comptime layout_2 = row_major[SIZE_2]()
comptime conv_layout_2 = row_major[CONV_2]()


def conv_1d_block_boundary(
    output: TileTensor[dtype, type_of(layout_2), MutAnyOrigin],
    a: TileTensor[dtype, type_of(layout_2), ImmutAnyOrigin],
    b: TileTensor[dtype, type_of(conv_layout_2), ImmutAnyOrigin],
):
    var global_i = block_dim.x * block_idx.x + thread_idx.x
    var local_i = thread_idx.x
    # FILL: about 24 lines
    # The last windows of a block reach into the next block's elements: another
    # CONV_2 - 1 elements of shared memory hold a copy of those.
    var shared_a = stack_allocation[dtype, address_space=AddressSpace.SHARED](
        row_major[TPB + CONV_2 - 1]()
    )
    var shared_b = stack_allocation[dtype, address_space=AddressSpace.SHARED](
        row_major[CONV_2]()
    )

    if global_i < SIZE_2:
        shared_a[local_i] = a[global_i]
    else:
        shared_a[local_i] = 0

    # The first threads fetch a second element each: the one a whole block
    # further on, which may be past the end.
    if local_i < CONV_2 - 1:
        var next_i = global_i + TPB
        if next_i < SIZE_2:
            shared_a[local_i + TPB] = a[next_i]
        else:
            shared_a[local_i + TPB] = 0

    if local_i < CONV_2:
        shared_b[local_i] = b[local_i]
    barrier()

    if global_i < SIZE_2:
        var total = Scalar[dtype](0)
        for j in range(CONV_2):
            total += shared_a[local_i + j] * shared_b[j]
        output[global_i] = total
    # END_FILL


# ANCHOR_END: conv_1d_block_boundary_tile_tensor_solution

# After the output, as many elements again, which no thread may write.
comptime UNTOUCHED = Scalar[dtype](-777.25)


def main() raises:
    var mode = choose_mode("p13_tile_tensor", ["--simple", "--block-boundary"])
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
                TileTensor(out, layout),
                TileTensor[mut=False](a, layout),
                TileTensor[mut=False](b, conv_layout),
                grid_dim=BLOCKS_PER_GRID,
                block_dim=THREADS_PER_BLOCK,
            )
        else:
            ctx.enqueue_function[conv_1d_block_boundary](
                TileTensor(out, layout_2),
                TileTensor[mut=False](a, layout_2),
                TileTensor[mut=False](b, conv_layout_2),
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
