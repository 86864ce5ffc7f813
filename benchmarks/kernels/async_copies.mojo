"""When an asynchronous copy to shared memory saves time: puzzle 28's convolution in ten forms.

`puzzle` is the puzzle's kernel, `puzzle, plain` the same with an ordinary load. Its loop over the weights is a loop
in machine code, too. In all other rows it is unrolled: `library` has the puzzle's function for the copy, `async`
the instruction itself, and `plain` an ordinary load, one tile per block; with `16 bytes` a quarter of the threads
copies or loads four elements each. In the loops 8 blocks per multiprocessor take one tile after another: `loop,
plain` loads a tile when it needs it, `loop, register` loads the next tile's element into a register before it
computes, and `loop, async` copies the next tile to a second buffer meanwhile. `copy` only copies, one element per
thread.

    mojo build -I problems -I solutions/p28 benchmarks/kernels/async_copies.mojo -o async_copies
"""

from max.gpu import AddressSpace, barrier, block_idx, grid_dim, thread_idx
from max.gpu.host import DeviceBuffer, DeviceContext
from max.gpu.memory import (
    async_copy,
    async_copy_commit_group,
    async_copy_wait_all,
    async_copy_wait_group,
)
from layout import TileTensor, row_major, stack_allocation
from layout.tile_io import copy_dram_to_sram_async
from std.memory import unsafe_stack_allocation
from std.testing import assert_equal

from lab.benchmark import Benchmark
from sizes import at_full_size, sampled
import p28_tile_tensor as p28

comptime dtype = DType.float32
comptime TILE = p28.CONV_TILE_SIZE
comptime HALO = p28.HALO_SIZE
comptime TAPS = p28.KERNEL_SIZE
comptime Output = Pointer[Float32, MutAnyOrigin]
comptime Input = Pointer[Float32, ImmutAnyOrigin]
comptime Tile = Pointer[
    Float32, MutUntrackedOrigin, address_space=AddressSpace.SHARED
]


def copy(output: Output, a: Input):
    var i = block_idx.x * TILE + thread_idx.x
    output[unsafe_offset=i] = a[unsafe_offset=i]


def convolve(tile: Tile, weights: Tile) -> Float32:
    """The result of the thread's element; elements at the edges of a tile are copied.
    """
    var i = thread_idx.x
    if i < HALO or i >= TILE - HALO:
        return tile[unsafe_offset=i]
    var total = Float32(0)
    comptime for j in range(TAPS):
        total += tile[unsafe_offset=i + j - HALO] * weights[unsafe_offset=j]
    return total


def plain(output: Output, a: Input, weights: Input):
    var tile = unsafe_stack_allocation[
        TILE, Float32, address_space=AddressSpace.SHARED
    ]()
    var taps = unsafe_stack_allocation[
        TAPS, Float32, address_space=AddressSpace.SHARED
    ]()
    var i = block_idx.x * TILE + thread_idx.x
    # The load is issued here; the thread waits at the first use of its value, two lines below.
    var element = a[unsafe_offset=i]
    if thread_idx.x < TAPS:
        taps[unsafe_offset=thread_idx.x] = weights[unsafe_offset=thread_idx.x]
    tile[unsafe_offset=thread_idx.x] = element
    barrier()
    output[unsafe_offset=i] = convolve(tile, taps)


def puzzle_plain(
    output: TileTensor[dtype, type_of(p28.layout_async), MutAnyOrigin],
    a: TileTensor[dtype, type_of(p28.layout_async), ImmutAnyOrigin],
    weights: TileTensor[dtype, type_of(p28.weights_layout), ImmutAnyOrigin],
):
    """The puzzle's kernel with an ordinary load in place of the copy."""
    var a_shared = stack_allocation[dtype, address_space=AddressSpace.SHARED](
        row_major[TILE]()
    )
    var weights_shared = stack_allocation[
        dtype, address_space=AddressSpace.SHARED
    ](row_major[TAPS]())
    var local_i = thread_idx.x
    var a_tile = a.tile[TILE](block_idx.x)
    var out_tile = output.tile[TILE](block_idx.x)
    var element = a_tile[local_i]
    if local_i < TAPS:
        weights_shared[local_i] = weights[local_i]
    a_shared[local_i] = element
    barrier()
    if local_i >= HALO and local_i < TILE - HALO:
        var total = Scalar[dtype](0)
        for j in range(TAPS):
            total += a_shared[local_i + j - HALO] * weights_shared[j]
        out_tile[local_i] = total
    else:
        out_tile[local_i] = a_shared[local_i]


def library(
    output: TileTensor[dtype, type_of(p28.layout_async), MutAnyOrigin],
    a: TileTensor[dtype, type_of(p28.layout_async), ImmutAnyOrigin],
    weights: TileTensor[dtype, type_of(p28.weights_layout), ImmutAnyOrigin],
):
    """The puzzle's kernel with an unrolled loop."""
    var a_shared = stack_allocation[dtype, address_space=AddressSpace.SHARED](
        row_major[TILE]()
    )
    var weights_shared = stack_allocation[
        dtype, address_space=AddressSpace.SHARED
    ](row_major[TAPS]())
    var local_i = thread_idx.x
    var a_tile = a.tile[TILE](block_idx.x)
    var out_tile = output.tile[TILE](block_idx.x)
    copy_dram_to_sram_async[row_major[TILE]()](a_shared, a_tile)
    if local_i < TAPS:
        weights_shared[local_i] = weights[local_i]
    async_copy_wait_all()
    barrier()
    if local_i >= HALO and local_i < TILE - HALO:
        var total = Scalar[dtype](0)
        comptime for j in range(TAPS):
            total += a_shared[local_i + j - HALO] * weights_shared[j]
        out_tile[local_i] = total
    else:
        out_tile[local_i] = a_shared[local_i]


def async_single(output: Output, a: Input, weights: Input):
    var tile = unsafe_stack_allocation[
        TILE, Float32, address_space=AddressSpace.SHARED
    ]()
    var taps = unsafe_stack_allocation[
        TAPS, Float32, address_space=AddressSpace.SHARED
    ]()
    var i = block_idx.x * TILE + thread_idx.x
    async_copy[4](
        a.unsafe_offset(i).unsafe_address_space_cast[AddressSpace.GLOBAL](),
        tile.unsafe_offset(thread_idx.x),
    )
    async_copy_commit_group()
    if thread_idx.x < TAPS:
        taps[unsafe_offset=thread_idx.x] = weights[unsafe_offset=thread_idx.x]
    async_copy_wait_group(0)
    barrier()
    output[unsafe_offset=i] = convolve(tile, taps)


def plain_wide(output: Output, a: Input, weights: Input):
    var tile = unsafe_stack_allocation[
        TILE, Float32, alignment=16, address_space=AddressSpace.SHARED
    ]()
    var taps = unsafe_stack_allocation[
        TAPS, Float32, address_space=AddressSpace.SHARED
    ]()
    if thread_idx.x < TILE // 4:
        tile.unsafe_store[alignment=16](
            4 * thread_idx.x,
            a.unsafe_load[width=4, alignment=16](
                block_idx.x * TILE + 4 * thread_idx.x
            ),
        )
    if thread_idx.x < TAPS:
        taps[unsafe_offset=thread_idx.x] = weights[unsafe_offset=thread_idx.x]
    barrier()
    output[unsafe_offset=block_idx.x * TILE + thread_idx.x] = convolve(
        tile, taps
    )


def async_wide(output: Output, a: Input, weights: Input):
    var tile = unsafe_stack_allocation[
        TILE, Float32, alignment=16, address_space=AddressSpace.SHARED
    ]()
    var taps = unsafe_stack_allocation[
        TAPS, Float32, address_space=AddressSpace.SHARED
    ]()
    if thread_idx.x < TILE // 4:
        async_copy[16](
            a.unsafe_offset(
                block_idx.x * TILE + 4 * thread_idx.x
            ).unsafe_address_space_cast[AddressSpace.GLOBAL](),
            tile.unsafe_offset(4 * thread_idx.x),
        )
    async_copy_commit_group()
    if thread_idx.x < TAPS:
        taps[unsafe_offset=thread_idx.x] = weights[unsafe_offset=thread_idx.x]
    async_copy_wait_group(0)
    barrier()
    output[unsafe_offset=block_idx.x * TILE + thread_idx.x] = convolve(
        tile, taps
    )


def loop_plain(output: Output, a: Input, weights: Input, tiles: Int32):
    var tile = unsafe_stack_allocation[
        TILE, Float32, address_space=AddressSpace.SHARED
    ]()
    var taps = unsafe_stack_allocation[
        TAPS, Float32, address_space=AddressSpace.SHARED
    ]()
    if thread_idx.x < TAPS:
        taps[unsafe_offset=thread_idx.x] = weights[unsafe_offset=thread_idx.x]
    for t in range(block_idx.x, Int(tiles), grid_dim.x):
        var i = t * TILE + thread_idx.x
        tile[unsafe_offset=thread_idx.x] = a[unsafe_offset=i]
        barrier()
        output[unsafe_offset=i] = convolve(tile, taps)
        barrier()


def loop_register(output: Output, a: Input, weights: Input, tiles: Int32):
    var tile = unsafe_stack_allocation[
        TILE, Float32, address_space=AddressSpace.SHARED
    ]()
    var taps = unsafe_stack_allocation[
        TAPS, Float32, address_space=AddressSpace.SHARED
    ]()
    if thread_idx.x < TAPS:
        taps[unsafe_offset=thread_idx.x] = weights[unsafe_offset=thread_idx.x]
    var element = a[unsafe_offset=block_idx.x * TILE + thread_idx.x]
    for t in range(block_idx.x, Int(tiles), grid_dim.x):
        tile[unsafe_offset=thread_idx.x] = element
        barrier()
        var next = t + grid_dim.x
        if next < Int(tiles):
            element = a[unsafe_offset=next * TILE + thread_idx.x]
        output[unsafe_offset=t * TILE + thread_idx.x] = convolve(tile, taps)
        barrier()


def loop_async(output: Output, a: Input, weights: Input, tiles: Int32):
    var buffers = unsafe_stack_allocation[
        2 * TILE, Float32, address_space=AddressSpace.SHARED
    ]()
    var taps = unsafe_stack_allocation[
        TAPS, Float32, address_space=AddressSpace.SHARED
    ]()
    if thread_idx.x < TAPS:
        taps[unsafe_offset=thread_idx.x] = weights[unsafe_offset=thread_idx.x]
    async_copy[4](
        a.unsafe_offset(
            block_idx.x * TILE + thread_idx.x
        ).unsafe_address_space_cast[AddressSpace.GLOBAL](),
        buffers.unsafe_offset(thread_idx.x),
    )
    async_copy_commit_group()
    var current = 0
    for t in range(block_idx.x, Int(tiles), grid_dim.x):
        var next = t + grid_dim.x
        if next < Int(tiles):
            async_copy[4](
                a.unsafe_offset(
                    next * TILE + thread_idx.x
                ).unsafe_address_space_cast[AddressSpace.GLOBAL](),
                buffers.unsafe_offset((1 - current) * TILE + thread_idx.x),
            )
        # A group per step, empty in the last one: all but the newest are complete then.
        async_copy_commit_group()
        async_copy_wait_group(1)
        barrier()
        output[unsafe_offset=t * TILE + thread_idx.x] = convolve(
            buffers.unsafe_offset(current * TILE), taps
        )
        barrier()
        current = 1 - current


def check_and_clear(
    result: DeviceBuffer[dtype],
    a: DeviceBuffer[dtype],
    weights: DeviceBuffer[dtype],
    copied: Bool,
) raises:
    if sampled():
        return
    with result.map_to_host() as result_host, a.map_to_host() as source:
        with weights.map_to_host() as taps:
            for i in range(len(result_host)):
                var position = i % TILE
                var expected = source[i]
                if not copied and position >= HALO and position < TILE - HALO:
                    expected = 0
                    for j in range(TAPS):
                        expected += source[i + j - HALO] * taps[j]
                assert_equal(result_host[i], expected)
    result.enqueue_fill(-1)


def measure(
    mut table: Benchmark, size: Int, blocks: Int, ctx: DeviceContext
) raises:
    var out = ctx.enqueue_create_buffer[dtype](size)
    out.enqueue_fill(-1)
    var a = ctx.enqueue_create_buffer[dtype](size)
    var weights = ctx.enqueue_create_buffer[dtype](TAPS)
    with a.map_to_host() as source, weights.map_to_host() as taps:
        for i in range(size):
            source[i] = Float32(i % 1021 + 1)  # sums are exact
        for j in range(TAPS):
            taps[j] = Float32(j + 1)

    def run_copy(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[copy](
            out, a, grid_dim=size // TILE, block_dim=TILE
        )

    def run_async(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[async_single](
            out, a, weights, grid_dim=size // TILE, block_dim=TILE
        )

    def run_puzzle(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[p28.async_copy_overlap_convolution](
            TileTensor(out, p28.layout_async),
            TileTensor[mut=False](a, p28.layout_async),
            TileTensor[mut=False](weights, p28.weights_layout),
            grid_dim=size // TILE,
            block_dim=TILE,
        )

    def run_puzzle_plain(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[puzzle_plain](
            TileTensor(out, p28.layout_async),
            TileTensor[mut=False](a, p28.layout_async),
            TileTensor[mut=False](weights, p28.weights_layout),
            grid_dim=size // TILE,
            block_dim=TILE,
        )

    def run_library(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[library](
            TileTensor(out, p28.layout_async),
            TileTensor[mut=False](a, p28.layout_async),
            TileTensor[mut=False](weights, p28.weights_layout),
            grid_dim=size // TILE,
            block_dim=TILE,
        )

    def run_plain(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[plain](
            out, a, weights, grid_dim=size // TILE, block_dim=TILE
        )

    def run_plain_wide(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[plain_wide](
            out, a, weights, grid_dim=size // TILE, block_dim=TILE
        )

    def run_async_wide(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[async_wide](
            out, a, weights, grid_dim=size // TILE, block_dim=TILE
        )

    def run_loop_plain(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[loop_plain](
            out,
            a,
            weights,
            Int32(size // TILE),
            grid_dim=blocks,
            block_dim=TILE,
        )

    def run_loop_register(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[loop_register](
            out,
            a,
            weights,
            Int32(size // TILE),
            grid_dim=blocks,
            block_dim=TILE,
        )

    def run_loop_async(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[loop_async](
            out,
            a,
            weights,
            Int32(size // TILE),
            grid_dim=blocks,
            block_dim=TILE,
        )

    var bytes = 2 * size * 4
    table.measure("copy", size, bytes, run_copy)
    check_and_clear(out, a, weights, True)
    table.measure("puzzle", size, bytes, run_puzzle)
    check_and_clear(out, a, weights, False)
    table.measure("puzzle, plain", size, bytes, run_puzzle_plain)
    check_and_clear(out, a, weights, False)
    table.measure("library", size, bytes, run_library)
    check_and_clear(out, a, weights, False)
    table.measure("async", size, bytes, run_async)
    check_and_clear(out, a, weights, False)
    table.measure("plain", size, bytes, run_plain)
    check_and_clear(out, a, weights, False)
    table.measure("async, 16 bytes", size, bytes, run_async_wide)
    check_and_clear(out, a, weights, False)
    table.measure("plain, 16 bytes", size, bytes, run_plain_wide)
    check_and_clear(out, a, weights, False)
    table.measure(
        String(t"loop, plain, {blocks} blocks"), size, bytes, run_loop_plain
    )
    check_and_clear(out, a, weights, False)
    table.measure(
        String(t"loop, register, {blocks} blocks"),
        size,
        bytes,
        run_loop_register,
    )
    check_and_clear(out, a, weights, False)
    table.measure(
        String(t"loop, async, {blocks} blocks"), size, bytes, run_loop_async
    )
    check_and_clear(out, a, weights, False)


def main() raises:
    with DeviceContext() as ctx:
        var table = Benchmark(ctx)
        measure(table, 64 * TILE, 8, ctx)
        if at_full_size(table):
            measure(table, 64 * 1024 * 1024, 132 * 8, ctx)
            measure(table, 64 * 1024 * 1024, 132 * 2, ctx)
