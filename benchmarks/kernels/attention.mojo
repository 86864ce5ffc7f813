"""Attention: puzzle 46's kernel by the number of keys of a tile, an overlapped one, and controls.

`attention` is the puzzle's. In `overlapped` the softmax of a tile is computed while the products of its neighbours
run: the scores of the next tile are started before the values of this one. The controls take one part away: `no
softmax` has the two products alone, `no exp` all but the exponential, and `one product` adds no values. They compute
something else, and are not compared. A name ends with the keys of a tile and the features; the first column of
numbers is the number of elements of the result.

    mojo build -I problems -I solutions/p46 benchmarks/kernels/attention.mojo -o attention
    ncu ./attention --once     # each kernel once and no times, for a profiler
"""

from max.gpu import (
    AddressSpace,
    MAX_THREADS_PER_BLOCK_METADATA,
    barrier,
    block_idx,
    grid_dim,
    lane_id,
    thread_idx,
    warp_id,
)
from max.gpu.compute.mma import (
    WGMMADescriptor,
    wgmma_async,
    wgmma_commit_group_sync,
    wgmma_fence_aligned,
    wgmma_wait_group_sync,
)
from max.gpu.host import DeviceContext, FuncAttribute
from max.gpu.intrinsics import warpgroup_reg_alloc, warpgroup_reg_dealloc
from max.gpu.memory import external_memory, fence_mbarrier_init
from max.gpu.primitives import warp
from max.gpu.sync import syncwarp
from layout.tma_async import SharedMemBarrier
from std.math import ceildiv, exp2, sqrt
from std.memory import unsafe_stack_allocation
from std.sys import argv
from std.utils.static_tuple import StaticTuple

from lab.benchmark import Benchmark
from lab.machine import on_simulated_gpu
import p46
from p46 import (
    BOX,
    BOX_BYTES,
    BoxMap,
    GROUP,
    GROUPS,
    GROUP_ROWS,
    MINUS_INFINITY,
    Pair,
    Part,
    QUERIES,
    STAGES,
    SWIZZLE,
    THREADS,
    column_of,
    copy_boxes,
    half,
    hide_later_keys,
    row_of,
    tiles_until,
)

comptime OVERLAPPED = 0
comptime NO_SOFTMAX = 1
comptime NO_EXP = 2
comptime ONE_PRODUCT = 3


@__llvm_metadata(
    MAX_THREADS_PER_BLOCK_METADATA=StaticTuple[Int32, 1](Int32(THREADS))
)
@__llvm_arg_metadata(q, `nvvm.grid_constant`)
@__llvm_arg_metadata(k, `nvvm.grid_constant`)
@__llvm_arg_metadata(v, `nvvm.grid_constant`)
def variant[
    features: Int, keys: Int, causal: Bool, way: Int
](
    output: Pointer[Float32, MutAnyOrigin],
    q: BoxMap[QUERIES],
    k: BoxMap[keys],
    v: BoxMap[keys],
    length: Int32,
    scale: Float32,
):
    """Puzzle 46's kernel in another order, or without a part of it."""
    comptime tile_size = keys * features
    var q_tile = external_memory[
        Scalar[half], address_space=AddressSpace.SHARED, alignment=1024
    ]()
    var k_tiles = q_tile.unsafe_offset(QUERIES * features)
    var v_tiles = k_tiles.unsafe_offset(STAGES * tile_size)
    var q_full = unsafe_stack_allocation[
        1 + 4 * STAGES,
        SharedMemBarrier,
        alignment=8,
        address_space=AddressSpace.SHARED,
    ]()
    var k_full = q_full.unsafe_offset(1)
    var v_full = k_full.unsafe_offset(STAGES)
    var k_free = v_full.unsafe_offset(STAGES)
    var v_free = k_free.unsafe_offset(STAGES)
    var n = Int(length)
    var block = Int(block_idx.x)
    comptime if causal:
        block = Int(grid_dim.x) - 1 - block
    var first_query = block * QUERIES
    var head = Int(block_idx.y) * n
    var tiles = ceildiv(n, keys)
    comptime if causal:
        tiles = tiles_until[keys](first_query + QUERIES - 1, n)
    if thread_idx.x == 0:
        q_full[].init(1)
        for s in range(STAGES):
            k_full[unsafe_offset=s].init(1)
            v_full[unsafe_offset=s].init(1)
            k_free[unsafe_offset=s].init(GROUPS * 4)
            v_free[unsafe_offset=s].init(GROUPS * 4)
        fence_mbarrier_init()
    barrier()

    var group = Int(warp_id()) // 4
    if group == GROUPS:
        warpgroup_reg_dealloc[24]()
        if thread_idx.x == GROUPS * GROUP:
            copy_boxes[features](q, q_tile, q_full, head + first_query)
            for i in range(tiles):
                var s = i % STAGES
                var phase = UInt32(i // STAGES % 2)
                k_free[unsafe_offset=s].wait(phase ^ 1)
                copy_boxes[features](
                    k,
                    k_tiles.unsafe_offset(s * tile_size),
                    k_full.unsafe_offset(s),
                    head + i * keys,
                )
                v_free[unsafe_offset=s].wait(phase ^ 1)
                copy_boxes[features](
                    v,
                    v_tiles.unsafe_offset(s * tile_size),
                    v_full.unsafe_offset(s),
                    head + i * keys,
                )
        return
    warpgroup_reg_alloc[240]()
    var row = first_query + Int(warp_id()) * 16 + Int(lane_id()) // 4
    var most = Pair(MINUS_INFINITY)
    var total = Pair(0)
    var sums = Part[features](0)
    var weights = SIMD[half, keys // 2](0)
    var left = WGMMADescriptor.create[64, 1, SWIZZLE](
        q_tile.unsafe_offset(group * GROUP_ROWS * BOX)
    )
    q_full[].wait(0)

    @always_inline
    @__parameter
    def start_scores(i: Int) -> Part[keys]:
        var s = i % STAGES
        var tile = WGMMADescriptor.create[64, 1, SWIZZLE](
            k_tiles.unsafe_offset(s * tile_size)
        )
        k_full[unsafe_offset=s].wait(UInt32(i // STAGES % 2))
        var scores = Part[keys](0)
        wgmma_fence_aligned()
        comptime for j in range(0, features, 16):
            comptime box = j // BOX * BOX_BYTES
            comptime column = j % BOX * 2
            scores = wgmma_async[
                GROUP_ROWS, keys, 16, a_type=half, b_type=half
            ](
                left + (box * QUERIES + column),
                tile + (box * keys + column),
                scores,
            )
        wgmma_commit_group_sync()
        return scores

    @always_inline
    @__parameter
    def start_values(i: Int):
        var s = i % STAGES
        var tile = WGMMADescriptor.create[64, keys * 8, SWIZZLE](
            v_tiles.unsafe_offset(s * tile_size)
        )
        v_full[unsafe_offset=s].wait(UInt32(i // STAGES % 2))
        wgmma_fence_aligned()
        comptime for j in range(0, keys, 16):
            sums = wgmma_async[
                GROUP_ROWS,
                features,
                16,
                a_type=half,
                b_type=half,
                layout_b="row",
            ](weights.slice[8, offset=j // 2](), tile + j * BOX_BYTES, sums)
        wgmma_commit_group_sync()

    @always_inline
    @__parameter
    def softmax(mut scores: Part[keys], i: Int) -> Pair:
        """Makes weights of the scores, and returns the correction of the sums.
        """
        if i * keys + keys > n:
            comptime for e in range(keys // 2):
                if i * keys + column_of(e) >= n:
                    scores[e] = MINUS_INFINITY
        comptime if causal:
            hide_later_keys[keys](scores, row, i * keys)
        var new = most
        comptime for e in range(keys // 2):
            new[row_of(e)] = max(new[row_of(e)], scores[e])
        comptime for r in range(2):
            new[r] = max(new[r], warp.shuffle_xor(new[r], 1))
            new[r] = max(new[r], warp.shuffle_xor(new[r], 2))
        var correction = exp2((most - new) * scale)
        most = new
        total *= correction
        comptime for e in range(keys // 2):
            comptime r = row_of(e)
            scores[e] = scores[e] * scale - new[r] * scale
            comptime if way != NO_EXP:
                scores[e] = exp2(scores[e])
            total[r] += scores[e]
        return correction

    @always_inline
    @__parameter
    def rescale(correction: Pair):
        comptime for e in range(features // 2):
            sums[e] *= correction[row_of(e)]

    @always_inline
    @__parameter
    def release(free: type_of(k_free), i: Int):
        syncwarp()
        if lane_id() == 0:
            _ = free[unsafe_offset=i % STAGES].arrive()

    comptime if way == OVERLAPPED:
        var scores = start_scores(0)
        wgmma_wait_group_sync()
        release(k_free, 0)
        _ = softmax(scores, 0)
        weights = scores.cast[half]()
        for i in range(1, tiles):
            scores = start_scores(i)
            start_values(i - 1)
            # The scores are complete, the sums not yet.
            wgmma_wait_group_sync[1]()
            release(k_free, i)
            var correction = softmax(scores, i)
            wgmma_wait_group_sync()
            release(v_free, i - 1)
            rescale(correction)
            weights = scores.cast[half]()
        start_values(tiles - 1)
        wgmma_wait_group_sync()
    else:
        for i in range(tiles):
            var scores = start_scores(i)
            wgmma_wait_group_sync()
            release(k_free, i)
            comptime if way != NO_SOFTMAX:
                rescale(softmax(scores, i))
            weights = scores.cast[half]()
            comptime if way == ONE_PRODUCT:
                v_full[unsafe_offset=i % STAGES].wait(UInt32(i // STAGES % 2))
                # The weights are used, so that the compiler keeps them.
                comptime for e in range(min(keys, features) // 2):
                    sums[e] += weights[e].cast[DType.float32]()
            else:
                start_values(i)
                wgmma_wait_group_sync()
            release(v_free, i)

    comptime for r in range(2):
        total[r] += warp.shuffle_xor(total[r], 1)
        total[r] += warp.shuffle_xor(total[r], 2)
    comptime for e in range(0, features // 2, 2):
        comptime r = row_of(e)
        if row + 8 * r < n:
            output.unsafe_store[alignment=8](
                (head + row + 8 * r) * features + column_of(e),
                Pair(sums[e], sums[e + 1]) / total[r],
            )


def measure_variant[
    heads: Int,
    positions: Int,
    features: Int,
    //,
    keys: Int,
    causal: Bool,
    way: Int,
](
    mut table: Benchmark,
    buffers: p46.Buffers[half, heads, positions, features],
    ctx: DeviceContext,
    name: String,
) raises:
    comptime rows = heads * positions
    comptime bytes = (QUERIES + 2 * STAGES * keys) * features * 2
    var q = p46.map_of[QUERIES, rows, features](ctx, buffers.q)
    var k = p46.map_of[keys, rows, features](ctx, buffers.k)
    var v = p46.map_of[keys, rows, features](ctx, buffers.v)

    def run(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[variant[features, keys, causal, way]](
            buffers.out_buffer,
            q,
            k,
            v,
            Int32(positions),
            Float32(1.4426950408889634) / sqrt(Float32(features)),
            grid_dim=(ceildiv(positions, QUERIES), heads),
            block_dim=THREADS,
            shared_mem_bytes=bytes,
            func_attribute=FuncAttribute.MAX_DYNAMIC_SHARED_SIZE_BYTES(
                UInt32(bytes)
            ),
        )

    if len(argv()) > 1:
        run(0, ctx)
        ctx.synchronize()
        return
    table.measure(String(t"{name}, {keys} x {features}"), buffers.size, 0, run)
    comptime if way == OVERLAPPED:
        p46.compare_heads[causal](ctx, buffers, 9973)


def measure_puzzle[
    heads: Int, positions: Int, features: Int, //, keys: Int, causal: Bool
](
    mut table: Benchmark,
    buffers: p46.Buffers[half, heads, positions, features],
    ctx: DeviceContext,
) raises:
    def run(repetition: Int, ctx: DeviceContext) raises {imm}:
        p46.launch[keys, causal](ctx, buffers)

    if len(argv()) > 1:
        run(0, ctx)
        ctx.synchronize()
        return
    var name = "causal" if causal else "attention"
    table.measure(String(t"{name}, {keys} x {features}"), buffers.size, 0, run)
    p46.compare_heads[causal](ctx, buffers, 9973)


def measure_all[
    positions: Int, heads: Int, features: Int
](ctx: DeviceContext) raises:
    var table = Benchmark(ctx)
    var buffers = p46.Buffers[half, heads, positions, features](ctx)
    print(heads, "heads of", positions, "positions")
    measure_puzzle[128, False](table, buffers, ctx)
    measure_puzzle[128, True](table, buffers, ctx)
    measure_puzzle[64, False](table, buffers, ctx)
    measure_puzzle[64, True](table, buffers, ctx)
    measure_variant[128, False, OVERLAPPED](table, buffers, ctx, "overlapped")
    measure_variant[128, True, OVERLAPPED](
        table, buffers, ctx, "overlapped, causal"
    )
    measure_variant[128, False, NO_SOFTMAX](table, buffers, ctx, "no softmax")
    measure_variant[128, False, NO_EXP](table, buffers, ctx, "no exp")
    measure_variant[128, False, ONE_PRODUCT](table, buffers, ctx, "one product")


def main() raises:
    with DeviceContext() as ctx:
        if on_simulated_gpu():
            measure_all[320, 1, 128](ctx)
        elif len(argv()) > 1:
            measure_all[4096, 32, 128](ctx)
        else:
            measure_all[4096, 32, 128](ctx)
            measure_all[16384, 16, 128](ctx)
            measure_all[4096, 32, 64](ctx)
            measure_all[16384, 16, 64](ctx)
