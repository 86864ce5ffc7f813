from max.gpu import thread_idx
from max.gpu.host import DeviceContext
from layout import Coord, Idx, TileTensor, row_major
from layout.tile_layout import Layout

comptime SIZE = 2
comptime dtype = DType.float32
comptime out_layout = row_major[SIZE, SIZE]()
# ANCHOR: layouts
comptime shape = Coord(Idx[SIZE], Idx[SIZE])
comptime a_layout = Layout(shape, Coord(Idx[0], Idx[1]))
comptime b_layout = Layout(shape, Coord(Idx[1], Idx[0]))
# ANCHOR_END: layouts


def broadcast_add(
    output: TileTensor[dtype, type_of(out_layout), MutAnyOrigin],
    a: TileTensor[dtype, type_of(a_layout), ImmutAnyOrigin],
    b: TileTensor[dtype, type_of(b_layout), ImmutAnyOrigin],
):
    var row = thread_idx.y
    var col = thread_idx.x
    # ANCHOR: sum
    if row < SIZE and col < SIZE:
        output[row, col] = a[row, col] + b[row, col]
    # ANCHOR_END: sum


def main() raises:
    with DeviceContext() as ctx:
        var out = ctx.enqueue_create_buffer[dtype](SIZE * SIZE)
        out.enqueue_fill(0)
        var a = ctx.enqueue_create_buffer[dtype](SIZE)
        var b = ctx.enqueue_create_buffer[dtype](SIZE)
        with a.map_to_host() as a_host, b.map_to_host() as b_host:
            for i in range(SIZE):
                a_host[i] = Scalar[dtype](i + 1)
                b_host[i] = Scalar[dtype](10 * i)
            print("a:", a_host)
            print("b:", b_host)

        ctx.enqueue_function[broadcast_add](
            TileTensor(out, out_layout),
            TileTensor[mut=False](a, a_layout),
            TileTensor[mut=False](b, b_layout),
            grid_dim=1,
            block_dim=(3, 3),
        )
        ctx.synchronize()
        with out.map_to_host() as out_host:
            print("out:", out_host)
