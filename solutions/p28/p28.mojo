from max.gpu import AddressSpace, barrier, block_idx, thread_idx
from max.gpu.host import DeviceContext
from max.gpu.memory import async_copy_wait_all
from layout import Layout, LayoutTensor
from layout.layout_tensor import copy_dram_to_sram_async
from std.testing import assert_equal

from lab import expect_no_flags, stage, submit

# ANCHOR: async_copy_overlap_convolution_solution
comptime VECTOR_SIZE = 16384
comptime CONV_TILE_SIZE = 256
comptime KERNEL_SIZE = 5
# The window reaches two elements to either side.
comptime HALO_SIZE = KERNEL_SIZE // 2
comptime BLOCKS_PER_GRID_ASYNC = (VECTOR_SIZE // CONV_TILE_SIZE, 1)
# One thread for each element of a tile.
comptime THREADS_PER_BLOCK_ASYNC = (CONV_TILE_SIZE, 1)
comptime dtype = DType.float32
comptime layout_async = Layout.row_major(VECTOR_SIZE)
comptime weights_layout = Layout.row_major(KERNEL_SIZE)


# Each block convolves one tile. The first and the last HALO_SIZE elements of a
# tile are copied as they are: their windows would reach into other tiles.
def async_copy_overlap_convolution(
    output: LayoutTensor[dtype, layout_async, MutAnyOrigin],
    a: LayoutTensor[dtype, layout_async, ImmutAnyOrigin],
    weights: LayoutTensor[dtype, weights_layout, ImmutAnyOrigin],
):
    var a_shared = LayoutTensor[
        dtype,
        Layout.row_major(CONV_TILE_SIZE),
        MutAnyOrigin,
        address_space=AddressSpace.SHARED,
    ].stack_allocation()
    var weights_shared = LayoutTensor[
        dtype,
        Layout.row_major(KERNEL_SIZE),
        MutAnyOrigin,
        address_space=AddressSpace.SHARED,
    ].stack_allocation()
    var local_i = thread_idx.x
    # FILL: about 18 lines
    var a_tile = a.tile[CONV_TILE_SIZE](block_idx.x)
    var out_tile = output.tile[CONV_TILE_SIZE](block_idx.x)

    # Starts the copy of the tile, one element per thread, and returns at once:
    # the elements pass through no register, and no thread waits for them.
    copy_dram_to_sram_async[thread_layout=Layout.row_major(CONV_TILE_SIZE)](
        a_shared, a_tile
    )

    # Work that does not need the tile, while it is being copied: a few threads
    # load the weights with ordinary loads.
    if local_i < KERNEL_SIZE:
        weights_shared[local_i] = weights[local_i]

    # Each thread waits for its own copy. The barrier adds the copies of the
    # other threads, and the weights that some of them have stored.
    async_copy_wait_all()
    barrier()

    if local_i >= HALO_SIZE and local_i < CONV_TILE_SIZE - HALO_SIZE:
        var total = Scalar[dtype](0)
        for j in range(KERNEL_SIZE):
            total += a_shared[local_i + j - HALO_SIZE][0] * weights_shared[j][0]
        out_tile[local_i] = total
    else:
        out_tile[local_i] = a_shared[local_i]
    # END_FILL


# ANCHOR_END: async_copy_overlap_convolution_solution


def main() raises:
    expect_no_flags("p28")
    with DeviceContext() as ctx:
        var out = ctx.enqueue_create_buffer[dtype](VECTOR_SIZE)
        out.enqueue_fill(0)
        var a = ctx.enqueue_create_buffer[dtype](VECTOR_SIZE)
        a.enqueue_fill(0)
        var weights = ctx.enqueue_create_buffer[dtype](KERNEL_SIZE)
        weights.enqueue_fill(0)
        with a.map_to_host() as a_host, weights.map_to_host() as weights_host:
            for i in range(VECTOR_SIZE):
                a_host[i] = Scalar[dtype](i + 1)
            for i in range(KERNEL_SIZE):
                weights_host[i] = Scalar[dtype](i + 1)
        stage("a", a)
        stage("weights", weights)
        stage("out", out)

        var expected = ctx.enqueue_create_host_buffer[dtype](VECTOR_SIZE)
        with a.map_to_host() as a_host, weights.map_to_host() as weights_host:
            for i in range(VECTOR_SIZE):
                var place = i % CONV_TILE_SIZE
                if place < HALO_SIZE or place >= CONV_TILE_SIZE - HALO_SIZE:
                    expected[i] = a_host[i]
                    continue
                expected[i] = 0
                for j in range(KERNEL_SIZE):
                    expected[i] += a_host[i + j - HALO_SIZE] * weights_host[j]

        ctx.enqueue_function[async_copy_overlap_convolution](
            LayoutTensor[dtype, layout_async](out),
            LayoutTensor[mut=False, dtype, layout_async](a),
            LayoutTensor[mut=False, dtype, weights_layout](weights),
            grid_dim=BLOCKS_PER_GRID_ASYNC,
            block_dim=THREADS_PER_BLOCK_ASYNC,
        )
        ctx.synchronize()

        submit("out", out)
        with out.map_to_host() as out_host:
            print("out:", out_host)
            print("expected:", expected)
            # Sums of whole numbers below 2^24 are exact in float32.
            for i in range(VECTOR_SIZE):
                assert_equal(out_host[i], expected[i])
        print("Puzzle 28 complete ✅")
