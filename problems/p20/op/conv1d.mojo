import extensibility
from extensibility import InputTensor, OutputTensor
from layout import TensorLayout, TileTensor, row_major, stack_allocation
from max.gpu import AddressSpace, barrier, block_dim, block_idx, thread_idx
from max.gpu.host import DeviceContext

comptime TPB = 15
comptime BLOCKS_PER_GRID = (2, 1)
comptime THREADS_PER_BLOCK = (TPB, 1)


def conv1d_kernel[
    OutputLayout: TensorLayout,
    InputLayout: TensorLayout,
    KernelLayout: TensorLayout,
    //,
    input_size: Int,
    conv_size: Int,
    dtype: DType,
](
    output: TileTensor[dtype, OutputLayout, MutAnyOrigin],
    input: TileTensor[dtype, InputLayout, ImmutAnyOrigin],
    kernel: TileTensor[dtype, KernelLayout, ImmutAnyOrigin],
):
    var global_i = block_dim.x * block_idx.x + thread_idx.x
    var local_i = thread_idx.x
    # The block's own elements, and as many of the next block's as its last
    # window needs.
    var shared_a = stack_allocation[dtype, address_space=AddressSpace.SHARED](
        row_major[TPB + conv_size - 1]()
    )
    var shared_b = stack_allocation[dtype, address_space=AddressSpace.SHARED](
        row_major[conv_size]()
    )

    if global_i < input_size:
        shared_a[local_i] = input[global_i]
    else:
        shared_a[local_i] = 0
    if local_i < conv_size - 1:
        var next_i = global_i + TPB
        if next_i < input_size:
            shared_a[local_i + TPB] = input[next_i]
        else:
            shared_a[local_i + TPB] = 0
    if local_i < conv_size:
        shared_b[local_i] = kernel[local_i]
    barrier()

    if global_i < input_size:
        var total = Scalar[dtype](0)
        comptime for j in range(conv_size):
            total += shared_a[local_i + j] * shared_b[j]
        output[global_i] = total


# ANCHOR: conv1d_custom_op
@extensibility.register("conv1d")
struct Conv1D:
    """The operation `conv1d`: what a graph calls by this name."""

    @staticmethod
    def execute[
        # The graph compiler fills in the device that it compiles for; the rest
        # comes from `parameters` of `ops.custom`.
        target: StaticString,
        input_size: Int,
        conv_size: Int,
        dtype: DType,
    ](
        output: OutputTensor[dtype=dtype, rank=1, ...],
        input: InputTensor[dtype=dtype, rank=1, ...],
        kernel: InputTensor[dtype=dtype, rank=1, ...],
        ctx: DeviceContext,
    ) raises:
        comptime if target == "cpu":
            for i in range(input_size):
                var total = Scalar[dtype](0)
                for j in range(min(conv_size, input_size - i)):
                    total += input[i + j] * kernel[j]
                output[i] = total
        elif target == "gpu":
            var output_tensor = output.to_tile_tensor[DType.int64]()
            var input_tensor = input.to_tile_tensor[DType.int64]().as_imm()
            var kernel_tensor = kernel.to_tile_tensor[DType.int64]().as_imm()
            # The kernel is compiled for these three layouts and these sizes.
            comptime conv1d = conv1d_kernel[
                OutputLayout=type_of(output_tensor.layout),
                InputLayout=type_of(input_tensor.layout),
                KernelLayout=type_of(kernel_tensor.layout),
                input_size,
                conv_size,
                dtype,
            ]
            # Nothing to wait for here: the graph runs the next operation of
            # this device after this one.
            ctx.enqueue_function[conv1d](
                output_tensor,
                input_tensor,
                kernel_tensor,
                grid_dim=BLOCKS_PER_GRID,
                block_dim=THREADS_PER_BLOCK,
            )
        else:
            raise Error(t"conv1d: no code for the target {target}")


# ANCHOR_END: conv1d_custom_op
