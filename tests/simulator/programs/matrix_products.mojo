"""Matrix products of four warps by `wgmma`, with one step left out, which the
first argument names."""

from max.gpu import AddressSpace, barrier, thread_idx
from max.gpu.compute.mma import (
    WGMMADescriptor,
    wgmma_async,
    wgmma_commit_group_sync,
    wgmma_fence_aligned,
    wgmma_wait_group_sync,
)
from max.gpu.host import DeviceContext
from max.gpu.memory import fence_async_view_proxy
from std.memory import unsafe_stack_allocation
from std.sys import argv
from std.utils import StaticTuple

comptime Half = DType.bfloat16


def product[left_out: StaticString](output: Pointer[Float32, MutAnyOrigin]):
    """64 x 8 sums of 16 products of 1 and 2."""
    var a = unsafe_stack_allocation[
        1024, Scalar[Half], alignment=128, address_space=AddressSpace.SHARED
    ]()
    var b = unsafe_stack_allocation[
        128, Scalar[Half], alignment=128, address_space=AddressSpace.SHARED
    ]()
    var thread = Int(thread_idx.x)
    for i in range(8):
        a[unsafe_offset=thread * 8 + i] = 1
    b[unsafe_offset=thread] = 2
    comptime if left_out != "proxy_fence":
        fence_async_view_proxy()
    barrier()
    # In units of 16 bytes: from one group of eight rows to the next, and
    # between the two groups along the depth.
    var left = WGMMADescriptor.create[16, 8](a)
    var right = WGMMADescriptor.create[16, 8](b)
    var sums = StaticTuple[Float32, 4](0)
    comptime if left_out != "register_fence":
        wgmma_fence_aligned()
    sums = wgmma_async[64, 8, 16, a_type=Half, b_type=Half](left, right, sums)
    comptime if left_out != "wait":
        wgmma_commit_group_sync()
        wgmma_wait_group_sync()
    for i in range(4):
        output[unsafe_offset=thread * 4 + i] = sums[i]


def run[left_out: StaticString](ctx: DeviceContext) raises:
    var output = ctx.enqueue_create_buffer[DType.float32](512)
    output.enqueue_fill(0)
    ctx.enqueue_function[product[left_out]](output, grid_dim=1, block_dim=128)
    ctx.synchronize()
    with output.map_to_host() as sums:
        print(sums[0], sums[511])


def main() raises:
    var left_out = String(argv()[1])
    with DeviceContext() as ctx:
        if left_out == "nothing":
            run["nothing"](ctx)
        elif left_out == "proxy_fence":
            run["proxy_fence"](ctx)
        elif left_out == "register_fence":
            run["register_fence"](ctx)
        else:
            run["wait"](ctx)
