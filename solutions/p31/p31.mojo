from max.gpu import AddressSpace, block_dim, block_idx, thread_idx
from max.gpu.host import DeviceBuffer, DeviceContext, FuncAttribute, HostBuffer
from max.gpu.memory import external_memory
from std.testing import assert_almost_equal

from lab import choose_mode, stage, submit
from lab.benchmark import Benchmark, sampled
from lab.machine import elements_here

# Three kernels, one task: output[i] = ALPHA * x[i] + y[i] for every i. They
# differ in how much shared memory a block takes, and that decides how many
# blocks a multiprocessor can hold at a time: its occupancy.
comptime SIZE = 32 * 1024 * 1024
comptime SIMULATED_SIZE = 256 * 1024
comptime BLOCK_SIZE = 1024
comptime ALPHA = Float32(2.5)
comptime dtype = DType.float32
comptime Output = Pointer[Float32, MutAnyOrigin]
comptime Input = Pointer[Float32, ImmutAnyOrigin]


# ANCHOR: minimal_kernel
def minimal_kernel(output: Output, x: Input, y: Input, size: Int32):
    # Everything in registers: no shared memory at all.
    var i = block_idx.x * block_dim.x + thread_idx.x
    if i < Int(size):
        output[unsafe_offset=i] = (
            ALPHA * x[unsafe_offset=i] + y[unsafe_offset=i]
        )


# ANCHOR_END: minimal_kernel


# ANCHOR: sophisticated_kernel_solution
# The sum is built up in STEPS small steps, and every partial sum is kept in
# shared memory: a slot holds one number for each thread of the block, 4 KiB.
comptime STEPS = 32
comptime SLOT_BYTES = BLOCK_SIZE * 4

# FILL: about 5 lines, instead of those below
# STUB: # One slot for each step: each partial sum has its own.
# STUB: comptime SOPHISTICATED_SLOTS = STEPS
# STUB:
# STUB:
# STUB: def sophisticated_slot(step: Int) -> Int:
# STUB:     return step
# Twelve slots, 48 KiB, used in turn: a step needs the sum before it and no
# older one. Now two blocks fit on a multiprocessor instead of one.
comptime SOPHISTICATED_SLOTS = 12


def sophisticated_slot(step: Int) -> Int:
    return step % SOPHISTICATED_SLOTS


# END_FILL


def sophisticated_kernel(output: Output, x: Input, y: Input, size: Int32):
    # How many bytes there are is said at the launch.
    var sums = external_memory[
        Float32, address_space=AddressSpace.SHARED, alignment=16
    ]()
    var i = block_idx.x * block_dim.x + thread_idx.x
    # A thread stays in its own column of the slots: no barrier is needed.
    var column = thread_idx.x
    if i < Int(size):
        var part = ALPHA / STEPS * x[unsafe_offset=i]
        var first = sophisticated_slot(0) * BLOCK_SIZE + column
        sums[unsafe_offset=first] = y[unsafe_offset=i] + part
        for step in range(1, STEPS):
            var before = sophisticated_slot(step - 1) * BLOCK_SIZE + column
            var now = sophisticated_slot(step) * BLOCK_SIZE + column
            sums[unsafe_offset=now] = sums[unsafe_offset=before] + part
        var last = sophisticated_slot(STEPS - 1) * BLOCK_SIZE + column
        output[unsafe_offset=i] = sums[unsafe_offset=last]


# ANCHOR_END: sophisticated_kernel_solution


# ANCHOR: balanced_kernel_solution
# FILL: about 1 line, instead of those below
# STUB: # Twelve slots do not cost a block of this size anything. They would cost
# STUB: # smaller blocks, of which more should fit.
# STUB: comptime BALANCED_SLOTS = 12
# Four slots, 16 KiB: shared memory would hold thirteen such blocks.
comptime BALANCED_SLOTS = 4
# END_FILL


def balanced_kernel(output: Output, x: Input, y: Input, size: Int32):
    var sums = external_memory[
        Float32, address_space=AddressSpace.SHARED, alignment=16
    ]()
    var i = block_idx.x * block_dim.x + thread_idx.x
    var column = thread_idx.x
    if i < Int(size):
        var part = ALPHA / STEPS * x[unsafe_offset=i]
        sums[unsafe_offset=column] = y[unsafe_offset=i] + part
        for step in range(1, STEPS):
            var before = (step - 1) % BALANCED_SLOTS * BLOCK_SIZE + column
            var now = step % BALANCED_SLOTS * BLOCK_SIZE + column
            sums[unsafe_offset=now] = sums[unsafe_offset=before] + part
        var last = (STEPS - 1) % BALANCED_SLOTS * BLOCK_SIZE + column
        output[unsafe_offset=i] = sums[unsafe_offset=last]


# ANCHOR_END: balanced_kernel_solution


def fill_book_data(x: HostBuffer[dtype], y: HostBuffer[dtype]):
    for i in range(len(x)):
        x[i] = Float32(i + 1)
        y[i] = Float32(i + 2)


def tolerance_of(name: String) -> Float64:
    """How far a result may be off: 32 roundings are more than one."""
    if name == "sophisticated":
        return 1e-3
    return 1e-4 if name == "balanced" else 1e-6


@fieldwise_init
struct Task(Movable):
    """The buffers of one run."""

    var x: DeviceBuffer[dtype]
    var y: DeviceBuffer[dtype]
    var size: Int

    def __init__(out self, size: Int, ctx: DeviceContext) raises:
        self.size = size
        self.x = ctx.enqueue_create_buffer[dtype](size)
        self.x.enqueue_fill(0)
        self.y = ctx.enqueue_create_buffer[dtype](size)
        self.y.enqueue_fill(0)
        with self.x.map_to_host() as x_host, self.y.map_to_host() as y_host:
            fill_book_data(x_host, y_host)

    def launch(
        self, name: String, result: DeviceBuffer[dtype], ctx: DeviceContext
    ) raises:
        """Starts the kernel of this name, a thread for each element."""
        var size = Int32(self.size)
        var blocks = self.size // BLOCK_SIZE
        if name == "minimal":
            ctx.enqueue_function[minimal_kernel](
                result,
                self.x,
                self.y,
                size,
                grid_dim=blocks,
                block_dim=BLOCK_SIZE,
            )
        elif name == "sophisticated":
            # More than 48 KiB are given only to a kernel that asks for them.
            comptime bytes = SOPHISTICATED_SLOTS * SLOT_BYTES
            ctx.enqueue_function[sophisticated_kernel](
                result,
                self.x,
                self.y,
                size,
                grid_dim=blocks,
                block_dim=BLOCK_SIZE,
                shared_mem_bytes=bytes,
                func_attribute=FuncAttribute.MAX_DYNAMIC_SHARED_SIZE_BYTES(
                    UInt32(bytes)
                ),
            )
        else:
            comptime bytes = BALANCED_SLOTS * SLOT_BYTES
            ctx.enqueue_function[balanced_kernel](
                result,
                self.x,
                self.y,
                size,
                grid_dim=blocks,
                block_dim=BLOCK_SIZE,
                shared_mem_bytes=bytes,
            )

    def expected(self, ctx: DeviceContext) raises -> HostBuffer[dtype]:
        """The results, computed on the host."""
        var sums = ctx.enqueue_create_host_buffer[dtype](self.size)
        with self.x.map_to_host() as x_host, self.y.map_to_host() as y_host:
            for i in range(self.size):
                sums[i] = ALPHA * x_host[i] + y_host[i]
        return sums


def compare(
    result: HostBuffer[dtype], expected: HostBuffer[dtype], tolerance: Float64
) raises:
    for i in range(len(expected)):
        assert_almost_equal(
            result[i], expected[i], rtol=tolerance, atol=tolerance
        )


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
        compare(out_host, expected, tolerance_of(name))


def benchmark(ctx: DeviceContext) raises:
    var size = elements_here(SIZE, simulated=SIMULATED_SIZE)
    # Two sets of inputs, taken in turn.
    var first = Task(size, ctx)
    var second = Task(size, ctx)
    var expected = first.expected(ctx)
    var out = ctx.enqueue_create_buffer[dtype](size)
    var table = Benchmark(ctx)
    for each in ["minimal", "sophisticated", "balanced"]:
        var name = String(each)
        out.enqueue_fill(0)

        def launch(repetition: Int, ctx: DeviceContext) raises {imm}:
            if repetition % 2 == 0:
                first.launch(name, out, ctx)
            else:
                second.launch(name, out, ctx)

        table.measure(name, size, 3 * size * 4, launch)
        if not sampled():
            with out.map_to_host() as out_host:
                compare(out_host, expected, tolerance_of(name))


def main() raises:
    var mode = choose_mode(
        "p31",
        ["--minimal", "--sophisticated", "--balanced", "--all", "--benchmark"],
    )
    with DeviceContext() as ctx:
        if mode == "--benchmark":
            benchmark(ctx)
            return
        var size = elements_here(SIZE, simulated=SIMULATED_SIZE)
        print("SIZE:", size)
        print("blocks:", size // BLOCK_SIZE, "of", BLOCK_SIZE, "threads")
        var task = Task(size, ctx)
        stage("x", task.x)
        stage("y", task.y)
        if mode == "--all":
            for name in ["minimal", "sophisticated", "balanced"]:
                run_kernel(String(name), String(name), task, ctx)
        elif mode == "--minimal":
            run_kernel("minimal", "out", task, ctx)
        elif mode == "--sophisticated":
            run_kernel("sophisticated", "out", task, ctx)
        else:
            run_kernel("balanced", "out", task, ctx)
        # Right values are half of it: a slow kernel has them too.
        print("Puzzle 31: all values right; its counters decide")
