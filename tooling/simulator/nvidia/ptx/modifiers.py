"""Modifiers of memory instructions, in the order that PTX requires (PTX ISA 9.7.9 and 9.7.13).

Like the assembler, the simulator rejects an unknown or misplaced modifier when the module is loaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

Slots = tuple[frozenset[str], ...]
"""The alternatives of each optional modifier, in order."""


def _slots(*alternatives: str) -> Slots:
    return tuple(frozenset(words.split()) for words in alternatives)


_SCOPE = "cta cluster gpu sys"
_SPACE = "global shared shared::cta shared::cluster local"
_EVICTION = (
    "L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate",
    "L2::evict_normal L2::evict_first L2::evict_last",
    "L2::cache_hint",
)
_VECTOR = "v2 v4"
_PLAIN = "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64"

LOAD = _slots(
    "mmio",
    "weak volatile relaxed acquire",
    _SCOPE,
    f"{_SPACE} const param param::entry param::func",
    "ca cg cs lu cv",
    "nc",
    *_EVICTION,
    "L2::64B L2::128B L2::256B",
    "unified",
    _VECTOR,
    _PLAIN,
)
"""`ld` and `ldu` (PTX ISA 9.7.9.8 to 9.7.9.10)."""

STORE = _slots(
    "mmio",
    "weak volatile relaxed release",
    _SCOPE,
    f"{_SPACE} param param::func",
    "wb cg cs wt",
    *_EVICTION,
    _VECTOR,
    _PLAIN,
)
"""`st` (PTX ISA 9.7.9.11)."""

ATOMIC = _slots(
    "relaxed acquire release acq_rel",
    _SCOPE,
    "global shared shared::cta shared::cluster",
    "and or xor cas exch add inc dec min max",
    "noftz",
    "L2::cache_hint",
    "v2 v4 v8",
    "u32 s32 u64 s64 f32 f64 b32 b64 b16 b128 f16 bf16 f16x2 bf16x2",
)
"""`atom` and `red` (PTX ISA 9.7.13.5, 9.7.13.6)."""

MATRIX = _slots("sync", "aligned", "m8n8", "x1 x2 x4", "trans", "shared shared::cta", "b16")
"""`ldmatrix` and `stmatrix` (PTX ISA 9.7.14.5.15)."""

BULK = _slots(
    "shared::cluster shared::cta global",
    "global shared::cta",
    "mbarrier::complete_tx::bytes bulk_group",
    "multicast::cluster",
    "L2::cache_hint",
)
"""`cp.async.bulk`: the modifiers after these words (PTX ISA 9.7.9.25.5.2)."""

BULK_REDUCTION = _slots(
    "shared::cluster global",
    "shared::cta",
    "mbarrier::complete_tx::bytes bulk_group",
    "L2::cache_hint",
    "and or xor add inc dec min max",
    "noftz",
    "f16 bf16 b32 u32 s32 b64 u64 s64 f32 f64",
)
"""`cp.reduce.async.bulk`: the modifiers after these words (PTX ISA 9.7.9.25.5.3)."""

_SCOPED = frozenset({"relaxed", "acquire", "release", "acq_rel"})
_TYPE_BYTES = {kind: int(kind[1:]) // 8 for kind in _PLAIN.split()}
_MAX_BYTES = 16


def in_order(modifiers: Sequence[str], slots: Slots) -> bool:
    """Whether every modifier is known, none fills a slot twice, and all follow the order of the slots."""
    index = 0
    for modifier in modifiers:
        while index < len(slots) and modifier not in slots[index]:
            index += 1
        if index == len(slots):
            return False
        index += 1
    return True


@cache
def is_load_or_store(modifiers: tuple[str, ...], slots: Slots) -> bool:
    """Whether these are valid modifiers of a load or store.

    The type is last, at most 16 bytes are moved, and a scope is given exactly where an ordering is.
    """
    if not modifiers or modifiers[-1] not in _TYPE_BYTES or not in_order(modifiers, slots):
        return False
    count = next((int(modifier[1]) for modifier in modifiers if modifier in ("v2", "v4")), 1)
    if count * _TYPE_BYTES[modifiers[-1]] > _MAX_BYTES:
        return False
    scoped = any(modifier in _SCOPE.split() for modifier in modifiers)
    return scoped == any(modifier in _SCOPED for modifier in modifiers)
