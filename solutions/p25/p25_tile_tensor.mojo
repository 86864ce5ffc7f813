from max.gpu import WARP_SIZE, block_dim, block_idx, lane_id, thread_idx
from max.gpu.host import DeviceContext, HostBuffer
from max.gpu.primitives import warp
from layout import TileTensor, row_major
from std.testing import assert_almost_equal

from lab import choose_mode, stage, submit

# ANCHOR: neighbor_difference_tile_tensor_solution
comptime SIZE = WARP_SIZE
comptime BLOCKS_PER_GRID = (1, 1)
# A block is one warp: 32 threads on NVIDIA and Apple, 64 on AMD's CDNA GPUs.
comptime THREADS_PER_BLOCK = (WARP_SIZE, 1)
comptime dtype = DType.float32
comptime layout = row_major[SIZE]()


# There are as many threads as elements, so no guard is needed.
def neighbor_difference(
    output: TileTensor[dtype, type_of(layout), MutAnyOrigin],
    a: TileTensor[dtype, type_of(layout), ImmutAnyOrigin],
):
    var global_i = block_dim.x * block_idx.x + thread_idx.x
    var lane = lane_id()
    # FILL: about 6 lines
    # Each lane passes its value one lane down: lane 0 gets that of lane 1. All
    # lanes take part, also the last one, whose value is needed.
    var own = a[global_i]
    var next = warp.shuffle_down(own, UInt32(1))

    # No lane is above the last one: its result is not a neighbour's value.
    if lane < WARP_SIZE - 1:
        output[global_i] = next - own
    else:
        output[global_i] = 0
    # END_FILL


# ANCHOR_END: neighbor_difference_tile_tensor_solution


# ANCHOR: moving_average_3_tile_tensor_solution
comptime SIZE_2 = 64
# Two warps of 32 lanes, or one of 64. A shuffle never leaves its warp.
comptime BLOCKS_PER_GRID_2 = (SIZE_2 // WARP_SIZE, 1)
comptime layout_2 = row_major[SIZE_2]()


def moving_average_3(
    output: TileTensor[dtype, type_of(layout_2), MutAnyOrigin],
    a: TileTensor[dtype, type_of(layout_2), ImmutAnyOrigin],
):
    var global_i = block_dim.x * block_idx.x + thread_idx.x
    var lane = lane_id()
    # FILL: about 9 lines
    # One read of memory per lane. The two other values of the window come out
    # of the registers of the next two lanes.
    var own = a[global_i]
    var next = warp.shuffle_down(own, UInt32(1))
    var after_next = warp.shuffle_down(own, UInt32(2))

    # At the end of the warp the window shrinks, as there is nothing to reach.
    if lane < WARP_SIZE - 2:
        output[global_i] = (own + next + after_next) / 3
    elif lane < WARP_SIZE - 1:
        output[global_i] = (own + next) / 2
    else:
        output[global_i] = own
    # END_FILL


# ANCHOR_END: moving_average_3_tile_tensor_solution


# ANCHOR: basic_broadcast_tile_tensor_solution
# Adds the sum of the first four elements to every element.
def basic_broadcast(
    output: TileTensor[dtype, type_of(layout), MutAnyOrigin],
    a: TileTensor[dtype, type_of(layout), ImmutAnyOrigin],
):
    var global_i = block_dim.x * block_idx.x + thread_idx.x
    var lane = lane_id()
    # FILL: about 6 lines
    # One lane computes what all of them need. In the others, `total` stays 0.
    var total = Scalar[dtype](0)
    if lane == 0:
        for i in range(4):
            total += a[i]

    # Lane 0 sends, all lanes receive: so all of them call it, outside the `if`.
    total = warp.broadcast(total)
    output[global_i] = total + a[global_i]
    # END_FILL


# ANCHOR_END: basic_broadcast_tile_tensor_solution


# ANCHOR: conditional_broadcast_tile_tensor_solution
# Doubles the elements that reach half the largest of the first eight, and
# halves the others.
def conditional_broadcast(
    output: TileTensor[dtype, type_of(layout), MutAnyOrigin],
    a: TileTensor[dtype, type_of(layout), ImmutAnyOrigin],
):
    var global_i = block_dim.x * block_idx.x + thread_idx.x
    var lane = lane_id()
    # FILL: about 11 lines
    # The first element, not 0, is the first candidate: all may be negative.
    var own = a[global_i]
    var largest = own
    if lane == 0:
        for i in range(1, 8):
            largest = max(largest, a[i])
    largest = warp.broadcast(largest)

    # One lane has found the number, but each lane decides for itself.
    if own >= largest / 2:
        output[global_i] = own * 2
    else:
        output[global_i] = own / 2
    # END_FILL


# ANCHOR_END: conditional_broadcast_tile_tensor_solution


# ANCHOR: broadcast_shuffle_coordination_tile_tensor_solution
# The sum of an element and the next one, times the mean of the first four; the
# last element has no next one and is multiplied alone.
def broadcast_shuffle_coordination(
    output: TileTensor[dtype, type_of(layout), MutAnyOrigin],
    a: TileTensor[dtype, type_of(layout), ImmutAnyOrigin],
):
    var global_i = block_dim.x * block_idx.x + thread_idx.x
    var lane = lane_id()
    # FILL: about 12 lines
    # From one lane to all of them: the factor.
    var scale = Scalar[dtype](0)
    if lane == 0:
        for i in range(4):
            scale += a[i]
        scale /= 4
    scale = warp.broadcast(scale)

    # From each lane to the one below it: the neighbor.
    var own = a[global_i]
    var next = warp.shuffle_down(own, UInt32(1))
    if lane < WARP_SIZE - 1:
        output[global_i] = (own + next) * scale
    else:
        output[global_i] = own * scale
    # END_FILL


# ANCHOR_END: broadcast_shuffle_coordination_tile_tensor_solution


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
        "p25_tile_tensor",
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
                TileTensor(out, layout),
                TileTensor[mut=False](a, layout),
                grid_dim=BLOCKS_PER_GRID,
                block_dim=THREADS_PER_BLOCK,
            )
        elif mode == "--average":
            ctx.enqueue_function[moving_average_3](
                TileTensor(out, layout_2),
                TileTensor[mut=False](a, layout_2),
                grid_dim=BLOCKS_PER_GRID_2,
                block_dim=THREADS_PER_BLOCK,
            )
        elif mode == "--broadcast-basic":
            ctx.enqueue_function[basic_broadcast](
                TileTensor(out, layout),
                TileTensor[mut=False](a, layout),
                grid_dim=BLOCKS_PER_GRID,
                block_dim=THREADS_PER_BLOCK,
            )
        elif mode == "--broadcast-conditional":
            ctx.enqueue_function[conditional_broadcast](
                TileTensor(out, layout),
                TileTensor[mut=False](a, layout),
                grid_dim=BLOCKS_PER_GRID,
                block_dim=THREADS_PER_BLOCK,
            )
        else:
            ctx.enqueue_function[broadcast_shuffle_coordination](
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
            for i in range(size):
                assert_almost_equal(out_host[i], expected[i], rtol=1e-5)
        print("Puzzle 25 complete ✅")
