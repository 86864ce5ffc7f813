from max.gpu import (
    AddressSpace,
    barrier,
    block_idx,
    lane_id,
    thread_idx,
)
from max.gpu.compute.mma import (
    WGMMADescriptor,
    wgmma_async,
    wgmma_commit_group_sync,
    wgmma_fence_aligned,
    wgmma_wait_group_sync,
)
from max.gpu.host import DeviceBuffer, DeviceContext, FuncAttribute
from max.gpu.host.nvidia.tma import TensorMapSwizzle
from max.gpu.memory import (
    external_memory,
    fence_async_view_proxy,
    fence_mbarrier_init,
)
from layout import Coord, Idx, TileTensor, row_major
from layout.tma_async import SharedMemBarrier, TMATensorTile, create_tma_tile
from std.math import ceildiv
from std.memory import unsafe_stack_allocation
from std.testing import assert_equal
from std.utils import StaticTuple

from lab import choose_mode, stage, submit
from lab.benchmark import Benchmark
from lab.machine import on_simulated_gpu

# ANCHOR: sizes
comptime dtype = DType.bfloat16
# One product multiplies 64 rows of x by 128 rows of the weights, over 16
# elements of each; a tile has 64 elements of each, 128 bytes.
comptime GROUP_ROWS = 64
comptime TILE_COLS = 128
comptime STEP = 16
comptime DEPTH = 64
# A warpgroup: the threads that perform a product together.
comptime GROUP = 128

# A row of a tile has eight pieces of 16 bytes, eight elements each.
comptime PIECE = 8
comptime PIECES = DEPTH // PIECE
comptime SWIZZLE = TensorMapSwizzle.SWIZZLE_128B

comptime Input = Pointer[Scalar[dtype], ImmutAnyOrigin]
comptime Output = Pointer[Float32, MutAnyOrigin]
# A thread's part of 64 x 128 sums.
comptime Sums = StaticTuple[Float32, TILE_COLS // 2]


@always_inline
def store_sums(
    output: Output, sums: Sums, row: Int, col: Int, rows: Int, cols: Int
):
    """Stores a warpgroup's sums, which begin at this row and column of a
    result of `rows` x `cols`."""
    var first = row + Int(thread_idx.x) % GROUP // 32 * 16 + Int(lane_id()) // 4
    comptime for j in range(TILE_COLS // 8):
        comptime for half in range(2):
            var r = first + 8 * half
            var c = col + 8 * j + Int(lane_id()) % 4 * 2
            if r < rows and c < cols:
                output.unsafe_store[alignment=8](
                    r * cols + c,
                    SIMD[DType.float32, 2](
                        sums[4 * j + 2 * half], sums[4 * j + 2 * half + 1]
                    ),
                )


# ANCHOR_END: sizes


# ANCHOR: one_tile
def one_tile(output: Output, x: Input, weights: Input):
    # The swizzle begins anew every 1,024 bytes.
    var x_tile = unsafe_stack_allocation[
        GROUP_ROWS * DEPTH,
        Scalar[dtype],
        alignment=1024,
        address_space=AddressSpace.SHARED,
    ]()
    var weight_tile = unsafe_stack_allocation[
        TILE_COLS * DEPTH,
        Scalar[dtype],
        alignment=1024,
        address_space=AddressSpace.SHARED,
    ]()
    var thread = Int(thread_idx.x)
    # FILL ME IN (about 33 lines)


# ANCHOR_END: one_tile


# ANCHOR: tile_loop
# A block has two warpgroups with 64 rows each, and its tiles of x and of the
# weights have 128 rows.
comptime GROUPS = 2
comptime THREADS = GROUPS * GROUP
comptime TILE_ROWS = GROUPS * GROUP_ROWS
comptime STAGES = 3
# A stage has a tile of x, and below it a tile of the weights.
comptime STAGE_ROWS = 2 * TILE_ROWS
comptime STAGE_BYTES = STAGE_ROWS * DEPTH * 2
comptime TileMap = TMATensorTile[dtype, Coord(Idx[TILE_ROWS], Idx[DEPTH])]

# The result has 2 x 2 tiles, and each is the sum of five products of tiles.
# The last ones extend past the matrices.
comptime ROWS = 168
comptime COLS = 200
comptime INNER = 296


@__llvm_arg_metadata(x, `nvvm.grid_constant`)
@__llvm_arg_metadata(weights, `nvvm.grid_constant`)
def tile_loop(
    output: Output,
    x: TileMap,
    weights: TileMap,
    rows: Int32,
    cols: Int32,
    inner: Int32,
):
    # The stages are one below the other: tile 2 * s is that of x in stage s,
    # and tile 2 * s + 1 that of the weights.
    var stages = TileTensor(
        external_memory[
            Scalar[dtype], address_space=AddressSpace.SHARED, alignment=1024
        ](),
        row_major[STAGES * STAGE_ROWS, DEPTH](),
    )
    var full = unsafe_stack_allocation[
        STAGES, SharedMemBarrier, alignment=8, address_space=AddressSpace.SHARED
    ]()
    var thread = Int(thread_idx.x)
    var group = thread // GROUP
    var row = Int(block_idx.y) * TILE_ROWS
    var col = Int(block_idx.x) * TILE_COLS
    var steps = ceildiv(Int(inner), DEPTH)
    # FILL ME IN (about 57 lines)


# ANCHOR_END: tile_loop


@fieldwise_init
struct Matrices[rows: Int, cols: Int, inner: Int](Movable):
    """`x` with `rows` rows and `weights` with `cols`, each of `inner` elements,
    and the result: the sums of products of their rows."""

    var x: DeviceBuffer[dtype]
    var weights: DeviceBuffer[dtype]
    var out_buffer: DeviceBuffer[DType.float32]

    def __init__(out self, ctx: DeviceContext) raises:
        """Small whole numbers, so that all sums are exact; the results are 0.
        """
        self.x = ctx.enqueue_create_buffer[dtype](Self.rows * Self.inner)
        self.weights = ctx.enqueue_create_buffer[dtype](Self.cols * Self.inner)
        self.out_buffer = ctx.enqueue_create_buffer[DType.float32](
            Self.rows * Self.cols
        )
        self.out_buffer.enqueue_fill(0)
        with self.x.map_to_host() as numbers:
            for i in range(Self.rows * Self.inner):
                numbers[i] = Scalar[dtype](i % 7 - 3)
        with self.weights.map_to_host() as numbers:
            for i in range(Self.cols * Self.inner):
                numbers[i] = Scalar[dtype](i % 5 - 2)

    def stage_all(self) raises:
        stage("x", self.x)
        stage("weights", self.weights)
        stage("out", self.out_buffer)

    def x_map(self, ctx: DeviceContext) raises -> TileMap:
        return rebind[TileMap](
            create_tma_tile[TILE_ROWS, DEPTH, swizzle_mode=SWIZZLE](
                ctx, TileTensor(self.x, row_major[Self.rows, Self.inner]())
            )
        )

    def weight_map(self, ctx: DeviceContext) raises -> TileMap:
        return rebind[TileMap](
            create_tma_tile[TILE_COLS, DEPTH, swizzle_mode=SWIZZLE](
                ctx,
                TileTensor(self.weights, row_major[Self.cols, Self.inner]()),
            )
        )

    def compare(self, each: Int) raises:
        """Compares one result in `each`."""
        with self.x.map_to_host() as x, self.weights.map_to_host() as w:
            with self.out_buffer.map_to_host() as results:
                for i in range(0, Self.rows * Self.cols, each):
                    var row = i // Self.cols
                    var col = i % Self.cols
                    var sum = Float32(0)
                    for k in range(Self.inner):
                        sum += (
                            x[row * Self.inner + k].cast[DType.float32]()
                            * w[col * Self.inner + k].cast[DType.float32]()
                        )
                    assert_equal(
                        results[i], sum, String(t"element [{row}, {col}]")
                    )


def run_one_tile(ctx: DeviceContext) raises:
    var matrices = Matrices[GROUP_ROWS, TILE_COLS, DEPTH](ctx)
    matrices.stage_all()
    ctx.enqueue_function[one_tile](
        matrices.out_buffer,
        matrices.x,
        matrices.weights,
        grid_dim=1,
        block_dim=GROUP,
    )
    ctx.synchronize()
    submit("out", matrices.out_buffer)
    print("one tile:", GROUP_ROWS, "x", TILE_COLS, "sums of", DEPTH, "products")
    matrices.compare(1)


def launch_tile_loop[
    rows: Int, cols: Int, inner: Int
](
    ctx: DeviceContext,
    output: DeviceBuffer[DType.float32],
    x: TileMap,
    weights: TileMap,
) raises:
    comptime bytes = STAGES * STAGE_BYTES
    ctx.enqueue_function[tile_loop](
        output,
        x,
        weights,
        Int32(rows),
        Int32(cols),
        Int32(inner),
        grid_dim=(ceildiv(cols, TILE_COLS), ceildiv(rows, TILE_ROWS)),
        block_dim=THREADS,
        shared_mem_bytes=bytes,
        func_attribute=FuncAttribute.MAX_DYNAMIC_SHARED_SIZE_BYTES(
            UInt32(bytes)
        ),
    )


def run_tile_loop(ctx: DeviceContext) raises:
    var matrices = Matrices[ROWS, COLS, INNER](ctx)
    matrices.stage_all()
    launch_tile_loop[ROWS, COLS, INNER](
        ctx, matrices.out_buffer, matrices.x_map(ctx), matrices.weight_map(ctx)
    )
    ctx.synchronize()
    submit("out", matrices.out_buffer)
    print("a loop over tiles:", ROWS, "x", COLS, "sums of", INNER, "products")
    matrices.compare(1)


def benchmark[size: Int](ctx: DeviceContext) raises:
    var matrices = Matrices[size, size, size](ctx)
    var x = matrices.x_map(ctx)
    var weights = matrices.weight_map(ctx)

    def run_tile_loop(repetition: Int, ctx: DeviceContext) raises {imm}:
        launch_tile_loop[size, size, size](ctx, matrices.out_buffer, x, weights)

    var table = Benchmark(ctx)
    table.measure("tile_loop", size * size, 8 * size * size, run_tile_loop)
    matrices.compare(99991)


def main() raises:
    var mode = choose_mode("p44", ["--one-tile", "--tile-loop", "--benchmark"])
    with DeviceContext() as ctx:
        if mode == "--benchmark":
            if on_simulated_gpu():
                benchmark[128](ctx)
            else:
                benchmark[4096](ctx)
            return
        if mode == "--one-tile":
            run_one_tile(ctx)
        else:
            run_tile_loop(ctx)
        print("Puzzle 44 complete ✅")
