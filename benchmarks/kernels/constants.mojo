"""Microbenchmarks of a GPU's constants: what starts, instructions, caches, memory, atomics and barriers cost.

Each row repeats one operation. It is measured at two lengths, so that the difference of two rows divided by
the difference of their elements is the cost of the operation, without that of the launch. `elements` is
the number of operations of one thread, or for `start` the blocks, for `cache` and `memory` the bytes of the
whole launch, and for `atomic` the atomics of the whole launch. `benchmarks/constants.py` computes the
constants of the simulator's model of time from the table.

    mojo build -I problems benchmarks/kernels/constants.mojo -o constants
"""

from max.gpu import (
    AddressSpace,
    barrier,
    block_dim,
    block_idx,
    grid_dim,
    lane_id,
    thread_idx,
)
from max.gpu.compute.mma import mma
from max.gpu.host import DeviceContext
from std.atomic import Atomic, Ordering
from std.memory import unsafe_stack_allocation
from std.sys import inlined_assembly

from lab.benchmark import Benchmark

comptime KI = 1024
comptime MI = 1024 * 1024
comptime UNROLLED = 16
comptime MULTIPROCESSORS = 132
comptime Floats = Pointer[Float32, MutAnyOrigin]
comptime Words = Pointer[Int32, MutAnyOrigin]


def global_index() -> Int:
    return block_idx.x * block_dim.x + thread_idx.x


def empty():
    pass


def chain[
    dtype: DType, text: StaticString, constraints: StaticString, chains: Int
](
    output: Pointer[Scalar[dtype], MutAnyOrigin],
    first: Pointer[Scalar[dtype], ImmutAnyOrigin],
    steps: Int32,
):
    """Independent chains of one instruction, each reading the result of the one before.
    """
    var values = SIMD[dtype, chains](0)
    comptime for c in range(chains):
        values[c] = first[unsafe_offset=lane_id() + c]
    for _ in range(Int(steps)):
        comptime for _ in range(UNROLLED):
            comptime for c in range(chains):
                values[c] = inlined_assembly[
                    text,
                    Scalar[dtype],
                    constraints=constraints,
                    has_side_effect=False,
                ](values[c])
    var total = Scalar[dtype](0)
    comptime for c in range(chains):
        total += values[c]
    output[unsafe_offset=global_index()] = total


def products[
    dtype: DType, width: Int, chains: Int
](output: Floats, first: Pointer[Scalar[dtype], ImmutAnyOrigin], steps: Int32):
    """Chains of products of a tensor core: m16n8k8 of float32, m16n8k16 of float16.
    """
    var a = first.unsafe_load[width=width](width * lane_id())
    var b = first.unsafe_load[width=width // 2](width * lane_id())
    var sums = Array[SIMD[DType.float32, 4], chains](
        fill=SIMD[DType.float32, 4](0)
    )
    for _ in range(Int(steps)):
        comptime for _ in range(UNROLLED):
            comptime for c in range(chains):
                var sum = sums[c]
                mma(sum, a, b, sum)
                sums[c] = sum
    var total = SIMD[DType.float32, 4](0)
    comptime for c in range(chains):
        total += sums[c]
    output[unsafe_offset=global_index()] = total.reduce_add()


def load_shared[stride: Int, chains: Int](output: Words, steps: Int32):
    """Loads from shared memory whose result is their own address; lanes are `stride` words apart.
    """
    comptime WORDS = 1024 * chains
    var own = unsafe_stack_allocation[
        WORDS, Int32, address_space=AddressSpace.SHARED
    ]()
    var base = Int32(Int(own))
    for word in range(thread_idx.x, WORDS, block_dim.x):
        own[unsafe_offset=word] = base + Int32(4 * word)
    barrier()
    var at = SIMD[DType.int32, chains](0)
    comptime for c in range(chains):
        at[c] = base + Int32(
            4 * (lane_id() * stride + thread_idx.x // 32 % 4 + c * 1024)
        )
    for _ in range(Int(steps)):
        comptime for _ in range(UNROLLED):
            comptime for c in range(chains):
                at[c] = inlined_assembly[
                    "ld.shared.u32 $0, [$1];",
                    Int32,
                    constraints="=r,r",
                    has_side_effect=True,
                ](at[c])
    output[unsafe_offset=global_index()] = at.reduce_add()


def store_shared(output: Words, steps: Int32):
    """Stores of 4 bytes to neighbouring words of shared memory."""
    var own = unsafe_stack_allocation[
        KI, Int32, address_space=AddressSpace.SHARED
    ]()
    var address = Int32(Int(own) + 4 * thread_idx.x)
    for step in range(Int(steps)):
        comptime for _ in range(UNROLLED):
            inlined_assembly[
                "st.volatile.shared.u32 [$0], $1;",
                NoneType,
                constraints="r,r",
                has_side_effect=True,
            ](address, Int32(step))
    barrier()
    output[unsafe_offset=global_index()] = own[unsafe_offset=thread_idx.x]


def load_nearest[stride: Int](output: Words, own: Words, steps: Int32):
    """Loads that the first-level cache serves, with their own address as result.
    """
    var at = Int32(thread_idx.x * stride)
    var other = Int32((thread_idx.x ^ 32) * stride)
    for _ in range(Int(steps)):
        comptime for _ in range(UNROLLED):
            at = own[unsafe_offset=Int(at)]
            other = own[unsafe_offset=Int(other)]
    output[unsafe_offset=global_index()] = at + other


def follow(output: Words, next: Words, steps: Int32, warm: Int32):
    """One thread follows a ring, of which all threads have read the first `warm` elements.
    """
    var sum = Int32(0)
    for i in range(thread_idx.x * 8, Int(warm), block_dim.x * 8):
        sum += next[unsafe_offset=i]
    barrier()
    if thread_idx.x == 0:
        var at = Int32(0)
        for _ in range(Int(steps)):
            at = next[unsafe_offset=Int(at)]
        sum += at
    output[unsafe_offset=thread_idx.x] = sum


def read_second_level[
    spread: Int
](output: Floats, a: Floats, mask: Int32, passes: Int32):
    """Loads around the first-level cache; neighbouring threads are `spread` elements apart.
    """
    var threads = grid_dim.x * block_dim.x
    var total = Float32(0)
    var i = global_index()
    var start = Int(a)
    for _ in range(Int(passes)):
        comptime for _ in range(8):
            total += inlined_assembly[
                "ld.global.cg.f32 $0, [$1];",
                Float32,
                constraints="=f,l",
                has_side_effect=True,
            ](Int64(start + 4 * ((i * spread) & Int(mask))))
            i += threads
    if total == -1:
        output[unsafe_offset=0] = total


def write_second_level[spread: Int](a: Floats, mask: Int32, passes: Int32):
    var threads = grid_dim.x * block_dim.x
    var i = global_index()
    for p in range(Int(passes)):
        comptime for _ in range(8):
            a[unsafe_offset=(i * spread) & Int(mask)] = Float32(p)
            i += threads


def read_memory(output: Floats, a: Floats):
    """Four loads of 16 bytes per thread, a block apart."""
    var total = SIMD[DType.float32, 4](0)
    var first = 16 * block_idx.x * block_dim.x + 4 * thread_idx.x
    comptime for k in range(4):
        total += a.unsafe_load[width=4, alignment=16](
            first + 4 * k * block_dim.x
        )
    if total.reduce_add() == -1:
        output[unsafe_offset=0] = 1


def write_memory(output: Floats):
    var first = 16 * block_idx.x * block_dim.x + 4 * thread_idx.x
    comptime for k in range(4):
        output.unsafe_store[alignment=16](
            first + 4 * k * block_dim.x, SIMD[DType.float32, 4](1)
        )


def copy_memory(output: Floats, a: Floats):
    var first = 16 * block_idx.x * block_dim.x + 4 * thread_idx.x
    var values = Array[SIMD[DType.float32, 4], 4](
        fill=SIMD[DType.float32, 4](0)
    )
    comptime for k in range(4):
        values[k] = a.unsafe_load[width=4, alignment=16](
            first + 4 * k * block_dim.x
        )
    comptime for k in range(4):
        output.unsafe_store[alignment=16](
            first + 4 * k * block_dim.x, values[k]
        )


def read_sparse[spread: Int](output: Floats, a: Floats):
    """One element of every `spread`: sectors that are fetched for 4 bytes."""
    var total = Float32(0)
    var first = 4 * block_idx.x * block_dim.x + thread_idx.x
    comptime for k in range(4):
        total += a[unsafe_offset=(first + k * block_dim.x) * spread]
    if total == -1:
        output[unsafe_offset=0] = total


def add_atomically(counts: Words, mask: Int32, steps: Int32):
    """Additions of different values by all lanes. The mask hides from the compiler that lanes share an address.
    """
    var i = global_index() & Int(mask)
    for step in range(Int(steps)):
        _ = Atomic[Int32, scope="device"].fetch_add[ordering=Ordering.RELAXED](
            counts.unsafe_offset(i), Int32(thread_idx.x + step)
        )


def add_in_shared(counts: Words, mask: Int32, steps: Int32):
    var own = unsafe_stack_allocation[
        KI, Int32, address_space=AddressSpace.SHARED
    ]()
    own[unsafe_offset=thread_idx.x] = 0
    barrier()
    for step in range(Int(steps)):
        _ = Atomic[Int32, scope="block"].fetch_add[ordering=Ordering.RELAXED](
            own.unsafe_offset(thread_idx.x & Int(mask)),
            Int32(thread_idx.x + step),
        )
    barrier()
    counts[unsafe_offset=global_index()] = own[unsafe_offset=thread_idx.x]


def wait_again(output: Words, steps: Int32):
    for _ in range(Int(steps)):
        comptime for _ in range(UNROLLED):
            barrier()
    output[unsafe_offset=global_index()] = steps


def lengths(table: Benchmark, first: Int) -> List[Int]:
    """The two lengths of a row; on the simulated GPU the smallest."""
    return [first, 3 * first] if table.timed else [1]


def measure_starts(mut table: Benchmark, ctx: DeviceContext) raises:
    """Blocks without work, by their warps."""
    for threads in [32, 64, 128, 256, 512, 1024]:
        for blocks in [1, 33 * KI, 99 * KI]:
            if blocks > 1 and not table.timed:
                continue

            def launch(repetition: Int, ctx: DeviceContext) raises {imm}:
                ctx.enqueue_function[empty](grid_dim=blocks, block_dim=threads)

            table.measure(String(t"start {threads}"), blocks, 0, launch)


def measure_chain[
    dtype: DType, text: StaticString, constraints: StaticString
](mut table: Benchmark, name: String, ctx: DeviceContext) raises:
    """The latency of an instruction with one warp, and its rate with 32 warps of 4 chains.
    """
    var out = ctx.enqueue_create_buffer[dtype](MULTIPROCESSORS * KI)
    var first = ctx.enqueue_create_buffer[dtype](36)
    first.enqueue_fill(0)
    for steps in lengths(table, 128):

        def one(repetition: Int, ctx: DeviceContext) raises {imm}:
            ctx.enqueue_function[chain[dtype, text, constraints, 1]](
                out, first, Int32(steps), grid_dim=MULTIPROCESSORS, block_dim=32
            )

        def many(repetition: Int, ctx: DeviceContext) raises {imm}:
            ctx.enqueue_function[chain[dtype, text, constraints, 4]](
                out,
                first,
                Int32(steps),
                grid_dim=MULTIPROCESSORS,
                block_dim=1024,
            )

        table.measure(String(t"latency {name}"), UNROLLED * steps, 0, one)
        table.measure(String(t"rate {name}"), 4 * UNROLLED * steps, 0, many)


def measure_products[
    dtype: DType, width: Int
](mut table: Benchmark, name: String, ctx: DeviceContext) raises:
    var out = ctx.enqueue_create_buffer[DType.float32](MULTIPROCESSORS * KI)
    var first = ctx.enqueue_create_buffer[dtype](32 * width)
    first.enqueue_fill(1)
    for steps in lengths(table, 128):

        def one(repetition: Int, ctx: DeviceContext) raises {imm}:
            ctx.enqueue_function[products[dtype, width, 1]](
                out, first, Int32(steps), grid_dim=MULTIPROCESSORS, block_dim=32
            )

        def many(repetition: Int, ctx: DeviceContext) raises {imm}:
            ctx.enqueue_function[products[dtype, width, 4]](
                out,
                first,
                Int32(steps),
                grid_dim=MULTIPROCESSORS,
                block_dim=1024,
            )

        table.measure(String(t"latency {name}"), UNROLLED * steps, 0, one)
        table.measure(String(t"rate {name}"), 4 * UNROLLED * steps, 0, many)


def measure_shared(mut table: Benchmark, ctx: DeviceContext) raises:
    var out = ctx.enqueue_create_buffer[DType.int32](MULTIPROCESSORS * KI)
    for steps in lengths(table, 128):

        def one(repetition: Int, ctx: DeviceContext) raises {imm}:
            ctx.enqueue_function[load_shared[1, 1]](
                out, Int32(steps), grid_dim=MULTIPROCESSORS, block_dim=32
            )

        table.measure("latency ld.shared", UNROLLED * steps, 0, one)
        comptime for stride in [1, 2, 4]:

            def many(repetition: Int, ctx: DeviceContext) raises {imm}:
                ctx.enqueue_function[load_shared[stride, 4]](
                    out, Int32(steps), grid_dim=MULTIPROCESSORS, block_dim=1024
                )

            table.measure(
                String(t"rate ld.shared, {stride} passes"),
                4 * UNROLLED * steps,
                0,
                many,
            )

        def stored(repetition: Int, ctx: DeviceContext) raises {imm}:
            ctx.enqueue_function[store_shared](
                out, Int32(steps), grid_dim=MULTIPROCESSORS, block_dim=1024
            )

        table.measure("rate st.shared", UNROLLED * steps, 0, stored)
        for addresses in [1, 4, 32]:

            def added(repetition: Int, ctx: DeviceContext) raises {imm}:
                ctx.enqueue_function[add_in_shared](
                    out,
                    Int32(addresses - 1),
                    Int32(4 * steps),
                    grid_dim=MULTIPROCESSORS,
                    block_dim=1024,
                )

            table.measure(
                String(t"rate atom.shared, {addresses}"), 4 * steps, 0, added
            )
        for threads in [32, 128, 512, 1024]:

            def waited(repetition: Int, ctx: DeviceContext) raises {imm}:
                ctx.enqueue_function[wait_again](
                    out,
                    Int32(steps),
                    grid_dim=MULTIPROCESSORS,
                    block_dim=threads,
                )

            table.measure(
                String(t"barrier {threads}"), UNROLLED * steps, 0, waited
            )


def measure_nearest(mut table: Benchmark, ctx: DeviceContext) raises:
    """The first-level cache: 4 sectors of one line, or one of each of 32 lines.
    """
    var out = ctx.enqueue_create_buffer[DType.int32](MULTIPROCESSORS * KI)
    comptime for stride in [1, 8, 32]:
        var own = ctx.enqueue_create_buffer[DType.int32](KI * stride)
        with own.map_to_host() as host:
            for i in range(len(own)):
                host[i] = Int32(i)
        for steps in lengths(table, 64):

            def many(repetition: Int, ctx: DeviceContext) raises {imm}:
                ctx.enqueue_function[load_nearest[stride]](
                    out,
                    own,
                    Int32(steps),
                    grid_dim=MULTIPROCESSORS,
                    block_dim=1024,
                )

            table.measure(
                String(t"rate ld.global, stride {stride}"),
                2 * UNROLLED * steps,
                0,
                many,
            )


def measure_latencies(mut table: Benchmark, ctx: DeviceContext) raises:
    """Rings that fit the first-level cache, the second-level cache, and neither.
    """
    var out = ctx.enqueue_create_buffer[DType.int32](KI)
    for level in range(1, 4):
        var length = [4 * KI, 2 * MI, 64 * MI][level - 1]
        if not table.timed:
            length = 4 * KI
        var next = ctx.enqueue_create_buffer[DType.int32](length)
        with next.map_to_host() as host:
            for i in range(length):
                host[i] = Int32((i + 32 * 1031) % length)
        var warm = 0 if level == 3 else length
        for steps in lengths(table, 2048):

            def chase(repetition: Int, ctx: DeviceContext) raises {imm}:
                ctx.enqueue_function[follow](
                    out,
                    next,
                    Int32(steps),
                    Int32(warm),
                    grid_dim=1,
                    block_dim=1024,
                )

            table.measure(String(t"latency level {level}"), steps, 0, chase)


def measure_second_level(mut table: Benchmark, ctx: DeviceContext) raises:
    comptime GRID = 2 * MULTIPROCESSORS
    var size = 4 * MI if table.timed else KI
    var out = ctx.enqueue_create_buffer[DType.float32](1)
    var a = ctx.enqueue_create_buffer[DType.float32](size)
    a.enqueue_fill(1)
    for passes in lengths(table, 16):
        var loads = GRID * KI * 8 * passes
        comptime for spread in [1, 8, 32]:

            def read(repetition: Int, ctx: DeviceContext) raises {imm}:
                ctx.enqueue_function[read_second_level[spread]](
                    out,
                    a,
                    Int32(size - 1),
                    Int32(passes),
                    grid_dim=GRID,
                    block_dim=1024,
                )

            def written(repetition: Int, ctx: DeviceContext) raises {imm}:
                ctx.enqueue_function[write_second_level[spread]](
                    a,
                    Int32(size - 1),
                    Int32(passes),
                    grid_dim=GRID,
                    block_dim=1024,
                )

            table.measure(
                String(t"cache read, spread {spread}"), 4 * loads, 0, read
            )
            table.measure(
                String(t"cache write, spread {spread}"), 4 * loads, 0, written
            )


def measure_memory(mut table: Benchmark, ctx: DeviceContext) raises:
    var most = 128 * MI if table.timed else 128 * KI
    var out = ctx.enqueue_create_buffer[DType.float32](most)
    var a = ctx.enqueue_create_buffer[DType.float32](most)
    a.enqueue_fill(1)
    for size in [most // 4, most // 2, most]:
        var grid = size // (16 * 256)

        def read(repetition: Int, ctx: DeviceContext) raises {imm}:
            ctx.enqueue_function[read_memory](
                out, a, grid_dim=grid, block_dim=256
            )

        def written(repetition: Int, ctx: DeviceContext) raises {imm}:
            ctx.enqueue_function[write_memory](
                out, grid_dim=grid, block_dim=256
            )

        def copied(repetition: Int, ctx: DeviceContext) raises {imm}:
            ctx.enqueue_function[copy_memory](
                out, a, grid_dim=grid, block_dim=256
            )

        table.measure("memory read", 4 * size, 0, read)
        table.measure("memory write", 4 * size, 0, written)
        table.measure("memory copy", 8 * size, 0, copied)
        comptime for spread in [8, 16, 32]:

            def sparse(repetition: Int, ctx: DeviceContext) raises {imm}:
                ctx.enqueue_function[read_sparse[spread]](
                    out, a, grid_dim=size // (4 * 256 * spread), block_dim=256
                )

            # Sectors of 32 bytes, whatever the memory moves for them.
            table.measure(
                String(t"memory sparse {spread}"),
                32 * size // spread,
                0,
                sparse,
            )


def measure_atomics(mut table: Benchmark, ctx: DeviceContext) raises:
    comptime GRID = 8 * MULTIPROCESSORS
    var counts = ctx.enqueue_create_buffer[DType.int32](GRID * 256)
    counts.enqueue_fill(0)
    for steps in lengths(table, 2):
        for addresses in [1, 8, 32, 256, 128 * KI]:

            def added(repetition: Int, ctx: DeviceContext) raises {imm}:
                ctx.enqueue_function[add_atomically](
                    counts,
                    Int32(addresses - 1),
                    Int32(steps),
                    grid_dim=GRID,
                    block_dim=256,
                )

            table.measure(
                String(t"atomic, {addresses} addresses"),
                GRID * 256 * steps,
                0,
                added,
            )


def main() raises:
    with DeviceContext() as ctx:
        var table = Benchmark(ctx)
        measure_starts(table, ctx)
        measure_chain[DType.float32, "fma.rn.f32 $0, $1, $1, $1;", "=f,f"](
            table, "float32", ctx
        )
        measure_chain[DType.float64, "fma.rn.f64 $0, $1, $1, $1;", "=d,d"](
            table, "float64", ctx
        )
        measure_chain[DType.int32, "mad.lo.s32 $0, $1, $1, $1;", "=r,r"](
            table, "multiply", ctx
        )
        measure_chain[DType.int32, "prmt.b32 $0, $1, $1, $1;", "=r,r"](
            table, "integer", ctx
        )
        measure_chain[DType.float32, "ex2.approx.ftz.f32 $0, $1;", "=f,f"](
            table, "special", ctx
        )
        measure_chain[
            DType.int32, "shfl.sync.bfly.b32 $0, $1, 1, 31, -1;", "=r,r"
        ](table, "shuffle", ctx)
        measure_products[DType.float32, 4](table, "tf32", ctx)
        measure_products[DType.float16, 8](table, "float16", ctx)
        measure_shared(table, ctx)
        measure_nearest(table, ctx)
        measure_latencies(table, ctx)
        measure_second_level(table, ctx)
        measure_memory(table, ctx)
        measure_atomics(table, ctx)
