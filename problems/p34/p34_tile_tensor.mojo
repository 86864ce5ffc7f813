from max.gpu import (
    WARP_SIZE,
    AddressSpace,
    barrier,
    block_idx,
    block_rank_in_cluster,
    cluster_arrive,
    cluster_sync,
    cluster_wait,
    elect_one_sync,
    global_idx,
    thread_idx,
    warp_id,
)
from max.gpu.host import DeviceContext, Dim
from layout import TileTensor, row_major, stack_allocation
from std.testing import assert_almost_equal, assert_equal

from lab import choose_mode, stage, submit

comptime dtype = DType.float32

# ANCHOR: cluster_coordination_basics_tile_tensor
comptime SIZE = 1024
comptime TPB = 256
comptime CLUSTER_SIZE = 4
comptime in_layout = row_major[SIZE]()
comptime cluster_layout = row_major[CLUSTER_SIZE]()


def cluster_coordination_basics(
    output: TileTensor[dtype, type_of(cluster_layout), MutAnyOrigin],
    input: TileTensor[dtype, type_of(in_layout), ImmutAnyOrigin],
):
    var global_i = global_idx.x
    var local_i = thread_idx.x
    var block_id = Int(block_rank_in_cluster())
    var shared = stack_allocation[dtype, address_space=AddressSpace.SHARED](
        row_major[TPB]()
    )
    # FILL ME IN (about 10 lines)


# ANCHOR_END: cluster_coordination_basics_tile_tensor


# ANCHOR: cluster_collective_operations_tile_tensor
comptime result_layout = row_major[1]()


def cluster_collective_operations(
    output: TileTensor[dtype, type_of(result_layout), MutAnyOrigin],
    input: TileTensor[dtype, type_of(in_layout), ImmutAnyOrigin],
    temp_storage: TileTensor[dtype, type_of(cluster_layout), MutAnyOrigin],
):
    var global_i = global_idx.x
    var local_i = thread_idx.x
    var block_id = Int(block_rank_in_cluster())
    var shared = stack_allocation[dtype, address_space=AddressSpace.SHARED](
        row_major[TPB]()
    )
    # FILL ME IN (about 20 lines)


# ANCHOR_END: cluster_collective_operations_tile_tensor


# ANCHOR: advanced_cluster_patterns_tile_tensor
comptime WARPS = TPB // WARP_SIZE


def advanced_cluster_patterns(
    output: TileTensor[dtype, type_of(cluster_layout), MutAnyOrigin],
    input: TileTensor[dtype, type_of(in_layout), ImmutAnyOrigin],
):
    var global_i = global_idx.x
    var local_i = thread_idx.x
    var block_id = Int(block_rank_in_cluster())
    var shared = stack_allocation[dtype, address_space=AddressSpace.SHARED](
        row_major[TPB]()
    )
    # One element for every warp of the block.
    var warp_sums = stack_allocation[dtype, address_space=AddressSpace.SHARED](
        row_major[WARPS]()
    )
    # FILL ME IN (about 16 lines)


# ANCHOR_END: advanced_cluster_patterns_tile_tensor


def run_coordination(ctx: DeviceContext) raises:
    print("Testing Multi-Block Coordination")
    print("SIZE:", SIZE, "TPB:", TPB, "CLUSTER_SIZE:", CLUSTER_SIZE)
    var input = ctx.enqueue_create_buffer[dtype](SIZE)
    input.enqueue_fill(0)
    with input.map_to_host() as input_host:
        # Multiples of 1/256: their sums are exact in float32, in any order.
        for i in range(SIZE):
            input_host[i] = Scalar[dtype](i % TPB) / TPB
    var out = ctx.enqueue_create_buffer[dtype](CLUSTER_SIZE)
    out.enqueue_fill(0)
    stage("input", input)
    stage("out", out)

    var expected = ctx.enqueue_create_host_buffer[dtype](CLUSTER_SIZE)
    with input.map_to_host() as input_host:
        for block in range(CLUSTER_SIZE):
            expected[block] = 0
            for i in range(block * TPB, (block + 1) * TPB):
                expected[block] += input_host[i] * Scalar[dtype](block + 1)

    ctx.enqueue_function[cluster_coordination_basics](
        TileTensor(out, cluster_layout),
        TileTensor[mut=False](input, in_layout),
        grid_dim=(CLUSTER_SIZE, 1),
        block_dim=(TPB, 1),
        cluster_dim=Dim(CLUSTER_SIZE, 1, 1),
    )
    ctx.synchronize()

    submit("out", out)
    with out.map_to_host() as out_host:
        print("Block coordination results:")
        for block in range(CLUSTER_SIZE):
            print("  Block", block, ":", out_host[block])
        for block in range(CLUSTER_SIZE):
            assert_equal(out_host[block], expected[block])
    print("✅ Multi-block coordination tests passed!")


def run_reduction(ctx: DeviceContext) raises:
    print("Testing Cluster-Wide Reduction")
    print("SIZE:", SIZE, "TPB:", TPB, "CLUSTER_SIZE:", CLUSTER_SIZE)
    var input = ctx.enqueue_create_buffer[dtype](SIZE)
    input.enqueue_fill(0)
    with input.map_to_host() as input_host:
        for i in range(SIZE):
            input_host[i] = Scalar[dtype](i)
    var out = ctx.enqueue_create_buffer[dtype](1)
    out.enqueue_fill(0)
    var temp_storage = ctx.enqueue_create_buffer[dtype](CLUSTER_SIZE)
    temp_storage.enqueue_fill(0)
    stage("input", input)
    stage("out", out)
    stage("temp_storage", temp_storage)

    var expected = ctx.enqueue_create_host_buffer[dtype](1)
    expected[0] = 0
    with input.map_to_host() as input_host:
        for i in range(SIZE):
            expected[0] += input_host[i]

    ctx.enqueue_function[cluster_collective_operations](
        TileTensor(out, result_layout),
        TileTensor[mut=False](input, in_layout),
        TileTensor(temp_storage, cluster_layout),
        grid_dim=(CLUSTER_SIZE, 1),
        block_dim=(TPB, 1),
        cluster_dim=Dim(CLUSTER_SIZE, 1, 1),
    )
    ctx.synchronize()

    submit("out", out)
    with out.map_to_host() as out_host:
        print("out:", out_host)
        print("expected:", expected)
        print("error:", abs(out_host[0] - expected[0]))
        # Whole numbers below 2^24 add up exactly in float32.
        assert_equal(out_host[0], expected[0])
    print("Puzzle 34 complete ✅")


def run_advanced(ctx: DeviceContext) raises:
    print("Testing Advanced Cluster Patterns")
    print("SIZE:", SIZE, "TPB:", TPB, "CLUSTER_SIZE:", CLUSTER_SIZE)
    var input = ctx.enqueue_create_buffer[dtype](SIZE)
    input.enqueue_fill(0)
    with input.map_to_host() as input_host:
        for i in range(SIZE):
            input_host[i] = Scalar[dtype](i % 50) * 0.02
    var out = ctx.enqueue_create_buffer[dtype](CLUSTER_SIZE)
    out.enqueue_fill(0)
    stage("input", input)
    stage("out", out)

    # In double precision, so that the expectation is closer to the truth than
    # any order of adding up in float32.
    var expected = ctx.enqueue_create_host_buffer[dtype](CLUSTER_SIZE)
    with input.map_to_host() as input_host:
        for block in range(CLUSTER_SIZE):
            var total = Float64(0)
            for i in range(block * TPB, (block + 1) * TPB):
                total += Float64(input_host[i]) * Float64(block + 1)
            expected[block] = Scalar[dtype](total)

    ctx.enqueue_function[advanced_cluster_patterns](
        TileTensor(out, cluster_layout),
        TileTensor[mut=False](input, in_layout),
        grid_dim=(CLUSTER_SIZE, 1),
        block_dim=(TPB, 1),
        cluster_dim=Dim(CLUSTER_SIZE, 1, 1),
    )
    ctx.synchronize()

    submit("out", out)
    with out.map_to_host() as out_host:
        print("out:", out_host)
        print("expected:", expected)
        for block in range(CLUSTER_SIZE):
            assert_almost_equal(out_host[block], expected[block], rtol=1e-5)
    print("Puzzle 34 complete ✅")


def main() raises:
    var mode = choose_mode(
        "p34_tile_tensor", ["--coordination", "--reduction", "--advanced"]
    )
    with DeviceContext() as ctx:
        if mode == "--coordination":
            run_coordination(ctx)
        elif mode == "--reduction":
            run_reduction(ctx)
        else:
            run_advanced(ctx)
