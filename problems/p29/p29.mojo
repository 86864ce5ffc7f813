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
from layout import Layout, LayoutTensor
from std.testing import assert_almost_equal

from lab import choose_mode, stage, submit

comptime dtype = DType.float32

# ANCHOR: multi_stage_pipeline
comptime SIZE = 1024
comptime TPB = 256
comptime BLOCKS_PER_GRID = (SIZE // TPB, 1)
comptime THREADS_PER_BLOCK = (TPB, 1)
comptime layout = Layout.row_major(SIZE)
# Threads 0 to 127 load, threads 128 to 255 blur.
comptime STAGE_THREADS = TPB // 2
comptime BLUR_RADIUS = 2
comptime GAIN = Scalar[dtype](1.1)
comptime SMOOTHING = Scalar[dtype](0.6)


def multi_stage_pipeline(
    output: LayoutTensor[dtype, layout, MutAnyOrigin],
    input: LayoutTensor[dtype, layout, ImmutAnyOrigin],
):
    var local_i = thread_idx.x
    var global_i = block_idx.x * TPB + local_i
    var input_shared = LayoutTensor[
        dtype,
        Layout.row_major(TPB),
        MutAnyOrigin,
        address_space=AddressSpace.SHARED,
    ].stack_allocation()
    var blur_shared = LayoutTensor[
        dtype,
        Layout.row_major(TPB),
        MutAnyOrigin,
        address_space=AddressSpace.SHARED,
    ].stack_allocation()
    # FILL ME IN (about 20 lines)


# ANCHOR_END: multi_stage_pipeline


# ANCHOR: double_buffered_stencil
comptime STENCIL_ITERATIONS = 3
comptime BUFFER_COUNT = 2


def double_buffered_stencil(
    output: LayoutTensor[dtype, layout, MutAnyOrigin],
    input: LayoutTensor[dtype, layout, ImmutAnyOrigin],
):
    var local_i = thread_idx.x
    var global_i = block_idx.x * TPB + local_i
    # BUFFER_COUNT buffers: while one is read, the other is written.
    var buffer_a = LayoutTensor[
        dtype,
        Layout.row_major(TPB),
        MutAnyOrigin,
        address_space=AddressSpace.SHARED,
    ].stack_allocation()
    var buffer_b = LayoutTensor[
        dtype,
        Layout.row_major(TPB),
        MutAnyOrigin,
        address_space=AddressSpace.SHARED,
    ].stack_allocation()
    # An mbarrier is a 64-bit counter in shared memory.
    var init_barrier = LayoutTensor[
        DType.uint64,
        Layout.row_major(1),
        MutAnyOrigin,
        address_space=AddressSpace.SHARED,
    ].stack_allocation()
    var iter_barrier = LayoutTensor[
        DType.uint64,
        Layout.row_major(1),
        MutAnyOrigin,
        address_space=AddressSpace.SHARED,
    ].stack_allocation()
    var final_barrier = LayoutTensor[
        DType.uint64,
        Layout.row_major(1),
        MutAnyOrigin,
        address_space=AddressSpace.SHARED,
    ].stack_allocation()
    # FILL ME IN (about 35 lines)


# ANCHOR_END: double_buffered_stencil


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
    var mode = choose_mode("p29", ["--multi-stage", "--double-buffer"])
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

        var out_tensor = LayoutTensor[dtype, layout](out)
        var input_tensor = LayoutTensor[mut=False, dtype, layout](input)
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
