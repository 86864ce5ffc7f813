from max.gpu import WARP_SIZE, block_dim, block_idx, lane_id, thread_idx
from max.gpu.host import DeviceContext, HostBuffer
from max.gpu.primitives import warp
from layout import Layout, LayoutTensor
from std.testing import assert_almost_equal

from lab import choose_mode, stage, submit

# ANCHOR: neighbor_difference
comptime SIZE = WARP_SIZE
comptime BLOCKS_PER_GRID = (1, 1)
# A block is one warp: 32 threads on NVIDIA and Apple, 64 on AMD's CDNA GPUs.
comptime THREADS_PER_BLOCK = (WARP_SIZE, 1)
comptime dtype = DType.float32
comptime layout = Layout.row_major(SIZE)


# There are as many threads as elements, so no guard is needed.
def neighbor_difference(
    output: LayoutTensor[dtype, layout, MutAnyOrigin],
    a: LayoutTensor[dtype, layout, ImmutAnyOrigin],
):
    var global_i = block_dim.x * block_idx.x + thread_idx.x
    var lane = lane_id()
    # FILL ME IN (about 6 lines)


# ANCHOR_END: neighbor_difference


# ANCHOR: moving_average_3
comptime SIZE_2 = 64
# Two warps of 32 lanes, or one of 64. A shuffle never leaves its warp.
comptime BLOCKS_PER_GRID_2 = (SIZE_2 // WARP_SIZE, 1)
comptime layout_2 = Layout.row_major(SIZE_2)


def moving_average_3(
    output: LayoutTensor[dtype, layout_2, MutAnyOrigin],
    a: LayoutTensor[dtype, layout_2, ImmutAnyOrigin],
):
    var global_i = block_dim.x * block_idx.x + thread_idx.x
    var lane = lane_id()
    # FILL ME IN (about 9 lines)


# ANCHOR_END: moving_average_3


# ANCHOR: basic_broadcast
# Adds the sum of the first four elements to every element.
def basic_broadcast(
    output: LayoutTensor[dtype, layout, MutAnyOrigin],
    a: LayoutTensor[dtype, layout, ImmutAnyOrigin],
):
    var global_i = block_dim.x * block_idx.x + thread_idx.x
    var lane = lane_id()
    # FILL ME IN (about 6 lines)


# ANCHOR_END: basic_broadcast


# ANCHOR: conditional_broadcast
# Doubles the elements that reach half the largest of the first eight, and
# halves the others.
def conditional_broadcast(
    output: LayoutTensor[dtype, layout, MutAnyOrigin],
    a: LayoutTensor[dtype, layout, ImmutAnyOrigin],
):
    var global_i = block_dim.x * block_idx.x + thread_idx.x
    var lane = lane_id()
    # FILL ME IN (about 11 lines)


# ANCHOR_END: conditional_broadcast


# ANCHOR: broadcast_shuffle_coordination
# The sum of an element and the next one, times the mean of the first four; the
# last element has no next one and is multiplied alone.
def broadcast_shuffle_coordination(
    output: LayoutTensor[dtype, layout, MutAnyOrigin],
    a: LayoutTensor[dtype, layout, ImmutAnyOrigin],
):
    var global_i = block_dim.x * block_idx.x + thread_idx.x
    var lane = lane_id()
    # FILL ME IN (about 12 lines)


# ANCHOR_END: broadcast_shuffle_coordination


def fill_input(mode: String, a: HostBuffer[dtype]):
    var pattern: List[Int] = [3, 1, 7, 2, 9, 4, 6, 8]
    for i in range(len(a)):
        if mode == "--neighbor":
            a[i] = Scalar[dtype](i * i)
        elif mode == "--average":
            # The triangular numbers 1, 3, 6, 10 …
            a[i] = Scalar[dtype]((i + 1) * (i + 2) // 2)
        elif mode == "--broadcast-basic":
            a[i] = Scalar[dtype](i + 1)
        elif mode == "--broadcast-conditional":
            a[i] = Scalar[dtype](pattern[i % len(pattern)])
        else:
            # 2, 4, 6, 8, and then 1, 3, 5, 7 again and again.
            a[i] = Scalar[dtype](2 * (i % 4) + (2 if i < 4 else 1))


def compute_expected(
    mode: String, a: HostBuffer[dtype], expected: HostBuffer[dtype]
):
    var total = Scalar[dtype](0)
    for i in range(4):
        total += a[i]
    var largest = a[0]
    for i in range(8):
        largest = max(largest, a[i])

    for i in range(len(a)):
        # How many elements there are from this one to the end of its warp.
        var left = WARP_SIZE - i % WARP_SIZE
        if mode == "--neighbor":
            expected[i] = a[i + 1] - a[i] if left > 1 else 0
        elif mode == "--average":
            var window = min(left, 3)
            expected[i] = 0
            for j in range(window):
                expected[i] += a[i + j] / Scalar[dtype](window)
        elif mode == "--broadcast-basic":
            expected[i] = total + a[i]
        elif mode == "--broadcast-conditional":
            expected[i] = a[i] * 2 if a[i] >= largest / 2 else a[i] / 2
        else:
            var pair = a[i] + a[i + 1] if left > 1 else a[i]
            expected[i] = pair * total / 4


def main() raises:
    var mode = choose_mode(
        "p25",
        [
            "--neighbor",
            "--average",
            "--broadcast-basic",
            "--broadcast-conditional",
            "--broadcast-shuffle-coordination",
        ],
    )
    var size = SIZE_2 if mode == "--average" else SIZE
    with DeviceContext() as ctx:
        var out = ctx.enqueue_create_buffer[dtype](size)
        out.enqueue_fill(0)
        var a = ctx.enqueue_create_buffer[dtype](size)
        a.enqueue_fill(0)
        with a.map_to_host() as a_host:
            fill_input(mode, a_host)
        stage("a", a)
        stage("out", out)

        var expected = ctx.enqueue_create_host_buffer[dtype](size)
        with a.map_to_host() as a_host:
            compute_expected(mode, a_host, expected)

        print("SIZE:", size)
        print("WARP_SIZE:", WARP_SIZE)
        if mode == "--neighbor":
            ctx.enqueue_function[neighbor_difference](
                LayoutTensor[dtype, layout](out),
                LayoutTensor[mut=False, dtype, layout](a),
                grid_dim=BLOCKS_PER_GRID,
                block_dim=THREADS_PER_BLOCK,
            )
        elif mode == "--average":
            ctx.enqueue_function[moving_average_3](
                LayoutTensor[dtype, layout_2](out),
                LayoutTensor[mut=False, dtype, layout_2](a),
                grid_dim=BLOCKS_PER_GRID_2,
                block_dim=THREADS_PER_BLOCK,
            )
        elif mode == "--broadcast-basic":
            ctx.enqueue_function[basic_broadcast](
                LayoutTensor[dtype, layout](out),
                LayoutTensor[mut=False, dtype, layout](a),
                grid_dim=BLOCKS_PER_GRID,
                block_dim=THREADS_PER_BLOCK,
            )
        elif mode == "--broadcast-conditional":
            ctx.enqueue_function[conditional_broadcast](
                LayoutTensor[dtype, layout](out),
                LayoutTensor[mut=False, dtype, layout](a),
                grid_dim=BLOCKS_PER_GRID,
                block_dim=THREADS_PER_BLOCK,
            )
        else:
            ctx.enqueue_function[broadcast_shuffle_coordination](
                LayoutTensor[dtype, layout](out),
                LayoutTensor[mut=False, dtype, layout](a),
                grid_dim=BLOCKS_PER_GRID,
                block_dim=THREADS_PER_BLOCK,
            )
        ctx.synchronize()

        submit("out", out)
        with out.map_to_host() as out_host:
            print("out:", out_host)
            print("expected:", expected)
            for i in range(size):
                assert_almost_equal(out_host[i], expected[i], rtol=1e-5)
        print("Puzzle 25 complete ✅")
