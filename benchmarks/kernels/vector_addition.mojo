"""Puzzle 23's addition on a real GPU: by size, by width, by the elements of a thread, and measured badly.

The functions themselves, imported from `solutions/p23`. Most rows follow the protocol of
`problems/lab/benchmark.mojo`. Those named `warm` omit its overwriting of the caches. Those below `mistakes`
show what other measurements of the same addition would print, in microseconds: minimum, median and maximum.

    mojo build -I problems -I solutions/p23 benchmarks/kernels/vector_addition.mojo -o vector_addition
"""

from max.algorithm import elementwise
from max.gpu.host import DeviceBuffer, DeviceContext
from layout import TensorLayout, TileTensor, row_major
from std.math import sqrt
from std.testing import assert_equal
from std.time import perf_counter_ns
from std.utils.coord import Coord

from lab.benchmark import Benchmark
import p23_tile_tensor as p23

comptime dtype = DType.float32
comptime MI = 1024 * 1024
comptime WORK = 64 * MI  # elements where the width and the tile vary
comptime LARGEST = 256 * MI
comptime RUNS = 200


def fill(buffer: DeviceBuffer[dtype], first: Int) raises:
    with buffer.map_to_host() as host:
        for i in range(len(host)):
            host[i] = Scalar[dtype](i % 4093 + first)  # sums are exact


struct Data(Movable):
    """Two vectors and their sum, with room for the largest size."""

    var a: DeviceBuffer[dtype]
    var b: DeviceBuffer[dtype]
    var out: DeviceBuffer[dtype]

    def __init__(out self, size: Int, ctx: DeviceContext) raises:
        self.a = ctx.enqueue_create_buffer[dtype](size)
        self.b = ctx.enqueue_create_buffer[dtype](size)
        self.out = ctx.enqueue_create_buffer[dtype](size)
        fill(self.a, 0)
        fill(self.b, 5)
        self.out.enqueue_fill(-1)

    def check_and_clear(self, size: Int) raises:
        var used = self.out.create_sub_buffer[dtype](0, size)
        with used.map_to_host() as host:
            for i in range(size):
                assert_equal(host[i], Scalar[dtype](2 * (i % 4093) + 5))
        self.out.enqueue_fill(-1)


def dropped[
    LayoutType: TensorLayout, //, simd_width: Int, size: Int
](
    a: TileTensor[dtype, LayoutType, ImmutAnyOrigin],
    b: TileTensor[dtype, LayoutType, ImmutAnyOrigin],
    ctx: DeviceContext,
) raises:
    """The addition without its store."""

    @always_inline
    def add[width: Int, alignment: Int = 1](indices: Coord) {var} -> None:
        var i = Int(indices[0].value())
        _ = a.load[width](Coord(i)) + b.load[width](Coord(i))

    elementwise[simd_width, target="gpu"](add, Coord(size), ctx)


def add[
    size: Int, width: Int = p23.SIMD_WIDTH
](data: Data, ctx: DeviceContext) raises:
    comptime layout = row_major[size]()
    var out = data.out
    p23.elementwise_add[width, size](
        TileTensor(out, layout),
        TileTensor[mut=False](data.a, layout),
        TileTensor[mut=False](data.b, layout),
        ctx,
    )


def print_range(name: String, size: Int, times: List[Float64]):
    """Prints a row of `mistakes`; times are in nanoseconds."""
    var ordered = times.copy()
    sort(ordered)
    print(
        name,
        size,
        len(ordered),
        ordered[0] / 1000,
        ordered[len(ordered) // 2] / 1000,
        ordered[len(ordered) - 1] / 1000,
        sep=" | ",
    )


def measure_mistakes[size: Int](data: Data, ctx: DeviceContext) raises:
    comptime layout = row_major[size]()

    def launch(ctx: DeviceContext) raises {imm}:
        add[size](data, ctx)

    def drop(ctx: DeviceContext) raises {imm}:
        dropped[p23.SIMD_WIDTH, size](
            TileTensor[mut=False](data.a, layout),
            TileTensor[mut=False](data.b, layout),
            ctx,
        )

    ctx.synchronize()
    var begin = perf_counter_ns()
    launch(ctx)
    ctx.synchronize()
    print_range(
        "host clock, first launch", size, [Float64(perf_counter_ns() - begin)]
    )
    var times = List[Float64]()
    for _ in range(RUNS):
        begin = perf_counter_ns()
        launch(ctx)
        times.append(Float64(perf_counter_ns() - begin))
        ctx.synchronize()
    print_range("host clock, not synchronised", size, times)
    times.clear()
    for _ in range(RUNS):
        begin = perf_counter_ns()
        launch(ctx)
        ctx.synchronize()
        times.append(Float64(perf_counter_ns() - begin))
    print_range("host clock, synchronised", size, times)
    times.clear()
    for _ in range(RUNS):
        times.append(Float64(ctx.execution_time(launch, 1)))
    print_range("device clock, warm caches", size, times)
    times.clear()
    for _ in range(RUNS):
        times.append(Float64(ctx.execution_time(drop, 1)))
    print_range("device clock, result dropped", size, times)


def measure_single_runs[
    size: Int
](data: Data, flush: DeviceBuffer[DType.uint8], ctx: DeviceContext) raises:
    """Prints the time of each of many cold runs, in nanoseconds."""

    def launch(ctx: DeviceContext) raises {imm}:
        add[size](data, ctx)

    var line = String("single runs | ") + String(size) + " |"
    for i in range(RUNS):
        flush.enqueue_fill(UInt8(i % 251))
        line += " " + String(Int(ctx.execution_time(launch, 1)))
    print(line)


def measure_warm[size: Int](data: Data, ctx: DeviceContext) raises:
    def launch(ctx: DeviceContext) raises {imm}:
        add[size](data, ctx)

    for _ in range(3):
        launch(ctx)
    var sum = Float64(0)
    var squares = Float64(0)
    for _ in range(RUNS):
        var time = Float64(ctx.execution_time(launch, 1))
        sum += time
        squares += time * time
    var mean = sum / RUNS
    var variance = (squares - sum * mean) / (RUNS - 1)
    var error = sqrt(variance / RUNS) / mean
    print(
        "warm",
        size,
        RUNS,
        mean / 1000,
        error * 100,
        Float64(12 * size) / mean,
        sep=" | ",
    )


def measure_cold[
    size: Int
](mut table: Benchmark, data: Data, ctx: DeviceContext) raises:
    def launch(repetition: Int, ctx: DeviceContext) raises {imm}:
        add[size](data, ctx)

    table.measure("cold", size, 12 * size, launch)
    data.check_and_clear(size)


def measure_width[
    width: Int
](mut table: Benchmark, data: Data, ctx: DeviceContext) raises:
    def launch(repetition: Int, ctx: DeviceContext) raises {imm}:
        add[WORK, width](data, ctx)

    table.measure(String(t"width {width}"), WORK, 12 * WORK, launch)
    data.check_and_clear(WORK)


def measure_tile[
    tile: Int
](mut table: Benchmark, data: Data, ctx: DeviceContext) raises:
    """Each thread has `tile` elements, one or four at a time."""
    comptime layout = row_major[WORK]()
    comptime width = p23.SIMD_WIDTH
    var buffer = data.out
    var out = TileTensor(buffer, layout)
    var a = TileTensor[mut=False](data.a, layout)
    var b = TileTensor[mut=False](data.b, layout)

    def tiled(repetition: Int, ctx: DeviceContext) raises {imm}:
        p23.tiled_elementwise_add[width, WORK, tile, show_tiles=False](
            out, a, b, ctx
        )

    def manual(repetition: Int, ctx: DeviceContext) raises {imm}:
        p23.manual_vectorized_tiled_elementwise_add[width, WORK, tile // width](
            out, a, b, ctx
        )

    def vectorized(repetition: Int, ctx: DeviceContext) raises {imm}:
        p23.vectorize_within_tiles_elementwise_add[width, WORK, tile](
            out, a, b, ctx
        )

    table.measure(String(t"tiled {tile}"), WORK, 12 * WORK, tiled)
    data.check_and_clear(WORK)
    table.measure(String(t"manual {tile}"), WORK, 12 * WORK, manual)
    data.check_and_clear(WORK)
    table.measure(String(t"vectorized {tile}"), WORK, 12 * WORK, vectorized)
    data.check_and_clear(WORK)


def main() raises:
    with DeviceContext() as ctx:
        var table = Benchmark(ctx)
        if not table.timed:
            return
        var data = Data(LARGEST, ctx)
        comptime for width in [1, 2, 4, 8]:
            measure_width[width](table, data, ctx)
        comptime for tile in [4, 16, 64, 256, 1024]:
            measure_tile[tile](table, data, ctx)
        comptime for power in range(10, 30, 2):
            measure_cold[1 << power](table, data, ctx)
        print("warm: elements | runs | mean (us) | +- % | GB/s")
        comptime for power in range(10, 30, 2):
            measure_warm[1 << power](data, ctx)
        print("mistakes: elements | runs | minimum | median | maximum (us)")
        # Sizes that no other row has, so that the first launch is one.
        measure_mistakes[3 * MI // 2](data, ctx)
        measure_mistakes[96 * MI](data, ctx)
        var flush = ctx.enqueue_create_buffer[DType.uint8](512 * MI)
        measure_single_runs[MI](data, flush, ctx)
        measure_single_runs[WORK](data, flush, ctx)
