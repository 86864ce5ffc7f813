"""A naive matrix product, large enough to show what the simulator does with billions of lane instructions."""

from max.gpu import global_idx
from max.gpu.host import DeviceContext

comptime SIZE = 1024


def matmul(
    output: Pointer[Float32, MutAnyOrigin],
    a: Pointer[Float32, ImmutAnyOrigin],
    b: Pointer[Float32, ImmutAnyOrigin],
):
    var row = global_idx.y
    var col = global_idx.x
    var total = Float32(0)
    for k in range(SIZE):
        total += (
            a[unsafe_offset=row * SIZE + k] * b[unsafe_offset=k * SIZE + col]
        )
    output[unsafe_offset=row * SIZE + col] = total


def main() raises:
    with DeviceContext() as ctx:
        var output = ctx.enqueue_create_buffer[DType.float32](SIZE * SIZE)
        var a = ctx.enqueue_create_buffer[DType.float32](SIZE * SIZE)
        var b = ctx.enqueue_create_buffer[DType.float32](SIZE * SIZE)
        a.enqueue_fill(1)
        b.enqueue_fill(2)
        ctx.enqueue_function[matmul](
            output, a, b, grid_dim=(SIZE // 32, SIZE // 8), block_dim=(32, 8)
        )
        ctx.synchronize()
        with output.map_to_host() as host:
            print("first:", host[0], "last:", host[SIZE * SIZE - 1])
