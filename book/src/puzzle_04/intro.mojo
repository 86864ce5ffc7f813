from max.gpu.host import DeviceContext
from layout import TileTensor, row_major

# ANCHOR: kernel
comptime HEIGHT = 2
comptime WIDTH = 3
comptime dtype = DType.float32
comptime layout = row_major[HEIGHT, WIDTH]()


def show(tensor: TileTensor[dtype, type_of(layout), MutAnyOrigin]):
    for row in range(HEIGHT):
        print(tensor[row, 0], tensor[row, 1], tensor[row, 2])


def kernel(tensor: TileTensor[dtype, type_of(layout), MutAnyOrigin]):
    # A GPU prints what its threads print: one thread here, so each line once.
    print("Before:")
    show(tensor)
    # Two indices, a row and a column. The layout turns them into an offset in
    # memory.
    tensor[0, 0] += 1
    print("After:")
    show(tensor)


# ANCHOR_END: kernel


def main() raises:
    with DeviceContext() as ctx:
        var memory = ctx.enqueue_create_buffer[dtype](HEIGHT * WIDTH)
        memory.enqueue_fill(0)
        # ANCHOR: launch
        ctx.enqueue_function[kernel](
            TileTensor(memory, layout), grid_dim=1, block_dim=1
        )
        ctx.synchronize()
        # ANCHOR_END: launch
