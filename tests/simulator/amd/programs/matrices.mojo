"""Products of matrices by `TensorCore`, which knows what each lane of a wavefront holds.

Run with the accelerator's build only; prints a line for each row of the result: `SHAPE: elements`.
"""

from max.gpu.host import DeviceContext
from layout import TensorLayout, TileTensor, row_major
from layout.tensor_core import TensorCore
from std.utils import Index
from std.utils.index import IndexList


def product[
    dtype: DType,
    shape: IndexList[3],
    CLayout: TensorLayout,
    ALayout: TensorLayout,
    BLayout: TensorLayout,
](
    c: TileTensor[DType.float32, CLayout, MutAnyOrigin],
    a: TileTensor[dtype, ALayout, MutAnyOrigin],
    b: TileTensor[dtype, BLayout, MutAnyOrigin],
):
    """Adds the product of one M x K by K x N tile to `c`."""
    var op = TensorCore[DType.float32, dtype, shape]()
    var sums = op.load_c(c)
    op.store_d(c, op.mma_op(op.load_a(a), op.load_b(b), sums))


def run[dtype: DType, m: Int, n: Int, k: Int](ctx: DeviceContext) raises:
    var a = ctx.enqueue_create_buffer[dtype](m * k)
    var b = ctx.enqueue_create_buffer[dtype](k * n)
    var c = ctx.enqueue_create_buffer[DType.float32](m * n)
    with a.map_to_host() as host:
        for i in range(m * k):
            host[i] = Scalar[dtype](i * 7 % 13 - 6)
    with b.map_to_host() as host:
        for i in range(k * n):
            host[i] = Scalar[dtype](i * 5 % 11 - 5)
    with c.map_to_host() as host:
        for i in range(m * n):
            host[i] = Float32(i)
    comptime c_layout = row_major[m, n]()
    comptime a_layout = row_major[m, k]()
    comptime b_layout = row_major[k, n]()
    comptime kernel = product[
        dtype,
        Index(m, n, k),
        type_of(c_layout),
        type_of(a_layout),
        type_of(b_layout),
    ]
    ctx.enqueue_function[kernel](
        TileTensor(c, c_layout),
        TileTensor(a, a_layout),
        TileTensor(b, b_layout),
        grid_dim=1,
        block_dim=64,
    )
    ctx.synchronize()
    with c.map_to_host() as host:
        for row in range(m):
            print(t"{dtype} {m} {n} {k}:", end="")
            for column in range(n):
                print("", host[row * n + column], end="")
            print()


def main() raises:
    with DeviceContext() as ctx:
        run[DType.float32, 16, 16, 4](ctx)
        run[DType.float16, 16, 16, 16](ctx)
        run[DType.bfloat16, 16, 16, 16](ctx)
        run[DType.float16, 32, 32, 8](ctx)
        run[DType.bfloat16, 32, 32, 8](ctx)
