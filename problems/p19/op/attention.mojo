import extensibility
from extensibility import InputTensor, OutputTensor
from layout import TensorLayout, TileTensor, row_major, stack_allocation
from max.gpu import AddressSpace, barrier, block_idx, thread_idx
from max.gpu.host import DeviceContext
from std.math import ceildiv, exp
from std.utils.numerics import min_or_neg_inf

comptime SEQ_LEN = 16
comptime D = 16
comptime TRANSPOSE_BLOCK_DIM_XY = 16
comptime MATMUL_BLOCK_DIM_XY = 16
comptime SOFTMAX_BLOCK_DIM_X = 16


def matmul_tiled[
    OutputLayout: TensorLayout,
    ALayout: TensorLayout,
    BLayout: TensorLayout,
    //,
    rows: Int,
    inner: Int,
    cols: Int,
    dtype: DType,
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


# ANCHOR: transpose_kernel
def transpose_kernel[
    OutputLayout: TensorLayout,
    InputLayout: TensorLayout,
    //,
    rows: Int,
    cols: Int,
    dtype: DType,
](
    output: TileTensor[dtype, OutputLayout, MutAnyOrigin],
    input: TileTensor[dtype, InputLayout, ImmutAnyOrigin],
):
    """Writes input (rows × cols) as output (cols × rows)."""
    # FILL ME IN (about 22 lines)
    pass


# ANCHOR_END: transpose_kernel


def softmax_gpu_kernel[
    OutputLayout: TensorLayout,
    InputLayout: TensorLayout,
    //,
    size: Int,
    dtype: DType,
](
    output: TileTensor[dtype, OutputLayout, MutAnyOrigin],
    input: TileTensor[dtype, InputLayout, ImmutAnyOrigin],
) where dtype.is_floating_point():
    """The softmax of one row, in one block, as in puzzle 18."""
    comptime assert size <= SOFTMAX_BLOCK_DIM_X, "softmax works on one block"
    var shared = stack_allocation[dtype, address_space=AddressSpace.SHARED](
        row_major[SOFTMAX_BLOCK_DIM_X]()
    )
    var i = thread_idx.x
    var number = min_or_neg_inf[dtype]()
    if i < size:
        number = input[0, i]
    shared[i] = number
    barrier()
    var stride = SOFTMAX_BLOCK_DIM_X // 2
    while stride > 0:
        if i < stride:
            shared[i] = max(shared[i], shared[i + stride])
        barrier()
        stride //= 2
    var largest = shared[0]
    barrier()

    var exponential = Scalar[dtype](0)
    if i < size:
        exponential = exp(number - largest)
    shared[i] = exponential
    barrier()
    stride = SOFTMAX_BLOCK_DIM_X // 2
    while stride > 0:
        if i < stride:
            shared[i] += shared[i + stride]
        barrier()
        stride //= 2
    if i < size:
        output[0, i] = exponential / shared[0]


def attention_cpu_kernel[
    OutputLayout: TensorLayout,
    QLayout: TensorLayout,
    KLayout: TensorLayout,
    VLayout: TensorLayout,
    //,
    seq_len: Int,
    d: Int,
    dtype: DType,
](
    output: TileTensor[dtype, OutputLayout, MutAnyOrigin],
    q: TileTensor[dtype, QLayout, ImmutAnyOrigin],
    k: TileTensor[dtype, KLayout, ImmutAnyOrigin],
    v: TileTensor[dtype, VLayout, ImmutAnyOrigin],
) where dtype.is_floating_point():
    """The same by three loops: scores, their softmax, the weighted sum."""
    var weights = List[Scalar[dtype]](length=seq_len, fill=0)
    var largest = min_or_neg_inf[dtype]()
    for s in range(seq_len):
        for j in range(d):
            weights[s] += q[j] * k[s, j]
        largest = max(largest, weights[s])
    var total = Scalar[dtype](0)
    for s in range(seq_len):
        weights[s] = exp(weights[s] - largest)
        total += weights[s]
    for j in range(d):
        output[j] = 0
        for s in range(seq_len):
            output[j] += weights[s] / total * v[s, j]


@extensibility.register("attention")
struct Attention:
    """The operation `attention`: softmax(q · Kᵀ) · V for one query."""

    @staticmethod
    def execute[
        target: StaticString,
        seq_len: Int,
        d: Int,
        dtype: DType,
    ](
        output: OutputTensor[dtype=dtype, rank=1, ...],
        q: InputTensor[dtype=dtype, rank=1, ...],
        key: InputTensor[dtype=dtype, rank=2, ...],
        value: InputTensor[dtype=dtype, rank=2, ...],
        ctx: DeviceContext,
    ) raises:
        comptime assert dtype.is_floating_point(), "attention has fractions"
        var output_tensor = output.to_tile_tensor[DType.int64]()
        var q_tensor = q.to_tile_tensor[DType.int64]().as_imm()
        var k_tensor = key.to_tile_tensor[DType.int64]().as_imm()
        var v_tensor = value.to_tile_tensor[DType.int64]().as_imm()
        comptime if target == "cpu":
            attention_cpu_kernel[seq_len, d, dtype](
                output_tensor, q_tensor, k_tensor, v_tensor
            )
        elif target == "gpu":
            # ANCHOR: attention_orchestration
            # The buffers between the kernels: Kᵀ, the scores and their softmax.
            var k_t_buffer = ctx.enqueue_create_buffer[dtype](d * seq_len)
            var scores_buffer = ctx.enqueue_create_buffer[dtype](seq_len)
            var weights_buffer = ctx.enqueue_create_buffer[dtype](seq_len)
            var k_t = TileTensor(k_t_buffer, row_major[d, seq_len]())
            var scores = TileTensor(scores_buffer, row_major[1, seq_len]())
            var weights = TileTensor(weights_buffer, row_major[1, seq_len]())
            # The vectors as matrices of one row, since that is what the
            # product takes.
            var q_row = q_tensor.reshape(row_major[1, d]())
            var output_row = output_tensor.reshape(row_major[1, d]())

            # FILL ME IN (about 60 lines)
            # ANCHOR_END: attention_orchestration
            # The buffers between the kernels must live until the last of them
            # is launched.
            _ = k_t_buffer^
            _ = scores_buffer^
            _ = weights_buffer^
        else:
            raise Error(t"attention: no code for the target {target}")
