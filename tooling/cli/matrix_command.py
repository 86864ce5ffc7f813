"""`tooling matrix build`: what every program builds for, without a GPU."""

from __future__ import annotations

import sys
from itertools import pairwise
from typing import TYPE_CHECKING

from tooling.commandline.options import MatrixBuildOptions
from tooling.platform.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tooling.matrix.accelerators import Accelerator
    from tooling.matrix.verdict import MatrixEntry
    from tooling.reports.terminal import Terminal


def build_command(options: MatrixBuildOptions) -> int:
    from tooling.catalog.catalogue import every_selection, load_catalogue, programs_named
    from tooling.catalog.model import ProgramLanguage
    from tooling.matrix.accelerators import choose
    from tooling.matrix.building import build_cells
    from tooling.matrix.report import record
    from tooling.matrix.verdict import complaint_about, judge
    from tooling.platform.errors import ToolingError
    from tooling.project import find_project
    from tooling.reports.files import write_json, write_junit
    from tooling.reports.step_summary import publish
    from tooling.reports.terminal import open_terminal
    from tooling.toolchain import find_toolchain
    from tooling.toolchain.cache import usable_cache

    project = find_project()
    puzzles = load_catalogue(project)
    accelerators = choose(options.accelerator)
    named = programs_named(puzzles, options.puzzles)
    programs = [program for program in named if program.language is ProgramLanguage.MOJO]
    graphs = [program.name for program in named if program not in programs]
    without = f"{', '.join(graphs)}: MAX compiles the kernels of a graph where it runs, for the GPU there"
    if not programs:
        raise ToolingError("nothing of this can be cross-built", why=without)
    selections = [each for each in every_selection(puzzles) if each.program in programs]
    cache = usable_cache()
    terminal = open_terminal(sys.stderr if "-" in (options.json, options.junit) else sys.stdout)
    found: dict[tuple[str, str], list[MatrixEntry]] = {}
    notes: dict[str, None] = {}  # in the order of their coming
    for done, cell in enumerate(
        build_cells(
            programs,
            accelerators,
            project=project,
            toolchain=find_toolchain(),
            cache=cache,
            jobs=options.jobs,
        ),
        start=1,
    ):
        own = [judge(each, cell) for each in selections if each.program == cell.program]
        found[cell.program.name, cell.accelerator.name] = own
        if cell.note:
            notes[cell.note] = None
        if terminal.stream.isatty():
            terminal.stream.write(f"\r{done}/{len(programs) * len(accelerators)}\r")
            terminal.stream.flush()
        _complain(own, terminal)
    entries = [
        each
        for program in programs
        for accelerator in accelerators
        for each in found[program.name, accelerator.name]
    ]
    _show_table(entries, accelerators, terminal)
    for note in notes:
        terminal.line(terminal.paint(f"note: {note}", "dim"))
    if graphs:
        terminal.line(terminal.paint(f"left out: {without}", "dim"))
    records = [record(each) for each in entries]
    if options.json:
        write_json(options.json, "matrix build", records)
    if options.junit:
        write_junit(options.junit, "matrix build", records)
    publish("tooling matrix build", records, project.root, terminal)
    wrong = sum(each.status == "failed" for each in records)
    unchecked = sum(each.status == "error" for each in records)
    agreed = len(records) - wrong - unchecked
    terminal.line(
        f"{agreed} of {len(records)} agree with the manifests, {wrong} do not, {unchecked} unchecked"
    )
    if wrong:
        return ExitCode.WRONG
    if any(complaint_about(each) for each in entries):
        return ExitCode.NOT_POSSIBLE  # what could not be checked has not passed
    return ExitCode.PASSED


def _complain(entries: Sequence[MatrixEntry], terminal: Terminal) -> None:
    """Names every mode that disagrees, and shows the compiler's message once for all of them."""
    from tooling.matrix.verdict import complaint_about

    shown = ""
    for each in entries:
        complaint = complaint_about(each)
        if not complaint:
            continue
        sign = "❌" if each.status.value != "not checked" else "error:"
        terminal.line(f"{terminal.paint(sign, 'red')} {each.id}: {complaint}")
        if each.details and each.details != shown:
            shown = each.details
            for line in each.details.splitlines():
                terminal.line("     " + line)


def _show_table(
    entries: Sequence[MatrixEntry], accelerators: Sequence[Accelerator], terminal: Terminal
) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from tooling.matrix.accelerators import build_scope
    from tooling.matrix.report import rows

    table = Table(box=None, pad_edge=False)
    table.add_column("program", no_wrap=True)
    table.add_column("modes", no_wrap=True)
    for accelerator in accelerators:
        table.add_column(accelerator.name, no_wrap=True)
    reasons: dict[str, int] = {}
    shown = rows(entries, accelerators)
    split = {row.program for row, following in pairwise(shown) if row.program == following.program}
    for row in shown:
        modes = "\n".join(row.modes) if row.program in split else ""  # elsewhere a row speaks of all modes
        table.add_row(row.program, modes, *(_cell(each, reasons) for each in row.cells))
    stream = terminal.stream
    console = Console(file=stream, width=None if stream.isatty() else 130, no_color=not terminal.colour)
    console.print(table)
    for reason, number in reasons.items():
        console.print(Text(f"[{number}] {reason}"), soft_wrap=True)
    for vendor in dict.fromkeys(each.vendor for each in accelerators):
        names = ", ".join(each.name for each in accelerators if each.vendor is vendor)
        means = build_scope(vendor)
        limit = f"; {means.unchecked}" if means.unchecked else ""
        console.print(Text(f"builds ({names}): {means.checked}{limit}", style="dim"), soft_wrap=True)


def _cell(entry: MatrixEntry, reasons: dict[str, int]) -> str:
    from tooling.matrix.verdict import BuildStatus
    from tooling.text.colours import rich_style

    mark = ""
    if entry.reason:
        mark = rf" \[{reasons.setdefault(entry.reason, len(reasons) + 1)}]"
    style = {BuildStatus.BUILDS: "green", BuildStatus.GATED: "dim", BuildStatus.BUILDS_ONLY: "dim"}.get(
        entry.status, "red"
    )
    style = rich_style(style)
    return f"[{style}]{_SHORT[entry.status.value]}{mark}[/{style}]"


_SHORT = {
    "builds": "builds",
    "gated": "gated",
    "builds only": "gated, builds",
    "does not build": "REFUSED",
    "builds, though gated": "BUILDS",
    "not checked": "unchecked",
}
