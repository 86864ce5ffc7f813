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
from std.bit import pop_count
from std.math import ceildiv
from std.memory import unsafe_stack_allocation
from std.testing import assert_almost_equal, assert_equal

from lab import choose_mode, stage, submit
from lab.benchmark import Benchmark
from lab.machine import on_simulated_gpu

# ANCHOR: sizes
comptime ROWS = 1001
comptime HUGE = 1000  # nonzeros of row 77
comptime COLS = 1024

comptime TPB = 128
comptime WARPS = TPB // WARP_SIZE  # of a block
comptime LANES = Int32(WARP_SIZE)

# In the last mode, a lane has ITEMS items of a tile, and a warp TILES tiles.
comptime ITEMS = 7
comptime TILE = LANES * ITEMS
comptime TILES = 2

comptime Output = Pointer[Float32, MutAnyOrigin]
comptime Numbers = Pointer[Float32, ImmutAnyOrigin]
comptime Indices = Pointer[Int32, ImmutAnyOrigin]
comptime Products = Pointer[
    Float32, MutUntrackedOrigin, address_space=AddressSpace.SHARED
]
comptime Mask = DType.uint64 if WARP_SIZE == 64 else DType.uint32
# ANCHOR_END: sizes


# ANCHOR: thread_per_row_solution
# output = matrix * x. Row r of the matrix has the nonzeros starts[r] to before
# starts[r + 1]. Nonzero k is in column columns[k] and has the value values[k].
def thread_per_row(
    output: Output,
    starts: Indices,
    columns: Indices,
    values: Numbers,
    x: Numbers,
    rows: Int32,
):
    var row = Int(block_idx.x * block_dim.x + thread_idx.x)
    # FILL: about 8 lines
    if row < Int(rows):
        var sum = Float32(0)
        var end = Int(starts[unsafe_offset=row + 1])
        for k in range(Int(starts[unsafe_offset=row]), end):
            var column = Int(columns[unsafe_offset=k])
            sum += values[unsafe_offset=k] * x[unsafe_offset=column]
        # A row without nonzeros has the sum 0.
        output[unsafe_offset=row] = sum
    # END_FILL


# ANCHOR_END: thread_per_row_solution


# ANCHOR: warp_per_row_solution
# The same. The lanes of a warp share a row.
def warp_per_row(
    output: Output,
    starts: Indices,
    columns: Indices,
    values: Numbers,
    x: Numbers,
    rows: Int32,
):
    var row = Int(block_idx.x) * WARPS + Int(warp_id())
    var lane = Int(lane_id())
    # FILL: about 10 lines
    # The same for all lanes, so that all of them add up.
    if row < Int(rows):
        var sum = Float32(0)
        var end = Int(starts[unsafe_offset=row + 1])
        for k in range(Int(starts[unsafe_offset=row]) + lane, end, WARP_SIZE):
            var column = Int(columns[unsafe_offset=k])
            sum += values[unsafe_offset=k] * x[unsafe_offset=column]
        sum = warp.sum(sum)
        if lane == 0:
            output[unsafe_offset=row] = sum
    # END_FILL


# ANCHOR_END: warp_per_row_solution


# ANCHOR: ends_before_solution
# The number of rows that end before `item`, if it is between `first` and
# `last`. The end of row r is item starts[r + 1] + r: before it are all
# nonzeros up to the row's last one, and the ends of r rows.
def ends_before(
    starts: Indices, item: Int32, first: Int32, last: Int32
) -> Int32:
    var low = first
    var high = last
    # FILL: about 6 lines
    while low < high:
        var row = (low + high) // 2
        if starts[unsafe_offset=Int(row) + 1] + row < item:
            low = row + 1
        else:
            high = row
    # END_FILL
    return low


# ANCHOR_END: ends_before_solution


# ANCHOR: by_warp
# The same between 0 and `rows`, by all lanes together: they compare as many
# rows at a time as there are lanes.
def ends_before_by_warp(starts: Indices, item: Int32, rows: Int32) -> Int32:
    var low = Int32(0)
    var left = rows
    while left > 0:
        var distance = (left + LANES - 1) // LANES
        var row = low + (Int32(lane_id()) + 1) * distance - 1
        var before = False
        if row < low + left:
            before = starts[unsafe_offset=Int(row) + 1] + row < item
        var passed = Int32(pop_count(warp.vote[Mask](before))) * distance
        left = min(distance - 1, left - passed)
        low += passed
    return low


# The sum of `own` over this lane and the lanes before it that have the same
# row. Rows do not decrease from lane to lane. All lanes have to call it.
def sum_of_row(row: Int32, own: Float32) -> Float32:
    var sum = own
    comptime for step in range(6 if WARP_SIZE == 64 else 5):
        comptime distance = 1 << step
        var other_row = warp.shuffle_up(row, UInt32(distance))
        var other_sum = warp.shuffle_up(sum, UInt32(distance))
        if Int(lane_id()) >= distance and other_row == row:
            sum += other_sum
    return sum


# ANCHOR_END: by_warp


# ANCHOR: add_tile_solution
# Adds the products of a tile to output. This lane has the items from `item`
# to before `past`; before those of lane 0, `first_row` rows end. Returns how
# many rows end before the next tile.
@always_inline
def add_tile(
    output: Output,
    starts: Indices,
    columns: Indices,
    values: Numbers,
    x: Numbers,
    rows: Int32,
    products: Products,
    item: Int32,
    past: Int32,
    first_row: Int32,
) -> Int32:
    var lane = Int32(lane_id())
    # FILL: about 56 lines
    # STUB: _ = lane
    # STUB: return first_row
    # So many rows end before the items of this lane, and so many nonzeros
    # are before them. The same for the end of its items.
    var own_row = ends_before(
        starts, item, first_row, min(first_row + TILE, rows)
    )
    var past_row = ends_before(starts, past, own_row, min(own_row + ITEMS, rows))
    var own_k = item - own_row

    # The nonzeros of the warp: neighbouring lanes read neighbouring ones, and
    # all loads come before the first product.
    var first_k = warp.broadcast(own_k)
    var past_k = warp.shuffle_idx(past - past_row, UInt32(WARP_SIZE - 1))
    var column = Array[Int32, ITEMS](fill=0)
    var value = Array[Float32, ITEMS](fill=0)
    comptime for i in range(ITEMS):
        var k = first_k + lane + Int32(i * WARP_SIZE)
        k = max(min(k, past_k - 1), 0)
        column[i] = columns[unsafe_offset=Int(k)]
        value[i] = values[unsafe_offset=Int(k)]
    comptime for i in range(ITEMS):
        products[unsafe_offset=Int(lane) + i * WARP_SIZE] = (
            value[i] * x[unsafe_offset=Int(column[i])]
        )
    syncwarp()

    # One item after the other: a nonzero, or the end of a row.
    var row = own_row
    var k = own_k
    var own_sum = Float32(0)  # of own_row, if it ends here
    var sum = Float32(0)
    var end = starts[unsafe_offset=Int(min(row, rows - 1)) + 1]
    comptime for i in range(ITEMS):
        if item + Int32(i) < past:
            if k < end:
                sum += products[unsafe_offset=Int(k - first_k)]
                k += 1
            else:
                if row == own_row:
                    own_sum = sum
                else:
                    output[unsafe_offset=Int(row)] = sum
                sum = 0
                row += 1
                end = starts[unsafe_offset=Int(min(row, rows - 1)) + 1]

    # What this lane and those before it have of the row that has not ended.
    sum = sum_of_row(row, sum)
    var before = warp.shuffle_up(sum, UInt32(1))
    if row > own_row:
        if lane > 0:
            own_sum += before
        # The first row of a tile may have begun in an earlier one...
        if own_row == first_row:
            _ = Atomic.fetch_add[ordering=Ordering.RELAXED](
                output.unsafe_offset(Int(own_row)), own_sum
            )
        else:
            output[unsafe_offset=Int(own_row)] = own_sum
    # ... and its last one may end in a later one.
    if lane == LANES - 1 and row < rows:
        _ = Atomic.fetch_add[ordering=Ordering.RELAXED](
            output.unsafe_offset(Int(row)), sum
        )
    # The next tile must not overwrite a product that a lane still reads.
    syncwarp()
    return warp.shuffle_idx(past_row, UInt32(WARP_SIZE - 1))
    # END_FILL


# ANCHOR_END: add_tile_solution


# ANCHOR: equal_work
# The same, if output contains zeros before. Each warp has TILES tiles.
def equal_work(
    output: Output,
    starts: Indices,
    columns: Indices,
    values: Numbers,
    x: Numbers,
    rows: Int32,
    nonzeros: Int32,
):
    var products = unsafe_stack_allocation[
        WARPS * WARP_SIZE * ITEMS, Float32, address_space=AddressSpace.SHARED
    ]().unsafe_offset(Int(warp_id()) * WARP_SIZE * ITEMS)
    var items = rows + nonzeros
    var warp_of_grid = Int32(block_idx.x) * Int32(WARPS) + Int32(warp_id())
    var first_item = warp_of_grid * TILES * TILE
    var first_row = ends_before_by_warp(starts, min(first_item, items), rows)
    for _ in range(TILES):
        if first_item >= items:
            break
        var item = min(first_item + Int32(lane_id()) * ITEMS, items)
        first_row = add_tile(
            output,
            starts,
            columns,
            values,
            x,
            rows,
            products,
            item,
            min(item + ITEMS, items),
            first_row,
        )
        first_item += TILE


# ANCHOR_END: equal_work

# After the output, elements that no thread may write.
comptime UNTOUCHED = Float32(-777.25)
comptime GUARD = 1024


def length_of(row: Int, rows: Int, huge: Int) -> Int:
    """The number of nonzeros of a row."""
    if row == 77:
        return huge
    if row % 3 == 0 or rows * 3 // 10 <= row < rows - 1:
        return 0
    return 1 + row % 7


struct Product(Movable):
    """A matrix in CSR, a vector, and their product."""

    var rows: Int
    var nonzeros: Int
    var starts: DeviceBuffer[DType.int32]
    var columns: DeviceBuffer[DType.int32]
    var values: DeviceBuffer[DType.float32]
    var x: DeviceBuffer[DType.float32]
    var out_buffer: DeviceBuffer[DType.float32]
    var guard: DeviceBuffer[DType.float32]

    def __init__(
        out self, rows: Int, cols: Int, huge: Int, ctx: DeviceContext
    ) raises:
        """Small integers, so that all sums are exact."""
        self.rows = rows
        self.nonzeros = 0
        self.starts = ctx.enqueue_create_buffer[DType.int32](rows + 1)
        with self.starts.map_to_host() as starts:
            for row in range(rows):
                starts[row] = Int32(self.nonzeros)
                self.nonzeros += length_of(row, rows, huge)
            starts[rows] = Int32(self.nonzeros)
        self.columns = ctx.enqueue_create_buffer[DType.int32](self.nonzeros)
        self.values = ctx.enqueue_create_buffer[DType.float32](self.nonzeros)
        self.x = ctx.enqueue_create_buffer[DType.float32](cols)
        with self.columns.map_to_host() as columns:
            with self.values.map_to_host() as values:
                var k = 0
                for row in range(rows):
                    for j in range(length_of(row, rows, huge)):
                        columns[k] = Int32((row * 7 + j * 5) % cols)
                        values[k] = Float32(1 + k % 5)
                        k += 1
        with self.x.map_to_host() as x:
            for column in range(cols):
                x[column] = Float32(1 + column % 9)
        var memory = ctx.enqueue_create_buffer[DType.float32](rows + GUARD)
        memory.enqueue_fill(UNTOUCHED)
        self.out_buffer = memory.create_sub_buffer[DType.float32](0, rows)
        self.guard = memory.create_sub_buffer[DType.float32](rows, GUARD)

    def run(self, mode: String, ctx: DeviceContext) raises:
        if mode == "--thread-per-row":
            ctx.enqueue_function[thread_per_row](
                self.out_buffer,
                self.starts,
                self.columns,
                self.values,
                self.x,
                Int32(self.rows),
                grid_dim=ceildiv(self.rows, TPB),
                block_dim=TPB,
            )
        elif mode == "--warp-per-row":
            ctx.enqueue_function[warp_per_row](
                self.out_buffer,
                self.starts,
                self.columns,
                self.values,
                self.x,
                Int32(self.rows),
                grid_dim=ceildiv(self.rows, WARPS),
                block_dim=TPB,
            )
        else:
            # The kernel adds to rows that several warps have.
            self.out_buffer.enqueue_fill(0)
            ctx.enqueue_function[equal_work](
                self.out_buffer,
                self.starts,
                self.columns,
                self.values,
                self.x,
                Int32(self.rows),
                Int32(self.nonzeros),
                grid_dim=ceildiv(
                    self.rows + self.nonzeros, TILES * TPB * ITEMS
                ),
                block_dim=TPB,
            )

    def compare(self) raises:
        """Compares the results with sums in double precision."""
        with self.starts.map_to_host() as starts, self.x.map_to_host() as x:
            with self.columns.map_to_host() as columns:
                with self.values.map_to_host() as values:
                    with self.out_buffer.map_to_host() as results:
                        for row in range(self.rows):
                            var expected = Float64(0)
                            for k in range(Int(starts[row]), Int(starts[row + 1])):
                                expected += Float64(values[k]) * Float64(
                                    x[Int(columns[k])]
                                )
                            assert_almost_equal(
                                Float64(results[row]),
                                expected,
                                String(t"row {row}"),
                                atol=1e-3,
                                rtol=1e-5,
                            )


def benchmark(ctx: DeviceContext, rows: Int, huge: Int) raises:
    var product = Product(rows, rows, huge, ctx)
    var bytes = 8 * product.nonzeros + 8 * product.rows + 4 * rows
    var table = Benchmark(ctx)
    for mode in ["--thread-per-row", "--warp-per-row", "--equal-work"]:

        def run(repetition: Int, ctx: DeviceContext) raises {imm}:
            product.run(mode, ctx)

        table.measure(String(mode), product.nonzeros, bytes, run)
        product.compare()


def main() raises:
    var mode = choose_mode(
        "p40",
        ["--thread-per-row", "--warp-per-row", "--equal-work", "--benchmark"],
    )
    with DeviceContext() as ctx:
        if mode == "--benchmark":
            if on_simulated_gpu():
                benchmark(ctx, ROWS, HUGE)
            else:
                benchmark(ctx, 1024 * 1024, 64 * 1024)
            return
        var product = Product(ROWS, COLS, HUGE, ctx)
        stage("starts", product.starts)
        stage("columns", product.columns)
        stage("values", product.values)
        stage("x", product.x)
        stage("out", product.out_buffer)
        product.run(mode, ctx)
        ctx.synchronize()

        submit("out", product.out_buffer)
        submit("guard", product.guard)
        print("rows:", product.rows, "nonzeros:", product.nonzeros)
        with product.out_buffer.map_to_host() as results:
            print("out:", results)
        product.compare()
        with product.guard.map_to_host() as behind:
            for i in range(GUARD):
                assert_equal(behind[i], UNTOUCHED, "written behind the output")
        print("Puzzle 40 complete ✅")
