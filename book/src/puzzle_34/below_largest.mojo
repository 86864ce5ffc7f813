from max.gpu import AddressSpace, block_rank_in_cluster
from max.gpu.host import DeviceContext, Dim
from max.gpu.primitives.cluster import load_cluster_smem
from layout import TileTensor, row_major, stack_allocation

comptime dtype = DType.float32
comptime BLOCKS = 4
comptime layout = row_major[BLOCKS]()


# ANCHOR: below_largest
def below_largest(output: TileTensor[dtype, type_of(layout), MutAnyOrigin]):
    var rank = Int(block_rank_in_cluster())
    var own = stack_allocation[dtype, address_space=AddressSpace.SHARED](
        row_major[1]()
    )
    own[0] = Scalar[dtype](10 * (rank + 1))
    var largest = own[0]
    for other in range(BLOCKS):
        var theirs = load_cluster_smem[dtype, 1](
            own.unsafe_ptr(), UInt32(other)
        )[0]
        largest = max(largest, theirs)
    output[rank] = own[0] - largest


# ANCHOR_END: below_largest


def main() raises:
    with DeviceContext() as ctx:
        var output = ctx.enqueue_create_buffer[dtype](BLOCKS)
        output.enqueue_fill(0)
        ctx.enqueue_function[below_largest](
            TileTensor(output, layout),
            grid_dim=BLOCKS,
            block_dim=1,
            cluster_dim=Dim(BLOCKS, 1, 1),
        )
        with output.map_to_host() as values:
            print("output:", values)
