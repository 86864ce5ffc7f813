from max.gpu import (
    barrier,
    block_idx,
    global_idx,
    grid_dim,
    block_dim,
    thread_idx,
)
from max.gpu.host import DeviceAttribute, DeviceBuffer, DeviceContext
from std.atomic import Atomic, Ordering
from std.sys import size_of
from std.testing import assert_equal
from std.time import perf_counter_ns

from lab import choose_mode, stage, submit
from lab.machine import on_simulated_gpu

# ANCHOR: flags
comptime dtype = DType.float32
comptime GPUS = 2
comptime SIZE = 1024  # elements of each GPU
comptime EPOCHS = 3
comptime BLOCKS = 3
comptime TPB = 64
comptime VECTOR = 4  # elements that one load moves: 16 bytes
comptime ALIGNMENT = VECTOR * size_of[Scalar[dtype]]()
comptime Floats = Pointer[Scalar[dtype], MutAnyOrigin]
comptime Flags = Pointer[UInt32, MutAnyOrigin]
# So many polls are seconds on hardware: a missing signal ends with wrong sums
# instead of a GPU that waits forever.
comptime MOST_POLLS = 1 << 24


def signal(flag: Flags, epoch: UInt32):
    """Announces, in the memory of the other GPU, that this block is here."""
    # FILL ME IN (about 1 line)
    pass


def wait_for(flag: Flags, epoch: UInt32):
    """Polls a flag in the memory of this GPU until the epoch has come."""
    # FILL ME IN (about 3 lines)
    pass


def meet(mine: Flags, theirs: Flags, epoch: UInt32):
    """Block b waits until block b of the other GPU has come as far."""
    # FILL ME IN (about 5 lines)
    pass


# ANCHOR_END: flags


# ANCHOR: one_shot
def one_shot(
    result: Floats,
    mine: Floats,
    theirs: Floats,
    my_flags: Flags,
    their_flags: Flags,
    epoch: UInt32,
    size: Int32,
):
    """Every GPU reads the whole input of the other one, and adds both."""
    var first = VECTOR * Int(global_idx.x)
    var stride = VECTOR * Int(grid_dim.x) * Int(block_dim.x)
    # FILL ME IN (about 5 lines)


# ANCHOR_END: one_shot


# ANCHOR: ring
def add_chunk(
    result: Floats, mine: Floats, left: Floats, chunk: Int, size: Int
):
    """One chunk of the result: this GPU's plus that of the left neighbour."""
    var first = VECTOR * Int(global_idx.x)
    var stride = VECTOR * Int(grid_dim.x) * Int(block_dim.x)
    var length = size // GPUS
    for i in range(first, length, stride):
        var at = chunk * length + i
        store(result, at, load(mine, at) + load(left, at))


def copy_chunk(result: Floats, left: Floats, chunk: Int, size: Int):
    """One chunk of the left neighbour."""
    var first = VECTOR * Int(global_idx.x)
    var stride = VECTOR * Int(grid_dim.x) * Int(block_dim.x)
    var length = size // GPUS
    for i in range(first, length, stride):
        var at = chunk * length + i
        store(result, at, load(left, at))


def ring(
    result: Floats,
    mine: Floats,
    left: Floats,
    left_result: Floats,
    my_flags: Flags,
    left_flags: Flags,
    right_flags: Flags,
    epoch: UInt32,
    gpu: Int32,
    size: Int32,
):
    """Reduce-scatter, then all-gather: each GPU reads its left neighbour only.
    """
    var me = Int(gpu)
    # Each launch has 2 * GPUS meetings.
    var meeting = 2 * UInt32(GPUS) * (epoch - 1) + 1
    meet_ring(my_flags, left_flags, right_flags, meeting)
    # FILL ME IN (about 12 lines)


# ANCHOR_END: ring


def load(pointer: Floats, i: Int) -> SIMD[dtype, VECTOR]:
    return pointer.unsafe_load[width=VECTOR, alignment=ALIGNMENT](i)


def store(pointer: Floats, i: Int, value: SIMD[dtype, VECTOR]):
    pointer.unsafe_store[alignment=ALIGNMENT](i, value)


def meet_ring(mine: Flags, left: Flags, right: Flags, epoch: UInt32):
    """Block b waits until block b of both neighbours has come as far.

    Two flags per block: the left neighbour sets the first, the right one the
    second.
    """
    barrier()
    if thread_idx.x == 0:
        var slot = 2 * block_idx.x
        signal(right.unsafe_offset(slot), epoch)
        signal(left.unsafe_offset(slot + 1), epoch)
        wait_for(mine.unsafe_offset(slot), epoch)
        wait_for(mine.unsafe_offset(slot + 1), epoch)
    barrier()


def produce(output: Floats, base: Floats, epoch: UInt32, size: Int32):
    """The next input of this GPU, where the last one was."""
    for i in range(
        Int(global_idx.x), Int(size), Int(grid_dim.x) * Int(block_dim.x)
    ):
        output[unsafe_offset=i] = base[unsafe_offset=i] * Scalar[dtype](epoch)


struct Rank(Copyable, Movable):
    """The buffers of one GPU."""

    var base: DeviceBuffer[dtype]
    var input: DeviceBuffer[dtype]
    var result: DeviceBuffer[dtype]
    var flags: DeviceBuffer[DType.uint32]

    def __init__(
        out self, ctx: DeviceContext, gpu: Int, size: Int, blocks: Int
    ) raises:
        self.base = ctx.enqueue_create_buffer[dtype](size)
        self.input = ctx.enqueue_create_buffer[dtype](size)
        self.result = ctx.enqueue_create_buffer[dtype](size)
        self.flags = ctx.enqueue_create_buffer[DType.uint32](2 * blocks)
        self.input.enqueue_fill(0)
        self.result.enqueue_fill(0)
        self.flags.enqueue_fill(0)
        with self.base.map_to_host() as host:
            for i in range(size):
                host[i] = Scalar[dtype](i % 61 + gpu + 1)


def reduce_all(
    mode: String,
    contexts: List[DeviceContext],
    ranks: List[Rank],
    first_epoch: Int,
    epochs: Int,
    blocks: Int,
    threads: Int,
    *,
    produces: Bool,
) raises:
    """The launches of all epochs on all GPUs; the host waits for none of them.
    """
    var size = Int32(len(ranks[0].input))
    # A kernel is loaded when it is first needed, and loading may wait for a
    # busy GPU: all are loaded before the first one polls.
    var producers = [ctx.compile_function[produce]() for ctx in contexts]
    var one_shots = [ctx.compile_function[one_shot]() for ctx in contexts]
    var rings = [ctx.compile_function[ring]() for ctx in contexts]
    for step in range(first_epoch, first_epoch + epochs):
        var epoch = UInt32(step)
        for gpu in range(GPUS):
            ref ctx = contexts[gpu]
            ref mine = ranks[gpu]
            ref left = ranks[(gpu - 1 + GPUS) % GPUS]
            ref right = ranks[(gpu + 1) % GPUS]
            if produces:
                ctx.enqueue_function(
                    producers[gpu],
                    mine.input,
                    mine.base,
                    epoch,
                    size,
                    grid_dim=blocks,
                    block_dim=threads,
                )
            if mode == "--one-shot":
                ctx.enqueue_function(
                    one_shots[gpu],
                    mine.result,
                    mine.input,
                    left.input,
                    mine.flags,
                    left.flags,
                    epoch,
                    size,
                    grid_dim=blocks,
                    block_dim=threads,
                )
            else:
                ctx.enqueue_function(
                    rings[gpu],
                    mine.result,
                    mine.input,
                    left.input,
                    left.result,
                    mine.flags,
                    left.flags,
                    right.flags,
                    epoch,
                    Int32(gpu),
                    size,
                    grid_dim=blocks,
                    block_dim=threads,
                )


comptime BENCHMARK_SIZE = 16 * 1024 * 1024  # 64 MiB on each GPU
comptime BENCHMARK_TPB = 512
comptime REPETITIONS = 50


def benchmark(contexts: List[DeviceContext]) raises:
    var timed = not on_simulated_gpu()
    var size = BENCHMARK_SIZE if timed else SIZE
    var threads = BENCHMARK_TPB if timed else TPB
    # All blocks poll, so all must have room at once: two on a multiprocessor.
    var blocks = BLOCKS
    var repetitions = REPETITIONS if timed else 1
    if timed:
        blocks = 2 * contexts[0].get_attribute(
            DeviceAttribute.MULTIPROCESSOR_COUNT
        )
        print("devices:", GPUS, "x", contexts[0].name())
        print("MiB of each:", size * size_of[Scalar[dtype]]() >> 20)
    else:
        print("Times need real GPUs: on simulated ones each form runs once.")
    for mode in ["peer copy", "--one-shot", "--ring"]:
        var ranks = List[Rank]()
        for gpu in range(GPUS):
            ranks.append(Rank(contexts[gpu], gpu, size, blocks))
        var best = Float64(1e30)
        var worst = Float64(0)
        for attempt in range(4 if timed else 1):
            for ctx in contexts:
                ctx.synchronize()
            var begin = perf_counter_ns()
            if mode == "peer copy":
                for _ in range(repetitions):
                    contexts[0].enqueue_copy(ranks[0].result, ranks[1].input)
            else:
                reduce_all(
                    mode,
                    contexts,
                    ranks,
                    attempt * repetitions + 1,
                    repetitions,
                    blocks,
                    threads,
                    produces=attempt == 0,
                )
            for ctx in contexts:
                ctx.synchronize()
            var time = Float64(perf_counter_ns() - begin) / Float64(repetitions)
            if attempt > 0:  # the first one also loads the kernels
                best = min(best, time)
                worst = max(worst, time)
        if mode != "peer copy":
            check(ranks, repetitions)
        if not timed:
            print("ran:", mode)
            continue
        var bytes = Float64(size * size_of[Scalar[dtype]]())
        if (
            mode != "peer copy"
        ):  # the bytes that each GPU must receive, and send
            bytes *= 2 * (GPUS - 1) / GPUS
        print(
            mode.removeprefix("--"),
            "us, best and worst of 3:",
            round(best / 1000, 1),
            round(worst / 1000, 1),
            "bus GB/s:",
            round(bytes / best, 1),
        )
        _ = ranks^


def check(ranks: List[Rank], epoch: Int) raises:
    """Counts the wrong sums of all GPUs, after the last epoch."""
    var wrong = 0
    var size = len(ranks[0].base)
    var expected = List[Scalar[dtype]](length=size, fill=0)
    for ref rank in ranks:
        with rank.base.map_to_host() as host:
            for i in range(size):
                expected[i] += host[i] * Scalar[dtype](epoch)
    for ref rank in ranks:
        with rank.result.map_to_host() as host:
            for i in range(size):
                if host[i] != expected[i]:
                    wrong += 1
    print("wrong sums:", wrong, "of", GPUS * size)
    assert_equal(wrong, 0)


def solve(mode: String, contexts: List[DeviceContext]) raises:
    var ranks = List[Rank]()
    for gpu in range(GPUS):
        ranks.append(Rank(contexts[gpu], gpu, SIZE, BLOCKS))
        stage(String("in", gpu), ranks[gpu].base)
        stage(String("out", gpu), ranks[gpu].result)
    for ctx in contexts:
        ctx.synchronize()
    print("GPUs:", GPUS, "elements of each:", SIZE, "epochs:", EPOCHS)
    reduce_all(mode, contexts, ranks, 1, EPOCHS, BLOCKS, TPB, produces=True)
    for ctx in contexts:
        ctx.synchronize()
    for gpu in range(GPUS):
        submit(String("out", gpu), ranks[gpu].result)
        with ranks[gpu].result.map_to_host() as host:
            print("out:", host)
    check(ranks, EPOCHS)
    # Mojo destroys a value after its last use, and a buffer frees its memory:
    # until here, the other GPU may access it.
    _ = ranks^
    print("Puzzle 48 complete ✅")


def main() raises:
    var mode = choose_mode("p48", ["--one-shot", "--ring", "--benchmark"])
    var contexts = List[DeviceContext]()
    for gpu in range(GPUS):
        contexts.append(DeviceContext(device_id=gpu))
    DeviceContext.enable_all_peer_access()
    if mode == "--benchmark":
        benchmark(contexts)
    else:
        solve(mode, contexts)
