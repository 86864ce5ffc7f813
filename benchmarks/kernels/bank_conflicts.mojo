"""What bank conflicts cost: the same number of loads from shared memory at different strides, on a real GPU.

Lane l of each warp loads word `STRIDE * l` of shared memory, over and over. Word i is in bank i mod 32, so the
lanes of a warp meet gcd(STRIDE, 32) at a time; with a stride of 0 all of them read the same word. Each load gives
the index of the next one, so that no load can be left out.

    mojo build -I problems benchmarks/kernels/bank_conflicts.mojo -o bank_conflicts
"""

from max.gpu import AddressSpace, barrier, block_dim, block_idx, thread_idx
from max.gpu.host import DeviceBuffer, DeviceContext
from std.memory import unsafe_stack_allocation
from std.testing import assert_equal

from lab.benchmark import Benchmark

comptime LANES = 32
comptime WORDS = 33 * LANES
comptime BLOCK_SIZE = 1024
comptime BLOCKS = 4 * 132  # four for each multiprocessor of an H200
comptime LOADS = 1000
comptime SIMULATED_LOADS = 4
comptime dtype = DType.int32
comptime Output = Pointer[Int32, MutAnyOrigin]


def load_again[STRIDE: Int](output: Output, loads: Int32):
    var next = unsafe_stack_allocation[
        WORDS, Int32, address_space=AddressSpace.SHARED
    ]()
    # Every word leads to itself, which the compiler cannot know.
    for word in range(thread_idx.x, WORDS, BLOCK_SIZE):
        next[unsafe_offset=word] = Int32(word)
    barrier()
    var at = Int32(thread_idx.x % LANES * STRIDE)
    for _ in range(loads):
        at = next[unsafe_offset=Int(at)]
    var i = block_idx.x * block_dim.x + thread_idx.x
    output[unsafe_offset=i] = at


def measure[
    STRIDE: Int
](mut table: Benchmark, result: DeviceBuffer[dtype], ctx: DeviceContext) raises:
    var loads = Int32(LOADS if table.timed else SIMULATED_LOADS)

    def launch(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[load_again[STRIDE]](
            result, loads, grid_dim=BLOCKS, block_dim=BLOCK_SIZE
        )

    result.enqueue_fill(-1)
    # Bandwidth says nothing here: next to nothing is read from global memory.
    table.measure(String(t"stride {STRIDE}"), len(result), 0, launch)
    with result.map_to_host() as result_host:
        for i in range(len(result)):
            assert_equal(Int(result_host[i]), i % LANES * STRIDE)


def main() raises:
    with DeviceContext() as ctx:
        var table = Benchmark(ctx)
        var out = ctx.enqueue_create_buffer[dtype](BLOCKS * BLOCK_SIZE)
        comptime for STRIDE in [0, 1, 2, 3, 4, 8, 16, 32, 33]:
            measure[STRIDE](table, out, ctx)
