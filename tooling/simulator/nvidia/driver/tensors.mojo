"""Tensor maps (CUDA driver API: "Tensor Map Object Management"), in the layout of `tensor_maps.py`.

They are encoded on the host, without a request to the simulator.
"""

from errors import INVALID_VALUE, SUCCESS
from session import unsupported
from wire import NULL, at

comptime _MAGIC = UInt64(0x414D544C5A5A5550)  # "PUZZLTMA"
comptime _BYTES = UInt64(128)
comptime _MAX_BYTES = UInt64(233472)
comptime _MAX_TYPES = UInt32(13)
comptime _MAX_ELEMENTS = UInt32(256)  # of a copy, in each dimension
comptime _MAX_PIXELS = UInt32(1024)


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
    """Whether elements outside the tensor may be filled with NaN."""
    return kind >= 6


def _encode(
    name: StaticString,
    tensor_map: UInt64,
    kind: UInt32,
    rank: UInt32,
    address: UInt64,
    extents: UInt64,
    strides: UInt64,
    steps: UInt64,
    interleave: UInt32,
    swizzle: UInt32,
    promotion: UInt32,
    fill: UInt32,
    row: UInt32,
) -> Int32:
    """Encode the fields that both kinds of map have, except for the magic number.

    The arguments are those of the driver function `name`; `row`: elements of a copy in the innermost
    dimension.
    """
    if kind >= _MAX_TYPES:
        return unsupported(
            name, "elements of less than a byte are not implemented"
        )
    if interleave != 0:
        return unsupported(name, "interleaved layouts are not implemented")
    if tensor_map == NULL or rank < 1 or rank > 5:
        return INVALID_VALUE
    if (
        address % 16 != 0
        or swizzle > 3
        or promotion > 3
        or fill > (UInt32(1) if _is_float(kind) else UInt32(0))
    ):
        return INVALID_VALUE
    if extents == NULL or steps == NULL or (rank > 1 and strides == NULL):
        return INVALID_VALUE
    var row_bytes = UInt64(row) * _element_bytes(kind)
    if row == 0 or row > _MAX_ELEMENTS or row_bytes % 16 != 0:
        return INVALID_VALUE
    if swizzle > 0 and row_bytes > UInt64(16) << UInt64(swizzle):
        return INVALID_VALUE
    for byte in range(_BYTES):
        at[UInt8](tensor_map + byte)[] = 0
    for dimension in range(UInt64(rank)):
        var extent = at[UInt64](extents + 8 * dimension)[]
        var step = at[UInt32](steps + 4 * dimension)[]
        if extent == 0 or extent > UInt64(1) << 32 or step == 0 or step > 8:
            return INVALID_VALUE
        at[UInt32](tensor_map + 16 + 4 * dimension)[] = UInt32(extent - 1)
        at[UInt8](tensor_map + 80 + dimension)[] = UInt8(step)
        if dimension > 0:
            var stride = at[UInt64](strides + 8 * (dimension - 1))[]
            if stride % 16 != 0 or stride >= UInt64(1) << 40:
                return INVALID_VALUE
            at[UInt64](tensor_map + 48 + 8 * (dimension - 1))[] = stride
    at[UInt64](tensor_map + 8)[] = address
    at[UInt8](tensor_map + 46)[] = UInt8(rank)
    at[UInt8](tensor_map + 47)[] = UInt8(kind)
    at[UInt8](tensor_map + 85)[] = UInt8(swizzle)
    at[UInt8](tensor_map + 87)[] = UInt8(fill)
    return SUCCESS


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
    var status = _encode(
        "cuTensorMapEncodeTiled",
        tensor_map,
        kind,
        rank,
        address,
        extents,
        strides,
        steps,
        interleave,
        swizzle,
        promotion,
        fill,
        at[UInt32](box)[] if box != NULL else 0,
    )
    if status != SUCCESS:
        return status
    var all_bytes = _element_bytes(kind)
    for dimension in range(UInt64(rank)):
        var width = at[UInt32](box + 4 * dimension)[]
        if width == 0 or width > _MAX_ELEMENTS:
            return INVALID_VALUE
        all_bytes *= UInt64(width)
        at[UInt16](tensor_map + 36 + 2 * dimension)[] = UInt16(width)
    if all_bytes > _MAX_BYTES:
        return INVALID_VALUE
    at[UInt64](tensor_map)[] = _MAGIC
    return SUCCESS


@export("cuTensorMapEncodeIm2col")
def cuTensorMapEncodeIm2col(
    tensor_map: UInt64,
    kind: UInt32,
    rank: UInt32,
    address: UInt64,
    extents: UInt64,
    strides: UInt64,
    lower: UInt64,
    upper: UInt64,
    channels: UInt32,
    pixels: UInt32,
    steps: UInt64,
    interleave: UInt32,
    swizzle: UInt32,
    promotion: UInt32,
    fill: UInt32,
) abi("C") -> Int32:
    """The cuTensorMapEncodeIm2col of the driver API; interleaved layouts are not supported.
    """
    var status = _encode(
        "cuTensorMapEncodeIm2col",
        tensor_map,
        kind,
        rank,
        address,
        extents,
        strides,
        steps,
        interleave,
        swizzle,
        promotion,
        fill,
        channels,
    )
    if status != SUCCESS:
        return status
    if (
        rank < 3
        or lower == NULL
        or upper == NULL
        or pixels == 0
        or pixels > _MAX_PIXELS
    ):
        return INVALID_VALUE
    var reach = Int64(1) << Int64(15 if rank == 3 else 7 if rank == 4 else 4)
    for dimension in range(UInt64(rank - 2)):
        var low = Int64(at[Int32](lower + 4 * dimension)[])
        var high = Int64(at[Int32](upper + 4 * dimension)[])
        if min(low, high) < -reach or max(low, high) >= reach:
            return INVALID_VALUE
        if low >= Int64(at[UInt64](extents + 8 * (dimension + 1))[]) + high:
            return INVALID_VALUE
        at[Int16](tensor_map + 88 + 2 * dimension)[] = Int16(low)
        at[Int16](tensor_map + 94 + 2 * dimension)[] = Int16(high)
    if UInt64(channels) * UInt64(pixels) * _element_bytes(kind) > _MAX_BYTES:
        return INVALID_VALUE
    at[UInt16](tensor_map + 100)[] = UInt16(channels)
    at[UInt16](tensor_map + 102)[] = UInt16(pixels)
    at[UInt8](tensor_map + 104)[] = 1
    at[UInt64](tensor_map)[] = _MAGIC
    return SUCCESS
