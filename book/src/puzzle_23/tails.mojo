from max.algorithm import elementwise
from max.gpu import block_dim, block_idx, thread_idx
from max.gpu.host import DeviceContext
from layout import TileTensor, row_major
from std.algorithm import vectorize
from std.utils.coord import Coord

comptime SIZE = 10
comptime layout = row_major[SIZE]()


def main() raises:
    with DeviceContext() as ctx:
        var widths = ctx.enqueue_create_buffer[DType.int32](SIZE)
        widths.enqueue_fill(0)
        var threads = ctx.enqueue_create_buffer[DType.int32](SIZE)
        threads.enqueue_fill(0)
        var width_of = TileTensor(widths, layout)
        var thread_of = TileTensor(threads, layout)

        # ANCHOR: tails
        @always_inline
        def across[width: Int, alignment: Int = 1](index: Coord) {var} -> None:
            var i = Int(index[0].value())
            for k in range(i, i + width):
                width_of[k] = Int32(width)
                thread_of[k] = Int32(block_idx.x * block_dim.x + thread_idx.x)

        elementwise[4, target="gpu"](across, Coord(SIZE), ctx)
        print("elementwise, width: ", widths)
        print("elementwise, thread:", threads)

        @always_inline
        def alone[width: Int, alignment: Int = 1](index: Coord) {var} -> None:
            def step[width: Int](i: Int) {imm}:
                for k in range(i, i + width):
                    width_of[k] = Int32(width)

            vectorize[4](SIZE, step)

        elementwise[1, target="gpu"](alone, Coord(1), ctx)
        print("vectorize, width:   ", widths)
        # ANCHOR_END: tails
