"""One kernel for each group of operations; prints the results, which do not depend on the vendor."""

from std.atomic import Atomic, Ordering
from std.math import ceil, exp, floor, fma, log, sin, sqrt

from max.gpu import AddressSpace, barrier, block_dim, block_idx, thread_idx
from max.gpu.host import DeviceBuffer, DeviceContext
from std.memory import unsafe_stack_allocation

comptime SIZE = 192
comptime BLOCK = 96
comptime Ints = Pointer[Scalar[DType.int64], MutAnyOrigin]
comptime Floats = Pointer[Scalar[DType.float32], MutAnyOrigin]


def division(output: Ints, a: Ints, b: Ints):
    var i = block_dim.x * block_idx.x + thread_idx.x
    var x = a[unsafe_offset=i]
    var y = b[unsafe_offset=i]
    var total = x // y + (x % y) * 1000003
    total += Int64(Int32(x) // Int32(y)) * 7
    total += Int64(UInt64(x) // UInt64(y | 1)) * 3
    total += Int64(UInt32(x) % UInt32(y | 1))
    output[unsafe_offset=i] = total


def wide(output: Ints, a: Ints, b: Ints):
    var i = block_dim.x * block_idx.x + thread_idx.x
    var x = a[unsafe_offset=i]
    var y = b[unsafe_offset=i]
    var u = UInt64(x)
    var by = UInt64(y) & 63
    var total = x * y - (x >> Int64(by)) + Int64(u >> by) + Int64(u << by)
    total ^= Int64(Int16(x)) * Int64(Int8(y))
    total += min(x, y) - max(x, y) + abs(x)
    output[unsafe_offset=i] = total


def conversions(output: Ints, a: Ints, b: Ints):
    var i = block_dim.x * block_idx.x + thread_idx.x
    var x = Float32(a[unsafe_offset=i] >> 34) / Float32(1024)
    var y = Float64(b[unsafe_offset=i]) / Float64(3)
    var total = Int64(Int32(x)) + Int64(y / Float64(1 << 20))
    total += Int64(Int32(Float16(x / 4096) * 64))
    total += Int64(floor(x)) + Int64(ceil(x)) * 3
    output[unsafe_offset=i] = total


def collatz(output: Ints, a: Ints, b: Ints):
    """Loops of different lengths, with a branch in each turn."""
    var i = block_dim.x * block_idx.x + thread_idx.x
    var n = UInt32(a[unsafe_offset=i] & 0xFFFF) + 1
    var steps = Int64(0)
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
        if steps > 500:
            break
    output[unsafe_offset=i] = steps


def reversed_by_block(output: Ints, a: Ints, b: Ints):
    """Shared memory and barriers: reverses the part of a block, adds neighbours.
    """
    var shared = unsafe_stack_allocation[
        BLOCK, Scalar[DType.int64], address_space=AddressSpace.SHARED
    ]()
    var t = thread_idx.x
    var i = block_dim.x * block_idx.x + t
    shared[unsafe_offset=BLOCK - 1 - t] = a[unsafe_offset=i]
    barrier()
    var total = shared[unsafe_offset=t]
    if t > 0:
        total += shared[unsafe_offset=t - 1]
    barrier()
    shared[unsafe_offset=t] = total
    barrier()
    output[unsafe_offset=i] = shared[unsafe_offset=(t * 5) % BLOCK]


def counting(output: Ints, a: Ints, b: Ints):
    """Atomic operations on a few elements, whose order does not matter."""
    var i = block_dim.x * block_idx.x + thread_idx.x
    var x = Int32(a[unsafe_offset=i] & 1023)
    var bins = output.unsafe_bitcast[Int32]()
    _ = Atomic.fetch_add[ordering=Ordering.RELAXED](
        bins.unsafe_offset(Int(x) % 16), x
    )
    Atomic.max[ordering=Ordering.RELAXED](bins.unsafe_offset(16), x)
    Atomic.min[ordering=Ordering.RELAXED](bins.unsafe_offset(17), x)


def mathematics(output: Floats, a: Floats):
    var i = block_dim.x * block_idx.x + thread_idx.x
    var x = a[unsafe_offset=i]
    output[unsafe_offset=i] = fma(x, Float32(3), sqrt(abs(x))) + x / (
        abs(x) + Float32(0.5)
    )


def functions(output: Floats, a: Floats):
    """Approximate functions: equal on both vendors to about six digits."""
    var i = block_dim.x * block_idx.x + thread_idx.x
    var x = a[unsafe_offset=i]
    output[unsafe_offset=i] = exp(x / 8) + log(abs(x) + 1) + sin(x)


def mixed(number: Int) -> Int64:
    """A pseudo-random number (SplitMix64)."""
    var z = UInt64(number + 1) * 0x9E3779B97F4A7C15
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB
    return Int64(z ^ (z >> 31))


def main() raises:
    with DeviceContext() as ctx:
        var a = ctx.enqueue_create_buffer[DType.int64](SIZE)
        var b = ctx.enqueue_create_buffer[DType.int64](SIZE)
        var output = ctx.enqueue_create_buffer[DType.int64](SIZE)
        var x = ctx.enqueue_create_buffer[DType.float32](SIZE)
        var y = ctx.enqueue_create_buffer[DType.float32](SIZE)
        with a.map_to_host() as host:
            for i in range(SIZE):
                host[i] = mixed(i)
        with b.map_to_host() as host:
            for i in range(SIZE):
                host[i] = (mixed(i + 1000) >> Int64(i % 50)) | 1
        with x.map_to_host() as host:
            for i in range(SIZE):
                host[i] = Float32(mixed(i) >> 40) / Float32(1 << 19)
        comptime GRID = SIZE // BLOCK
        output.enqueue_fill(0)
        ctx.enqueue_function[division](
            output, a, b, grid_dim=GRID, block_dim=BLOCK
        )
        show("division", output)
        ctx.enqueue_function[wide](output, a, b, grid_dim=GRID, block_dim=BLOCK)
        show("wide", output)
        ctx.enqueue_function[conversions](
            output, a, b, grid_dim=GRID, block_dim=BLOCK
        )
        show("conversions", output)
        ctx.enqueue_function[collatz](
            output, a, b, grid_dim=GRID, block_dim=BLOCK
        )
        show("collatz", output)
        ctx.enqueue_function[reversed_by_block](
            output, a, b, grid_dim=GRID, block_dim=BLOCK
        )
        show("shared", output)
        output.enqueue_fill(0)
        ctx.enqueue_function[counting](
            output, a, b, grid_dim=GRID, block_dim=BLOCK
        )
        show("atomic", output)
        ctx.enqueue_function[mathematics](y, x, grid_dim=GRID, block_dim=BLOCK)
        with y.map_to_host() as host:
            for i in range(SIZE):
                print("mathematics", i, host[i])
        ctx.enqueue_function[functions](y, x, grid_dim=GRID, block_dim=BLOCK)
        with y.map_to_host() as host:
            for i in range(SIZE):
                print("functions", i, host[i])


def show(name: String, output: DeviceBuffer[DType.int64]) raises:
    with output.map_to_host() as host:
        for i in range(SIZE):
            print(name, i, host[i])
