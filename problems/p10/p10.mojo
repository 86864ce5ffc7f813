from max.gpu import AddressSpace, barrier, thread_idx
from max.gpu.host import DeviceContext
from layout import TileTensor, row_major, stack_allocation
from std.testing import assert_equal

from lab import choose_mode, stage, submit

comptime dtype = DType.float32
comptime SIZE = 2
comptime COUNT = SIZE * SIZE
comptime BLOCKS_PER_GRID = 1
comptime THREADS_PER_BLOCK = (3, 3)
comptime layout = row_major[SIZE, SIZE]()


# ANCHOR: add_10_2d_no_guard
def add_10_2d(
    output: TileTensor[dtype, type_of(layout), MutAnyOrigin],
    a: TileTensor[dtype, type_of(layout), ImmutAnyOrigin],
):
    var row = thread_idx.y
    var col = thread_idx.x
    output[row, col] = a[row, col] + 10


# ANCHOR_END: add_10_2d_no_guard


# ANCHOR: shared_memory_race
def shared_memory_race(
    output: TileTensor[dtype, type_of(layout), MutAnyOrigin],
    a: TileTensor[dtype, type_of(layout), ImmutAnyOrigin],
):
    var row = thread_idx.y
    var col = thread_idx.x
    var shared_sum = stack_allocation[dtype, address_space=AddressSpace.SHARED](
        row_major[1]()
    )
    if row == 0 and col == 0:
        shared_sum[0] = 0
    barrier()
    if row < SIZE and col < SIZE:
        shared_sum[0] += a[row, col]
    barrier()

    if row < SIZE and col < SIZE:
        output[row, col] = shared_sum[0]


# ANCHOR_END: shared_memory_race

# After the output, as many elements again, which no thread may write. The
# input has nothing after it: a read there is out of bounds.
comptime UNTOUCHED = Scalar[dtype](-777.25)


def main() raises:
    var mode = choose_mode("p10", ["--memory-bug", "--race-condition"])
    with DeviceContext() as ctx:
        var memory = ctx.enqueue_create_buffer[dtype](2 * COUNT)
        memory.enqueue_fill(UNTOUCHED)
        var guard = memory.create_sub_buffer[dtype](COUNT, COUNT)
        var out = memory.create_sub_buffer[dtype](0, COUNT)
        out.enqueue_fill(0)
        var a = ctx.enqueue_create_buffer[dtype](COUNT)
        a.enqueue_fill(0)
        with a.map_to_host() as a_host:
            for i in range(COUNT):
                a_host[i] = Scalar[dtype](i)
        stage("a", a)
        stage("out", out)

        var expected = ctx.enqueue_create_host_buffer[dtype](COUNT)
        with a.map_to_host() as a_host:
            var total = Scalar[dtype](0)
            for i in range(COUNT):
                total += a_host[i]
            for i in range(COUNT):
                if mode == "--memory-bug":
                    expected[i] = a_host[i] + 10
                else:
                    expected[i] = total

        print("out shape:", SIZE, "x", SIZE)
        if mode == "--memory-bug":
            print("Running memory bug example...")
            ctx.enqueue_function[add_10_2d](
                TileTensor(out, layout),
                TileTensor[mut=False](a, layout),
                grid_dim=BLOCKS_PER_GRID,
                block_dim=THREADS_PER_BLOCK,
            )
        else:
            print("Running race condition example...")
            ctx.enqueue_function[shared_memory_race](
                TileTensor(out, layout),
                TileTensor[mut=False](a, layout),
                grid_dim=BLOCKS_PER_GRID,
                block_dim=THREADS_PER_BLOCK,
            )
        ctx.synchronize()

        submit("out", out)
        submit("guard", guard)
        with out.map_to_host() as out_host:
            print("out:", out_host)
            print("expected:", expected)
            for i in range(COUNT):
                assert_equal(out_host[i], expected[i])
        if mode == "--memory-bug":
            print("Memory bug test: passed")
        else:
            print("Race condition test: passed")

        # Right values do not show what else was written. The elements after the
        # output do; a real program has none, and reports success here.
        with guard.map_to_host() as guard_host:
            for i in range(COUNT):
                assert_equal(
                    guard_host[i], UNTOUCHED, "written behind the output"
                )
        print("Puzzle 10 complete ✅")
