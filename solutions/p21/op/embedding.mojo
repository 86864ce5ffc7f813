import extensibility
from extensibility import InputTensor, OutputTensor
from layout import TensorLayout, TileTensor
from max.gpu import block_dim, block_idx, thread_idx
from max.gpu.host import DeviceContext
from std.math import ceildiv

comptime dtype = DType.float32
comptime token_dtype = DType.int32
comptime THREADS_PER_BLOCK = 256
comptime BLOCK_DIM_XY = 16

# A batch of sequences of tokens is one long list here; the result has a row of
# `width` numbers for each token: the token's row of the table.


# ANCHOR: embedding_kernel_coalesced_solution
def embedding_kernel_coalesced[
    OutputLayout: TensorLayout,
    TokenLayout: TensorLayout,
    TableLayout: TensorLayout,
    //,
    tokens_count: Int,
    vocabulary: Int,
    width: Int,
](
    output: TileTensor[dtype, OutputLayout, MutAnyOrigin],
    tokens: TileTensor[token_dtype, TokenLayout, ImmutAnyOrigin],
    table: TileTensor[dtype, TableLayout, ImmutAnyOrigin],
):
    """One thread for each number of the result, in the order of memory."""
    var i = block_idx.x * block_dim.x + thread_idx.x
    # FILL: about 10 lines
    # STUB: _ = i
    if i >= tokens_count * width:
        return
    # Neighbouring threads have the same row and neighbouring columns: a warp
    # reads and writes 128 bytes in one piece.
    var row = i // width
    var column = i % width
    var token = Int(tokens[row])
    if token >= 0 and token < vocabulary:
        output[row, column] = table[token, column]
    else:
        output[row, column] = 0
    # END_FILL


# ANCHOR_END: embedding_kernel_coalesced_solution


# ANCHOR: embedding_kernel_2d_solution
def embedding_kernel_2d[
    OutputLayout: TensorLayout,
    TokenLayout: TensorLayout,
    TableLayout: TensorLayout,
    //,
    tokens_count: Int,
    vocabulary: Int,
    width: Int,
](
    output: TileTensor[dtype, OutputLayout, MutAnyOrigin],
    tokens: TileTensor[token_dtype, TokenLayout, ImmutAnyOrigin],
    table: TileTensor[dtype, TableLayout, ImmutAnyOrigin],
):
    """A block of 16 x 16 threads for as many tokens (x) and columns (y)."""
    # FILL: about 9 lines
    # STUB: pass
    # x changes fastest within a warp, and x is the token here: neighbouring
    # threads read rows of the table at arbitrary addresses.
    var row = block_idx.x * BLOCK_DIM_XY + thread_idx.x
    var column = block_idx.y * BLOCK_DIM_XY + thread_idx.y
    if row < tokens_count and column < width:
        var token = Int(tokens[row])
        if token >= 0 and token < vocabulary:
            output[row, column] = table[token, column]
        else:
            output[row, column] = 0
    # END_FILL


# ANCHOR_END: embedding_kernel_2d_solution


def embedding_cpu[
    OutputLayout: TensorLayout,
    TokenLayout: TensorLayout,
    TableLayout: TensorLayout,
    //,
    tokens_count: Int,
    vocabulary: Int,
    width: Int,
](
    output: TileTensor[dtype, OutputLayout, MutAnyOrigin],
    tokens: TileTensor[token_dtype, TokenLayout, ImmutAnyOrigin],
    table: TileTensor[dtype, TableLayout, ImmutAnyOrigin],
):
    for row in range(tokens_count):
        var token = Int(tokens[row])
        var known = token >= 0 and token < vocabulary
        for column in range(width):
            if known:
                output[row, column] = table[token, column]
            else:
                output[row, column] = 0


@extensibility.register("embedding")
struct Embedding:
    """The operation `embedding`, by blocks of one dimension."""

    @staticmethod
    def execute[
        target: StaticString,
        tokens_count: Int,
        vocabulary: Int,
        width: Int,
    ](
        output: OutputTensor[dtype=dtype, rank=2, ...],
        tokens: InputTensor[dtype=token_dtype, rank=1, ...],
        table: InputTensor[dtype=dtype, rank=2, ...],
        ctx: DeviceContext,
    ) raises:
        var out_t = output.to_tile_tensor[DType.int64]()
        var tokens_t = tokens.to_tile_tensor[DType.int64]().as_imm()
        var table_t = table.to_tile_tensor[DType.int64]().as_imm()
        comptime if target == "cpu":
            embedding_cpu[tokens_count, vocabulary, width](
                out_t, tokens_t, table_t
            )
        elif target == "gpu":
            comptime kernel = embedding_kernel_coalesced[
                OutputLayout=type_of(out_t.layout),
                TokenLayout=type_of(tokens_t.layout),
                TableLayout=type_of(table_t.layout),
                tokens_count,
                vocabulary,
                width,
            ]
            ctx.enqueue_function[kernel](
                out_t,
                tokens_t,
                table_t,
                grid_dim=ceildiv(tokens_count * width, THREADS_PER_BLOCK),
                block_dim=THREADS_PER_BLOCK,
            )
        else:
            raise Error(t"embedding: no code for the target {target}")


@extensibility.register("embedding_2d")
struct Embedding2D:
    """The operation `embedding_2d`, by blocks of two dimensions."""

    @staticmethod
    def execute[
        target: StaticString,
        tokens_count: Int,
        vocabulary: Int,
        width: Int,
    ](
        output: OutputTensor[dtype=dtype, rank=2, ...],
        tokens: InputTensor[dtype=token_dtype, rank=1, ...],
        table: InputTensor[dtype=dtype, rank=2, ...],
        ctx: DeviceContext,
    ) raises:
        var out_t = output.to_tile_tensor[DType.int64]()
        var tokens_t = tokens.to_tile_tensor[DType.int64]().as_imm()
        var table_t = table.to_tile_tensor[DType.int64]().as_imm()
        comptime if target == "cpu":
            embedding_cpu[tokens_count, vocabulary, width](
                out_t, tokens_t, table_t
            )
        elif target == "gpu":
            comptime kernel = embedding_kernel_2d[
                OutputLayout=type_of(out_t.layout),
                TokenLayout=type_of(tokens_t.layout),
                TableLayout=type_of(table_t.layout),
                tokens_count,
                vocabulary,
                width,
            ]
            ctx.enqueue_function[kernel](
                out_t,
                tokens_t,
                table_t,
                grid_dim=(
                    ceildiv(tokens_count, BLOCK_DIM_XY),
                    ceildiv(width, BLOCK_DIM_XY),
                ),
                block_dim=(BLOCK_DIM_XY, BLOCK_DIM_XY),
            )
        else:
            raise Error(t"embedding_2d: no code for the target {target}")
