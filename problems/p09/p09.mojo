from max.gpu import AddressSpace, barrier, thread_idx
from max.gpu.host import DeviceContext
from layout import TileTensor, row_major, stack_allocation

from lab import choose_mode, stage, submit

comptime dtype = DType.float32
comptime SIZE = 4
comptime BLOCKS_PER_GRID = 1
comptime THREADS_PER_BLOCK = SIZE
comptime layout = row_major[SIZE]()


# ANCHOR: first_crash
def add_10(
    result: Pointer[Scalar[dtype], MutAnyOrigin],
    input: Pointer[Scalar[dtype], ImmutAnyOrigin],
):
    var i = thread_idx.x
    result[unsafe_offset=i] = input[unsafe_offset=i] + 10


def first_case(ctx: DeviceContext) raises:
    print("First case: add 10 to each number")
    var input = ctx.enqueue_create_buffer[dtype](0)
    var result = ctx.enqueue_create_buffer[dtype](SIZE)
    result.enqueue_fill(0)
    stage("result", result)

    ctx.enqueue_function[add_10](
        result, input, grid_dim=BLOCKS_PER_GRID, block_dim=THREADS_PER_BLOCK
    )
    ctx.synchronize()

    submit("result", result)
    with result.map_to_host() as result_host:
        print("result:", result_host)
        for i in range(SIZE):
            if result_host[i] != Scalar[dtype](i + 10):
                raise Error(t"result[{i}] must be {i + 10}")


# ANCHOR_END: first_crash


# ANCHOR: second_crash
comptime ITER = 2


def process_sliding_window(
    result: TileTensor[dtype, type_of(layout), MutAnyOrigin],
    input: TileTensor[dtype, type_of(layout), ImmutAnyOrigin],
):
    var i = thread_idx.x
    var total = Scalar[dtype](0)
    # Positions i - 1, i and i + 1, as far as the input has them.
    for step in range(ITER):
        var position = i + step - 1
        if position >= 0 and position < SIZE:
            total += input[position]
    result[i] = total


def second_case(ctx: DeviceContext) raises:
    print("Second case: each number plus its two neighbours")
    var input = ctx.enqueue_create_buffer[dtype](SIZE)
    input.enqueue_fill(0)
    with input.map_to_host() as input_host:
        for i in range(SIZE):
            input_host[i] = Scalar[dtype](i)
    var result = ctx.enqueue_create_buffer[dtype](SIZE)
    result.enqueue_fill(0)
    stage("input", input)
    stage("result", result)

    ctx.enqueue_function[process_sliding_window](
        TileTensor(result, layout),
        TileTensor[mut=False](input, layout),
        grid_dim=BLOCKS_PER_GRID,
        block_dim=THREADS_PER_BLOCK,
    )
    ctx.synchronize()

    submit("result", result)
    var expected = ctx.enqueue_create_host_buffer[dtype](SIZE)
    with input.map_to_host() as input_host:
        for i in range(SIZE):
            expected[i] = input_host[i]
            if i > 0:
                expected[i] += input_host[i - 1]
            if i < SIZE - 1:
                expected[i] += input_host[i + 1]
    with result.map_to_host() as result_host:
        print("Actual result:", result_host)
        print("Expected:", expected)
        for i in range(SIZE):
            if not (abs(result_host[i] - expected[i]) <= 0.001):
                print("[FAIL] the sums are wrong")
                raise Error(
                    t"result[{i}] is {result_host[i]}, not {expected[i]}"
                )
    print("[PASS] the sums are right")


# ANCHOR_END: second_crash


# ANCHOR: third_crash
def average_with_left_neighbour(
    result: TileTensor[dtype, type_of(layout), MutAnyOrigin],
    input: TileTensor[dtype, type_of(layout), ImmutAnyOrigin],
):
    var i = thread_idx.x
    var shared = stack_allocation[dtype, address_space=AddressSpace.SHARED](
        row_major[SIZE - 1]()
    )
    if i < SIZE - 1:
        shared[i] = input[i]
        barrier()
        # The first number has no left neighbour, so it counts twice.
        result[i] = (shared[max(i - 1, 0)] + shared[i]) / 2


def third_case(ctx: DeviceContext) raises:
    print("Third case: the mean of each number and its left neighbour")
    var input = ctx.enqueue_create_buffer[dtype](SIZE)
    input.enqueue_fill(0)
    with input.map_to_host() as input_host:
        for i in range(SIZE):
            input_host[i] = Scalar[dtype](i + 1)
    var result = ctx.enqueue_create_buffer[dtype](SIZE)
    result.enqueue_fill(0)
    stage("input", input)
    stage("result", result)

    print("Waiting for the GPU...")
    ctx.enqueue_function[average_with_left_neighbour](
        TileTensor(result, layout),
        TileTensor[mut=False](input, layout),
        grid_dim=BLOCKS_PER_GRID,
        block_dim=THREADS_PER_BLOCK,
    )
    ctx.synchronize()

    submit("result", result)
    with result.map_to_host() as result_host, input.map_to_host() as input_host:
        print("Result:", result_host)
        for i in range(SIZE):
            var mean = (input_host[max(i - 1, 0)] + input_host[i]) / 2
            if result_host[i] != mean:
                raise Error(t"result[{i}] is {result_host[i]}, not {mean}")
    print("[SUCCESS] every thread has passed the barrier")


# ANCHOR_END: third_crash


def main() raises:
    var mode = choose_mode(
        "p09", ["--first-case", "--second-case", "--third-case"]
    )
    with DeviceContext() as ctx:
        if mode == "--first-case":
            first_case(ctx)
        elif mode == "--second-case":
            second_case(ctx)
        else:
            third_case(ctx)
        print("Puzzle 09 complete ✅")
