"""Three launches for measuring the simulator: a wide elementwise one, a tiled reduction, a divergent one.

The first argument names one of them; a second one says how many times as large it is to be.
"""

from max.gpu import barrier, block_dim, block_idx, global_idx, thread_idx
from max.gpu.host import DeviceContext
from max.gpu import AddressSpace
from std.memory import unsafe_stack_allocation
from std.sys import argv

comptime THREADS = 256
comptime WIDE = 1 << 22
comptime SMALL = 1 << 18


def elementwise(
    output: Pointer[Float32, MutAnyOrigin],
    a: Pointer[Float32, ImmutAnyOrigin],
    b: Pointer[Float32, ImmutAnyOrigin],
    size: Int32,
):
    var i = global_idx.x
    if i < Int(size):
        output[unsafe_offset=i] = a[unsafe_offset=i] * 2 + b[unsafe_offset=i]


def reduction(
    output: Pointer[Float32, MutAnyOrigin], a: Pointer[Float32, ImmutAnyOrigin]
):
    var shared = unsafe_stack_allocation[
        THREADS, Float32, alignment=16, address_space=AddressSpace.SHARED
    ]()
    var local = thread_idx.x
    shared[unsafe_offset=local] = a[unsafe_offset=global_idx.x]
    barrier()
    var stride = THREADS // 2
    while stride > 0:
        if local < stride:
            shared[unsafe_offset=local] = (
                shared[unsafe_offset=local]
                + shared[unsafe_offset=local + stride]
            )
        barrier()
        stride //= 2
    if local == 0:
        output[unsafe_offset=block_idx.x] = shared[unsafe_offset=0]


def divergent(output: Pointer[Int32, MutAnyOrigin]):
    # Collatz steps: every lane leaves the loop at its own time.
    var n = Int32(global_idx.x) % 1024 + 1
    var steps = Int32(0)
    while n != 1:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        steps += 1
    output[unsafe_offset=global_idx.x] = steps


def main() raises:
    var which = String(argv()[1])
    var times = Int(String(argv()[2])) if len(argv()) > 2 else 1
    var wide = WIDE * times
    var small = SMALL * times
    with DeviceContext() as ctx:
        if which == "elementwise":
            var output = ctx.enqueue_create_buffer[DType.float32](wide)
            var a = ctx.enqueue_create_buffer[DType.float32](wide)
            var b = ctx.enqueue_create_buffer[DType.float32](wide)
            a.enqueue_fill(1)
            b.enqueue_fill(2)
            for _ in range(3):
                ctx.enqueue_function[elementwise](
                    output,
                    a,
                    b,
                    Int32(wide),
                    grid_dim=wide // THREADS,
                    block_dim=THREADS,
                )
            ctx.synchronize()
        elif which == "reduction":
            var output = ctx.enqueue_create_buffer[DType.float32](
                small // THREADS
            )
            var a = ctx.enqueue_create_buffer[DType.float32](small)
            a.enqueue_fill(1)
            for _ in range(3):
                ctx.enqueue_function[reduction](
                    output, a, grid_dim=small // THREADS, block_dim=THREADS
                )
            ctx.synchronize()
        else:
            var output = ctx.enqueue_create_buffer[DType.int32](small)
            ctx.enqueue_function[divergent](
                output, grid_dim=small // THREADS, block_dim=THREADS
            )
            ctx.synchronize()
