"""The order of the host and the GPU, one mode per topic; with a second argument, each waits as it should."""

from max.gpu import global_idx
from max.gpu.host import DeviceContext, DeviceGraph, DeviceGraphBuilder
from std.sys import argv

comptime SIZE = 1024


def add_ten(
    into: Pointer[Float32, MutAnyOrigin], a: Pointer[Float32, MutAnyOrigin]
):
    """Adds 10."""
    var i = global_idx.x
    if i < SIZE:
        into[unsafe_offset=i] = a[unsafe_offset=i] + 10


def add_halves(into: Pointer[Float32, MutAnyOrigin], first: Int32):
    """Adds 10 to every second element, from `first` on."""
    var i = 2 * global_idx.x + Int(first)
    if i < SIZE:
        into[unsafe_offset=i] += 10


def store(into: Pointer[Float32, MutAnyOrigin]):
    """Writes 1."""
    var i = global_idx.x
    if i < SIZE:
        into[unsafe_offset=i] = 1


def read_early(ctx: DeviceContext, waits: Bool) raises:
    """The host reads the destination of a copy."""
    var host = ctx.enqueue_create_host_buffer[DType.float32](SIZE)
    var dev = ctx.enqueue_create_buffer[DType.float32](SIZE)
    dev.enqueue_fill(1)
    ctx.enqueue_function[add_ten](dev, dev, grid_dim=4, block_dim=256)
    ctx.enqueue_copy(dst_buf=host, src_buf=dev)
    if waits:
        ctx.synchronize()
    print(host[3])
    ctx.synchronize()


def change_early(ctx: DeviceContext, waits: Bool) raises:
    """The host changes the source of a copy."""
    var host = ctx.enqueue_create_host_buffer[DType.float32](SIZE)
    var dev = ctx.enqueue_create_buffer[DType.float32](SIZE)
    ctx.synchronize()
    for i in range(SIZE):
        host[i] = Float32(i)
    ctx.enqueue_copy(dst_buf=dev, src_buf=host)
    if waits:
        ctx.synchronize()
    host[3] = 4
    ctx.enqueue_copy(dst_buf=dev, src_buf=host)
    ctx.synchronize()


def streams(ctx: DeviceContext, waits: Bool) raises:
    """A second stream reads what the first one writes."""
    var a = ctx.enqueue_create_buffer[DType.float32](SIZE)
    var b = ctx.enqueue_create_buffer[DType.float32](SIZE)
    a.enqueue_fill(1)
    b.enqueue_fill(1)
    var second = ctx.create_stream()
    ctx.synchronize()
    var kernel = ctx.compile_function[add_ten]()
    ctx.enqueue_function(kernel, a, a, grid_dim=4, block_dim=256)
    if waits:
        var event = ctx.create_event()
        ctx.stream().record_event(event)
        second.enqueue_wait_for(event)
    second.enqueue_function(kernel, b, a, grid_dim=4, block_dim=256)
    second.synchronize()
    ctx.synchronize()


def halves(ctx: DeviceContext) raises:
    """Two streams write disjoint elements of one buffer: right without an event.
    """
    var a = ctx.enqueue_create_buffer[DType.float32](SIZE)
    a.enqueue_fill(1)
    var second = ctx.create_stream()
    ctx.synchronize()
    var kernel = ctx.compile_function[add_halves]()
    ctx.enqueue_function(kernel, a, Int32(0), grid_dim=4, block_dim=128)
    second.enqueue_function(kernel, a, Int32(1), grid_dim=4, block_dim=128)
    second.synchronize()
    ctx.synchronize()


def chain(ctx: DeviceContext) raises:
    """Copies of one stream to and from one host buffer, in its order."""
    var host = ctx.enqueue_create_host_buffer[DType.float32](SIZE)
    var other = ctx.enqueue_create_host_buffer[DType.float32](SIZE)
    var a = ctx.enqueue_create_buffer[DType.float32](SIZE)
    var b = ctx.enqueue_create_buffer[DType.float32](SIZE)
    a.enqueue_fill(7)
    ctx.enqueue_copy(dst_buf=host, src_buf=a)
    ctx.enqueue_copy(dst_buf=b, src_buf=host)
    other[0] = 1
    ctx.enqueue_copy(dst_buf=host, src_buf=b)
    with b.map_to_host() as mapped:
        print(mapped[3], other[0])
    host[3] = 8
    print(host[3])


def beyond(ctx: DeviceContext) raises:
    """The second of two launches reaches past the end of its buffer, and the first writes a quarter of its own.
    """
    var a = ctx.enqueue_create_buffer[DType.float32](SIZE)
    var b = ctx.enqueue_create_buffer[DType.float32](SIZE - 1)
    ctx.enqueue_function[store](a, grid_dim=1, block_dim=256)
    ctx.enqueue_function[store](b, grid_dim=4, block_dim=256)
    ctx.synchronize()


def touch_device(ctx: DeviceContext, maps: Bool, writes: Bool) raises:
    """The host accesses device memory through a pointer."""
    var a = ctx.enqueue_create_buffer[DType.float32](SIZE)
    ctx.enqueue_function[store](a, grid_dim=4, block_dim=256)
    ctx.synchronize()
    if maps:
        with a.map_to_host() as mapped:
            print(mapped[3])
        return
    var pointer = a.unsafe_ptr()
    print("before")
    if writes:
        pointer[unsafe_offset=3] = 9
    print(pointer[unsafe_offset=3])


def pinned(ctx: DeviceContext, waits: Bool, changes: Bool) raises:
    """The host uses memory that a kernel accesses directly."""
    var host = ctx.enqueue_create_host_buffer[DType.float32](SIZE)
    var dev = ctx.enqueue_create_buffer[DType.float32](SIZE)
    ctx.synchronize()
    for i in range(SIZE):
        host[i] = 5
    if changes:
        ctx.enqueue_function[add_ten](
            dev, host.unsafe_ptr(), grid_dim=4, block_dim=256
        )
    else:
        ctx.enqueue_function[add_ten](
            host.unsafe_ptr(), host.unsafe_ptr(), grid_dim=4, block_dim=256
        )
    if waits:
        ctx.synchronize()
    if changes:
        host[3] = 6
    print(host[3])
    ctx.synchronize()
    print(host[3])


def nodes(ctx: DeviceContext, waits: Bool) raises:
    """A node of a graph copies back what another one computes."""
    var host = ctx.enqueue_create_host_buffer[DType.float32](SIZE)
    var dev = ctx.enqueue_create_buffer[DType.float32](SIZE)
    var kernel = ctx.compile_function[store]()
    ctx.synchronize()

    def build(mut builder: DeviceGraphBuilder) raises {imm}:
        var filled = builder.add_memset(dev, Float32(3))
        var stored = builder.add_function(
            kernel, dev, grid_dim=4, block_dim=256, dependencies=[filled]
        )
        var other = filled
        if waits:
            other = stored
        _ = builder.add_copy(host, dev, dependencies=[other])

    var graph = DeviceGraph.create(ctx, build)
    graph.replay()
    graph.replay()
    ctx.synchronize()
    print(host[3])


def main() raises:
    var waits = len(argv()) > 2
    with DeviceContext() as ctx:
        var mode = String(argv()[1])
        if mode == "read":
            read_early(ctx, waits)
        elif mode == "change":
            change_early(ctx, waits)
        elif mode == "streams":
            streams(ctx, waits)
        elif mode == "halves":
            halves(ctx)
        elif mode == "beyond":
            beyond(ctx)
        elif mode == "chain":
            chain(ctx)
        elif mode == "device read" or mode == "device write":
            touch_device(ctx, waits, mode == "device write")
        elif mode == "nodes":
            nodes(ctx, waits)
        elif mode == "pinned read" or mode == "pinned change":
            pinned(ctx, waits, mode == "pinned change")
