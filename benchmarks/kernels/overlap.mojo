"""Puzzle 42's pipeline by the length of its chunks and the number of its slots, with controls.

Each row is a form of the same work: 512 MiB of float32 are copied to the GPU, a kernel computes as many
results, and they are copied back. `to`, `from` and `both` are the copies without the kernel, `kernels` the
kernels without copies; `one stream` and `host waits` are what the overlap replaces. `pageable` copies
between memory that is not pinned and the GPU. Best and worst of ten, host clock.

    mojo build -I problems benchmarks/kernels/overlap.mojo -o overlap
"""

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

from lab.machine import on_simulated_gpu

comptime dtype = DType.float32
comptime MI = 1024 * 1024
comptime TPB = 256
comptime REPETITIONS = 10


def calibrate(
    output: Pointer[Scalar[dtype], MutAnyOrigin],
    input: Pointer[Scalar[dtype], ImmutAnyOrigin],
    size: Int32,
    rounds: Int32,
):
    """Puzzle 42's kernel; with more rounds it computes longer, and the values grow no further.
    """
    var i = Int(global_idx.x)
    if i < Int(size):
        var reading = input[unsafe_offset=i]
        var value = reading * (reading + 0.5)
        for _ in range(Int(rounds)):
            value = value * 0.5 + reading * (reading + 0.5) * 0.5
        output[unsafe_offset=i] = value


struct Slot(Copyable, Movable):
    var input: DeviceBuffer[dtype]
    var output: DeviceBuffer[dtype]
    var uploaded: DeviceEvent
    var computed: DeviceEvent
    var downloaded: DeviceEvent

    def __init__(out self, chunk: Int, ctx: DeviceContext) raises:
        self.input = ctx.enqueue_create_buffer[dtype](chunk)
        self.input.enqueue_fill(1)
        self.output = ctx.enqueue_create_buffer[dtype](chunk)
        self.output.enqueue_fill(1)
        self.uploaded = ctx.create_event()
        self.computed = ctx.create_event()
        self.downloaded = ctx.create_event()


@fieldwise_init
struct Memory(Movable):
    var input: HostBuffer[dtype]
    var output: HostBuffer[dtype]
    var size: Int


struct Pipeline(Movable):
    var upload: DeviceContext
    var compute: DeviceContext
    var download: DeviceContext
    var slots: List[Slot]
    var chunk: Int
    var rounds: Int

    def __init__(
        out self,
        ctx: DeviceContext,
        first: Int,
        chunk: Int,
        slots: Int,
        rounds: Int,
    ) raises:
        self.upload = ctx.select_stream(first)
        self.compute = ctx.select_stream(first + 1)
        self.download = ctx.select_stream(first + 2)
        self.slots = List[Slot]()
        for _ in range(slots):
            self.slots.append(Slot(chunk, ctx))
        self.chunk = chunk
        self.rounds = rounds
        ctx.synchronize()

    def chunks(self, m: Memory) -> Int:
        return (m.size + self.chunk - 1) // self.chunk

    def length(self, m: Memory, number: Int) -> Int:
        return min(self.chunk, m.size - number * self.chunk)

    def copy_in(self, m: Memory, stream: DeviceContext, number: Int) raises:
        ref slot = self.slots[number % len(self.slots)]
        stream.enqueue_copy(
            slot.input.create_sub_buffer[dtype](0, self.length(m, number)),
            m.input.unsafe_ptr().unsafe_offset(number * self.chunk),
        )

    def launch(self, m: Memory, stream: DeviceContext, number: Int) raises:
        ref slot = self.slots[number % len(self.slots)]
        var length = self.length(m, number)
        stream.enqueue_function[calibrate](
            slot.output,
            slot.input,
            Int32(length),
            Int32(self.rounds),
            grid_dim=(length + TPB - 1) // TPB,
            block_dim=TPB,
        )

    def copy_out(self, m: Memory, stream: DeviceContext, number: Int) raises:
        ref slot = self.slots[number % len(self.slots)]
        stream.enqueue_copy(
            m.output.unsafe_ptr().unsafe_offset(number * self.chunk),
            slot.output.create_sub_buffer[dtype](0, self.length(m, number)),
        )

    def synchronize(self) raises:
        self.upload.synchronize()
        self.compute.synchronize()
        self.download.synchronize()

    def run(self, m: Memory, form: String) raises:
        """One pass over all chunks."""
        for number in range(self.chunks(m)):
            ref slot = self.slots[number % len(self.slots)]
            if form == "streams by stage":
                self.upload.stream().enqueue_wait_for(slot.computed)
                self.copy_in(m, self.upload, number)
                self.upload.stream().record_event(slot.uploaded)
                self.compute.stream().enqueue_wait_for(slot.uploaded)
                self.compute.stream().enqueue_wait_for(slot.downloaded)
                self.launch(m, self.compute, number)
                self.compute.stream().record_event(slot.computed)
                self.download.stream().enqueue_wait_for(slot.computed)
                self.copy_out(m, self.download, number)
                self.download.stream().record_event(slot.downloaded)
            elif form == "streams by slot":
                var turn = number % min(3, len(self.slots))
                var stream = self.upload
                if turn == 1:
                    stream = self.compute
                elif turn == 2:
                    stream = self.download
                self.copy_in(m, stream, number)
                self.launch(m, stream, number)
                self.copy_out(m, stream, number)
            elif form == "one stream" or form == "host waits":
                self.copy_in(m, self.compute, number)
                self.launch(m, self.compute, number)
                self.copy_out(m, self.compute, number)
                if form == "host waits":
                    self.compute.synchronize()
            elif form == "kernels":
                self.launch(m, self.compute, number)
            else:
                if form != "from":
                    self.copy_in(m, self.upload, number)
                if form != "to":
                    self.copy_out(m, self.download, number)
        self.synchronize()

    def graph(self, m: Memory, ctx: DeviceContext) raises -> DeviceGraph:
        var kernel = ctx.compile_function[calibrate]()

        def build(mut builder: DeviceGraphBuilder) raises {imm}:
            var start = builder.add_empty()
            var computed = List(length=len(self.slots), fill=start)
            var downloaded = List(length=len(self.slots), fill=start)
            for number in range(self.chunks(m)):
                var at = number % len(self.slots)
                var length = self.length(m, number)
                var first = number * self.chunk
                var input = self.slots[at].input.create_sub_buffer[dtype](
                    0, length
                )
                var output = self.slots[at].output.create_sub_buffer[dtype](
                    0, length
                )
                var uploaded = builder.add_copy(
                    input,
                    m.input.create_sub_buffer[dtype](first, length),
                    dependencies=[computed[at]],
                )
                computed[at] = builder.add_function(
                    kernel,
                    output,
                    input,
                    Int32(length),
                    Int32(self.rounds),
                    grid_dim=(length + TPB - 1) // TPB,
                    block_dim=TPB,
                    dependencies=[uploaded, downloaded[at]],
                )
                downloaded[at] = builder.add_copy(
                    m.output.create_sub_buffer[dtype](first, length),
                    output,
                    dependencies=[computed[at]],
                )

        return DeviceGraph.create(ctx, build)


def show(
    name: String, p: Pipeline, m: Memory, best: Float64, worst: Float64
) raises:
    print(
        name,
        "| chunk",
        p.chunk,
        "chunks",
        p.chunks(m),
        "slots",
        len(p.slots),
        "rounds",
        p.rounds,
        "| us",
        Int(best / 10) / 100,
        Int(worst / 10) / 100,
        "| GB/s each way",
        Int(Float64(4 * m.size) / best * 100) / 100,
    )


def check(m: Memory, form: String) raises:
    if form == "to" or form == "from" or form == "both" or form == "kernels":
        return
    for i in range(m.size):
        var reading = m.input[i]
        if m.output[i] != reading * (reading + 0.5):
            print("wrong:", form, i, m.output[i])
            return


def measure(
    ctx: DeviceContext, p: Pipeline, m: Memory, form: String, timed: Bool
) raises:
    for i in range(m.size):
        m.output[i] = -1
    var graph = p.graph(m, ctx)
    var best = Float64(1e30)
    var worst = Float64(0)
    for attempt in range(REPETITIONS + 1 if timed else 1):
        var begin = perf_counter_ns()
        if form == "graph":
            graph.replay()
            ctx.synchronize()
        else:
            p.run(m, form)
        var time = Float64(perf_counter_ns() - begin)
        if attempt > 0 or not timed:
            best = min(best, time)
            worst = max(worst, time)
    check(m, form)
    show(form, p, m, best if timed else 1.0, worst if timed else 1.0)


def pageable(ctx: DeviceContext, m: Memory, timed: Bool) raises:
    """Copies of the whole data between pageable memory and the GPU."""
    var there = ctx.enqueue_create_buffer[dtype](m.size)
    var memory = List[Scalar[dtype]](length=m.size, fill=1)
    for to_gpu in [True, False]:
        var best = Float64(1e30)
        var worst = Float64(0)
        for attempt in range(4 if timed else 1):
            var begin = perf_counter_ns()
            if to_gpu:
                ctx.enqueue_copy(there, memory.unsafe_ptr())
            else:
                ctx.enqueue_copy(memory.unsafe_ptr(), there)
            ctx.synchronize()
            var time = Float64(perf_counter_ns() - begin)
            if attempt > 0 or not timed:
                best = min(best, time)
                worst = max(worst, time)
        if timed:
            print(
                "pageable",
                "to" if to_gpu else "from",
                "| us",
                Int(best / 10) / 100,
                Int(worst / 10) / 100,
            )
    assert_equal(memory[m.size - 1], 1)


def main() raises:
    var timed = not on_simulated_gpu()
    var size = 128 * MI if timed else 1000
    with DeviceContext() as ctx:
        print("device:", ctx.name(), "samples:", size)
        var first = ctx.num_streams()
        for _ in range(3):
            _ = ctx.create_stream()
        var m = Memory(
            ctx.enqueue_create_host_buffer[dtype](size),
            ctx.enqueue_create_host_buffer[dtype](size),
            size,
        )
        ctx.synchronize()
        for i in range(size):
            m.input[i] = Scalar[dtype]((i * 7 + i // 97) % 101)
        var all = [
            "to",
            "from",
            "both",
            "kernels",
            "one stream",
            "host waits",
            "streams by stage",
            "streams by slot",
            "graph",
        ]
        var lengths = [32 * MI, 8 * MI, 4 * MI, 2 * MI, MI, MI // 4, MI // 16]
        for length in lengths:
            var p = Pipeline(ctx, first, length if timed else 160, 3, 0)
            for form in all:
                measure(ctx, p, m, form, timed)
            _ = p^
            if not timed:
                break
        for slots in [1, 2, 4, 8]:
            var p = Pipeline(ctx, first, 2 * MI if timed else 160, slots, 0)
            for form in ["streams by stage", "graph"]:
                measure(ctx, p, m, form, timed)
            _ = p^
        for rounds in [64, 512, 2048, 8192]:
            var p = Pipeline(
                ctx, first, 2 * MI if timed else 160, 3, rounds if timed else 2
            )
            for form in ["kernels", "one stream", "streams by stage", "graph"]:
                measure(ctx, p, m, form, timed)
            _ = p^
        # Again, at the end: how much the machine's copies changed meanwhile.
        var p = Pipeline(ctx, first, 2 * MI if timed else 160, 3, 0)
        for form in ["to", "from", "both", "streams by stage", "graph"]:
            measure(ctx, p, m, form, timed)
        _ = p^
        pageable(ctx, m, timed)
        _ = m^
