"""Products of bf16 matrices by warpgroups: puzzle 44's kernel, and controls.

`tile_loop` is the puzzle's: tiles of 128 x 128 sums, three stages, and the products of one step in flight.
`loop ROWSxCOLS, STAGES` is the same with other tiles and numbers of stages. `waits` leaves no products in flight,
`swizzle 64` and `swizzle 32` have narrower tiles, `grouped` starts blocks of neighbouring tiles together,
`no store` leaves the result out, and `products only` multiplies the first stage again and again: no copy, no
barrier. The argument `once` launches some of them once, and puzzle 44's `one_tile` with its tile swizzled and not.

    mojo build -I problems -I solutions/p44 benchmarks/kernels/warpgroup_products.mojo -o warpgroup_products
"""

from max.gpu import (
    AddressSpace,
    barrier,
    block_idx,
    grid_dim,
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
from std.memory import unsafe_stack_allocation
from std.sys import argv
from std.utils import StaticTuple

from lab.benchmark import Benchmark
from lab.machine import on_simulated_gpu
import p44

comptime dtype = p44.dtype
comptime DEPTH = p44.DEPTH
comptime GROUP = p44.GROUP
comptime Map[rows: Int, span: Int] = TMATensorTile[
    dtype, Coord(Idx[rows], Idx[span])
]

comptime COMPLETE = 0
comptime WAITS = 1
comptime NO_STORE = 2
comptime PRODUCTS_ONLY = 3
comptime GROUPED = 4


def swizzle_of(span: Int) -> TensorMapSwizzle:
    if span == 64:
        return TensorMapSwizzle.SWIZZLE_128B
    if span == 32:
        return TensorMapSwizzle.SWIZZLE_64B
    return TensorMapSwizzle.SWIZZLE_32B


@__llvm_arg_metadata(x, `nvvm.grid_constant`)
@__llvm_arg_metadata(weights, `nvvm.grid_constant`)
def loop[
    groups: Int, cols: Int, count: Int, span: Int, way: Int
](
    output: p44.Output,
    x: Map[groups * 64, span],
    weights: Map[cols, span],
    size: Int32,
    stored: Int32,
):
    """`span`: elements of a row of a copy, 64, 32 or 16."""
    comptime rows = groups * 64
    comptime stage = (rows + cols) * DEPTH
    comptime SWIZZLE = swizzle_of(span)
    var stages = external_memory[
        Scalar[dtype], address_space=AddressSpace.SHARED, alignment=1024
    ]()
    var full = unsafe_stack_allocation[
        count, SharedMemBarrier, alignment=8, address_space=AddressSpace.SHARED
    ]()
    var thread = Int(thread_idx.x)
    var group = thread // GROUP
    var tile_row = Int(block_idx.y)
    var tile_col = Int(block_idx.x)
    comptime if way == GROUPED:
        # Bands of eight rows of tiles, column by column.
        comptime BAND = 8
        var tile = tile_row * Int(grid_dim.x) + tile_col
        var of_band = BAND * Int(grid_dim.x)
        tile_row = tile // of_band * BAND + tile % of_band % BAND
        tile_col = tile % of_band // BAND
    var row = tile_row * rows
    var col = tile_col * cols
    var steps = Int(size) // DEPTH

    @always_inline
    @__parameter
    def copy(i: Int, s: Int):
        full[unsafe_offset=s].expect_bytes(Int32(stage * 2))
        comptime for part in range(DEPTH // span):
            x.async_copy(
                TileTensor(
                    stages.unsafe_offset(s * stage + part * rows * span),
                    row_major[rows, span](),
                ),
                full[unsafe_offset=s],
                (i * DEPTH + part * span, row),
            )
            weights.async_copy(
                TileTensor(
                    stages.unsafe_offset(
                        s * stage + rows * DEPTH + part * cols * span
                    ),
                    row_major[cols, span](),
                ),
                full[unsafe_offset=s],
                (i * DEPTH + part * span, col),
            )

    if thread == 0:
        for s in range(count):
            full[unsafe_offset=s].init(1)
        fence_mbarrier_init()
        for i in range(min(count, steps)):
            copy(i, i)
    barrier()
    var sums = StaticTuple[Float32, cols // 2](0)
    comptime if way == PRODUCTS_ONLY:
        for s in range(count):
            full[unsafe_offset=s].wait(0)
    for i in range(steps):
        var s = i % count
        comptime if way != PRODUCTS_ONLY:
            full[unsafe_offset=s].wait(UInt32(i // count % 2))
        var left = WGMMADescriptor[dtype].create[span, 1, SWIZZLE](
            stages.unsafe_offset(s * stage + group * 64 * span)
        )
        var right = WGMMADescriptor[dtype].create[span, 1, SWIZZLE](
            stages.unsafe_offset(s * stage + rows * DEPTH)
        )
        wgmma_fence_aligned()
        comptime for k in range(0, DEPTH, 16):
            comptime part = k // span
            comptime inside = k % span * 2
            sums = wgmma_async[64, cols, 16, a_type=dtype, b_type=dtype](
                left + (part * rows * span * 2 + inside),
                right + (part * cols * span * 2 + inside),
                sums,
            )
        wgmma_commit_group_sync()
        comptime if way == WAITS:
            wgmma_wait_group_sync()
        else:
            wgmma_wait_group_sync[1]()
        comptime if way != PRODUCTS_ONLY:
            barrier()
            comptime behind = 0 if way == WAITS else 1
            var next = i - behind + count
            if thread == 0 and i >= behind and next < steps:
                copy(next, next % count)
    wgmma_wait_group_sync()
    comptime if way == NO_STORE or way == PRODUCTS_ONLY:
        if stored == 0:
            return
    var lane = Int(lane_id())
    var first = row + group * 64 + thread % GROUP // 32 * 16 + lane // 4
    comptime for j in range(cols // 8):
        comptime for half in range(2):
            output.unsafe_store[alignment=8](
                (first + 8 * half) * Int(size) + col + 8 * j + lane % 4 * 2,
                SIMD[DType.float32, 2](
                    sums[4 * j + 2 * half], sums[4 * j + 2 * half + 1]
                ),
            )


def one_tile_not_swizzled(output: p44.Output, x: p44.Input, weights: p44.Input):
    """Puzzle 44's first kernel in the layout without swizzle."""
    var x_tile = unsafe_stack_allocation[
        64 * DEPTH,
        Scalar[dtype],
        alignment=1024,
        address_space=AddressSpace.SHARED,
    ]()
    var weight_tile = unsafe_stack_allocation[
        128 * DEPTH,
        Scalar[dtype],
        alignment=1024,
        address_space=AddressSpace.SHARED,
    ]()
    var thread = Int(thread_idx.x)
    for i in range(thread, 64 * 8, GROUP):
        x_tile.unsafe_store[alignment=16](
            i // 64 * 512 + i % 8 * 64 + i // 8 % 8 * 8,
            x.unsafe_load[width=8, alignment=16](i * 8),
        )
    for i in range(thread, 128 * 8, GROUP):
        weight_tile.unsafe_store[alignment=16](
            i // 64 * 512 + i % 8 * 64 + i // 8 % 8 * 8,
            weights.unsafe_load[width=8, alignment=16](i * 8),
        )
    fence_async_view_proxy()
    barrier()
    var left = WGMMADescriptor[dtype].create[64, 8](x_tile)
    var right = WGMMADescriptor[dtype].create[64, 8](weight_tile)
    var sums = p44.Sums(0)
    wgmma_fence_aligned()
    comptime for k in range(0, DEPTH, 16):
        sums = wgmma_async[64, 128, 16, a_type=dtype, b_type=dtype](
            left + 16 * k, right + 16 * k, sums
        )
    wgmma_commit_group_sync()
    wgmma_wait_group_sync()
    p44.store_sums(output, sums, 0, 0, 64, 128)


struct Products[size: Int](Movable):
    var matrices: p44.Matrices[Self.size, Self.size, Self.size]
    var table: Benchmark
    var once: Bool

    def __init__(out self, ctx: DeviceContext, once: Bool) raises:
        self.matrices = p44.Matrices[Self.size, Self.size, Self.size](ctx)
        self.table = Benchmark(ctx)
        self.once = once

    def map_of[
        rows: Int, span: Int
    ](self, ctx: DeviceContext, buffer: DeviceBuffer[dtype]) raises -> Map[
        rows, span
    ]:
        return rebind[Map[rows, span]](
            create_tma_tile[rows, span, swizzle_mode=swizzle_of(span)](
                ctx, TileTensor(buffer, row_major[Self.size, Self.size]())
            )
        )

    def puzzle(mut self, ctx: DeviceContext) raises:
        var x = self.matrices.x_map(ctx)
        var weights = self.matrices.weight_map(ctx)
        var output = self.matrices.out_buffer

        def launch(repetition: Int, ctx: DeviceContext) raises {imm}:
            p44.launch_tile_loop[Self.size, Self.size, Self.size](
                ctx, output, x, weights
            )

        self.measure["tile_loop", True](ctx, launch)

    def variant[
        name: StaticString,
        groups: Int,
        cols: Int,
        count: Int,
        span: Int = 64,
        way: Int = COMPLETE,
    ](mut self, ctx: DeviceContext) raises:
        comptime bytes = count * (groups * 64 + cols) * DEPTH * 2
        var x = self.map_of[groups * 64, span](ctx, self.matrices.x)
        var weights = self.map_of[cols, span](ctx, self.matrices.weights)
        var output = self.matrices.out_buffer

        def launch(repetition: Int, ctx: DeviceContext) raises {imm}:
            ctx.enqueue_function[loop[groups, cols, count, span, way]](
                output,
                x,
                weights,
                Int32(Self.size),
                Int32(0),
                grid_dim=(Self.size // cols, Self.size // (groups * 64)),
                block_dim=groups * GROUP,
                shared_mem_bytes=bytes,
                func_attribute=FuncAttribute.MAX_DYNAMIC_SHARED_SIZE_BYTES(
                    UInt32(bytes)
                ),
            )

        self.measure[name, way != NO_STORE and way != PRODUCTS_ONLY](
            ctx, launch
        )

    def measure[
        LaunchType: def(Int, DeviceContext) raises -> None,
        //,
        name: StaticString,
        stores: Bool,
    ](mut self, ctx: DeviceContext, launch: LaunchType) raises:
        self.matrices.out_buffer.enqueue_fill(0)
        if self.once:
            print(name)
            launch(0, ctx)
            ctx.synchronize()
        else:
            self.table.measure(
                String(name),
                Self.size * Self.size,
                8 * Self.size * Self.size,
                launch,
            )
        comptime if stores:
            self.matrices.compare(Self.size * Self.size // 61)


def measure[size: Int](ctx: DeviceContext) raises:
    var products = Products[size](ctx, False)
    products.puzzle(ctx)
    products.variant["loop 128x128, 2", 2, 128, 2](ctx)
    products.variant["loop 128x128, 3", 2, 128, 3](ctx)
    products.variant["loop 128x128, 4", 2, 128, 4](ctx)
    products.variant["loop 128x128, 6", 2, 128, 6](ctx)
    products.variant["loop 64x128, 4", 1, 128, 4](ctx)
    products.variant["loop 64x256, 2", 1, 256, 2](ctx)
    products.variant["loop 128x256, 3", 2, 256, 3](ctx)
    products.variant["loop 128x256, 4", 2, 256, 4](ctx)
    products.variant["loop 256x128, 4", 4, 128, 4](ctx)
    products.variant["waits 128x128, 3", 2, 128, 3, way=WAITS](ctx)
    products.variant["waits 128x128, 4", 2, 128, 4, way=WAITS](ctx)
    products.variant["waits 128x256, 4", 2, 256, 4, way=WAITS](ctx)
    products.variant["grouped 128x128, 3", 2, 128, 3, way=GROUPED](ctx)
    products.variant["grouped 128x256, 4", 2, 256, 4, way=GROUPED](ctx)
    products.variant["swizzle 64, 3", 2, 128, 3, 32](ctx)
    products.variant["swizzle 32, 3", 2, 128, 3, 16](ctx)
    products.variant["no store 128x128, 3", 2, 128, 3, way=NO_STORE](ctx)
    products.variant["no store 128x256, 4", 2, 256, 4, way=NO_STORE](ctx)
    products.variant["products only 128x128, 3", 2, 128, 3, way=PRODUCTS_ONLY](
        ctx
    )
    products.variant["products only 128x128, 4", 2, 128, 4, way=PRODUCTS_ONLY](
        ctx
    )
    products.variant["products only 128x256, 4", 2, 256, 4, way=PRODUCTS_ONLY](
        ctx
    )


def count[size: Int](ctx: DeviceContext) raises:
    """Launches some kernels once, to be counted."""
    var tile = p44.Matrices[64, 128, DEPTH](ctx)
    ctx.enqueue_function[p44.one_tile](
        tile.out_buffer, tile.x, tile.weights, grid_dim=1, block_dim=GROUP
    )
    tile.compare(1)
    tile.out_buffer.enqueue_fill(0)
    ctx.enqueue_function[one_tile_not_swizzled](
        tile.out_buffer, tile.x, tile.weights, grid_dim=1, block_dim=GROUP
    )
    tile.compare(1)
    var products = Products[size](ctx, True)
    products.puzzle(ctx)
    products.variant["waits 128x128, 3", 2, 128, 3, way=WAITS](ctx)
    products.variant["loop 128x256, 4", 2, 256, 4](ctx)
    products.variant["swizzle 32, 3", 2, 128, 3, 16](ctx)
    products.variant["swizzle 64, 3", 2, 128, 3, 32](ctx)
    products.variant["products only 128x128, 3", 2, 128, 3, way=PRODUCTS_ONLY](
        ctx
    )
    products.variant["products only 128x256, 4", 2, 256, 4, way=PRODUCTS_ONLY](
        ctx
    )


def main() raises:
    with DeviceContext() as ctx:
        if on_simulated_gpu():
            count[256](ctx)
        elif len(argv()) > 1:
            count[4096](ctx)
        else:
            measure[4096](ctx)
            measure[8192](ctx)
