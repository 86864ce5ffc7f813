from max.gpu import (
    AddressSpace,
    WARP_SIZE,
    barrier,
    block_idx,
    grid_dim,
    lane_id,
    thread_idx,
    warp_id,
)
from max.gpu.host import DeviceBuffer, DeviceContext
from max.gpu.primitives import block, warp
from max.gpu.sync import syncwarp
from std.atomic import Atomic, Ordering
from std.bit import count_trailing_zeros, pop_count
from std.math import ceildiv
from std.memory import unsafe_stack_allocation
from std.testing import assert_equal

from lab import choose_mode, stage, submit
from lab.benchmark import Benchmark
from lab.machine import elements_here

# ANCHOR: sizes
comptime SIZE = 2500
comptime BITS = 4  # of a digit
comptime SHIFT = 8  # of the digit by which --pass sorts

# Each thread has ROUNDS keys.
comptime THREADS = 128
comptime ROUNDS = 5
# The threads of a block that scans counts.
comptime SCANNING = 1024

comptime KEY_BITS = 32
comptime Output = Pointer[UInt32, MutAnyOrigin]
comptime Input = Pointer[UInt32, ImmutAnyOrigin]
comptime Shared = Pointer[
    UInt32, MutUntrackedOrigin, address_space=AddressSpace.SHARED
]
comptime Mask = DType.uint64 if WARP_SIZE == 64 else DType.uint32
# ANCHOR_END: sizes


# ANCHOR: digit_of
def digit_of[bits: Int](key: UInt32, shift: Int32) -> Int:
    """The digit of the key that begins at bit `shift`."""
    return Int(key >> UInt32(shift)) & ((1 << bits) - 1)


def lanes_with[bits: Int](digit: Int) -> Scalar[Mask]:
    """The lanes of the warp with the same digit; all lanes have to call it."""
    var same = ~Scalar[Mask](0)
    comptime for bit in range(bits):
        var own = (digit >> bit) & 1 == 1
        var ones = warp.vote[Mask](own)
        same &= ones if own else ~ones
    return same


def load_keys[
    threads: Int, rounds: Int
](mut keys: Array[UInt32, rounds], mut first: Int, a: Input, size: Int32):
    """The keys of a thread: `keys[r]` is element `first + r * WARP_SIZE`.

    The part of a warp is contiguous. Past the end, a key has the largest
    digit, and is behind all keys of the array.
    """
    first = (
        Int(block_idx.x) * threads * rounds
        + Int(warp_id()) * WARP_SIZE * rounds
        + Int(lane_id())
    )
    comptime for r in range(rounds):
        var i = first + r * WARP_SIZE
        keys[r] = a[unsafe_offset=i] if i < Int(size) else ~UInt32(0)


# ANCHOR_END: digit_of


# ANCHOR: count_digits_solution
# counts[digit * grid_dim.x + block]: how many keys of the block have the digit.
def count_digits[
    bits: Int, threads: Int, rounds: Int
](counts: Output, a: Input, size: Int32, shift: Int32):
    comptime digits = 1 << bits
    var bins = unsafe_stack_allocation[
        digits, UInt32, address_space=AddressSpace.SHARED
    ]()
    var thread = Int(thread_idx.x)
    # FILL: about 16 lines
    if thread < digits:
        bins[unsafe_offset=thread] = 0
    barrier()

    var first = Int(block_idx.x) * threads * rounds + thread
    comptime for r in range(rounds):
        var i = first + r * threads
        if i < Int(size):
            var digit = digit_of[bits](a[unsafe_offset=i], shift)
            _ = Atomic.fetch_add[ordering=Ordering.RELAXED](
                bins.unsafe_offset(digit), UInt32(1)
            )
    barrier()

    if thread < digits:
        var i = thread * Int(grid_dim.x) + Int(block_idx.x)
        counts[unsafe_offset=i] = bins[unsafe_offset=thread]
    # END_FILL


# ANCHOR_END: count_digits_solution


# ANCHOR: scan_rows
# Each element of a row becomes the sum of those before it, and sums[row] the
# sum of all. Block `row` scans row `row`, a thread a contiguous part of it.
def scan_rows(rows: Output, sums: Output, length: Int32):
    var row = rows.unsafe_offset(Int(block_idx.x) * Int(length))
    var part = ceildiv(Int(length), SCANNING)
    var first = min(Int(thread_idx.x) * part, Int(length))
    var end = min(first + part, Int(length))
    var sum = UInt32(0)
    for i in range(first, end):
        sum += row[unsafe_offset=i]
    sum = block.prefix_sum[block_size=SCANNING, exclusive=True](sum)
    for i in range(first, end):
        var own = row[unsafe_offset=i]
        row[unsafe_offset=i] = sum
        sum += own
    if thread_idx.x == SCANNING - 1:
        sums[unsafe_offset=Int(block_idx.x)] = sum


# ANCHOR_END: scan_rows


# ANCHOR: rank_keys_solution
# ranks[r]: how many keys of the block with the digit of keys[r] are before it.
# Returns how many keys of the block have the digit `thread_idx.x`.
# `counts` has one element for each warp and digit.
def rank_keys[
    bits: Int, threads: Int, rounds: Int
](
    mut ranks: Array[UInt32, rounds],
    keys: Array[UInt32, rounds],
    shift: Int32,
    counts: Shared,
) -> UInt32:
    comptime digits = 1 << bits
    comptime warps = threads // WARP_SIZE
    var thread = Int(thread_idx.x)
    var own = counts.unsafe_offset(Int(warp_id()) * digits)
    var below = (Scalar[Mask](1) << Scalar[Mask](lane_id())) - 1
    var total = UInt32(0)
    # FILL: about 29 lines
    for i in range(thread, warps * digits, threads):
        counts[unsafe_offset=i] = 0
    barrier()

    # Each warp ranks its own keys, in their order.
    comptime for r in range(rounds):
        var digit = digit_of[bits](keys[r], shift)
        var same = lanes_with[bits](digit)
        var before = own[unsafe_offset=digit]
        ranks[r] = before + UInt32(pop_count(same & below))
        syncwarp()
        if same & below == 0:
            own[unsafe_offset=digit] = before + UInt32(pop_count(same))
        syncwarp()
    barrier()

    # Before a warp's keys are those of the warps before it.
    if thread < digits:
        comptime for w in range(warps):
            var i = w * digits + thread
            var count = counts[unsafe_offset=i]
            counts[unsafe_offset=i] = total
            total += count
    barrier()
    comptime for r in range(rounds):
        ranks[r] += own[unsafe_offset=digit_of[bits](keys[r], shift)]
    # END_FILL
    return total


# ANCHOR_END: rank_keys_solution


# ANCHOR: scatter_solution
# Moves the block's keys and values to where the digit sorts them. A key's
# index is starts[digit] + offsets[digit * grid_dim.x + block] + its rank.
def scatter[
    bits: Int, threads: Int, rounds: Int
](
    out_keys: Output,
    out_values: Output,
    a: Input,
    values: Input,
    offsets: Input,
    starts: Input,
    size: Int32,
    shift: Int32,
):
    var counts = unsafe_stack_allocation[
        (threads // WARP_SIZE) << bits,
        UInt32,
        address_space=AddressSpace.SHARED,
    ]()
    var keys = Array[UInt32, rounds](fill=0)
    var ranks = Array[UInt32, rounds](fill=0)
    var first = 0
    load_keys[threads, rounds](keys, first, a, size)
    # FILL: about 13 lines
    _ = rank_keys[bits, threads, rounds](ranks, keys, shift, counts)
    comptime for r in range(rounds):
        var i = first + r * WARP_SIZE
        if i < Int(size):
            var digit = digit_of[bits](keys[r], shift)
            var row = digit * Int(grid_dim.x) + Int(block_idx.x)
            var target = Int(
                starts[unsafe_offset=digit] + offsets[unsafe_offset=row] + ranks[r]
            )
            out_keys[unsafe_offset=target] = keys[r]
            out_values[unsafe_offset=target] = values[unsafe_offset=i]
    # END_FILL


# ANCHOR_END: scatter_solution


# ANCHOR: scatter_sorted_solution
# The same. The block first sorts its keys and values in shared memory.
def scatter_sorted[
    bits: Int, threads: Int, rounds: Int
](
    out_keys: Output,
    out_values: Output,
    a: Input,
    values: Input,
    offsets: Input,
    starts: Input,
    size: Int32,
    shift: Int32,
):
    comptime digits = 1 << bits
    comptime tile = threads * rounds
    var counts = unsafe_stack_allocation[
        (threads // WARP_SIZE) << bits,
        UInt32,
        address_space=AddressSpace.SHARED,
    ]()
    # Of each digit: its first index in the block's order, and what has to be
    # added to an index in this order to get the one in the output.
    var firsts = unsafe_stack_allocation[
        digits, UInt32, address_space=AddressSpace.SHARED
    ]()
    var moves = unsafe_stack_allocation[
        digits, UInt32, address_space=AddressSpace.SHARED
    ]()
    var ordered = unsafe_stack_allocation[
        tile, UInt32, address_space=AddressSpace.SHARED
    ]()
    var thread = Int(thread_idx.x)
    var here = min(tile, Int(size) - Int(block_idx.x) * tile)
    var keys = Array[UInt32, rounds](fill=0)
    var ranks = Array[UInt32, rounds](fill=0)
    var first = 0
    load_keys[threads, rounds](keys, first, a, size)
    # FILL: about 38 lines
    var count = rank_keys[bits, threads, rounds](ranks, keys, shift, counts)
    var before = block.prefix_sum[block_size=threads, exclusive=True](count)
    if thread < digits:
        var row = thread * Int(grid_dim.x) + Int(block_idx.x)
        firsts[unsafe_offset=thread] = before
        moves[unsafe_offset=thread] = (
            starts[unsafe_offset=thread] + offsets[unsafe_offset=row] - before
        )
    barrier()

    # The keys in the order of their digits.
    comptime for r in range(rounds):
        var digit = digit_of[bits](keys[r], shift)
        ranks[r] += firsts[unsafe_offset=digit]
        ordered[unsafe_offset=Int(ranks[r])] = keys[r]
    barrier()

    # Neighbouring threads store to neighbouring elements of the output.
    var targets = Array[UInt32, rounds](fill=0)
    comptime for r in range(rounds):
        var i = r * threads + thread
        var key = ordered[unsafe_offset=i]
        targets[r] = UInt32(i) + moves[unsafe_offset=digit_of[bits](key, shift)]
        if i < here:
            out_keys[unsafe_offset=Int(targets[r])] = key
    barrier()

    # The values by the same way.
    comptime for r in range(rounds):
        var i = first + r * WARP_SIZE
        if i < Int(size):
            ordered[unsafe_offset=Int(ranks[r])] = values[unsafe_offset=i]
    barrier()
    comptime for r in range(rounds):
        var i = r * threads + thread
        if i < here:
            out_values[unsafe_offset=Int(targets[r])] = ordered[unsafe_offset=i]
    # END_FILL


# ANCHOR_END: scatter_sorted_solution


# ANCHOR: pairs
@fieldwise_init
struct Pairs(Copyable, Movable):
    """Keys, and a value of each."""

    var keys: DeviceBuffer[DType.uint32]
    var values: DeviceBuffer[DType.uint32]

    def __init__(out self, size: Int, ctx: DeviceContext) raises:
        self.keys = ctx.enqueue_create_buffer[DType.uint32](size)
        self.values = ctx.enqueue_create_buffer[DType.uint32](size)


@fieldwise_init
struct Counts(Movable):
    """The counts of a pass: of every digit and block, and of every digit."""

    var of_blocks: DeviceBuffer[DType.uint32]
    var of_digits: DeviceBuffer[DType.uint32]
    var of_all: DeviceBuffer[DType.uint32]

    def __init__(
        out self, blocks: Int, digits: Int, ctx: DeviceContext
    ) raises:
        self.of_blocks = ctx.enqueue_create_buffer[DType.uint32](
            blocks * digits
        )
        self.of_digits = ctx.enqueue_create_buffer[DType.uint32](digits)
        self.of_all = ctx.enqueue_create_buffer[DType.uint32](1)


# ANCHOR_END: pairs


# ANCHOR: sort_by_digit
def sort_by_digit[
    bits: Int, threads: Int, rounds: Int, local: Bool
](
    target: Pairs,
    source: Pairs,
    counts: Counts,
    size: Int,
    shift: Int,
    ctx: DeviceContext,
) raises:
    """Sorts by the digit from bit `shift` on; where it is equal, the order remains.
    """
    comptime digits = 1 << bits
    var blocks = ceildiv(size, threads * rounds)
    ctx.enqueue_function[count_digits[bits, threads, rounds]](
        counts.of_blocks,
        source.keys,
        Int32(size),
        Int32(shift),
        grid_dim=blocks,
        block_dim=threads,
    )
    # Before a block's keys with a digit are those of the blocks before it...
    ctx.enqueue_function[scan_rows](
        counts.of_blocks,
        counts.of_digits,
        Int32(blocks),
        grid_dim=digits,
        block_dim=SCANNING,
    )
    # ... and all keys with a smaller digit.
    ctx.enqueue_function[scan_rows](
        counts.of_digits,
        counts.of_all,
        Int32(digits),
        grid_dim=1,
        block_dim=SCANNING,
    )
    comptime kernel = scatter_sorted[
        bits, threads, rounds
    ] if local else scatter[bits, threads, rounds]
    ctx.enqueue_function[kernel](
        target.keys,
        target.values,
        source.keys,
        source.values,
        counts.of_blocks,
        counts.of_digits,
        Int32(size),
        Int32(shift),
        grid_dim=blocks,
        block_dim=threads,
    )


# ANCHOR_END: sort_by_digit


# ANCHOR: sort_pairs_solution
# Sorts by all bits of the keys. `source` stays as it is; `other` has room for
# as many pairs.
def sort_pairs[
    bits: Int, threads: Int, rounds: Int, local: Bool
](
    target: Pairs,
    source: Pairs,
    other: Pairs,
    counts: Counts,
    size: Int,
    ctx: DeviceContext,
) raises:
    # FILL: about 11 lines
    # STUB: pass
    # An even number of passes, from the lowest digit on.
    sort_by_digit[bits, threads, rounds, local](
        other, source, counts, size, 0, ctx
    )
    for shift in range(bits, KEY_BITS, 2 * bits):
        sort_by_digit[bits, threads, rounds, local](
            target, other, counts, size, shift, ctx
        )
        if shift + bits < KEY_BITS:
            sort_by_digit[bits, threads, rounds, local](
                other, target, counts, size, shift + bits, ctx
            )
    # END_FILL


# ANCHOR_END: sort_pairs_solution


def fill(pairs: Pairs, size: Int) raises -> List[UInt32]:
    """Pseudo-random keys, some of which are equal; a value is the index of its key.
    """
    var all = List[UInt32](length=size, fill=0)
    var state = UInt32(1)
    for i in range(size):
        state = state * 1664525 + 1013904223
        all[i] = all[i - 3] if i % 5 == 4 else state ^ (state >> 15)
    with pairs.keys.map_to_host() as keys, pairs.values.map_to_host() as values:
        for i in range(size):
            keys[i] = all[i]
            values[i] = UInt32(i)
    return all^


def sorted_on_cpu(
    pairs: Pairs, size: Int, shift: Int, end: Int
) raises -> List[UInt32]:
    """The keys, sorted by their bits from `shift` to `end`, and then the values.
    """
    var order = [i for i in range(size)]
    with pairs.keys.map_to_host() as keys, pairs.values.map_to_host() as values:
        for low in range(shift, end, BITS):
            var next = List[Int]()
            for digit in range(1 << BITS):
                for i in order:
                    if digit_of[BITS](keys[i], Int32(low)) == digit:
                        next.append(i)
            order = next^
        var sorted = [keys[i] for i in order]
        for i in order:
            sorted.append(values[i])
        return sorted^


def compare_indices(pairs: Pairs, all: List[UInt32]) raises:
    """Raises unless the pairs are those of `fill`, sorted by all bits of the keys.
    """
    var seen = UInt64(0)
    with pairs.keys.map_to_host() as keys, pairs.values.map_to_host() as values:
        for i in range(len(all)):
            var index = Int(values[i])
            if index >= len(all) or keys[i] != all[index]:
                raise Error(t"element {i} is not the key of its value")
            # Where keys are equal, the indices grow; so none occurs twice.
            var order = (UInt64(keys[i]) << 32) + UInt64(index) + 1
            if order <= seen:
                raise Error(t"element {i} is not in order")
            seen = order


def measure[
    bits: Int, threads: Int, rounds: Int, local: Bool
](
    mut table: Benchmark,
    name: String,
    target: Pairs,
    source: Pairs,
    other: Pairs,
    all: List[UInt32],
    ctx: DeviceContext,
) raises:
    var size = len(all)
    var counts = Counts(ceildiv(size, threads * rounds), 1 << bits, ctx)

    def run(repetition: Int, ctx: DeviceContext) raises {imm}:
        sort_pairs[bits, threads, rounds, local](
            target, source, other, counts, size, ctx
        )

    table.measure(name, size, 16 * size, run)
    compare_indices(target, all)


def benchmark(size: Int, ctx: DeviceContext) raises:
    var source = Pairs(size, ctx)
    var target = Pairs(size, ctx)
    var other = Pairs(size, ctx)
    var all = fill(source, size)
    var table = Benchmark(ctx)
    measure[BITS, 256, 16, False](
        table, "scatter, 4 bits", target, source, other, all, ctx
    )
    measure[BITS, 256, 16, True](
        table, "scatter_sorted, 4 bits", target, source, other, all, ctx
    )
    measure[2 * BITS, 256, 16, True](
        table, "scatter_sorted, 8 bits", target, source, other, all, ctx
    )


def main() raises:
    var mode = choose_mode("p39", ["--pass", "--sort", "--benchmark"])
    with DeviceContext() as ctx:
        if mode == "--benchmark":
            benchmark(elements_here(64 * 1024 * 1024, simulated=SIZE), ctx)
            return
        var source = Pairs(SIZE, ctx)
        var target = Pairs(SIZE, ctx)
        var counts = Counts(ceildiv(SIZE, THREADS * ROUNDS), 1 << BITS, ctx)
        _ = fill(source, SIZE)
        target.keys.enqueue_fill(0)
        target.values.enqueue_fill(0)
        stage("keys", source.keys)
        stage("values", source.values)
        stage("out_keys", target.keys)
        stage("out_values", target.values)
        var expected: List[UInt32]
        if mode == "--pass":
            expected = sorted_on_cpu(source, SIZE, SHIFT, SHIFT + BITS)
            sort_by_digit[BITS, THREADS, ROUNDS, False](
                target, source, counts, SIZE, SHIFT, ctx
            )
        else:
            expected = sorted_on_cpu(source, SIZE, 0, KEY_BITS)
            sort_pairs[BITS, THREADS, ROUNDS, True](
                target, source, Pairs(SIZE, ctx), counts, SIZE, ctx
            )
        ctx.synchronize()

        submit("out_keys", target.keys)
        submit("out_values", target.values)
        with target.keys.map_to_host() as keys:
            with target.values.map_to_host() as values:
                print("out_keys:", keys)
                print("out_values:", values)
                for i in range(SIZE):
                    assert_equal(keys[i], expected[i])
                    assert_equal(values[i], expected[SIZE + i])
        print("Puzzle 39 complete ✅")
