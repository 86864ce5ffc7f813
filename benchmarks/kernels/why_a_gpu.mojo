"""The same two computations on the cores of the processor and on the GPU, with the copies and without them.

`add` reads two numbers for each operation. `steps` does 256 multiply-adds with each number that it reads.
The processor uses vectors on one core and on all of them; its arrays are in the page-locked memory that the
GPU copies from. All times are those of the host's clock, from the call until the result is complete, and
nothing is overwritten between the runs, so small arrays stay in the caches of both.

The rows have the minimum, the median and the maximum in microseconds.

    mojo build -I problems --target-cpu x86-64-v4 benchmarks/kernels/why_a_gpu.mojo -o why_a_gpu

`x86-64-v4` is a processor with AVX-512; one with AVX2 alone needs `x86-64-v3`.
"""

from max.algorithm.backend.cpu.parallelize import sync_parallelize
from max.gpu import block_dim, block_idx, thread_idx
from max.gpu.host import DeviceBuffer, DeviceContext, HostBuffer
from std.math import ceildiv
from std.sys import num_logical_cores, num_physical_cores, simd_width_of
from std.testing import assert_almost_equal, assert_equal
from std.time import perf_counter_ns

from lab.machine import on_simulated_gpu

comptime dtype = DType.float32
comptime WIDTH = simd_width_of[dtype]()
comptime UNROLL = 8  # vectors in flight on a core: enough to fill its multiply-add units
comptime STEP = WIDTH * UNROLL
comptime STEPS = 256
comptime FACTOR = Float32(0.5)
comptime LARGEST = 100_000_000
comptime THREADS = 256
comptime Output = Pointer[Float32, MutAnyOrigin]
comptime Input = Pointer[Float32, ImmutAnyOrigin]


def add_element(output: Output, a: Input, b: Input, size: Int32):
    var i = block_idx.x * block_dim.x + thread_idx.x
    if i < Int(size):
        output[unsafe_offset=i] = a[unsafe_offset=i] + b[unsafe_offset=i]


@always_inline
def all_steps[width: Int](first: SIMD[dtype, width]) -> SIMD[dtype, width]:
    """256 times half of the value plus the first one: close to twice the first one at the end.
    """
    var value = first
    for _ in range(STEPS // 16):
        comptime for _ in range(16):
            value = value.fma(FACTOR, first)
    return value


def steps_of_element(output: Output, a: Input, size: Int32):
    var i = block_idx.x * block_dim.x + thread_idx.x
    if i < Int(size):
        output[unsafe_offset=i] = all_steps[1](a[unsafe_offset=i])


def add_range(output: Output, a: Input, b: Input, begin: Int, end: Int):
    var i = begin
    while i + STEP <= end:
        output.unsafe_store(
            i, a.unsafe_load[width=STEP](i) + b.unsafe_load[width=STEP](i)
        )
        i += STEP
    while i < end:
        output[unsafe_offset=i] = a[unsafe_offset=i] + b[unsafe_offset=i]
        i += 1


def steps_of_range(output: Output, a: Input, begin: Int, end: Int):
    var i = begin
    while i + STEP <= end:
        output.unsafe_store(i, all_steps[STEP](a.unsafe_load[width=STEP](i)))
        i += STEP
    while i < end:
        output[unsafe_offset=i] = all_steps[1](a[unsafe_offset=i])
        i += 1


struct Data(Movable):
    """Two arrays and a result, on the host and on the GPU."""

    var a: HostBuffer[dtype]
    var b: HostBuffer[dtype]
    var out: HostBuffer[dtype]
    var device_a: DeviceBuffer[dtype]
    var device_b: DeviceBuffer[dtype]
    var device_out: DeviceBuffer[dtype]

    def __init__(out self, size: Int, ctx: DeviceContext) raises:
        self.a = ctx.enqueue_create_host_buffer[dtype](size)
        self.b = ctx.enqueue_create_host_buffer[dtype](size)
        self.out = ctx.enqueue_create_host_buffer[dtype](size)
        self.device_a = ctx.enqueue_create_buffer[dtype](size)
        self.device_b = ctx.enqueue_create_buffer[dtype](size)
        self.device_out = ctx.enqueue_create_buffer[dtype](size)
        ctx.synchronize()
        for i in range(size):
            self.a[i] = Float32(i % 4093)  # sums are exact
            self.b[i] = Float32(i % 4093 + 5)
            self.out[i] = -1
        self.a.enqueue_copy_to(self.device_a)
        self.b.enqueue_copy_to(self.device_b)
        self.device_out.enqueue_fill(-1)
        ctx.synchronize()

    def check_and_clear(self, add: Bool) raises:
        """Checks the result on the host, and overwrites it in both memories."""
        for i in range(len(self.out)):
            var expected = Float32(2 * (i % 4093) + (5 if add else 0))
            if add:
                assert_equal(self.out[i], expected)
            else:
                assert_almost_equal(self.out[i], expected, rtol=1e-6)
            self.out[i] = -1
        self.device_out.enqueue_fill(-1)


def measure[
    WorkType: def() raises -> None
](name: String, size: Int, runs: Int, timed: Bool, work: WorkType) raises:
    """Prints a row: the minimum, the median and the maximum of the times."""
    for _ in range(3):
        work()
    if not timed:
        return
    var times = List[Float64]()
    for _ in range(runs):
        var begin = perf_counter_ns()
        work()
        times.append(Float64(perf_counter_ns() - begin) / 1000)
    sort(times)
    print(
        name, size, runs, times[0], times[runs // 2], times[runs - 1], sep=" | "
    )


def measure_size(size: Int, cores: Int, timed: Bool, ctx: DeviceContext) raises:
    var data = Data(size, ctx)
    var output = rebind[Output](data.out.unsafe_ptr())
    var a = rebind[Input](data.a.unsafe_ptr())
    var b = rebind[Input](data.b.unsafe_ptr())
    var runs = 1001 if size <= 1_000_000 else 31
    var part = ceildiv(ceildiv(size, cores), STEP) * STEP
    var blocks = ceildiv(size, THREADS)

    def add_on_one_core() raises {imm}:
        add_range(output, a, b, 0, size)

    def add_part(i: Int) {imm}:
        add_range(output, a, b, min(i * part, size), min((i + 1) * part, size))

    def add_on_all_cores() raises {imm}:
        sync_parallelize(add_part, cores)

    def launch_add() raises {imm}:
        ctx.enqueue_function[add_element](
            data.device_out,
            data.device_a,
            data.device_b,
            Int32(size),
            grid_dim=blocks,
            block_dim=THREADS,
        )

    def add_on_gpu() raises {imm}:
        launch_add()
        ctx.synchronize()

    def add_on_gpu_with_copies() raises {imm}:
        data.a.enqueue_copy_to(data.device_a)
        data.b.enqueue_copy_to(data.device_b)
        launch_add()
        data.device_out.enqueue_copy_to(data.out)
        ctx.synchronize()

    def steps_on_one_core() raises {imm}:
        steps_of_range(output, a, 0, size)

    def steps_part(i: Int) {imm}:
        steps_of_range(output, a, min(i * part, size), min((i + 1) * part, size))

    def steps_on_all_cores() raises {imm}:
        sync_parallelize(steps_part, cores)

    def launch_steps() raises {imm}:
        ctx.enqueue_function[steps_of_element](
            data.device_out,
            data.device_a,
            Int32(size),
            grid_dim=blocks,
            block_dim=THREADS,
        )

    def steps_on_gpu() raises {imm}:
        launch_steps()
        ctx.synchronize()

    def steps_on_gpu_with_copies() raises {imm}:
        data.a.enqueue_copy_to(data.device_a)
        launch_steps()
        data.device_out.enqueue_copy_to(data.out)
        ctx.synchronize()

    def fetch() raises {imm}:
        data.device_out.enqueue_copy_to(data.out)
        ctx.synchronize()

    measure("add, one core", size, runs, timed, add_on_one_core)
    data.check_and_clear(add=True)
    measure("add, all cores", size, runs, timed, add_on_all_cores)
    data.check_and_clear(add=True)
    measure("add, GPU", size, runs, timed, add_on_gpu)
    fetch()
    data.check_and_clear(add=True)
    measure("add, GPU and copies", size, runs, timed, add_on_gpu_with_copies)
    data.check_and_clear(add=True)
    measure("steps, one core", size, runs, timed, steps_on_one_core)
    data.check_and_clear(add=False)
    measure("steps, all cores", size, runs, timed, steps_on_all_cores)
    data.check_and_clear(add=False)
    measure("steps, GPU", size, runs, timed, steps_on_gpu)
    fetch()
    data.check_and_clear(add=False)
    measure(
        "steps, GPU and copies", size, runs, timed, steps_on_gpu_with_copies
    )
    data.check_and_clear(add=False)


def main() raises:
    var cores = num_logical_cores()
    with DeviceContext() as ctx:
        var timed = not on_simulated_gpu()
        if not timed:
            measure_size(1000, cores, False, ctx)
            measure_size(100_000, cores, False, ctx)
            print("right on the processor and on the simulated GPU")
            return
        print("device:", ctx.name())
        print(
            t"processor: {cores} logical and {num_physical_cores()} physical"
            t" cores, vectors of {WIDTH}"
        )
        print("why: elements | runs | minimum | median | maximum (us)")
        for size in [1000, 1_000_000, LARGEST]:
            measure_size(size, cores, True, ctx)
