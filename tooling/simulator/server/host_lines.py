"""The source lines of a program's own code, with the calls that were inlined: DWARF, read with pyelftools.

Reading the debug information of a large program takes minutes: `lookups` ends it in time.
"""

from __future__ import annotations

import functools
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from elftools.common.exceptions import DWARFError, ELFError
from elftools.elf.elffile import ELFFile
from msgspec import Struct

from tooling.simulator.checks.findings import SourcePosition
from tooling.simulator.gpu.code_model import SourceLocation
from tooling.simulator.gpu.line_tables import file_names, line_table
from tooling.simulator.server.lookups import current


class _Inlined(Struct, frozen=True):
    """A function that was inlined at `low` to `high`, by a call at `position`."""

    low: int
    high: int
    position: SourcePosition


class _Tables(Struct, frozen=True):
    """Addresses (ascending) with the position from there on, and the inlined calls."""

    first: int  # address of the first segment that is loaded
    starts: tuple[int, ...]
    positions: tuple[SourceLocation | None, ...]
    inlined: tuple[_Inlined, ...]


@functools.lru_cache(maxsize=4096)
def positions(path: Path, address: int, start: int) -> tuple[SourcePosition, ...]:
    """The position of an address, then those of the calls by which its code was inlined, innermost first.

    An address is looked up once: a search goes through all inlined calls of the program.

    Args:
        path: the executable.
        address: in the process.
        start: where the executable's first segment is in the process.

    Raises:
        LookupTimedOut: see `lookups`.
    """
    tables = _tables(path)
    address += tables.first - start
    index = bisect_right(tables.starts, address) - 1
    if index < 0 or (found := tables.positions[index]) is None:
        return ()
    around = [one for one in tables.inlined if one.low <= address < one.high]
    around.sort(key=lambda each: each.high - each.low)
    here = SourcePosition(found.file, found.line, found.column, 0)
    return (here, *(one.position for one in around))


@functools.lru_cache(maxsize=4)
def _tables(path: Path) -> _Tables:
    """The tables of a program; empty without debug information, or where it cannot be read."""
    try:
        current().begin(path)
        with path.open("rb") as file:
            elf = ELFFile(file)
            first = min(one["p_vaddr"] for one in elf.iter_segments("PT_LOAD"))
            starts, positions, _ = line_table(elf, 0)
            inlined = tuple(_inlined_calls(elf.get_dwarf_info())) if starts else ()
    except (OSError, ValueError, ELFError, DWARFError):
        return _Tables(0, (), (), ())
    return _Tables(first, tuple(starts), tuple(positions), inlined)


def _inlined_calls(debug: Any) -> Iterator[_Inlined]:
    lookups = current()
    for unit in debug.iter_CUs():
        files = file_names(debug.line_program_for_CU(unit), unit)
        low_pc = unit.get_top_DIE().attributes.get("DW_AT_low_pc")
        base = low_pc.value if low_pc else 0
        for entry in unit.iter_DIEs():
            lookups.require_time()
            if entry.tag != "DW_TAG_inlined_subroutine" or "DW_AT_call_line" not in entry.attributes:
                continue
            facts = {name: attribute.value for name, attribute in entry.attributes.items()}
            position = SourcePosition(
                files.get(facts["DW_AT_call_file"], "?"),
                facts["DW_AT_call_line"],
                facts.get("DW_AT_call_column", 0),
                0,
            )
            for low, high in _ranges(debug, unit, facts, base):
                yield _Inlined(low, high, position)


def _ranges(debug: Any, unit: Any, facts: dict[str, Any], base: int) -> Iterator[tuple[int, int]]:
    """The addresses of an inlined function: one range, or a list of them."""
    if "DW_AT_ranges" in facts:
        for one in debug.range_lists().get_range_list_at_offset(facts["DW_AT_ranges"], unit):
            if hasattr(one, "base_address"):
                base = one.base_address
            else:
                start = 0 if getattr(one, "is_absolute", False) else base
                yield start + one.begin_offset, start + one.end_offset
    elif "DW_AT_low_pc" in facts:
        low, high = facts["DW_AT_low_pc"], facts["DW_AT_high_pc"]
        yield low, high if high > low else low + high
