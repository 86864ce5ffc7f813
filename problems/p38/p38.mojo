from max.gpu import (
    WARP_SIZE,
    AddressSpace,
    barrier,
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

from lab import choose_mode, stage, submit
from lab.benchmark import Benchmark
from lab.machine import on_simulated_gpu

# ANCHOR: sizes
comptime SIZE = 90004
comptime SIZE_BENCHMARK = 64 * 1024 * 1024

# A block has TILE elements, in ROUNDS rounds. In each of them a thread has a
# vector of four, next to those of its neighbours.
comptime THREADS = 256
comptime ROUNDS = 8
comptime TILE = THREADS * ROUNDS * 4
comptime WARPS = THREADS // WARP_SIZE
comptime SUMS = ROUNDS * WARPS  # of a warp's elements in a round

# What a block has published: nothing, the sum of its own elements, or the sum
# of all elements up to its last one.
comptime EMPTY = Int32(0)
comptime AGGREGATE = Int32(1)
comptime PREFIX = Int32(2)

comptime Output = Pointer[Int32, MutAnyOrigin]
comptime States = Pointer[UInt64, MutAnyOrigin]
comptime Input = Pointer[Int32, ImmutAnyOrigin]
comptime Shared = Pointer[
    Int32, MutUntrackedOrigin, address_space=AddressSpace.SHARED
]
comptime Four = SIMD[DType.int32, 4]
comptime Tile = Array[Four, ROUNDS]
# ANCHOR_END: sizes


# ANCHOR: scan_tile
# Loads the thread's elements of a tile into `values`, and replaces each by the
# sum of those of its warp's part of a round up to it. `sums` gets, for each
# part, the sum of the parts before it. Returns the sum of the tile, in the
# first warp. The other warps may read `sums` after the next barrier.
def scan_tile[
    size: Int
](mut values: Tile, input: Input, block: Int, sums: Shared) -> Int32:
    var lane = Int(lane_id())
    # All loads come first, so that they are in flight together.
    comptime for r in range(ROUNDS):
        var i = block * TILE + (r * THREADS + thread_idx.x) * 4
        if i < size:
            values[r] = input.unsafe_load[width=4, alignment=16](i)
    comptime for r in range(ROUNDS):
        var four = values[r]
        comptime for i in range(1, 4):
            four[i] += four[i - 1]
        var before = warp.prefix_sum[exclusive=True](four[3])
        values[r] = four + before
        if lane == WARP_SIZE - 1:
            sums[unsafe_offset=r * WARPS + warp_id()] = before + four[3]
    barrier()
    var total = Int32(0)
    if warp_id() == 0:
        comptime for part in range(ceildiv(SUMS, WARP_SIZE)):
            var i = part * WARP_SIZE + lane
            var sum = sums[unsafe_offset=i] if i < SUMS else 0
            var before = total + warp.prefix_sum[exclusive=True](sum)
            if i < SUMS:
                sums[unsafe_offset=i] = before
            total += warp.sum(sum)
    return total


# ANCHOR_END: scan_tile


# ANCHOR: store_tile
# Stores the thread's elements, plus what is before their part, and `prefix`.
def store_tile[
    size: Int
](output: Output, values: Tile, block: Int, sums: Shared, prefix: Int32):
    comptime for r in range(ROUNDS):
        var i = block * TILE + (r * THREADS + thread_idx.x) * 4
        if i < size:
            var before = prefix + sums[unsafe_offset=r * WARPS + warp_id()]
            output.unsafe_store[alignment=16](i, values[r] + before)


# ANCHOR_END: store_tile


# ANCHOR: look_back
# The sum of all elements before a block. The lanes of a warp call it together.
def look_back(
    block: Int, aggregates: Output, prefixes: Output, flags: Output
) -> Int32:
    var lane = Int(lane_id())
    var prefix = Int32(0)
    # FILL ME IN (about 24 lines)
    return prefix


# ANCHOR_END: look_back


# ANCHOR: prefix_sum
def prefix_sum[
    size: Int
](
    output: Output,
    input: Input,
    aggregates: Output,
    prefixes: Output,
    flags: Output,
    ticket: Output,
):
    var sums = unsafe_stack_allocation[
        SUMS, Int32, address_space=AddressSpace.SHARED
    ]()
    # The number of this block, and the sum of all elements before it.
    var shared = unsafe_stack_allocation[
        2, Int32, address_space=AddressSpace.SHARED
    ]()
    var values = Tile(fill=0)
    # FILL ME IN (about 24 lines)


# ANCHOR_END: prefix_sum


# ANCHOR: look_back_packed
# The same. A state has the flag in its upper 32 bits and the value below.
def look_back_packed(block: Int, states: States) -> Int32:
    var lane = Int(lane_id())
    var prefix = Int32(0)
    # FILL ME IN (about 20 lines)
    return prefix


# ANCHOR_END: look_back_packed


# ANCHOR: publish
# Publishes a flag and a value, in one store.
def publish(states: States, block: Int, flag: Int32, value: Int32):
    var place = states.unsafe_offset(block)
    # FILL ME IN (about 3 lines)


# ANCHOR_END: publish


# ANCHOR: prefix_sum_packed
def prefix_sum_packed[
    size: Int
](output: Output, input: Input, states: States, ticket: Output):
    var sums = unsafe_stack_allocation[
        SUMS, Int32, address_space=AddressSpace.SHARED
    ]()
    var shared = unsafe_stack_allocation[
        2, Int32, address_space=AddressSpace.SHARED
    ]()
    var values = Tile(fill=0)
    if thread_idx.x == 0:
        shared[unsafe_offset=0] = Atomic.fetch_add[ordering=Ordering.RELAXED](
            ticket, 1
        )
    barrier()
    var block = Int(shared[unsafe_offset=0])
    var aggregate = scan_tile[size](values, input, block, sums)
    if warp_id() == 0:
        if lane_id() == 0:
            publish(states, block, AGGREGATE, aggregate)
        var prefix = look_back_packed(block, states)
        if lane_id() == 0:
            publish(states, block, PREFIX, prefix + aggregate)
            shared[unsafe_offset=1] = prefix
    barrier()
    store_tile[size](output, values, block, sums, shared[unsafe_offset=1])


# ANCHOR_END: prefix_sum_packed


# After the output, elements that no thread may write.
comptime UNTOUCHED = Int32(-777)
comptime GUARD = 1024


@fieldwise_init
struct Scan(Movable):
    """An array, its prefix sums, and what the blocks publish."""

    var input: DeviceBuffer[DType.int32]
    var out_buffer: DeviceBuffer[DType.int32]
    var aggregates: DeviceBuffer[DType.int32]
    var prefixes: DeviceBuffer[DType.int32]
    var states: DeviceBuffer[DType.uint64]

    def fill(self, size: Int) raises:
        with self.input.map_to_host() as host:
            for i in range(size):
                host[i] = Int32(i % 13 - 3)

    def launch[size: Int, packed: Bool](self, ctx: DeviceContext) raises:
        comptime blocks = ceildiv(size, TILE)
        # One fill for the flags or states, and for the ticket behind them.
        self.states.enqueue_fill(0)
        var ticket = self.states.create_sub_buffer[DType.int32](2 * blocks, 1)
        comptime if packed:
            ctx.enqueue_function[prefix_sum_packed[size]](
                self.out_buffer,
                self.input,
                self.states,
                ticket,
                grid_dim=blocks,
                block_dim=THREADS,
            )
        else:
            ctx.enqueue_function[prefix_sum[size]](
                self.out_buffer,
                self.input,
                self.aggregates,
                self.prefixes,
                self.states.create_sub_buffer[DType.int32](0, blocks),
                ticket,
                grid_dim=blocks,
                block_dim=THREADS,
            )

    def compare(self, size: Int) raises:
        var sum = Int32(0)
        with self.input.map_to_host() as host:
            with self.out_buffer.map_to_host() as results:
                for i in range(size):
                    sum += host[i]
                    if results[i] != sum:
                        assert_equal(results[i], sum, String(t"element {i}"))


def make_scan[
    size: Int
](
    out_buffer: DeviceBuffer[DType.int32], ctx: DeviceContext
) raises -> Scan:
    comptime blocks = ceildiv(size, TILE)
    var scan = Scan(
        ctx.enqueue_create_buffer[DType.int32](size),
        out_buffer,
        ctx.enqueue_create_buffer[DType.int32](blocks),
        ctx.enqueue_create_buffer[DType.int32](blocks),
        ctx.enqueue_create_buffer[DType.uint64](blocks + 1),
    )
    scan.fill(size)
    return scan^


def benchmark[size: Int](ctx: DeviceContext) raises:
    var out = ctx.enqueue_create_buffer[DType.int32](size)
    var scan = make_scan[size](out, ctx)
    var table = Benchmark(ctx)
    comptime for packed in range(2):
        out.enqueue_fill(UNTOUCHED)

        def run(repetition: Int, ctx: DeviceContext) raises {imm}:
            scan.launch[size, packed == 1](ctx)

        comptime name = "prefix_sum_packed" if packed == 1 else "prefix_sum"
        table.measure(name, size, 8 * size, run)
        scan.compare(size)


def judge[packed: Bool](ctx: DeviceContext) raises:
    var memory = ctx.enqueue_create_buffer[DType.int32](SIZE + GUARD)
    memory.enqueue_fill(UNTOUCHED)
    var guard = memory.create_sub_buffer[DType.int32](SIZE, GUARD)
    var out = memory.create_sub_buffer[DType.int32](0, SIZE)
    out.enqueue_fill(0)
    var scan = make_scan[SIZE](out, ctx)
    stage("a", scan.input)
    stage("out", out)
    scan.launch[SIZE, packed](ctx)
    ctx.synchronize()

    submit("out", out)
    submit("guard", guard)
    print("elements:", SIZE, "blocks:", ceildiv(SIZE, TILE))
    with out.map_to_host() as results:
        print("out:", results)
    scan.compare(SIZE)
    with guard.map_to_host() as behind:
        for i in range(GUARD):
            assert_equal(behind[i], UNTOUCHED, "written behind the output")
    print("Puzzle 38 complete ✅")


def main() raises:
    var mode = choose_mode("p38", ["--scan", "--packed", "--benchmark"])
    with DeviceContext() as ctx:
        if mode == "--scan":
            judge[packed=False](ctx)
        elif mode == "--packed":
            judge[packed=True](ctx)
        elif on_simulated_gpu():
            benchmark[SIZE](ctx)
        else:
            benchmark[SIZE_BENCHMARK](ctx)
