"""What a Mojo program asks of a driver, one mode per topic; its output is compared by test_driver_mojo.py."""

from max.algorithm import parallelize
from max.benchmark import bencher_iter_custom
from max.gpu import (
    block_dim,
    block_idx,
    cluster_dim,
    global_idx,
    grid_dim,
    thread_idx,
)
from max.gpu.host import DeviceContext, Dim
from std.benchmark import Bench, Bencher, BenchId, keep
from std.sys import argv


def number(into: Pointer[Int32, MutAnyOrigin], width: Int32):
    """Every thread writes 1000 x its block's number + its own, at its index in a grid `width` wide.
    """
    var row = global_idx.y
    var column = global_idx.x
    if column < Int(width):
        var block = block_idx.y * grid_dim.x + block_idx.x
        var thread = thread_idx.y * block_dim.x + thread_idx.x
        into[unsafe_offset=row * Int(width) + column] = Int32(
            1000 * block + thread
        )


def cluster_widths(into: Pointer[Int32, MutAnyOrigin]):
    """Every block writes how many blocks its cluster has."""
    if thread_idx.x == 0:
        into[unsafe_offset=block_idx.x] = Int32(cluster_dim.x)


def shout(value: Int32):
    """The first thread of each block prints."""
    if thread_idx.x == 0:
        print("block", block_idx.x, "has", value)


def add(into: Pointer[Float32, MutAnyOrigin], amount: Float32, size: Int32):
    """Adds in place."""
    var i = global_idx.x
    if i < Int(size):
        into[unsafe_offset=i] += amount


def copies(ctx: DeviceContext) raises:
    """Host to device, device to device, device to host, fills and a part of a buffer.
    """
    var host = ctx.enqueue_create_host_buffer[DType.float32](6)
    ctx.synchronize()
    for i in range(6):
        host[i] = Float32(i)
    var first = ctx.enqueue_create_buffer[DType.float32](6)
    var second = ctx.enqueue_create_buffer[DType.float32](6)
    ctx.enqueue_copy(dst_buf=first, src_buf=host)
    ctx.enqueue_copy(dst_buf=second, src_buf=first)
    var part = second.create_sub_buffer[DType.float32](2, 2)
    part.enqueue_fill(Float32(9))
    print("parts:", second)
    var bytes = ctx.enqueue_create_buffer[DType.uint8](3)
    bytes.enqueue_fill(UInt8(7))
    var halves = ctx.enqueue_create_buffer[DType.int16](3)
    halves.enqueue_fill(Int16(-2))
    var longs = ctx.enqueue_create_buffer[DType.int64](3)
    longs.enqueue_fill(Int64(1) << 40)
    print("fills:", bytes, halves, longs)


def grids(ctx: DeviceContext) raises:
    """One and two dimensions."""
    var line = ctx.enqueue_create_buffer[DType.int32](6)
    ctx.enqueue_function[number](line, Int32(6), grid_dim=2, block_dim=3)
    print("line:", line)
    var plane = ctx.enqueue_create_buffer[DType.int32](8)
    ctx.enqueue_function[number](
        plane, Int32(4), grid_dim=(2, 1), block_dim=(2, 2)
    )
    print("plane:", plane)


def clusters(ctx: DeviceContext) raises:
    """A launch in clusters."""
    var out = ctx.enqueue_create_buffer[DType.int32](4)
    ctx.enqueue_function[cluster_widths](
        out, grid_dim=4, block_dim=32, cluster_dim=Dim(2)
    )
    print("clusters:", out)


def prints(ctx: DeviceContext) raises:
    """Kernel output appears at the synchronisation, between the lines of the host.
    """
    print("before")
    ctx.enqueue_function[shout](Int32(3), grid_dim=2, block_dim=32)
    ctx.synchronize()
    print("after")


def refused(ctx: DeviceContext) raises:
    """Rejected launches raise errors that a program can catch, and later launches work.
    """
    var out = ctx.enqueue_create_buffer[DType.int32](3000)
    try:
        ctx.enqueue_function[number](
            out, Int32(3000), grid_dim=1, block_dim=1025
        )
        ctx.synchronize()
        print("1025 threads were taken")
    except error:
        print("1025 threads:", "CUDA_ERROR_INVALID_VALUE" in String(error))
    try:
        ctx.enqueue_function[cluster_widths](
            out, grid_dim=3, block_dim=1, cluster_dim=Dim(2)
        )
        ctx.synchronize()
        print("an odd grid was taken")
    except error:
        print(
            "cluster of an odd grid:",
            "CUDA_ERROR_INVALID_CLUSTER_SIZE" in String(error),
        )
    try:
        var much = ctx.enqueue_create_buffer[DType.uint8](1 << 40)
        ctx.synchronize()
        print("a terabyte was given:", len(much))
    except error:
        print("a terabyte:", "CUDA_ERROR_OUT_OF_MEMORY" in String(error))
    var line = ctx.enqueue_create_buffer[DType.int32](2)
    ctx.enqueue_function[number](line, Int32(2), grid_dim=1, block_dim=2)
    print("then:", line)


def threads(ctx: DeviceContext) raises:
    """Several host threads use the device at once."""

    def work(index: Int) {imm}:
        try:
            var buffer = ctx.enqueue_create_buffer[DType.float32](64)
            buffer.enqueue_fill(Float32(index))
            for _ in range(20):
                ctx.enqueue_function[add](
                    buffer, Float32(1), Int32(64), grid_dim=2, block_dim=32
                )
            with buffer.map_to_host() as host:
                for i in range(64):
                    if host[i] != Float32(index + 20):
                        print("wrong", index, i, host[i])
        except error:
            print("failed", index, error)

    parallelize(work, 8)
    print("threads done")


def large(ctx: DeviceContext) raises:
    """A buffer of 4 GB that is hardly touched."""
    var buffer = ctx.enqueue_create_buffer[DType.float32](1 << 30)
    var part = buffer.create_sub_buffer[DType.float32](1 << 29, 4)
    part.enqueue_fill(Float32(2))
    print("large:", part)


def times(ctx: DeviceContext) raises:
    """A benchmark, and a time of its own: a simulation has neither."""
    var buffer = ctx.enqueue_create_buffer[DType.float32](64)
    buffer.enqueue_fill(Float32(0))
    var bench = Bench()

    def body(mut bencher: Bencher) raises {imm}:
        def launch(c: DeviceContext) raises {imm}:
            c.enqueue_function[add](
                buffer, Float32(1), Int32(64), grid_dim=2, block_dim=32
            )

        bencher_iter_custom(bencher, launch, ctx)
        keep(buffer)

    bench.bench_function(body, BenchId("add", "gpu"))

    def once(c: DeviceContext) raises {imm}:
        c.enqueue_function[add](
            buffer, Float32(1), Int32(64), grid_dim=2, block_dim=32
        )

    print("an hour:", ctx.execution_time(once, 3) == 3_600_000_000_000)


def out_of_bounds(ctx: DeviceContext) raises:
    """The kernel fails; the synchronisation raises the error."""
    var buffer = ctx.enqueue_create_buffer[DType.float32](4)
    ctx.enqueue_function[add](
        buffer, Float32(1), Int32(1 << 20), grid_dim=1 << 10, block_dim=256
    )
    print("launched")
    ctx.synchronize()
    print("synchronised")


def main() raises:
    var mode = String(argv()[1])
    with DeviceContext() as ctx:
        if mode == "copies":
            copies(ctx)
        elif mode == "grids":
            grids(ctx)
        elif mode == "clusters":
            clusters(ctx)
        elif mode == "prints":
            prints(ctx)
        elif mode == "refused":
            refused(ctx)
        elif mode == "threads":
            threads(ctx)
        elif mode == "large":
            large(ctx)
        elif mode == "times":
            times(ctx)
        elif mode == "out_of_bounds":
            out_of_bounds(ctx)
        else:
            raise Error("no such mode: ", mode)
