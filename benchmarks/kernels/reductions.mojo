"""Sums of groups of elements: by warp operations and by trees in shared memory, in blocks of several sizes.

`warp sums` forms one sum for each 32 elements, in blocks of one warp or more, as puzzle 24 does. The rows of
`of 256` form one sum for each block of 256 elements, by the trees of puzzle 12: `interleaved` adds neighbours
first, so that active threads are spread over all warps (`masked` finds them without a division); `halving`
keeps them in the first warps. `twice` has the second barrier in each step that puzzle 12's solution has.

    mojo build -I problems benchmarks/kernels/reductions.mojo -o reductions
"""

from max.gpu import (
    AddressSpace,
    WARP_SIZE,
    barrier,
    block_dim,
    block_idx,
    lane_id,
    thread_idx,
    warp_id,
)
from max.gpu.host import DeviceBuffer, DeviceContext
from max.gpu.primitives import warp
from std.memory import unsafe_stack_allocation
from std.testing import assert_equal

from lab.benchmark import Benchmark, sampled

comptime MI = 1024 * 1024
comptime TPB = 256
comptime Output = Pointer[Float32, MutAnyOrigin]
comptime Input = Pointer[Float32, ImmutAnyOrigin]


def product(a: Input, b: Input) -> Float32:
    var i = block_idx.x * block_dim.x + thread_idx.x
    return a[unsafe_offset=i] * b[unsafe_offset=i]


def warp_sums(output: Output, a: Input, b: Input):
    """One sum for each warp."""
    var total = warp.sum(product(a, b))
    if lane_id() == 0:
        output[
            unsafe_offset=block_idx.x * (block_dim.x // WARP_SIZE) + warp_id()
        ] = total


def sum_by_warps(output: Output, a: Input, b: Input):
    """One sum for each block: of each warp by shuffles, then of the warps' sums.
    """
    comptime WARPS = TPB // WARP_SIZE
    var sums = unsafe_stack_allocation[
        WARPS, Float32, address_space=AddressSpace.SHARED
    ]()
    var total = warp.sum(product(a, b))
    if lane_id() == 0:
        sums[unsafe_offset=warp_id()] = total
    barrier()
    if thread_idx.x == 0:
        var whole = Float32(0)
        comptime for i in range(WARPS):
            whole += sums[unsafe_offset=i]
        output[unsafe_offset=block_idx.x] = whole


def sum_halving[barriers: Int](output: Output, a: Input, b: Input):
    """One sum for each block by a tree whose active threads are neighbours."""
    var shared = unsafe_stack_allocation[
        TPB, Float32, address_space=AddressSpace.SHARED
    ]()
    var i = thread_idx.x
    shared[unsafe_offset=i] = product(a, b)
    barrier()
    var stride = TPB // 2
    while stride > 0:
        comptime if barriers == 2:
            var upper = Float32(0)
            if i < stride:
                upper = shared[unsafe_offset=i + stride]
            barrier()
            if i < stride:
                shared[unsafe_offset=i] += upper
        else:
            if i < stride:
                shared[unsafe_offset=i] += shared[unsafe_offset=i + stride]
        barrier()
        stride //= 2
    if i == 0:
        output[unsafe_offset=block_idx.x] = shared[unsafe_offset=0]


def sum_interleaved[masked: Bool](output: Output, a: Input, b: Input):
    """One sum for each block by a tree that adds neighbouring elements first.
    """
    var shared = unsafe_stack_allocation[
        TPB, Float32, address_space=AddressSpace.SHARED
    ]()
    var i = thread_idx.x
    shared[unsafe_offset=i] = product(a, b)
    barrier()
    var stride = 1
    while stride < TPB:
        var active: Bool
        comptime if masked:
            active = i & (2 * stride - 1) == 0
        else:
            active = i % (2 * stride) == 0
        if active:
            shared[unsafe_offset=i] += shared[unsafe_offset=i + stride]
        barrier()
        stride *= 2
    if i == 0:
        output[unsafe_offset=block_idx.x] = shared[unsafe_offset=0]


def load_only(output: Output, a: Input, b: Input):
    """The loads and the stores of a sum of 256, without the sum: what the others add to this is theirs.
    """
    var value = product(a, b)
    if value == Float32(-1) or thread_idx.x == 0:
        output[unsafe_offset=block_idx.x] = value


struct Data(Movable):
    var a: DeviceBuffer[DType.float32]
    var b: DeviceBuffer[DType.float32]
    var out: DeviceBuffer[DType.float32]

    def __init__(out self, size: Int, ctx: DeviceContext) raises:
        self.a = ctx.enqueue_create_buffer[DType.float32](size)
        self.b = ctx.enqueue_create_buffer[DType.float32](size)
        self.out = ctx.enqueue_create_buffer[DType.float32](size // 32)
        with self.a.map_to_host() as a, self.b.map_to_host() as b:
            for i in range(size):
                a[i] = Float32(i % 61)  # sums are exact
                b[i] = Float32(i % 7)
        self.out.enqueue_fill(-1)

    def check_and_clear(self, size: Int, group: Int) raises:
        var used = self.out.create_sub_buffer[DType.float32](0, size // group)
        if not sampled():
            with used.map_to_host() as host:
                for j in range(size // group):
                    var expected = Float32(0)
                    for i in range(j * group, (j + 1) * group):
                        expected += Float32(i % 61) * Float32(i % 7)
                    assert_equal(host[j], expected)
        self.out.enqueue_fill(-1)


def measure_warp_sums(
    mut table: Benchmark,
    size: Int,
    threads: Int,
    data: Data,
    ctx: DeviceContext,
) raises:
    def launch(repetition: Int, ctx: DeviceContext) raises {imm}:
        ctx.enqueue_function[warp_sums](
            data.out,
            data.a,
            data.b,
            grid_dim=size // threads,
            block_dim=threads,
        )

    table.measure(
        String(t"warp sums, blocks of {threads}"),
        size,
        8 * size + size // 8,
        launch,
    )
    data.check_and_clear(size, 32)


def main() raises:
    with DeviceContext() as ctx:
        var table = Benchmark(ctx)
        var sizes: List[Int] = [4096]
        if table.full_size:
            sizes = [2 * MI, 64 * MI]
        var data = Data(sizes[len(sizes) - 1], ctx)
        for size in sizes:
            for threads in [32, 64, 128, 256, 512, 1024]:
                measure_warp_sums(table, size, threads, data, ctx)
        for size in sizes:

            def by_warps(repetition: Int, ctx: DeviceContext) raises {imm}:
                ctx.enqueue_function[sum_by_warps](
                    data.out,
                    data.a,
                    data.b,
                    grid_dim=size // TPB,
                    block_dim=TPB,
                )

            def halving(repetition: Int, ctx: DeviceContext) raises {imm}:
                ctx.enqueue_function[sum_halving[1]](
                    data.out,
                    data.a,
                    data.b,
                    grid_dim=size // TPB,
                    block_dim=TPB,
                )

            def twice(repetition: Int, ctx: DeviceContext) raises {imm}:
                ctx.enqueue_function[sum_halving[2]](
                    data.out,
                    data.a,
                    data.b,
                    grid_dim=size // TPB,
                    block_dim=TPB,
                )

            def interleaved(repetition: Int, ctx: DeviceContext) raises {imm}:
                ctx.enqueue_function[sum_interleaved[False]](
                    data.out,
                    data.a,
                    data.b,
                    grid_dim=size // TPB,
                    block_dim=TPB,
                )

            def masked(repetition: Int, ctx: DeviceContext) raises {imm}:
                ctx.enqueue_function[sum_interleaved[True]](
                    data.out,
                    data.a,
                    data.b,
                    grid_dim=size // TPB,
                    block_dim=TPB,
                )

            def loads(repetition: Int, ctx: DeviceContext) raises {imm}:
                ctx.enqueue_function[load_only](
                    data.out,
                    data.a,
                    data.b,
                    grid_dim=size // TPB,
                    block_dim=TPB,
                )

            var bytes = 8 * size + size // 64
            table.measure("of 256, by warps", size, bytes, by_warps)
            data.check_and_clear(size, 256)
            table.measure("of 256, halving", size, bytes, halving)
            data.check_and_clear(size, 256)
            table.measure("of 256, halving twice", size, bytes, twice)
            data.check_and_clear(size, 256)
            table.measure("of 256, interleaved", size, bytes, interleaved)
            data.check_and_clear(size, 256)
            table.measure("of 256, masked", size, bytes, masked)
            data.check_and_clear(size, 256)
            table.measure("of 256, loads alone", size, bytes, loads)
            data.out.enqueue_fill(-1)
