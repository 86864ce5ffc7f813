from max.gpu import thread_idx
from max.gpu.host import DeviceContext
from std.testing import assert_equal

from lab import expect_no_flags, stage, submit

# ANCHOR: add_10_solution
comptime SIZE = 4
comptime BLOCKS_PER_GRID = 1
comptime THREADS_PER_BLOCK = SIZE
comptime dtype = DType.float32


def add_10(
    output: Pointer[Scalar[dtype], MutAnyOrigin],
    a: Pointer[Scalar[dtype], ImmutAnyOrigin],
):
    var i = thread_idx.x
    # FILL: about 1 line
    # Every thread runs this same line; only its i differs.
    output[unsafe_offset=i] = a[unsafe_offset=i] + 10
    # END_FILL


# ANCHOR_END: add_10_solution


# ANCHOR: main_solution
def main() raises:
    expect_no_flags("p01")
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
                expected[i] = a_host[i] + 10

        ctx.enqueue_function[add_10](
            out,
            a,
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
        print("Puzzle 01 complete ✅")


# ANCHOR_END: main_solution
