from max.gpu import block_dim, block_idx, thread_idx
from max.gpu.host import DeviceBuffer, DeviceContext, HostBuffer
from std.testing import assert_equal

from lab import choose_mode, stage, submit
from lab.benchmark import Benchmark, sampled
from lab.machine import elements_here

# Three kernels, one task: output[i] = a[i] + b[i] for every i. They differ only
# in which thread takes which element, which decides how much memory they move.
# A warp's access transfers sectors of 32 bytes: 32 neighbouring numbers of
# four bytes fill exactly four of them.
comptime SIZE = 16 * 1024 * 1024
comptime SIMULATED_SIZE = 256 * 1024
comptime BLOCK_SIZE = 1024
comptime dtype = DType.float32
comptime Output = Pointer[Float32, MutAnyOrigin]
comptime Input = Pointer[Float32, ImmutAnyOrigin]


# ANCHOR: kernel1
def kernel1(output: Output, a: Input, b: Input, size: Int32):
    # Thread i takes element i: neighbouring lanes, neighbouring addresses.
    var i = block_idx.x * block_dim.x + thread_idx.x
    if i < Int(size):
        output[unsafe_offset=i] = a[unsafe_offset=i] + b[unsafe_offset=i]


# ANCHOR_END: kernel1


# ANCHOR: kernel2
comptime STRIDE = 512


def kernel2(output: Output, a: Input, b: Input, size: Int32):
    var thread = block_idx.x * block_dim.x + thread_idx.x
    # FILL ME IN (about 1 line, instead of the three below)
    # The data are taken for a table of STRIDE columns; a warp walks down one.
    var rows = Int(size) // STRIDE
    var i = (thread % rows) * STRIDE + thread // rows
    if i < Int(size):
        output[unsafe_offset=i] = a[unsafe_offset=i] + b[unsafe_offset=i]


# ANCHOR_END: kernel2


# ANCHOR: kernel3
def kernel3(output: Output, a: Input, b: Input, size: Int32):
    var thread = block_idx.x * block_dim.x + thread_idx.x
    # FILL ME IN (about 1 line, instead of the one below)
    var i = (Int(size) - thread) % Int(size)
    if i >= 0:
        output[unsafe_offset=i] = a[unsafe_offset=i] + b[unsafe_offset=i]


# ANCHOR_END: kernel3


def fill_book_data(a: HostBuffer[dtype], b: HostBuffer[dtype]):
    for i in range(len(a)):
        a[i] = Float32(i + 1)
        b[i] = Float32(i + 2)


@fieldwise_init
struct Task(Movable):
    """The buffers of one run."""

    var a: DeviceBuffer[dtype]
    var b: DeviceBuffer[dtype]
    var size: Int

    def __init__(out self, size: Int, ctx: DeviceContext) raises:
        self.size = size
        self.a = ctx.enqueue_create_buffer[dtype](size)
        self.a.enqueue_fill(0)
        self.b = ctx.enqueue_create_buffer[dtype](size)
        self.b.enqueue_fill(0)
        with self.a.map_to_host() as a_host, self.b.map_to_host() as b_host:
            fill_book_data(a_host, b_host)

    def launch(
        self, name: String, result: DeviceBuffer[dtype], ctx: DeviceContext
    ) raises:
        """Starts the kernel of this name, a thread for each element."""
        var size = Int32(self.size)
        var blocks = self.size // BLOCK_SIZE
        if name == "kernel1":
            ctx.enqueue_function[kernel1](
                result,
                self.a,
                self.b,
                size,
                grid_dim=blocks,
                block_dim=BLOCK_SIZE,
            )
        elif name == "kernel2":
            ctx.enqueue_function[kernel2](
                result,
                self.a,
                self.b,
                size,
                grid_dim=blocks,
                block_dim=BLOCK_SIZE,
            )
        else:
            ctx.enqueue_function[kernel3](
                result,
                self.a,
                self.b,
                size,
                grid_dim=blocks,
                block_dim=BLOCK_SIZE,
            )

    def expected(self, ctx: DeviceContext) raises -> HostBuffer[dtype]:
        """The sums, computed on the host."""
        var sums = ctx.enqueue_create_host_buffer[dtype](self.size)
        with self.a.map_to_host() as a_host, self.b.map_to_host() as b_host:
            for i in range(self.size):
                sums[i] = a_host[i] + b_host[i]
        return sums


def compare(result: HostBuffer[dtype], expected: HostBuffer[dtype]) raises:
    for i in range(len(expected)):
        assert_equal(result[i], expected[i])


def run_kernel(
    name: String, output_name: String, task: Task, ctx: DeviceContext
) raises:
    var out = ctx.enqueue_create_buffer[dtype](task.size)
    out.enqueue_fill(0)
    stage(output_name, out)
    task.launch(name, out, ctx)
    ctx.synchronize()
    submit(output_name, out)
    print("kernel:", name)
    var expected = task.expected(ctx)
    with out.map_to_host() as out_host:
        print("out:", out_host)
        print("expected:", expected)
        compare(out_host, expected)


def benchmark(ctx: DeviceContext) raises:
    var size = elements_here(SIZE, simulated=SIMULATED_SIZE)
    # Two sets of inputs, taken in turn.
    var first = Task(size, ctx)
    var second = Task(size, ctx)
    var expected = first.expected(ctx)
    var out = ctx.enqueue_create_buffer[dtype](size)
    var table = Benchmark(ctx)
    var names: List[String] = ["kernel1", "kernel2", "kernel3"]
    for name in names:
        out.enqueue_fill(0)

        def launch(repetition: Int, ctx: DeviceContext) raises {imm}:
            if repetition % 2 == 0:
                first.launch(name, out, ctx)
            else:
                second.launch(name, out, ctx)

        table.measure(name, size, 3 * size * 4, launch)
        if not sampled():
            with out.map_to_host() as out_host:
                compare(out_host, expected)


def main() raises:
    var mode = choose_mode(
        "p30", ["--kernel1", "--kernel2", "--kernel3", "--all", "--benchmark"]
    )
    with DeviceContext() as ctx:
        if mode == "--benchmark":
            benchmark(ctx)
            return
        var size = elements_here(SIZE, simulated=SIMULATED_SIZE)
        print("SIZE:", size)
        print("blocks:", size // BLOCK_SIZE, "of", BLOCK_SIZE, "threads")
        var task = Task(size, ctx)
        stage("a", task.a)
        stage("b", task.b)
        if mode == "--all":
            for name in ["kernel1", "kernel2", "kernel3"]:
                run_kernel(String(name), String(name), task, ctx)
        else:
            var name = String("kernel1")
            if mode == "--kernel2":
                name = "kernel2"
            elif mode == "--kernel3":
                name = "kernel3"
            run_kernel(name, "out", task, ctx)
        # Right values are half of it: a slow kernel has them too.
        print("Puzzle 30: all values right; its counters decide")
