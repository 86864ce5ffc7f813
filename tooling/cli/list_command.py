"""`tooling list`: the puzzles, their programs and modes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tooling.cli.options import add_language
from tooling.exit_codes import ExitCode

if TYPE_CHECKING:
    from tooling.catalog.model import Puzzle


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "list",
        help="show the puzzles, their programs and modes",
        description="Shows every puzzle with the commands that run it, the tensor API of each program and "
        "the vendors it runs on.",
    )
    parser.add_argument("--part", help="only the puzzles of one part of the book, such as VI")
    parser.add_argument("--json", metavar="FILE", help="write the list as JSON (`-`: to stdout)")
    add_language(parser)
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:
    from rich.console import Console
    from rich.table import Table

    from tooling.catalog.catalogue import load_catalogue
    from tooling.catalog.model import Vendor
    from tooling.errors import ToolingError
    from tooling.project import find_project

    puzzles = load_catalogue(find_project())
    parts = list(dict.fromkeys(puzzle.part for puzzle in puzzles))
    if arguments.part and arguments.part not in parts:
        raise ToolingError(f"the book has no part `{arguments.part}`", hint=f"one of {', '.join(parts)}")
    puzzles = tuple(puzzle for puzzle in puzzles if arguments.part in (None, puzzle.part))
    if arguments.json:
        _write_json(arguments.json, puzzles)
        if arguments.json == "-":
            return ExitCode.PASSED
    table = Table(box=None, pad_edge=False)
    for column in ("part", "puzzle", "command", "tensor API", "kind", "runs on"):
        table.add_column(column, overflow="fold", no_wrap=column in ("part", "tensor API", "kind"))
    for puzzle in puzzles:
        title = puzzle.title.render(arguments.lang)
        for mode in puzzle.modes:
            vendors = []
            for vendor in Vendor:
                requirement = mode.requirement(vendor)
                if not requirement.unsupported:
                    least = requirement.compute
                    vendors.append(vendor.value + (f" ≥ {least[0]}.{least[1]}" if least else ""))
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
