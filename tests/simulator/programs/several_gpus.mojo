"""Programs of two GPUs, each right or with one mistake, named by the first argument.

Run on two H100 and on two simulated GPUs; every wait in a kernel is bounded.
"""

from max.gpu import barrier, block_idx, global_idx, thread_idx
from max.gpu.host import DeviceBuffer, DeviceContext
from std.atomic import Atomic, Ordering
from std.sys import argv

comptime N = 1024
comptime BLOCK = 128
comptime BLOCKS = N // BLOCK
comptime BOUND = 1 << 22
comptime Floats = Pointer[Float32, MutAnyOrigin]
comptime Flags = Pointer[UInt32, MutAnyOrigin]


def fill(result: Floats, value: Float32):
    """Sets every element."""
    result[unsafe_offset=global_idx.x] = value


def waited(rounds: Int32) -> Float32:
    """Zero, after a while that no compiler can shorten."""
    var state = UInt32(global_idx.x)
    for _ in range(Int(rounds)):
        state = (state ^ (state >> 7)) * 1664525 + 1013904223
    return Float32(1) if state == 0xDEADBEEF else Float32(0)


def add_one(result: Floats, other: Floats, rounds: Int32):
    """Reads the other GPU's buffer, after a while, and adds one."""
    var i = global_idx.x
    var late = waited(rounds)
    result[unsafe_offset=i] = other[unsafe_offset=i] + 1 + late


def slow_fill(result: Floats, value: Float32, rounds: Int32):
    """Sets every element, after a while."""
    result[unsafe_offset=global_idx.x] = value + waited(rounds)


def meet[
    releases: Bool, acquires: Bool, scope: StaticString
](mine: Flags, theirs: Flags, epoch: UInt32):
    """Block by block, waits until the same block of the other GPU is here.

    Each GPU writes to the other one's memory and polls its own.
    """
    comptime STORE = Ordering.RELEASE if releases else Ordering.RELAXED
    comptime LOAD = Ordering.ACQUIRE if acquires else Ordering.RELAXED
    barrier()
    if thread_idx.x == 0:
        var b = block_idx.x
        Atomic[UInt32, scope=scope].store[ordering=STORE](
            theirs.unsafe_offset(b), epoch
        )
        var spins = 0
        while (
            Atomic[UInt32, scope=scope].load[ordering=LOAD](
                mine.unsafe_offset(b)
            )
            < epoch
            and spins < BOUND
        ):
            spins += 1
    barrier()


def all_reduce[
    releases: Bool, acquires: Bool, scope: StaticString, second: Bool
](
    result: Floats,
    input: Floats,
    other: Floats,
    mine: Flags,
    theirs: Flags,
    epoch: UInt32,
    device: Int32,
):
    """One epoch: writes the inputs, meets the other GPU, adds both inputs, and meets it again.
    """
    var i = global_idx.x
    input[unsafe_offset=i] = Float32(i) + Float32(epoch) * Float32(device + 1)
    meet[releases, acquires, scope](mine, theirs, 2 * epoch - 1)
    result[unsafe_offset=i] = input[unsafe_offset=i] + other[unsafe_offset=i]
    comptime if second:
        meet[releases, acquires, scope](mine, theirs, 2 * epoch)


def two_stages[
    starts: Bool
](
    result: Floats,
    scratch: Floats,
    other: Floats,
    mine: Flags,
    theirs: Flags,
    epoch: UInt32,
    device: Int32,
):
    """One epoch: meets, writes its scratch memory, meets, and reads that of the other GPU.

    What the other GPU has read in the last epoch is written again: only the first meeting is between them.
    """
    var i = global_idx.x
    meet[starts, starts, ""](mine, theirs, 2 * epoch - 1)
    scratch[unsafe_offset=i] = Float32(i) + Float32(epoch) * Float32(device + 1)
    meet[True, True, ""](mine, theirs, 2 * epoch)
    result[unsafe_offset=i] = scratch[unsafe_offset=i] + other[unsafe_offset=i]


def wait_for_flag(result: Floats, mine: Flags):
    """Waits, without a bound, for a flag that the other GPU has to set."""
    while Atomic[UInt32].load[ordering=Ordering.ACQUIRE](mine) == 0:
        pass
    result[unsafe_offset=global_idx.x] = 1


def set_flag(theirs: Flags):
    Atomic[UInt32].store[ordering=Ordering.RELEASE](theirs, 1)


def show(
    name: String, buffer: DeviceBuffer[DType.float32], expected: Float32
) raises:
    """Prints how many elements are wrong."""
    var wrong = 0
    with buffer.map_to_host() as host:
        for i in range(len(host)):
            if host[i] != expected:
                wrong += 1
    print(name, "wrong:", wrong, "of", N)


def reduce_together[
    releases: Bool = True,
    acquires: Bool = True,
    scope: StaticString = "",
    second: Bool = True,
](c0: DeviceContext, c1: DeviceContext, epochs: Int) raises:
    var in0 = c0.enqueue_create_buffer[DType.float32](N)
    var in1 = c1.enqueue_create_buffer[DType.float32](N)
    var out0 = c0.enqueue_create_buffer[DType.float32](N)
    var out1 = c1.enqueue_create_buffer[DType.float32](N)
    var flags0 = c0.enqueue_create_buffer[DType.uint32](BLOCKS)
    var flags1 = c1.enqueue_create_buffer[DType.uint32](BLOCKS)
    flags0.enqueue_fill(0)
    flags1.enqueue_fill(0)
    comptime kernel = all_reduce[releases, acquires, scope, second]
    var k0 = c0.compile_function[kernel]()
    var k1 = c1.compile_function[kernel]()
    c0.synchronize()
    c1.synchronize()
    var wrong = 0
    for step in range(1, epochs + 1):
        var epoch = UInt32(step)
        c0.enqueue_function(
            k0,
            out0,
            in0,
            in1,
            flags0,
            flags1,
            epoch,
            Int32(0),
            grid_dim=BLOCKS,
            block_dim=BLOCK,
        )
        c1.enqueue_function(
            k1,
            out1,
            in1,
            in0,
            flags1,
            flags0,
            epoch,
            Int32(1),
            grid_dim=BLOCKS,
            block_dim=BLOCK,
        )
    c0.synchronize()
    c1.synchronize()
    for buffer in [out0, out1]:
        with buffer.map_to_host() as host:
            for i in range(N):
                if host[i] != 2 * Float32(i) + 3 * Float32(epochs):
                    wrong += 1
    print("all_reduce wrong:", wrong, "of", 2 * N)
    # Until here: Mojo destroys a value after its last use, and a peer may still use the memory.
    _ = in0^
    _ = in1^
    _ = flags0^
    _ = flags1^


def in_two_stages[
    starts: Bool
](c0: DeviceContext, c1: DeviceContext, epochs: Int) raises:
    var scratch0 = c0.enqueue_create_buffer[DType.float32](N)
    var scratch1 = c1.enqueue_create_buffer[DType.float32](N)
    var out0 = c0.enqueue_create_buffer[DType.float32](N)
    var out1 = c1.enqueue_create_buffer[DType.float32](N)
    var flags0 = c0.enqueue_create_buffer[DType.uint32](BLOCKS)
    var flags1 = c1.enqueue_create_buffer[DType.uint32](BLOCKS)
    flags0.enqueue_fill(0)
    flags1.enqueue_fill(0)
    var k0 = c0.compile_function[two_stages[starts]]()
    var k1 = c1.compile_function[two_stages[starts]]()
    c0.synchronize()
    c1.synchronize()
    for step in range(1, epochs + 1):
        var epoch = UInt32(step)
        c0.enqueue_function(
            k0,
            out0,
            scratch0,
            scratch1,
            flags0,
            flags1,
            epoch,
            Int32(0),
            grid_dim=BLOCKS,
            block_dim=BLOCK,
        )
        c1.enqueue_function(
            k1,
            out1,
            scratch1,
            scratch0,
            flags1,
            flags0,
            epoch,
            Int32(1),
            grid_dim=BLOCKS,
            block_dim=BLOCK,
        )
    c0.synchronize()
    c1.synchronize()
    var wrong = 0
    for buffer in [out0, out1]:
        with buffer.map_to_host() as host:
            for i in range(N):
                if host[i] != 2 * Float32(i) + 3 * Float32(epochs):
                    wrong += 1
    print("two_stages wrong:", wrong, "of", 2 * N)
    _ = scratch0^
    _ = scratch1^
    _ = flags0^
    _ = flags1^


def main() raises:
    var mode = String(argv()[1]) if len(argv()) > 1 else "devices"
    with DeviceContext(device_id=0) as c0:
        with DeviceContext(device_id=1) as c1:
            run(mode, c0, c1)


def run(mode: String, c0: DeviceContext, c1: DeviceContext) raises:
    if not mode.endswith("not_enabled"):
        DeviceContext.enable_all_peer_access()
    if mode == "devices":
        print("devices:", DeviceContext.number_of_devices())
        print("ids:", c0.id(), c1.id())
        print("0 can access 1:", c0.can_access(c1))
        print("names are equal:", c0.name() == c1.name())
        return
    var a0 = c0.enqueue_create_buffer[DType.float32](N)
    var a1 = c1.enqueue_create_buffer[DType.float32](N)
    # On hardware the kernel that should be late takes 0.1 s; simulated, a few rounds.
    var late = Int32(20000000 if len(argv()) > 2 else 4)
    if mode == "copy":
        # No wait: a copy between contexts orders both streams.
        c0.enqueue_function[slow_fill](
            a0, Float32(42), late, grid_dim=BLOCKS, block_dim=BLOCK
        )
        c1.enqueue_copy(a1, a0)
        c1.synchronize()
        show(mode, a1, 42)
        return
    if mode.startswith("peer_read"):
        a1.enqueue_fill(1)
        c1.synchronize()
        c1.enqueue_function[slow_fill](
            a1, Float32(42), late, grid_dim=BLOCKS, block_dim=BLOCK
        )
        if mode != "peer_read_unordered":
            c0.enqueue_wait_for(c1)
        c0.enqueue_function[add_one](
            a0, a1, Int32(0), grid_dim=BLOCKS, block_dim=BLOCK
        )
        c0.synchronize()
        c1.synchronize()
        show(mode, a0, 43)
        return
    if mode == "overwritten" or mode == "overwritten_waits":
        # GPU 0 reads what GPU 1 overwrites afterwards.
        a1.enqueue_fill(1)
        c1.synchronize()
        c0.enqueue_function[add_one](
            a0, a1, late, grid_dim=BLOCKS, block_dim=BLOCK
        )
        if mode == "overwritten_waits":
            c1.enqueue_wait_for(c0)
        c1.enqueue_function[fill](
            a1, Float32(9), grid_dim=BLOCKS, block_dim=BLOCK
        )
        c0.synchronize()
        c1.synchronize()
        show(mode, a0, 2)
        return
    if mode == "freed" or mode == "freed_waits":
        # The memory of GPU 1 is freed, and used again, while GPU 0 reads it.
        a1.enqueue_fill(1)
        c1.synchronize()
        c0.enqueue_function[add_one](
            a0, a1, late, grid_dim=BLOCKS, block_dim=BLOCK
        )
        if mode == "freed_waits":
            c0.synchronize()
        _ = a1^
        var b1 = c1.enqueue_create_buffer[DType.float32](N)
        b1.enqueue_fill(9)
        c1.synchronize()
        c0.synchronize()
        show(mode, a0, 2)
        return
    if mode == "stuck":
        var flags = c0.enqueue_create_buffer[DType.uint32](1)
        flags.enqueue_fill(0)
        c0.enqueue_function[wait_for_flag](a0, flags, grid_dim=1, block_dim=1)
        c0.synchronize()
        return
    if mode == "late_flag":
        var flags = c0.enqueue_create_buffer[DType.uint32](1)
        flags.enqueue_fill(0)
        var waits = c0.compile_function[wait_for_flag]()
        var sets = c1.compile_function[set_flag]()
        c0.synchronize()
        c0.enqueue_function(waits, a0, flags, grid_dim=1, block_dim=1)
        a1.enqueue_fill(5)
        c1.enqueue_function(sets, flags, grid_dim=1, block_dim=1)
        c0.synchronize()
        c1.synchronize()
        print("late_flag: done")
        _ = flags^
        return
    if mode == "all_reduce":
        reduce_together(c0, c1, 4)
    elif mode == "relaxed_store":
        reduce_together[releases=False](c0, c1, 4)
    elif mode == "relaxed_load":
        reduce_together[acquires=False](c0, c1, 4)
    elif mode == "gpu_scope":
        reduce_together[scope="device"](c0, c1, 4)
    elif mode == "no_second_meeting":
        reduce_together[second=False](c0, c1, 4)
    elif mode == "two_stages":
        in_two_stages[True](c0, c1, 4)
    elif mode == "two_stages_relaxed":
        in_two_stages[False](c0, c1, 4)
    else:
        raise Error("unknown mode ", mode)
