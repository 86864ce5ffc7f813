from max.gpu import WARP_SIZE, block_dim, block_idx, lane_id, thread_idx
from max.gpu.host import DeviceContext, HostBuffer
from max.gpu.primitives import warp
from layout import Layout, LayoutTensor
from std.testing import assert_equal

from lab import choose_mode, stage, submit

# ANCHOR: butterfly_pair_swap_solution
comptime SIZE = WARP_SIZE
comptime BLOCKS_PER_GRID = (1, 1)
# A block is one warp: 32 threads on NVIDIA and Apple, 64 on AMD's CDNA GPUs.
comptime THREADS_PER_BLOCK = (WARP_SIZE, 1)
comptime dtype = DType.float32
comptime layout = Layout.row_major(SIZE)


# There are as many threads as elements, so no guard is needed.
def butterfly_pair_swap(
    output: LayoutTensor[dtype, layout, MutAnyOrigin],
    a: LayoutTensor[dtype, layout, ImmutAnyOrigin],
):
    var global_i = block_dim.x * block_idx.x + thread_idx.x
    # FILL: about 3 lines
    # XOR with 1 flips the lowest bit of the lane number: pairs 0-1, 2-3, …
    # Partners name each other, so one exchange is enough for both of them.
    var own = a[global_i][0]
    var partner = warp.shuffle_xor(own, UInt32(1))
    output[global_i] = partner
    # END_FILL


# ANCHOR_END: butterfly_pair_swap_solution


# ANCHOR: butterfly_parallel_max_solution
def butterfly_parallel_max(
    output: LayoutTensor[dtype, layout, MutAnyOrigin],
    a: LayoutTensor[dtype, layout, ImmutAnyOrigin],
):
    var global_i = block_dim.x * block_idx.x + thread_idx.x
    # FILL: about 6 lines
    # After the first step two lanes, half a warp apart, agree on the larger of
    # their values; after the next one four lanes agree, then eight. A partner
    # has the maximum of as many other lanes as this one of its own, so after
    # log2(WARP_SIZE) steps every lane has the maximum of the whole warp.
    var largest = a[global_i][0]
    var offset = WARP_SIZE // 2
    while offset > 0:
        largest = max(largest, warp.shuffle_xor(largest, UInt32(offset)))
        offset //= 2
    output[global_i] = largest
    # END_FILL


# ANCHOR_END: butterfly_parallel_max_solution


# ANCHOR: butterfly_conditional_max_solution
comptime SIZE_2 = 64
# Two warps of 32 lanes, or one of 64: every warp works for itself.
comptime BLOCKS_PER_GRID_2 = (SIZE_2 // WARP_SIZE, 1)
comptime layout_2 = Layout.row_major(SIZE_2)


def butterfly_conditional_max(
    output: LayoutTensor[dtype, layout_2, MutAnyOrigin],
    a: LayoutTensor[dtype, layout_2, ImmutAnyOrigin],
):
    var global_i = block_dim.x * block_idx.x + thread_idx.x
    var lane = lane_id()
    # FILL: about 11 lines
    # All lanes take part in both exchanges, whatever result they need: a lane
    # that does not take part has no value for its partners.
    var largest = a[global_i][0]
    var smallest = largest
    var offset = WARP_SIZE // 2
    while offset > 0:
        largest = max(largest, warp.shuffle_xor(largest, UInt32(offset)))
        smallest = min(smallest, warp.shuffle_xor(smallest, UInt32(offset)))
        offset //= 2

    # Only now do the lanes diverge, each with the result that it keeps.
    if lane % 2 == 0:
        output[global_i] = largest
    else:
        output[global_i] = smallest
    # END_FILL


# ANCHOR_END: butterfly_conditional_max_solution


# ANCHOR: warp_inclusive_prefix_sum_solution
def warp_inclusive_prefix_sum(
    output: LayoutTensor[dtype, layout, MutAnyOrigin],
    a: LayoutTensor[dtype, layout, ImmutAnyOrigin],
):
    var global_i = block_dim.x * block_idx.x + thread_idx.x
    # FILL: about 2 lines
    # The steps are those of puzzle 14, with offset 1, 2, 4 … But the values
    # are passed from register to register: no shared memory, no barrier.
    # Inclusive means that a lane's own element is included in its sum.
    var running = warp.prefix_sum[exclusive=False](a[global_i][0])
    output[global_i] = running
    # END_FILL


# ANCHOR_END: warp_inclusive_prefix_sum_solution


# ANCHOR: warp_partition_solution
comptime PIVOT = 5


# Elements smaller than the pivot come first, all others after them, and the
# order within both groups does not change.
def warp_partition(
    output: LayoutTensor[dtype, layout, MutAnyOrigin],
    a: LayoutTensor[dtype, layout, ImmutAnyOrigin],
    pivot: Scalar[dtype],
):
    var global_i = block_dim.x * block_idx.x + thread_idx.x
    var lane = lane_id()
    # FILL: about 11 lines
    var own = a[global_i][0]
    var goes_left = Int32(1) if own < pivot else Int32(0)

    # A scan of zeros and ones counts. Exclusive: how many of the lanes before
    # this one go left, which is the index of this one if it goes left as well.
    var left_before = Int(warp.prefix_sum[exclusive=True](goes_left))
    var left_total = Int(warp.sum(goes_left))

    # Of the `lane` elements before this one, those that do not go left go
    # right. Their indices begin where the left group ends.
    var right_before = lane - left_before
    if goes_left == 1:
        output[left_before] = own
    else:
        output[left_total + right_before] = own
    # END_FILL


# ANCHOR_END: warp_partition_solution


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
        "p26",
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
                LayoutTensor[dtype, layout](out),
                LayoutTensor[mut=False, dtype, layout](a),
                grid_dim=BLOCKS_PER_GRID,
                block_dim=THREADS_PER_BLOCK,
            )
        elif mode == "--parallel-max":
            ctx.enqueue_function[butterfly_parallel_max](
                LayoutTensor[dtype, layout](out),
                LayoutTensor[mut=False, dtype, layout](a),
                grid_dim=BLOCKS_PER_GRID,
                block_dim=THREADS_PER_BLOCK,
            )
        elif mode == "--conditional-max":
            ctx.enqueue_function[butterfly_conditional_max](
                LayoutTensor[dtype, layout_2](out),
                LayoutTensor[mut=False, dtype, layout_2](a),
                grid_dim=BLOCKS_PER_GRID_2,
                block_dim=THREADS_PER_BLOCK,
            )
        elif mode == "--prefix-sum":
            ctx.enqueue_function[warp_inclusive_prefix_sum](
                LayoutTensor[dtype, layout](out),
                LayoutTensor[mut=False, dtype, layout](a),
                grid_dim=BLOCKS_PER_GRID,
                block_dim=THREADS_PER_BLOCK,
            )
        else:
            print("pivot:", PIVOT)
            ctx.enqueue_function[warp_partition](
                LayoutTensor[dtype, layout](out),
                LayoutTensor[mut=False, dtype, layout](a),
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
