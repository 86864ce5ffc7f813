from max.gpu import block_rank_in_cluster, thread_idx
from max.gpu.host import DeviceContext, Dim

comptime dtype = DType.float32
comptime BLOCKS = 4
comptime THREADS = 32


# ANCHOR: shares
def shares(
    output: Pointer[Scalar[dtype], MutAnyOrigin],
    sums: Pointer[Scalar[dtype], MutAnyOrigin],
):
    var rank = Int(block_rank_in_cluster())
    if thread_idx.x == 0:  # stands for the sum of the block
        sums[unsafe_offset=rank] = Scalar[dtype](10 * (rank + 1))
    if thread_idx.x == 0:
        var total = Scalar[dtype](0)
        for other in range(BLOCKS):
            total += sums[unsafe_offset=other]
        output[unsafe_offset=rank] = sums[unsafe_offset=rank] / total


# ANCHOR_END: shares


def main() raises:
    with DeviceContext() as ctx:
        var output = ctx.enqueue_create_buffer[dtype](BLOCKS)
        var sums = ctx.enqueue_create_buffer[dtype](BLOCKS)
        output.enqueue_fill(0)
        sums.enqueue_fill(0)
        ctx.enqueue_function[shares](
            output,
            sums,
            grid_dim=BLOCKS,
            block_dim=THREADS,
            cluster_dim=Dim(BLOCKS, 1, 1),
        )
        with output.map_to_host() as values:
            print("output:", values)
