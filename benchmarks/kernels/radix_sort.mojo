"""Sorts of pairs of 32-bit keys and values: puzzle 39's kernels by digits and tiles, and with look-back.

The kernels are those of the puzzle's solution. `direct` stores every key at once where it belongs, `local` after
a sort of the tile in shared memory; a name gives the bits of a digit, the threads of a block and the keys of a
thread. `sort …` is the whole sort, the other rows are launches of one pass (`count`, `scan`, `direct`, `local`) and
controls: `copy` has the loads and stores of a pass, `rank` its loads of keys and their ranks; with `ordered`, the keys
are sorted before; with `least N`, the compiler has to leave registers for N blocks on a multiprocessor.
`look-back` counts the digits of all passes at first, and the blocks of a pass find out by look-back what those
before them have.

    mojo build -I problems -I solutions/p39 benchmarks/kernels/radix_sort.mojo -o radix_sort
    ncu ./radix_sort --once     # one pass of each kind and no times, for a profiler
"""

from max.gpu import (
    AddressSpace,
    MAX_THREADS_PER_BLOCK_METADATA,
    WARP_SIZE,
    barrier,
    block_dim,
    block_idx,
    grid_dim,
    lane_id,
    thread_idx,
    warp_id,
)
from max.gpu.host import DeviceBuffer, DeviceContext
from max.gpu.primitives import block
from std.atomic import Atomic, Ordering
from std.math import ceildiv
from std.memory import unsafe_stack_allocation
from std.sys import argv
from std.utils.static_tuple import StaticTuple

from lab.benchmark import Benchmark
from p39 import (
    Counts,
    Input,
    KEY_BITS,
    Output,
    Pairs,
    SCANNING,
    compare_indices,
    count_digits,
    digit_of,
    fill,
    load_keys,
    measure,
    rank_keys,
    scan_rows,
    scatter,
    scatter_sorted,
    sort_by_digit,
)

comptime BITS = 8
comptime DIGITS = 1 << BITS
comptime PASSES = KEY_BITS // BITS

# A count in 30 bits, and above it what it is.
comptime OWN = UInt32(1) << 30  # of the block alone
comptime ALL = UInt32(2) << 30  # of the block and of all before it
comptime COUNT = OWN - 1


def count_all[threads: Int](counts: Output, a: Input, size: Int32):
    """Adds the counts of the digits of all passes to `counts`."""
    var bins = unsafe_stack_allocation[
        PASSES * DIGITS, UInt32, address_space=AddressSpace.SHARED
    ]()
    var thread = Int(thread_idx.x)
    for i in range(thread, PASSES * DIGITS, threads):
        bins[unsafe_offset=i] = 0
    barrier()
    var step = Int(grid_dim.x) * threads
    for i in range(Int(block_idx.x) * threads + thread, Int(size) // 4, step):
        var keys = a.unsafe_load[width=4, alignment=16](4 * i)
        comptime for k in range(4):
            comptime for p in range(PASSES):
                var digit = digit_of[BITS](keys[k], Int32(BITS * p))
                _ = Atomic.fetch_add[ordering=Ordering.RELAXED](
                    bins.unsafe_offset(p * DIGITS + digit), UInt32(1)
                )
    barrier()
    for i in range(thread, PASSES * DIGITS, threads):
        _ = Atomic.fetch_add[ordering=Ordering.RELAXED](
            counts.unsafe_offset(i), bins[unsafe_offset=i]
        )


@__llvm_metadata(
    MAX_THREADS_PER_BLOCK_METADATA=StaticTuple[Int32, 1](Int32(threads)),
    `nvvm.minctasm`=SIMDLength(blocks),
)
def scatter_sorted_within[
    bits: Int, threads: Int, rounds: Int, blocks: Int
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
    """`scatter_sorted` with registers for that many blocks."""
    scatter_sorted[bits, threads, rounds](
        out_keys, out_values, a, values, offsets, starts, size, shift
    )


@__llvm_metadata(
    MAX_THREADS_PER_BLOCK_METADATA=StaticTuple[Int32, 1](Int32(threads)),
    `nvvm.minctasm`=SIMDLength(blocks),
)
def scatter_looking_back[
    threads: Int, rounds: Int, blocks: Int
](
    out_keys: Output,
    out_values: Output,
    a: Input,
    values: Input,
    starts: Input,
    states: Output,
    ticket: Output,
    size: Int32,
    shift: Int32,
):
    """`scatter_sorted` with `states` in place of the counts of all blocks."""
    comptime tile = threads * rounds
    var counts = unsafe_stack_allocation[
        threads // WARP_SIZE * DIGITS,
        UInt32,
        address_space=AddressSpace.SHARED,
    ]()
    var firsts = unsafe_stack_allocation[
        DIGITS, UInt32, address_space=AddressSpace.SHARED
    ]()
    var moves = unsafe_stack_allocation[
        DIGITS, UInt32, address_space=AddressSpace.SHARED
    ]()
    var ordered = unsafe_stack_allocation[
        tile, UInt32, address_space=AddressSpace.SHARED
    ]()
    var thread = Int(thread_idx.x)
    if thread == 0:
        firsts[unsafe_offset=0] = Atomic.fetch_add[ordering=Ordering.RELAXED](
            ticket, 1
        )
    barrier()
    var number = Int(firsts[unsafe_offset=0])
    barrier()
    var here = min(tile, Int(size) - number * tile)
    var first = (
        number * tile
        + Int(warp_id()) * WARP_SIZE * rounds
        + Int(lane_id())
    )
    var keys = Array[UInt32, rounds](fill=0)
    comptime for r in range(rounds):
        var i = first + r * WARP_SIZE
        keys[r] = a[unsafe_offset=i] if i < Int(size) else ~UInt32(0)
    var ranks = Array[UInt32, rounds](fill=0)
    var count = rank_keys[BITS, threads, rounds](ranks, keys, shift, counts)
    var own = states.unsafe_offset(number * DIGITS + thread)
    if thread < DIGITS:
        Atomic.store[ordering=Ordering.RELAXED](
            own, (ALL if number == 0 else OWN) | count
        )
    var before = block.prefix_sum[block_size=threads, exclusive=True](count)
    if thread < DIGITS:
        firsts[unsafe_offset=thread] = before
    barrier()
    comptime for r in range(rounds):
        ranks[r] += firsts[unsafe_offset=digit_of[BITS](keys[r], shift)]
        ordered[unsafe_offset=Int(ranks[r])] = keys[r]
    if thread < DIGITS:
        var blocks_before = UInt32(0)
        if number > 0:
            var other = number - 1
            while True:
                var state = Atomic.load[ordering=Ordering.RELAXED](
                    states.unsafe_offset(other * DIGITS + thread)
                )
                if state == 0:
                    continue
                blocks_before += state & COUNT
                if state >= ALL:
                    break
                other -= 1
            Atomic.store[ordering=Ordering.RELAXED](
                own, ALL | (blocks_before + count)
            )
        moves[unsafe_offset=thread] = (
            starts[unsafe_offset=thread] + blocks_before - before
        )
    barrier()
    var targets = Array[UInt32, rounds](fill=0)
    comptime for r in range(rounds):
        var i = r * threads + thread
        var key = ordered[unsafe_offset=i]
        targets[r] = UInt32(i) + moves[unsafe_offset=digit_of[BITS](key, shift)]
        if i < here:
            out_keys[unsafe_offset=Int(targets[r])] = key
    barrier()
    comptime for r in range(rounds):
        var i = first + r * WARP_SIZE
        if i < Int(size):
            ordered[unsafe_offset=Int(ranks[r])] = values[unsafe_offset=i]
    barrier()
    comptime for r in range(rounds):
        var i = r * threads + thread
        if i < here:
            out_values[unsafe_offset=Int(targets[r])] = ordered[unsafe_offset=i]


def copy[
    threads: Int, rounds: Int
](
    out_keys: Output, out_values: Output, a: Input, values: Input, size: Int32
):
    """Loads and stores as many keys and values for each thread as the sorts do."""
    var first = Int(block_idx.x) * threads * rounds + Int(thread_idx.x)
    var keys = Array[UInt32, rounds](fill=0)
    var own = Array[UInt32, rounds](fill=0)
    comptime for r in range(rounds):
        var i = first + r * threads
        if i < Int(size):
            keys[r] = a[unsafe_offset=i]
            own[r] = values[unsafe_offset=i]
    comptime for r in range(rounds):
        var i = first + r * threads
        if i < Int(size):
            out_keys[unsafe_offset=i] = keys[r]
            out_values[unsafe_offset=i] = own[r]


def rank_alone[
    bits: Int, threads: Int, rounds: Int
](output: Output, a: Input, size: Int32, shift: Int32):
    """The loads of the keys and their ranks; the sum of the ranks keeps the compiler from leaving them out."""
    var counts = unsafe_stack_allocation[
        (threads // WARP_SIZE) << bits,
        UInt32,
        address_space=AddressSpace.SHARED,
    ]()
    var keys = Array[UInt32, rounds](fill=0)
    var ranks = Array[UInt32, rounds](fill=0)
    var first = 0
    load_keys[threads, rounds](keys, first, a, size)
    _ = rank_keys[bits, threads, rounds](ranks, keys, shift, counts)
    var sum = UInt32(0)
    comptime for r in range(rounds):
        sum += ranks[r]
    if sum == ~UInt32(0) or thread_idx.x == 0:
        output[unsafe_offset=Int(block_idx.x)] = sum


@fieldwise_init
struct Data(Movable):
    """Pairs to sort, and the keys as the host made them."""

    var source: Pairs
    var target: Pairs
    var other: Pairs
    var all: List[UInt32]


def sorted_by[
    bits: Int, threads: Int, rounds: Int, local: Bool
](mut table: Benchmark, data: Data, ctx: DeviceContext) raises:
    """The whole sort."""
    comptime kind = "sort local" if local else "sort direct"
    measure[bits, threads, rounds, local](
        table,
        String(t"{kind} {bits}, {threads}x{rounds}"),
        data.target,
        data.source,
        data.other,
        data.all,
        ctx,
    )


def looking_back[
    threads: Int, rounds: Int, least: Int
](mut table: Benchmark, data: Data, ctx: DeviceContext) raises:
    var size = len(data.all)
    var blocks = ceildiv(size, threads * rounds)
    # The states of each pass, its ticket, and the counts of its digits, cleared by one fill.
    var each = blocks * DIGITS
    var memory = ctx.enqueue_create_buffer[DType.uint32](
        PASSES * (each + DIGITS + 4)
    )
    var sums = ctx.enqueue_create_buffer[DType.uint32](PASSES)

    def run(repetition: Int, ctx: DeviceContext) raises {imm}:
        memory.enqueue_fill(0)
        var digits = memory.create_sub_buffer[DType.uint32](
            PASSES * each, PASSES * DIGITS
        )
        ctx.enqueue_function[count_all[512]](
            digits, data.source.keys, Int32(size), grid_dim=264, block_dim=512
        )
        ctx.enqueue_function[scan_rows](
            digits,
            sums,
            Int32(DIGITS),
            grid_dim=PASSES,
            block_dim=SCANNING,
        )
        comptime for p in range(PASSES):
            var target = data.target.copy()
            var source = data.other.copy()
            comptime if p % 2 == 0:
                swap(target, source)
            comptime if p == 0:
                source = data.source.copy()
            ctx.enqueue_function[scatter_looking_back[threads, rounds, least]](
                target.keys,
                target.values,
                source.keys,
                source.values,
                memory.create_sub_buffer[DType.uint32](
                    PASSES * each + p * DIGITS, DIGITS
                ),
                memory.create_sub_buffer[DType.uint32](p * each, each),
                memory.create_sub_buffer[DType.uint32](
                    PASSES * (each + DIGITS) + 4 * p, 1
                ),
                Int32(size),
                Int32(BITS * p),
                grid_dim=blocks,
                block_dim=threads,
            )

    table.measure(
        String(t"look-back {threads}x{rounds}, least {least}"),
        size,
        16 * size,
        run,
    )
    compare_indices(data.target, data.all)


def passes[
    bits: Int, threads: Int, rounds: Int
](mut table: Benchmark, data: Data, ctx: DeviceContext) raises:
    """The launches of one pass, and controls."""
    comptime digits = 1 << bits
    comptime shift = Int32(KEY_BITS - bits)
    var size = len(data.all)
    var blocks = ceildiv(size, threads * rounds)
    var counts = Counts(blocks, digits, ctx)
    var form = String(t"{bits}, {threads}x{rounds}")

    def count(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[count_digits[bits, threads, rounds]](
            counts.of_blocks,
            data.source.keys,
            Int32(size),
            shift,
            grid_dim=blocks,
            block_dim=threads,
        )

    def scan(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[scan_rows](
            counts.of_blocks,
            counts.of_digits,
            Int32(blocks),
            grid_dim=digits,
            block_dim=SCANNING,
        )
        ctx.enqueue_function[scan_rows](
            counts.of_digits,
            counts.of_all,
            Int32(digits),
            grid_dim=1,
            block_dim=SCANNING,
        )

    def rank(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[rank_alone[bits, threads, rounds]](
            data.other.keys,
            data.source.keys,
            Int32(size),
            shift,
            grid_dim=blocks,
            block_dim=threads,
        )

    table.measure(String(t"count {form}"), size, 4 * size, count)
    table.measure(String(t"scan {form}"), size, 8 * digits * blocks, scan)
    table.measure(String(t"rank {form}"), size, 4 * size, rank)
    comptime for ordered in range(2):
        var source = data.source.copy()
        comptime if ordered == 1:
            source = data.target.copy()
        # Counts of this source, scanned.
        sort_by_digit[bits, threads, rounds, True](
            data.other, source, counts, size, Int(shift), ctx
        )

        def direct(repetition: Int, ctx: DeviceContext) raises {imm}:
            ctx.enqueue_function[scatter[bits, threads, rounds]](
                data.other.keys,
                data.other.values,
                source.keys,
                source.values,
                counts.of_blocks,
                counts.of_digits,
                Int32(size),
                shift,
                grid_dim=blocks,
                block_dim=threads,
            )

        def local(repetition: Int, ctx: DeviceContext) raises {imm}:
            ctx.enqueue_function[scatter_sorted[bits, threads, rounds]](
                data.other.keys,
                data.other.values,
                source.keys,
                source.values,
                counts.of_blocks,
                counts.of_digits,
                Int32(size),
                shift,
                grid_dim=blocks,
                block_dim=threads,
            )

        comptime what = ", ordered" if ordered == 1 else ""
        table.measure(
            String(t"direct {form}{what}"), size, 16 * size, direct
        )
        table.measure(String(t"local {form}{what}"), size, 16 * size, local)
        comptime if ordered == 0:
            comptime for least in range(3, 6):

                def limited(repetition: Int, ctx: DeviceContext) raises {imm}:
                    ctx.enqueue_function[
                        scatter_sorted_within[bits, threads, rounds, least]
                    ](
                        data.other.keys,
                        data.other.values,
                        source.keys,
                        source.values,
                        counts.of_blocks,
                        counts.of_digits,
                        Int32(size),
                        shift,
                        grid_dim=blocks,
                        block_dim=threads,
                    )

                table.measure(
                    String(t"local {form}, least {least}"),
                    size,
                    16 * size,
                    limited,
                )


def copies[
    threads: Int, rounds: Int
](mut table: Benchmark, data: Data, ctx: DeviceContext) raises:
    var size = len(data.all)

    def run(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[copy[threads, rounds]](
            data.other.keys,
            data.other.values,
            data.source.keys,
            data.source.values,
            Int32(size),
            grid_dim=ceildiv(size, threads * rounds),
            block_dim=threads,
        )

    table.measure(String(t"copy {threads}x{rounds}"), size, 16 * size, run)


def measure_all(
    mut table: Benchmark, size: Int, ctx: DeviceContext
) raises:
    var source = Pairs(size, ctx)
    var all = fill(source, size)
    var data = Data(source^, Pairs(size, ctx), Pairs(size, ctx), all^)
    copies[256, 16](table, data, ctx)
    sorted_by[4, 256, 16, False](table, data, ctx)
    sorted_by[4, 256, 16, True](table, data, ctx)
    sorted_by[4, 256, 8, True](table, data, ctx)
    sorted_by[8, 256, 16, False](table, data, ctx)
    sorted_by[8, 256, 8, True](table, data, ctx)
    sorted_by[8, 256, 12, True](table, data, ctx)
    sorted_by[8, 256, 16, True](table, data, ctx)
    sorted_by[8, 256, 24, True](table, data, ctx)
    sorted_by[8, 384, 12, True](table, data, ctx)
    sorted_by[8, 384, 16, True](table, data, ctx)
    sorted_by[8, 512, 8, True](table, data, ctx)
    sorted_by[8, 512, 12, True](table, data, ctx)
    looking_back[256, 16, 2](table, data, ctx)
    looking_back[256, 16, 4](table, data, ctx)
    looking_back[256, 24, 2](table, data, ctx)
    looking_back[256, 24, 3](table, data, ctx)
    looking_back[384, 16, 1](table, data, ctx)
    looking_back[384, 16, 2](table, data, ctx)
    looking_back[512, 12, 1](table, data, ctx)
    looking_back[512, 12, 2](table, data, ctx)
    # `target` has the sorted pairs now.
    passes[4, 256, 16](table, data, ctx)
    passes[8, 256, 16](table, data, ctx)
    passes[8, 256, 24](table, data, ctx)


def once(size: Int, ctx: DeviceContext) raises:
    """A pass of each kind."""
    var source = Pairs(size, ctx)
    _ = fill(source, size)
    var target = Pairs(size, ctx)
    var counts = Counts(ceildiv(size, 256 * 16), DIGITS, ctx)
    comptime for local in range(2):
        comptime for bits in range(4, 9, 4):
            sort_by_digit[bits, 256, 16, local == 1](
                target, source, counts, size, KEY_BITS - bits, ctx
            )
    ctx.synchronize()


def main() raises:
    with DeviceContext() as ctx:
        if "--once" in argv():
            once(16 * 1024 * 1024, ctx)
            return
        var table = Benchmark(ctx)
        if table.timed:
            measure_all(table, 16 * 1024 * 1024, ctx)
            measure_all(table, 64 * 1024 * 1024, ctx)
        else:
            measure_all(table, 20_000, ctx)
