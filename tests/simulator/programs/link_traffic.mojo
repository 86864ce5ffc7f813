"""Traffic between two GPUs, one kind of access at a time: GPU 0 accesses the memory of GPU 1.

Arguments: the kind, and how often it is repeated (1). Run on two simulated GPUs, and on two H200, where the
driver and `ncu` count the bytes of the links.
"""

from max.gpu import global_idx
from max.gpu.host import DeviceContext
from std.atomic import Atomic, Ordering
from std.sys import argv

comptime N = 1 << 20  # elements of each GPU: 4 MiB
comptime BLOCK = 256
comptime BLOCKS = N // BLOCK
comptime STRIDE = 8  # elements in a sector of 32 bytes
comptime Floats = Pointer[Float32, MutAnyOrigin]


def read(mine: Floats, theirs: Floats):
    """Each thread loads one element."""
    var i = global_idx.x
    mine[unsafe_offset=i] = theirs[unsafe_offset=i]


def read_strided(mine: Floats, theirs: Floats):
    """Each thread loads one element of a sector of its own."""
    var i = global_idx.x
    mine[unsafe_offset=i] = theirs[unsafe_offset=STRIDE * i]


def read_twice(mine: Floats, theirs: Floats):
    """Each element is loaded by two blocks, which are far from each other."""
    var i = global_idx.x
    mine[unsafe_offset=i] = theirs[unsafe_offset=i % (N // 2)]


def write(mine: Floats, theirs: Floats):
    """Each thread stores one element."""
    var i = global_idx.x
    theirs[unsafe_offset=i] = mine[unsafe_offset=i]


def write_strided(mine: Floats, theirs: Floats):
    """Each thread stores one element of a sector of its own."""
    var i = global_idx.x
    theirs[unsafe_offset=STRIDE * i] = mine[unsafe_offset=i]


def add(mine: Floats, theirs: Floats):
    """Each thread adds to one element, atomically."""
    var i = global_idx.x
    _ = Atomic[Float32].fetch_add[ordering=Ordering.RELAXED](
        theirs.unsafe_offset(i), mine[unsafe_offset=i]
    )


def main() raises:
    var kind = String(argv()[1])
    var repetitions = Int(argv()[2]) if len(argv()) > 2 else 1
    var c0 = DeviceContext(device_id=0)
    var c1 = DeviceContext(device_id=1)
    DeviceContext.enable_all_peer_access()
    var mine = c0.enqueue_create_buffer[DType.float32](N)
    var theirs = c1.enqueue_create_buffer[DType.float32](N)
    mine.enqueue_fill(1)
    theirs.enqueue_fill(2)
    c0.synchronize()
    c1.synchronize()
    var few = BLOCKS // STRIDE
    for _ in range(repetitions):
        if kind == "copy":
            c0.enqueue_copy(mine, theirs)
        elif kind == "read":
            c0.enqueue_function[read](
                mine, theirs, grid_dim=BLOCKS, block_dim=BLOCK
            )
        elif kind == "read_strided":
            c0.enqueue_function[read_strided](
                mine, theirs, grid_dim=few, block_dim=BLOCK
            )
        elif kind == "read_twice":
            c0.enqueue_function[read_twice](
                mine, theirs, grid_dim=BLOCKS, block_dim=BLOCK
            )
        elif kind == "write":
            c0.enqueue_function[write](
                mine, theirs, grid_dim=BLOCKS, block_dim=BLOCK
            )
        elif kind == "write_strided":
            c0.enqueue_function[write_strided](
                mine, theirs, grid_dim=few, block_dim=BLOCK
            )
        elif kind == "add":
            c0.enqueue_function[add](
                mine, theirs, grid_dim=BLOCKS, block_dim=BLOCK
            )
        else:
            raise Error("unknown kind ", kind)
    c0.synchronize()
    c1.synchronize()
    print(kind, "done")
    # The contexts last: buffers must not outlive them.
    _ = mine^
    _ = theirs^
    _ = c0^
    _ = c1^
