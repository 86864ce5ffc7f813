"""Three ways to transpose a matrix: the same result, very different traffic."""

from max.gpu import AddressSpace, barrier, block_idx, thread_idx
from max.gpu.host import DeviceContext
from layout import TileTensor, row_major, stack_allocation
from std.testing import assert_equal

comptime SIZE = 64
comptime TILE = 32
comptime dtype = DType.float32
comptime layout = row_major[SIZE, SIZE]()
comptime Matrix = TileTensor[dtype, type_of(layout), MutAnyOrigin]


def naive(output: Matrix, a: Matrix):
    """Reads along rows, writes along columns: every lane of a write hits another sector.
    """
    var row = block_idx.y * TILE + thread_idx.y
    var column = block_idx.x * TILE + thread_idx.x
    output[column, row] = a[row, column]


def tiled(output: Matrix, a: Matrix):
    """Both ways along rows, through a tile whose columns each lie in a single bank.
    """
    var tile = stack_allocation[dtype, address_space=AddressSpace.SHARED](
        row_major[TILE, TILE]()
    )
    var x = thread_idx.x
    var y = thread_idx.y
    tile[y, x] = a[block_idx.y * TILE + y, block_idx.x * TILE + x]
    barrier()
    output[block_idx.x * TILE + y, block_idx.y * TILE + x] = tile[x, y]


def padded(output: Matrix, a: Matrix):
    """The same with one column more in the tile, so that a column lies in all banks.
    """
    var tile = stack_allocation[dtype, address_space=AddressSpace.SHARED](
        row_major[TILE, TILE + 1]()
    )
    var x = thread_idx.x
    var y = thread_idx.y
    tile[y, x] = a[block_idx.y * TILE + y, block_idx.x * TILE + x]
    barrier()
    output[block_idx.x * TILE + y, block_idx.y * TILE + x] = tile[x, y]


def main() raises:
    with DeviceContext() as ctx:
        var a = ctx.enqueue_create_buffer[dtype](SIZE * SIZE)
        with a.map_to_host() as host:
            for i in range(SIZE * SIZE):
                host[i] = Scalar[dtype](i)
        var source = TileTensor(a, layout)
        comptime for number in range(3):
            var out = ctx.enqueue_create_buffer[dtype](SIZE * SIZE)
            var destination = TileTensor(out, layout)
            comptime blocks = (SIZE // TILE, SIZE // TILE)
            comptime threads = (TILE, TILE)
            comptime if number == 0:
                ctx.enqueue_function[naive](
                    destination, source, grid_dim=blocks, block_dim=threads
                )
            elif number == 1:
                ctx.enqueue_function[tiled](
                    destination, source, grid_dim=blocks, block_dim=threads
                )
            else:
                ctx.enqueue_function[padded](
                    destination, source, grid_dim=blocks, block_dim=threads
                )
            ctx.synchronize()
            with out.map_to_host() as result, a.map_to_host() as given:
                for row in range(SIZE):
                    for column in range(SIZE):
                        assert_equal(
                            result[column * SIZE + row],
                            given[row * SIZE + column],
                        )
    print("transposed 3 times")
