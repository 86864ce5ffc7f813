"""The arena's place in this process."""

from std.ffi import external_call

from wire import errno

comptime _O_RDWR_CLOEXEC = Int32(0x80002)
comptime _PROT_NONE = Int32(0)
comptime _PROT_READ_WRITE = Int32(3)
comptime _RESERVED = Int32(0x4022)  # MAP_PRIVATE, MAP_ANONYMOUS, MAP_NORESERVE
comptime _RESERVED_HERE = _RESERVED | Int32(0x100000)  # MAP_FIXED_NOREPLACE
comptime _SHARED_HERE = Int32(0x4011)  # MAP_SHARED, MAP_FIXED, MAP_NORESERVE
comptime _ATTEMPTS = 16

comptime NO_PLACE = UInt64.MAX
"""What `reserve` returns when the system gives no address space (MAP_FAILED); the reason is in errno."""


def reserve(base: UInt64, size: UInt64) -> UInt64:
    """Address space for the arena: at `base`, so that addresses are the same in every run, if it is free.

    Allocators place their heaps at random, so now and then something is there already; then a multiple of
    the arena's size above it is taken, and at last whatever the system gives, or `NO_PLACE`.
    """
    for attempt in range(_ATTEMPTS):
        var wanted = base + UInt64(attempt) * size
        var place = external_call["mmap", UInt64](
            wanted, size, _PROT_NONE, _RESERVED_HERE, Int32(-1), Int64(0)
        )
        if place == wanted:
            return place
        if (
            place != NO_PLACE
        ):  # a kernel before 4.17 takes the address for a wish
            _ = external_call["munmap", Int32](place, size)
    return external_call["mmap", UInt64](
        UInt64(0), size, _PROT_NONE, _RESERVED, Int32(-1), Int64(0)
    )


def show(path: String, address: UInt64, size: UInt64, place: UInt64) -> Int32:
    """Map a part of a file over reserved space; 0, or the C library's error number.
    """
    var name = path
    var descriptor = external_call["open", Int32](
        name.as_c_string_slice().unsafe_ptr(), _O_RDWR_CLOEXEC
    )
    if descriptor < 0:
        return errno()
    var got = external_call["mmap", UInt64](
        address, size, _PROT_READ_WRITE, _SHARED_HERE, descriptor, Int64(place)
    )
    var reason = errno() if got != address else Int32(0)
    _ = external_call["close", Int32](descriptor)
    return reason
