"""Memory instructions: which registers they read and write, from their names."""

from __future__ import annotations

import re

from msgspec import Struct

_DWORDS = {"dword": 1, "dwordx2": 2, "dwordx3": 3, "dwordx4": 4, "b32": 1, "b64": 2, "b96": 3, "b128": 4}
DS_ACCESS = re.compile(
    r"ds_(?:(?P<load>read|load)|write|store)_?(?P<pair>2)?(?:addr)?(?P<far>st64|_stride64)?"
    r"_(?P<sign>[biu])(?P<bits>8|16|32|64|96|128)(?P<half>_d16)?(?P<high>_hi)?"
)
"""The mnemonics of loads and stores of DS: `ds_read2st64_b64` (CDNA 3), `ds_load_u8_d16_hi`."""
_ATOMIC = re.compile(r"ds_\w+_[a-z]+(?P<bits>32|64)")
_EXCHANGES = {"ds_swizzle_b32": (), "ds_permute_b32": (1,), "ds_bpermute_b32": (1,)}
_PACKED = re.compile(r"ds_pk_add_(?:rtn_)?b?f16")
_TWO_OPERANDS = ("cmpst", "mskor", "wrap")
_TWO_ADDRESSES = ("wrxchg2", "storexchg_2addr")
_WITHOUT_ADDRESS = {"ds_nop": (0, ()), "ds_append": (1, ()), "ds_consume": (1, ())}
_BY_THREAD = {
    "ds_read_addtid_b32": (1, ()), "ds_load_addtid_b32": (1, ()), "ds_write_addtid_b32": (0, (1,)),
    "ds_store_addtid_b32": (0, (1,)),
}  # fmt: skip


class DataShareForm(Struct, frozen=True):
    """What the mnemonic of a DS instruction determines.

    Attributes:
        results: registers of the result, 0 without one; data: registers of each data operand.
        takes_address: whether it reads an address.
        pair: it accesses two addresses (`ds_read2_b32`).
        stride: bytes that one step of an offset of such an access counts.
        element: bytes of each element in memory; a wider value consists of elements of 4 bytes.
        signed: a narrow element is sign-extended to the register.
        half: only one half of the register is loaded; high: the upper half is loaded or stored.
    """

    results: int
    data: tuple[int, ...]
    takes_address: bool = True
    pair: bool = False
    stride: int = 1
    element: int = 4
    signed: bool = False
    half: bool = False
    high: bool = False


def ds_form(name: str) -> DataShareForm:
    """The form of a DS instruction.

    Raises:
        LookupError: an unknown name.
    """
    if name in _WITHOUT_ADDRESS or name in _BY_THREAD:
        results, data = _WITHOUT_ADDRESS.get(name) or _BY_THREAD[name]
        return DataShareForm(results, data, takes_address=False)
    if _PACKED.fullmatch(name):
        return DataShareForm("_rtn_" in name, (1,))
    if name in _EXCHANGES:
        return DataShareForm(1, _EXCHANGES[name])
    if access := DS_ACCESS.fullmatch(name):
        return _access_form(access)
    atomic = _ATOMIC.fullmatch(name)
    if atomic is None:
        raise LookupError(name)
    count = int(atomic["bits"]) // 32
    returns = "_rtn_" in name or "wrxchg" in name or "storexchg" in name
    if any(word in name for word in _TWO_ADDRESSES):
        stride = 4 * count * (64 if "64_rtn" in name else 1)
        return DataShareForm(2 * count, (count, count), pair=True, stride=stride)
    data = (count, count) if any(word in name for word in _TWO_OPERANDS) else (count,)
    return DataShareForm(count if returns else 0, data)


def _access_form(access: re.Match[str]) -> DataShareForm:
    bits = int(access["bits"])
    registers = max(1, bits // 32)
    addresses = 2 if access["pair"] else 1
    return DataShareForm(
        addresses * registers if access["load"] else 0,
        () if access["load"] else (registers,) * addresses,
        pair=addresses == 2,
        stride=4 * registers * (64 if access["far"] else 1),
        element=min(bits // 8, 4),
        signed=access["sign"] == "i",
        half=bool(access["half"]),
        high=bool(access["high"]),
    )


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
    match = re.fullmatch(r"(load|store)_(?!\w*format)(\w+?)(_d16)?(_hi)?(_b16|_u8|_i8)?", rest)
    if match is None:
        raise LookupError(name)
    kind = match[2]
    count = _DWORDS.get(kind, 1)
    return (count, 0) if match[1] == "load" else (0, count)
