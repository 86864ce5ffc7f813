"""Line tables of ELF files: DWARF's .debug_line, read with pyelftools."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from tooling.simulator.gpu.code_model import SourceLocation


def line_table(elf: Any, code_address: int) -> tuple[list[int], list[SourceLocation | None], dict[int, str]]:
    """Code offsets (ascending) with the source position from there on, and the files; empty without tables.

    Raises:
        DWARFError, ELFError: the tables are damaged.
    """
    if not elf.has_dwarf_info():
        return [], [], {}
    rows: list[tuple[int, SourceLocation | None]] = []
    files: dict[int, str] = {}
    debug = elf.get_dwarf_info()
    for unit in debug.iter_CUs():
        program = debug.line_program_for_CU(unit)
        if program is None:
            continue
        paths = file_names(program, unit)
        for path in paths.values():
            files.setdefault(len(files) + 1, path)
        last: SourceLocation | None = None
        for entry in program.get_entries():
            state = entry.state
            if state is None:
                continue
            if state.end_sequence:
                rows.append((state.address - code_address, None))
                last = None
            else:
                # Line 0 says that the compiler knows no line: the nearest preceding position is used.
                if state.line:
                    last = SourceLocation(paths.get(state.file, "?"), state.line, state.column)
                rows.append((state.address - code_address, last))
    # Of several positions at one address the last applies; the end of a sequence comes before a beginning.
    rows.sort(key=lambda row: (row[0], row[1] is not None))
    table = dict(rows)
    return list(table), list(table.values()), files


def file_names(program: Any, unit: Any) -> dict[int, str]:
    """The paths of a unit's files by their numbers in its line program."""
    version = program.header["version"]
    directories = [one.decode("utf-8", "replace") for one in program["include_directory"]]
    directory = unit.get_top_DIE().attributes.get("DW_AT_comp_dir")
    if version < 5:
        directories = [directory.value.decode("utf-8", "replace") if directory else "", *directories]
    paths = {}
    for number, entry in enumerate(program["file_entry"], start=0 if version >= 5 else 1):
        folder = directories[entry.dir_index] if entry.dir_index < len(directories) else ""
        paths[number] = str(PurePosixPath(folder) / entry.name.decode("utf-8", "replace"))
    return paths
