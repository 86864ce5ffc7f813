from max.gpu import block_dim, block_idx, grid_dim, thread_idx
from max.gpu.host import DeviceContext
from max.gpu.primitives import block
from std.atomic import Atomic, Ordering
from std.testing import assert_equal

from lab import choose_mode, stage, submit

# The grid does not depend on SIZE: a thread takes the elements i, i + step,
# i + 2 * step and so on, where step is the number of threads of the grid.
comptime SIZE = 5003
comptime TPB = 128
comptime BLOCKS = 5
comptime LOADS = 4  # of each array, before the first use of a value
comptime dtype = DType.float32
comptime Output = Pointer[Scalar[dtype], MutAnyOrigin]
comptime Input = Pointer[Scalar[dtype], ImmutAnyOrigin]


# ANCHOR: add
def add(output: Output, a: Input, b: Input, size: Int32):
    var step = grid_dim.x * block_dim.x
    var i = block_idx.x * block_dim.x + thread_idx.x
    # FILL ME IN (about 14 lines)
    if i < Int(size):
        output[unsafe_offset=i] = a[unsafe_offset=i] + b[unsafe_offset=i]


# ANCHOR_END: add


# ANCHOR: sum_of_thread
# The sum of the elements of one thread, 0 if it has none.
def sum_of_thread(a: Input, size: Int32) -> Scalar[dtype]:
    var step = grid_dim.x * block_dim.x
    var i = block_idx.x * block_dim.x + thread_idx.x
    var total = Scalar[dtype](0)
    # FILL ME IN (about 9 lines)
    return total


# ANCHOR_END: sum_of_thread


# ANCHOR: atomic_sum
# Adds the sum of the elements to output[0].
def atomic_sum(output: Output, a: Input, size: Int32):
    var own = sum_of_thread(a, size)
    # FILL ME IN (about 5 lines)
    _ = own


# ANCHOR_END: atomic_sum


# ANCHOR: block_sums
# Stores the sum of each block's elements. It is launched twice: the second
# launch has one block, and adds the sums of the first.
def block_sums(output: Output, a: Input, size: Int32):
    var own = sum_of_thread(a, size)
    # FILL ME IN (about 3 lines)
    _ = own


# ANCHOR_END: block_sums


def add_vectors(ctx: DeviceContext) raises:
    var out = ctx.enqueue_create_buffer[dtype](SIZE)
    out.enqueue_fill(0)
    var a = ctx.enqueue_create_buffer[dtype](SIZE)
    var b = ctx.enqueue_create_buffer[dtype](SIZE)
    with a.map_to_host() as a_host, b.map_to_host() as b_host:
        for i in range(SIZE):
            a_host[i] = Scalar[dtype](i)
            b_host[i] = Scalar[dtype](2 * i)
    stage("a", a)
    stage("b", b)
    stage("out", out)

    var expected = ctx.enqueue_create_host_buffer[dtype](SIZE)
    with a.map_to_host() as a_host, b.map_to_host() as b_host:
        for i in range(SIZE):
            expected[i] = a_host[i] + b_host[i]

    ctx.enqueue_function[add](
        out, a, b, Int32(SIZE), grid_dim=BLOCKS, block_dim=TPB
    )
    ctx.synchronize()

    submit("out", out)
    with out.map_to_host() as out_host:
        print("out:", out_host)
        print("expected:", expected)
        for i in range(SIZE):
            assert_equal(out_host[i], expected[i])


def sum_elements(mode: String, ctx: DeviceContext) raises:
    var out = ctx.enqueue_create_buffer[dtype](1)
    out.enqueue_fill(0)
    var a = ctx.enqueue_create_buffer[dtype](SIZE)
    with a.map_to_host() as a_host:
        for i in range(SIZE):
            a_host[i] = Scalar[dtype](i % 61)
    stage("a", a)
    stage("out", out)

    var expected = ctx.enqueue_create_host_buffer[dtype](1)
    expected[0] = 0
    with a.map_to_host() as a_host:
        for i in range(SIZE):
            expected[0] += a_host[i]

    if mode == "--atomic-sum":
        # The blocks add to this element, so it starts from 0.
        out.enqueue_fill(0)
        ctx.enqueue_function[atomic_sum](
            out, a, Int32(SIZE), grid_dim=BLOCKS, block_dim=TPB
        )
    else:
        var sums = ctx.enqueue_create_buffer[dtype](BLOCKS)
        ctx.enqueue_function[block_sums](
            sums, a, Int32(SIZE), grid_dim=BLOCKS, block_dim=TPB
        )
        ctx.enqueue_function[block_sums](
            out, sums, Int32(BLOCKS), grid_dim=1, block_dim=TPB
        )
    ctx.synchronize()

    submit("out", out)
    with out.map_to_host() as out_host:
        print("out:", out_host)
        print("expected:", expected)
        assert_equal(out_host[0], expected[0])


def main() raises:
    var mode = choose_mode("p36", ["--add", "--atomic-sum", "--two-launches"])
    print("SIZE:", SIZE)
    with DeviceContext() as ctx:
        if mode == "--add":
            add_vectors(ctx)
        else:
            sum_elements(mode, ctx)
    print("Puzzle 36 complete ✅")
