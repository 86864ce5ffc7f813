from max.gpu import AddressSpace, barrier, block_idx, thread_idx
from max.gpu.host import DeviceBuffer, DeviceContext
from std.math import ceildiv
from std.memory import unsafe_stack_allocation
from std.testing import assert_almost_equal, assert_equal

from lab import choose_mode, stage, submit
from lab.benchmark import Benchmark
from lab.machine import on_simulated_gpu

# ANCHOR: sizes
# The product has ROWS x COLS elements, and each is a sum of TERMS products.
# ROWS and COLS are multiples of TILE, TERMS of four.
comptime ROWS = 256
comptime COLS = 128
comptime TERMS = 20
comptime SIZE_BENCHMARK = 4096

# A block computes TILE x TILE results, in steps of DEPTH terms...
comptime TILE = 128
comptime DEPTH = 8
# ... and each of its 16 x 16 threads SIDE x SIDE of them: four rows and four
# columns of each quarter of the tile.
comptime SIDE = 8
comptime HALF = TILE // 2
comptime THREADS = (TILE // SIDE) * (TILE // SIDE)
# Elements from one row of a tile in shared memory to the next.
comptime A_ROW = TILE + 4
comptime B_ROW = TILE

comptime Output = Pointer[Float32, MutAnyOrigin]
comptime Input = Pointer[Float32, ImmutAnyOrigin]
comptime Tile = Pointer[
    Float32, MutUntrackedOrigin, address_space=AddressSpace.SHARED
]
comptime Four = SIMD[DType.float32, 4]
# ANCHOR_END: sizes


# ANCHOR: load_four
def load_four(matrix: Input, index: Int, inside: Bool) -> Four:
    """Four elements from `index` on, a multiple of four; zeros if not inside.
    """
    if inside:
        return matrix.unsafe_load[width=4, alignment=16](index)
    return Four(0)


# ANCHOR_END: load_four


# ANCHOR: register_tiles_solution
def register_tiles[
    cols: Int, terms: Int
](output: Output, a: Input, b: Input):
    # Two stages of a tile of each matrix. The tile of a is stored by columns:
    # its row k has the elements of column k, for all rows of the block.
    var a_tiles = unsafe_stack_allocation[
        2 * DEPTH * A_ROW,
        Float32,
        alignment=16,
        address_space=AddressSpace.SHARED,
    ]()
    var b_tiles = unsafe_stack_allocation[
        2 * DEPTH * B_ROW,
        Float32,
        alignment=16,
        address_space=AddressSpace.SHARED,
    ]()
    var thread = Int(thread_idx.x)
    var first_row = Int(block_idx.y) * TILE
    var first_col = Int(block_idx.x) * TILE
    # The four elements of a tile that this thread brings in each step.
    var a_row = thread // 2
    var a_col = thread % 2 * 4
    var b_row = thread // 32
    var b_col = thread % 32 * 4
    # The first of its results in each quarter of the block's.
    var y = thread // 16 * 4
    var x = thread % 16 * 4
    # FILL: about 54 lines
    var sums = Array[SIMD[DType.float32, SIDE], SIDE](fill=0)

    # The first tiles, into stage 0.
    var a_index = (first_row + a_row) * terms + a_col
    var b_index = b_row * cols + first_col + b_col
    var next_a = load_four(a, a_index, a_col < terms)
    var next_b = load_four(b, b_index, b_row < terms)
    comptime for i in range(4):
        a_tiles[unsafe_offset=(a_col + i) * A_ROW + a_row] = next_a[i]
    b_tiles.unsafe_store[alignment=16](b_row * B_ROW + b_col, next_b)
    barrier()

    for step in range(ceildiv(terms, DEPTH)):
        var a_tile = a_tiles.unsafe_offset(step % 2 * DEPTH * A_ROW)
        var b_tile = b_tiles.unsafe_offset(step % 2 * DEPTH * B_ROW)
        # Request the next tiles now: they arrive while this thread multiplies.
        # Past the last term there is nothing, and zeros add nothing.
        var k = (step + 1) * DEPTH
        next_a = load_four(a, a_index + k, k + a_col < terms)
        next_b = load_four(b, b_index + k * cols, k + b_row < terms)

        # 16 elements from shared memory for 64 multiplications.
        comptime for k in range(DEPTH):
            var column = a_tile.unsafe_load[width=4, alignment=16](
                k * A_ROW + y
            ).join(
                a_tile.unsafe_load[width=4, alignment=16](k * A_ROW + HALF + y)
            )
            var row = b_tile.unsafe_load[width=4, alignment=16](
                k * B_ROW + x
            ).join(
                b_tile.unsafe_load[width=4, alignment=16](k * B_ROW + HALF + x)
            )
            comptime for i in range(SIDE):
                sums[i] = row.fma(column[i], sums[i])

        # All threads have read the other stage before the last barrier.
        var a_next = a_tiles.unsafe_offset((step + 1) % 2 * DEPTH * A_ROW)
        var b_next = b_tiles.unsafe_offset((step + 1) % 2 * DEPTH * B_ROW)
        comptime for i in range(4):
            a_next[unsafe_offset=(a_col + i) * A_ROW + a_row] = next_a[i]
        b_next.unsafe_store[alignment=16](b_row * B_ROW + b_col, next_b)
        barrier()

    comptime for i in range(SIDE):
        var row = first_row + i // 4 * HALF + y + i % 4
        comptime for half in range(2):
            output.unsafe_store[alignment=16](
                row * cols + first_col + half * HALF + x,
                sums[i].slice[4, offset=half * 4](),
            )
    # END_FILL


# ANCHOR_END: register_tiles_solution

# After the output, elements that no thread may write.
comptime UNTOUCHED = Float32(-777.25)
comptime GUARD = 1024


@fieldwise_init
struct Product(Movable):
    """Two matrices and their product."""

    var rows: Int
    var cols: Int
    var terms: Int
    var a: DeviceBuffer[DType.float32]
    var b: DeviceBuffer[DType.float32]
    var out_buffer: DeviceBuffer[DType.float32]

    def fill(self) raises:
        """Small integers, so that all sums are exact."""
        with self.a.map_to_host() as a, self.b.map_to_host() as b:
            for i in range(self.rows * self.terms):
                a[i] = Float32(i % 13)
            for i in range(self.terms * self.cols):
                b[i] = Float32(i % 31)

    def compare(self, each: Int) raises:
        """Compares one result in `each` with a sum in double precision."""
        with self.a.map_to_host() as a, self.b.map_to_host() as b:
            with self.out_buffer.map_to_host() as results:
                for i in range(0, self.rows * self.cols, each):
                    var row = i // self.cols
                    var col = i % self.cols
                    var expected = Float64(0)
                    for k in range(self.terms):
                        expected += Float64(a[row * self.terms + k]) * Float64(
                            b[k * self.cols + col]
                        )
                    assert_almost_equal(
                        Float64(results[i]),
                        expected,
                        String(t"element [{row}, {col}]"),
                        atol=1e-3,
                        rtol=1e-5,
                    )


def benchmark[size: Int](ctx: DeviceContext) raises:
    var product = Product(
        size,
        size,
        size,
        ctx.enqueue_create_buffer[DType.float32](size * size),
        ctx.enqueue_create_buffer[DType.float32](size * size),
        ctx.enqueue_create_buffer[DType.float32](size * size),
    )
    product.fill()
    product.out_buffer.enqueue_fill(UNTOUCHED)

    def run(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[register_tiles[size, size]](
            product.out_buffer,
            product.a,
            product.b,
            grid_dim=(size // TILE, size // TILE),
            block_dim=THREADS,
        )

    var table = Benchmark(ctx)
    table.measure("register_tiles", size, 0, run)
    product.compare(9973)


def main() raises:
    var mode = choose_mode("p41", ["--product", "--benchmark"])
    with DeviceContext() as ctx:
        if mode == "--benchmark":
            if on_simulated_gpu():
                benchmark[TILE](ctx)
            else:
                benchmark[SIZE_BENCHMARK](ctx)
            return
        comptime count = ROWS * COLS
        var memory = ctx.enqueue_create_buffer[DType.float32](count + GUARD)
        memory.enqueue_fill(UNTOUCHED)
        var guard = memory.create_sub_buffer[DType.float32](count, GUARD)
        var product = Product(
            ROWS,
            COLS,
            TERMS,
            ctx.enqueue_create_buffer[DType.float32](ROWS * TERMS),
            ctx.enqueue_create_buffer[DType.float32](TERMS * COLS),
            memory.create_sub_buffer[DType.float32](0, count),
        )
        product.fill()
        product.out_buffer.enqueue_fill(0)
        stage("a", product.a)
        stage("b", product.b)
        stage("out", product.out_buffer)
        ctx.enqueue_function[register_tiles[COLS, TERMS]](
            product.out_buffer,
            product.a,
            product.b,
            grid_dim=(COLS // TILE, ROWS // TILE),
            block_dim=THREADS,
        )
        ctx.synchronize()

        submit("out", product.out_buffer)
        submit("guard", guard)
        print("product:", ROWS, "x", COLS, "of", TERMS, "terms")
        with product.out_buffer.map_to_host() as results:
            print("out:", results)
        product.compare(1)
        with guard.map_to_host() as behind:
            for i in range(GUARD):
                assert_equal(behind[i], UNTOUCHED, "written behind the output")
        print("Puzzle 41 complete ✅")
