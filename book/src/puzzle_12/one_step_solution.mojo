from max.gpu import AddressSpace, barrier, thread_idx
from max.gpu.host import DeviceContext
from std.memory import unsafe_stack_allocation

comptime TPB = 8
comptime dtype = DType.float32


def one_step(
    output: Pointer[Scalar[dtype], MutAnyOrigin],
    a: Pointer[Scalar[dtype], ImmutAnyOrigin],
    b: Pointer[Scalar[dtype], ImmutAnyOrigin],
):
    var shared = unsafe_stack_allocation[
        TPB, Scalar[dtype], address_space=AddressSpace.SHARED
    ]()
    var i = thread_idx.x
    shared[unsafe_offset=i] = a[unsafe_offset=i] * b[unsafe_offset=i]
    barrier()
    # ANCHOR: step
    if i < 4:
        shared[unsafe_offset=i] += shared[unsafe_offset=i + 4]
    # ANCHOR_END: step
    barrier()
    output[unsafe_offset=i] = shared[unsafe_offset=i]


def main() raises:
    with DeviceContext() as ctx:
        var out = ctx.enqueue_create_buffer[dtype](TPB)
        out.enqueue_fill(0)
        var a = ctx.enqueue_create_buffer[dtype](TPB)
        var b = ctx.enqueue_create_buffer[dtype](TPB)
        with a.map_to_host() as a_host, b.map_to_host() as b_host:
            for i in range(TPB):
                a_host[i] = Scalar[dtype](i)
                b_host[i] = Scalar[dtype](i)
        ctx.enqueue_function[one_step](out, a, b, grid_dim=1, block_dim=TPB)
        ctx.synchronize()
        with out.map_to_host() as out_host:
            print("out:", out_host)
