from max.gpu import (
    AddressSpace,
    barrier,
    block_idx,
    mbarrier_arrive,
    mbarrier_init,
    mbarrier_test_wait,
    thread_idx,
)
from max.gpu.host import DeviceContext, HostBuffer
from layout import TileTensor, row_major, stack_allocation
from std.testing import assert_almost_equal

from lab import choose_mode, stage, submit

comptime dtype = DType.float32

# ANCHOR: multi_stage_pipeline_tile_tensor_solution
comptime SIZE = 1024
comptime TPB = 256
comptime BLOCKS_PER_GRID = (SIZE // TPB, 1)
comptime THREADS_PER_BLOCK = (TPB, 1)
comptime layout = row_major[SIZE]()
# Threads 0 to 127 load, threads 128 to 255 blur.
comptime STAGE_THREADS = TPB // 2
comptime BLUR_RADIUS = 2
comptime GAIN = Scalar[dtype](1.1)
comptime SMOOTHING = Scalar[dtype](0.6)


def multi_stage_pipeline(
    output: TileTensor[dtype, type_of(layout), MutAnyOrigin],
    input: TileTensor[dtype, type_of(layout), ImmutAnyOrigin],
):
    var local_i = thread_idx.x
    var global_i = block_idx.x * TPB + local_i
    var input_shared = stack_allocation[
        dtype, address_space=AddressSpace.SHARED
    ](row_major[TPB]())
    var blur_shared = stack_allocation[
        dtype, address_space=AddressSpace.SHARED
    ](row_major[TPB]())
    # FILL: about 20 lines
    # Stage 1, by the first half of the threads: load two numbers each, half a
    # block apart, so that neighbouring threads still read neighbours.
    if local_i < STAGE_THREADS:
        input_shared[local_i] = input[global_i] * GAIN
        input_shared[local_i + STAGE_THREADS] = (
            input[global_i + STAGE_THREADS] * GAIN
        )
    # The barrier is outside the branches: the half that has no work in a stage
    # must arrive too.
    barrier()

    # Stage 2, by the second half: two elements each, again. An element near the
    # block's edge is the mean of those neighbours that exist.
    if local_i >= STAGE_THREADS:
        for cell in range(local_i - STAGE_THREADS, TPB, STAGE_THREADS):
            var total = Scalar[dtype](0)
            var count = 0
            for j in range(
                max(cell - BLUR_RADIUS, 0), min(cell + BLUR_RADIUS + 1, TPB)
            ):
                total += input_shared[j]
                count += 1
            blur_shared[cell] = total / Scalar[dtype](count)
    barrier()

    # Stage 3, by all threads: each moves its value towards its neighbours.
    var value = blur_shared[local_i]
    if local_i > 0:
        value = (value + blur_shared[local_i - 1]) * SMOOTHING
    if local_i < TPB - 1:
        value = (value + blur_shared[local_i + 1]) * SMOOTHING
    output[global_i] = value
    # END_FILL


# ANCHOR_END: multi_stage_pipeline_tile_tensor_solution


# ANCHOR: double_buffered_stencil_tile_tensor_solution
comptime STENCIL_ITERATIONS = 3
comptime BUFFER_COUNT = 2


def double_buffered_stencil(
    output: TileTensor[dtype, type_of(layout), MutAnyOrigin],
    input: TileTensor[dtype, type_of(layout), ImmutAnyOrigin],
):
    var local_i = thread_idx.x
    var global_i = block_idx.x * TPB + local_i
    # BUFFER_COUNT buffers: while one is read, the other is written.
    var buffer_a = stack_allocation[dtype, address_space=AddressSpace.SHARED](
        row_major[TPB]()
    )
    var buffer_b = stack_allocation[dtype, address_space=AddressSpace.SHARED](
        row_major[TPB]()
    )
    # An mbarrier is a 64-bit counter in shared memory.
    var init_barrier = stack_allocation[
        DType.uint64, address_space=AddressSpace.SHARED
    ](row_major[1]())
    var iter_barrier = stack_allocation[
        DType.uint64, address_space=AddressSpace.SHARED
    ](row_major[1]())
    var final_barrier = stack_allocation[
        DType.uint64, address_space=AddressSpace.SHARED
    ](row_major[1]())
    # FILL: about 35 lines
    # One thread sets how many arrivals complete a phase of each mbarrier. No
    # thread may arrive before that, which the ordinary barrier ensures.
    if local_i == 0:
        mbarrier_init(init_barrier.unsafe_ptr(), Int32(TPB))
        mbarrier_init(iter_barrier.unsafe_ptr(), Int32(TPB))
        mbarrier_init(final_barrier.unsafe_ptr(), Int32(TPB))
    barrier()

    # Arriving returns a token for the current phase and does not wait. Waiting
    # means polling until the phase of that token is complete.
    buffer_a[local_i] = input[global_i]
    var loaded = mbarrier_arrive(init_barrier.unsafe_ptr())
    while not mbarrier_test_wait(init_barrier.unsafe_ptr(), loaded):
        pass

    var source = buffer_a
    var target = buffer_b
    comptime for iteration in range(STENCIL_ITERATIONS):
        # The mean of the element and its neighbours inside the block.
        var total = source[local_i]
        var count = 1
        if local_i > 0:
            total += source[local_i - 1]
            count += 1
        if local_i < TPB - 1:
            total += source[local_i + 1]
            count += 1
        target[local_i] = total / Scalar[dtype](count)

        # A complete phase starts the next one automatically, so one mbarrier
        # is enough for all rounds; only the token must be this round's. As no
        # round writes what it reads, one wait per round is enough.
        comptime if iteration < STENCIL_ITERATIONS - 1:
            var written = mbarrier_arrive(iter_barrier.unsafe_ptr())
            while not mbarrier_test_wait(iter_barrier.unsafe_ptr(), written):
                pass
        swap(source, target)

    # The last round has an mbarrier of its own. What follows reads only the
    # thread's own element and would be right without it; a read of a
    # neighbour's element needs it.
    var finished = mbarrier_arrive(final_barrier.unsafe_ptr())
    while not mbarrier_test_wait(final_barrier.unsafe_ptr(), finished):
        pass
    output[global_i] = source[local_i]
    # END_FILL


# ANCHOR_END: double_buffered_stencil_tile_tensor_solution


def expect_pipeline(
    input: HostBuffer[dtype], expected: HostBuffer[dtype]
) raises:
    for block in range(0, SIZE, TPB):
        var blurred = List[Scalar[dtype]]()
        for cell in range(TPB):
            var total = Scalar[dtype](0)
            var first = max(cell - BLUR_RADIUS, 0)
            var end = min(cell + BLUR_RADIUS + 1, TPB)
            for j in range(first, end):
                total += input[block + j] * GAIN
            blurred.append(total / Scalar[dtype](end - first))
        for cell in range(TPB):
            var value = blurred[cell]
            if cell > 0:
                value = (value + blurred[cell - 1]) * SMOOTHING
            if cell < TPB - 1:
                value = (value + blurred[cell + 1]) * SMOOTHING
            expected[block + cell] = value


def expect_stencil(
    input: HostBuffer[dtype], expected: HostBuffer[dtype]
) raises:
    for block in range(0, SIZE, TPB):
        var cells = List[Scalar[dtype]]()
        for cell in range(TPB):
            cells.append(input[block + cell])
        for _ in range(STENCIL_ITERATIONS):
            var before = cells.copy()
            for cell in range(TPB):
                var first = max(cell - 1, 0)
                var end = min(cell + 2, TPB)
                cells[cell] = 0
                for j in range(first, end):
                    cells[cell] += before[j]
                cells[cell] /= Scalar[dtype](end - first)
        for cell in range(TPB):
            expected[block + cell] = cells[cell]


def main() raises:
    var mode = choose_mode(
        "p29_tile_tensor", ["--multi-stage", "--double-buffer"]
    )
    with DeviceContext() as ctx:
        var out = ctx.enqueue_create_buffer[dtype](SIZE)
        out.enqueue_fill(0)
        var input = ctx.enqueue_create_buffer[dtype](SIZE)
        input.enqueue_fill(0)
        with input.map_to_host() as input_host:
            for i in range(SIZE):
                if mode == "--multi-stage":
                    input_host[i] = Scalar[dtype](i % 10) + (
                        Scalar[dtype](i) / 100
                    )
                else:
                    input_host[i] = 1 if i % 20 < 10 else 0
        stage("input", input)
        stage("out", out)

        var expected = ctx.enqueue_create_host_buffer[dtype](SIZE)
        with input.map_to_host() as input_host:
            if mode == "--multi-stage":
                expect_pipeline(input_host, expected)
            else:
                expect_stencil(input_host, expected)

        var out_tensor = TileTensor(out, layout)
        var input_tensor = TileTensor[mut=False](input, layout)
        print("SIZE:", SIZE, "TPB:", TPB)
        if mode == "--multi-stage":
            print("BLUR_RADIUS:", BLUR_RADIUS)
            ctx.enqueue_function[multi_stage_pipeline](
                out_tensor,
                input_tensor,
                grid_dim=BLOCKS_PER_GRID,
                block_dim=THREADS_PER_BLOCK,
            )
        else:
            print(
                "STENCIL_ITERATIONS:",
                STENCIL_ITERATIONS,
                "BUFFER_COUNT:",
                BUFFER_COUNT,
            )
            # mbarriers exist on NVIDIA GPUs only; elsewhere this program is
            # built without the kernel that has them.
            comptime if DeviceContext.default_device_info.api == "cuda":
                ctx.enqueue_function[double_buffered_stencil](
                    out_tensor,
                    input_tensor,
                    grid_dim=BLOCKS_PER_GRID,
                    block_dim=THREADS_PER_BLOCK,
                )
            else:
                raise Error("--double-buffer needs an NVIDIA GPU: mbarriers")
        ctx.synchronize()

        submit("out", out)
        with out.map_to_host() as out_host:
            print("out:", out_host)
            print("expected:", expected)
            # The order of the additions only changes the last digits.
            for i in range(SIZE):
                assert_almost_equal(
                    out_host[i], expected[i], atol=1e-5, rtol=1e-5
                )
        print("Puzzle 29 complete ✅")
