"""Sparse matrices times a vector, for five kinds of matrices: a thread per row, a warp per row, equal work.

`equal_work` is puzzle 40's kernel with the items of a lane and the warps of a block as parameters. An item is a
nonzero or the end of a row. Controls take single parts away: `streams` reads the nonzeros alone, `gathers` adds up
all products without rows, and with `rows given` an earlier launch has found the first row of each warp.
`cusparse.cu` has the same matrices.

    mojo build -I problems benchmarks/kernels/sparse_product.mojo -o sparse_product
"""

from max.gpu import (
    WARP_SIZE,
    AddressSpace,
    block_dim,
    block_idx,
    lane_id,
    syncwarp,
    thread_idx,
    warp_id,
)
from max.gpu.host import DeviceBuffer, DeviceContext
from max.gpu.primitives import warp
from std.atomic import Atomic, Ordering
from std.bit import count_leading_zeros, pop_count
from std.math import ceildiv
from std.memory import unsafe_stack_allocation
from std.testing import assert_equal

from lab.benchmark import Benchmark

comptime Output = Pointer[Float32, MutAnyOrigin]
comptime Numbers = Pointer[Float32, ImmutAnyOrigin]
comptime Indices = Pointer[Int32, ImmutAnyOrigin]
comptime Rows = Pointer[Int32, MutAnyOrigin]

comptime BANDED = 0
comptime UNIFORM = 1
comptime POWER_LAW = 2
comptime EMPTY_ROWS = 3
comptime HUGE_ROWS = 4
comptime KINDS = 5

# How a warp gets its products: several loads at a time, one after the other, or each lane its own without shared memory.
comptime BATCHED = 0
comptime LOOP = 1
comptime DIRECT = 2
comptime RELOAD = 3  # like LOOP; the end of the row is read again for each item

# How it finds its first row: each lane by itself, all lanes together, or it is given by an earlier launch.
comptime BY_LANE = 0
comptime BY_WARP = 1
comptime GIVEN = 2


def thread_per_row(
    out_vector: Output,
    starts: Indices,
    columns: Indices,
    values: Numbers,
    x: Numbers,
    rows: Int32,
):
    var row = Int(block_idx.x * block_dim.x + thread_idx.x)
    if row < Int(rows):
        var sum = Float32(0)
        for k in range(
            Int(starts[unsafe_offset=row]), Int(starts[unsafe_offset=row + 1])
        ):
            sum += (
                values[unsafe_offset=k]
                * x[unsafe_offset=Int(columns[unsafe_offset=k])]
            )
        out_vector[unsafe_offset=row] = sum


def warp_per_row(
    out_vector: Output,
    starts: Indices,
    columns: Indices,
    values: Numbers,
    x: Numbers,
    rows: Int32,
):
    var row = Int(block_idx.x * block_dim.x + thread_idx.x) // WARP_SIZE
    if row < Int(rows):
        var sum = Float32(0)
        for k in range(
            Int(starts[unsafe_offset=row]) + Int(lane_id()),
            Int(starts[unsafe_offset=row + 1]),
            WARP_SIZE,
        ):
            sum += (
                values[unsafe_offset=k]
                * x[unsafe_offset=Int(columns[unsafe_offset=k])]
            )
        sum = warp.sum(sum)
        if lane_id() == 0:
            out_vector[unsafe_offset=row] = sum


def ends_before[
    index: DType
](
    starts: Indices,
    item: Scalar[index],
    first: Scalar[index],
    last: Scalar[index],
) -> Scalar[index]:
    """The number of rows that end before `item`, if it is between `first` and `last`.
    """
    var low = first
    var high = last
    while low < high:
        var middle = (low + high) // 2
        if starts[unsafe_offset=Int(middle) + 1].cast[index]() + middle < item:
            low = middle + 1
        else:
            high = middle
    return low


def ends_before_by_warp(starts: Indices, item: Int32, rows: Int32) -> Int32:
    """The same for all lanes, which compare as many rows at a time as there are lanes."""
    comptime Mask = DType.uint64 if WARP_SIZE == 64 else DType.uint32
    var low = Int32(0)
    var left = rows
    while left > 0:
        var distance = (left + Int32(WARP_SIZE) - 1) // Int32(WARP_SIZE)
        var row = low + (Int32(lane_id()) + 1) * distance - 1
        var before = False
        if row < low + left:
            before = starts[unsafe_offset=Int(row) + 1] + row < item
        var passed = Int32(pop_count(warp.vote[Mask](before))) * distance
        left = min(distance - 1, left - passed)
        low += passed
    return low


def find_rows[
    tile: Int
](found: Rows, starts: Indices, rows: Int32, nonzeros: Int32):
    """The row of the first item of each warp, and of the end of the last one.
    """
    var i = Int32(block_idx.x * block_dim.x + thread_idx.x)
    var items = rows + nonzeros
    if i <= (items + Int32(tile) - 1) // Int32(tile):
        found[unsafe_offset=Int(i)] = ends_before[DType.int32](
            starts, min(i * Int32(tile), items), 0, rows
        )


def equal_work[
    index: DType, items: Int, warps: Int, tiles: Int, way: Int, search: Int
](
    out_vector: Output,
    starts: Indices,
    columns: Indices,
    values: Numbers,
    x: Numbers,
    rows: Int32,
    nonzeros: Int32,
    found: Indices,
):
    """`items` items for each lane, `tiles` times; rows that several warps have are added up atomically."""
    comptime TILE = WARP_SIZE * items
    comptime I = Scalar[index]
    var all_products = unsafe_stack_allocation[
        warps * TILE, Float32, address_space=AddressSpace.SHARED
    ]()
    var products = all_products.unsafe_offset(Int(warp_id()) * TILE)
    var lane = I(lane_id())
    var number = I(block_idx.x) * I(warps) + I(warp_id())
    var end_row = rows.cast[index]()
    var end = end_row + nonzeros.cast[index]()
    var first_item = number * I(TILE * tiles)
    var low = I(0)
    var high = end_row
    comptime if search == GIVEN:
        if first_item < end:
            low = found[unsafe_offset=Int(number)].cast[index]()
            high = min(low + I(TILE), end_row)
    comptime if search == BY_WARP:
        if first_item < end:
            low = ends_before_by_warp(
                starts, first_item.cast[DType.int32](), rows
            ).cast[index]()
            high = min(low + I(TILE), end_row)
    for _ in range(tiles):
        if first_item >= end:
            break
        # This lane's items, and the rows that end before its first and before the item past its last.
        var item = min(first_item + lane * I(items), end)
        var past = min(item + I(items), end)
        var row = ends_before[index](starts, item, low, high)
        var past_row = ends_before[index](
            starts, past, row, min(row + I(items), end_row)
        )
        var k = item - row
        var first_k = warp.broadcast(k)
        var past_k = warp.shuffle_idx(past - past_row, UInt32(WARP_SIZE - 1))

        comptime if way == BATCHED:
            var own_columns = Array[Int32, items](fill=0)
            var own_values = Array[Float32, items](fill=0)
            comptime for i in range(items):
                var at = max(
                    min(first_k + lane + I(i * WARP_SIZE), past_k - 1), 0
                )
                own_columns[i] = columns[unsafe_offset=Int(at)]
                own_values[i] = values[unsafe_offset=Int(at)]
            comptime for i in range(items):
                products[unsafe_offset=Int(lane) + i * WARP_SIZE] = (
                    own_values[i] * x[unsafe_offset=Int(own_columns[i])]
                )
        comptime if way == LOOP or way == RELOAD:
            for at in range(first_k + lane, past_k, I(WARP_SIZE)):
                products[unsafe_offset=Int(at - first_k)] = (
                    values[unsafe_offset=Int(at)]
                    * x[unsafe_offset=Int(columns[unsafe_offset=Int(at)])]
                )
        syncwarp()

        # Item by item: add a product, or end a row.
        var first_row = row
        var row_of_warp = warp.broadcast(row)
        var first_sum = Float32(0)
        var sum = Float32(0)
        var row_end = I(0)
        comptime if way != RELOAD:
            row_end = starts[unsafe_offset=Int(min(row, end_row - 1)) + 1].cast[
                index
            ]()
        comptime for i in range(items):
            if item + I(i) < past:
                comptime if way == RELOAD:
                    row_end = starts[unsafe_offset=Int(row) + 1].cast[index]()
                if k < row_end:
                    comptime if way == DIRECT:
                        var column = Int(columns[unsafe_offset=Int(k)])
                        sum += (
                            values[unsafe_offset=Int(k)]
                            * x[unsafe_offset=column]
                        )
                    else:
                        sum += products[unsafe_offset=Int(k - first_k)]
                    k += 1
                else:
                    if row == first_row:
                        first_sum = sum
                    else:
                        out_vector[unsafe_offset=Int(row)] = sum
                    sum = 0
                    row += 1
                    comptime if way != RELOAD:
                        row_end = starts[
                            unsafe_offset=Int(min(row, end_row - 1)) + 1
                        ].cast[index]()

        # What the lanes up to this one have of its last row, which is not complete.
        comptime for step in range(6 if WARP_SIZE == 64 else 5):
            var other_row = warp.shuffle_up(row, UInt32(1 << step))
            var other_sum = warp.shuffle_up(sum, UInt32(1 << step))
            if lane >= I(1 << step) and other_row == row:
                sum += other_sum
        var before = warp.shuffle_up(sum, UInt32(1))
        if lane > 0:
            first_sum += before
        if row > first_row:
            # Other warps add to the first row of this one, and to its last.
            if first_row == row_of_warp:
                _ = Atomic.fetch_add[ordering=Ordering.RELAXED](
                    out_vector.unsafe_offset(Int(first_row)), first_sum
                )
            else:
                out_vector[unsafe_offset=Int(first_row)] = first_sum
        if lane == I(WARP_SIZE - 1) and row < end_row:
            _ = Atomic.fetch_add[ordering=Ordering.RELAXED](
                out_vector.unsafe_offset(Int(row)), sum
            )

        # The next tile begins where this one ends.
        low = warp.shuffle_idx(past_row, UInt32(WARP_SIZE - 1))
        high = min(low + I(TILE), end_row)
        first_item += I(TILE)
        syncwarp()


def streams[rounds: Int](
    out_vector: Output, columns: Indices, values: Numbers, nonzeros: Int32
):
    """Control: reads the nonzeros, `rounds` of each array by a thread."""
    var first = Int(block_idx.x) * Int(block_dim.x) * rounds + Int(thread_idx.x)
    var sum = Float32(0)
    comptime for i in range(rounds):
        var at = min(first + i * Int(block_dim.x), Int(nonzeros) - 1)
        sum += values[unsafe_offset=at] * Float32(columns[unsafe_offset=at])
    if sum == -1:
        out_vector[unsafe_offset=0] = sum


def gathers[rounds: Int](
    out_vector: Output,
    columns: Indices,
    values: Numbers,
    x: Numbers,
    nonzeros: Int32,
):
    """Control: multiplies the nonzeros by elements of x, without rows."""
    var first = Int(block_idx.x) * Int(block_dim.x) * rounds + Int(thread_idx.x)
    var sum = Float32(0)
    comptime for i in range(rounds):
        var at = min(first + i * Int(block_dim.x), Int(nonzeros) - 1)
        sum += (
            values[unsafe_offset=at]
            * x[unsafe_offset=Int(columns[unsafe_offset=at])]
        )
    if sum == -1:
        out_vector[unsafe_offset=0] = sum


def mixed(number: Int) -> UInt32:
    """A hash: the same numbers as in cusparse.cu."""
    var x = UInt32(number)
    x ^= x >> 16
    x *= 0x7FEB352D
    x ^= x >> 15
    x *= 0x846CA68B
    x ^= x >> 16
    return x


def length_of(kind: Int, row: Int, rows: Int, cols: Int) -> Int:
    if kind == BANDED:
        return 16
    if kind == UNIFORM:
        return 8 + Int(mixed(row) % 16)
    if kind == POWER_LAW:
        var least = 1 << Int(min(count_leading_zeros(mixed(row)), 14))
        return min(least + Int(mixed(row + 0x10000000)) % least, cols)
    if kind == EMPTY_ROWS:
        var full = mixed(row) % 8 == 0
        return 16 + Int(mixed(row + 0x10000000) % 16) if full else 0
    return cols if row % (rows // 8) == rows // 16 else 8


def column_of(kind: Int, row: Int, j: Int, length: Int, cols: Int) -> Int:
    if kind == BANDED:
        return min(max(row - 8, 0), cols - length) + j
    var random = Int(mixed(row * 31 + j))
    if kind == POWER_LAW:
        # Below 2^32: the square is below 2^64.
        var place = UInt64(((j << 32) + random) // length)
        return Int((((place * place) >> 32) * UInt64(cols)) >> 32)
    return (j * cols + random % cols) // length


def name_of(kind: Int) -> String:
    if kind == BANDED:
        return "banded"
    if kind == UNIFORM:
        return "uniform"
    if kind == POWER_LAW:
        return "power law"
    if kind == EMPTY_ROWS:
        return "empty rows"
    return "huge rows"


struct Matrix(Movable):
    var name: String
    var rows: Int
    var cols: Int
    var nonzeros: Int
    var starts: DeviceBuffer[DType.int32]
    var columns: DeviceBuffer[DType.int32]
    var values: DeviceBuffer[DType.float32]
    var x: DeviceBuffer[DType.float32]
    var out_vector: DeviceBuffer[DType.float32]
    var found: DeviceBuffer[DType.int32]
    var expected: List[Float32]

    def __init__(out self, kind: Int, size: Int, ctx: DeviceContext) raises:
        self.name = name_of(kind)
        self.rows = 4 * size if kind == EMPTY_ROWS else size
        self.cols = size
        self.starts = ctx.enqueue_create_buffer[DType.int32](self.rows + 1)
        self.x = ctx.enqueue_create_buffer[DType.float32](self.cols)
        self.out_vector = ctx.enqueue_create_buffer[DType.float32](self.rows)
        self.nonzeros = 0
        with self.starts.map_to_host() as starts:
            for row in range(self.rows):
                starts[row] = Int32(self.nonzeros)
                self.nonzeros += length_of(kind, row, self.rows, self.cols)
            starts[self.rows] = Int32(self.nonzeros)
        self.columns = ctx.enqueue_create_buffer[DType.int32](self.nonzeros)
        self.values = ctx.enqueue_create_buffer[DType.float32](self.nonzeros)
        self.found = ctx.enqueue_create_buffer[DType.int32](
            (self.rows + self.nonzeros) // WARP_SIZE + 2
        )
        self.expected = List[Float32](capacity=self.rows)
        with self.x.map_to_host() as x:
            for c in range(self.cols):
                x[c] = Float32(c % 5)  # all sums are exact
        with self.columns.map_to_host() as columns, self.values.map_to_host() as values:
            var k = 0
            for row in range(self.rows):
                var length = length_of(kind, row, self.rows, self.cols)
                var sum = 0
                for j in range(length):
                    var column = column_of(kind, row, j, length, self.cols)
                    columns[k] = Int32(column)
                    values[k] = Float32(1 + k % 3)
                    sum += (1 + k % 3) * (column % 5)
                    k += 1
                self.expected.append(Float32(sum))
        self.out_vector.enqueue_fill(-1)

    def bytes(self) -> Int:
        """The least that has to be read and written."""
        return 8 * self.nonzeros + 8 * self.rows + 4 + 4 * self.cols

    def check_and_clear(self) raises:
        with self.out_vector.map_to_host() as host:
            for row in range(self.rows):
                if host[row] != self.expected[row]:
                    assert_equal(
                        host[row],
                        self.expected[row],
                        String(t"{self.name}, row {row}"),
                    )
        self.out_vector.enqueue_fill(-1)


def measure_equal[
    items: Int,
    warps: Int,
    tiles: Int = 1,
    way: Int = BATCHED,
    search: Int = BY_LANE,
    index: DType = DType.int32,
    find: Bool = False,
    zero: Bool = True,
](
    mut table: Benchmark, name: String, matrix: Matrix, ctx: DeviceContext
) raises:
    comptime TILE = WARP_SIZE * items * tiles
    var parts = ceildiv(matrix.rows + matrix.nonzeros, TILE)

    def find_first(ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[find_rows[TILE]](
            matrix.found,
            matrix.starts,
            Int32(matrix.rows),
            Int32(matrix.nonzeros),
            grid_dim=ceildiv(parts + 1, 256),
            block_dim=256,
        )

    def run(repetition: Int, ctx: DeviceContext) raises {imm}:
        comptime if zero:
            matrix.out_vector.enqueue_fill(0)
        comptime if find:
            find_first(ctx)
        ctx.enqueue_function[
            equal_work[index, items, warps, tiles, way, search]
        ](
            matrix.out_vector,
            matrix.starts,
            matrix.columns,
            matrix.values,
            matrix.x,
            Int32(matrix.rows),
            Int32(matrix.nonzeros),
            matrix.found,
            grid_dim=ceildiv(parts, warps),
            block_dim=warps * WARP_SIZE,
        )

    find_first(ctx)
    table.measure(
        name + ", " + matrix.name, matrix.nonzeros, matrix.bytes(), run
    )
    comptime if zero:
        matrix.check_and_clear()


def measure(
    mut table: Benchmark, kind: Int, size: Int, ctx: DeviceContext
) raises:
    var matrix = Matrix(kind, size, ctx)

    def by_thread(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[thread_per_row](
            matrix.out_vector,
            matrix.starts,
            matrix.columns,
            matrix.values,
            matrix.x,
            Int32(matrix.rows),
            grid_dim=ceildiv(matrix.rows, 128),
            block_dim=128,
        )

    def by_warp(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[warp_per_row](
            matrix.out_vector,
            matrix.starts,
            matrix.columns,
            matrix.values,
            matrix.x,
            Int32(matrix.rows),
            grid_dim=ceildiv(matrix.rows * WARP_SIZE, 128),
            block_dim=128,
        )

    def nonzeros_alone(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[streams[8]](
            matrix.out_vector,
            matrix.columns,
            matrix.values,
            Int32(matrix.nonzeros),
            grid_dim=ceildiv(matrix.nonzeros, 8 * 128),
            block_dim=128,
        )

    def products_alone(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[gathers[8]](
            matrix.out_vector,
            matrix.columns,
            matrix.values,
            matrix.x,
            Int32(matrix.nonzeros),
            grid_dim=ceildiv(matrix.nonzeros, 8 * 128),
            block_dim=128,
        )

    def zeros_alone(repetition: Int, ctx: DeviceContext) raises {imm}:
        matrix.out_vector.enqueue_fill(0)

    var end = ", " + matrix.name
    var count = matrix.nonzeros
    var bytes = matrix.bytes()
    table.measure("thread per row" + end, count, bytes, by_thread)
    matrix.check_and_clear()
    table.measure("warp per row" + end, count, bytes, by_warp)
    matrix.check_and_clear()
    comptime long = DType.int64
    measure_equal[7, 4, index=long](table, "64 bits", matrix, ctx)
    measure_equal[7, 4](table, "1 tile", matrix, ctx)
    measure_equal[7, 4, 1, RELOAD](table, "1 tile, reload", matrix, ctx)
    measure_equal[7, 4, 1, DIRECT](table, "1 tile, direct", matrix, ctx)
    measure_equal[7, 4, 1, BATCHED, BY_WARP](table, "1, vote", matrix, ctx)
    measure_equal[7, 4, 1, BATCHED, GIVEN](table, "1, given", matrix, ctx)
    measure_equal[7, 4, 2](table, "2 tiles", matrix, ctx)
    measure_equal[7, 4, 2, LOOP](table, "2, loop", matrix, ctx)
    measure_equal[7, 4, 2, RELOAD](table, "2, reload", matrix, ctx)
    measure_equal[7, 4, 2, BATCHED, BY_WARP](table, "2, vote", matrix, ctx)
    measure_equal[7, 4, 4](table, "4 tiles", matrix, ctx)
    measure_equal[7, 4, 4, LOOP](table, "4, loop", matrix, ctx)
    measure_equal[7, 4, 4, RELOAD](table, "4, reload", matrix, ctx)
    measure_equal[7, 4, 4, BATCHED, BY_WARP](table, "4, vote", matrix, ctx)
    measure_equal[7, 4, 4, BATCHED, GIVEN](table, "4, given", matrix, ctx)
    measure_equal[7, 2, 4](table, "4, 2 warps", matrix, ctx)
    measure_equal[5, 4, 4](table, "4, 5 items", matrix, ctx)
    measure_equal[9, 4, 4](table, "4, 9 items", matrix, ctx)
    measure_equal[11, 4, 4](table, "4, 11 items", matrix, ctx)
    measure_equal[15, 4, 4](table, "4, 15 items", matrix, ctx)
    measure_equal[7, 4, 8](table, "8 tiles", matrix, ctx)
    measure_equal[9, 4, 8](table, "8, 9 items", matrix, ctx)
    measure_equal[7, 4, 16](table, "16 tiles", matrix, ctx)
    measure_equal[7, 4, 4, BATCHED, GIVEN, find=True](
        table, "4, found", matrix, ctx
    )
    measure_equal[7, 4, 4, zero=False](table, "not zeroed", matrix, ctx)
    table.measure("zeros" + end, count, bytes, zeros_alone)
    table.measure("streams" + end, count, bytes, nonzeros_alone)
    table.measure("gathers" + end, count, bytes, products_alone)


def main() raises:
    with DeviceContext() as ctx:
        var table = Benchmark(ctx)
        for kind in range(KINDS):
            measure(table, kind, 1024 * 1024 if table.timed else 512, ctx)
