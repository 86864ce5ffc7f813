"""`tooling list`: the puzzles, their programs and modes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from tooling.commandline.options import ListOptions
from tooling.platform.exit_codes import ExitCode
from tooling.text import Text

if TYPE_CHECKING:
    from tooling.catalog.model import Puzzle, Requirement

_COMMAND = Text("command")
_API = Text("tensor API")
_KIND = Text("kind")
_RUNS_ON = Text("runs on")
_KINDS = {
    "puzzle": Text("puzzle"),
    "given": Text("given"),
    "benchmark": Text("benchmark"),
    "demo": Text("demo"),
}
"""The names of `ModeKind`."""
_LANES = Text("{gpus} ({lanes} lanes)")
_INDENT = 4
_LEAST_COMMAND, _LEAST_RUNS_ON = 32, 18  # columns of the terminal, in which most of them fit on one line


def list_command(options: ListOptions) -> int:
    from tooling.catalog.catalogue import load_catalogue
    from tooling.platform.errors import ToolingError
    from tooling.platform.suggestions import one_of
    from tooling.project import find_project

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
    _show(puzzles, options.lang)
    return ExitCode.PASSED


def _show(puzzles: Sequence[Puzzle], language: str) -> None:
    """Writes the parts and puzzles, and each command in columns as wide as the terminal allows."""
    from tooling.catalog.model import Vendor
    from tooling.learning.screens import heading_of
    from tooling.reports.terminal import open_terminal
    from tooling.text.width import columns, wrapped

    terminal = open_terminal()
    head = [text.render(language) for text in (_COMMAND, _API, _KIND, _RUNS_ON)]
    rows: dict[str, list[list[str]]] = {}
    for puzzle in puzzles:
        rows[puzzle.id] = [
            [
                " ".join((name, *mode.flags)),
                puzzle.program(name).api.value,
                _KINDS[mode.kind.value].render(language),
                ", ".join(filter(None, (_gate(mode.requirement(vendor), language) for vendor in Vendor))),
            ]
            for mode in puzzle.modes
            for name in mode.programs
        ]
    cells = [head, *(row for listed in rows.values() for row in listed)]
    widths = [max(columns(row[column]) for row in cells) for column in range(len(head))]
    beyond = _INDENT + sum(widths) + 2 * (len(widths) - 1) - (terminal.width or 120)
    for column, least in ((3, _LEAST_RUNS_ON), (0, _LEAST_COMMAND)):  # the columns that may be wrapped
        less = max(0, min(beyond, widths[column] - least))
        widths[column] -= less
        beyond -= less

    def show(row: list[str], style: str | None = None) -> None:
        cells = [
            "\n  ".join(wrapped(cell, width)).split("\n") for cell, width in zip(row, widths, strict=True)
        ]
        for line in zip_longest(*cells, fillvalue=""):
            padded = (cell + " " * (width - columns(cell)) for cell, width in zip(line, widths, strict=True))
            shown = "  ".join(padded).rstrip()
            terminal.line(" " * _INDENT + (terminal.paint(shown, style) if style else shown))

    show(head, "dim")
    part = ""
    for puzzle in puzzles:
        if puzzle.part != part:
            part = puzzle.part
            terminal.line()
            terminal.line(terminal.paint(heading_of(part).render(language), "bold"))
        terminal.line(f"  {terminal.paint(puzzle.id, 'cyan')}  {puzzle.title.render(language)}")
        for row in rows[puzzle.id]:
            show(row)


def _gate(requirement: Requirement, language: str) -> str:
    """The vendor, with what a mode needs of its GPUs; empty if none of them runs it."""
    if requirement.unsupported:
        return ""
    gpus = requirement.vendor.value
    if requirement.compute:
        gpus += " ≥ {}.{}".format(*requirement.compute)
    return _LANES.of(gpus=gpus, lanes=requirement.lanes).render(language) if requirement.lanes else gpus


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
