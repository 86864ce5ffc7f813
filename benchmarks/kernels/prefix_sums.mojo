"""Inclusive prefix sums of 64 Mi int32 elements: in one pass with look-back, and in three launches.

`one_pass` is puzzle 38's kernel with its tile and its look-back as parameters: a warp looks at as many blocks
at a time as it has lanes (`WARP`), one thread looks at one block after the other (`THREAD`), or a warp reads flag
and value together from one element of 64 bits, without acquire and release (`PACKED`). `UNORDERED` is a control: the
kernel of `WARP` with relaxed flags and volatile values, which no rule makes right. `three_launches` adds up each tile, scans the sums of the tiles, and reads every tile a second time.

    mojo build -I problems benchmarks/kernels/prefix_sums.mojo -o prefix_sums
"""

from max.gpu import (
    WARP_SIZE,
    AddressSpace,
    barrier,
    block_idx,
    lane_id,
    thread_idx,
    warp_id,
)
from max.gpu.host import DeviceBuffer, DeviceContext
from max.gpu.primitives import warp
from std.atomic import Atomic, Ordering
from std.math import ceildiv
from std.memory import unsafe_stack_allocation
from std.testing import assert_equal

from lab.benchmark import Benchmark

comptime Output = Pointer[Int32, MutAnyOrigin]
comptime Packed = Pointer[UInt64, MutAnyOrigin]
comptime Input = Pointer[Int32, ImmutAnyOrigin]
comptime Shared = Pointer[
    Int32, MutUntrackedOrigin, address_space=AddressSpace.SHARED
]
comptime Four = SIMD[DType.int32, 4]

comptime EMPTY = Int32(0)
comptime AGGREGATE = Int32(1)
comptime PREFIX = Int32(2)

comptime WARP = 0
comptime THREAD = 1
comptime PACKED = 2
comptime UNORDERED = 3


def scan_tile[
    size: Int, threads: Int, rounds: Int
](
    mut values: Array[Four, rounds], input: Input, block: Int, sums: Shared
) -> Int32:
    """Scans a block's elements vector by vector; `sums` gets what is before each warp's part of a round.

    Returns: the sum of the block, in the threads of its first warp.
    """
    comptime warps = threads // WARP_SIZE
    comptime parts = ceildiv(rounds * warps, WARP_SIZE)
    comptime tile = threads * rounds * 4
    var thread = Int(thread_idx.x)
    var lane = Int(lane_id())
    comptime for r in range(rounds):
        var i = block * tile + (r * threads + thread) * 4
        if i < size:
            values[r] = input.unsafe_load[width=4, alignment=16](i)
    comptime for r in range(rounds):
        var four = values[r]
        comptime for i in range(1, 4):
            four[i] += four[i - 1]
        var before = warp.prefix_sum[exclusive=True](four[3])
        values[r] = four + before
        if lane == WARP_SIZE - 1:
            sums[unsafe_offset=r * warps + Int(warp_id())] = before + four[3]
    barrier()
    var aggregate = Int32(0)
    if thread < WARP_SIZE:
        comptime for part in range(parts):
            var i = part * WARP_SIZE + lane
            var sum = sums[unsafe_offset=i] if i < rounds * warps else 0
            var before = aggregate + warp.prefix_sum[exclusive=True](sum)
            if i < rounds * warps:
                sums[unsafe_offset=i] = before
            aggregate += warp.sum(sum)
    return aggregate


def store_tile[
    size: Int, threads: Int, rounds: Int
](
    output: Output,
    values: Array[Four, rounds],
    block: Int,
    sums: Shared,
    before: Int32,
):
    comptime warps = threads // WARP_SIZE
    comptime for r in range(rounds):
        var i = (block * rounds * threads + r * threads + Int(thread_idx.x)) * 4
        if i < size:
            output.unsafe_store[alignment=16](
                i,
                values[r]
                + before
                + sums[unsafe_offset=r * warps + Int(warp_id())],
            )


def one_pass[
    size: Int, threads: Int, rounds: Int, look: Int, tickets: Bool
](
    output: Output,
    input: Input,
    aggregates: Output,
    prefixes: Output,
    flags: Output,
    packed: Packed,
    ticket: Output,
):
    var sums = unsafe_stack_allocation[
        rounds * threads // WARP_SIZE, Int32, address_space=AddressSpace.SHARED
    ]()
    var shared = unsafe_stack_allocation[
        2, Int32, address_space=AddressSpace.SHARED
    ]()
    comptime acquire = (
        Ordering.RELAXED if look == UNORDERED else Ordering.ACQUIRE
    )
    comptime release = (
        Ordering.RELAXED if look == UNORDERED else Ordering.RELEASE
    )
    comptime volatile = look == UNORDERED
    var lane = Int(lane_id())
    var block = Int(block_idx.x)
    comptime if tickets:
        if thread_idx.x == 0:
            shared[unsafe_offset=0] = Atomic.fetch_add[
                ordering=Ordering.RELAXED
            ](ticket, 1)
        barrier()
        block = Int(shared[unsafe_offset=0])
    var values = Array[Four, rounds](fill=0)
    var aggregate = scan_tile[size, threads, rounds](values, input, block, sums)
    if thread_idx.x < WARP_SIZE:
        var prefix = Int32(0)
        comptime if look == PACKED:
            if lane == 0:
                Atomic.store[ordering=Ordering.RELAXED](
                    packed.unsafe_offset(block),
                    (UInt64(AGGREGATE) << 32)
                    | UInt64(aggregate.cast[DType.uint32]()),
                )
        else:
            if lane == 0:
                aggregates[unsafe_offset=block] = aggregate
                Atomic.store[ordering=release](
                    flags.unsafe_offset(block), AGGREGATE
                )
        comptime if look == THREAD:
            var other = block - 1
            while lane == 0 and other >= 0:
                var flag = EMPTY
                while flag == EMPTY:
                    flag = Atomic.load[ordering=Ordering.ACQUIRE](
                        flags.unsafe_offset(other)
                    )
                if flag == PREFIX:
                    prefix += prefixes[unsafe_offset=other]
                    break
                prefix += aggregates[unsafe_offset=other]
                other -= 1
        else:
            var first = block
            while first > 0:
                var other = first - 1 - lane
                var flag = PREFIX
                var value = Int32(0)
                if other >= 0:
                    flag = EMPTY
                    comptime if look == PACKED:
                        while flag == EMPTY:
                            var state = Atomic.load[ordering=Ordering.RELAXED](
                                packed.unsafe_offset(other)
                            )
                            flag = (state >> 32).cast[DType.int32]()
                            value = (
                                state.cast[DType.uint32]().cast[DType.int32]()
                            )
                    else:
                        while flag == EMPTY:
                            flag = Atomic.load[ordering=acquire](
                                flags.unsafe_offset(other)
                            )
                        if flag == PREFIX:
                            value = prefixes.unsafe_load[volatile=volatile](
                                other
                            )
                        else:
                            value = aggregates.unsafe_load[volatile=volatile](
                                other
                            )
                var nearest = warp.min(
                    Int32(lane if flag == PREFIX else WARP_SIZE)
                )
                prefix += warp.sum(value if Int32(lane) <= nearest else 0)
                if nearest < Int32(WARP_SIZE):
                    break
                first -= WARP_SIZE
        if lane == 0:
            comptime if look == PACKED:
                Atomic.store[ordering=Ordering.RELAXED](
                    packed.unsafe_offset(block),
                    (UInt64(PREFIX) << 32)
                    | UInt64((prefix + aggregate).cast[DType.uint32]()),
                )
            else:
                prefixes[unsafe_offset=block] = prefix + aggregate
                Atomic.store[ordering=release](
                    flags.unsafe_offset(block), PREFIX
                )
            shared[unsafe_offset=1] = prefix
    barrier()
    store_tile[size, threads, rounds](
        output, values, block, sums, shared[unsafe_offset=1]
    )


def add_up[
    size: Int, threads: Int, rounds: Int
](aggregates: Output, input: Input):
    var sums = unsafe_stack_allocation[
        threads // WARP_SIZE, Int32, address_space=AddressSpace.SHARED
    ]()
    var total = Int32(0)
    comptime for r in range(rounds):
        var i = (
            Int(block_idx.x) * rounds * threads + r * threads + Int(thread_idx.x)
        ) * 4
        if i < size:
            total += input.unsafe_load[width=4, alignment=16](i).reduce_add()
    total = warp.sum(total)
    if lane_id() == 0:
        sums[unsafe_offset=Int(warp_id())] = total
    barrier()
    if thread_idx.x == 0:
        var sum = Int32(0)
        comptime for i in range(threads // WARP_SIZE):
            sum += sums[unsafe_offset=i]
        aggregates[unsafe_offset=Int(block_idx.x)] = sum


def scan_sums(aggregates: Output, prefixes: Output, count: Int32):
    """One block of 1,024 threads: `prefixes` gets the sum of all blocks before each one."""
    var sums = unsafe_stack_allocation[
        WARP_SIZE, Int32, address_space=AddressSpace.SHARED
    ]()
    var thread = Int(thread_idx.x)
    var lane = Int(lane_id())
    var carry = Int32(0)
    for first in range(0, Int(count), 1024):
        var i = first + thread
        var value = aggregates[unsafe_offset=i] if i < Int(count) else 0
        var before = warp.prefix_sum[exclusive=True](value)
        if lane == WARP_SIZE - 1:
            sums[unsafe_offset=Int(warp_id())] = before + value
        barrier()
        var total = Int32(0)
        for w in range(1024 // WARP_SIZE):
            if w < Int(warp_id()):
                before += sums[unsafe_offset=w]
            total += sums[unsafe_offset=w]
        if i < Int(count):
            prefixes[unsafe_offset=i] = carry + before
        carry += total
        barrier()


def scan_again[
    size: Int, threads: Int, rounds: Int
](output: Output, input: Input, prefixes: Output):
    var sums = unsafe_stack_allocation[
        rounds * threads // WARP_SIZE, Int32, address_space=AddressSpace.SHARED
    ]()
    var block = Int(block_idx.x)
    var values = Array[Four, rounds](fill=0)
    _ = scan_tile[size, threads, rounds](values, input, block, sums)
    barrier()
    store_tile[size, threads, rounds](
        output, values, block, sums, prefixes[unsafe_offset=block]
    )


struct Data(Movable):
    var input: DeviceBuffer[DType.int32]
    var out: DeviceBuffer[DType.int32]
    var aggregates: DeviceBuffer[DType.int32]
    var prefixes: DeviceBuffer[DType.int32]
    var state: DeviceBuffer[DType.uint64]

    def __init__(out self, size: Int, ctx: DeviceContext) raises:
        var most = size // 1024 + 1
        self.input = ctx.enqueue_create_buffer[DType.int32](size)
        self.out = ctx.enqueue_create_buffer[DType.int32](size)
        self.aggregates = ctx.enqueue_create_buffer[DType.int32](most)
        self.prefixes = ctx.enqueue_create_buffer[DType.int32](most)
        self.state = ctx.enqueue_create_buffer[DType.uint64](most)
        with self.input.map_to_host() as host:
            for i in range(size):
                host[i] = Int32(i % 13 - 3)
        self.out.enqueue_fill(-1)

    def check_and_clear(self, size: Int) raises:
        var sum = Int32(0)
        with self.out.map_to_host() as host:
            for i in range(size):
                sum += Int32(i % 13 - 3)
                if host[i] != sum:
                    assert_equal(host[i], sum, String(t"element {i}"))
        self.out.enqueue_fill(-1)


def measure[
    size: Int, threads: Int, rounds: Int, look: Int, tickets: Bool
](
    mut table: Benchmark, name: String, data: Data, ctx: DeviceContext
) raises:
    comptime blocks = ceildiv(size, threads * rounds * 4)

    def run(repetition: Int, ctx: DeviceContext) raises {imm}:
        # Flags (or flags with values) and the ticket behind them, cleared by one fill.
        var state = data.state.create_sub_buffer[DType.uint64](0, blocks + 1)
        var flags = data.state.create_sub_buffer[DType.int32](0, 2 * blocks + 2)
        var ticket = data.state.create_sub_buffer[DType.int32](2 * blocks, 2)
        state.enqueue_fill(0)
        ctx.enqueue_function[one_pass[size, threads, rounds, look, tickets]](
            data.out,
            data.input,
            data.aggregates,
            data.prefixes,
            flags,
            state,
            ticket,
            grid_dim=blocks,
            block_dim=threads,
        )

    table.measure(name, size, 8 * size, run)
    comptime if look != UNORDERED:
        data.check_and_clear(size)


def measure_three[
    size: Int, threads: Int, rounds: Int
](
    mut table: Benchmark, name: String, data: Data, ctx: DeviceContext
) raises:
    comptime blocks = ceildiv(size, threads * rounds * 4)

    def run(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[add_up[size, threads, rounds]](
            data.aggregates, data.input, grid_dim=blocks, block_dim=threads
        )
        ctx.enqueue_function[scan_sums](
            data.aggregates,
            data.prefixes,
            Int32(blocks),
            grid_dim=1,
            block_dim=1024,
        )
        ctx.enqueue_function[scan_again[size, threads, rounds]](
            data.out,
            data.input,
            data.prefixes,
            grid_dim=blocks,
            block_dim=threads,
        )

    table.measure(name, size, 8 * size, run)
    data.check_and_clear(size)


def measure_all[size: Int](mut table: Benchmark, ctx: DeviceContext) raises:
    var data = Data(size, ctx)
    measure_three[size, 256, 4](table, "three launches", data, ctx)
    measure[size, 256, 4, WARP, True](table, "one pass", data, ctx)
    measure[size, 256, 4, THREAD, True](table, "one thread looks", data, ctx)
    measure[size, 256, 4, PACKED, True](table, "packed", data, ctx)
    measure[size, 256, 4, WARP, False](table, "no tickets", data, ctx)
    measure[size, 256, 8, WARP, True](table, "256 x 8", data, ctx)
    measure[size, 256, 8, THREAD, True](table, "256 x 8, one thread", data, ctx)
    measure[size, 256, 8, PACKED, True](table, "256 x 8, packed", data, ctx)
    measure[size, 256, 8, UNORDERED, True](
        table, "256 x 8, unordered", data, ctx
    )
    measure[size, 256, 8, WARP, False](
        table, "256 x 8, no tickets", data, ctx
    )
    measure[size, 512, 8, WARP, True](table, "512 x 8", data, ctx)
    measure[size, 512, 8, THREAD, True](table, "512 x 8, one thread", data, ctx)
    measure[size, 512, 8, PACKED, True](table, "512 x 8, packed", data, ctx)
    measure[size, 256, 16, WARP, True](table, "256 x 16", data, ctx)
    measure[size, 256, 16, PACKED, True](table, "256 x 16, packed", data, ctx)


def main() raises:
    with DeviceContext() as ctx:
        var table = Benchmark(ctx)
        if table.timed:
            measure_all[16 * 1024 * 1024](table, ctx)
            measure_all[64 * 1024 * 1024](table, ctx)
        else:
            measure_all[60_000](table, ctx)
