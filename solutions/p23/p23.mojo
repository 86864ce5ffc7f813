from max.algorithm import elementwise
from max.gpu.host import DeviceBuffer, DeviceContext, HostBuffer
from max.gpu.host.compile import get_gpu_target
from layout import Layout, LayoutTensor
from std.algorithm import vectorize
from std.sys import align_of, simd_width_of
from std.testing import assert_equal
from std.utils import Index
from std.utils.coord import Coord

from lab import choose_mode, stage, submit
from lab.benchmark import Benchmark

# ANCHOR: elementwise_add_solution
comptime SIZE = 1024
comptime dtype = DType.float32
comptime layout = Layout.row_major(SIZE)
# How many numbers one instruction of the GPU moves: 4 float32 fill 16 bytes.
comptime SIMD_WIDTH = simd_width_of[dtype, target=get_gpu_target()]()
# A vector of W numbers moves in one piece only if its address is a multiple of
# its size. Promising that to load and store is what makes them vector accesses.
comptime alignment_of[width: Int] = align_of[SIMD[dtype, width]]()


def elementwise_add[
    layout: Layout, //, simd_width: Int, size: Int
](
    output: LayoutTensor[dtype, layout, MutAnyOrigin],
    a: LayoutTensor[dtype, layout, ImmutAnyOrigin],
    b: LayoutTensor[dtype, layout, ImmutAnyOrigin],
    ctx: DeviceContext,
) raises:
    @always_inline
    def add[width: Int, alignment: Int = 1](indices: Coord) capturing -> None:
        var i = Index(Int(indices[0].value()))
        # FILL: about 3 lines
        # One call handles `width` neighbouring elements, starting at i.
        var a_vector = a.load[width, alignment_of[width]](i)
        var b_vector = b.load[width, alignment_of[width]](i)
        output.store[width, alignment_of[width]](i, a_vector + b_vector)
        # END_FILL

    elementwise[add, simd_width, target="gpu"](size, ctx)


# ANCHOR_END: elementwise_add_solution


# ANCHOR: tiled_elementwise_add_solution
comptime TILE_SIZE = 32


def tiled_elementwise_add[
    layout: Layout,
    //,
    simd_width: Int,
    size: Int,
    tile_size: Int,
    show_tiles: Bool = True,
](
    output: LayoutTensor[dtype, layout, MutAnyOrigin],
    a: LayoutTensor[dtype, layout, ImmutAnyOrigin],
    b: LayoutTensor[dtype, layout, ImmutAnyOrigin],
    ctx: DeviceContext,
) raises:
    @always_inline
    def process_tiles[
        width: Int, alignment: Int = 1
    ](indices: Coord) capturing -> None:
        var tile_id = Int(indices[0].value())
        comptime if show_tiles:
            print("tile_id:", tile_id)
        var output_tile = output.tile[tile_size](tile_id)
        var a_tile = a.tile[tile_size](tile_id)
        var b_tile = b.tile[tile_size](tile_id)
        # FILL: about 4 lines
        # The launch below asks for width 1, so a step is one element: this
        # thread walks through its tile alone, from the first to the last.
        # The views count from the start of the tile.
        for i in range(0, tile_size, width):
            var a_vector = a_tile.load[width](Index(i))
            var b_vector = b_tile.load[width](Index(i))
            output_tile.store[width](Index(i), a_vector + b_vector)
        # END_FILL

    # One thread per tile, and width 1: `simd_width` stays unused here.
    comptime num_tiles = size // tile_size
    elementwise[process_tiles, 1, target="gpu"](num_tiles, ctx)


# ANCHOR_END: tiled_elementwise_add_solution


# ANCHOR: manual_vectorized_tiled_elementwise_add_solution
def manual_vectorized_tiled_elementwise_add[
    layout: Layout, //, simd_width: Int, size: Int, tile_size: Int
](
    output: LayoutTensor[dtype, layout, MutAnyOrigin],
    a: LayoutTensor[dtype, layout, ImmutAnyOrigin],
    b: LayoutTensor[dtype, layout, ImmutAnyOrigin],
    ctx: DeviceContext,
) raises:
    # A thread takes tile_size vectors, not tile_size elements.
    comptime chunk_size = tile_size * simd_width

    @always_inline
    def process_chunks[
        width: Int, alignment: Int = 1
    ](indices: Coord) capturing -> None:
        var chunk_id = Int(indices[0].value())
        # FILL: about 6 lines
        # Without views we compute the position in the whole tensor ourselves:
        # the start of the chunk, plus the vectors that are done.
        comptime aligned = alignment_of[simd_width]
        for step in range(tile_size):
            var i = Index(chunk_id * chunk_size + step * simd_width)
            var a_vector = a.load[simd_width, aligned](i)
            var b_vector = b.load[simd_width, aligned](i)
            output.store[simd_width, aligned](i, a_vector + b_vector)
        # END_FILL

    comptime num_chunks = size // chunk_size
    elementwise[process_chunks, 1, target="gpu"](num_chunks, ctx)


# ANCHOR_END: manual_vectorized_tiled_elementwise_add_solution


# ANCHOR: vectorize_within_tiles_elementwise_add_solution
def vectorize_within_tiles_elementwise_add[
    layout: Layout, //, simd_width: Int, size: Int, tile_size: Int
](
    output: LayoutTensor[dtype, layout, MutAnyOrigin],
    a: LayoutTensor[dtype, layout, ImmutAnyOrigin],
    b: LayoutTensor[dtype, layout, ImmutAnyOrigin],
    ctx: DeviceContext,
) raises:
    @always_inline
    def process_tiles[
        width: Int, alignment: Int = 1
    ](indices: Coord) capturing -> None:
        var tile_id = Int(indices[0].value())
        var output_tile = output.tile[tile_size](tile_id)
        var a_tile = a.tile[tile_size](tile_id)
        var b_tile = b.tile[tile_size](tile_id)

        # FILL: about 6 lines
        # vectorize calls this with width simd_width as often as it fits, and
        # with width 1 for the rest.
        def add[width: Int](i: Int) {imm}:
            comptime aligned = alignment_of[width]
            var a_vector = a_tile.load[width, aligned](Index(i))
            var b_vector = b_tile.load[width, aligned](Index(i))
            output_tile.store[width, aligned](Index(i), a_vector + b_vector)

        vectorize[simd_width](tile_size, add)
        # END_FILL

    comptime num_tiles = size // tile_size
    elementwise[process_tiles, 1, target="gpu"](num_tiles, ctx)


# ANCHOR_END: vectorize_within_tiles_elementwise_add_solution


def fill_book_data(a: HostBuffer[dtype], b: HostBuffer[dtype]):
    for i in range(len(a)):
        a[i] = Scalar[dtype](2 * i)
        b[i] = Scalar[dtype](2 * i + 1)


struct Inputs(Movable):
    """Two vectors on the GPU."""

    var a: DeviceBuffer[dtype]
    var b: DeviceBuffer[dtype]

    def __init__(out self, size: Int, ctx: DeviceContext) raises:
        self.a = ctx.enqueue_create_buffer[dtype](size)
        self.a.enqueue_fill(0)
        self.b = ctx.enqueue_create_buffer[dtype](size)
        self.b.enqueue_fill(0)
        with self.a.map_to_host() as a_host, self.b.map_to_host() as b_host:
            fill_book_data(a_host, b_host)


def check_and_clear(
    result: DeviceBuffer[dtype], expected: HostBuffer[dtype]
) raises:
    with result.map_to_host() as result_host:
        for i in range(len(result)):
            assert_equal(result_host[i], expected[i])
    result.enqueue_fill(0)


def benchmark_size[
    size: Int, tile_size: Int
](mut table: Benchmark, ctx: DeviceContext) raises:
    comptime layout = Layout.row_major(size)
    comptime width = SIMD_WIDTH
    comptime bytes = 3 * size * 4
    var out = ctx.enqueue_create_buffer[dtype](size)
    out.enqueue_fill(0)
    var out_tensor = LayoutTensor[dtype, layout](out)
    # Two sets of inputs, taken in turn.
    var even = Inputs(size, ctx)
    var odd = Inputs(size, ctx)
    var a = [
        LayoutTensor[mut=False, dtype, layout](even.a),
        LayoutTensor[mut=False, dtype, layout](odd.a),
    ]
    var b = [
        LayoutTensor[mut=False, dtype, layout](even.b),
        LayoutTensor[mut=False, dtype, layout](odd.b),
    ]
    var expected = ctx.enqueue_create_host_buffer[dtype](size)
    with even.a.map_to_host() as a_host, even.b.map_to_host() as b_host:
        for i in range(size):
            expected[i] = a_host[i] + b_host[i]

    def plain(repetition: Int, ctx: DeviceContext) raises {imm}:
        var set = repetition % 2
        elementwise_add[width, size](out_tensor, a[set], b[set], ctx)

    def tiled(repetition: Int, ctx: DeviceContext) raises {imm}:
        var set = repetition % 2
        tiled_elementwise_add[width, size, tile_size, show_tiles=False](
            out_tensor, a[set], b[set], ctx
        )

    def manual(repetition: Int, ctx: DeviceContext) raises {imm}:
        var set = repetition % 2
        manual_vectorized_tiled_elementwise_add[width, size, tile_size](
            out_tensor, a[set], b[set], ctx
        )

    def vectorized(repetition: Int, ctx: DeviceContext) raises {imm}:
        var set = repetition % 2
        vectorize_within_tiles_elementwise_add[width, size, tile_size](
            out_tensor, a[set], b[set], ctx
        )

    table.measure("elementwise", size, bytes, plain)
    check_and_clear(out, expected)
    table.measure("tiled", size, bytes, tiled)
    check_and_clear(out, expected)
    table.measure("manual-vectorized", size, bytes, manual)
    check_and_clear(out, expected)
    table.measure("vectorized", size, bytes, vectorized)
    check_and_clear(out, expected)
    # The lists of views do not keep their buffers alive.
    _ = even^
    _ = odd^


def benchmark(ctx: DeviceContext) raises:
    var table = Benchmark(ctx)
    benchmark_size[16, 4](table, ctx)
    benchmark_size[128, 16](table, ctx)
    if table.timed:
        benchmark_size[1024 * 1024, 1024](table, ctx)
        # Large enough that nothing but memory counts: 3 GiB.
        benchmark_size[256 * 1024 * 1024, 1024](table, ctx)


def main() raises:
    var mode = choose_mode(
        "p23",
        [
            "--elementwise",
            "--tiled",
            "--manual-vectorized",
            "--vectorized",
            "--benchmark",
        ],
    )
    with DeviceContext() as ctx:
        if mode == "--benchmark":
            benchmark(ctx)
            return

        var out = ctx.enqueue_create_buffer[dtype](SIZE)
        out.enqueue_fill(0)
        var a = ctx.enqueue_create_buffer[dtype](SIZE)
        a.enqueue_fill(0)
        var b = ctx.enqueue_create_buffer[dtype](SIZE)
        b.enqueue_fill(0)
        with a.map_to_host() as a_host, b.map_to_host() as b_host:
            fill_book_data(a_host, b_host)
        stage("a", a)
        stage("b", b)
        stage("out", out)

        var expected = ctx.enqueue_create_host_buffer[dtype](SIZE)
        with a.map_to_host() as a_host, b.map_to_host() as b_host:
            for i in range(SIZE):
                expected[i] = a_host[i] + b_host[i]

        var out_tensor = LayoutTensor[dtype, layout](out)
        var a_tensor = LayoutTensor[mut=False, dtype, layout](a)
        var b_tensor = LayoutTensor[mut=False, dtype, layout](b)
        print("SIZE:", SIZE)
        print("simd_width:", SIMD_WIDTH)
        if mode == "--elementwise":
            elementwise_add[SIMD_WIDTH, SIZE](
                out_tensor, a_tensor, b_tensor, ctx
            )
        else:
            print("tile size:", TILE_SIZE)
            if mode == "--tiled":
                tiled_elementwise_add[SIMD_WIDTH, SIZE, TILE_SIZE](
                    out_tensor, a_tensor, b_tensor, ctx
                )
            elif mode == "--manual-vectorized":
                manual_vectorized_tiled_elementwise_add[
                    SIMD_WIDTH, SIZE, TILE_SIZE
                ](out_tensor, a_tensor, b_tensor, ctx)
            else:
                vectorize_within_tiles_elementwise_add[
                    SIMD_WIDTH, SIZE, TILE_SIZE
                ](out_tensor, a_tensor, b_tensor, ctx)
        ctx.synchronize()

        submit("out", out)
        with out.map_to_host() as out_host:
            print("out:", out_host)
            print("expected:", expected)
            for i in range(SIZE):
                assert_equal(out_host[i], expected[i])
        print("Puzzle 23 complete ✅")
