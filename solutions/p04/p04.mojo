from max.gpu import thread_idx
from max.gpu.host import DeviceContext
from std.testing import assert_equal

from lab import expect_no_flags, stage, submit

# ANCHOR: add_10_2d_solution
comptime SIZE = 2
comptime BLOCKS_PER_GRID = 1
comptime THREADS_PER_BLOCK = (3, 3)
comptime dtype = DType.float32


def add_10_2d(
    output: Pointer[Scalar[dtype], MutAnyOrigin],
    a: Pointer[Scalar[dtype], ImmutAnyOrigin],
    size: Int32,
):
    var row = thread_idx.y
    var col = thread_idx.x
    # FILL: about 5 lines
    # Memory is one-dimensional: the next row begins `width` elements
    # further on.
    var width = Int(size)
    if row < width and col < width:
        output[unsafe_offset=row * width + col] = (
            a[unsafe_offset=row * width + col] + 10
        )
    # END_FILL


# ANCHOR_END: add_10_2d_solution

# Elements right after the output, which no thread may write.
comptime GUARD_SIZE = SIZE * SIZE
comptime UNTOUCHED = Scalar[dtype](-777.25)


def main() raises:
    expect_no_flags("p04")
    with DeviceContext() as ctx:
        var memory = ctx.enqueue_create_buffer[dtype](SIZE * SIZE + GUARD_SIZE)
        memory.enqueue_fill(UNTOUCHED)
        var guard = memory.create_sub_buffer[dtype](SIZE * SIZE, GUARD_SIZE)
        var out = memory.create_sub_buffer[dtype](0, SIZE * SIZE)
        out.enqueue_fill(0)
        var a = ctx.enqueue_create_buffer[dtype](SIZE * SIZE)
        a.enqueue_fill(0)
        with a.map_to_host() as a_host:
            for i in range(SIZE * SIZE):
                a_host[i] = Scalar[dtype](i)
        stage("a", a)
        stage("out", out)

        var expected = ctx.enqueue_create_host_buffer[dtype](SIZE * SIZE)
        with a.map_to_host() as a_host:
            for i in range(SIZE * SIZE):
                expected[i] = a_host[i] + 10

        ctx.enqueue_function[add_10_2d](
            out,
            a,
            Int32(SIZE),
            grid_dim=BLOCKS_PER_GRID,
            block_dim=THREADS_PER_BLOCK,
        )
        ctx.synchronize()

        submit("out", out)
        submit("guard", guard)
        with out.map_to_host() as out_host, guard.map_to_host() as guard_host:
            print("out:", out_host)
            print("expected:", expected)
            for i in range(SIZE * SIZE):
                assert_equal(out_host[i], expected[i])
            for i in range(GUARD_SIZE):
                assert_equal(
                    guard_host[i], UNTOUCHED, "written behind the output"
                )
        print("Puzzle 04 complete ✅")
