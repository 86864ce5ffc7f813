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


# ANCHOR: histogram_global
# counts[v] += the number of elements of `a` that are v.
def histogram_global(counts: Counts, a: Bytes, size: Int32):
    var step = grid_dim.x * block_dim.x
    var i = block_idx.x * block_dim.x + thread_idx.x
    # FILL ME IN (about 5 lines)


# ANCHOR_END: histogram_global


# ANCHOR: histogram_shared
# The same. Each block counts in shared memory first.
def histogram_shared(counts: Counts, a: Bytes, size: Int32):
    var bins = unsafe_stack_allocation[
        BINS, UInt32, address_space=AddressSpace.SHARED
    ]()
    var step = grid_dim.x * block_dim.x
    var i = block_idx.x * block_dim.x + thread_idx.x
    # FILL ME IN (about 15 lines)


# ANCHOR_END: histogram_shared


# ANCHOR: lanes_with
# The lanes of a warp whose bytes are equal to that of this lane, as a mask
# with one bit for each lane. Lanes with `here` = False are in no mask. All
# lanes of the warp have to call it.
def lanes_with(byte: Int, here: Bool) -> Scalar[Mask]:
    var same = warp.vote[Mask](here)
    # FILL ME IN (about 4 lines)
    return same


# ANCHOR_END: lanes_with


# ANCHOR: histogram_merged
# The same. Equal bytes of a warp are added by one lane.
def histogram_merged(counts: Counts, a: Bytes, size: Int32):
    var bins = unsafe_stack_allocation[
        BINS, UInt32, address_space=AddressSpace.SHARED
    ]()
    var step = grid_dim.x * block_dim.x
    # The same for all lanes, so that a warp leaves the loop as a whole.
    var first = block_idx.x * block_dim.x + thread_idx.x - lane_id()
    # FILL ME IN (about 21 lines)


# ANCHOR_END: histogram_merged


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
