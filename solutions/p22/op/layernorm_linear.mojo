import extensibility
from extensibility import InputTensor, OutputTensor
from layout import TensorLayout, TileTensor, row_major, stack_allocation
from max.gpu import AddressSpace, barrier, block_dim, block_idx, thread_idx
from max.gpu.host import DeviceContext
from std.atomic import Atomic, Ordering
from std.math import ceildiv, rsqrt

comptime dtype = DType.float32
comptime EPS = Scalar[dtype](1e-5)
comptime TRANSPOSE_BLOCK_DIM_XY = 16
comptime MATMUL_BLOCK_DIM_XY = 16

# A batch of sequences is one matrix here: a row for each position of each
# sequence, `hidden` numbers wide.


# ANCHOR: layernorm_kernel_solution
def layernorm_kernel[
    OutputLayout: TensorLayout,
    InputLayout: TensorLayout,
    VectorLayout: TensorLayout,
    //,
    hidden: Int,
](
    output: TileTensor[dtype, OutputLayout, MutAnyOrigin],
    input: TileTensor[dtype, InputLayout, ImmutAnyOrigin],
    ln_weight: TileTensor[dtype, VectorLayout, ImmutAnyOrigin],
    ln_bias: TileTensor[dtype, VectorLayout, ImmutAnyOrigin],
):
    """One block for each row, one thread for each of its numbers."""
    var row = block_idx.x
    var h = thread_idx.x
    # FILL: about 14 lines
    # The rows are short: every thread computes its row's mean and variance
    # itself, and no thread has to wait for another.
    var mean = Scalar[dtype](0)
    for i in range(hidden):
        mean += input[row, i]
    mean /= Scalar[dtype](hidden)
    var variance = Scalar[dtype](0)
    for i in range(hidden):
        var distance = input[row, i] - mean
        variance += distance * distance
    variance /= Scalar[dtype](hidden)

    if h < hidden:
        var normal = (input[row, h] - mean) * rsqrt(variance + EPS)
        output[row, h] = normal * ln_weight[h] + ln_bias[h]
    # END_FILL


# ANCHOR_END: layernorm_kernel_solution


# ANCHOR: transpose_kernel_solution
def transpose_kernel[
    OutputLayout: TensorLayout,
    InputLayout: TensorLayout,
    //,
    rows: Int,
    cols: Int,
](
    output: TileTensor[dtype, OutputLayout, MutAnyOrigin],
    input: TileTensor[dtype, InputLayout, ImmutAnyOrigin],
):
    """Writes input (rows × cols) as output (cols × rows)."""
    comptime TILE = TRANSPOSE_BLOCK_DIM_XY
    var shared = stack_allocation[dtype, address_space=AddressSpace.SHARED](
        row_major[TILE, TILE]()
    )
    var local_row = thread_idx.y
    var local_col = thread_idx.x
    # FILL: about 9 lines
    var row = block_idx.y * TILE + local_row
    var col = block_idx.x * TILE + local_col
    if row < rows and col < cols:
        shared[local_row, local_col] = input[row, col]
    barrier()

    var out_row = block_idx.x * TILE + local_row
    var out_col = block_idx.y * TILE + local_col
    if out_row < cols and out_col < rows:
        output[out_row, out_col] = shared[local_col, local_row]
    # END_FILL


# ANCHOR_END: transpose_kernel_solution


def matmul_tiled[
    OutputLayout: TensorLayout,
    ALayout: TensorLayout,
    BLayout: TensorLayout,
    //,
    rows: Int,
    inner: Int,
    cols: Int,
](
    output: TileTensor[dtype, OutputLayout, MutAnyOrigin],
    a: TileTensor[dtype, ALayout, ImmutAnyOrigin],
    b: TileTensor[dtype, BLayout, ImmutAnyOrigin],
):
    """The product of a (rows × inner) and b (inner × cols), as in puzzle 16."""
    comptime TILE = MATMUL_BLOCK_DIM_XY
    var local_row = thread_idx.y
    var local_col = thread_idx.x
    var row = block_idx.y * TILE + local_row
    var col = block_idx.x * TILE + local_col
    var shared_a = stack_allocation[dtype, address_space=AddressSpace.SHARED](
        row_major[TILE, TILE]()
    )
    var shared_b = stack_allocation[dtype, address_space=AddressSpace.SHARED](
        row_major[TILE, TILE]()
    )
    var total = Scalar[dtype](0)
    comptime for tile in range(ceildiv(inner, TILE)):
        # Elements outside the matrices are zero, which changes no sum.
        var a_col = tile * TILE + local_col
        if row < rows and a_col < inner:
            shared_a[local_row, local_col] = a[row, a_col]
        else:
            shared_a[local_row, local_col] = 0
        var b_row = tile * TILE + local_row
        if b_row < inner and col < cols:
            shared_b[local_row, local_col] = b[b_row, col]
        else:
            shared_b[local_row, local_col] = 0
        barrier()
        comptime for k in range(TILE):
            total += shared_a[local_row, k] * shared_b[k, local_col]
        barrier()
    if row < rows and col < cols:
        output[row, col] = total


def add_bias_kernel[
    OutputLayout: TensorLayout,
    VectorLayout: TensorLayout,
    //,
    columns: Int,
](
    output: TileTensor[dtype, OutputLayout, MutAnyOrigin],
    bias: TileTensor[dtype, VectorLayout, ImmutAnyOrigin],
):
    """One block for each row, one thread for each of its numbers."""
    var column = thread_idx.x
    if column < columns:
        output[block_idx.x, column] += bias[column]


# ANCHOR: minimal_fused_forward_kernel_solution
def minimal_fused_forward_kernel[
    OutputLayout: TensorLayout,
    InputLayout: TensorLayout,
    VectorLayout: TensorLayout,
    WeightLayout: TensorLayout,
    BiasLayout: TensorLayout,
    //,
    hidden: Int,
    columns: Int,
](
    output: TileTensor[dtype, OutputLayout, MutAnyOrigin],
    input: TileTensor[dtype, InputLayout, ImmutAnyOrigin],
    ln_weight: TileTensor[dtype, VectorLayout, ImmutAnyOrigin],
    ln_bias: TileTensor[dtype, VectorLayout, ImmutAnyOrigin],
    linear_weight: TileTensor[dtype, WeightLayout, ImmutAnyOrigin],
    linear_bias: TileTensor[dtype, BiasLayout, ImmutAnyOrigin],
):
    """One block for each row, one thread for each number of the result."""
    var row = block_idx.x
    var column = thread_idx.x
    # FILL: about 18 lines
    var mean = Scalar[dtype](0)
    for h in range(hidden):
        mean += input[row, h]
    mean /= Scalar[dtype](hidden)
    var variance = Scalar[dtype](0)
    for h in range(hidden):
        var distance = input[row, h] - mean
        variance += distance * distance
    variance /= Scalar[dtype](hidden)
    var scale = rsqrt(variance + EPS)

    # A normalised number lives in a register until it is multiplied, and is
    # never written: that is all the fusion there is.
    if column < columns:
        var total = linear_bias[column]
        for h in range(hidden):
            var normal = (input[row, h] - mean) * scale
            var scaled = normal * ln_weight[h] + ln_bias[h]
            total += scaled * linear_weight[column, h]
        output[row, column] = total
    # END_FILL


# ANCHOR_END: minimal_fused_forward_kernel_solution


def zero_gradients_kernel[
    VectorLayout: TensorLayout,
    WeightLayout: TensorLayout,
    BiasLayout: TensorLayout,
    //,
    hidden: Int,
    columns: Int,
](
    grad_ln_weight: TileTensor[dtype, VectorLayout, MutAnyOrigin],
    grad_ln_bias: TileTensor[dtype, VectorLayout, MutAnyOrigin],
    grad_linear_weight: TileTensor[dtype, WeightLayout, MutAnyOrigin],
    grad_linear_bias: TileTensor[dtype, BiasLayout, MutAnyOrigin],
):
    """Zeros where the backward pass adds up; one thread for each column.

    A launch of its own: were the first block of the backward pass to write the
    zeros, other blocks would be adding already.
    """
    var column = thread_idx.x
    if column < columns:
        grad_linear_bias[column] = 0
        for h in range(hidden):
            grad_linear_weight[column, h] = 0
    if column < hidden:
        grad_ln_weight[column] = 0
        grad_ln_bias[column] = 0


# ANCHOR: minimal_fused_backward_kernel_solution
def minimal_fused_backward_kernel[
    InputLayout: TensorLayout,
    VectorLayout: TensorLayout,
    WeightLayout: TensorLayout,
    BiasLayout: TensorLayout,
    GradLayout: TensorLayout,
    //,
    rows: Int,
    hidden: Int,
    columns: Int,
](
    grad_input: TileTensor[dtype, InputLayout, MutAnyOrigin],
    grad_ln_weight: TileTensor[dtype, VectorLayout, MutAnyOrigin],
    grad_ln_bias: TileTensor[dtype, VectorLayout, MutAnyOrigin],
    grad_linear_weight: TileTensor[dtype, WeightLayout, MutAnyOrigin],
    grad_linear_bias: TileTensor[dtype, BiasLayout, MutAnyOrigin],
    grad_output: TileTensor[dtype, GradLayout, ImmutAnyOrigin],
    input: TileTensor[dtype, InputLayout, ImmutAnyOrigin],
    ln_weight: TileTensor[dtype, VectorLayout, ImmutAnyOrigin],
    ln_bias: TileTensor[dtype, VectorLayout, ImmutAnyOrigin],
    linear_weight: TileTensor[dtype, WeightLayout, ImmutAnyOrigin],
):
    """One thread for each row. All rows add to the gradients of the four
    parameters, which are zero before: by atomic additions."""
    var row = block_idx.x * block_dim.x + thread_idx.x
    if row >= rows:
        return
    # FILL: about 50 lines
    var mean = Scalar[dtype](0)
    for h in range(hidden):
        mean += input[row, h]
    mean /= Scalar[dtype](hidden)
    var variance = Scalar[dtype](0)
    for h in range(hidden):
        var distance = input[row, h] - mean
        variance += distance * distance
    variance /= Scalar[dtype](hidden)
    var scale = rsqrt(variance + EPS)

    # The linear layer: its bias takes the gradient as it is.
    for column in range(columns):
        _ = Atomic.fetch_add[ordering=Ordering.RELAXED](
            grad_linear_bias.unsafe_ptr().unsafe_offset(column),
            grad_output[row, column],
        )

    # Back through the linear layer to each normalised number, and into the
    # gradients of the parameters that it was combined with.
    var sum_of_grads = Scalar[dtype](0)
    var sum_with_normals = Scalar[dtype](0)
    for h in range(hidden):
        var normal = (input[row, h] - mean) * scale
        var scaled = normal * ln_weight[h] + ln_bias[h]
        var grad_scaled = Scalar[dtype](0)
        for column in range(columns):
            var grad = grad_output[row, column]
            grad_scaled += grad * linear_weight[column, h]
            _ = Atomic.fetch_add[ordering=Ordering.RELAXED](
                grad_linear_weight.unsafe_ptr().unsafe_offset(
                    column * hidden + h
                ),
                grad * scaled,
            )
        _ = Atomic.fetch_add[ordering=Ordering.RELAXED](
            grad_ln_weight.unsafe_ptr().unsafe_offset(h), grad_scaled * normal
        )
        _ = Atomic.fetch_add[ordering=Ordering.RELAXED](
            grad_ln_bias.unsafe_ptr().unsafe_offset(h), grad_scaled
        )
        var grad_normal = grad_scaled * ln_weight[h]
        sum_of_grads += grad_normal
        sum_with_normals += grad_normal * normal

    # Through mean and variance every number of the row depends on all of them.
    var n = Scalar[dtype](hidden)
    for h in range(hidden):
        var normal = (input[row, h] - mean) * scale
        var grad_normal = Scalar[dtype](0)
        for column in range(columns):
            grad_normal += grad_output[row, column] * linear_weight[column, h]
        grad_normal *= ln_weight[h]
        var shared_part = (sum_of_grads + normal * sum_with_normals) / n
        grad_input[row, h] = scale * (grad_normal - shared_part)
    # END_FILL


# ANCHOR_END: minimal_fused_backward_kernel_solution


# ANCHOR: layernorm_linear_custom_op
@extensibility.register("layernorm_linear")
struct LayerNormLinear:
    """The operation `layernorm_linear`: LayerNorm, then a linear layer."""

    @staticmethod
    def execute[
        target: StaticString,
        rows: Int,
        hidden: Int,
        columns: Int,
        algorithm: StaticString,
    ](
        output: OutputTensor[dtype=dtype, rank=2, ...],
        input: InputTensor[dtype=dtype, rank=2, ...],
        ln_weight: InputTensor[dtype=dtype, rank=1, ...],
        ln_bias: InputTensor[dtype=dtype, rank=1, ...],
        linear_weight: InputTensor[dtype=dtype, rank=2, ...],
        linear_bias: InputTensor[dtype=dtype, rank=1, ...],
        ctx: DeviceContext,
    ) raises:
        var out_t = output.to_tile_tensor[DType.int64]()
        var in_t = input.to_tile_tensor[DType.int64]().as_imm()
        var ln_weight_t = ln_weight.to_tile_tensor[DType.int64]().as_imm()
        var ln_bias_t = ln_bias.to_tile_tensor[DType.int64]().as_imm()
        var weight_t = linear_weight.to_tile_tensor[DType.int64]().as_imm()
        var bias_t = linear_bias.to_tile_tensor[DType.int64]().as_imm()
        comptime if target == "cpu":
            # One loop over the rows: the CPU has no launches to save, and
            # fuses in any case.
            for row in range(rows):
                var mean, scale = _mean_and_scale[hidden](in_t, row)
                for column in range(columns):
                    var total = bias_t[column]
                    for h in range(hidden):
                        var normal = (in_t[row, h] - mean) * scale
                        var scaled = normal * ln_weight_t[h] + ln_bias_t[h]
                        total += scaled * weight_t[column, h]
                    out_t[row, column] = total
        elif target == "gpu" and algorithm == "fused":
            comptime fused = minimal_fused_forward_kernel[
                OutputLayout=type_of(out_t.layout),
                InputLayout=type_of(in_t.layout),
                VectorLayout=type_of(ln_weight_t.layout),
                WeightLayout=type_of(weight_t.layout),
                BiasLayout=type_of(bias_t.layout),
                hidden,
                columns,
            ]
            ctx.enqueue_function[fused](
                out_t,
                in_t,
                ln_weight_t,
                ln_bias_t,
                weight_t,
                bias_t,
                grid_dim=rows,
                block_dim=columns,
            )
        elif target == "gpu" and algorithm == "unfused":
            # Four launches, and two matrices that only pass data between them.
            var normal_buffer = ctx.enqueue_create_buffer[dtype](rows * hidden)
            var turned_buffer = ctx.enqueue_create_buffer[dtype](
                hidden * columns
            )
            var normal = TileTensor(normal_buffer, row_major[rows, hidden]())
            var turned = TileTensor(turned_buffer, row_major[hidden, columns]())
            comptime layernorm = layernorm_kernel[
                OutputLayout=type_of(normal.layout),
                InputLayout=type_of(in_t.layout),
                VectorLayout=type_of(ln_weight_t.layout),
                hidden,
            ]
            ctx.enqueue_function[layernorm](
                normal,
                in_t,
                ln_weight_t,
                ln_bias_t,
                grid_dim=rows,
                block_dim=hidden,
            )
            comptime transpose = transpose_kernel[
                OutputLayout=type_of(turned.layout),
                InputLayout=type_of(weight_t.layout),
                columns,
                hidden,
            ]
            ctx.enqueue_function[transpose](
                turned,
                weight_t,
                grid_dim=(
                    ceildiv(hidden, TRANSPOSE_BLOCK_DIM_XY),
                    ceildiv(columns, TRANSPOSE_BLOCK_DIM_XY),
                ),
                block_dim=(TRANSPOSE_BLOCK_DIM_XY, TRANSPOSE_BLOCK_DIM_XY),
            )
            comptime matmul = matmul_tiled[
                OutputLayout=type_of(out_t.layout),
                ALayout=type_of(normal.layout),
                BLayout=type_of(turned.layout),
                rows,
                hidden,
                columns,
            ]
            ctx.enqueue_function[matmul](
                out_t,
                normal.as_imm(),
                turned.as_imm(),
                grid_dim=(
                    ceildiv(columns, MATMUL_BLOCK_DIM_XY),
                    ceildiv(rows, MATMUL_BLOCK_DIM_XY),
                ),
                block_dim=(MATMUL_BLOCK_DIM_XY, MATMUL_BLOCK_DIM_XY),
            )
            comptime add_bias = add_bias_kernel[
                OutputLayout=type_of(out_t.layout),
                VectorLayout=type_of(bias_t.layout),
                columns,
            ]
            ctx.enqueue_function[add_bias](
                out_t, bias_t, grid_dim=rows, block_dim=columns
            )
            _ = normal_buffer^
            _ = turned_buffer^
        else:
            raise Error(t"layernorm_linear: no {algorithm} code for {target}")


# ANCHOR_END: layernorm_linear_custom_op


# ANCHOR: layernorm_linear_backward_custom_op
@extensibility.register("layernorm_linear_backward")
struct LayerNormLinearBackward:
    """The gradients of `layernorm_linear`, from that of its result."""

    @staticmethod
    def execute[
        target: StaticString,
        rows: Int,
        hidden: Int,
        columns: Int,
        rows_per_block: Int,
    ](
        grad_input: OutputTensor[dtype=dtype, rank=2, ...],
        grad_ln_weight: OutputTensor[dtype=dtype, rank=1, ...],
        grad_ln_bias: OutputTensor[dtype=dtype, rank=1, ...],
        grad_linear_weight: OutputTensor[dtype=dtype, rank=2, ...],
        grad_linear_bias: OutputTensor[dtype=dtype, rank=1, ...],
        grad_output: InputTensor[dtype=dtype, rank=2, ...],
        input: InputTensor[dtype=dtype, rank=2, ...],
        ln_weight: InputTensor[dtype=dtype, rank=1, ...],
        ln_bias: InputTensor[dtype=dtype, rank=1, ...],
        linear_weight: InputTensor[dtype=dtype, rank=2, ...],
        ctx: DeviceContext,
    ) raises:
        var grad_in_t = grad_input.to_tile_tensor[DType.int64]()
        var grad_ln_weight_t = grad_ln_weight.to_tile_tensor[DType.int64]()
        var grad_ln_bias_t = grad_ln_bias.to_tile_tensor[DType.int64]()
        var grad_weight_t = grad_linear_weight.to_tile_tensor[DType.int64]()
        var grad_bias_t = grad_linear_bias.to_tile_tensor[DType.int64]()
        var grad_t = grad_output.to_tile_tensor[DType.int64]().as_imm()
        var in_t = input.to_tile_tensor[DType.int64]().as_imm()
        var ln_weight_t = ln_weight.to_tile_tensor[DType.int64]().as_imm()
        var ln_bias_t = ln_bias.to_tile_tensor[DType.int64]().as_imm()
        var weight_t = linear_weight.to_tile_tensor[DType.int64]().as_imm()
        comptime if target == "cpu":
            for column in range(columns):
                grad_bias_t[column] = 0
                for h in range(hidden):
                    grad_weight_t[column, h] = 0
            for h in range(hidden):
                grad_ln_weight_t[h] = 0
                grad_ln_bias_t[h] = 0
            for row in range(rows):
                var mean, scale = _mean_and_scale[hidden](in_t, row)
                var sum_of_grads = Scalar[dtype](0)
                var sum_with_normals = Scalar[dtype](0)
                for column in range(columns):
                    grad_bias_t[column] += grad_t[row, column]
                for h in range(hidden):
                    var normal = (in_t[row, h] - mean) * scale
                    var scaled = normal * ln_weight_t[h] + ln_bias_t[h]
                    var grad_scaled = Scalar[dtype](0)
                    for column in range(columns):
                        var grad = grad_t[row, column]
                        grad_scaled += grad * weight_t[column, h]
                        grad_weight_t[column, h] += grad * scaled
                    grad_ln_weight_t[h] += grad_scaled * normal
                    grad_ln_bias_t[h] += grad_scaled
                    # Kept until the sums over the row are known.
                    grad_in_t[row, h] = grad_scaled * ln_weight_t[h]
                    sum_of_grads += grad_in_t[row, h]
                    sum_with_normals += grad_in_t[row, h] * normal
                for h in range(hidden):
                    var normal = (in_t[row, h] - mean) * scale
                    var shared_part = (
                        sum_of_grads + normal * sum_with_normals
                    ) / Scalar[dtype](hidden)
                    grad_in_t[row, h] = scale * (
                        grad_in_t[row, h] - shared_part
                    )
        elif target == "gpu":
            comptime zeros = zero_gradients_kernel[
                VectorLayout=type_of(grad_ln_weight_t.layout),
                WeightLayout=type_of(grad_weight_t.layout),
                BiasLayout=type_of(grad_bias_t.layout),
                hidden,
                columns,
            ]
            ctx.enqueue_function[zeros](
                grad_ln_weight_t,
                grad_ln_bias_t,
                grad_weight_t,
                grad_bias_t,
                grid_dim=1,
                block_dim=max(hidden, columns),
            )
            comptime backward = minimal_fused_backward_kernel[
                InputLayout=type_of(in_t.layout),
                VectorLayout=type_of(ln_weight_t.layout),
                WeightLayout=type_of(weight_t.layout),
                BiasLayout=type_of(grad_bias_t.layout),
                GradLayout=type_of(grad_t.layout),
                rows,
                hidden,
                columns,
            ]
            ctx.enqueue_function[backward](
                grad_in_t,
                grad_ln_weight_t,
                grad_ln_bias_t,
                grad_weight_t,
                grad_bias_t,
                grad_t,
                in_t,
                ln_weight_t,
                ln_bias_t,
                weight_t,
                grid_dim=ceildiv(rows, rows_per_block),
                block_dim=rows_per_block,
            )
        else:
            raise Error(t"layernorm_linear_backward: no code for {target}")


# ANCHOR_END: layernorm_linear_backward_custom_op


def _mean_and_scale[
    InputLayout: TensorLayout, //, hidden: Int
](input: TileTensor[dtype, InputLayout, ImmutAnyOrigin], row: Int) -> Tuple[
    Scalar[dtype], Scalar[dtype]
]:
    """Of one row: the mean, and one over the root of the variance."""
    var mean = Scalar[dtype](0)
    for h in range(hidden):
        mean += input[row, h]
    mean /= Scalar[dtype](hidden)
    var variance = Scalar[dtype](0)
    for h in range(hidden):
        var distance = input[row, h] - mean
        variance += distance * distance
    variance /= Scalar[dtype](hidden)
    return mean, rsqrt(variance + EPS)
