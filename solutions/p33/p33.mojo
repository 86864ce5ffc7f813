from max.gpu import (
    WARP_SIZE,
    AddressSpace,
    barrier,
    block_idx,
    lane_id,
    thread_idx,
    warp_id,
)
from max.gpu.compute.mma import mma
from max.gpu.host import DeviceBuffer, DeviceContext, HostBuffer
from max.gpu.memory import async_copy_wait_all
from layout import Layout, LayoutTensor
from layout.layout_tensor import copy_dram_to_sram_async
from std.os import getenv

from lab import choose_mode, stage, submit

comptime dtype = DType.float32

# ANCHOR: matmul_idiomatic_tiled
comptime TILE = 32


def matmul_idiomatic_tiled[
    layout: Layout, size: Int
](
    output: LayoutTensor[dtype, layout, MutAnyOrigin],
    a: LayoutTensor[dtype, layout, ImmutAnyOrigin],
    b: LayoutTensor[dtype, layout, ImmutAnyOrigin],
):
    # The kernel of puzzle 16 with larger tiles: one thread, one element.
    var a_shared = LayoutTensor[
        dtype,
        Layout.row_major(TILE, TILE),
        MutAnyOrigin,
        address_space=AddressSpace.SHARED,
    ].stack_allocation()
    var b_shared = LayoutTensor[
        dtype,
        Layout.row_major(TILE, TILE),
        MutAnyOrigin,
        address_space=AddressSpace.SHARED,
    ].stack_allocation()
    var out_tile = output.tile[TILE, TILE](block_idx.y, block_idx.x)
    var total = Scalar[dtype](0)
    for tile in range(size // TILE):
        copy_dram_to_sram_async[
            thread_layout=Layout.row_major(TILE, TILE), block_dim_count=2
        ](a_shared, a.tile[TILE, TILE](block_idx.y, tile))
        copy_dram_to_sram_async[
            thread_layout=Layout.row_major(TILE, TILE), block_dim_count=2
        ](b_shared, b.tile[TILE, TILE](tile, block_idx.x))
        async_copy_wait_all()
        barrier()
        for k in range(TILE):
            total += a_shared[thread_idx.y, k][0] * b_shared[k, thread_idx.x][0]
        barrier()
    out_tile[thread_idx.y, thread_idx.x] = total


# ANCHOR_END: matmul_idiomatic_tiled


# ANCHOR: tensor_core_fragments
comptime SIZE = 1024
# A block computes a tile of BM x BN elements, with k in steps of BK.
comptime BM = 128
comptime BN = 64
comptime BK = 32
# Each of its 4 x 2 warps computes WM x WN of them...
comptime WM = 32
comptime WN = 32
comptime WARPS = (BM // WM) * (BN // WN)
comptime THREADS = WARPS * WARP_SIZE
# ... in pieces of 16 x 8: one instruction multiplies 16 x 8 by 8 x 8 elements
# and adds the product to 16 x 8. The warps of AMD's CDNA GPUs have 64 lanes;
# their instruction multiplies 16 x 4 by 4 x 16 elements.
comptime CDNA = WARP_SIZE == 64
comptime MMA_M = 16
comptime MMA_N = 16 if CDNA else 8
comptime MMA_K = 4 if CDNA else 8
# What each lane passes: its share of `a` and of `b`.
comptime A_SHARE = MMA_M * MMA_K // WARP_SIZE
comptime B_SHARE = MMA_K * MMA_N // WARP_SIZE
comptime PIECES_M = WM // MMA_M
comptime PIECES_N = WN // MMA_N
# The copies move four numbers at a time.
comptime VECTOR = 4


def load_a_fragment[
    layout: Layout, //
](
    a: LayoutTensor[
        dtype, layout, MutAnyOrigin, address_space=AddressSpace.SHARED
    ],
    row: Int,
    k: Int,
) -> SIMD[dtype, A_SHARE]:
    """What this lane holds of the elements of `a` from (row, k) on."""
    comptime if CDNA:
        return a[row + lane_id() % 16, k + lane_id() // 16][0]
    var r = row + lane_id() // 4
    var c = k + lane_id() % 4
    return [a[r, c][0], a[r + 8, c][0], a[r, c + 4][0], a[r + 8, c + 4][0]]


def load_b_fragment[
    layout: Layout, //
](
    b: LayoutTensor[
        dtype, layout, MutAnyOrigin, address_space=AddressSpace.SHARED
    ],
    k: Int,
    col: Int,
) -> SIMD[dtype, B_SHARE]:
    """What this lane holds of the elements of `b` from (k, col) on."""
    comptime if CDNA:
        return b[k + lane_id() // 16, col + lane_id() % 16][0]
    var r = k + lane_id() % 4
    var c = col + lane_id() // 4
    return [b[r, c][0], b[r + 4, c][0]]


def store_fragment[
    layout: Layout, //
](
    output: LayoutTensor[dtype, layout, MutAnyOrigin],
    row: Int,
    col: Int,
    value: SIMD[dtype, 4],
):
    """Writes this lane's four of the elements from (row, col) on."""
    comptime if CDNA:
        comptime for i in range(4):
            var r = row + lane_id() // 16 * 4 + i
            var c = col + lane_id() % 16
            output[r, c] = value[i]
        return
    var r = row + lane_id() // 4
    var c = col + lane_id() % 4 * 2
    output[r, c] = value[0]
    output[r, c + 1] = value[1]
    output[r + 8, c] = value[2]
    output[r + 8, c + 1] = value[3]


# ANCHOR_END: tensor_core_fragments


# ANCHOR: tensor_core_matrix_multiplication_solution
def tensor_core_matrix_multiplication[
    layout: Layout, size: Int
](
    output: LayoutTensor[dtype, layout, MutAnyOrigin],
    a: LayoutTensor[dtype, layout, ImmutAnyOrigin],
    b: LayoutTensor[dtype, layout, ImmutAnyOrigin],
):
    var a_shared = LayoutTensor[
        dtype,
        Layout.row_major(BM, BK),
        MutAnyOrigin,
        address_space=AddressSpace.SHARED,
    ].stack_allocation()
    var b_shared = LayoutTensor[
        dtype,
        Layout.row_major(BK, BN),
        MutAnyOrigin,
        address_space=AddressSpace.SHARED,
    ].stack_allocation()
    # Where this warp's elements begin, in the block's tile.
    var warp_row = warp_id() // (BN // WN) * WM
    var warp_col = warp_id() % (BN // WN) * WN
    # FILL: about 35 lines
    # The sums stay in registers from the first step to the last: four numbers
    # per lane for each piece.
    var sums = Array[SIMD[dtype, 4], PIECES_M * PIECES_N](fill=0)

    for step in range(size // BK):
        # All threads load the step's tiles of a and b, 16 bytes at a time.
        copy_dram_to_sram_async[
            thread_layout=Layout.row_major(THREADS * VECTOR // BK, BK // VECTOR)
        ](
            a_shared.vectorize[1, VECTOR](),
            a.tile[BM, BK](block_idx.y, step).vectorize[1, VECTOR](),
        )
        copy_dram_to_sram_async[
            thread_layout=Layout.row_major(THREADS * VECTOR // BN, BN // VECTOR)
        ](
            b_shared.vectorize[1, VECTOR](),
            b.tile[BK, BN](step, block_idx.x).vectorize[1, VECTOR](),
        )
        async_copy_wait_all()
        barrier()

        # Every loop here is unrolled: `sums` can only live in registers if
        # each index is known when the program is compiled.
        comptime for k in range(0, BK, MMA_K):
            comptime for m in range(PIECES_M):
                var a_part = load_a_fragment(a_shared, warp_row + m * MMA_M, k)
                comptime for n in range(PIECES_N):
                    var b_part = load_b_fragment(
                        b_shared, k, warp_col + n * MMA_N
                    )
                    # The lanes of the warp pass their fragments together.
                    # NVIDIA's tensor core reads 19 of the 32 bits of each
                    # number (tf32: 10 bits of mantissa) and adds in float32.
                    var sum = sums[m * PIECES_N + n]
                    mma(sum, a_part, b_part, sum)
                    sums[m * PIECES_N + n] = sum
        # No thread may load the next tiles while others still read these.
        barrier()

    comptime for m in range(PIECES_M):
        comptime for n in range(PIECES_N):
            store_fragment(
                output,
                block_idx.y * BM + warp_row + m * MMA_M,
                block_idx.x * BN + warp_col + n * MMA_N,
                sums[m * PIECES_N + n],
            )
    # END_FILL


# ANCHOR_END: tensor_core_matrix_multiplication_solution

# A simulated GPU takes minutes for 1024^3 products; there the matrices are
# smaller, and still several tiles wide.
comptime SIMULATED_SIZE = 256

# An operand cut to tf32 loses less than 2^-10 of its value, a product of two
# less than 2^-9; what is looser would let narrower types pass.
comptime TF32_TOLERANCE = Float64(2e-3)
comptime FLOAT32_TOLERANCE = Float64(1e-5)


def check_sample[
    size: Int
](
    product: HostBuffer[dtype], a: HostBuffer[dtype], b: HostBuffer[dtype]
) raises:
    """Holds a float32 product to exact sums without computing all of it anew.

    Every 61st row and column element by element, in double precision; besides,
    all rows by a weighted sum of their elements, to which each contributes.
    """
    for row in range(size):
        for col in range(size):
            if row % 61 != 0 and col % 61 != 0:
                continue
            var exact = Float64(0)
            var scale = Float64(0)
            for k in range(size):
                var term = Float64(a[row * size + k]) * Float64(
                    b[k * size + col]
                )
                exact += term
                scale += abs(term)
            var got = Float64(product[row * size + col])
            # Written so that a NaN fails too.
            if not (abs(got - exact) <= FLOAT32_TOLERANCE * scale):
                raise Error(t"tiled: [{row}, {col}] is {got}, not {exact}")

    var weighted = List[Float64](length=size, fill=0)
    var bound = List[Float64](length=size, fill=0)
    for k in range(size):
        for col in range(size):
            var term = Float64(b[k * size + col]) * Float64(col % 7 + 1)
            weighted[k] += term
            bound[k] += abs(term)
    for row in range(size):
        var got = Float64(0)
        var exact = Float64(0)
        var scale = Float64(0)
        for i in range(size):
            got += Float64(product[row * size + i]) * Float64(i % 7 + 1)
            exact += Float64(a[row * size + i]) * weighted[i]
            scale += abs(Float64(a[row * size + i])) * bound[i]
        if not (abs(got - exact) <= FLOAT32_TOLERANCE * scale):
            raise Error(t"tiled: the elements of row {row} do not add up")


def check_all[
    size: Int
](product: HostBuffer[dtype], exact: HostBuffer[dtype]) raises -> Float64:
    """Compares every element; returns the largest relative difference."""
    var largest = Float64(0)
    for i in range(size * size):
        var difference = abs(Float64(product[i]) - Float64(exact[i]))
        var scale = abs(Float64(exact[i]))
        if not (difference <= TF32_TOLERANCE * scale + 1e-3):
            raise Error(
                t"tensor core: [{i // size}, {i % size}] is {product[i]}, not"
                t" {exact[i]}"
            )
        if scale > 0:
            largest = max(largest, difference / scale)
    return largest


def run[size: Int](mode: String, ctx: DeviceContext) raises:
    comptime layout = Layout.row_major(size, size)
    var out = ctx.enqueue_create_buffer[dtype](size * size)
    out.enqueue_fill(0)
    var tiled = ctx.enqueue_create_buffer[dtype](size * size)
    tiled.enqueue_fill(0)
    var a = ctx.enqueue_create_buffer[dtype](size * size)
    a.enqueue_fill(0)
    var b = ctx.enqueue_create_buffer[dtype](size * size)
    b.enqueue_fill(0)
    with a.map_to_host() as a_host, b.map_to_host() as b_host:
        for i in range(size * size):
            a_host[i] = Scalar[dtype](i)
            b_host[i] = Scalar[dtype](2 * i)
    stage("a", a)
    stage("b", b)
    if mode != "--tiled":
        stage("out", out)
    if mode != "--tensor-core":
        stage("tiled", tiled)

    print("SIZE:", size, "x", size)
    var a_tensor = LayoutTensor[mut=False, dtype, layout](a)
    var b_tensor = LayoutTensor[mut=False, dtype, layout](b)
    # In every mode: the tiled product is what the tensor core's is held to.
    comptime tiled_kernel = matmul_idiomatic_tiled[layout, size]
    ctx.enqueue_function[tiled_kernel](
        LayoutTensor[dtype, layout](tiled),
        a_tensor,
        b_tensor,
        grid_dim=(size // TILE, size // TILE),
        block_dim=(TILE, TILE),
    )
    if mode != "--tiled":
        # Other GPUs do not have an mma of float32 elements; for them the
        # program is built without the kernel that has it.
        comptime if CDNA or DeviceContext.default_device_info.api == "cuda":
            comptime kernel = tensor_core_matrix_multiplication[layout, size]
            ctx.enqueue_function[kernel](
                LayoutTensor[dtype, layout](out),
                a_tensor,
                b_tensor,
                grid_dim=(size // BN, size // BM),
                block_dim=THREADS,
            )
        else:
            raise Error("this mode needs an NVIDIA GPU or an AMD CDNA GPU")
    ctx.synchronize()

    if mode != "--tiled":
        submit("out", out)
    if mode != "--tensor-core":
        submit("tiled", tiled)
    with a.map_to_host() as a_host, b.map_to_host() as b_host:
        with tiled.map_to_host() as tiled_host, out.map_to_host() as out_host:
            print("tiled:", tiled_host)
            check_sample[size](tiled_host, a_host, b_host)
            if mode != "--tiled":
                print("out:", out_host)
                var largest = check_all[size](out_host, tiled_host)
                if mode == "--test":
                    print("largest relative difference:", largest)


def main() raises:
    var mode = choose_mode("p33", ["--tensor-core", "--tiled", "--test"])
    with DeviceContext() as ctx:
        if getenv("GPU_SIM_SOCKET"):
            run[SIMULATED_SIZE](mode, ctx)
        else:
            run[SIZE](mode, ctx)
        print("Puzzle 33 complete ✅")
