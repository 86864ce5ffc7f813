from max.gpu import (
    AddressSpace,
    WARP_SIZE,
    barrier,
    block_dim,
    block_idx,
    grid_dim,
    lane_id,
    thread_idx,
)
from max.gpu.host import DeviceContext
from max.gpu.primitives import warp
from std.atomic import Atomic, Ordering
from std.bit import count_trailing_zeros, pop_count
from std.memory import unsafe_stack_allocation
from std.testing import assert_equal

from lab import choose_mode, stage, submit

comptime SIZE = 80003
comptime BINS = 256  # one for each value of a byte
comptime TPB = 128
comptime BLOCKS = 5
comptime Counts = Pointer[UInt32, MutAnyOrigin]
comptime Bytes = Pointer[UInt8, ImmutAnyOrigin]
comptime Mask = DType.uint64 if WARP_SIZE == 64 else DType.uint32


# ANCHOR: histogram_global_solution
# counts[v] += the number of elements of `a` that are v.
def histogram_global(counts: Counts, a: Bytes, size: Int32):
    var step = grid_dim.x * block_dim.x
    var i = block_idx.x * block_dim.x + thread_idx.x
    # FILL: about 5 lines
    while i < Int(size):
        _ = Atomic.fetch_add[ordering=Ordering.RELAXED](
            counts.unsafe_offset(Int(a[unsafe_offset=i])), UInt32(1)
        )
        i += step
    # END_FILL


# ANCHOR_END: histogram_global_solution


# ANCHOR: histogram_shared_solution
# The same. Each block counts in shared memory first.
def histogram_shared(counts: Counts, a: Bytes, size: Int32):
    var bins = unsafe_stack_allocation[
        BINS, UInt32, address_space=AddressSpace.SHARED
    ]()
    var step = grid_dim.x * block_dim.x
    var i = block_idx.x * block_dim.x + thread_idx.x
    # FILL: about 15 lines
    # A block has fewer threads than bins: each thread sets several to 0.
    for bin in range(thread_idx.x, BINS, TPB):
        bins[unsafe_offset=bin] = 0
    barrier()

    # The threads of the block share the bins, the other blocks do not.
    while i < Int(size):
        _ = Atomic.fetch_add[ordering=Ordering.RELAXED](
            bins.unsafe_offset(Int(a[unsafe_offset=i])), UInt32(1)
        )
        i += step

    # All counts of the block are complete before the first is read.
    barrier()
    for bin in range(thread_idx.x, BINS, TPB):
        _ = Atomic.fetch_add[ordering=Ordering.RELAXED](
            counts.unsafe_offset(bin), bins[unsafe_offset=bin]
        )
    # END_FILL


# ANCHOR_END: histogram_shared_solution


# ANCHOR: lanes_with_solution
# The lanes of a warp whose bytes are equal to that of this lane, as a mask
# with one bit for each lane. Lanes with `here` = False are in no mask. All
# lanes of the warp have to call it.
def lanes_with(byte: Int, here: Bool) -> Scalar[Mask]:
    var same = warp.vote[Mask](here)
    # FILL: about 4 lines
    comptime for bit in range(8):
        var own = (byte >> bit) & 1 == 1
        var ones = warp.vote[Mask](own)
        same &= ones if own else ~ones
    # END_FILL
    return same


# ANCHOR_END: lanes_with_solution


# ANCHOR: histogram_merged_solution
# The same. Equal bytes of a warp are added by one lane.
def histogram_merged(counts: Counts, a: Bytes, size: Int32):
    var bins = unsafe_stack_allocation[
        BINS, UInt32, address_space=AddressSpace.SHARED
    ]()
    var step = grid_dim.x * block_dim.x
    # The same for all lanes, so that a warp leaves the loop as a whole.
    var first = block_idx.x * block_dim.x + thread_idx.x - lane_id()
    # FILL: about 21 lines
    for bin in range(thread_idx.x, BINS, TPB):
        bins[unsafe_offset=bin] = 0
    barrier()

    while first < Int(size):
        var i = first + lane_id()
        var here = i < Int(size)
        var byte = 0
        if here:
            byte = Int(a[unsafe_offset=i])
        var same = lanes_with(byte, here)
        # The lowest of these lanes adds their number.
        if here and Int(count_trailing_zeros(same)) == lane_id():
            _ = Atomic.fetch_add[ordering=Ordering.RELAXED](
                bins.unsafe_offset(byte), UInt32(pop_count(same))
            )
        first += step

    barrier()
    for bin in range(thread_idx.x, BINS, TPB):
        _ = Atomic.fetch_add[ordering=Ordering.RELAXED](
            counts.unsafe_offset(bin), bins[unsafe_offset=bin]
        )
    # END_FILL


# ANCHOR_END: histogram_merged_solution


def main() raises:
    var mode = choose_mode("p37", ["--global", "--shared", "--merged"])
    with DeviceContext() as ctx:
        var out = ctx.enqueue_create_buffer[DType.uint32](BINS)
        out.enqueue_fill(0)
        var a = ctx.enqueue_create_buffer[DType.uint8](SIZE)
        with a.map_to_host() as a_host:
            var state = UInt32(1)
            for i in range(SIZE):
                state = state * 1664525 + 1013904223
                a_host[i] = UInt8(state >> 24)
                if mode == "--merged":
                    a_host[i] = UInt8(i // 500)  # runs of 500 equal bytes
        stage("a", a)
        stage("out", out)

        var expected = ctx.enqueue_create_host_buffer[DType.uint32](BINS)
        for bin in range(BINS):
            expected[bin] = 0
        with a.map_to_host() as a_host:
            for i in range(SIZE):
                expected[Int(a_host[i])] += 1

        # The kernels add to these counts, so they start from 0.
        out.enqueue_fill(0)
        if mode == "--global":
            ctx.enqueue_function[histogram_global](
                out, a, Int32(SIZE), grid_dim=BLOCKS, block_dim=TPB
            )
        elif mode == "--shared":
            ctx.enqueue_function[histogram_shared](
                out, a, Int32(SIZE), grid_dim=BLOCKS, block_dim=TPB
            )
        else:
            ctx.enqueue_function[histogram_merged](
                out, a, Int32(SIZE), grid_dim=BLOCKS, block_dim=TPB
            )
        ctx.synchronize()

        submit("out", out)
        with out.map_to_host() as out_host:
            print("out:", out_host)
            print("expected:", expected)
            for bin in range(BINS):
                assert_equal(out_host[bin], expected[bin])
        print("Puzzle 37 complete ✅")
