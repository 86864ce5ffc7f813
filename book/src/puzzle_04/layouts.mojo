from max.gpu.host import DeviceContext
from layout import TileTensor, col_major, row_major

comptime HEIGHT = 2
comptime WIDTH = 3
comptime dtype = DType.float32


def main() raises:
    with DeviceContext() as ctx:
        var memory = ctx.enqueue_create_buffer[dtype](HEIGHT * WIDTH)
        with memory.map_to_host() as cells:
            # ANCHOR: views
            # Each element is set to its own offset in memory.
            for place in range(HEIGHT * WIDTH):
                cells[place] = Scalar[dtype](place)
            print("memory:", cells)

            var by_rows = TileTensor(cells, row_major[HEIGHT, WIDTH]())
            var by_columns = TileTensor(cells, col_major[HEIGHT, WIDTH]())
            print("by rows:", by_rows)
            print("by columns:", by_columns)
            print("by rows, element [0, 3]:", by_rows[0, 3])
            # ANCHOR_END: views
