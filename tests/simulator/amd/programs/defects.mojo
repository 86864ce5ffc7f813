"""Kernels with a defect each; the first argument selects one."""

from std.atomic import Atomic, Ordering
from std.io.io import _printf
from std.sys import argv

from max.gpu import AddressSpace, barrier, block_dim, block_idx, thread_idx
from max.gpu.host import DeviceContext
from std.memory import unsafe_stack_allocation

comptime SIZE = 256
comptime Floats = Pointer[Scalar[DType.float32], MutAnyOrigin]


def race(output: Floats, a: Floats):
    var shared = unsafe_stack_allocation[
        SIZE, Scalar[DType.float32], address_space=AddressSpace.SHARED
    ]()
    var t = thread_idx.x
    shared[unsafe_offset=t] = a[unsafe_offset=t]
    # A barrier is missing here.
    output[unsafe_offset=t] = shared[unsafe_offset=SIZE - 1 - t]


def bounds(output: Floats, a: Floats):
    var i = block_dim.x * block_idx.x + thread_idx.x
    output[unsafe_offset=i + 1] = a[unsafe_offset=i]


def unwritten(output: Floats, a: Floats):
    var shared = unsafe_stack_allocation[
        SIZE, Scalar[DType.float32], address_space=AddressSpace.SHARED
    ]()
    var t = thread_idx.x
    if t < 100:
        shared[unsafe_offset=t] = a[unsafe_offset=t]
    barrier()
    output[unsafe_offset=t] = shared[unsafe_offset=t]


def divergent(output: Floats, a: Floats):
    var shared = unsafe_stack_allocation[
        SIZE, Scalar[DType.float32], address_space=AddressSpace.SHARED
    ]()
    var t = thread_idx.x
    shared[unsafe_offset=t] = a[unsafe_offset=t]
    if t < 100:
        barrier()
        output[unsafe_offset=t] = shared[unsafe_offset=99 - t]


def correct(output: Floats, a: Floats):
    var shared = unsafe_stack_allocation[
        SIZE, Scalar[DType.float32], address_space=AddressSpace.SHARED
    ]()
    var t = thread_idx.x
    shared[unsafe_offset=t] = a[unsafe_offset=t]
    barrier()
    output[unsafe_offset=t] = shared[unsafe_offset=SIZE - 1 - t]


def endless(output: Floats, a: Floats):
    var flag = output.unsafe_bitcast[Int32]()
    while Atomic.fetch_add[ordering=Ordering.RELAXED](flag, Int32(1)) != -1:
        pass


def printing(output: Floats, a: Floats):
    var i = block_dim.x * block_idx.x + thread_idx.x
    print("thread", i, "of 100 %:", a[unsafe_offset=i])
    _printf["again %5.2f %d\n"](a[unsafe_offset=i], Int(i))


def print_of_no_thread(output: Floats, a: Floats):
    var t = thread_idx.x
    if a[unsafe_offset=t] < 0:
        print("thread", t)
    output[unsafe_offset=t] = a[unsafe_offset=t]


def main() raises:
    var name = argv()[1]
    with DeviceContext() as ctx:
        var a = ctx.enqueue_create_buffer[DType.float32](SIZE)
        var output = ctx.enqueue_create_buffer[DType.float32](SIZE)
        output.enqueue_fill(0)
        with a.map_to_host() as host:
            for i in range(SIZE):
                host[i] = Float32(i)
        if name == "race":
            ctx.enqueue_function[race](output, a, grid_dim=1, block_dim=SIZE)
        elif name == "bounds":
            ctx.enqueue_function[bounds](output, a, grid_dim=1, block_dim=SIZE)
        elif name == "unwritten":
            ctx.enqueue_function[unwritten](
                output, a, grid_dim=1, block_dim=SIZE
            )
        elif name == "divergent":
            ctx.enqueue_function[divergent](
                output, a, grid_dim=1, block_dim=SIZE
            )
        elif name == "endless":
            ctx.enqueue_function[endless](output, a, grid_dim=1, block_dim=64)
        elif name == "print_of_no_thread":
            ctx.enqueue_function[print_of_no_thread](
                output, a, grid_dim=1, block_dim=SIZE
            )
        elif name == "printing":
            ctx.enqueue_function[printing](output, a, grid_dim=2, block_dim=100)
        else:
            ctx.enqueue_function[correct](output, a, grid_dim=1, block_dim=SIZE)
        ctx.synchronize()
