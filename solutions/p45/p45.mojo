from max.gpu import (
    AddressSpace,
    MAX_THREADS_PER_BLOCK_METADATA,
    barrier,
    block_idx,
    grid_dim,
    lane_id,
    named_barrier,
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
from max.gpu.intrinsics import warpgroup_reg_alloc, warpgroup_reg_dealloc
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
# A tile of the result has 64 rows for each of two consumers. A step adds the
# products of 64 elements of each row of x and of the weights, 128 bytes.
comptime CONSUMERS = 2
comptime GROUP_ROWS = 64
comptime TILE_ROWS = CONSUMERS * GROUP_ROWS
comptime DEPTH = 64
# The first warpgroup of a block is the producer.
comptime GROUP = 128
comptime THREADS = (1 + CONSUMERS) * GROUP
comptime CONSUMER_WARPS = CONSUMERS * GROUP // 32

comptime SWIZZLE = TensorMapSwizzle.SWIZZLE_128B
comptime TileMap[rows: Int] = TMATensorTile[dtype, Coord(Idx[rows], Idx[DEPTH])]
comptime Shared = Pointer[
    Scalar[dtype], MutUntrackedOrigin, address_space=AddressSpace.SHARED
]
# A stage has a tile of x, and behind it a tile of the weights, with one row
# for each of the `cols` columns of the result.
comptime STAGE_SIZE[cols: Int] = (TILE_ROWS + cols) * DEPTH
comptime STAGE_BYTES[cols: Int] = Int32(2 * STAGE_SIZE[cols])
# A thread's part of a warpgroup's 64 rows of sums.
comptime Sums[cols: Int] = StaticTuple[Float32, cols // 2]
# ANCHOR_END: sizes


# ANCHOR: given
@always_inline
def copy_stage[
    cols: Int
](
    begin: Shared,
    ref[AddressSpace.SHARED] full: SharedMemBarrier,
    x: TileMap[TILE_ROWS],
    weights: TileMap[cols],
    row: Int,
    col: Int,
    step: Int,
):
    """Starts the copies of one step into the stage that begins there."""
    var place = step * DEPTH
    x.async_copy(
        TileTensor(begin, row_major[TILE_ROWS, DEPTH]()), full, (place, row)
    )
    weights.async_copy(
        TileTensor(
            begin.unsafe_offset(TILE_ROWS * DEPTH), row_major[cols, DEPTH]()
        ),
        full,
        (place, col),
    )


@always_inline
def multiply[cols: Int](mut sums: Sums[cols], begin: Shared, consumer: Int):
    """Starts the products of a stage, one group: the consumer's rows of x with
    all rows of the weights."""
    var left = WGMMADescriptor[dtype].create[64, 1, SWIZZLE](
        begin.unsafe_offset(consumer * GROUP_ROWS * DEPTH)
    )
    var right = WGMMADescriptor[dtype].create[64, 1, SWIZZLE](
        begin.unsafe_offset(TILE_ROWS * DEPTH)
    )
    wgmma_fence_aligned()
    comptime for k in range(0, DEPTH, 16):
        sums = wgmma_async[GROUP_ROWS, cols, 16, a_type=dtype, b_type=dtype](
            left + 2 * k, right + 2 * k, sums
        )
    wgmma_commit_group_sync()


@always_inline
def pair[cols: Int](sums: Sums[cols], k: Int) -> SIMD[dtype, 2]:
    """Two neighbouring sums, rounded."""
    return SIMD[DType.float32, 2](sums[2 * k], sums[2 * k + 1]).cast[dtype]()


@always_inline
def store_sums[
    cols: Int
](
    output: Pointer[Scalar[dtype], MutAnyOrigin],
    sums: Sums[cols],
    row: Int,
    col: Int,
    out_rows: Int,
    out_cols: Int,
):
    """Stores a warpgroup's sums, which begin at this row and column."""
    var lane = Int(lane_id())
    var first = row + Int(thread_idx.x) % GROUP // 32 * 16 + lane // 4
    comptime for k in range(cols // 4):
        var r = first + k % 2 * 8
        var c = col + k // 2 * 8 + lane % 4 * 2
        if r < out_rows and c < out_cols:
            output.unsafe_store[alignment=4](
                r * out_cols + c, pair[cols](sums, k)
            )


@always_inline
def stage_sums[cols: Int](results: Shared, sums: Sums[cols]):
    """Stores a warpgroup's sums in shared memory, as swizzled tiles of 64
    columns, one behind the other."""
    var lane = Int(lane_id())
    var row = Int(thread_idx.x) % GROUP // 32 * 16 + lane // 4
    comptime for k in range(cols // 4):
        comptime tile = k // 2 // 8
        comptime piece = k // 2 % 8
        var place = (piece ^ lane // 4) * 8 + lane % 4 * 2
        results.unsafe_store[alignment=4](
            (tile * GROUP_ROWS + row + k % 2 * 8) * DEPTH + place,
            pair[cols](sums, k),
        )


# ANCHOR_END: given


# ANCHOR: specialised_solution
# 2 x 2 tiles of the result, each the sum of five steps.
comptime ROWS = 200
comptime COLS = 120
comptime INNER = 264
comptime TILE_COLS = 64
comptime STAGES = 3


@__llvm_arg_metadata(x, `nvvm.grid_constant`)
@__llvm_arg_metadata(weights, `nvvm.grid_constant`)
def specialised[
    cols: Int, stages: Int
](
    output: Pointer[Scalar[dtype], MutAnyOrigin],
    x: TileMap[TILE_ROWS],
    weights: TileMap[cols],
    out_rows: Int32,
    out_cols: Int32,
    steps: Int32,
):
    var memory = external_memory[
        Scalar[dtype], address_space=AddressSpace.SHARED, alignment=1024
    ]()
    var full = unsafe_stack_allocation[
        stages, SharedMemBarrier, alignment=8, address_space=AddressSpace.SHARED
    ]()
    var empty = unsafe_stack_allocation[
        stages, SharedMemBarrier, alignment=8, address_space=AddressSpace.SHARED
    ]()
    var thread = Int(thread_idx.x)
    var row = Int(block_idx.y) * TILE_ROWS
    var col = Int(block_idx.x) * cols
    # FILL: about 37 lines
    if thread == 0:
        for s in range(stages):
            # The producer's thread arrives, and the bytes of the copies.
            full[unsafe_offset=s].init(1)
            # One thread of each warp that has multiplied arrives.
            empty[unsafe_offset=s].init(CONSUMER_WARPS)
        fence_mbarrier_init()
    barrier()

    if thread < GROUP:
        # The producer: one thread starts all copies.
        if thread == 0:
            for i in range(Int(steps)):
                var s = i % stages
                # In the first round the stage is free: the phase before the
                # first counts as complete.
                empty[unsafe_offset=s].wait(UInt32(i // stages % 2 ^ 1))
                full[unsafe_offset=s].expect_bytes(STAGE_BYTES[cols])
                copy_stage[cols](
                    memory.unsafe_offset(s * STAGE_SIZE[cols]),
                    full[unsafe_offset=s],
                    x,
                    weights,
                    row,
                    col,
                    i,
                )
    else:
        var consumer = thread // GROUP - 1
        var sums = Sums[cols](fill=0)
        for i in range(Int(steps)):
            var s = i % stages
            full[unsafe_offset=s].wait(UInt32(i // stages % 2))
            multiply[cols](
                sums, memory.unsafe_offset(s * STAGE_SIZE[cols]), consumer
            )
            # The products of this step go on; those of the step before are
            # complete, and its stage is free.
            wgmma_wait_group_sync[1]()
            if i > 0 and lane_id() == 0:
                _ = empty[unsafe_offset=(i - 1) % stages].arrive()
        wgmma_wait_group_sync()
        store_sums[cols](
            output,
            sums,
            row + consumer * GROUP_ROWS,
            col,
            Int(out_rows),
            Int(out_cols),
        )
    # END_FILL


# ANCHOR_END: specialised_solution


# ANCHOR: persistent_solution
# 2 x 3 tiles for four blocks.
comptime OUT_ROWS = 200
comptime OUT_COLS = 184
comptime OUT_INNER = 200
comptime BLOCKS = 4


@__llvm_metadata(
    MAX_THREADS_PER_BLOCK_METADATA=StaticTuple[Int32, 1](Int32(THREADS))
)
@__llvm_arg_metadata(output, `nvvm.grid_constant`)
@__llvm_arg_metadata(x, `nvvm.grid_constant`)
@__llvm_arg_metadata(weights, `nvvm.grid_constant`)
def persistent[
    cols: Int, stages: Int
](
    output: TileMap[GROUP_ROWS],
    x: TileMap[TILE_ROWS],
    weights: TileMap[cols],
    tiles_of_row: Int32,
    tiles: Int32,
    steps: Int32,
):
    var memory = external_memory[
        Scalar[dtype], address_space=AddressSpace.SHARED, alignment=1024
    ]()
    var full = unsafe_stack_allocation[
        stages, SharedMemBarrier, alignment=8, address_space=AddressSpace.SHARED
    ]()
    var empty = unsafe_stack_allocation[
        stages, SharedMemBarrier, alignment=8, address_space=AddressSpace.SHARED
    ]()
    var thread = Int(thread_idx.x)
    # This block computes the tile `first`, and every `step`-th one after it.
    var first = Int(block_idx.x)
    var step = Int(grid_dim.x)
    # FILL: about 68 lines
    if thread == 0:
        for s in range(stages):
            full[unsafe_offset=s].init(1)
            empty[unsafe_offset=s].init(CONSUMER_WARPS)
        fence_mbarrier_init()
    barrier()

    # Steps are counted through all tiles: the stages go on where they were.
    var i = 0
    if thread < GROUP:
        # The copies need few registers, the sums many.
        warpgroup_reg_dealloc[40]()
        if thread == 0:
            for tile in range(first, Int(tiles), step):
                var row = tile // Int(tiles_of_row) * TILE_ROWS
                var col = tile % Int(tiles_of_row) * cols
                for k in range(Int(steps)):
                    var s = i % stages
                    empty[unsafe_offset=s].wait(UInt32(i // stages % 2 ^ 1))
                    full[unsafe_offset=s].expect_bytes(STAGE_BYTES[cols])
                    copy_stage[cols](
                        memory.unsafe_offset(s * STAGE_SIZE[cols]),
                        full[unsafe_offset=s],
                        x,
                        weights,
                        row,
                        col,
                        k,
                    )
                    i += 1
    else:
        warpgroup_reg_alloc[232]()
        var consumer = thread // GROUP - 1
        # Each consumer has its own place for results, behind the stages.
        var results = memory.unsafe_offset(
            stages * STAGE_SIZE[cols] + consumer * GROUP_ROWS * cols
        )
        for tile in range(first, Int(tiles), step):
            var row = tile // Int(tiles_of_row) * TILE_ROWS
            var col = tile % Int(tiles_of_row) * cols
            var sums = Sums[cols](fill=0)
            for k in range(Int(steps)):
                var s = i % stages
                full[unsafe_offset=s].wait(UInt32(i // stages % 2))
                multiply[cols](
                    sums, memory.unsafe_offset(s * STAGE_SIZE[cols]), consumer
                )
                wgmma_wait_group_sync[1]()
                if k > 0 and lane_id() == 0:
                    _ = empty[unsafe_offset=(i - 1) % stages].arrive()
                i += 1
            # The producer needs the last stage too, for the next tile.
            wgmma_wait_group_sync()
            if lane_id() == 0:
                _ = empty[unsafe_offset=(i - 1) % stages].arrive()

            # The store of the tile before must have read its results.
            if thread % GROUP == 0:
                output.wait_group()
            named_barrier[GROUP](Int32(1 + consumer))
            stage_sums[cols](results, sums)
            fence_async_view_proxy()
            named_barrier[GROUP](Int32(1 + consumer))
            if thread % GROUP == 0:
                comptime for c in range(0, cols, DEPTH):
                    output.async_store(
                        TileTensor(
                            results.unsafe_offset(c * GROUP_ROWS),
                            row_major[GROUP_ROWS, DEPTH](),
                        ),
                        (col + c, row + consumer * GROUP_ROWS),
                    )
                output.commit_group()
        if thread % GROUP == 0:
            output.wait_group()
    # END_FILL


# ANCHOR_END: persistent_solution


@fieldwise_init
struct Matrices[rows: Int, cols: Int, inner: Int](Movable):
    """`x` with `rows` rows and `weights` with `cols`, each of `inner` elements,
    and the result: the sums of products of their rows."""

    var x: DeviceBuffer[dtype]
    var weights: DeviceBuffer[dtype]
    var out_buffer: DeviceBuffer[dtype]

    def __init__(out self, ctx: DeviceContext) raises:
        """Small whole numbers, so that all sums are exact; the results are 0.
        """
        self.x = ctx.enqueue_create_buffer[dtype](Self.rows * Self.inner)
        self.weights = ctx.enqueue_create_buffer[dtype](Self.cols * Self.inner)
        self.out_buffer = ctx.enqueue_create_buffer[dtype](
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

    def map_of[
        tile_rows: Int, height: Int, width: Int
    ](self, ctx: DeviceContext, buffer: DeviceBuffer[dtype]) raises -> TileMap[
        tile_rows
    ]:
        return rebind[TileMap[tile_rows]](
            create_tma_tile[tile_rows, DEPTH, swizzle_mode=SWIZZLE](
                ctx, TileTensor(buffer, row_major[height, width]())
            )
        )

    def launch_specialised[
        tile_cols: Int, stages: Int
    ](self, ctx: DeviceContext) raises:
        comptime bytes = stages * Int(STAGE_BYTES[tile_cols])
        ctx.enqueue_function[specialised[tile_cols, stages]](
            self.out_buffer,
            self.map_of[TILE_ROWS, Self.rows, Self.inner](ctx, self.x),
            self.map_of[tile_cols, Self.cols, Self.inner](ctx, self.weights),
            Int32(Self.rows),
            Int32(Self.cols),
            Int32(ceildiv(Self.inner, DEPTH)),
            grid_dim=(
                ceildiv(Self.cols, tile_cols),
                ceildiv(Self.rows, TILE_ROWS),
            ),
            block_dim=THREADS,
            shared_mem_bytes=bytes,
            func_attribute=FuncAttribute.MAX_DYNAMIC_SHARED_SIZE_BYTES(
                UInt32(bytes)
            ),
        )

    def launch_persistent[
        tile_cols: Int, stages: Int
    ](self, ctx: DeviceContext, blocks: Int) raises:
        comptime tiles_of_row = ceildiv(Self.cols, tile_cols)
        comptime results = 2 * TILE_ROWS * tile_cols
        comptime bytes = stages * Int(STAGE_BYTES[tile_cols]) + results
        ctx.enqueue_function[persistent[tile_cols, stages]](
            self.map_of[GROUP_ROWS, Self.rows, Self.cols](ctx, self.out_buffer),
            self.map_of[TILE_ROWS, Self.rows, Self.inner](ctx, self.x),
            self.map_of[tile_cols, Self.cols, Self.inner](ctx, self.weights),
            Int32(tiles_of_row),
            Int32(tiles_of_row * ceildiv(Self.rows, TILE_ROWS)),
            Int32(ceildiv(Self.inner, DEPTH)),
            grid_dim=blocks,
            block_dim=THREADS,
            shared_mem_bytes=bytes,
            func_attribute=FuncAttribute.MAX_DYNAMIC_SHARED_SIZE_BYTES(
                UInt32(bytes)
            ),
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
                        results[i],
                        sum.cast[dtype](),
                        String(t"element [{row}, {col}]"),
                    )


def run_specialised(ctx: DeviceContext) raises:
    var matrices = Matrices[ROWS, COLS, INNER](ctx)
    matrices.stage_all()
    matrices.launch_specialised[TILE_COLS, STAGES](ctx)
    ctx.synchronize()
    submit("out", matrices.out_buffer)
    print("one tile per block:", ROWS, "x", COLS, "sums of", INNER, "products")
    matrices.compare(1)


def run_persistent(ctx: DeviceContext) raises:
    var matrices = Matrices[OUT_ROWS, OUT_COLS, OUT_INNER](ctx)
    matrices.stage_all()
    matrices.launch_persistent[TILE_COLS, STAGES](ctx, BLOCKS)
    ctx.synchronize()
    submit("out", matrices.out_buffer)
    print("persistent blocks:", OUT_ROWS, "x", OUT_COLS, "sums in", BLOCKS)
    matrices.compare(1)


def benchmark[
    size: Int, cols: Int, blocks: Int
](mut table: Benchmark, ctx: DeviceContext) raises:
    var matrices = Matrices[size, size, size](ctx)

    def run_specialised(repetition: Int, ctx: DeviceContext) raises {imm}:
        matrices.launch_specialised[cols, 4](ctx)

    def run_persistent(repetition: Int, ctx: DeviceContext) raises {imm}:
        matrices.launch_persistent[cols, 3](ctx, blocks)

    table.measure("specialised", size * size, 6 * size * size, run_specialised)
    matrices.compare(99991)
    matrices.out_buffer.enqueue_fill(0)
    table.measure("persistent", size * size, 6 * size * size, run_persistent)
    matrices.compare(99991)


def main() raises:
    var mode = choose_mode(
        "p45", ["--specialised", "--persistent", "--benchmark"]
    )
    with DeviceContext() as ctx:
        if mode == "--benchmark":
            var table = Benchmark(ctx)
            if on_simulated_gpu():
                benchmark[128, 64, 2](table, ctx)
            else:
                benchmark[4096, 256, 132](table, ctx)
                benchmark[8192, 256, 132](table, ctx)
            return
        if mode == "--specialised":
            run_specialised(ctx)
        else:
            run_persistent(ctx)
        print("Puzzle 45 complete ✅")
