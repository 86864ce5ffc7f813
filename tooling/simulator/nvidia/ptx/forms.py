"""Forms of instructions that have few, as patterns of their modifiers in the order of the PTX ISA.

Like the assembler, the simulator rejects other modifiers when the module is loaded.
"""

from __future__ import annotations

import re
from functools import cache

_SCOPE = "(cta|cluster|gpu|sys)"
_LEVELS = "(evict_last|evict_normal|evict_first|evict_unchanged)"

_RESTRICTED = r"(acquire\.sync_restrict::shared::cluster|release\.sync_restrict::shared::cta)\.cluster"

FORMS = {
    # Barriers (PTX ISA 9.7.13.1 to 9.7.13.4)
    "bar": r"(cta\.)?(sync|arrive|red\.popc\.u32|red\.(and|or)\.pred)|warp\.sync",
    "barrier": r"(cta\.)?(sync|arrive)(\.aligned)?"
    r"|(cta\.)?red\.(popc(\.aligned)?\.u32|(and|or)(\.aligned)?\.pred)"
    r"|cluster\.(arrive(\.release|\.relaxed)?|wait(\.acquire)?)(\.aligned)?",
    # Fences (9.7.13.5)
    "membar": r"cta|gl|sys|proxy\.alias",
    "fence": rf"((sc|acq_rel|acquire|release)\.)?{_SCOPE}|mbarrier_init\.release\.cluster|{_RESTRICTED}"
    r"|proxy\.(alias|async(\.global|\.shared::cta|\.shared::cluster)?)"
    rf"|proxy\.async::generic\.{_RESTRICTED}|proxy\.tensormap::generic\.(release|acquire)\.{_SCOPE}",
    # Lanes of a warp (9.7.9.6 and 9.7.13.9 to 9.7.13.15)
    "shfl": r"sync\.(up|down|bfly|idx)\.b32",
    "vote": r"sync\.((all|any|uni)\.pred|ballot\.b32)",
    "match": r"(any|all)\.sync\.(b32|b64)",
    "redux": r"sync\.((add|min|max)\.(u32|s32)|(and|or|xor)\.b32)",
    "activemask": r"b32",
    "elect": r"sync",
    # Control flow (9.7.12) and what has no effect on results
    "bra": r"(uni)?",
    "ret": r"(uni)?",
    "exit": r"",
    "trap": r"",
    "brkpt": r"",
    "nanosleep": r"u32",
    "griddepcontrol": r"launch_dependents|wait",
    "setmaxnreg": r"(inc|dec)\.sync\.aligned\.u32",
    "prefetch": r"((global|local)\.)?(L1|L2)|(global\.)?L2::(evict_last|evict_normal)"
    r"|((const|param)\.)?tensormap",
    "prefetchu": r"L1",
    "discard": r"(global\.)?L2",
    "applypriority": r"(global\.)?L2::evict_normal",
    "createpolicy": rf"(fractional|range(\.global)?)\.L2::{_LEVELS}"
    r"(\.L2::(evict_first|evict_unchanged))?\.b64|cvt\.L2\.b64",
    # Addresses (9.7.9.20) and copies (9.7.9.25)
    "cvta": r"(to\.)?(global|local|const|param(::entry)?|shared(::cta|::cluster)?)\.(u32|u64)",
    "cp.async": r"(ca|cg)\.shared(::cta)?\.global(\.L2::cache_hint)?(\.L2::(64|128|256)B)?"
    r"|wait_all|wait_group|commit_group"
    r"|mbarrier\.arrive(\.noinc)?(\.shared(::cta)?)?\.b64",
}
"""By opcode, the modifiers that follow it, joined by dots; `cp.async` without bulk copies."""


@cache
def has_form(opcode: str, modifiers: tuple[str, ...]) -> bool:
    """Whether the instruction has such modifiers; True for opcodes that are not listed."""
    pattern = FORMS.get(opcode)
    return pattern is None or re.fullmatch(pattern, ".".join(modifiers)) is not None
