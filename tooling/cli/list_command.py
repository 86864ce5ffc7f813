"""`tooling list`: the puzzles, their programs and modes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from tooling.commandline.options import ListOptions
from tooling.platform.exit_codes import ExitCode
from tooling.text import Text

if TYPE_CHECKING:
    from tooling.catalog.model import Mode, Puzzle, Requirement
    from tooling.learning.journey import Journey
    from tooling.reports.terminal import Terminal

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
_GPUS = Text("{count} GPUs")
_NOTHING_FOUND = Text("no puzzle matches")
_MODES_OF_ONE = Text("`{tool} list {puzzle}` shows the commands of a puzzle")
_INDENT = 4
_LEAST_COMMAND, _LEAST_RUNS_ON = 30, 18  # columns of the terminal, in which most of them fit on one line


def list_command(options: ListOptions) -> int:
    from msgspec.structs import replace

    from tooling.catalog.catalogue import puzzles_matching
    from tooling.learning.journey import open_journey
    from tooling.platform.errors import ToolingError
    from tooling.platform.suggestions import one_of
    from tooling.project import find_project
    from tooling.reports.terminal import open_terminal

    journey = open_journey(find_project())
    if options.part and options.part not in journey.parts:
        raise ToolingError(
            Text("the book has no part `{part}`").of(part=options.part),
            hint=one_of(journey.parts),
        )
    if _is_interactive(options):
        return _choose(journey, options)
    if options.part:
        journey = replace(journey, path=None)  # a part has the order of the book
    puzzles = puzzles_matching(journey.part(options.part) if options.part else journey.ordered, options.words)
    if options.todo:
        puzzles = tuple(puzzle for puzzle in puzzles if not journey.progress.is_solved(puzzle))
    if options.json:
        _write_json(options.json, puzzles, journey)
        if options.json == "-":
            return ExitCode.PASSED
    terminal = open_terminal()
    if not puzzles:
        terminal.wrapped(_NOTHING_FOUND.render(options.lang))
    elif options.modes or len(puzzles) == 1:
        _show_modes(puzzles, journey, terminal, options.lang)
    else:
        _show(puzzles, journey, terminal, options.lang)
    return ExitCode.PASSED


def _is_interactive(options: ListOptions) -> bool:
    if options.plain or options.modes or options.json or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdin.isatty() and sys.stdout.isatty()


def _choose(journey: Journey, options: ListOptions) -> int:
    """Shows the list again after each puzzle that was watched."""
    import errno
    import signal

    from tooling.learning.journey import open_journey
    from tooling.learning.list_session import choose_puzzle
    from tooling.learning.watching import Watch

    words = " ".join(options.words)
    while True:
        try:
            step = choose_puzzle(
                journey, options.lang, part=options.part or "", words=words, todo=options.todo
            )
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            return 128 + signal.SIGHUP  # the terminal was closed
        if step is None:
            return ExitCode.PASSED
        if not Watch(journey.project, step, [], options.lang).loop():
            return 128 + signal.SIGHUP
        journey = open_journey(journey.project)


def _show(puzzles: Sequence[Puzzle], journey: Journey, terminal: Terminal, language: str) -> None:
    """Writes a line for each puzzle: whether it is solved, its title, and the GPUs if not all run it."""
    from tooling.learning.screens import heading_of, solved_count
    from tooling.reports.invocation import tool_prefix
    from tooling.text.width import columns

    widest = max(columns(puzzle.title.render(language)) for puzzle in puzzles)
    above = ""
    for puzzle in puzzles:
        heading = heading_of(journey, puzzle).render(language)
        if heading != above:
            if above:
                terminal.line()
            above = heading
            terminal.line(terminal.paint(heading, "bold"))
        sign, count = solved_count(journey, puzzle)
        title = puzzle.title.render(language)
        name = terminal.paint(puzzle.id, "cyan")
        row = f"  {terminal.paint(sign, 'green')} {name}  {title}{' ' * (widest - columns(title))}  {count:3}"
        terminal.line(f"{row}  {_restricted(puzzle, language)}".rstrip())
    terminal.line()
    terminal.wrapped(_MODES_OF_ONE.of(tool=tool_prefix(os.environ), puzzle=puzzles[0].id).render(language))


def _restricted(puzzle: Puzzle, language: str) -> str:
    """The GPUs that run a puzzle, if they are not all."""
    from tooling.catalog.model import Vendor

    gates = [_runs_on(mode, language) for mode in puzzle.modes]
    every = ", ".join(vendor.value for vendor in Vendor)
    return "" if every in gates else gates[0]


def _show_modes(puzzles: Sequence[Puzzle], journey: Journey, terminal: Terminal, language: str) -> None:
    """Writes the parts and puzzles, and each command in columns as wide as the terminal allows."""
    from tooling.learning.screens import heading_of
    from tooling.text.width import columns, wrapped

    head = [text.render(language) for text in (_COMMAND, _API, _KIND, _RUNS_ON)]
    rows: dict[str, list[list[str]]] = {}
    for puzzle in puzzles:
        rows[puzzle.id] = [
            [
                " ".join((name, *mode.flags)),
                puzzle.program(name).api.value,
                _KINDS[mode.kind.value].render(language),
                _runs_on(mode, language),
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
    above = ""
    for puzzle in puzzles:
        heading = heading_of(journey, puzzle).render(language)
        if heading != above:
            above = heading
            terminal.line()
            terminal.line(terminal.paint(heading, "bold"))
        terminal.line(f"  {terminal.paint(puzzle.id, 'cyan')}  {puzzle.title.render(language)}")
        for row in rows[puzzle.id]:
            show(row)


def _runs_on(mode: Mode, language: str) -> str:
    from tooling.catalog.model import Vendor

    vendors = [_gate(mode.requirement(vendor), language) for vendor in Vendor]
    several = _GPUS.of(count=mode.gpus).render(language) if mode.gpus > 1 else ""
    return ", ".join(filter(None, (*vendors, several)))


def _gate(requirement: Requirement, language: str) -> str:
    """The vendor, with what a mode needs of its GPUs; empty if none of them runs it."""
    if requirement.unsupported:
        return ""
    gpus = requirement.vendor.value
    if requirement.compute:
        gpus += " ≥ {}.{}".format(*requirement.compute)
    return _LANES.of(gpus=gpus, lanes=requirement.lanes).render(language) if requirement.lanes else gpus


def _write_json(path: str, puzzles: Sequence[Puzzle], journey: Journey) -> None:
    import json

    from tooling.reports.files import write_report

    listed = [
        {
            "id": puzzle.id,
            "part": puzzle.part,
            "title": dict(puzzle.title.versions),
            "solved": journey.progress.is_solved(puzzle),
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
