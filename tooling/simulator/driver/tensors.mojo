"""Tensor maps (CUDA driver API: "Tensor Map Object Management"), in a form that `tensor_maps.py` reads.

A map is made by the host alone: nothing is asked of the simulator.
"""

from errors import INVALID_VALUE, SUCCESS
from session import unsupported
from wire import NOTHING, at

comptime _MAGIC = UInt64(0x414D544C5A5A5550)  # "PUZZLTMA"
comptime _BYTES = UInt64(128)
comptime _MOST_BYTES = UInt64(233472)
comptime _MOST_TYPES = UInt32(13)


def _element_bytes(kind: UInt32) -> UInt64:
    """Bytes of an element of a CUtensorMapDataType."""
    if kind == 0:
        return 1
    if kind == 1 or kind == 6 or kind == 9:
        return 2
    if kind == 4 or kind == 5 or kind == 8:
        return 8
    return 4


def _is_float(kind: UInt32) -> Bool:
    """Whether NaN may fill what lies outside the tensor."""
    return kind >= 6


@export("cuTensorMapEncodeTiled")
def cuTensorMapEncodeTiled(
    tensor_map: UInt64,
    kind: UInt32,
    rank: UInt32,
    address: UInt64,
    extents: UInt64,
    strides: UInt64,
    box: UInt64,
    steps: UInt64,
    interleave: UInt32,
    swizzle: UInt32,
    promotion: UInt32,
    fill: UInt32,
) abi("C") -> Int32:
    """The cuTensorMapEncodeTiled of the driver API; interleaved layouts are not supported.
    """
    if kind >= _MOST_TYPES:
        return unsupported(
            "cuTensorMapEncodeTiled", "it knows no elements of less than a byte"
        )
    if interleave != 0:
        return unsupported(
            "cuTensorMapEncodeTiled", "it knows no interleaved layouts"
        )
    if tensor_map == NOTHING or rank < 1 or rank > 5:
        return INVALID_VALUE
    if (
        address % 16 != 0
        or swizzle > 3
        or promotion > 3
        or fill > (UInt32(1) if _is_float(kind) else UInt32(0))
    ):
        return INVALID_VALUE
    if (
        extents == NOTHING
        or box == NOTHING
        or steps == NOTHING
        or (rank > 1 and strides == NOTHING)
    ):
        return INVALID_VALUE
    var size = _element_bytes(kind)
    for byte in range(_BYTES):
        at[UInt8](tensor_map + byte)[] = 0
    for dimension in range(UInt64(rank)):
        var extent = at[UInt64](extents + 8 * dimension)[]
        var width = at[UInt32](box + 4 * dimension)[]
        var step = at[UInt32](steps + 4 * dimension)[]
        if (
            extent == 0
            or extent > UInt64(1) << 32
            or width == 0
            or width > 256
            or step == 0
            or step > 8
        ):
            return INVALID_VALUE
        at[UInt32](tensor_map + 16 + 4 * dimension)[] = UInt32(extent - 1)
        at[UInt16](tensor_map + 36 + 2 * dimension)[] = UInt16(width)
        at[UInt8](tensor_map + 80 + dimension)[] = UInt8(step)
        if dimension > 0:
            var stride = at[UInt64](strides + 8 * (dimension - 1))[]
            if stride % 16 != 0 or stride >= UInt64(1) << 40:
                return INVALID_VALUE
            at[UInt64](tensor_map + 48 + 8 * (dimension - 1))[] = stride
    var row = UInt64(at[UInt32](box)[]) * size
    var all_bytes = size
    for dimension in range(UInt64(rank)):
        all_bytes *= UInt64(at[UInt32](box + 4 * dimension)[])
    if all_bytes > _MOST_BYTES:
        return INVALID_VALUE
    if row % 16 != 0 or (swizzle > 0 and row > UInt64(16) << UInt64(swizzle)):
        return INVALID_VALUE
    at[UInt64](tensor_map)[] = _MAGIC
    at[UInt64](tensor_map + 8)[] = address
    at[UInt8](tensor_map + 46)[] = UInt8(rank)
    at[UInt8](tensor_map + 47)[] = UInt8(kind)
    at[UInt8](tensor_map + 85)[] = UInt8(swizzle)
    at[UInt8](tensor_map + 87)[] = UInt8(fill)
    return SUCCESS
