from max.gpu import global_idx
from max.gpu.host import (
    DeviceBuffer,
    DeviceContext,
    DeviceEvent,
    DeviceGraph,
    DeviceGraphBuilder,
    HostBuffer,
)
from std.testing import assert_equal
from std.time import perf_counter_ns

from lab import choose_mode, stage, submit
from lab.machine import on_simulated_gpu

# ANCHOR: pipeline_solution
comptime dtype = DType.float32
comptime SIZE = 6400  # samples
comptime CHUNK = 1024  # samples of a chunk; the last one has 256
comptime SLOTS = 3  # chunks for which the GPU has memory
comptime TPB = 256
comptime Output = Pointer[Scalar[dtype], MutAnyOrigin]
comptime Input = Pointer[Scalar[dtype], ImmutAnyOrigin]


def calibrate(output: Output, input: Input, size: Int32):
    """Turns the readings of a sensor into its calibrated values."""
    var i = Int(global_idx.x)
    if i < Int(size):
        var reading = input[unsafe_offset=i]
        output[unsafe_offset=i] = reading * (reading + 0.5)


struct Slot(Copyable, Movable):
    """Room for one chunk in the memory of the GPU, and what happened to it."""

    var input: DeviceBuffer[dtype]
    var output: DeviceBuffer[dtype]
    var uploaded: DeviceEvent  # `input` is filled
    var computed: DeviceEvent  # `input` has been read, `output` is filled
    var downloaded: DeviceEvent  # `output` has been read

    def __init__(out self, chunk: Int, ctx: DeviceContext) raises:
        self.input = ctx.enqueue_create_buffer[dtype](chunk)
        self.output = ctx.enqueue_create_buffer[dtype](chunk)
        self.uploaded = ctx.create_event()
        self.computed = ctx.create_event()
        self.downloaded = ctx.create_event()


struct Pipeline(Movable):
    """Samples in pinned memory, slots on the GPU, and a stream for each stage.

    A context stands for one stream of its GPU. `upload` copies to the GPU,
    `compute` launches kernels, and `download` copies back.
    """

    var upload: DeviceContext
    var compute: DeviceContext
    var download: DeviceContext
    var input: HostBuffer[dtype]
    var output: HostBuffer[dtype]
    var slots: List[Slot]
    var size: Int
    var chunk: Int

    def __init__(
        out self, size: Int, chunk: Int, ctx: DeviceContext
    ) raises:
        var first = ctx.num_streams()
        for _ in range(3):
            _ = ctx.create_stream()
        self.upload = ctx.select_stream(first)
        self.compute = ctx.select_stream(first + 1)
        self.download = ctx.select_stream(first + 2)
        self.input = ctx.enqueue_create_host_buffer[dtype](size)
        self.output = ctx.enqueue_create_host_buffer[dtype](size)
        self.slots = List[Slot]()
        for _ in range(SLOTS):
            self.slots.append(Slot(chunk, ctx))
        self.size = size
        self.chunk = chunk
        ctx.synchronize()

    def chunks(self) -> Int:
        """How many chunks there are; the last one may be shorter."""
        return (self.size + self.chunk - 1) // self.chunk

    def length(self, number: Int) -> Int:
        """The samples of a chunk."""
        return min(self.chunk, self.size - number * self.chunk)

    def copy_in(self, stream: DeviceContext, number: Int) raises:
        """Enqueues the copy of a chunk to the input of its slot."""
        var samples = self.slots[number % SLOTS].input.create_sub_buffer[dtype](
            0, self.length(number)
        )
        # With a pointer as the other side, a copy is enqueued in the stream of
        # the context; between two buffers, in that of the device buffer.
        stream.enqueue_copy(
            samples,
            self.input.unsafe_ptr().unsafe_offset(number * self.chunk),
        )

    def launch(self, stream: DeviceContext, number: Int) raises:
        """Enqueues the kernel for a chunk, from the input of its slot to the output.
        """
        var length = self.length(number)
        stream.enqueue_function[calibrate](
            self.slots[number % SLOTS].output,
            self.slots[number % SLOTS].input,
            Int32(length),
            grid_dim=(length + TPB - 1) // TPB,
            block_dim=TPB,
        )

    def copy_out(self, stream: DeviceContext, number: Int) raises:
        """Enqueues the copy of a chunk from the output of its slot."""
        var samples = self.slots[number % SLOTS].output.create_sub_buffer[
            dtype
        ](0, self.length(number))
        stream.enqueue_copy(
            self.output.unsafe_ptr().unsafe_offset(number * self.chunk),
            samples,
        )


# ANCHOR_END: pipeline_solution


# ANCHOR: streams_solution
def run_in_streams(p: Pipeline) raises:
    """Copies in, computes and copies out chunk by chunk, and waits for the end.

    An event stands for what its stream had been given when it was recorded,
    and a wait for an event that was never recorded waits for nothing.
    """
    # FILL: about 14 lines
    # STUB: pass
    for number in range(p.chunks()):
        ref slot = p.slots[number % SLOTS]
        # The kernel of the slot's last chunk must have read the input.
        p.upload.stream().enqueue_wait_for(slot.computed)
        p.copy_in(p.upload, number)
        p.upload.stream().record_event(slot.uploaded)
        # The kernel needs this chunk, and the output of the last one must
        # have been copied.
        p.compute.stream().enqueue_wait_for(slot.uploaded)
        p.compute.stream().enqueue_wait_for(slot.downloaded)
        p.launch(p.compute, number)
        p.compute.stream().record_event(slot.computed)
        p.download.stream().enqueue_wait_for(slot.computed)
        p.copy_out(p.download, number)
        p.download.stream().record_event(slot.downloaded)
    # The last copy is behind everything else; the host waits once.
    p.download.synchronize()
    # END_FILL


# ANCHOR_END: streams_solution


def run_in_order(p: Pipeline) raises:
    """The same in one stream, where everything waits for what came before."""
    for number in range(p.chunks()):
        p.copy_in(p.compute, number)
        p.launch(p.compute, number)
        p.copy_out(p.compute, number)
    p.compute.synchronize()


# ANCHOR: graph_solution
def build_graph(p: Pipeline, ctx: DeviceContext) raises -> DeviceGraph:
    """The work of all chunks as a graph: a node begins when its dependencies are done.
    """
    var kernel = ctx.compile_function[calibrate]()

    def build(mut builder: DeviceGraphBuilder) raises {imm}:
        # The latest nodes of each slot; a slot without any has an empty node.
        var start = builder.add_empty()
        var computed = List(length=SLOTS, fill=start)
        var downloaded = List(length=SLOTS, fill=start)
        for number in range(p.chunks()):
            var slot = number % SLOTS
            var length = p.length(number)
            var input = p.slots[slot].input.create_sub_buffer[dtype](0, length)
            var output = p.slots[slot].output.create_sub_buffer[dtype](
                0, length
            )
            var first = number * p.chunk
            # FILL: about 15 lines
            # STUB: _ = (input, output, first)
            # The same dependencies as between the streams.
            var uploaded = builder.add_copy(
                input,
                p.input.create_sub_buffer[dtype](first, length),
                dependencies=[computed[slot]],
            )
            computed[slot] = builder.add_function(
                kernel,
                output,
                input,
                Int32(length),
                grid_dim=(length + TPB - 1) // TPB,
                block_dim=TPB,
                dependencies=[uploaded, downloaded[slot]],
            )
            downloaded[slot] = builder.add_copy(
                p.output.create_sub_buffer[dtype](first, length),
                output,
                dependencies=[computed[slot]],
            )
            # END_FILL

    return DeviceGraph.create(ctx, build)


# ANCHOR_END: graph_solution


def fill_book_data(samples: HostBuffer[dtype]):
    for i in range(len(samples)):
        samples[i] = Scalar[dtype]((i * 7 + i // 97) % 251)


def expected_of(reading: Scalar[dtype]) -> Scalar[dtype]:
    return reading * (reading + 0.5)


comptime BENCHMARK_SIZE = 128 * 1024 * 1024
comptime BENCHMARK_CHUNK = 4 * 1024 * 1024


def benchmark(ctx: DeviceContext) raises:
    """The time for 512 MiB of samples, beside the copies alone."""
    var timed = not on_simulated_gpu()
    var p = Pipeline(
        BENCHMARK_SIZE if timed else SIZE,
        BENCHMARK_CHUNK if timed else CHUNK,
        ctx,
    )
    fill_book_data(p.input)
    var graph = build_graph(p, ctx)
    if timed:
        print("device:", ctx.name())
        print("samples:", p.size, "chunks:", p.chunks(), "slots:", SLOTS)
    else:
        print("Times need a real GPU: on the simulated one each form runs once.")
    for form in [
        "copies to the GPU alone",
        "copies from the GPU alone",
        "both copies, side by side",
        "one stream",
        "three streams",
        "graph",
    ]:
        var best = Float64(1e30)
        var worst = Float64(0)
        for attempt in range(6 if timed else 1):
            for i in range(len(p.output)):
                p.output[i] = -1
            var begin = perf_counter_ns()
            if form == "one stream":
                run_in_order(p)
            elif form == "three streams":
                run_in_streams(p)
            elif form == "graph":
                graph.replay()
                ctx.synchronize()
            else:
                copy_only(p, form != "copies from the GPU alone", form != "copies to the GPU alone")
            var time = Float64(perf_counter_ns() - begin)
            if attempt > 0:  # the first one also loads the kernel
                best = min(best, time)
                worst = max(worst, time)
        if timed:
            print(
                form,
                "us, best and worst of 5:",
                Int(best / 10) / 100,
                Int(worst / 10) / 100,
            )
        else:
            print("ran:", form)
        if form == "one stream" or form == "three streams" or form == "graph":
            assert_equal(wrong_samples(p), 0)


def copy_only(p: Pipeline, to_gpu: Bool, from_gpu: Bool) raises:
    """The copies of all chunks without the kernels."""
    for number in range(p.chunks()):
        if to_gpu:
            p.copy_in(p.upload, number)
        if from_gpu:
            p.copy_out(p.download, number)
    p.upload.synchronize()
    p.download.synchronize()


def wrong_samples(p: Pipeline) -> Int:
    var wrong = 0
    for i in range(p.size):
        if p.output[i] != expected_of(p.input[i]):
            wrong += 1
    return wrong


def solve(mode: String, ctx: DeviceContext) raises:
    var p = Pipeline(SIZE, CHUNK, ctx)
    fill_book_data(p.input)
    for i in range(SIZE):
        p.output[i] = 0
    stage("input", p.input)
    stage("output", p.output)
    print("samples:", SIZE, "chunks:", p.chunks(), "slots:", SLOTS)
    if mode == "--streams":
        run_in_streams(p)
    else:
        var graph = build_graph(p, ctx)
        graph.replay()
        ctx.synchronize()
    print("out:", p.output)
    submit("output", p.output)
    var wrong = wrong_samples(p)
    print("wrong samples:", wrong, "of", SIZE)
    assert_equal(wrong, 0)
    print("Puzzle 42 complete ✅")


def main() raises:
    var mode = choose_mode("p42", ["--streams", "--graph", "--benchmark"])
    with DeviceContext() as ctx:
        if mode == "--benchmark":
            benchmark(ctx)
        else:
            solve(mode, ctx)
