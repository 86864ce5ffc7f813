"""A chained scan, a lock, 8-bit floats, printing, and two streams with an event: all of it is right."""

from max.gpu import (
    AddressSpace,
    barrier,
    block_idx,
    global_idx,
    grid_dim,
    thread_idx,
)
from max.gpu.host import DeviceContext
from std.atomic import Atomic, Ordering
from std.memory import unsafe_stack_allocation

comptime BLOCKS = 24
comptime WIDTH = 64


def scan(
    output: Pointer[Int32, MutAnyOrigin],
    input: Pointer[Int32, MutAnyOrigin],
    sums: Pointer[Int32, MutAnyOrigin],
    flags: Pointer[Int32, MutAnyOrigin],
    ticket: Pointer[Int32, MutAnyOrigin],
):
    """A chained scan: each block waits for the sum of the one before, in the order of tickets.
    """
    var shared = unsafe_stack_allocation[
        WIDTH, Scalar[DType.int32], address_space=AddressSpace.SHARED
    ]()
    var mine = unsafe_stack_allocation[
        2, Scalar[DType.int32], address_space=AddressSpace.SHARED
    ]()
    var t = thread_idx.x
    if t == 0:
        mine[unsafe_offset=0] = Atomic.fetch_add(ticket, 1)
    barrier()
    var block = Int(mine[unsafe_offset=0])
    shared[unsafe_offset=t] = input[unsafe_offset=block * WIDTH + t]
    barrier()
    var step = 1
    while step < WIDTH:
        var before: Int32 = 0
        if t >= step:
            before = shared[unsafe_offset=t - step]
        barrier()
        shared[unsafe_offset=t] += before
        barrier()
        step *= 2
    if t == 0:
        var carry: Int32 = 0
        if block > 0:
            while (
                Atomic.load[ordering=Ordering.ACQUIRE](flags + (block - 1)) == 0
            ):
                pass
            carry = sums[unsafe_offset=block - 1]
        sums[unsafe_offset=block] = carry + shared[unsafe_offset=WIDTH - 1]
        Atomic.store[ordering=Ordering.RELEASE](flags + block, 1)
        mine[unsafe_offset=1] = carry
    barrier()
    output[unsafe_offset=block * WIDTH + t] = (
        mine[unsafe_offset=1] + shared[unsafe_offset=t]
    )


def locked(
    total: Pointer[Int32, MutAnyOrigin], lock: Pointer[Int32, MutAnyOrigin]
):
    """One thread of each block adds to a plain variable under a spin lock."""
    if thread_idx.x == 0:
        var done = False
        while not done:
            var free: Int32 = 0
            if Atomic.compare_exchange[
                success_ordering=Ordering.ACQUIRE,
                failure_ordering=Ordering.RELAXED,
            ](lock, free, 1):
                total[] += Int32(block_idx.x)
                Atomic.store[ordering=Ordering.RELEASE](lock, 0)
                done = True


def halves(
    output: Pointer[Float32, MutAnyOrigin],
    input: Pointer[Float32, MutAnyOrigin],
):
    """To an 8-bit float and back."""
    var i = global_idx.x
    var narrow = input[unsafe_offset=i].cast[DType.float8_e4m3fn]()
    output[unsafe_offset=i] = narrow.cast[DType.float32]()


def says():
    if thread_idx.x == 0:
        print("block", block_idx.x, "of", grid_dim.x)


def plus(
    output: Pointer[Int32, MutAnyOrigin],
    input: Pointer[Int32, MutAnyOrigin],
    term: Int32,
):
    var i = global_idx.x
    output[unsafe_offset=i] = input[unsafe_offset=i] + term


def main() raises:
    comptime N = BLOCKS * WIDTH
    with DeviceContext() as ctx:
        var input = ctx.enqueue_create_buffer[DType.int32](N)
        var output = ctx.enqueue_create_buffer[DType.int32](N)
        var sums = ctx.enqueue_create_buffer[DType.int32](BLOCKS)
        var flags = ctx.enqueue_create_buffer[DType.int32](BLOCKS)
        var ticket = ctx.enqueue_create_buffer[DType.int32](1)
        input.enqueue_fill(1)
        flags.enqueue_fill(0)
        ticket.enqueue_fill(0)
        ctx.enqueue_function[scan](
            output, input, sums, flags, ticket, grid_dim=BLOCKS, block_dim=WIDTH
        )
        with output.map_to_host() as host:
            for i in range(N):
                if host[i] != Int32(i + 1):
                    raise Error("scan")
        ticket.enqueue_fill(0)
        sums.enqueue_fill(0)
        ctx.enqueue_function[locked](
            sums, ticket, grid_dim=BLOCKS, block_dim=WIDTH
        )
        with sums.map_to_host() as host:
            print("locked", host[0], BLOCKS * (BLOCKS - 1) // 2)
        var floats = ctx.enqueue_create_buffer[DType.float32](32)
        var rounded = ctx.enqueue_create_buffer[DType.float32](32)
        with floats.map_to_host() as host:
            for i in range(32):
                host[i] = 0.3 * Float32(i)
        ctx.enqueue_function[halves](rounded, floats, grid_dim=1, block_dim=32)
        with rounded.map_to_host() as host, floats.map_to_host() as before:
            for i in range(32):
                if (
                    host[i]
                    != before[i]
                    .cast[DType.float8_e4m3fn]()
                    .cast[DType.float32]()
                ):
                    raise Error("float8")
        ctx.enqueue_function[says](grid_dim=3, block_dim=32)
        ctx.synchronize()
        var second = ctx.create_stream()
        ctx.synchronize()
        var kernel = ctx.compile_function[plus]()
        ctx.enqueue_function(
            kernel, output, input, Int32(5), grid_dim=BLOCKS, block_dim=WIDTH
        )
        var event = ctx.create_event()
        ctx.stream().record_event(event)
        second.enqueue_wait_for(event)
        second.enqueue_function(
            kernel, input, output, Int32(5), grid_dim=BLOCKS, block_dim=WIDTH
        )
        second.synchronize()
        ctx.synchronize()
        with input.map_to_host() as host:
            print("streams", host[0], host[N - 1])
