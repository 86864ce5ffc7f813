from max.gpu import thread_idx
from max.gpu.host import DeviceContext
from layout import TileTensor, row_major

# ANCHOR: kernel
comptime SIZE = 4
comptime dtype = DType.float32
comptime layout = row_major[SIZE]()


def add_10(
    output: TileTensor[dtype, type_of(layout), MutAnyOrigin],
    a: TileTensor[dtype, type_of(layout), ImmutAnyOrigin],
):
    var i = thread_idx.x
    output[i] = a[i] + 10


# ANCHOR_END: kernel


def main() raises:
    with DeviceContext() as ctx:
        var out = ctx.enqueue_create_buffer[dtype](SIZE)
        out.enqueue_fill(0)
        var a = ctx.enqueue_create_buffer[dtype](SIZE)
        a.enqueue_fill(0)
        with a.map_to_host() as a_host:
            for i in range(SIZE):
                a_host[i] = Scalar[dtype](i)

        # ANCHOR: launch
        ctx.enqueue_function[add_10](
            TileTensor(out, layout),
            TileTensor[mut=False](a, layout),
            grid_dim=1,
            block_dim=SIZE,
        )
        ctx.synchronize()

        # ANCHOR_END: launch

        var line = TileTensor(out, layout)
        var square = TileTensor(out, row_major[SIZE // 2, SIZE // 2]())
        print("one row of", line.dim[0]())
        print("or a square,", square.dim[0](), "x", square.dim[1]())
        with out.map_to_host() as out_host:
            print("out:", out_host)
