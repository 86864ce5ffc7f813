"""Two kernels, of which the second writes past the end of its buffer, as often as it is launched."""

from max.gpu import thread_idx
from max.gpu.host import DeviceContext
from std.sys.defines import get_defined_int

from sizes import SIZE


def first(p: Pointer[Float32, MutAnyOrigin]):
    p[unsafe_offset=thread_idx.x] = 1


def second(p: Pointer[Float32, MutAnyOrigin]):
    p[unsafe_offset=thread_idx.x + get_defined_int["BEYOND"]()] = p[
        unsafe_offset=thread_idx.x
    ]


def main() raises:
    with DeviceContext() as ctx:
        var b = ctx.enqueue_create_buffer[DType.float32](SIZE)
        ctx.enqueue_function[first](b, grid_dim=1, block_dim=SIZE)
        ctx.enqueue_function[second](b, grid_dim=1, block_dim=SIZE)
        ctx.enqueue_function[second](b, grid_dim=1, block_dim=SIZE)
        ctx.synchronize()
