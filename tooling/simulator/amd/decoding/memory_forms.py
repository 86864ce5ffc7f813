"""Memory instructions: which registers they read and write, from their names."""

from __future__ import annotations

import re

from msgspec import Struct

_DWORDS = {"dword": 1, "dwordx2": 2, "dwordx3": 3, "dwordx4": 4, "b32": 1, "b64": 2, "b96": 3, "b128": 4}
_ONE = re.compile(r"(u|s|i)?(byte|short|b8|b16|i8|i16|u8|u16)")
_ATOMIC_BITS = re.compile(r"_[a-z]+(32|64)$")


class DataShareForm(Struct, frozen=True):
    """The operands of a DS instruction.

    Attributes:
        results: registers of the result, 0 without one; data: registers of each data operand.
        takes_address: whether it reads an address.
        pair: it accesses two addresses (`ds_read2_b32`).
        stride: bytes that one step of an offset of such an access counts.
    """

    results: int
    data: tuple[int, ...]
    takes_address: bool = True
    pair: bool = False
    stride: int = 1


def ds_form(name: str) -> DataShareForm:
    """The form of a DS instruction.

    Raises:
        LookupError: an unknown name.
    """
    if name in ("ds_swizzle_b32",):
        return DataShareForm(1, (), takes_address=True)
    if name in ("ds_permute_b32", "ds_bpermute_b32"):
        return DataShareForm(1, (1,))
    if name == "ds_nop":
        return DataShareForm(0, (), takes_address=False)
    load = re.fullmatch(r"ds_(?:read|load)_?(2?)(?:addr)?(st64|_stride64)?_(\w+?)(_d16(_hi)?)?", name)
    store = re.fullmatch(r"ds_(?:write|store)_?(2?)(?:addr)?(st64|_stride64)?_(\w+?)(_d16_hi)?", name)
    for match, loads in ((load, True), (store, False)):
        if match:
            kind = match[3]
            count = _DWORDS[kind] if kind in _DWORDS else 1 if _ONE.fullmatch(kind) else 0
            if not count:
                raise LookupError(name)
            stride = 4 * count * (64 if match[2] else 1)
            if match[1]:
                return (
                    DataShareForm(2 * count, (), pair=True, stride=stride)
                    if loads
                    else DataShareForm(0, (count, count), pair=True, stride=stride)
                )
            return DataShareForm(count, ()) if loads else DataShareForm(0, (count,))
    bits = _ATOMIC_BITS.search(name)
    if bits is None:
        raise LookupError(name)
    count = int(bits[1]) // 32
    returns = "_rtn_" in name or "wrxchg" in name or "storexchg" in name
    data = (count, count) if "cmpst" in name else (count,)
    return DataShareForm(count if returns else 0, data)


def data_registers(name: str, *, returns: bool) -> tuple[int, int]:
    """(registers loaded, registers stored) by a FLAT, GLOBAL or SCRATCH instruction.

    Args:
        returns: an atomic operation returns the old value.

    Raises:
        LookupError: an unknown name.
    """
    _, _, rest = name.partition("_")
    if rest.startswith("atomic"):
        wide = rest.endswith(("_x2", "64"))
        count = 2 if wide else 1
        return count if returns else 0, 2 * count if "cmpswap" in rest else count
    match = re.fullmatch(r"(load|store)_(\w+?)(_d16)?(_hi)?(_b16|_u8|_i8)?", rest)
    if match is None:
        raise LookupError(name)
    kind = match[2]
    count = _DWORDS.get(kind, 1)
    return (count, 0) if match[1] == "load" else (0, count)
