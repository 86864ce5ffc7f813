from max.gpu import AddressSpace, barrier, block_dim, block_idx, thread_idx
from max.gpu.host import DeviceContext
from max.gpu.primitives import block
from layout import Layout, LayoutTensor
from std.testing import assert_almost_equal, assert_equal

from lab import choose_mode, stage, submit

# ANCHOR: traditional_dot_product
comptime SIZE = 128
comptime TPB = 128
comptime BLOCKS_PER_GRID = (1, 1)
# Several warps: lanes of different warps do not reach each other's registers.
comptime THREADS_PER_BLOCK = (TPB, 1)
comptime dtype = DType.float32
comptime layout = Layout.row_major(SIZE)
comptime out_layout = Layout.row_major(1)


# There are as many threads as elements, so no guard is needed.
def traditional_dot_product(
    output: LayoutTensor[dtype, out_layout, MutAnyOrigin],
    a: LayoutTensor[dtype, layout, ImmutAnyOrigin],
    b: LayoutTensor[dtype, layout, ImmutAnyOrigin],
):
    var shared = LayoutTensor[
        dtype,
        Layout.row_major(TPB),
        MutAnyOrigin,
        address_space=AddressSpace.SHARED,
    ].stack_allocation()
    var global_i = block_dim.x * block_idx.x + thread_idx.x
    var local_i = thread_idx.x

    shared[local_i] = a[global_i][0] * b[global_i][0]
    barrier()

    # The tree of puzzle 12: in each step the lower half of the threads adds the
    # upper half of the partial sums to the lower one.
    var stride = TPB // 2
    while stride > 0:
        if local_i < stride:
            shared[local_i] += shared[local_i + stride][0]
        barrier()
        stride //= 2

    if local_i == 0:
        output[0] = shared[0][0]


# ANCHOR_END: traditional_dot_product


# ANCHOR: block_sum_dot_product_solution
def block_sum_dot_product(
    output: LayoutTensor[dtype, out_layout, MutAnyOrigin],
    a: LayoutTensor[dtype, layout, ImmutAnyOrigin],
    b: LayoutTensor[dtype, layout, ImmutAnyOrigin],
):
    var global_i = block_dim.x * block_idx.x + thread_idx.x
    var local_i = thread_idx.x
    # FILL: about 6 lines
    # One call for shared memory, tree and barriers. The warps add in registers;
    # only their sums pass through shared memory. As there are barriers inside,
    # every thread of the block has to call it.
    var product = a[global_i][0] * b[global_i][0]
    var total = block.sum[block_size=TPB, broadcast=False](product)

    # Without broadcast the total is known to thread 0 alone, which writes it.
    if local_i == 0:
        output[0] = total
    # END_FILL


# ANCHOR_END: block_sum_dot_product_solution


# ANCHOR: block_histogram_solution
comptime NUM_BINS = 8
# A row for each bin, long enough to take all elements.
comptime members_layout = Layout.row_major(NUM_BINS, SIZE)
comptime counts_layout = Layout.row_major(NUM_BINS)


# Works on one of the bins, which divide the range from 0 to 1 evenly; 1 itself
# belongs to the last one. Row `target_bin` of `members` receives the elements
# of this bin in their order, counts[target_bin] how many they are.
def block_histogram(
    counts: LayoutTensor[DType.int32, counts_layout, MutAnyOrigin],
    members: LayoutTensor[dtype, members_layout, MutAnyOrigin],
    a: LayoutTensor[dtype, layout, ImmutAnyOrigin],
    target_bin: Int32,
):
    var global_i = block_dim.x * block_idx.x + thread_idx.x
    var local_i = thread_idx.x
    # FILL: about 12 lines
    var own = a[global_i][0]
    var bin = Int32(min(Int(own * NUM_BINS), NUM_BINS - 1))
    var belongs = Int32(1) if bin == target_bin else Int32(0)

    # The number of members before this thread's element is its index.
    # No two members have the same one, so no atomics are needed to write them.
    var place = block.prefix_sum[block_size=TPB, exclusive=True](belongs)
    if belongs == 1:
        members[Int(target_bin), Int(place)] = own

    # The last thread has the number before it, and adds 1 if it is a member.
    if local_i == TPB - 1:
        counts[Int(target_bin)] = place + belongs
    # END_FILL


# ANCHOR_END: block_histogram_solution


# ANCHOR: block_normalize_solution
# Divides each element by the mean of all: the mean of the result is 1.
def block_normalize(
    output: LayoutTensor[dtype, layout, MutAnyOrigin],
    a: LayoutTensor[dtype, layout, ImmutAnyOrigin],
):
    var global_i = block_dim.x * block_idx.x + thread_idx.x
    var local_i = thread_idx.x
    # FILL: about 9 lines
    # All to one: thread 0 gets the sum and makes the mean of it.
    var own = a[global_i][0]
    var total = block.sum[block_size=TPB, broadcast=False](own)
    var mean = Scalar[dtype](1)
    if local_i == 0:
        mean = total / SIZE

    # One to all: the others replace their 1 by the mean of thread 0.
    mean = block.broadcast[block_size=TPB](mean, 0)
    output[global_i] = own / mean
    # END_FILL


# ANCHOR_END: block_normalize_solution


def dot_product(mode: String, ctx: DeviceContext) raises:
    var out = ctx.enqueue_create_buffer[dtype](1)
    out.enqueue_fill(0)
    var a = ctx.enqueue_create_buffer[dtype](SIZE)
    a.enqueue_fill(0)
    var b = ctx.enqueue_create_buffer[dtype](SIZE)
    b.enqueue_fill(0)
    with a.map_to_host() as a_host, b.map_to_host() as b_host:
        for i in range(SIZE):
            a_host[i] = Scalar[dtype](i)
            b_host[i] = Scalar[dtype](2 * i)
    stage("a", a)
    stage("b", b)
    stage("out", out)

    var expected = ctx.enqueue_create_host_buffer[dtype](1)
    expected[0] = 0
    with a.map_to_host() as a_host, b.map_to_host() as b_host:
        for i in range(SIZE):
            expected[0] += a_host[i] * b_host[i]

    if mode == "--traditional-dot-product":
        ctx.enqueue_function[traditional_dot_product](
            LayoutTensor[dtype, out_layout](out),
            LayoutTensor[mut=False, dtype, layout](a),
            LayoutTensor[mut=False, dtype, layout](b),
            grid_dim=BLOCKS_PER_GRID,
            block_dim=THREADS_PER_BLOCK,
        )
    else:
        ctx.enqueue_function[block_sum_dot_product](
            LayoutTensor[dtype, out_layout](out),
            LayoutTensor[mut=False, dtype, layout](a),
            LayoutTensor[mut=False, dtype, layout](b),
            grid_dim=BLOCKS_PER_GRID,
            block_dim=THREADS_PER_BLOCK,
        )
    ctx.synchronize()

    submit("out", out)
    with out.map_to_host() as out_host:
        print("out:", out_host)
        print("expected:", expected)
        assert_equal(out_host[0], expected[0])


def histogram(ctx: DeviceContext) raises:
    var out = ctx.enqueue_create_buffer[DType.int32](NUM_BINS)
    out.enqueue_fill(0)
    var members = ctx.enqueue_create_buffer[dtype](NUM_BINS * SIZE)
    members.enqueue_fill(0)
    var a = ctx.enqueue_create_buffer[dtype](SIZE)
    a.enqueue_fill(0)
    with a.map_to_host() as a_host:
        for i in range(SIZE):
            a_host[i] = Scalar[dtype](i % 80) / 100
    stage("a", a)
    stage("out", out)
    stage("members", members)

    # After its members a row keeps its previous contents.
    var expected = ctx.enqueue_create_host_buffer[DType.int32](NUM_BINS)
    var expected_members = ctx.enqueue_create_host_buffer[dtype](
        NUM_BINS * SIZE
    )
    ctx.enqueue_copy(expected_members, members)
    ctx.synchronize()
    for bin in range(NUM_BINS):
        expected[bin] = 0
    with a.map_to_host() as a_host:
        for i in range(SIZE):
            var bin = min(Int(a_host[i] * NUM_BINS), NUM_BINS - 1)
            expected_members[bin * SIZE + Int(expected[bin])] = a_host[i]
            expected[bin] += 1

    for target_bin in range(NUM_BINS):
        ctx.enqueue_function[block_histogram](
            LayoutTensor[DType.int32, counts_layout](out),
            LayoutTensor[dtype, members_layout](members),
            LayoutTensor[mut=False, dtype, layout](a),
            Int32(target_bin),
            grid_dim=BLOCKS_PER_GRID,
            block_dim=THREADS_PER_BLOCK,
        )
    ctx.synchronize()

    submit("out", out)
    submit("members", members)
    with out.map_to_host() as out_host, members.map_to_host() as members_host:
        for bin in range(NUM_BINS):
            var shown = min(Int(out_host[bin]), 8)
            print("bin", bin, "begins with:", end="")
            for i in range(shown):
                print("", members_host[bin * SIZE + i], end="")
            print()
        print("out:", out_host)
        print("expected:", expected)
        for bin in range(NUM_BINS):
            assert_equal(out_host[bin], expected[bin])
        for i in range(NUM_BINS * SIZE):
            assert_equal(members_host[i], expected_members[i])


def normalize(ctx: DeviceContext) raises:
    var out = ctx.enqueue_create_buffer[dtype](SIZE)
    out.enqueue_fill(0)
    var a = ctx.enqueue_create_buffer[dtype](SIZE)
    a.enqueue_fill(0)
    with a.map_to_host() as a_host:
        for i in range(SIZE):
            a_host[i] = Scalar[dtype](i % 8 + 1)
    stage("a", a)
    stage("out", out)

    var expected = ctx.enqueue_create_host_buffer[dtype](SIZE)
    var total = Scalar[dtype](0)
    with a.map_to_host() as a_host:
        for i in range(SIZE):
            total += a_host[i]
        for i in range(SIZE):
            expected[i] = a_host[i] / (total / SIZE)

    ctx.enqueue_function[block_normalize](
        LayoutTensor[dtype, layout](out),
        LayoutTensor[mut=False, dtype, layout](a),
        grid_dim=BLOCKS_PER_GRID,
        block_dim=THREADS_PER_BLOCK,
    )
    ctx.synchronize()

    submit("out", out)
    with out.map_to_host() as out_host:
        var out_total = Scalar[dtype](0)
        for i in range(SIZE):
            out_total += out_host[i]
        print("sum:", total, "mean:", total / SIZE)
        print("mean of the output:", out_total / SIZE)
        print("out:", out_host)
        print("expected:", expected)
        for i in range(SIZE):
            assert_almost_equal(out_host[i], expected[i], rtol=1e-5)


def main() raises:
    var mode = choose_mode(
        "p27",
        [
            "--traditional-dot-product",
            "--block-sum-dot-product",
            "--histogram",
            "--normalize",
        ],
    )
    print("SIZE:", SIZE)
    print("TPB:", TPB)
    with DeviceContext() as ctx:
        if mode == "--histogram":
            histogram(ctx)
        elif mode == "--normalize":
            normalize(ctx)
        else:
            dot_product(mode, ctx)
    print("Puzzle 27 complete ✅")
