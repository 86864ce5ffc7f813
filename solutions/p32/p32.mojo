from max.gpu import AddressSpace, barrier, block_dim, block_idx, thread_idx
from max.gpu.host import DeviceBuffer, DeviceContext, HostBuffer
from std.memory import unsafe_stack_allocation
from std.testing import assert_almost_equal

from lab import choose_mode, stage, submit
from lab.benchmark import Benchmark

# Two kernels, one task: output[i] = (x[i] + 10) * 2, by way of shared memory.
# Shared memory has 32 banks; word i is in bank i mod 32, and a bank delivers
# one word at a time. Lanes that need different words of one bank have to wait.
comptime SIZE = 8192
comptime TPB = 256
comptime BLOCKS = SIZE // TPB
comptime dtype = DType.float32
comptime Output = Pointer[Float32, MutAnyOrigin]
comptime Input = Pointer[Float32, ImmutAnyOrigin]


# ANCHOR: no_conflict_kernel
def no_conflict_kernel(output: Output, x: Input, size: Int32):
    var shared = unsafe_stack_allocation[
        TPB, Float32, address_space=AddressSpace.SHARED
    ]()
    var i = block_idx.x * block_dim.x + thread_idx.x
    var local = thread_idx.x
    # 32 neighbouring words are in 32 banks: every lane uses another bank.
    if i < Int(size):
        shared[unsafe_offset=local] = x[unsafe_offset=i]
    barrier()
    if i < Int(size):
        output[unsafe_offset=i] = (shared[unsafe_offset=local] + 10) * 2


# ANCHOR_END: no_conflict_kernel


# ANCHOR: two_way_conflict_kernel_solution
def two_way_conflict_kernel(output: Output, x: Input, size: Int32):
    # Two words for each thread: the value that it read, and the sum.
    var shared = unsafe_stack_allocation[
        2 * TPB, Float32, address_space=AddressSpace.SHARED
    ]()
    var i = block_idx.x * block_dim.x + thread_idx.x
    var local = thread_idx.x
    # FILL: about 2 lines, instead of those below
    # STUB: # A pair for each thread: value, sum, value, sum, ...
    # STUB: var value = 2 * local
    # STUB: var sum = 2 * local + 1
    # All values first, then all sums: the lanes of a warp want 32 neighbouring
    # words again. In pairs, lanes 0 and 16 met in bank 0, 1 and 17 in bank 2.
    var value = local
    var sum = TPB + local
    # END_FILL
    if i < Int(size):
        shared[unsafe_offset=value] = x[unsafe_offset=i]
    barrier()
    if i < Int(size):
        shared[unsafe_offset=sum] = shared[unsafe_offset=value] + 10
    barrier()
    if i < Int(size):
        output[unsafe_offset=i] = shared[unsafe_offset=sum] * 2


# ANCHOR_END: two_way_conflict_kernel_solution


def launch_kernel(
    name: String,
    result: DeviceBuffer[dtype],
    x: DeviceBuffer[dtype],
    ctx: DeviceContext,
) raises:
    if name == "no_conflict":
        ctx.enqueue_function[no_conflict_kernel](
            result, x, Int32(SIZE), grid_dim=BLOCKS, block_dim=TPB
        )
    else:
        ctx.enqueue_function[two_way_conflict_kernel](
            result, x, Int32(SIZE), grid_dim=BLOCKS, block_dim=TPB
        )


def make_input(ctx: DeviceContext) raises -> DeviceBuffer[dtype]:
    var x = ctx.enqueue_create_buffer[dtype](SIZE)
    x.enqueue_fill(0)
    with x.map_to_host() as x_host:
        for i in range(SIZE):
            x_host[i] = Float32(i + 1)
    return x


def expected_of(
    x: DeviceBuffer[dtype], ctx: DeviceContext
) raises -> HostBuffer[dtype]:
    var expected = ctx.enqueue_create_host_buffer[dtype](SIZE)
    with x.map_to_host() as x_host:
        for i in range(SIZE):
            expected[i] = (x_host[i] + 10) * 2
    return expected


def compare(result: HostBuffer[dtype], expected: HostBuffer[dtype]) raises:
    for i in range(SIZE):
        assert_almost_equal(result[i], expected[i], atol=1e-5)


def run_kernel(
    name: String,
    output_name: String,
    x: DeviceBuffer[dtype],
    ctx: DeviceContext,
) raises:
    var out = ctx.enqueue_create_buffer[dtype](SIZE)
    out.enqueue_fill(0)
    stage(output_name, out)
    launch_kernel(name, out, x, ctx)
    ctx.synchronize()
    submit(output_name, out)
    print("kernel:", name)
    var expected = expected_of(x, ctx)
    with out.map_to_host() as out_host:
        print("out:", out_host)
        print("expected:", expected)
        compare(out_host, expected)


def benchmark(ctx: DeviceContext) raises:
    # Two sets of inputs, taken in turn.
    var first = make_input(ctx)
    var second = make_input(ctx)
    var expected = expected_of(first, ctx)
    var out = ctx.enqueue_create_buffer[dtype](SIZE)
    var table = Benchmark(ctx)
    for each in ["no_conflict", "two_way"]:
        var name = String(each)
        out.enqueue_fill(0)

        def launch(repetition: Int, ctx: DeviceContext) raises {imm}:
            if repetition % 2 == 0:
                launch_kernel(name, out, first, ctx)
            else:
                launch_kernel(name, out, second, ctx)

        table.measure(name, SIZE, 2 * SIZE * 4, launch)
        with out.map_to_host() as out_host:
            compare(out_host, expected)


def main() raises:
    var mode = choose_mode(
        "p32", ["--test", "--no-conflict", "--two-way", "--benchmark"]
    )
    with DeviceContext() as ctx:
        if mode == "--benchmark":
            benchmark(ctx)
            return
        print("SIZE:", SIZE)
        print("blocks:", BLOCKS, "of", TPB, "threads")
        var x = make_input(ctx)
        stage("x", x)
        if mode == "--test":
            run_kernel("no_conflict", "no_conflict", x, ctx)
            run_kernel("two_way", "two_way", x, ctx)
        elif mode == "--no-conflict":
            run_kernel("no_conflict", "out", x, ctx)
        else:
            run_kernel("two_way", "out", x, ctx)
        # Right values are half of it: a slow kernel has them too.
        print("Puzzle 32: all values right; its counters decide")
