"""Microcode formats: which bits say what (CDNA 3 and RDNA 3 ISA, "Microcode Formats")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

Fields: TypeAlias = Mapping[str, tuple[int, int]]
"""Highest and lowest bit of each field."""

_SDWA = {
    "src0": (39, 32), "dst_sel": (42, 40), "dst_unused": (44, 43), "clamp": (45, 45), "omod": (47, 46),
    "src0_sel": (50, 48), "src0_sext": (51, 51), "src0_neg": (52, 52), "src0_abs": (53, 53), "s0": (55, 55),
    "src1_sel": (58, 56), "src1_sext": (59, 59), "src1_neg": (60, 60), "src1_abs": (61, 61), "s1": (63, 63),
    "sdst": (46, 40), "sd": (47, 47),
}  # fmt: skip
"""The second dword of an SDWA instruction."""

_DPP16 = {
    "src0": (39, 32), "control": (48, 40), "fi": (50, 50), "bound": (51, 51), "src0_neg": (52, 52),
    "src0_abs": (53, 53), "src1_neg": (54, 54), "src1_abs": (55, 55), "bank_mask": (59, 56),
    "row_mask": (63, 60),
}  # fmt: skip
"""The second dword of a DPP instruction."""

_COMMON: dict[str, Fields] = {
    "SOP2": {"op": (29, 23), "sdst": (22, 16), "src1": (15, 8), "src0": (7, 0)},
    "SOPK": {"op": (27, 23), "sdst": (22, 16), "immediate": (15, 0)},
    "SOP1": {"op": (15, 8), "sdst": (22, 16), "src0": (7, 0)},
    "SOPC": {"op": (22, 16), "src1": (15, 8), "src0": (7, 0)},
    "SOPP": {"op": (22, 16), "immediate": (15, 0)},
    "VOP1": {"op": (16, 9), "vdst": (24, 17), "src0": (8, 0)},
    "VOP2": {"op": (30, 25), "vdst": (24, 17), "src1": (16, 9), "src0": (8, 0)},
    "VOPC": {"op": (24, 17), "src1": (16, 9), "src0": (8, 0)},
    "VOP3": {
        "op": (25, 16), "vdst": (7, 0), "abs": (10, 8), "sdst": (14, 8), "op_sel": (14, 11),
        "clamp": (15, 15), "src0": (40, 32), "src1": (49, 41), "src2": (58, 50), "omod": (60, 59),
        "neg": (63, 61),
    },
    "VOP3P": {
        "op": (22, 16), "vdst": (7, 0), "neg_hi": (10, 8), "op_sel": (13, 11), "op_sel_hi2": (14, 14),
        "clamp": (15, 15), "src0": (40, 32), "src1": (49, 41), "src2": (58, 50), "op_sel_hi": (60, 59),
        "neg": (63, 61), "cbsz": (10, 8), "abid": (14, 11), "acc_cd": (15, 15), "acc": (60, 59),
        "blgp": (63, 61),
    },
    "SDWA": _SDWA,
    "DPP16": _DPP16,
    "DPP8": {"src0": (39, 32), "control": (63, 40)},
}  # fmt: skip

GFX9: dict[str, Fields] = {
    **_COMMON,
    "SMEM": {
        "op": (25, 18), "imm": (17, 17), "glc": (16, 16), "soffset_en": (14, 14), "sdata": (12, 6),
        "sbase": (5, 0), "offset": (52, 32), "soffset": (63, 57),
    },
    "DS": {
        "op": (24, 17), "gds": (16, 16), "offset1": (15, 8), "offset0": (7, 0), "vdst": (63, 56),
        "data1": (55, 48), "data0": (47, 40), "addr": (39, 32), "acc": (25, 25),
    },
    "FLAT": {
        "op": (24, 18), "sc1": (25, 25), "nt": (17, 17), "sc0": (16, 16), "seg": (15, 14), "sve": (13, 13),
        "offset": (12, 0), "vdst": (63, 56), "acc": (55, 55), "saddr": (54, 48), "data": (47, 40),
        "addr": (39, 32),
    },
    "MUBUF": {
        "op": (24, 18), "nt": (17, 17), "lds": (16, 16), "sc1": (15, 15), "sc0": (14, 14), "idxen": (13, 13),
        "offen": (12, 12), "offset": (11, 0), "soffset": (63, 56), "acc": (55, 55), "srsrc": (52, 48),
        "vdata": (47, 40), "vaddr": (39, 32),
    },
    "MTBUF": {"op": (18, 15)},
}  # fmt: skip

GFX9_ENCODINGS = (
    (0xFF800000, 0xBE800000, "SOP1"), (0xFF800000, 0xBF000000, "SOPC"), (0xFF800000, 0xBF800000, "SOPP"),
    (0xF0000000, 0xB0000000, "SOPK"), (0xC0000000, 0x80000000, "SOP2"), (0xFC000000, 0xC0000000, "SMEM"),
    (0xFE000000, 0x7E000000, "VOP1"), (0xFE000000, 0x7C000000, "VOPC"), (0x80000000, 0x00000000, "VOP2"),
    (0xFF800000, 0xD3800000, "VOP3P"), (0xFC000000, 0xD0000000, "VOP3"), (0xFC000000, 0xD8000000, "DS"),
    (0xFC000000, 0xDC000000, "FLAT"), (0xFC000000, 0xE0000000, "MUBUF"), (0xFC000000, 0xE8000000, "MTBUF"),
)  # fmt: skip
"""(mask, value, format) of the first dword, the first match counts."""

GFX11: dict[str, Fields] = {
    **_COMMON,
    "SMEM": {
        "op": (25, 18), "glc": (14, 14), "dlc": (13, 13), "sdata": (12, 6), "sbase": (5, 0),
        "offset": (52, 32), "soffset": (63, 57),
    },
    "DS": {
        "op": (25, 18), "gds": (17, 17), "offset1": (15, 8), "offset0": (7, 0), "vdst": (63, 56),
        "data1": (55, 48), "data0": (47, 40), "addr": (39, 32),
    },
    "FLAT": {
        "op": (24, 18), "seg": (17, 16), "slc": (15, 15), "glc": (14, 14), "dlc": (13, 13), "offset": (12, 0),
        "vdst": (63, 56), "sve": (55, 55), "saddr": (54, 48), "data": (47, 40), "addr": (39, 32),
    },
    "MUBUF": {
        "op": (25, 18), "glc": (14, 14), "dlc": (13, 13), "slc": (12, 12), "offset": (11, 0),
        "soffset": (63, 56), "idxen": (55, 55), "offen": (54, 54), "srsrc": (52, 48), "vdata": (47, 40),
        "vaddr": (39, 32),
    },
    "MTBUF": {"op": (18, 15)}, "MIMG": {"op": (25, 18)}, "EXP": {"op": (26, 26)}, "VINTERP": {"op": (22, 16)},
    "LDSDIR": {"op": (21, 20)},
    "VOPD": {
        "opx": (25, 22), "opy": (21, 17), "src0x": (8, 0), "src1x": (16, 9), "vdstx": (63, 56),
        "src0y": (40, 32), "src1y": (48, 41), "vdsty": (55, 49),
    },
    "WIDE_DPP16": {name: (high + 32, low + 32) for name, (high, low) in _DPP16.items()},
    "WIDE_DPP8": {"src0": (71, 64), "control": (95, 72)},
}  # fmt: skip

GFX11_ENCODINGS = (
    (0xFF800000, 0xBE800000, "SOP1"), (0xFF800000, 0xBF000000, "SOPC"), (0xFF800000, 0xBF800000, "SOPP"),
    (0xF0000000, 0xB0000000, "SOPK"), (0xC0000000, 0x80000000, "SOP2"), (0xFC000000, 0xF4000000, "SMEM"),
    (0xFE000000, 0x7E000000, "VOP1"), (0xFE000000, 0x7C000000, "VOPC"), (0x80000000, 0x00000000, "VOP2"),
    (0xFF000000, 0xCC000000, "VOP3P"), (0xFC000000, 0xD4000000, "VOP3"), (0xFC000000, 0xC8000000, "VOPD"),
    (0xFC000000, 0xD8000000, "DS"), (0xFC000000, 0xDC000000, "FLAT"), (0xFC000000, 0xE0000000, "MUBUF"),
    (0xFC000000, 0xE8000000, "MTBUF"), (0xFC000000, 0xF0000000, "MIMG"), (0xFC000000, 0xF8000000, "EXP"),
    (0xFF000000, 0xCD000000, "VINTERP"), (0xFF000000, 0xCE000000, "LDSDIR"),
)  # fmt: skip

WIDE = frozenset({"SMEM", "VOP3", "VOP3P", "VOPD", "DS", "FLAT", "MUBUF"})
"""Formats of 8 bytes; the others have 4. A literal may follow."""

GRAPHICS = frozenset({"MTBUF", "MIMG", "EXP", "VINTERP", "LDSDIR"})
"""Formats whose instructions have a name and are never executed: typed buffers, images and what shaders
export and interpolate."""


def bits(word: int, field: tuple[int, int]) -> int:
    """The unsigned value of a field, given by its highest and lowest bit."""
    high, low = field
    return word >> low & (1 << high - low + 1) - 1


def signed(value: int, width: int) -> int:
    """The value of a two's complement field."""
    return value - (1 << width) if value >> width - 1 else value
