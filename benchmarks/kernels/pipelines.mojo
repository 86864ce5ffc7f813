"""Products of bf16 matrices by specialised warps: puzzle 45's kernels, and controls.

`specialised` and `persistent` are the puzzle's, with tiles of 128 x `cols` and so many stages. In `varied
COLS/STAGES/RESULTS` a consumer stores its results in parts of 64 * RESULTS columns; with more words one thing is
different. `without a producer`: the threads that multiply also start the copies, as in puzzle 44.

    mojo build -I problems -I solutions/p45 benchmarks/kernels/pipelines.mojo -o pipelines

With the argument `once` each of some kernels runs once, for a profiler.
"""

from max.gpu import (
    AddressSpace,
    MAX_THREADS_PER_BLOCK_METADATA,
    barrier,
    block_idx,
    block_rank_in_cluster,
    cluster_sync,
    global_idx,
    grid_dim,
    lane_id,
    named_barrier,
    thread_idx,
)
from max.gpu.compute.mma import wgmma_wait_group_sync
from max.gpu.host import DeviceBuffer, DeviceContext, Dim, FuncAttribute
from max.gpu.intrinsics import warpgroup_reg_alloc, warpgroup_reg_dealloc
from max.gpu.memory import (
    external_memory,
    fence_async_view_proxy,
    fence_mbarrier_init,
)
from layout import TileTensor, row_major
from layout.tma_async import SharedMemBarrier
from std.math import ceildiv
from std.memory import unsafe_stack_allocation
from std.sys import argv
from std.utils import StaticTuple

from lab.benchmark import Benchmark
from lab.machine import on_simulated_gpu
import p45

comptime half = p45.dtype
comptime ROWS = p45.TILE_ROWS
comptime GROUP_ROWS = p45.GROUP_ROWS
comptime DEPTH = p45.DEPTH
comptime THREADS = p45.THREADS
comptime Map = p45.TileMap
comptime Output = Pointer[Scalar[half], MutAnyOrigin]


def fill(numbers: Output, modulus: Int32, middle: Int32):
    """As `p45.Matrices`, on the GPU."""
    var i = Int(global_idx.x)
    numbers[unsafe_offset=i] = Scalar[half](i % Int(modulus) - Int(middle))


def corner[
    cols: Int, group: Int, cluster: Int
](tile: Int, tiles_of_row: Int, tiles_of_col: Int) -> Tuple[Int, Int]:
    """Row and column where this tile begins; `group` rows of tiles are
    computed together, column by column."""
    comptime if group == 0:
        return (
            (tile // cluster // tiles_of_row * cluster + tile % cluster) * ROWS,
            tile // cluster % tiles_of_row * cols,
        )
    else:
        var of_group = group * tiles_of_row
        var g = tile // of_group
        var first = g * group
        var height = min(group, tiles_of_col - first)
        var rest = tile - g * of_group
        return ((first + rest % height) * ROWS, rest // height * cols)


@__llvm_metadata(MAX_THREADS_PER_BLOCK_METADATA=StaticTuple[Int32, 1](THREADS))
@__llvm_arg_metadata(output, `nvvm.grid_constant`)
@__llvm_arg_metadata(a, `nvvm.grid_constant`)
@__llvm_arg_metadata(b, `nvvm.grid_constant`)
def varied[
    cols: Int,
    stages: Int,
    staged: Int,
    group: Int,
    cluster: Int,
    by_threads: Bool,
    registers: Bool,
](
    output: Map[GROUP_ROWS],
    a: Map[ROWS],
    b: Map[cols // cluster],
    tiles_of_row: Int32,
    tiles_of_col: Int32,
    steps: Int32,
    direct: Pointer[Scalar[half], MutAnyOrigin],
):
    comptime STAGE = (ROWS + cols) * DEPTH
    comptime SLICE = cols // cluster
    var memory = external_memory[
        Scalar[half], address_space=AddressSpace.SHARED, alignment=1024
    ]()
    var full = unsafe_stack_allocation[
        stages, SharedMemBarrier, alignment=8, address_space=AddressSpace.SHARED
    ]()
    var empty = unsafe_stack_allocation[
        stages, SharedMemBarrier, alignment=8, address_space=AddressSpace.SHARED
    ]()
    var thread = Int(thread_idx.x)
    var warpgroup = thread // p45.GROUP
    var rank = 0
    comptime if cluster > 1:
        rank = Int(block_rank_in_cluster())
    var tiles = Int(tiles_of_row) * Int(tiles_of_col)
    if thread == 0:
        for s in range(stages):
            full[unsafe_offset=s].init(1)
            empty[unsafe_offset=s].init(Int32(p45.CONSUMER_WARPS * cluster))
        fence_mbarrier_init()
    comptime if cluster > 1:
        cluster_sync()
    else:
        barrier()
    if warpgroup == 0:
        comptime if registers:
            warpgroup_reg_dealloc[40]()
        if thread == 0:
            var i = 0
            for tile in range(Int(block_idx.x), tiles, Int(grid_dim.x)):
                var at = corner[cols, group, cluster](
                    tile, Int(tiles_of_row), Int(tiles_of_col)
                )
                for step in range(Int(steps)):
                    var s = i % stages
                    empty[unsafe_offset=s].wait(UInt32(i // stages % 2 ^ 1))
                    full[unsafe_offset=s].expect_bytes(Int32(STAGE * 2))
                    var left = memory.unsafe_offset(s * STAGE)
                    a.async_copy(
                        TileTensor(left, row_major[ROWS, DEPTH]()),
                        full[unsafe_offset=s],
                        (step * DEPTH, at[0]),
                    )
                    var right = left.unsafe_offset(
                        ROWS * DEPTH + rank * SLICE * DEPTH
                    )
                    var target = TileTensor(right, row_major[SLICE, DEPTH]())
                    comptime if cluster > 1:
                        b.async_multicast_load(
                            target,
                            full[unsafe_offset=s],
                            (step * DEPTH, at[1] + rank * SLICE),
                            UInt16((1 << cluster) - 1),
                        )
                    else:
                        b.async_copy(
                            target,
                            full[unsafe_offset=s],
                            (step * DEPTH, at[1]),
                        )
                    i += 1
    else:
        comptime if registers:
            warpgroup_reg_alloc[232]()
        var me = warpgroup - 1
        var lane = Int(lane_id())
        var warp = thread % p45.GROUP // 32
        var results = memory.unsafe_offset(
            stages * STAGE + me * GROUP_ROWS * DEPTH * staged
        )
        var i = 0
        for tile in range(Int(block_idx.x), tiles, Int(grid_dim.x)):
            var at = corner[cols, group, cluster](
                tile, Int(tiles_of_row), Int(tiles_of_col)
            )
            var sums = StaticTuple[Float32, cols // 2](fill=0)
            for step in range(Int(steps)):
                var s = i % stages
                full[unsafe_offset=s].wait(UInt32(i // stages % 2))
                p45.multiply[cols](sums, memory.unsafe_offset(s * STAGE), me)
                if step > 0:
                    wgmma_wait_group_sync[1]()
                    comptime if cluster > 1:
                        if lane < cluster:
                            empty[
                                unsafe_offset=(i - 1) % stages
                            ].arrive_cluster(UInt32(lane))
                    else:
                        if lane == 0:
                            _ = empty[unsafe_offset=(i - 1) % stages].arrive()
                i += 1
            wgmma_wait_group_sync[0]()
            comptime if cluster > 1:
                if lane < cluster:
                    empty[unsafe_offset=(i - 1) % stages].arrive_cluster(
                        UInt32(lane)
                    )
            else:
                if lane == 0:
                    _ = empty[unsafe_offset=(i - 1) % stages].arrive()

            comptime if by_threads:
                p45.store_sums[cols](
                    direct,
                    sums,
                    at[0] + me * GROUP_ROWS,
                    at[1],
                    Int(tiles_of_col) * ROWS,
                    Int(tiles_of_row) * cols,
                )
            comptime for part in range(
                0 if by_threads else cols // DEPTH // staged
            ):
                if thread % p45.GROUP == 0:
                    output.wait_group()
                named_barrier[p45.GROUP](Int32(me + 1))
                comptime for j in range(staged * 8):
                    comptime for h in range(2):
                        comptime at_sum = (part * staged * 8 + j) * 4 + 2 * h
                        results.unsafe_store[alignment=4](
                            j // 8 * GROUP_ROWS * DEPTH
                            + (16 * warp + 8 * h + lane // 4) * DEPTH
                            + (j % 8 ^ lane // 4) * 8
                            + lane % 4 * 2,
                            SIMD[DType.float32, 2](
                                sums[at_sum], sums[at_sum + 1]
                            ).cast[half](),
                        )
                fence_async_view_proxy()
                named_barrier[p45.GROUP](Int32(me + 1))
                if thread % p45.GROUP == 0:
                    comptime for c in range(staged):
                        output.async_store(
                            TileTensor(
                                results.unsafe_offset(c * GROUP_ROWS * DEPTH),
                                row_major[GROUP_ROWS, DEPTH](),
                            ),
                            (
                                at[1] + (part * staged + c) * DEPTH,
                                at[0] + me * GROUP_ROWS,
                            ),
                        )
                    output.commit_group()
        if thread % p45.GROUP == 0:
            output.wait_group()
    comptime if cluster > 1:
        cluster_sync()


@__llvm_metadata(MAX_THREADS_PER_BLOCK_METADATA=StaticTuple[Int32, 1](256))
@__llvm_arg_metadata(output, `nvvm.grid_constant`)
@__llvm_arg_metadata(a, `nvvm.grid_constant`)
@__llvm_arg_metadata(b, `nvvm.grid_constant`)
def without_a_producer[
    cols: Int, stages: Int
](
    output: Map[GROUP_ROWS],
    a: Map[ROWS],
    b: Map[cols],
    tiles_of_row: Int32,
    steps: Int32,
):
    """One tile; the threads that multiply also start the copies."""
    comptime STAGE = (ROWS + cols) * DEPTH
    var memory = external_memory[
        Scalar[half], address_space=AddressSpace.SHARED, alignment=1024
    ]()
    var full = unsafe_stack_allocation[
        stages, SharedMemBarrier, alignment=8, address_space=AddressSpace.SHARED
    ]()
    var thread = Int(thread_idx.x)
    var row = Int(block_idx.x) // Int(tiles_of_row) * ROWS
    var col = Int(block_idx.x) % Int(tiles_of_row) * cols
    var me = thread // p45.GROUP

    def start(i: Int) {imm}:
        var s = i % stages
        full[unsafe_offset=s].expect_bytes(Int32(STAGE * 2))
        var left = memory.unsafe_offset(s * STAGE)
        a.async_copy(
            TileTensor(left, row_major[ROWS, DEPTH]()),
            full[unsafe_offset=s],
            (i * DEPTH, row),
        )
        b.async_copy(
            TileTensor(
                left.unsafe_offset(ROWS * DEPTH), row_major[cols, DEPTH]()
            ),
            full[unsafe_offset=s],
            (i * DEPTH, col),
        )

    if thread == 0:
        for s in range(stages):
            full[unsafe_offset=s].init(1)
        fence_mbarrier_init()
        for i in range(min(stages, Int(steps))):
            start(i)
    barrier()
    var sums = StaticTuple[Float32, cols // 2](fill=0)
    for i in range(Int(steps)):
        var s = i % stages
        full[unsafe_offset=s].wait(UInt32(i // stages % 2))
        p45.multiply[cols](sums, memory.unsafe_offset(s * STAGE), me)
        if i > 0:
            wgmma_wait_group_sync[1]()
            barrier()
            if thread == 0 and i - 1 + stages < Int(steps):
                start(i - 1 + stages)
    wgmma_wait_group_sync[0]()
    barrier()
    var results = memory.unsafe_offset(me * GROUP_ROWS * cols)
    p45.stage_sums[cols](results, sums)
    fence_async_view_proxy()
    barrier()
    if thread % p45.GROUP == 0:
        comptime for c in range(cols // DEPTH):
            output.async_store(
                TileTensor(
                    results.unsafe_offset(c * GROUP_ROWS * DEPTH),
                    row_major[GROUP_ROWS, DEPTH](),
                ),
                (col + c * DEPTH, row + me * GROUP_ROWS),
            )
        output.commit_group()
        output.wait_group()


def matrices_of[
    size: Int
](ctx: DeviceContext) raises -> p45.Matrices[size, size, size]:
    var x = ctx.enqueue_create_buffer[half](size * size)
    var weights = ctx.enqueue_create_buffer[half](size * size)
    var out_buffer = ctx.enqueue_create_buffer[half](size * size)
    comptime blocks = size * size // 256
    ctx.enqueue_function[fill](
        x, Int32(7), Int32(3), grid_dim=blocks, block_dim=256
    )
    ctx.enqueue_function[fill](
        weights, Int32(5), Int32(2), grid_dim=blocks, block_dim=256
    )
    return p45.Matrices[size, size, size](x^, weights^, out_buffer^)


def measure_puzzle[
    size: Int, cols: Int, units: Int
](
    mut table: Benchmark,
    matrices: p45.Matrices[size, size, size],
    ctx: DeviceContext,
) raises:
    """The puzzle's kernels; `units`: the multiprocessors of the GPU."""

    def specialised(repetition: Int, ctx: DeviceContext) raises {imm}:
        matrices.launch_specialised[cols, 4](ctx)

    def persistent(repetition: Int, ctx: DeviceContext) raises {imm}:
        matrices.launch_persistent[cols, 3](ctx, units)

    comptime bytes = 6 * size * size
    matrices.out_buffer.enqueue_fill(0)
    table.measure(
        String(t"specialised {size}"), size * size, bytes, specialised
    )
    check(table, matrices)
    table.measure(String(t"persistent {size}"), size * size, bytes, persistent)
    check(table, matrices)


def check[
    size: Int
](table: Benchmark, matrices: p45.Matrices[size, size, size]) raises:
    if table.timed or on_simulated_gpu():
        matrices.compare(99991)
    matrices.out_buffer.enqueue_fill(0)


def measure[
    size: Int,
    cols: Int,
    stages: Int,
    staged: Int,
    *,
    name: StaticString = "",
    group: Int = 0,
    cluster: Int = 1,
    by_threads: Bool = False,
    registers: Bool = True,
](
    mut table: Benchmark,
    matrices: p45.Matrices[size, size, size],
    ctx: DeviceContext,
    blocks: Int,
) raises:
    comptime bytes = (
        stages * Int(p45.STAGE_BYTES[cols]) + 4 * staged * GROUP_ROWS * DEPTH
    )
    comptime kernel = varied[
        cols, stages, staged, group, cluster, by_threads, registers
    ]

    def run(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[kernel](
            matrices.map_of[GROUP_ROWS, size, size](ctx, matrices.out_buffer),
            matrices.map_of[ROWS, size, size](ctx, matrices.x),
            matrices.map_of[cols // cluster, size, size](ctx, matrices.weights),
            Int32(ceildiv(size, cols)),
            Int32(ceildiv(size, ROWS)),
            Int32(ceildiv(size, DEPTH)),
            matrices.out_buffer,
            grid_dim=blocks,
            block_dim=THREADS,
            cluster_dim=Dim(cluster),
            shared_mem_bytes=bytes,
            func_attribute=FuncAttribute.MAX_DYNAMIC_SHARED_SIZE_BYTES(
                UInt32(bytes)
            ),
        )

    table.measure(
        String(t"{cols}/{stages}/{staged} {name} {size}"),
        size * size,
        6 * size * size,
        run,
    )
    check(table, matrices)


def measure_without[
    size: Int, cols: Int, stages: Int
](
    mut table: Benchmark,
    matrices: p45.Matrices[size, size, size],
    ctx: DeviceContext,
) raises:
    comptime bytes = stages * Int(p45.STAGE_BYTES[cols])

    def run(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[without_a_producer[cols, stages]](
            matrices.map_of[GROUP_ROWS, size, size](ctx, matrices.out_buffer),
            matrices.map_of[ROWS, size, size](ctx, matrices.x),
            matrices.map_of[cols, size, size](ctx, matrices.weights),
            Int32(ceildiv(size, cols)),
            Int32(ceildiv(size, DEPTH)),
            grid_dim=ceildiv(size, cols) * ceildiv(size, ROWS),
            block_dim=2 * p45.GROUP,
            shared_mem_bytes=bytes,
            func_attribute=FuncAttribute.MAX_DYNAMIC_SHARED_SIZE_BYTES(
                UInt32(bytes)
            ),
        )

    table.measure(
        String(t"without {cols}/{stages} {size}"),
        size * size,
        6 * size * size,
        run,
    )
    check(table, matrices)


def measure_all[
    size: Int, units: Int, wide: Int
](mut table: Benchmark, ctx: DeviceContext) raises:
    """All rows; `wide`: the columns of the larger tiles."""
    var matrices = matrices_of[size](ctx)
    comptime tiles = ceildiv(size, wide) * ceildiv(size, ROWS)
    comptime half_of = wide // DEPTH // 2 if wide > DEPTH else 1
    measure_puzzle[size, wide, units](table, matrices, ctx)
    measure[size, wide, 4, half_of](table, matrices, ctx, units)
    measure[size, wide, 2, half_of](table, matrices, ctx, units)
    measure[size, wide, 4, half_of, name="one tile"](
        table, matrices, ctx, tiles
    )
    measure[size, wide, 4, half_of, name="threads", by_threads=True](
        table, matrices, ctx, units
    )
    measure[size, wide, 4, half_of, name="registers", registers=False](
        table, matrices, ctx, units
    )
    measure[size, wide, 4, half_of, name="16 rows", group=16](
        table, matrices, ctx, units
    )
    measure[size, wide, 4, half_of, name="clusters", cluster=2](
        table, matrices, ctx, units
    )
    measure[size, wide // 2, 4, 1](table, matrices, ctx, units)
    measure[size, wide // 2, 6, 1](table, matrices, ctx, units)
    measure_without[size, wide, 4](table, matrices, ctx)
    measure_without[size, wide // 2, 4](table, matrices, ctx)
    measure_without[size, wide // 2, 3](table, matrices, ctx)


def main() raises:
    with DeviceContext() as ctx:
        var table = Benchmark(ctx)
        if on_simulated_gpu():
            measure_all[256, 2, 128](table, ctx)
            return
        if len(argv()) > 1:
            table.timed = False
        measure_all[4096, 132, 256](table, ctx)
        if table.timed:
            measure_all[8192, 132, 256](table, ctx)
