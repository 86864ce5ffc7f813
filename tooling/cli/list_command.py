"""`tooling list`: the puzzles, their programs and modes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tooling.cli.options import ListOptions
from tooling.exit_codes import ExitCode
from tooling.text import Text

if TYPE_CHECKING:
    from tooling.catalog.model import Puzzle


def command(options: ListOptions) -> int:
    from rich.console import Console
    from rich.table import Table

    from tooling.catalog.catalogue import load_catalogue
    from tooling.catalog.model import Vendor
    from tooling.errors import ToolingError
    from tooling.project import find_project
    from tooling.suggestions import one_of

    puzzles = load_catalogue(find_project())
    parts = list(dict.fromkeys(puzzle.part for puzzle in puzzles))
    if options.part and options.part not in parts:
        raise ToolingError(
            Text("the book has no part `{part}`").of(part=options.part),
            hint=one_of(parts),
        )
    puzzles = tuple(puzzle for puzzle in puzzles if options.part in (None, puzzle.part))
    if options.json:
        _write_json(options.json, puzzles)
        if options.json == "-":
            return ExitCode.PASSED
    table = Table(box=None, pad_edge=False)
    for column in ("part", "puzzle", "command", "tensor API", "kind", "runs on"):
        table.add_column(column, overflow="fold", no_wrap=column in ("part", "tensor API", "kind"))
    for puzzle in puzzles:
        title = puzzle.title.render(options.lang)
        for mode in puzzle.modes:
            vendors = []
            for vendor in Vendor:
                requirement = mode.requirement(vendor)
                if not requirement.unsupported:
                    least = requirement.compute
                    limit = f" ≥ {least[0]}.{least[1]}" if least else ""
                    lanes = f" ({requirement.lanes} lanes)" if requirement.lanes else ""
                    vendors.append(vendor.value + limit + lanes)
            for name in mode.programs:
                command_line = " ".join((name, *mode.flags))
                api = puzzle.program(name).api.value
                table.add_row(puzzle.part, title, command_line, api, mode.kind.value, ", ".join(vendors))
                title = ""
    width = None if sys.stdout.isatty() else 120
    Console(width=width).print(table)
    return ExitCode.PASSED


def _write_json(path: str, puzzles: Sequence[Puzzle]) -> None:
    import json

    from tooling.reports.files import write_report

    listed = [
        {
            "id": puzzle.id,
            "part": puzzle.part,
            "title": dict(puzzle.title.versions),
            "programs": [
                {
                    "name": program.name,
                    "api": program.api.value,
                    "language": program.language.value,
                    "modes": [
                        {"name": mode.name, "flags": list(mode.flags), "kind": mode.kind.value}
                        for mode in puzzle.modes
                        if program.name in mode.programs
                    ],
                }
                for program in puzzle.programs
            ],
        }
        for puzzle in puzzles
    ]
    write_report(path, json.dumps({"version": 1, "puzzles": listed}, indent=2, ensure_ascii=False) + "\n")
