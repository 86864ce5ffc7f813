from max.gpu import WARP_SIZE, block_dim, block_idx, lane_id, thread_idx
from max.gpu.host import DeviceContext, HostBuffer
from max.gpu.primitives import warp
from layout import TileTensor, row_major
from std.testing import assert_equal

from lab import choose_mode, stage, submit

# ANCHOR: butterfly_pair_swap_tile_tensor
comptime SIZE = WARP_SIZE
comptime BLOCKS_PER_GRID = (1, 1)
# A block is one warp: 32 threads on NVIDIA and Apple, 64 on AMD's CDNA GPUs.
comptime THREADS_PER_BLOCK = (WARP_SIZE, 1)
comptime dtype = DType.float32
comptime layout = row_major[SIZE]()


# There are as many threads as elements, so no guard is needed.
def butterfly_pair_swap(
    output: TileTensor[dtype, type_of(layout), MutAnyOrigin],
    a: TileTensor[dtype, type_of(layout), ImmutAnyOrigin],
):
    var global_i = block_dim.x * block_idx.x + thread_idx.x
    # FILL ME IN (about 3 lines)


# ANCHOR_END: butterfly_pair_swap_tile_tensor


# ANCHOR: butterfly_parallel_max_tile_tensor
def butterfly_parallel_max(
    output: TileTensor[dtype, type_of(layout), MutAnyOrigin],
    a: TileTensor[dtype, type_of(layout), ImmutAnyOrigin],
):
    var global_i = block_dim.x * block_idx.x + thread_idx.x
    # FILL ME IN (about 6 lines)


# ANCHOR_END: butterfly_parallel_max_tile_tensor


# ANCHOR: butterfly_conditional_max_tile_tensor
comptime SIZE_2 = 64
# Two warps of 32 lanes, or one of 64: every warp works for itself.
comptime BLOCKS_PER_GRID_2 = (SIZE_2 // WARP_SIZE, 1)
comptime layout_2 = row_major[SIZE_2]()


def butterfly_conditional_max(
    output: TileTensor[dtype, type_of(layout_2), MutAnyOrigin],
    a: TileTensor[dtype, type_of(layout_2), ImmutAnyOrigin],
):
    var global_i = block_dim.x * block_idx.x + thread_idx.x
    var lane = lane_id()
    # FILL ME IN (about 11 lines)


# ANCHOR_END: butterfly_conditional_max_tile_tensor


# ANCHOR: warp_inclusive_prefix_sum_tile_tensor
def warp_inclusive_prefix_sum(
    output: TileTensor[dtype, type_of(layout), MutAnyOrigin],
    a: TileTensor[dtype, type_of(layout), ImmutAnyOrigin],
):
    var global_i = block_dim.x * block_idx.x + thread_idx.x
    # FILL ME IN (about 2 lines)


# ANCHOR_END: warp_inclusive_prefix_sum_tile_tensor


# ANCHOR: warp_partition_tile_tensor
comptime PIVOT = 5


# Elements smaller than the pivot come first, all others after them, and the
# order within both groups does not change.
def warp_partition(
    output: TileTensor[dtype, type_of(layout), MutAnyOrigin],
    a: TileTensor[dtype, type_of(layout), ImmutAnyOrigin],
    pivot: Scalar[dtype],
):
    var global_i = block_dim.x * block_idx.x + thread_idx.x
    var lane = lane_id()
    # FILL ME IN (about 11 lines)


# ANCHOR_END: warp_partition_tile_tensor


def fill_input(mode: String, a: HostBuffer[dtype]):
    var digits: List[Int] = [3, 1, 7, 2, 9, 4, 8, 5, 6]
    var small: List[Int] = [3, 1, 2, 4, 0, 3, 1, 4]
    var large: List[Int] = [7, 8, 9, 6, 10, 11, 12, 13]
    for i in range(len(a)):
        if mode == "--pair-swap":
            a[i] = Scalar[dtype](i)
        elif mode == "--parallel-max":
            a[i] = Scalar[dtype](2 * i if i < len(a) - 1 else 1000)
        elif mode == "--conditional-max":
            a[i] = Scalar[dtype](digits[i] if i < len(digits) else i % 10)
        elif mode == "--prefix-sum":
            a[i] = Scalar[dtype](i + 1)
        else:
            # Elements for the left and for the right take turns.
            var place = i // 2 % len(small)
            a[i] = Scalar[dtype](small[place] if i % 2 == 0 else large[place])


def compute_expected(
    mode: String, a: HostBuffer[dtype], expected: HostBuffer[dtype]
):
    if mode == "--pair-swap":
        for i in range(0, len(a), 2):
            expected[i] = a[i + 1]
            expected[i + 1] = a[i]
    elif mode == "--parallel-max" or mode == "--conditional-max":
        for start in range(0, len(a), WARP_SIZE):
            var largest = a[start]
            var smallest = a[start]
            for i in range(start, start + WARP_SIZE):
                largest = max(largest, a[i])
                smallest = min(smallest, a[i])
            for i in range(start, start + WARP_SIZE):
                var keeps_smallest = mode == "--conditional-max" and i % 2 == 1
                expected[i] = smallest if keeps_smallest else largest
    elif mode == "--prefix-sum":
        var total = Scalar[dtype](0)
        for i in range(len(a)):
            total += a[i]
            expected[i] = total
    else:
        var place = 0
        for i in range(len(a)):
            if a[i] < PIVOT:
                expected[place] = a[i]
                place += 1
        for i in range(len(a)):
            if a[i] >= PIVOT:
                expected[place] = a[i]
                place += 1


def main() raises:
    var mode = choose_mode(
        "p26_tile_tensor",
        [
            "--pair-swap",
            "--parallel-max",
            "--conditional-max",
            "--prefix-sum",
            "--partition",
        ],
    )
    var size = SIZE_2 if mode == "--conditional-max" else SIZE
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
        if mode == "--pair-swap":
            ctx.enqueue_function[butterfly_pair_swap](
                TileTensor(out, layout),
                TileTensor[mut=False](a, layout),
                grid_dim=BLOCKS_PER_GRID,
                block_dim=THREADS_PER_BLOCK,
            )
        elif mode == "--parallel-max":
            ctx.enqueue_function[butterfly_parallel_max](
                TileTensor(out, layout),
                TileTensor[mut=False](a, layout),
                grid_dim=BLOCKS_PER_GRID,
                block_dim=THREADS_PER_BLOCK,
            )
        elif mode == "--conditional-max":
            ctx.enqueue_function[butterfly_conditional_max](
                TileTensor(out, layout_2),
                TileTensor[mut=False](a, layout_2),
                grid_dim=BLOCKS_PER_GRID_2,
                block_dim=THREADS_PER_BLOCK,
            )
        elif mode == "--prefix-sum":
            ctx.enqueue_function[warp_inclusive_prefix_sum](
                TileTensor(out, layout),
                TileTensor[mut=False](a, layout),
                grid_dim=BLOCKS_PER_GRID,
                block_dim=THREADS_PER_BLOCK,
            )
        else:
            print("pivot:", PIVOT)
            ctx.enqueue_function[warp_partition](
                TileTensor(out, layout),
                TileTensor[mut=False](a, layout),
                Scalar[dtype](PIVOT),
                grid_dim=BLOCKS_PER_GRID,
                block_dim=THREADS_PER_BLOCK,
            )
        ctx.synchronize()

        submit("out", out)
        with out.map_to_host() as out_host:
            print("out:", out_host)
            print("expected:", expected)
            for i in range(size):
                assert_equal(out_host[i], expected[i])
        print("Puzzle 26 complete ✅")
