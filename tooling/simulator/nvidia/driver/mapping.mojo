"""Mapping of the arena into this process."""

from std.ffi import external_call

from wire import errno

comptime _O_RDWR_CLOEXEC = Int32(0x80002)
comptime _ENOENT = Int32(2)
comptime NO_ACCESS = Int32(0)
comptime READ_ONLY = Int32(1)
comptime READ_AND_WRITE = Int32(3)
comptime _RESERVED = Int32(0x4022)  # MAP_PRIVATE, MAP_ANONYMOUS, MAP_NORESERVE
comptime _RESERVED_HERE = _RESERVED | Int32(0x100000)  # MAP_FIXED_NOREPLACE
comptime _SHARED_HERE = Int32(0x4011)  # MAP_SHARED, MAP_FIXED, MAP_NORESERVE
comptime _ATTEMPTS = 16

comptime MAP_FAILED = UInt64.MAX
"""What mmap, and so `reserve`, returns on failure; the reason is in errno."""


def reserve(base: UInt64, size: UInt64) -> UInt64:
    """Reserve address space for the arena: at `base` if it is free, for the same addresses in every run.

    Where another mapping is there already (heaps have random addresses), multiples of the arena's size above
    it are tried, and last any address that the system chooses. Returns `MAP_FAILED` if there is none.
    """
    for attempt in range(_ATTEMPTS):
        var wanted = base + UInt64(attempt) * size
        var address = external_call["mmap", UInt64](
            wanted, size, NO_ACCESS, _RESERVED_HERE, Int32(-1), Int64(0)
        )
        if address == wanted:
            return address
        # A Linux kernel before 4.17 ignores MAP_FIXED_NOREPLACE.
        if address != MAP_FAILED:
            _ = external_call["munmap", Int32](address, size)
    return external_call["mmap", UInt64](
        UInt64(0), size, NO_ACCESS, _RESERVED, Int32(-1), Int64(0)
    )


def exists(path: String) -> Bool:
    """Whether there is a file of this name; also True if that cannot be determined.
    """
    var name = path
    return (
        external_call["access", Int32](
            name.as_c_string_slice().unsafe_ptr(), Int32(0)
        )
        == 0
        or errno() != _ENOENT
    )


def protect(address: UInt64, size: UInt64, access: Int32):
    """Set the access that the program has to mapped pages."""
    _ = external_call["mprotect", Int32](address, size, access)


def map_file(
    path: String,
    address: UInt64,
    size: UInt64,
    offset: UInt64,
    access: Int32 = READ_AND_WRITE,
) -> Int32:
    """Map a range of a file at an address in reserved space; returns 0 or errno.
    """
    var name = path
    var descriptor = external_call["open", Int32](
        name.as_c_string_slice().unsafe_ptr(), _O_RDWR_CLOEXEC
    )
    if descriptor < 0:
        return errno()
    var got = external_call["mmap", UInt64](
        address, size, access, _SHARED_HERE, descriptor, Int64(offset)
    )
    var reason = errno() if got != address else Int32(0)
    _ = external_call["close", Int32](descriptor)
    return reason
