from max.gpu import block_dim, block_idx, thread_idx
from max.gpu.host import DeviceContext

comptime SIZE = 8


def triple(numbers: Pointer[Float32, MutAnyOrigin]):
    var i = block_idx.x * block_dim.x + thread_idx.x
    if thread_idx.x == 1:
        print("block", block_idx.x, "i", i, "reads", numbers[unsafe_offset=i])
    numbers[unsafe_offset=i] *= 3


def main() raises:
    with DeviceContext() as ctx:
        var numbers = ctx.enqueue_create_buffer[DType.float32](SIZE)
        with numbers.map_to_host() as host:
            for i in range(SIZE):
                host[i] = Float32(i)
        ctx.enqueue_function[triple](numbers, grid_dim=2, block_dim=4)
        ctx.synchronize()
