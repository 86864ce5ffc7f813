import extensibility
from extensibility import InputTensor, OutputTensor
from layout import TensorLayout, TileTensor, row_major, stack_allocation
from max.gpu import AddressSpace, barrier, thread_idx
from max.gpu.host import DeviceContext
from std.bit import next_power_of_two
from std.math import exp
from std.utils.numerics import min_or_neg_inf

# ANCHOR: softmax_gpu_kernel_solution
comptime SIZE = 128
# One block, whose size is a power of two: the halving trees below need one.
comptime BLOCK_DIM_X = next_power_of_two(SIZE)
comptime GRID_DIM_X = 1


def softmax_gpu_kernel[
    OutputLayout: TensorLayout,
    InputLayout: TensorLayout,
    //,
    input_size: Int,
    dtype: DType,
](
    output: TileTensor[dtype, OutputLayout, MutAnyOrigin],
    input: TileTensor[dtype, InputLayout, ImmutAnyOrigin],
) where dtype.is_floating_point():
    comptime assert (
        input_size <= BLOCK_DIM_X
    ), "softmax_gpu_kernel works on one block"
    # FILL: about 38 lines
    var shared = stack_allocation[dtype, address_space=AddressSpace.SHARED](
        row_major[BLOCK_DIM_X]()
    )
    var i = thread_idx.x

    # The maximum of all elements. A thread without an element stores the
    # lowest value of the type, which changes no maximum.
    var number = min_or_neg_inf[dtype]()
    if i < input_size:
        number = input[i]
    shared[i] = number
    barrier()
    var stride = BLOCK_DIM_X // 2
    while stride > 0:
        if i < stride:
            shared[i] = max(shared[i], shared[i + stride])
        barrier()
        stride //= 2
    var largest = shared[0]
    # The array is reused below: no thread may still be reading the maximum.
    barrier()

    # The sum of the exponentials. Less the largest, no exponent is above zero,
    # and nothing can overflow.
    var exponential = Scalar[dtype](0)
    if i < input_size:
        exponential = exp(number - largest)
    shared[i] = exponential
    barrier()
    stride = BLOCK_DIM_X // 2
    while stride > 0:
        if i < stride:
            shared[i] += shared[i + stride]
        barrier()
        stride //= 2

    if i < input_size:
        output[i] = exponential / shared[0]
    # END_FILL


# ANCHOR_END: softmax_gpu_kernel_solution


# ANCHOR: softmax_cpu_kernel_solution
def softmax_cpu_kernel[
    OutputLayout: TensorLayout,
    InputLayout: TensorLayout,
    //,
    input_size: Int,
    dtype: DType,
](
    output: TileTensor[dtype, OutputLayout, MutAnyOrigin],
    input: TileTensor[dtype, InputLayout, ImmutAnyOrigin],
) where dtype.is_floating_point():
    # FILL: about 12 lines
    # STUB: pass
    var largest = min_or_neg_inf[dtype]()
    for i in range(input_size):
        largest = max(largest, input[i])

    var total = Scalar[dtype](0)
    for i in range(input_size):
        output[i] = exp(input[i] - largest)
        total += output[i]

    for i in range(input_size):
        output[i] = output[i] / total
    # END_FILL


# ANCHOR_END: softmax_cpu_kernel_solution


@extensibility.register("softmax")
struct Softmax:
    """The operation `softmax`: what a graph calls by this name."""

    @staticmethod
    def execute[
        target: StaticString,
        input_size: Int,
        dtype: DType,
    ](
        output: OutputTensor[dtype=dtype, rank=1, ...],
        input: InputTensor[dtype=dtype, rank=1, ...],
        ctx: DeviceContext,
    ) raises:
        comptime assert dtype.is_floating_point(), "softmax has fractions"
        var output_tensor = output.to_tile_tensor[DType.int64]()
        var input_tensor = input.to_tile_tensor[DType.int64]().as_imm()
        comptime if target == "cpu":
            softmax_cpu_kernel[input_size, dtype](output_tensor, input_tensor)
        elif target == "gpu":
            comptime softmax = softmax_gpu_kernel[
                OutputLayout=type_of(output_tensor.layout),
                InputLayout=type_of(input_tensor.layout),
                input_size,
                dtype,
            ]
            ctx.enqueue_function[softmax](
                output_tensor,
                input_tensor,
                grid_dim=GRID_DIM_X,
                block_dim=BLOCK_DIM_X,
            )
        else:
            raise Error(t"softmax: no code for the target {target}")
