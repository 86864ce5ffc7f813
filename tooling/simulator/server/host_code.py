"""The program's own code on the host: its addresses, and the source lines of return addresses in it."""

from __future__ import annotations

import functools
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from elftools.common.exceptions import DWARFError, ELFError
from elftools.elf.elffile import ELFFile
from msgspec import Struct

from tooling.simulator.checks.base import is_packaged
from tooling.simulator.checks.findings import SourcePosition
from tooling.simulator.gpu.code_model import SourceLocation
from tooling.simulator.gpu.line_tables import file_names, line_table

UNKNOWN = SourcePosition("", 0, 0, 0)
_RUNTIME = "libAsyncRTMojoBindings.so"
_LAB = "lab"
"""The folder of the package through which puzzle programs pass their buffers to the judge."""


class _Inlined(Struct, frozen=True):
    """A function that was inlined at `low` to `high`, by a call at `position`."""

    low: int
    high: int
    position: SourcePosition


class _Tables(Struct, frozen=True):
    """Addresses (ascending) with the position from there on, and the inlined calls."""

    starts: tuple[int, ...]
    positions: tuple[SourceLocation | None, ...]
    inlined: tuple[_Inlined, ...]


class HostCode(Struct, frozen=True):
    """Where a program is loaded.

    Attributes:
        low: first address of its executable code; high: one past the last.
        bias: the difference between an address in the process and in the file.
    """

    path: Path
    low: int
    high: int
    bias: int

    def position(self, callers: Sequence[int]) -> SourcePosition:
        """The innermost line of the author among return addresses, innermost first.

        `UNKNOWN` if the program has no line tables.
        """
        chains = [one for caller in callers if caller for one in _chain(self.path, caller - 1 - self.bias)]
        own = [one for one in chains if not is_packaged(one.file)]
        return next((one for one in own if Path(one.file).parent.name != _LAB), next(iter(own), UNKNOWN))


def host_code(process: int) -> HostCode | None:
    """The code of a process; None unless it is a Mojo program that uses a GPU."""
    folder = Path("/proc") / str(process)
    try:
        path = (folder / "exe").readlink()
        areas = [line.split(maxsplit=5) for line in (folder / "maps").read_text("utf-8").splitlines()]
        own = [area for area in areas if len(area) == 6 and area[5] == str(path)]
        code = [area[0] for area in own if "x" in area[1]]
        with path.open("rb") as file:
            elf = ELFFile(file)
            dynamic: Any = elf.get_section_by_name(".dynamic")
            if (
                dynamic is None
                or not code
                or _RUNTIME not in {tag.needed for tag in dynamic.iter_tags("DT_NEEDED")}
            ):
                return None
            first = min(one["p_vaddr"] for one in elf.iter_segments("PT_LOAD"))
    except (OSError, ValueError, ELFError):  # it has ended, or cannot be read
        return None
    ends = [int(end, 16) for area in code for end in area.split("-")]
    start = min(int(area[0].split("-")[0], 16) for area in own)
    return HostCode(path, min(ends), max(ends), start - first)


def _chain(path: Path, address: int) -> Iterator[SourcePosition]:
    """The position of an address, then those of the calls by which its code was inlined, innermost first."""
    tables = _tables(path)
    index = bisect_right(tables.starts, address) - 1
    if index < 0 or (found := tables.positions[index]) is None:
        return
    yield SourcePosition(found.file, found.line, found.column, 0)
    around = [one for one in tables.inlined if one.low <= address < one.high]
    for one in sorted(around, key=lambda each: each.high - each.low):
        yield one.position


@functools.lru_cache(maxsize=4)
def _tables(path: Path) -> _Tables:
    """The tables of a program; empty without debug information, or where it cannot be read."""
    try:
        with path.open("rb") as file:
            elf = ELFFile(file)
            starts, positions, _ = line_table(elf, 0)
            inlined = tuple(_inlined_calls(elf.get_dwarf_info())) if starts else ()
    except (OSError, ELFError, DWARFError):
        return _Tables((), (), ())
    return _Tables(tuple(starts), tuple(positions), inlined)


def _inlined_calls(debug: Any) -> Iterator[_Inlined]:
    for unit in debug.iter_CUs():
        files = file_names(debug.line_program_for_CU(unit), unit)
        low_pc = unit.get_top_DIE().attributes.get("DW_AT_low_pc")
        base = low_pc.value if low_pc else 0
        for entry in unit.iter_DIEs():
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
