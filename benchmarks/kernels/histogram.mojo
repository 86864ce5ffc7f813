"""Puzzle 37's histograms of 256 bins over bytes, by the data and by the bytes that a thread loads at once.

Bytes are uniform (`uniform`), in runs of 500 equal ones (`runs`), or all equal (`equal`). `global` counts in
global memory, `shared N` in one histogram per block with loads of N bytes, `by warp N` in one histogram for
each warp of a block, `merged N` adds the equal bytes of a warp by one lane (`lanes_with` of the puzzle), and
`uniform warps N` does so only if all bytes of a warp are equal, and `global, merged` has no shared memory.
`shared, weight N` is the control of `shared N`: it adds a number that the compiler does not know instead of 1.
`loads alone` has the loads and no histogram.
`cub.cu` measures CUB's histogram of the same bytes.

    mojo build -I problems benchmarks/kernels/histogram.mojo -o histogram
"""

from max.gpu import (
    AddressSpace,
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
from max.gpu.primitives import warp
from std.atomic import Atomic, Ordering
from std.bit import count_trailing_zeros, pop_count
from std.memory import unsafe_stack_allocation
from std.testing import assert_equal

from lab.benchmark import Benchmark

comptime MI = 1024 * 1024
comptime TPB = 256
comptime BINS = 256
comptime WARPS = TPB // WARP_SIZE
comptime Counts = Pointer[UInt32, MutAnyOrigin]
comptime Bytes = Pointer[UInt8, ImmutAnyOrigin]
comptime Bins = Pointer[
    UInt32, MutUntrackedOrigin, address_space=AddressSpace.SHARED
]
comptime Mask = DType.uint64 if WARP_SIZE == 64 else DType.uint32
comptime PLAIN = 0
comptime MERGED = 1
comptime EQUAL_ONLY = 2
comptime WEIGHTED = 3
comptime WEIGHT = 3


def in_global[merge: Int](counts: Counts, a: Bytes, size: Int32):
    """One byte in each load. With `MERGED` the size is a multiple of the grid's threads."""
    var step = grid_dim.x * block_dim.x
    var i = block_idx.x * block_dim.x + thread_idx.x
    while i < Int(size):
        var byte = Int(a[unsafe_offset=i])
        comptime if merge == MERGED:
            var same = lanes_with(byte)
            if Int(count_trailing_zeros(same)) == lane_id():
                _ = Atomic.fetch_add[ordering=Ordering.RELAXED](
                    counts.unsafe_offset(byte), UInt32(pop_count(same))
                )
        else:
            _ = Atomic.fetch_add[ordering=Ordering.RELAXED](
                counts.unsafe_offset(byte), UInt32(1)
            )
        i += step


def lanes_with(byte: Int) -> Scalar[Mask]:
    """The lanes with the same byte; all lanes of the warp call it."""
    var same = ~Scalar[Mask](0)
    comptime for bit in range(8):
        var own = (byte >> bit) & 1 == 1
        var ones = warp.vote[Mask](own)
        same &= ones if own else ~ones
    return same


def count[merge: Int](bins: Bins, byte: Int, weight: UInt32):
    """Adds the byte of each lane to the bins."""
    comptime if merge == MERGED:
        var same = lanes_with(byte)
        if Int(count_trailing_zeros(same)) == lane_id():
            _ = Atomic.fetch_add[ordering=Ordering.RELAXED](
                bins.unsafe_offset(byte), UInt32(pop_count(same))
            )
    elif merge == EQUAL_ONLY:
        var first = warp.broadcast(Int32(byte))
        if warp.vote[Mask](Int(first) == byte) == ~Scalar[Mask](0):
            if lane_id() == 0:
                _ = Atomic.fetch_add[ordering=Ordering.RELAXED](
                    bins.unsafe_offset(byte), UInt32(WARP_SIZE)
                )
        else:
            _ = Atomic.fetch_add[ordering=Ordering.RELAXED](
                bins.unsafe_offset(byte), UInt32(1)
            )
    elif merge == WEIGHTED:
        _ = Atomic.fetch_add[ordering=Ordering.RELAXED](
            bins.unsafe_offset(byte), weight
        )
    else:
        _ = Atomic.fetch_add[ordering=Ordering.RELAXED](
            bins.unsafe_offset(byte), UInt32(1)
        )


def in_shared[
    W: Int, merge: Int, copies: Int
](counts: Counts, a: Bytes, size: Int32, weight: UInt32):
    """W bytes in each load; `copies` histograms per block. The size is a multiple of W times the grid's threads.
    """
    var bins = unsafe_stack_allocation[
        BINS * copies, UInt32, address_space=AddressSpace.SHARED
    ]()
    for bin in range(thread_idx.x, BINS * copies, TPB):
        bins[unsafe_offset=bin] = 0
    barrier()
    var own = bins.unsafe_offset(warp_id() % copies * BINS)
    var step = grid_dim.x * block_dim.x * W
    var i = (block_idx.x * block_dim.x + thread_idx.x) * W
    while i < Int(size):
        var bytes = a.unsafe_load[width=W, alignment=W](i)
        comptime for k in range(W):
            count[merge](own, Int(bytes[k]), weight)
        i += step
    barrier()
    for bin in range(thread_idx.x, BINS, TPB):
        var total = UInt32(0)
        comptime for c in range(copies):
            total += bins[unsafe_offset=c * BINS + bin]
        _ = Atomic.fetch_add[ordering=Ordering.RELAXED](
            counts.unsafe_offset(bin), total
        )


def loads_alone[W: Int](counts: Counts, a: Bytes, size: Int32):
    """The loads of `in_shared`; the bytes of a thread are added in registers."""
    var step = grid_dim.x * block_dim.x * W
    var i = (block_idx.x * block_dim.x + thread_idx.x) * W
    var total = UInt32(0)
    while i < Int(size):
        total += (
            a.unsafe_load[width=W, alignment=W](i)
            .cast[DType.uint32]()
            .reduce_add()
        )
        i += step
    if total == 0xFFFFFFFF or thread_idx.x == 0:
        counts[unsafe_offset=block_idx.x % BINS] = total


struct Data(Movable):
    """Bytes of one kind."""

    var bytes: DeviceBuffer[DType.uint8]
    var counts: DeviceBuffer[DType.uint32]
    var size: Int
    var kind: String
    var expected: List[Int]

    def __init__(
        out self, kind: String, size: Int, ctx: DeviceContext
    ) raises:
        self.bytes = ctx.enqueue_create_buffer[DType.uint8](size)
        self.counts = ctx.enqueue_create_buffer[DType.uint32](BINS)
        self.counts.enqueue_fill(0)
        self.size = size
        self.kind = kind
        self.expected = List[Int](length=BINS, fill=0)
        with self.bytes.map_to_host() as host:
            var state = UInt32(1)
            for i in range(size):
                state = state * 1664525 + 1013904223
                var byte = UInt8(200)
                if kind == "uniform":
                    byte = UInt8(state >> 24)
                elif kind == "runs":
                    byte = UInt8(i // 500 & 255)
                host[i] = byte
                self.expected[Int(byte)] += 1

    def check(self, weight: Int = 1) raises:
        with self.counts.map_to_host() as host:
            for bin in range(BINS):
                assert_equal(Int(host[bin]), weight * self.expected[bin])


def measure_global[
    merge: Int
](
    mut table: Benchmark,
    name: String,
    blocks: Int,
    data: Data,
    ctx: DeviceContext,
) raises:
    def launch(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[in_global[merge]](
            data.counts,
            data.bytes,
            Int32(data.size),
            grid_dim=blocks,
            block_dim=TPB,
        )

    table.measure(String(t"{name}, {data.kind}"), data.size, data.size, launch)
    data.counts.enqueue_fill(0)
    launch(0, ctx)
    data.check()


def measure_shared[
    W: Int, merge: Int, copies: Int
](
    mut table: Benchmark,
    name: String,
    blocks: Int,
    data: Data,
    ctx: DeviceContext,
) raises:
    def launch(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[in_shared[W, merge, copies]](
            data.counts,
            data.bytes,
            Int32(data.size),
            UInt32(WEIGHT),
            grid_dim=blocks,
            block_dim=TPB,
        )

    table.measure(
        String(t"{name} {W}, {data.kind}"), data.size, data.size, launch
    )
    data.counts.enqueue_fill(0)
    launch(0, ctx)
    data.check(WEIGHT if merge == WEIGHTED else 1)


def measure_loads[
    W: Int
](
    mut table: Benchmark, blocks: Int, data: Data, ctx: DeviceContext
) raises:
    def launch(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[loads_alone[W]](
            data.counts,
            data.bytes,
            Int32(data.size),
            grid_dim=blocks,
            block_dim=TPB,
        )

    table.measure(
        String(t"loads alone {W}, {data.kind}"), data.size, data.size, launch
    )


def main() raises:
    with DeviceContext() as ctx:
        var table = Benchmark(ctx)
        # A multiple of 16 bytes for each thread of every grid, so that all lanes of a warp vote.
        var size = 4 * TPB * 16 * 2
        var blocks = 4
        if table.timed:
            size = 1056 * TPB * 16 * 31
            blocks = 1056
        for kind in ["uniform", "runs", "equal"]:
            var data = Data(String(kind), size, ctx)
            comptime for width in [1, 4, 16]:
                measure_loads[width](table, blocks, data, ctx)
            measure_global[PLAIN](table, "global", blocks, data, ctx)
            measure_global[MERGED](table, "global, merged", blocks, data, ctx)
            comptime for width in [1, 4, 16]:
                measure_shared[width, PLAIN, 1](
                    table, "shared", blocks, data, ctx
                )
            comptime for width in [1, 16]:
                measure_shared[width, WEIGHTED, 1](
                    table, "shared, weight", blocks, data, ctx
                )
            comptime for width in [4, 16]:
                measure_shared[width, PLAIN, WARPS](
                    table, "by warp", blocks, data, ctx
                )
            comptime for width in [1, 4, 16]:
                measure_shared[width, MERGED, 1](
                    table, "merged", blocks, data, ctx
                )
            comptime for width in [4, 16]:
                measure_shared[width, EQUAL_ONLY, 1](
                    table, "uniform warps", blocks, data, ctx
                )
