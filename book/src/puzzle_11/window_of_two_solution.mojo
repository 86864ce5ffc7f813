from max.gpu import AddressSpace, barrier, thread_idx
from max.gpu.host import DeviceContext
from std.memory import unsafe_stack_allocation

comptime TPB = 8
comptime dtype = DType.float32


def window_of_two(
    output: Pointer[Scalar[dtype], MutAnyOrigin],
    a: Pointer[Scalar[dtype], ImmutAnyOrigin],
):
    var shared = unsafe_stack_allocation[
        TPB, Scalar[dtype], address_space=AddressSpace.SHARED
    ]()
    var i = thread_idx.x
    shared[unsafe_offset=i] = a[unsafe_offset=i]
    barrier()
    var total = shared[unsafe_offset=i]
    # ANCHOR: neighbour
    if i > 0:
        total += shared[unsafe_offset=i - 1]
    # ANCHOR_END: neighbour
    output[unsafe_offset=i] = total


def main() raises:
    with DeviceContext() as ctx:
        var out = ctx.enqueue_create_buffer[dtype](TPB)
        out.enqueue_fill(0)
        var a = ctx.enqueue_create_buffer[dtype](TPB)
        with a.map_to_host() as a_host:
            for i in range(TPB):
                a_host[i] = Scalar[dtype](i)
        ctx.enqueue_function[window_of_two](out, a, grid_dim=1, block_dim=TPB)
        ctx.synchronize()
        with out.map_to_host() as out_host:
            print("out:", out_host)
