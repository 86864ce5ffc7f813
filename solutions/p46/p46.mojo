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
from max.gpu.host import DeviceBuffer, DeviceContext, FuncAttribute
from max.gpu.host.nvidia.tma import TensorMapSwizzle
from max.gpu.intrinsics import warpgroup_reg_alloc, warpgroup_reg_dealloc
from max.gpu.memory import external_memory, fence_mbarrier_init
from max.gpu.primitives import warp
from max.gpu.sync import syncwarp
from layout import Coord, Idx, TileTensor, row_major
from layout.tma_async import SharedMemBarrier, TMATensorTile, create_tma_tile
from std.math import ceildiv, exp, exp2, sqrt
from std.memory import unsafe_stack_allocation
from std.testing import assert_almost_equal
from std.utils.numerics import neg_inf
from std.utils.static_tuple import StaticTuple

from lab import choose_mode, stage, submit

comptime MINUS_INFINITY = neg_inf[DType.float32]()

# ANCHOR: online_solution
# Three sequences of 44 positions, padded at the front: the keys before
# `first[sequence]` do not count. The third one is padding alone.
comptime SEQUENCES = 3
comptime LENGTH = 44
comptime DEPTH = 16
comptime SCALE = Float32(0.25)  # 1 / sqrt(DEPTH)
# A block has the queries of 32 positions, one for each thread, and brings
# the keys and values of eight positions at a time to shared memory.
comptime ROWS = 32
comptime TILE = 8
comptime Vector = SIMD[DType.float32, DEPTH]


def online(
    output: Pointer[Float32, MutAnyOrigin],
    q: Pointer[Float32, ImmutAnyOrigin],
    k: Pointer[Float32, ImmutAnyOrigin],
    v: Pointer[Float32, ImmutAnyOrigin],
    first: Pointer[Int32, ImmutAnyOrigin],
    length: Int32,
):
    var keys = unsafe_stack_allocation[
        TILE * DEPTH, Float32, alignment=16, address_space=AddressSpace.SHARED
    ]()
    var values = unsafe_stack_allocation[
        TILE * DEPTH, Float32, alignment=16, address_space=AddressSpace.SHARED
    ]()
    var n = Int(length)
    var thread = Int(thread_idx.x)
    var row = Int(block_idx.x) * ROWS + thread
    # Where this sequence begins in q, k, v and the output.
    var start = Int(block_idx.y) * n * DEPTH
    # FILL: about 39 lines
    var first_key = Int(first[unsafe_offset=Int(block_idx.y)])
    var query = Vector(0)
    if row < n:
        query = q.unsafe_load[width=DEPTH, alignment=16](start + row * DEPTH)
    var most = MINUS_INFINITY
    var total = Float32(0)
    var sums = Vector(0)
    for tile in range(0, n, TILE):
        var count = min(TILE, n - tile)
        for i in range(thread, count * DEPTH, ROWS):
            keys[unsafe_offset=i] = k[unsafe_offset=start + tile * DEPTH + i]
            values[unsafe_offset=i] = v[unsafe_offset=start + tile * DEPTH + i]
        barrier()

        var scores = SIMD[DType.float32, TILE](MINUS_INFINITY)
        comptime for j in range(TILE):
            if j < count and tile + j >= first_key:
                var key = keys.unsafe_load[width=DEPTH, alignment=16](j * DEPTH)
                scores[j] = (query * key).reduce_add() * SCALE
        var new = max(most, scores.reduce_max())
        # Without a key so far, -inf minus -inf would be NaN.
        if new > MINUS_INFINITY:
            var weights = exp(scores - new)
            # What was added up with the old maximum counts less now.
            var correction = exp(most - new)
            total = total * correction + weights.reduce_add()
            sums *= correction
            comptime for j in range(TILE):
                if j < count:
                    sums += weights[j] * values.unsafe_load[
                        width=DEPTH, alignment=16
                    ](j * DEPTH)
            most = new
        # The next tile overwrites this one.
        barrier()
    if row < n:
        # Without any key, the result is 0.
        var result = sums / total if total > 0 else Vector(0)
        output.unsafe_store[alignment=16](start + row * DEPTH, result)
    # END_FILL


# ANCHOR_END: online_solution


# ANCHOR: sizes
comptime half = DType.bfloat16
# A warpgroup multiplies 64 rows at a time. A block has two of them, with 64
# queries each, and a third one that only starts copies.
comptime GROUP = 128
comptime GROUP_ROWS = 64
comptime GROUPS = 2
comptime QUERIES = GROUPS * GROUP_ROWS
comptime THREADS = (GROUPS + 1) * GROUP
# Keys and values arrive in two stages each.
comptime STAGES = 2
# Tiles are copied in boxes of 64 columns: 128 bytes, the width of the swizzle.
comptime BOX = 64
comptime BOX_BYTES = BOX * 2
comptime SWIZZLE = TensorMapSwizzle.SWIZZLE_128B
comptime BoxMap[rows: Int] = TMATensorTile[half, Coord(Idx[rows], Idx[BOX])]

# Three heads of 176 positions with 64 features, in tiles of 32 keys.
comptime HEADS = 3
comptime POSITIONS = 176
comptime FEATURES = 64
comptime KEYS = 32

# A thread's part of 64 x `cols` results of a product: of two rows, with eight
# rows between them, two neighbours of every eight columns.
comptime Part[cols: Int] = SIMD[DType.float32, cols // 2]
# Two numbers: one for each of these rows.
comptime Pair = SIMD[DType.float32, 2]


def row_of(i: Int) -> Int:
    """Which of the thread's two rows element `i` of a part belongs to."""
    return i // 2 % 2


def column_of(i: Int) -> Int:
    """The column of element `i` of this thread's part."""
    return i // 4 * 8 + Int(lane_id()) % 4 * 2 + i % 2


@always_inline
def copy_boxes[
    rows: Int, //, features: Int
](
    matrix: BoxMap[rows],
    tile: Pointer[mut=True, Scalar[half], _, address_space=AddressSpace.SHARED],
    full: Pointer[
        mut=True, SharedMemBarrier, _, address_space=AddressSpace.SHARED
    ],
    row: Int,
):
    """Starts the copy of the rows from `row` on, one box after another."""
    full[].expect_bytes(Int32(rows * features * 2))
    comptime for column in range(0, features, BOX):
        matrix.async_copy(
            TileTensor(
                tile.unsafe_offset(rows * column), row_major[rows, BOX]()
            ),
            full[],
            (column, row),
        )


# ANCHOR_END: sizes


# ANCHOR: causal_solution
@always_inline
def tiles_until[keys: Int](last_query: Int, length: Int) -> Int:
    """How many tiles of keys the queries up to this one attend to."""
    # FILL: about 2 lines
    # STUB: return ceildiv(length, keys)
    return ceildiv(min(last_query + 1, length), keys)
    # END_FILL


@always_inline
def hide_later_keys[
    keys: Int
](mut scores: Part[keys], query: Int, first_key: Int):
    """Makes the scores of keys after their query -inf.

    `query` is the position of the thread's first row; its second one is
    eight rows below.
    """
    # FILL: about 5 lines
    # STUB: pass
    if first_key + keys - 1 <= query:
        return
    comptime for i in range(keys // 2):
        if first_key + column_of(i) > query + 8 * row_of(i):
            scores[i] = MINUS_INFINITY
    # END_FILL


# ANCHOR_END: causal_solution


# ANCHOR: attention_solution
@__llvm_metadata(
    MAX_THREADS_PER_BLOCK_METADATA=StaticTuple[Int32, 1](Int32(THREADS))
)
@__llvm_arg_metadata(q, `nvvm.grid_constant`)
@__llvm_arg_metadata(k, `nvvm.grid_constant`)
@__llvm_arg_metadata(v, `nvvm.grid_constant`)
def attention[
    features: Int, keys: Int, causal: Bool
](
    output: Pointer[Float32, MutAnyOrigin],
    q: BoxMap[QUERIES],
    k: BoxMap[keys],
    v: BoxMap[keys],
    length: Int32,
    scale: Float32,
):
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
        # The last queries have most keys: their blocks begin first.
        block = Int(grid_dim.x) - 1 - block
    var first_query = block * QUERIES
    # The row of the matrices where this head begins.
    var head = Int(block_idx.y) * n
    var tiles = ceildiv(n, keys)
    comptime if causal:
        tiles = tiles_until[keys](first_query + QUERIES - 1, n)
    if thread_idx.x == 0:
        q_full[].init(1)
        for s in range(STAGES):
            k_full[unsafe_offset=s].init(1)
            v_full[unsafe_offset=s].init(1)
            # One lane of each warp that multiplies arrives.
            k_free[unsafe_offset=s].init(GROUPS * 4)
            v_free[unsafe_offset=s].init(GROUPS * 4)
        fence_mbarrier_init()
    barrier()

    var group = Int(warp_id()) // 4
    if group == GROUPS:
        # The third warpgroup leaves its registers to the others.
        warpgroup_reg_dealloc[24]()
        if thread_idx.x == GROUPS * GROUP:
            copy_boxes[features](q, q_tile, q_full, head + first_query)
            for i in range(tiles):
                var s = i % STAGES
                var phase = UInt32(i // STAGES % 2)
                # A new mbarrier counts as if phase 1 were complete.
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
    # The thread's first row: a warp has 16 rows.
    var row = first_query + Int(warp_id()) * 16 + Int(lane_id()) // 4
    # FILL: about 96 lines
    # STUB: _ = row
    # STUB: # Frees the stages without using them, so that the copies come to an end.
    # STUB: q_full[].wait(0)
    # STUB: for i in range(tiles):
    # STUB:     var s = i % STAGES
    # STUB:     k_full[unsafe_offset=s].wait(UInt32(i // STAGES % 2))
    # STUB:     v_full[unsafe_offset=s].wait(UInt32(i // STAGES % 2))
    # STUB:     syncwarp()
    # STUB:     if lane_id() == 0:
    # STUB:         _ = k_free[unsafe_offset=s].arrive()
    # STUB:         _ = v_free[unsafe_offset=s].arrive()
    var most = Pair(MINUS_INFINITY)
    var total = Pair(0)
    var sums = Part[features](0)
    # Eight rows of a box are 64 times 16 bytes.
    var left = WGMMADescriptor.create[64, 1, SWIZZLE](
        q_tile.unsafe_offset(group * GROUP_ROWS * BOX)
    )
    q_full[].wait(0)
    for i in range(tiles):
        var s = i % STAGES
        var phase = UInt32(i // STAGES % 2)
        var k_tile = WGMMADescriptor.create[64, 1, SWIZZLE](
            k_tiles.unsafe_offset(s * tile_size)
        )
        k_full[unsafe_offset=s].wait(phase)
        var scores = Part[keys](0)
        wgmma_fence_aligned()
        comptime for j in range(0, features, 16):
            # Which box, and where in its rows.
            comptime box = j // BOX * BOX_BYTES
            comptime column = j % BOX * 2
            scores = wgmma_async[
                GROUP_ROWS, keys, 16, a_type=half, b_type=half
            ](
                left + (box * QUERIES + column),
                k_tile + (box * keys + column),
                scores,
            )
        wgmma_commit_group_sync()
        wgmma_wait_group_sync()
        # The lanes of a warp, of which one arrives, must all have waited.
        syncwarp()
        if lane_id() == 0:
            _ = k_free[unsafe_offset=s].arrive()

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
            # Four lanes have the same two rows.
            new[r] = max(new[r], warp.shuffle_xor(new[r], 1))
            new[r] = max(new[r], warp.shuffle_xor(new[r], 2))
        var correction = exp2((most - new) * scale)
        most = new
        total *= correction
        comptime for e in range(keys // 2):
            comptime r = row_of(e)
            scores[e] = exp2(scores[e] * scale - new[r] * scale)
            total[r] += scores[e]
        comptime for e in range(features // 2):
            sums[e] *= correction[row_of(e)]
        # The results of one product are where the next one wants its left
        # operand.
        var weights = scores.cast[half]()

        var v_tile = WGMMADescriptor.create[64, keys * 8, SWIZZLE](
            v_tiles.unsafe_offset(s * tile_size)
        )
        v_full[unsafe_offset=s].wait(phase)
        wgmma_fence_aligned()
        comptime for j in range(0, keys, 16):
            sums = wgmma_async[
                GROUP_ROWS,
                features,
                16,
                a_type=half,
                b_type=half,
                layout_b="row",
            ](
                weights.slice[8, offset=j // 2](),
                v_tile + j * BOX_BYTES,
                sums,
            )
        wgmma_commit_group_sync()
        wgmma_wait_group_sync()
        syncwarp()
        if lane_id() == 0:
            _ = v_free[unsafe_offset=s].arrive()

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
    # END_FILL


# ANCHOR_END: attention_solution


@fieldwise_init
struct Buffers[dtype: DType, sequences: Int, length: Int, depth: Int](Movable):
    """Queries, keys, values and results of several sequences or heads."""

    comptime size = Self.sequences * Self.length * Self.depth

    var q: DeviceBuffer[Self.dtype]
    var k: DeviceBuffer[Self.dtype]
    var v: DeviceBuffer[Self.dtype]
    var out_buffer: DeviceBuffer[DType.float32]

    def __init__(out self, ctx: DeviceContext) raises:
        """Some queries have scores above 100, and some below -100.

        The results are -1.
        """
        self.q = ctx.enqueue_create_buffer[Self.dtype](Self.size)
        self.k = ctx.enqueue_create_buffer[Self.dtype](Self.size)
        self.v = ctx.enqueue_create_buffer[Self.dtype](Self.size)
        self.out_buffer = ctx.enqueue_create_buffer[DType.float32](Self.size)
        self.out_buffer.enqueue_fill(-1)
        var offset = Float32(20 if Self.depth == DEPTH else 32)
        with self.q.map_to_host() as q, self.k.map_to_host() as k:
            with self.v.map_to_host() as v:
                for i in range(Self.size):
                    var row = i // Self.depth
                    q[i] = Scalar[Self.dtype](
                        Float32((i * 7919 + row * 613) % 41 - 20) / 4
                    )
                    k[i] = Scalar[Self.dtype](
                        Float32((i * 4987 + row * 331) % 41 - 20) / 16
                    )
                    v[i] = Scalar[Self.dtype](
                        Float32((i * 6007 + row * 97) % 255) / 128
                    )
                    if i % Self.depth == 0:
                        q[i] = Scalar[Self.dtype](offset * Float32(row % 3 - 1))
                        k[i] = Scalar[Self.dtype](offset)

    def compare(
        self,
        first: DeviceBuffer[DType.int32],
        causal: Bool,
        each: Int,
        rtol: Float64,
    ) raises:
        """Compares one row in `each`; in every sequence, the keys before `first` do not count.
        """
        with self.q.map_to_host() as q, self.k.map_to_host() as k:
            with self.v.map_to_host() as v, first.map_to_host() as starts:
                with self.out_buffer.map_to_host() as results:
                    for row in range(0, Self.sequences * Self.length, each):
                        var sequence = row // Self.length
                        var position = row % Self.length
                        var begin = Int(starts[sequence])
                        var end = position + 1 if causal else Self.length
                        var scores = List[Float64]()
                        var most = Float64(MINUS_INFINITY)
                        for key in range(begin, end):
                            var score = Float64(0)
                            var other = sequence * Self.length + key
                            for c in range(Self.depth):
                                score += Float64(
                                    q[row * Self.depth + c]
                                ) * Float64(k[other * Self.depth + c])
                            scores.append(score / sqrt(Float64(Self.depth)))
                            most = max(most, scores[len(scores) - 1])
                        var total = Float64(0)
                        for ref score in scores:
                            score = exp(score - most)
                            total += score
                        for c in range(Self.depth):
                            var result = Float64(0)
                            for key in range(begin, end):
                                var other = sequence * Self.length + key
                                result += (
                                    scores[key - begin]
                                    / total
                                    * Float64(v[other * Self.depth + c])
                                )
                            assert_almost_equal(
                                Float64(results[row * Self.depth + c]),
                                result,
                                rtol=rtol,
                                atol=1e-6,
                                msg=String(
                                    t"sequence {sequence}, position {position},"
                                    t" element {c}"
                                ),
                            )


def run_online(ctx: DeviceContext) raises:
    var buffers = Buffers[DType.float32, SEQUENCES, LENGTH, DEPTH](ctx)
    var first = ctx.enqueue_create_buffer[DType.int32](SEQUENCES)
    with first.map_to_host() as positions:
        # More than two tiles of padding, and padding alone.
        positions[0] = 0
        positions[1] = 20
        positions[2] = LENGTH
    stage("q", buffers.q)
    stage("k", buffers.k)
    stage("v", buffers.v)
    stage("first", first)
    stage("out", buffers.out_buffer)
    ctx.enqueue_function[online](
        buffers.out_buffer,
        buffers.q,
        buffers.k,
        buffers.v,
        first,
        Int32(LENGTH),
        grid_dim=(ceildiv(LENGTH, ROWS), SEQUENCES),
        block_dim=ROWS,
    )
    ctx.synchronize()
    submit("out", buffers.out_buffer)
    print("online softmax:", SEQUENCES, "sequences of", LENGTH, "positions")
    buffers.compare(first, False, 1, 1.5e-4)


def map_of[
    rows: Int, size: Int, features: Int
](ctx: DeviceContext, buffer: DeviceBuffer[half]) raises -> BoxMap[rows]:
    return rebind[BoxMap[rows]](
        create_tma_tile[rows, BOX, swizzle_mode=SWIZZLE](
            ctx, TileTensor(buffer, row_major[size, features]())
        )
    )


def run_attention[causal: Bool](ctx: DeviceContext) raises:
    var buffers = Buffers[half, HEADS, POSITIONS, FEATURES](ctx)
    stage("queries", buffers.q)
    stage("keys", buffers.k)
    stage("values", buffers.v)
    stage("out", buffers.out_buffer)
    launch[KEYS, causal](ctx, buffers)
    ctx.synchronize()
    submit("out", buffers.out_buffer)
    print("attention:", HEADS, "heads of", POSITIONS, "positions")
    compare_heads[causal](ctx, buffers, 1)


def launch[
    heads: Int, positions: Int, features: Int, //, keys: Int, causal: Bool
](
    ctx: DeviceContext, buffers: Buffers[half, heads, positions, features]
) raises:
    comptime rows = heads * positions
    comptime bytes = (QUERIES + 2 * STAGES * keys) * features * 2
    ctx.enqueue_function[attention[features, keys, causal]](
        buffers.out_buffer,
        map_of[QUERIES, rows, features](ctx, buffers.q),
        map_of[keys, rows, features](ctx, buffers.k),
        map_of[keys, rows, features](ctx, buffers.v),
        Int32(positions),
        # The kernel computes powers of 2: exp(x) is exp2(log2(e) * x).
        Float32(1.4426950408889634) / sqrt(Float32(features)),
        grid_dim=(ceildiv(positions, QUERIES), heads),
        block_dim=THREADS,
        shared_mem_bytes=bytes,
        func_attribute=FuncAttribute.MAX_DYNAMIC_SHARED_SIZE_BYTES(
            UInt32(bytes)
        ),
    )


def compare_heads[
    heads: Int, positions: Int, features: Int, //, causal: Bool
](
    ctx: DeviceContext,
    buffers: Buffers[half, heads, positions, features],
    each: Int,
) raises:
    var first = ctx.enqueue_create_buffer[DType.int32](heads)
    first.enqueue_fill(0)
    # The weights are rounded to bfloat16: by 1/256 at most.
    buffers.compare(first, causal, each, 0.004)


def main() raises:
    var mode = choose_mode("p46", ["--online", "--wgmma", "--causal"])
    with DeviceContext() as ctx:
        if mode == "--online":
            run_online(ctx)
        else:
            # wgmma exists on NVIDIA GPUs only; elsewhere this program is
            # built without the kernel that has it.
            comptime if DeviceContext.default_device_info.api == "cuda":
                if mode == "--wgmma":
                    run_attention[False](ctx)
                else:
                    run_attention[True](ctx)
            else:
                raise Error(String(mode, " needs an NVIDIA GPU: wgmma"))
        print("Puzzle 46 complete ✅")
